//! Same work once: the key of a command by its subject (`--key @tree`), and whether the subject moved meanwhile (`--stable`).

use crate::app::names::Surroundings;
use crate::app::queue::enqueue::name;
use crate::app::{AppError, Code, Kind};
use crate::model::ThingKind;
use crate::model::name::hex;
use crate::request::TaskRequest;
use sha2::{Digest, Sha256};

/// The key that stands for the command, its directory and the content of its work tree.
pub(super) const TREE_KEY: &str = "@tree";

/// The key of a request. `subject` is the digest of its work tree, where it was taken.
pub(super) fn key_of(
    new: &TaskRequest,
    command: &[String],
    cwd: &str,
    subject: Option<&str>,
) -> Result<Option<String>, AppError> {
    let Some(text) = new.key.as_deref() else { return Ok(None) };
    let Some(subject) = subject.filter(|_| text == TREE_KEY) else {
        return Ok(Some(name("key", text)?.to_string()));
    };
    let mut hash = Sha256::new();
    // Each part has its length before it, so that no two lists of arguments give the same bytes.
    for part in command.iter().map(String::as_str).chain([cwd, subject]) {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part.as_bytes());
    }
    Ok(Some(format!("tree:{}", hex(&hash.finalize()))))
}

impl Surroundings {
    /// The digest of the git work tree around a directory: `HEAD^{tree}`, the difference to it, and the files that git neither
    /// knows nor ignores.
    pub(crate) fn subject(&self, cwd: &str) -> Result<String, AppError> {
        let found = self.name(ThingKind::Tree, None, Some(cwd))?;
        let top = found.path.unwrap_or_else(|| cwd.to_owned());
        self.tree_digest(&top).map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::NotFound => Kind::NotFound,
                std::io::ErrorKind::PermissionDenied => Kind::NoPermission,
                std::io::ErrorKind::InvalidData => Kind::Usage,
                _ => Kind::Io,
            };
            AppError::new(Code::NoDigest, format!("the work tree \"{top}\" has no digest: {error}"))
                .with_kind(kind)
                .hint("a key of your own needs no git: --key NAME; nothing was queued")
        })
    }
}
