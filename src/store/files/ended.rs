//! Finished tasks by their purpose: their key, their goal. A search reads the records of the days in question, so a finished
//! task leaves no index behind that would have to be kept in step.

use crate::model::{Task, Timestamp};
use crate::store::{Part, Place, Result, Spool, StoreError, layout};

impl Spool {
    /// The task that ended last, among those that `counts` and that ended at `since` or later. `text` is a part of its record,
    /// in JSON spelling: only such records are parsed whole. Costs a read for each task that ended since; a damaged record is
    /// passed over.
    pub fn last_ended(&self, text: &str, since: Timestamp, counts: &dyn Fn(&Task) -> bool) -> Result<Option<Task>> {
        let ended = |task: &Task| task.outcome().map(|outcome| outcome.completed_at);
        let first = since.day();
        let mut days = self.folders_if_any(layout::DONE)?;
        days.retain(|day| *day >= first);
        days.sort_unstable();
        for day in days.iter().rev() {
            let mut last: Option<Task> = None;
            for id in self.records(&layout::done_day(day))? {
                let path = layout::done(day, id);
                let bytes = match self.read(&path) {
                    Ok(Some(bytes)) if std::str::from_utf8(&bytes).is_ok_and(|record| record.contains(text)) => bytes,
                    Ok(_) | Err(StoreError::Corrupt { .. }) => continue,
                    Err(error) => return Err(error),
                };
                let Ok((task, _)) = self.read_named(Part::Whole, Place::Done, &path, &bytes, id) else { continue };
                let is_later = last.as_ref().is_none_or(|last| ended(last) < ended(&task));
                if is_later && ended(&task).is_some_and(|at| at >= since) && counts(&task) {
                    last = Some(task);
                }
            }
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }
}
