//! A stepwise task takes several steps within one claim: its record in `running` is replaced between two of them.

use crate::model::Task;
use crate::store::FileStore;
use crate::store::error::Result;
use crate::store::files::disk::layout;
use crate::store::files::disk::task_record::encode_task;

impl FileStore {
    /// Replaces the record of a running task whose tree is dead, and forgets its last start. The next start syncs the
    /// folder; a crash before it finds the old record, or the new one without a start, which spends no attempt. The caller
    /// holds the task's `supervisor.lock`.
    pub fn keep_running(&self, task: &Task) -> Result<()> {
        self.put(&layout::tmp(task.id, self.host.me.pid), &layout::running(task.id), &encode_task(task)?)?;
        self.unlink(&layout::started(task.id)).map(drop)
    }
}
