//! The pause of a running task. Its supervisor stops every process of its tree, by its control group if it has one and by SIGSTOP
//! else, and lets them go on. The task keeps its lanes; the time limit does not count meanwhile. If the `await` of a tree was
//! killed, the tree is stopped in the same way until the task has the slots again that it gave up for the wait.

use super::kill::{Root, mark_of, tree_of};
use crate::model::control::TaskHold;
use crate::model::{Group, Identity, Task, Timestamp};
use crate::os::Signal;
use crate::store::{Event, RunPause, Site, StoreError};
use serde_json::json;
use std::time::Duration;

/// Number of looks at the tree until it is stopped, and the time between two looks.
const LOOKS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(2);

/// The stopped processes, and the time since when they are stopped.
struct Still {
    since_ms: u64,
    /// The requested pause; `None` if only slots are missing.
    hold: Option<TaskHold>,
    /// The processes that this supervisor stopped. A process that was stopped before is left so.
    stopped: Vec<Identity>,
    /// Whether the control group of the task was stopped.
    is_frozen: bool,
    /// The processes that SIGSTOP passes over: those in the stopped control group, and supervisors of other tasks.
    passed_over: Vec<u32>,
}

/// The pauses of one run of a command.
pub(super) struct Pausing {
    /// The control group of the task, if it has one.
    group: Option<Group>,
    still: Option<Still>,
    /// Whether the task must get slots before its tree goes on.
    lacks_slots: bool,
    /// Duration of earlier pauses, in milliseconds.
    earlier_ms: u64,
}

impl Pausing {
    pub(super) fn of(group: Option<Group>) -> Self {
        Self { group, still: None, lacks_slots: false, earlier_ms: 0 }
    }

    pub(super) fn is_paused(&self) -> bool {
        self.still.is_some()
    }

    /// Time for which the command has been stopped, in milliseconds.
    pub(super) fn paused_ms(&self, site: &Site) -> u64 {
        let now = self.still.as_ref().map_or(0, |still| site.host.boot_ms().saturating_sub(still.since_ms));
        self.earlier_ms.saturating_add(now)
    }

    /// Time that the supervisor may wait before it looks at the tree again.
    pub(super) fn time_left(&self, site: &Site) -> Duration {
        let until = self.still.as_ref().and_then(|still| still.hold.as_ref()?.until);
        until.map_or(Duration::MAX, |until| {
            // A moment that has come in this very millisecond is met by the next one.
            Duration::from_millis(until.saturating_ms_since(site.host.now()).max(1))
        })
    }

    /// Carries a request out. A read or write error is tried again at the next look: a pause never ends a task.
    pub(super) fn heed(&mut self, site: &Site, task: &Task, spared: &[u32]) {
        let Ok(asked) = site.store.run_pause(task.id) else { return };
        let now = site.host.now();
        match (asked, &self.still) {
            (Some(asked), None) if asked.hold.stands(now) => self.stop(site, task, asked, spared),
            (Some(asked), Some(_)) if asked.hold.stands(now) => self.take_words(site, task, asked),
            (Some(_) | None, Some(still)) if still.hold.is_some() => self.go_on(site, task),
            (Some(_), _) => drop(site.store.end_pause(task.id)),
            (None, _) => {}
        }
    }

    /// Stops the tree until it has its slots.
    pub(super) fn lacks_slots(&mut self, site: &Site, task: &Task, spared: &[u32]) {
        if !std::mem::replace(&mut self.lacks_slots, true) && self.still.is_none() {
            self.still = Some(self.still_tree(site, task, None, spared).0);
        }
    }

    /// Lets the tree go on, unless it is paused.
    pub(super) fn has_slots(&mut self, site: &Site) {
        if std::mem::take(&mut self.lacks_slots) && self.still.as_ref().is_some_and(|still| still.hold.is_none()) {
            self.wake(site);
        }
    }

    /// Takes another end or another reason of a pause in force.
    fn take_words(&mut self, site: &Site, task: &Task, asked: RunPause) {
        let Some(still) = &mut self.still else { return };
        let is_new = still.hold.as_ref() != Some(&asked.hold);
        still.hold = Some(asked.hold);
        if is_new {
            note(site, task, still, 0);
        }
        let _ = site.store.show_pause(task.id);
    }

    fn stop(&mut self, site: &Site, task: &Task, asked: RunPause, spared: &[u32]) {
        let (still, running) = self.still_tree(site, task, Some(asked.hold), spared);
        note(site, task, &still, running);
        self.still = Some(still);
        let _ = site.store.show_pause(task.id);
    }

