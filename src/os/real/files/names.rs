//! Changes of one name by another. Either may be missing: `false` means that nothing was changed.

use crate::os::real::files::dir_root::{Beneath, check, fault};
use rustix::fs::{AtFlags, RenameFlags, linkat, renameat_with};
use rustix::io::Errno;
use std::io;

impl Beneath {
    /// Gives a file the name `to` as well, unless there is one of that name.
    pub(super) fn link(&self, from: &str, to: &str) -> io::Result<bool> {
        check(from)?;
        check(to)?;
        let linked = self.on_names(from, to, |a, old, b, new| linkat(a, old, b, new, AtFlags::empty()));
        match linked {
            Ok(()) | Err(Errno::EXIST) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(fault(to, error)),
        }
    }

    /// Puts `from` in the place of `to`.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<bool> {
        check(from)?;
        check(to)?;
        let renamed = self.on_names(from, to, |a, old, b, new| renameat_with(a, old, b, new, RenameFlags::empty()));
        match renamed {
            Err(Errno::NOENT) => Ok(false),
            other => other.map(|()| true).map_err(|error| fault(to, error)),
        }
    }
}
