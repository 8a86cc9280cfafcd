//! The lane of a thing that was found: one thing has one lane, whatever path leads to it.

mod database;
mod git;
pub mod mistakes;

pub use database::{Database, database};
pub use git::{Remote, branch, commondir, gitdir, remote, remote_url};

use crate::model::LaneName;
use crate::model::lane::LaneError;
use crate::model::name::{Name, hex};
use sha2::{Digest, Sha256};

/// Device and inode as 16 hex digits.
pub fn identity_text((device, inode): (u64, u64)) -> String {
    hex(&Sha256::digest(format!("{device}:{inode}"))[..8])
}

/// The lane of a directory of some kind.
pub fn of_directory(kind: &str, ident: (u64, u64)) -> Result<LaneName, LaneError> {
    lane(kind, &identity_text(ident))
}

/// The lane of a branch.
pub fn of_branch(remote: &str, branch: &str) -> Result<LaneName, LaneError> {
    lane("ref", &format!("{remote}#{branch}"))
}

/// The lane of a key that was made here.
pub fn lane(kind: &str, key: &str) -> Result<LaneName, LaneError> {
    LaneName::new(kind, Name::new(key)?)
}

/// Parses the number of a port: digits without a leading zero, from 1 to 65535.
pub fn port(text: &str) -> Option<u16> {
    let number: u16 = text.parse().ok()?;
    (number > 0 && number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_has_one_spelling() {
        assert_eq!(port("4010"), Some(4010));
        for wrong in ["", "0", "65536", "99999", "+80", "080", "http", "80 "] {
            assert_eq!(port(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn identities_differ_by_device_and_by_inode() {
        let texts = [(1, 23), (12, 3), (1, 24), (2, 23)].map(identity_text);
        assert!(texts.iter().all(|text| text.len() == 16));
        assert_eq!(texts.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    }
}
