//! Disk space that is kept for locks, so that on a full disk `luzia lock` still runs the command that frees some.

use crate::os::Open;
use crate::store::{Result, Spool, StoreError, layout};

/// Number of bytes that are kept: enough blocks for a lock file, its sidecar and the replacement of the sidecar.
const BYTES: usize = 32 * 1024;

impl Spool {
    /// Gives the reserve back to the file system. False if it was missing.
    pub fn spend_reserve(&self) -> bool {
        self.unlink(layout::RESERVE).unwrap_or(false)
    }

    /// Makes the reserve if it is missing and the disk has space for it.
    pub fn keep_reserve(&self) -> Result<()> {
        if self.meta(layout::RESERVE)?.is_some() {
            return Ok(());
        }
        let Some(mut file) = self.open(layout::RESERVE, Open::CreateNew(0o600))? else { return Ok(()) };
        let written = file.write_all(&[b'.'; BYTES]).map_err(StoreError::io("write", layout::RESERVE));
        if written.is_err() {
            self.unlink(layout::RESERVE)?;
        }
        written
    }
}
