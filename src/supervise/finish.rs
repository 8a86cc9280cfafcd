//! The end of a run, in the order of `supervision.md`: result, `meta.json`, lanes (the user's last), record. Each step
//! is idempotent; whoever comes next after a crash does the rest. The tree is dead before any of it begins.

use crate::model::lock::Grant;
use crate::model::{LaneName, Name, Task, TaskId};
use crate::os::Handle;
use crate::store::{Conductor, Ending, Event, Next, Store, StoreError};
use serde_json::json;

/// What a finished end leaves to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finished {
    /// The task.
    pub id: TaskId,
    /// Whose task it was.
    pub user: Name,
    /// Tasks that waited for this one to be over.
    pub dependents: Vec<TaskId>,
    /// Whether it is over or queued again.
    pub next: Next,
}

/// The outward record of a task that ended, and where it stands, if that went well.
pub struct Closed {
    conductor: Conductor,
    place: Option<&'static str>,
}

/// Brings a recorded end to its end: outward record, lanes, place. The lock goes last.
pub fn finish(store: &Store, ending: &Ending, lock: Box<dyn Handle>) -> Result<Finished, StoreError> {
    let closed = close_outside(store, &ending.task);
    give_back(store, ending, closed.as_ref(), &[], lock)
}

/// Closes the outward record. Its directory belongs to people and other programs: whatever is wrong there never holds a
/// lane.
pub fn close_outside(store: &Store, task: &Task) -> Option<Closed> {
    let conductor = store.conductor(&task.conductor_dir, false).ok().flatten()?;
    let place = conductor.close_task(task).unwrap_or_else(|error| {
        store.note(&Event::of("conductor_failed", task).saying(error.to_string()));
        None
    });
    Some(Closed { conductor, place })
}

/// Gives the lanes back and puts the record where it belongs. `known` are the grants of the claim, as far as they are.
pub fn give_back(
    store: &Store,
    ending: &Ending,
    closed: Option<&Closed>,
    known: &[Grant],
    lock: Box<dyn Handle>,
) -> Result<Finished, StoreError> {
    let task = &ending.task;
    let released = store.release_task(task.id, &task.all_lanes(), known)?;
    let threads = released.iter().filter(|lock| lock.lane.kind() == "thread").count();
    let lanes: Vec<String> = released.iter().map(|lock| lock.lane.to_string()).collect();
    let mut event = Event::of("released", task).with(json!({ "lanes": lanes, "threads": threads }));
    if threads > 0 {
        event = event.saying(format!("[AgentGraph] Released locks on {threads} thread(s) for execution {}", task.id.0));
    }
    store.note(&event);
    if let Some(Closed { conductor, place }) = closed {
        let _ = conductor.mark_released(task, *place);
    }
    let dependents = store.settle(ending, lock)?;
    let name = match &task.outcome {
        Some(_) => "finished",
        None => "requeued",
    };
    let status = task.status.word();
    store.note(&Event::of(name, task).in_lane(&LaneName::user(&task.user)).with(json!({ "status": status })));
    Ok(Finished { id: task.id, user: task.user.clone(), dependents, next: ending.next() })
}
