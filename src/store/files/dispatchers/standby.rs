//! `run`s that stand by while another one has the duty. Each holds a named pipe `spool/duty.<sandbox>.line/<task>` open; the
//! process that takes its record out of the queue calls it through the pipe. It watches the `run` with the next lower number;
//! the lowest one watches the pipe of the holder of the duty. So each end, by a kill as well, wakes one. No other process
//! makes a system call.

use crate::model::{SandboxId, Task, TaskId};
use crate::os::{Pipe, Vfs};
use crate::store::{Result, Spool, StoreError, layout};
use std::time::Duration;

/// The pipe of the holder of the duty.
const HOLDER: &str = "holder";

/// A place among those that stand by.
pub struct Standby {
    pipe: Box<dyn Pipe>,
    folder: String,
    id: TaskId,
}

/// The pipe of the holder of the duty.
pub(crate) struct HolderPipe {
    pipe: Box<dyn Pipe>,
    folder: String,
}

impl HolderPipe {
    /// Removes the name of the pipe. The caller still holds the kernel lock of the duty.
    pub(crate) fn hide(&self, vfs: &dyn Vfs) {
        let _ = vfs.unlink(&format!("{}/{HOLDER}", self.folder));
    }

    /// Ends the pipe, which wakes the lowest of the standing-by `run`s.
    pub(crate) fn end(self, vfs: &dyn Vfs) {
        let Self { pipe, folder } = self;
        drop(pipe);
        let _ = vfs.remove_dir(&folder);
    }
}

impl Spool {
    /// Takes a place among the `run`s of a sandbox that stand by. `None` when no place can be made, as on a full disk, or for
    /// a second `run` of one task.
    pub fn join_standby(&self, sandbox: &SandboxId, id: TaskId) -> Option<Standby> {
        let folder = layout::standby(sandbox);
        let (pipe, _) = self.pipe_in(&folder, &mut |_| Ok(id.0.to_string())).ok()??;
        Some(Standby { pipe, folder, id })
    }

    /// Shows the standing-by `run`s that this process has the duty. The caller holds its kernel lock.
    pub(crate) fn show_holder(&self, sandbox: &SandboxId) -> Option<HolderPipe> {
        let folder = layout::standby(sandbox);
        // An existing pipe belongs to a dead holder.
        let _ = self.vfs.unlink(&format!("{folder}/{HOLDER}"));
        let (pipe, _) = self.pipe_in(&folder, &mut |_| Ok(HOLDER.to_owned())).ok()??;
        Some(HolderPipe { pipe, folder })
    }

    /// Watches the `run` before, or for the lowest the holder of the duty; removes the places of the dead between them. Returns
    /// the number of `run`s before. `None` when there is no process to watch, because the duty changes hands at this moment.
    pub fn watch_before_standby(&self, standby: &mut Standby) -> Result<Option<usize>> {
        let mut before = self.tasks_in(&standby.folder)?;
        before.retain(|id| *id < standby.id);
        before.sort_unstable();
        let paths = before.into_iter().map(|id| format!("{}/{}", standby.folder, id.0)).collect();
        let ahead = self.watch_last(standby.pipe.as_mut(), paths)?;
        if ahead > 0 {
            return Ok(Some(ahead));
        }
        let path = format!("{}/{HOLDER}", standby.folder);
        Ok(standby.pipe.watch(&path).map_err(StoreError::io("watch", &path))?.then_some(0))
    }

    /// Sleeps until the record has left the queue, the `run` before it has gone, or a caught signal came; `longest` at most.
    /// False when that time has passed.
    pub fn wait_on_standby(&self, standby: &mut Standby, longest: Duration) -> bool {
        self.wait_for_call(standby.pipe.as_mut(), longest)
    }

    /// Gives a place up.
    pub fn leave_standby(&self, standby: Standby) {
        let _ = self.vfs.unlink(&format!("{}/{}", standby.folder, standby.id.0));
        let _ = self.vfs.remove_dir(&standby.folder);
    }

    /// Calls the `run` of a task, if one stands by: the record has left its place in the queue. If the call fails, the `run`
    /// finds out by itself, later.
    pub(crate) fn call_standby(&self, task: &Task) {
        if let Some(sandbox) = &task.sandbox {
            let _ = self.vfs.call_pipe(&format!("{}/{}", layout::standby(sandbox.id()), task.id.0));
        }
    }
}
