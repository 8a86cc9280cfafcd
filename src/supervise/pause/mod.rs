//! The pause of a task that runs: its supervisor stops every process of its tree, by its control group where it has one and by
//! SIGSTOP else, and lets them go on. The task keeps its lanes, or gives up the slots that others may have (`slots`); the time limit
//! does not count meanwhile.

mod slots;

pub use slots::Wants;

use super::keep::Keeper;
use super::kill::{Root, mark_of, tree_of};
use crate::model::control::TaskHold;
use crate::model::{Group, Identity, Task, Timestamp};
use crate::os::Signal;
use crate::store::{Event, GivenUp, RunPause, Site, StoreError};
use serde_json::json;
use slots::{Back, LOOK, Sandbox, Slots, give_up};
use std::time::Duration;

/// How often the tree is looked at until it stands still, and the time between two looks.
const LOOKS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(2);
/// How often more a tree is stopped that is to give its slots up.
const TRIES: u32 = 5;

/// What stands still, and since when.
struct Still<'a> {
    since_ms: u64,
    hold: TaskHold,
    /// The processes that were stopped here. One that was stopped before is left so.
    stopped: Vec<Identity>,
    /// Whether the control group of the task was stopped.
    is_frozen: bool,
    /// The processes that SIGSTOP passes over: those in the stopped control group, and supervisors of other tasks.
    passed_over: Vec<u32>,
    /// What the task has given up.
    slots: Option<Slots<'a>>,
    /// A pause for which nothing could be given up.
    refused: Option<TaskHold>,
}

/// The pauses of one run of a command.
pub(super) struct Pausing<'a> {
    sandbox: Sandbox<'a>,
    /// The control group of the task, where it has one.
    group: Option<Group>,
    still: Option<Still<'a>>,
    /// For how long earlier pauses lasted, in milliseconds.
    earlier_ms: u64,
}

impl<'a> Pausing<'a> {
    pub(super) fn of(group: Option<Group>, sandbox: Sandbox<'a>) -> Self {
        Self { sandbox, group, still: None, earlier_ms: 0 }
    }

    pub(super) fn is_paused(&self) -> bool {
        self.still.is_some()
    }

    /// For how long the command has stood still, in milliseconds.
    pub(super) fn paused_ms(&self, site: &Site) -> u64 {
        let now = self.still.as_ref().map_or(0, |still| site.host.boot_ms().saturating_sub(still.since_ms));
        self.earlier_ms.saturating_add(now)
    }

    /// Whether slots of the task are given up, so that nothing of its tree may run.
    pub(super) fn has_yielded(&self) -> bool {
        self.still.as_ref().is_some_and(|still| still.slots.is_some())
    }

    /// Whether the task is to go on, and waits for its slots.
    pub(super) fn is_waiting(&self) -> bool {
        self.still.as_ref().and_then(|still| still.slots.as_ref()).is_some_and(Slots::is_waiting)
    }

    /// For how long the supervisor may wait before it looks again.
    pub(super) fn time_left(&self, site: &Site) -> Duration {
        if self.is_waiting() {
            return LOOK;
        }
        let until = self.still.as_ref().and_then(|still| still.hold.until);
        until.map_or(Duration::MAX, |until| {
            // A moment that has come in this very millisecond is met by the next one.
            Duration::from_millis(u64::try_from(until.ms_since(site.host.now())).unwrap_or(0).max(1))
        })
    }

    /// Does what was asked for. What cannot be read or shown now is tried again at the next look: a pause never ends a task.
    pub(super) fn heed(&mut self, site: &Site, task: &Task, spared: &[u32], keeper: &mut Keeper) {
        let Ok(asked) = site.store.run_pause(task.id) else { return };
        let now = site.host.now();
        match (asked, &mut self.still) {
            (Some(asked), None) if asked.stands(now) => self.stop(site, task, asked, spared, keeper),
            (Some(asked), Some(_)) if asked.stands(now) => self.take_words(site, task, asked, keeper),
            (Some(_), None) => drop(site.store.end_pause(task.id)),
            (Some(_) | None, Some(Still { slots: Some(slots), .. })) => slots.want_back(site, task, self.sandbox),
            (Some(_) | None, Some(_)) => self.go_on(site, task),
            (None, None) => {}
        }
    }

    /// Takes back what was given up, when the task is to go on; then it does. True when a pass is wanted for that.
    pub(super) fn take_back(&mut self, site: &Site, wants: Wants<'_>, task: &Task, keeper: &mut Keeper) -> bool {
        let Some(Still { slots: Some(slots), .. }) = &mut self.still else { return false };
        let back = slots.take_back(site, wants, task, keeper);
        if back == Back::Has {
            self.still.iter_mut().for_each(|still| still.slots = None);
            self.go_on(site, task);
        }
        back == Back::NeedsPass
    }

