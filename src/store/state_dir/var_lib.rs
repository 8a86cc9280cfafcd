//! Owner of the queue in `/var/lib/luzia`.

use std::io;

/// The state directory of the whole host, as a look from outside finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VarLib {
    /// The directory does not exist.
    Absent,
    /// The directory belongs to the caller, or its owner is unknown. It counts, usable or not.
    Counts,
    /// The directory is the queue of another account, and no rule for this one.
    OfAnother(u32),
}

impl VarLib {
    /// Judges by the owner that was seen. A user namespace shows the files of all accounts that it does not map under one
    /// account, so such an owner may be the caller itself.
    pub fn of(owner: io::Result<Option<u32>>, uid: u32, overflow: u32) -> Self {
        match owner {
            Ok(None) => Self::Absent,
            Ok(Some(owner)) if owner != uid && owner != overflow => Self::OfAnother(owner),
            Ok(Some(_)) | Err(_) => Self::Counts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_the_host_is_the_rule_for_its_owner_only() {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (owner, expected) in [
            (Ok(None), VarLib::Absent),
            (Ok(Some(1000)), VarLib::Counts),
            (Ok(Some(0)), VarLib::OfAnother(0)),
            (Ok(Some(65_534)), VarLib::Counts),
            (Err(refused()), VarLib::Counts),
        ] {
            assert_eq!(VarLib::of(owner, 1000, 65_534), expected);
        }
    }
}
