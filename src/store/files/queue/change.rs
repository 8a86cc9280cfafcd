//! Changes of a task that has not started: it is paused, resumed or edited, and keeps its number. The new record is its
//! result without an outcome, as after an attempt that failed. From the sync of the result on the change is in force, and
//! after a crash recovery brings the record to its place.

use crate::model::{Priority, Task};
use crate::store::{Ending, Hold, Result, Spool};

impl Spool {
    /// Puts the changed record of a task in its place. The caller took the task by `take_pending`; `old` is the record that
    /// it took. The change is in force once [`Spool::record_ending`] has returned; `told` is called then.
    pub fn change_pending(&self, old: &Task, new: Task, lock: Hold, told: &mut dyn FnMut()) -> Result<()> {
        let was_in = Some(format!("{}/{}", old.priority.number(), old.queue()));
        let ending = Ending::of(Task { was_in, ..new });
        if let Err(error) = self.record_ending(&ending, None) {
            // The change must not happen after an answer that reports its failure.
            self.withdraw_ending(old.id, lock)?;
            return Err(error);
        }
        told();
        self.unmark_order(old)?;
        self.drop_hints(old)?;
        let settled = self.settle(&ending, lock).map(drop);
        // The task may come later in the order than a hint has it.
        self.drop_heads();
        settled
    }

    /// Removes the record of a task that is queued again from its former queue.
    pub(crate) fn leave_former_queue(&self, task: &Task) -> Result<()> {
        let Some((priority, queue)) = task.was_in.as_deref().and_then(former) else { return Ok(()) };
        if priority == task.priority && queue == task.queue() {
            return Ok(());
        }
        self.leave_queue(priority, queue, task.id)
    }
}

/// Reads `<priority>/<queue>`.
fn former(text: &str) -> Option<(Priority, &str)> {
    let (priority, queue) = text.split_once('/')?;
    crate::model::QueueName::parse(queue)?;
    Some((Priority::new(priority.parse().ok()?)?, queue))
}