    /// Gives up slots, where the pause asks for it. False when nothing could be given up.
    fn give_up(&mut self, site: &Site, task: &Task, asked: &RunPause, keeper: &mut Keeper) -> bool {
        let Some(still) = &mut self.still else { return true };
        // One that is not in effect is a new request.
        let is_refused = asked.is_in_effect && still.refused.as_ref() == Some(&asked.hold);
        if !asked.yields || still.slots.is_some() || is_refused {
            return !is_refused;
        }
        match give_up(site, task, asked.hold.since, keeper, &still.passed_over) {
            Ok(slots) => {
                still.slots = Some(slots);
                true
            }
            Err(why) => {
                still.refused = Some(asked.hold.clone());
                let refused = GivenUp { since: Some(asked.hold.since), refused: Some(why), ..GivenUp::default() };
                let _ = site.run_dir.note_given_up(task.id, &refused);
                false
            }
        }
    }

    /// Takes another end or another reason of a pause that stands.
    fn take_words(&mut self, site: &Site, task: &Task, asked: RunPause, keeper: &mut Keeper) {
        let Some(still) = &mut self.still else { return };
        let is_new = still.hold != asked.hold;
        still.hold = asked.hold.clone();
        if is_new {
            note(site, task, still, 0);
        }
        still.slots.iter_mut().for_each(|slots| slots.stay(site, task));
        self.give_up(site, task, &asked, keeper);
        let _ = site.store.show_pause(task.id);
    }

    fn stop(&mut self, site: &Site, task: &Task, asked: RunPause, spared: &[u32], keeper: &mut Keeper) {
        let frozen = self.group.as_ref().map(|group| freeze(site, group)).unwrap_or_default();
        let mut still = Still {
            since_ms: site.host.boot_ms(),
            hold: asked.hold.clone(),
            stopped: Vec::new(),
            is_frozen: frozen.is_some(),
            passed_over: [spared, &frozen.unwrap_or_default()].concat(),
            slots: None,
            refused: None,
        };
        let mut tries = 0;
        let running = loop {
            let running = stop_tree(site, task, &still.passed_over, &mut still.stopped).unwrap_or(1);
            if running == 0 || !asked.yields || tries == TRIES {
                break running;
            }
            tries += 1;
            // A process that waits in vfork(2) for a stopped child does not stop: another moment is met.
            continue_all(site, &mut still.stopped);
            site.host.sleep(BETWEEN);
        };
        note(site, task, &still, running);
        self.still = Some(still);
        if self.give_up(site, task, &asked, keeper) {
            let _ = site.store.show_pause(task.id);
        } else {
            // The pause asked for slots, and no slot can be given up: the task goes on.
            self.go_on(site, task);
        }
    }

    /// Lets the command go on, and removes what asked for the pause.
    fn go_on(&mut self, site: &Site, task: &Task) {
        self.wake(site);
        site.store.note(&Event::of("resumed", task).in_lane_of(task).with(json!({ "paused_ms": self.earlier_ms })));
        let _ = site.store.end_pause(task.id);
    }

    /// Lets what was stopped go on. Not what has given its slots up: others may run in its place.
    pub(super) fn wake(&mut self, site: &Site) {
        if self.has_yielded() {
            return;
        }
        let Some(mut still) = self.still.take() else { return };
        self.earlier_ms = self.earlier_ms.saturating_add(site.host.boot_ms().saturating_sub(still.since_ms));
        if let Some(group) = self.group.as_ref().filter(|_| still.is_frozen) {
            site.host.freeze_group(group, false);
        }
        continue_all(site, &mut still.stopped);
    }
}

/// Continues what SIGSTOP stopped: children first, so that no shell finds a child stopped when it goes on.
fn continue_all(site: &Site, stopped: &mut Vec<Identity>) {
    for process in stopped.drain(..).rev() {
        site.host.signal(&process, Signal::Continue);
    }
}

fn note(site: &Site, task: &Task, still: &Still, running: usize) {
    let TaskHold { since, until, reason, by, .. } = &still.hold;
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

/// Stops a control group, and gives the pids in it. `None` where it did not stop in time, or where a process of luzia is in
/// it, which has to go on.
fn freeze(site: &Site, group: &Group) -> Option<Vec<u32>> {
    let is_frozen = site.host.freeze_group(group, true);
    let members: Vec<u32> = site.host.group_members(group).iter().map(|process| process.pid).collect();
    if is_frozen && !members.iter().any(|pid| site.host.runs_this_program(*pid)) {
        return Some(members);
    }
    site.host.freeze_group(group, false);
    None
}

/// Stops a tree until a look finds nothing that runs. A process that was made meanwhile is met by the next look: no fork ends
/// after the signal has come. Gives how many processes could not be stopped.
///
/// A process of luzia itself is left alone. It may hold the guard of a lane, for which all others wait, and it does nothing
/// for the task but wait.
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
