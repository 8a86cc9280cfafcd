//! The sign of a supervisor that waits for a host that is short of a resource: permission bits of its `supervisor.lock`. They
//! can be set when nothing can be written. They mean nothing without a supervisor, and go with the file.

use crate::model::TaskId;
use crate::store::run_dir::SUPERVISOR_LOCK;
use crate::store::{Result, RunDir, layout};

const RESULT_WAITS: u32 = 0o700;
const START_WAITS: u32 = 0o710;
const ENDING: u32 = 0o701;

/// The part of a task that waits for the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Short {
    /// The start: the command has not been launched.
    Start,
    /// The result: the command is over.
    Result,
}

impl RunDir {
    /// Shows other processes that the start or the result of a task waits, or no longer waits. The caller holds the task's
    /// `supervisor.lock`. A sign that cannot be set is no reason to fail.
    pub fn show_shortage(&self, id: TaskId, short: Option<Short>) {
        let mode = match short {
            Some(Short::Result) => RESULT_WAITS,
            Some(Short::Start) => START_WAITS,
            None => 0o600,
        };
        let _ = self.vfs.set_mode(&layout::run_file(id, SUPERVISOR_LOCK), mode);
    }

    /// Shows the processes of a task that its supervisor ends them. This sign goes as the other signs do.
    pub fn show_ending(&self, id: TaskId) {
        let _ = self.vfs.set_mode(&layout::run_file(id, SUPERVISOR_LOCK), ENDING);
    }

    /// Whether the supervisor of a task ends its processes.
    pub fn is_ending(&self, id: TaskId) -> Result<bool> {
        Ok(self.meta(&layout::run_file(id, SUPERVISOR_LOCK))?.is_some_and(|meta| meta.mode == ENDING))
    }

    /// The part of a task that waits for the host, as the living supervisor shows it.
    pub fn shortage(&self, id: TaskId) -> Result<Option<Short>> {
        let short = match self.meta(&layout::run_file(id, SUPERVISOR_LOCK))?.map(|meta| meta.mode) {
            Some(RESULT_WAITS) => Short::Result,
            Some(START_WAITS) => Short::Start,
            Some(_) | None => return Ok(None),
        };
        Ok(self.is_supervised(id)?.then_some(short))
    }
}
