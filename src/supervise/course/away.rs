//! The slots that other holders may have while a process of the task blocks in `await` (X3): those of capacity lanes set to
//! `release` that are only a number. The order keeps a command from working without its slot. First `run/<id>/away` records that
//! the slots go, then they go. On the way back the slots are taken, then the mark goes, then the waiting process returns. If the
//! waiting process is killed, the supervisor stops the rest of the tree until the slots are back.

use super::is_kept;
use crate::model::lock::Grant;
use crate::model::{LaneName, Task, TaskId};
use crate::policy::line::has_turn;
use crate::policy::staleness::judge;
use crate::policy::steps::waits::WaitKind;
use crate::store::{Acquired, Denial, Event, InLine, OpenWait, Request, Site, StoreError};
use crate::supervise::keep::Keeper;
use serde_json::json;
use std::time::Duration;

/// Pause between two looks of a supervisor for a call to the slots that it waits for.
pub(in crate::supervise) const LOOK: Duration = Duration::from_millis(50);
/// Time after which the supervisor asks for the slots again without a call, in milliseconds.
const ASK_MS: u64 = 1000;
/// Time for which the supervisor listens for a call. It does not watch the command meanwhile.
const LISTEN: Duration = Duration::from_millis(1);

/// The request for some lanes of a task.
pub type Wants<'a> = &'a dyn Fn(&Task, &[LaneName]) -> Request;

/// The slots that a task has given up.
pub(in crate::supervise) struct Away {
    lanes: Vec<LaneName>,
    /// The place of the task in a line, while it wants its slots back.
    in_line: Option<InLine<'static>>,
    asked_ms: u64,
}

/// Result of a try to take slots back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::supervise) enum Back {
    /// The task has its slots.
    Has,
    Waits,
    /// A dead task is in the way, which a pass recovers.
    NeedsPass,
}

/// Whether a waiting task lends its lanes to a child meanwhile.
fn lends(site: &Site, id: TaskId, open: &OpenWait) -> bool {
    let is_child = |task: u64| matches!(site.store.find(TaskId(task)), Ok(Some((_, task))) if task.parent == Some(id));
    match WaitKind::parse(&open.kind) {
        Some(WaitKind::Agent) => true,
        _ => open.output.as_ref().is_some_and(|watch| is_child(watch.task)),
    }
}

/// The lanes that a task gives up for a wait. A lane whose slots have values is kept, because the value is in the environment of
/// the command. So is a lane with shares of processors, because the share is in the command's affinity.
fn goes(task: &Task, open: &OpenWait, grants: &[Grant]) -> Vec<LaneName> {
    let is_number = |lane: &LaneName| {
        let mut own = grants.iter().filter(|grant| grant.lane == *lane).peekable();
        own.peek().is_some() && own.all(|grant| grant.value.is_none() && !grant.has_share)
    };
    // The other scheduler counts a granted slot as held until the task ends.
    let is_granted = |lane: &LaneName| task.granted_in(lane).next().is_some();
    let may_go = |lane: &LaneName| !lane.is_key_lane() && !is_granted(lane) && !is_kept(open, lane) && is_number(lane);
    task.all_lanes().into_iter().filter(may_go).collect()
}

impl Away {
    /// Releases the capacity lanes of a task whose process blocks in `await`. Returns `None` if no lane was released.
    pub(in crate::supervise) fn begin(
        site: &Site,
        task: &Task,
        keeper: &mut Keeper,
    ) -> Result<Option<Self>, StoreError> {
        // The waiting process closes its wait under this lock before it looks for the mark.
        let locked = site.store.lock_steps(task.id)?;
        let open = site.store.open_in(task.id, task.starts).filter(|open| !open.ends_run);
        let Some(open) = open.filter(|open| !lends(site, task.id, open)) else { return Ok(None) };
        let grants = keeper.grants().to_vec();
        let mut lanes = goes(task, &open, &grants);
        if lanes.is_empty() || !site.store.has_waiter(task.id)? {
            return Ok(None);
        }
        site.run_dir.note_away(task.id, task.starts, &lanes)?;
        site.store.note(&Event::of("gave_up", task).in_lane_of(task).with(json!({ "lanes": names(&lanes) })));
        keeper.let_go(&lanes);
        for lane in lanes.clone().into_iter().rev() {
            // After an error some slots of the lane may be gone: it counts as given up.
            if matches!(site.store.give_up_lane(task.id, &lane, &grants), Ok(false)) {
                lanes.retain(|other| *other != lane);
                keeper.take_on(grants.iter().filter(|grant| grant.lane == lane).cloned().collect());
            }
        }
        if lanes.is_empty() {
            site.run_dir.end_away(task.id)?;
            return Ok(None);
        }
        // If this fails the mark names a lane too many.
        let _ = site.run_dir.note_away(task.id, task.starts, &lanes);
        drop(locked);
        Ok(Some(Self { lanes, in_line: None, asked_ms: 0 }))
    }

    pub(in crate::supervise) fn is_wanted(&self) -> bool {
        self.in_line.is_some()
    }

    /// Gives up the place in the line, because the task waits again, in another process.
    pub(in crate::supervise) fn stay(&mut self, site: &Site) {
        if let Some(mut in_line) = self.in_line.take() {
            site.store.leave_line(&mut in_line);
        }
    }

    /// Asks for the slots again, because the task goes on.
    pub(in crate::supervise) fn want_back(&mut self, task: &Task) {
        if self.in_line.is_none() {
            // Tasks of this sandbox give way to it: its supervisor makes a pass for them.
            let sandbox = task.sandbox.as_ref().map(|sandbox| sandbox.id().clone());
            (self.in_line, self.asked_ms) = (Some(InLine::waiting(has_turn, move || sandbox.clone())), 0);
        }
    }

    /// Tries to take all the slots back, or none: when the line calls the task, or `ASK_MS` after its last request.
    pub(in crate::supervise) fn take_back(
        &mut self,
        site: &Site,
        wants: Wants<'_>,
        task: &Task,
        keeper: &mut Keeper,
    ) -> Back {
        let Some(in_line) = &mut self.in_line else { return Back::Waits };
        let now = site.host.boot_ms();
        let is_called = self.asked_ms != 0 && site.store.wait_in_line(in_line, LISTEN, LISTEN) == Some(true);
        if !is_called && self.asked_ms != 0 && now.saturating_sub(self.asked_ms) < ASK_MS {
            return Back::Waits;
        }
        self.asked_ms = now.max(1);
        match site.store.acquire_in_line(&wants(task, &self.lanes), judge, in_line) {
            Ok(Acquired::Granted { .. } | Acquired::Refreshed(_)) => {}
            Ok(Acquired::Denied(Denial::NeedsRecovery(_))) => return Back::NeedsPass,
            Ok(_) | Err(_) => return Back::Waits,
        }
        // An adoption or a removal that fails now is tried again: the waiting process does not return before.
        let Ok(grants) = site.store.adopt(task.id, &self.lanes) else { return Back::Waits };
        if site.run_dir.end_away(task.id).is_err() {
            return Back::Waits;
        }
        site.store.leave_line(in_line);
        keeper.take_on(grants);
        site.store.note(&Event::of("took_again", task).in_lane_of(task).with(json!({ "lanes": names(&self.lanes) })));
        Back::Has
    }
}

fn names(lanes: &[LaneName]) -> Vec<String> {
    lanes.iter().map(ToString::to_string).collect()
}
