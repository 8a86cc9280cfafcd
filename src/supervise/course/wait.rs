//! A wait that outlives its run: the command asked for that (`luzia await --park`), or the waiting process was killed. The
//! checkpoint of the wait is already durable; here the end of the run becomes a wait of the task.

use crate::model::task::TaskWait;
use crate::model::{LaneName, Task, TaskId, Timestamp};
use crate::policy::outcome::Happened;
use crate::policy::steps::course::becomes_wait;
use crate::policy::steps::waits::WaitKind;
use crate::store::{OpenWait, Site, StoreError};

/// Whether a run has asked to end and to be started again when its wait is over.
pub(in crate::supervise) fn asks_to_end(site: &Site, id: TaskId, start: u32) -> bool {
    site.store.open_in(id, start).is_some_and(|open| open.ends_run)
}

/// The wait that the end of a run becomes.
pub(super) fn open_after(site: &Site, task: &Task, happened: &Happened) -> Option<OpenWait> {
    let open = becomes_wait(happened, true).then(|| site.store.open_in(task.id, task.starts)).flatten();
    open.filter(|open| becomes_wait(happened, open.ends_run))
}

/// Result of a run: a wait, if one was open at its end, else the result itself. The tree of the task is dead.
pub(in crate::supervise) fn or_wait(site: &Site, task: &Task, happened: Happened) -> Result<Happened, StoreError> {
    let Some(open) = open_after(site, task, &happened) else { return Ok(happened) };
    let lanes: Vec<LaneName> = task.all_lanes().into_iter().filter(|lane| is_kept(&open, lane)).collect();
    let locks = site.store.locks_of(task.id, &lanes)?;
    site.store.secure_locks(&locks)?;
    Ok(Happened::Waits(TaskWait {
        until: Timestamp::parse(&open.until).unwrap_or_else(|| site.host.now()),
        kept: locks.into_iter().map(|grant| (grant.lane, grant.lock_id)).collect(),
        lends: matches!(WaitKind::parse(&open.kind), Some(WaitKind::Agent | WaitKind::Output)),
    }))
}

/// Whether a lane is kept: by its rule when the wait began, else by its kind (X3).
pub(super) fn is_kept(open: &OpenWait, lane: &LaneName) -> bool {
    open.keep.as_ref().map_or(lane.is_key_lane(), |kept| kept.contains(&lane.to_string()))
}
