//! TLS to a server that is reached by the network: its certificate must be of the name in the URL and of a trusted authority.

use super::Target;
use crate::app::{AppError, Code};
use percent_encoding::percent_decode_str;
use postgres::Error;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, RootCertStore, version};
use std::error::Error as _;
use std::io;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The members of a URL that say how the server is verified. The client knows none of them in this sense.
#[derive(Default)]
pub(super) struct Wishes {
    /// Whether the connection has no TLS.
    pub is_plain: bool,
    /// The file with the certificates of the trusted authorities; `None` for those of this host.
    pub roots: Option<String>,
}

/// Separates a URL from these members.
pub(super) fn wishes(url: &str) -> Result<(String, Wishes), AppError> {
    let mut wishes = Wishes::default();
    let Some((before, query)) = url.split_once('?') else { return Ok((url.to_owned(), wishes)) };
    let mut kept = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", "disable")) => wishes.is_plain = true,
            Some(("sslmode", "require" | "verify-ca" | "verify-full")) => wishes.is_plain = false,
            Some(("sslmode", _)) => {
                return Err(AppError::usage("sslmode in the URL of a store is verify-full or disable")
                    .hint("verify-full is the default: a server is verified by its name, or not used"));
            }
            Some(("sslrootcert", "system")) => wishes.roots = None,
            Some(("sslrootcert", file)) => wishes.roots = Some(absolute(file)?),
            _ => kept.push(pair),
        }
    }
    let separator = if kept.is_empty() { "" } else { "?" };
    Ok((format!("{before}{separator}{}", kept.join("&")), wishes))
}

fn absolute(file: &str) -> Result<String, AppError> {
    let file = percent_decode_str(file).decode_utf8().unwrap_or_default();
    if !file.starts_with('/') {
        return Err(AppError::usage("sslrootcert in the URL of a store is no absolute path").hint(
            "sslrootcert=/FOLDER/FILE names a file in PEM form, sslrootcert=system the authorities of this host",
        ));
    }
    Ok(file.into_owned())
}

/// The authorities in the text of a PEM file.
pub(super) fn roots_in(text: &[u8], file: &str) -> Result<RootCertStore, AppError> {
    let mut roots = RootCertStore::empty();
    for found in CertificateDer::pem_slice_iter(text) {
        let added = found
            .map_err(|error| error.to_string())
            .and_then(|certificate| roots.add(certificate).map_err(|error| error.to_string()));
        added.map_err(|why| untrusting(format!("a certificate in \"{file}\" is invalid: {why}")))?;
    }
    match roots.is_empty() {
        true => Err(untrusting(format!("the file \"{file}\" has no certificate in PEM form"))),
        false => Ok(roots),
    }
}

/// The authorities that this host trusts.
fn roots_of_host() -> Result<RootCertStore, AppError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match roots.is_empty() {
        true => Err(untrusting("this host has no certificates of authorities".to_owned())),
        false => Ok(roots),
    }
}

fn untrusting(message: String) -> AppError {
    AppError::new(Code::StoreUntrusted, message)
        .hint("sslrootcert=/FOLDER/FILE in the URL of the store names the certificate of the server's authority")
}

/// The way to verify a server by the authorities of a URL, or by those of this host.
pub(super) fn verified(roots: Option<&RootCertStore>) -> Result<MakeRustlsConnect, AppError> {
    let roots = roots.cloned().map_or_else(roots_of_host, Ok)?;
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(|error| AppError::new(Code::Bug, error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The error of a server that is not the one of the URL, as far as it can prove; `None` for other errors.
pub(in crate::fleet) fn distrusted(error: &Error, target: &Target) -> Option<AppError> {
    let source = error.source()?;
    let distrust = |why: String, hint: &str| {
        AppError::new(Code::StoreUntrusted, format!("the store {target} is not used: {why}"))
            .hint(format!("{hint}; nothing was changed"))
    };
    let Some(source) = source.downcast_ref::<io::Error>() else {
        let lacks_tls = source.to_string() == "server does not support TLS";
        return lacks_tls.then(|| {
            distrust(
                "its server has no TLS".to_owned(),
                "ssl = on in postgresql.conf turns it on; a tunnel to a loopback address needs sslmode=disable",
            )
        });
    };
    Some(match source.get_ref()?.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => distrust(
            "no trusted authority has signed the certificate of its server".to_owned(),
            "sslrootcert=/FOLDER/FILE in the URL names the certificate of its authority",
        ),
        rustls::Error::InvalidCertificate(why) => distrust(
            format!("the certificate of its server is invalid: {why}"),
            "the URL needs a name of the certificate",
        ),
        other => distrust(format!("its server does not speak TLS 1.3: {other}"), "luzia speaks no earlier version"),
    })
}
