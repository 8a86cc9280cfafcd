//! The URL of a store, and the password that belongs to it.

pub(super) mod tls;

use super::errors;
use crate::app::AppError;
use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use rustls::RootCertStore;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// The time to connect to one address.
const CONNECT: Duration = Duration::from_secs(5);
/// The time after which a silent network counts as broken.
const SILENCE: Duration = Duration::from_secs(10);
/// Limits that the server keeps for each connection: a verb waits for no lock and no statement longer than this.
const LIMITS: &str = "-c statement_timeout=20s -c lock_timeout=5s -c idle_in_transaction_session_timeout=20s";
/// The folder of the socket of a server on this host, if the URL names none.
const SOCKETS: &str = "/var/run/postgresql";

/// A database, with all that is needed to connect to it.
pub struct Target {
    text: String,
    config: Config,
    /// Whether the connection has no TLS: by a socket, or to a loopback address whose URL says so.
    is_plain: bool,
    roots_file: Option<String>,
    roots: Option<RootCertStore>,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Target {
    /// Reads a URL. A password in it is refused: every account sees the arguments of a process.
    pub fn parse(text: &str) -> Result<Self, AppError> {
        let form =
            "a store is postgres://[USER@]HOST[:PORT]/DATABASE, or postgres:///DATABASE?host=/FOLDER for a socket";
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            let shown: String = text.chars().take_while(|c| *c != ':').take(20).collect();
            return Err(
                AppError::usage(format!("\"{}…\" is not the URL of a store", shown.escape_default())).hint(form)
            );
        }
        // The message of the parser is left out: it may repeat a part of a password.
        let (url, wishes) = tls::wishes(text)?;
        let mut config: Config =
            url.parse().map_err(|_| AppError::usage("the URL of the store is invalid").hint(form))?;
        if config.get_password().is_some() {
            return Err(AppError::usage(
                "the URL of the store has a password, which every account of this host could see",
            )
            .hint("write the password into a file of mode 0600 that PGPASSFILE names, or into PGPASSWORD"));
        }
        if config.get_dbname().is_none() {
            return Err(AppError::usage("the URL of the store names no database").hint(form));
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host_path(SOCKETS);
        }
        let is_plain = is_plain(&config, wishes.is_plain)?;
        config.ssl_mode(if is_plain { SslMode::Disable } else { SslMode::Require });
        if config.get_application_name().is_none() {
            config.application_name("luzia");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
        let options = config.get_options().map_or_else(|| LIMITS.to_owned(), |own| format!("{LIMITS} {own}"));
        config.options(&options);
        Ok(Self { text: text.to_owned(), config, is_plain, roots_file: wishes.roots, roots: None })
    }

    /// The file with the certificates of the authorities that may vouch for the server, if the URL names one that is needed.
    pub fn roots_file(&self) -> Option<&str> {
        self.roots_file.as_deref().filter(|_| !self.is_plain)
    }

    /// Trusts the authorities in the text of that file, and no others.
    pub fn with_roots(mut self, text: &[u8]) -> Result<Self, AppError> {
        self.roots = Some(tls::roots_in(text, self.roots_file().unwrap_or_default())?);
        Ok(self)
    }

    /// Connects to the server, which must be the one that the URL names.
    pub(super) fn connect(&self) -> Result<Client, AppError> {
        let connected = match self.is_plain {
            true => self.config.connect(NoTls),
            false => self.config.connect(tls::verified(self.roots.as_ref())?),
        };
        connected.map_err(|error| errors::of(&error, self))
    }

    /// Adds the password: `given`, else the one of the first matching line of a password file (libpq's `.pgpass`).
    pub fn with_password(mut self, given: Option<String>, file: Option<&str>) -> Self {
        if let Some(password) = given.or_else(|| self.password_in(file?)) {
            self.config.password(password);
        }
        self
    }

    fn password_in(&self, file: &str) -> Option<String> {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            _ => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432).to_string();
        let user = self.config.get_user().unwrap_or_default();
        let wanted = [&host, &port, self.config.get_dbname()?, user];
        let mut lines = file.lines().filter(|line| !line.starts_with('#')).map(fields);
        lines.find_map(|found| {
            let (password, keys) = found.split_last()?;
            let is_meant = keys.len() == wanted.len()
                && keys.iter().zip(wanted).all(|(key, want)| key == "*" || key == want || want.is_empty());
            is_meant.then(|| password.clone())
        })
    }
}

/// The fields of a line of a password file: separated by `:`, with `\` before a `:` or a `\` of a field.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut chars) = (vec![String::new()], line.chars());
    while let Some(c) = chars.next() {
        match c {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(chars.next())),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    fields
}