    /// Stops the tree. Also returns the number of processes that could not be stopped.
    fn still_tree(&self, site: &Site, task: &Task, hold: Option<TaskHold>, spared: &[u32]) -> (Still, usize) {
        let frozen = self.group.as_ref().map(|group| freeze(site, group)).unwrap_or_default();
        let mut still = Still {
            since_ms: site.host.boot_ms(),
            hold,
            stopped: Vec::new(),
            is_frozen: frozen.is_some(),
            passed_over: [spared, &frozen.unwrap_or_default()].concat(),
        };
        let running = stop_tree(site, task, &still.passed_over, &mut still.stopped).unwrap_or(1);
        (still, running)
    }

    /// Lets the command go on as soon as it has its slots, and removes the request for the pause.
    fn go_on(&mut self, site: &Site, task: &Task) {
        if let Some(still) = self.still.as_mut().filter(|_| self.lacks_slots) {
            still.hold = None;
        } else {
            self.wake(site);
        }
        site.store.note(&Event::of("resumed", task).in_lane_of(task).with(json!({ "paused_ms": self.earlier_ms })));
        let _ = site.store.end_pause(task.id);
    }

    /// Lets the stopped processes go on.
    pub(super) fn wake(&mut self, site: &Site) {
        let Some(mut still) = self.still.take() else { return };
        self.earlier_ms = self.earlier_ms.saturating_add(site.host.boot_ms().saturating_sub(still.since_ms));
        if let Some(group) = self.group.as_ref().filter(|_| still.is_frozen) {
            site.host.freeze_group(group, false);
        }
        continue_all(site, &mut still.stopped);
    }
}

/// Continues the processes that SIGSTOP stopped: children first, so that no shell finds a child stopped when it goes on.
fn continue_all(site: &Site, stopped: &mut Vec<Identity>) {
    for process in stopped.drain(..).rev() {
        site.host.signal(&process, Signal::Continue);
    }
}

fn note(site: &Site, task: &Task, still: &Still, running: usize) {
    let Some(TaskHold { since, until, reason, by, .. }) = &still.hold else { return };
    let text = |at: &Timestamp| at.to_string();
    let data = json!({
        "what": task.id.to_string(),
        "since": text(since),
        "until": until.as_ref().map(text),
        "reason": reason,
        "by": by,
        "frozen": still.is_frozen,
        "stopped": still.stopped.len(),
        "running": running,
    });
    site.store.note(&Event::of("paused", task).in_lane_of(task).with(data));
}

/// Stops a control group, and returns the pids in it. `None` if it did not stop in time, or a process of luzia is in it,
/// which has to go on.
fn freeze(site: &Site, group: &Group) -> Option<Vec<u32>> {
    let is_frozen = site.host.freeze_group(group, true);
    let members: Vec<u32> = site.host.group_members(group).iter().map(|process| process.pid).collect();
    if is_frozen && !members.iter().any(|pid| site.host.runs_this_program(*pid)) {
        return Some(members);
    }
    site.host.freeze_group(group, false);
    None
}

/// Stops a tree until a look finds no running process. The next look meets a process that was made meanwhile: no fork ends
/// after the signal has come. Returns the number of processes that could not be stopped.
///
/// A process of luzia itself is left alone. It may hold the guard of a lane, for which all other processes wait, and it only
/// waits for the task.
fn stop_tree(site: &Site, task: &Task, spared: &[u32], stopped: &mut Vec<Identity>) -> Result<usize, StoreError> {
    let me = site.host.identity();
    let root = Root::here(site, &me);
    let mut running = 0;
    for _ in 0..LOOKS {
        running = 0;
        for process in tree_of(site, &mark_of(site, task.id, &root)?, spared)? {
            let is_known = stopped.contains(&process);
            if site.host.is_stopped(&process) {
                // It may have become luzia between the look and the signal.
                if is_known && site.host.runs_this_program(process.pid) {
                    site.host.signal(&process, Signal::Continue);
                    stopped.retain(|one| *one != process);
                }
                continue;
            }
            if site.host.runs_this_program(process.pid) {
                continue;
            }
            running += 1;
            if !is_known && site.host.signal(&process, Signal::Stop) {
                stopped.push(process);
            }
        }
        if running == 0 {
            break;
        }
        site.host.sleep(BETWEEN);
    }
    Ok(running)
}
