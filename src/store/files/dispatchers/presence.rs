//! Presence of dispatchers. Daemons, drains and waiting `run`s hold shared kernel locks, so other processes see that a task
//! would be started. One lock is for the whole state directory, one for the dispatchers of a sandbox: those of another
//! sandbox start none of its tasks (contract P9).

use crate::model::SandboxId;
use crate::os::{Handle, Vfs};
use crate::store::{Result, Spool, layout};
use std::sync::Arc;

/// The presence of a dispatcher, visible to other processes while it lives.
pub struct Presence {
    _anywhere: Box<dyn Handle>,
    here: Box<dyn Handle>,
    vfs: Arc<dyn Vfs>,
    path: String,
}

impl Drop for Presence {
    fn drop(&mut self) {
        // The last dispatcher of a sandbox removes its file: a sandbox that is used once leaves nothing behind.
        if self.here.try_lock(false).unwrap_or(false) {
            let _ = self.vfs.unlink(&self.path);
        }
        let _ = self.here.unlock();
    }
}

impl Spool {
    /// Takes the locks that long-running dispatchers of a sandbox share.
    pub fn join_dispatchers(&self, sandbox: &SandboxId) -> Result<Presence> {
        let anywhere = self.locked(layout::DISPATCHERS, true)?;
        let path = layout::dispatchers_of(sandbox);
        let here = self.locked_by_name(&path, true)?;
        Ok(Presence { _anywhere: anywhere, here, vfs: Arc::clone(&self.vfs), path })
    }

    /// Whether a daemon, a `run` or a `dispatch --drain` is at work: in a sandbox, or in any.
    pub fn has_dispatcher(&self, sandbox: Option<&SandboxId>) -> Result<bool> {
        let path = sandbox.map_or_else(|| layout::DISPATCHERS.to_owned(), layout::dispatchers_of);
        self.is_held(&path, false)
    }
}
