//! Keys: names by which a request that is made again is known. A key is taken as long as a task that has it is unfinished.

use crate::app::queue::enqueue::Accepted;
use crate::app::{App, AppError, Kind};
use crate::model::{Task, TaskId};
use crate::store::{KeySlot, Place, StoreError};

/// What is to be done when an unfinished task has the same key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnConflict {
    /// Queue this one too.
    Queue,
    /// Keep the other one, and answer with it.
    #[default]
    Skip,
    /// Cancel the other one if it has not started, and queue this one.
    Replace,
    /// Refuse.
    Reject,
}

impl App {
    /// Accepts a request with a key, or does what was asked for when an unfinished task has the key.
    pub(crate) fn enqueue_keyed(
        &self,
        mut task: Task,
        key: &str,
        on_conflict: OnConflict,
    ) -> Result<Accepted, AppError> {
        // Of several that have the key the last one is replaced; the others stay beside it.
        let mut beside: Vec<TaskId> = Vec::new();
        loop {
            let mut slot = self.store.enter_key(key)?;
            let mut unfinished = Vec::new();
            for id in slot.holders()? {
                let found = self.store.find(id)?;
                unfinished
                    .extend(found.filter(|(place, other)| *place != Place::Done && other.key.as_deref() == Some(key)));
            }
            let ids: Vec<TaskId> = unfinished.iter().map(|(_, other)| other.id).collect();
            let last = unfinished.into_iter().find(|(_, other)| !beside.contains(&other.id));
            match (last, on_conflict) {
                (None, _) | (Some(_), OnConflict::Queue) => {
                    task.id = self.store.reserve_ids(1)?;
                    slot.assign(&[&[task.id], &ids[..]].concat())?;
                    self.accept(std::slice::from_ref(&task))?;
                    return Ok(Accepted { task, created: true });
                }
                (Some((_, other)), OnConflict::Skip) => return Ok(Accepted { task: other, created: false }),
                (Some((_, other)), OnConflict::Reject) => {
                    return Err(AppError::new(
                        Kind::Busy,
                        "KEY_TAKEN",
                        format!("{} has the key \"{key}\" and is {}", other.id, other.status),
                    )
                    .hint("wait for it; --on-conflict queue puts the new task behind it")
                    .next(format!("luzia show {}", other.id)));
                }
                (Some((Place::Pending | Place::Parked, other)), OnConflict::Replace) => {
                    drop(slot);
                    beside = ids.into_iter().filter(|id| *id != other.id).collect();
                    self.cancel_pending(other.id, &task.user.to_string(), Some("replaced"))
                        .map_err(|error| self.not_replaced(other.id, error))?;
                }
                (Some((_, other)), OnConflict::Replace) => {
                    return Err(AppError::new(
                        Kind::No,
                        "KEY_RUNS",
                        format!("{} has the key \"{key}\" and is already {}", other.id, other.status),
                    )
                    .hint("a task that has started is not replaced; wait for it, or use another key")
                    .next(format!("luzia wait {}", other.id)));
                }
            }
        }
    }
}

impl App {
    /// The error of a replacement that failed when it took the older task out of the queue: it says where that stands.
    fn not_replaced(&self, older: TaskId, mut error: AppError) -> AppError {
        let stands = match self.find(older) {
            Ok(Some((_, task))) => format!("{older} is {}", task.status),
            Ok(None) | Err(_) => format!("where {older} stands cannot be told"),
        };
        error.0.message = format!("nothing was queued, and {stands}: {}", error.0.message);
        error.next(format!("luzia show {older}"))
    }
}

/// A task that is retried has its key again, until it is over.
pub(crate) fn take_again(mut slot: KeySlot<'_>, id: TaskId) -> Result<KeySlot<'_>, StoreError> {
    let mut holders = slot.holders()?;
    if !holders.contains(&id) {
        holders.insert(0, id);
        slot.assign(&holders)?;
    }
    Ok(slot)
}
