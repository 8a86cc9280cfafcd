//! Loans of a parent without a process. A task that waits for its children lends them its lanes, also while it has no
//! process. Then no kernel lock on `spool/loans/<child>` proves the wait: the file names the parent, and the record of the
//! parent in `waiting` proves it.

use crate::model::task::TaskWait;
use crate::model::{Task, TaskId};
use crate::os::Open;
use crate::store::{Place, Result, Spool, StoreError, layout};

impl Spool {
    /// Names a parent that is about to move to `waiting` in the loan files of its queued children.
    pub(crate) fn mark_lent(&self, parent: &Task, wait: &TaskWait) -> Result<()> {
        if !wait.lends {
            return Ok(());
        }
        let queued = self.pending_tasks(None)?.filter_map(Result::ok);
        let children = queued.filter(|child| child.parent == Some(parent.id) && !child.no_inherit);
        for id in children.map(|child| child.id).collect::<Vec<TaskId>>() {
            self.make_dir(layout::LOANS)?;
            self.write_whole(&layout::loan(id), Open::Truncate(0o600), parent.id.to_string().as_bytes())?;
        }
        Ok(())
    }

    /// The parent that the file of a loan names, if it is in `waiting` and lends, or is about to.
    pub(crate) fn waiting_lender(&self, child: TaskId) -> Result<Option<TaskId>> {
        let path = layout::loan(child);
        let Some(mut file) = self.open(&path, Open::ReadOnly)? else { return Ok(None) };
        let bytes = file.read_part(0, 100).map_err(StoreError::io("read", &path))?;
        let parent = String::from_utf8(bytes).ok().and_then(|text| TaskId::parse(text.trim_end()));
        let Some(parent) = parent else { return Ok(None) };
        let lends = |task: &Task| task.wait().is_some_and(|wait| wait.lends);
        let is_there = self.find(parent)?.is_some_and(|(place, task)| place == Place::Waiting && lends(&task));
        let is_lender = is_there || self.read_result(parent)?.is_some_and(|ending| lends(ending.task()));
        Ok(is_lender.then_some(parent))
    }
}
