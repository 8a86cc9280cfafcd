//! The end that a task declares for itself: `finish.json`, of one start of the task.

use crate::model::task::Finish;
use crate::model::{Status, TaskId};
use crate::store::{Result, Spool, StoreError, layout};
use serde::{Deserialize, Serialize};

const NAME: &str = "finish.json";

#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub(crate) struct FinishFile {
    pub(crate) start: u32,
    pub(crate) status: String,
    pub(crate) summary: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) at: String,
}

impl FinishFile {
    fn said(self, start: u32) -> Option<Finish> {
        let is_end = |status: &Status| matches!(status, Status::Completed | Status::Failed);
        let status = Status::parse(&self.status).filter(is_end).filter(|_| self.start == start)?;
        Some(Finish { status, summary: self.summary, data: self.data })
    }
}

impl Spool {
    /// Records durably the end that a task declares in one of its starts. If an earlier declaration exists, returns that and
    /// changes nothing. `check` is called under the lock. Commit point: the rename of the document.
    pub fn record_finish<E: From<StoreError>>(
        &self,
        id: TaskId,
        start: u32,
        finish: &Finish,
        check: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<Option<Finish>, E> {
        let locked = self.lock_steps(id)?;
        check()?;
        // An invalid document is replaced: no caller got an answer from it.
        let before = self.read_document::<FinishFile>(id, NAME).map(|read| read.value).unwrap_or_default();
        if let Some(said) = before.said(start) {
            return Ok(Some(said));
        }
        let file = FinishFile {
            start,
            status: finish.status.word().to_owned(),
            summary: finish.summary.clone(),
            data: finish.data.clone(),
            at: self.host.now().to_string(),
        };
        self.write_document(&locked, NAME, &file)?;
        Ok(None)
    }

    /// The end that a task declared in this start. A task that has declared none costs one look.
    pub fn finish_said(&self, id: TaskId, start: u32) -> Result<Option<Finish>> {
        if self.meta(&layout::step_file(id, NAME))?.is_none() {
            return Ok(None);
        }
        // When the newest document is damaged, one of an earlier start must not count: `start` decides. If neither is valid,
        // the exit code of the command decides.
        match self.read_document::<FinishFile>(id, NAME) {
            Ok(read) => Ok(read.value.said(start)),
            Err(StoreError::Corrupt { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