/// Whether a server is reached without TLS. Off this host that is refused.
fn is_plain(config: &Config, is_asked: bool) -> Result<bool, AppError> {
    let names = config.get_hosts().iter().filter_map(|host| match host {
        Host::Tcp(name) => Some(name.as_str()),
        Host::Unix(_) => None,
    });
    let (names, addresses) = (names.collect::<Vec<_>>(), config.get_hostaddrs());
    if names.is_empty() && addresses.is_empty() {
        return Ok(true);
    }
    if is_asked {
        let is_near = |name: &&&str| **name == "localhost" || name.parse().is_ok_and(|at: IpAddr| at.is_loopback());
        let far = names.iter().find(|name| !is_near(name)).map(ToString::to_string);
        let far = far.or_else(|| addresses.iter().find(|address| !address.is_loopback()).map(ToString::to_string));
        let refused = |far| {
            AppError::usage(format!("the store is on another host, \"{far}\", so it needs TLS"))
                .hint("sslmode=disable is for loopback addresses, such as the end of a tunnel")
        };
        return far.map_or(Ok(true), |far| Err(refused(far)));
    }
    if names.len() < config.get_hosts().len().max(addresses.len()) {
        return Err(AppError::usage(
            "the URL of the store has a server without a name, so its certificate proves nothing",
        )
        .hint("host=NAME beside each hostaddr; sockets are no part of a list of servers"));
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Code;

    #[test]
    fn urls_that_are_no_stores_are_refused_and_no_password_is_repeated() {
        for wrong in [
            "",
            "mysql://x/y",
            "postgres://",
            "postgres:///",
            "postgres:///d?nosuch=1",
            "postgres://u:secret@localhost/d",
            "postgres:///d?password=secret",
            "postgres://u:secret@local host/d?x",
            "secret:secret@h/d",
            "postgres://db.example.org/d?sslmode=disable",
            "postgres://localhost/d?hostaddr=10.0.0.1&sslmode=disable",
            "postgres://localhost,db.example.org/d?sslmode=disable",
            "postgres:///d?hostaddr=10.0.0.1",
            "postgres://db.example.org/d?host=/run/x",
            "postgres://db.example.org/d?sslmode=prefer",
            "postgres://db.example.org/d?sslrootcert=ca.pem",
        ] {
            let error = Target::parse(wrong).err().expect(wrong);
            assert_eq!(error.code(), Code::Usage, "{wrong}");
            let said = format!("{} {:?}", error.refusal().message, error.refusal().hint);
            assert!(!said.contains("secret@") && !said.contains(":secret"), "{said}");
        }
        for right in
            ["postgres:///d", "postgresql://u@localhost:5433/d", "postgres://[::1]/d", "postgres:///d?host=/run/x"]
        {
            assert_eq!(Target::parse(right).ok().map(|target| target.to_string()).as_deref(), Some(right));
        }
    }

    #[test]
    fn a_server_that_is_reached_by_the_network_has_tls_unless_a_loopback_address_does_without() {
        for (url, is_plain, roots) in [
            ("postgres:///d?host=/run/x", true, None),
            ("postgres:///d?host=/run/x&sslrootcert=/ca.pem", true, None),
            ("postgres://localhost/d", false, None),
            ("postgres://localhost/d?sslmode=disable", true, None),
            ("postgres://[::1]/d?sslmode=disable&connect_timeout=3", true, None),
            ("postgres://db.example.org/d?sslmode=require", false, None),
            ("postgres://a.example.org,b.example.org/d?sslrootcert=system", false, None),
            (
                "postgres://db.example.org/d?hostaddr=127.0.0.1&sslrootcert=%2Fetc/my%20ca.pem",
                false,
                Some("/etc/my ca.pem"),
            ),
        ] {
            let target = Target::parse(url).expect(url);
            assert_eq!((target.is_plain, target.roots_file()), (is_plain, roots), "{url}");
        }
    }

    #[test]
    fn the_first_matching_line_of_a_password_file_counts() {
        let file = "# comment\nlocalhost:5432:other:*:no\nlocalhost:*:d:u:a\\:b\\\\c\n*:*:*:*:last\n";
        let of = |url: &str, given: Option<&str>| {
            let target = Target::parse(url).expect(url).with_password(given.map(str::to_owned), Some(file));
            target.config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        assert_eq!(of("postgres://u@localhost/d", None).as_deref(), Some("a:b\\c"));
        assert_eq!(of("postgres://v@localhost/d", None).as_deref(), Some("last"));
        assert_eq!(of("postgres:///d?host=/run/x&user=u", None).as_deref(), Some("a:b\\c"));
        assert_eq!(of("postgres://u@localhost/d", Some("given")).as_deref(), Some("given"));
    }
}
