//! The slots of a paused task that others may have meanwhile (`pause --yield`). The order is what keeps two trees from running in one
//! place: the tree stands still and certainly stays so, `yield.json` says that it may not run, the locks go; and back: the locks are
//! there, `yield.json` goes, the tree goes on. A supervisor that is killed in between leaves a tree that stands still, which recovery
//! ends without a signal that continues it.

use crate::model::process::Posture;
use crate::model::{LaneName, SandboxId, Task, Timestamp};
use crate::policy::line::has_turn;
use crate::policy::staleness::judge;
use crate::policy::still::{Stirs, may_be_given_up, stays_stopped};
use crate::store::{Acquired, Event, GivenUp, InLine, Request, Site, StoreError};
use crate::supervise::keep::Keeper;
use crate::supervise::kill::{Root, mark_of, tree_of};
use serde_json::json;
use std::time::Duration;

/// How often a task that is to go on looks whether it is its turn, and how often it asks for its lanes without a call.
pub(super) const LOOK: Duration = Duration::from_millis(50);
const ASK_MS: u64 = 1000;
/// How long it listens for a call: nobody watches the command meanwhile.
const LISTEN: Duration = Duration::from_millis(1);

/// The sandbox in which a task was queued, for its place in a line.
pub(super) type Sandbox<'a> = &'a dyn Fn() -> Option<SandboxId>;

/// What a request to take lanes of a task looks like.
pub type Wants<'a> = &'a dyn Fn(&Task, &[LaneName]) -> Request;

/// The slots that a task has given up.
pub(super) struct Slots<'a> {
    given: GivenUp,
    /// Its place in a line, while it is to go on.
    in_line: Option<InLine<'a>>,
    /// When it asked for them last; `None` until it has asked.
    asked_ms: Option<u64>,
}

/// What came of a try to take them back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Back {
    /// The task has them.
    Has,
    Waits,
    /// A dead task is in the way, which a pass recovers.
    NeedsPass,
}

/// Gives up what may be given up. `Err` is why nothing was. `passed_over` are the processes that a control group keeps stopped, and supervisors
/// of other tasks.
pub(super) fn give_up<'a>(
    site: &Site,
    task: &Task,
    since: Timestamp,
    keeper: &mut Keeper,
    passed_over: &[u32],
) -> Result<Slots<'a>, String> {
    stands_still(site, task, passed_over)?;
    let told = |error: StoreError| error.to_string();
    let all = task.all_lanes();
    let grants = keeper.grants().to_vec();
    let may = |lane: &LaneName| {
        let mut own = grants.iter().filter(|grant| grant.lane == *lane);
        own.clone().next().is_some() && own.all(|grant| may_be_given_up(lane, grant.value.is_some(), grant.has_share))
    };
    let (lanes, kept): (Vec<LaneName>, Vec<LaneName>) = all.into_iter().partition(|lane| may(lane));
    if lanes.is_empty() {
        return Err("it has no slot that can be given up".to_owned());
    }
    let mut given = GivenUp { since: Some(since), lanes, kept, is_waiting: false, refused: None };
    site.run_dir.note_given_up(task.id, &given).map_err(told)?;
    site.store.note(
        &Event::of("yielded", task)
            .in_lane_of(task)
            .with(json!({ "lanes": names(&given.lanes), "kept": names(&given.kept) })),
    );
    // From here on the tree may not run before all of them are back.
    for lane in given.lanes.clone().into_iter().rev() {
        // After an error some slots of the lane may be gone: it counts as given up, and all of them are taken again.
        if matches!(site.store.give_up_lane(task.id, &lane, &grants), Ok(false)) {
            given.lanes.retain(|other| *other != lane);
            given.kept.push(lane);
        }
    }
    keeper.let_go(&given.lanes);
    if given.lanes.is_empty() {
        site.run_dir.forget_given_up(task.id).map_err(told)?;
        return Err("its slots are lent or borrowed".to_owned());
    }
    let _ = site.run_dir.note_given_up(task.id, &given);
    Ok(Slots { given, in_line: None, asked_ms: None })
}

/// Whether the tree of a task stands still, and nothing but a person lets it go on.
fn stands_still(site: &Site, task: &Task, passed_over: &[u32]) -> Result<(), String> {
    let hidden = || "not every process can be seen here".to_owned();
    if !site.host.is_proc_own() || site.host.posture(1).is_none() {
        return Err(hidden());
    }
    let me = site.host.identity();
    let above = site.host.posture(me.pid).ok_or_else(hidden)?;
    let root = Root::here(site, &me);
    let tree = mark_of(site, task.id, &root).and_then(|mark| tree_of(site, &mark, passed_over));
    let tree = tree.map_err(|error| error.to_string())?;
    // One that died meanwhile is gone for good: nothing that runs has started another one.
    let postures: Vec<Posture> = tree.iter().filter_map(|process| site.host.posture(process.pid)).collect();
    stays_stopped(&postures, &above).map_err(|stirs: Stirs| stirs.text())
}

impl<'a> Slots<'a> {
    pub(super) fn is_waiting(&self) -> bool {
        self.in_line.is_some()
    }

    /// The pause stands again: the place in the line is given up.
    pub(super) fn stay(&mut self, site: &Site, task: &Task) {
        let Some(mut in_line) = self.in_line.take() else { return };
        site.store.leave_line(&mut in_line);
        self.show(site, task);
    }

    /// The task is to go on: it waits for its lanes.
    pub(super) fn want_back(&mut self, site: &Site, task: &Task, sandbox: Sandbox<'a>) {
        if self.in_line.is_none() {
            self.in_line = Some(InLine::waiting(has_turn, sandbox));
            self.asked_ms = None;
            self.show(site, task);
        }
    }

    /// Shows whether the task waits for its lanes.
    fn show(&self, site: &Site, task: &Task) {
        let given = GivenUp { is_waiting: self.is_waiting(), ..self.given.clone() };
        let _ = site.run_dir.note_given_up(task.id, &given);
    }

    /// Tries to take all of them, or none, when it is called or when it has not asked for long.
    pub(super) fn take_back(&mut self, site: &Site, wants: Wants<'_>, task: &Task, keeper: &mut Keeper) -> Back {
        let Some(in_line) = &mut self.in_line else { return Back::Waits };
        let now = site.host.boot_ms();
        if let Some(asked_ms) = self.asked_ms {
            let is_called = site.store.wait_in_line(in_line, LISTEN, LISTEN) == Some(true);
            if !is_called && now.saturating_sub(asked_ms) < ASK_MS {
                return Back::Waits;
            }
        }
        self.asked_ms = Some(now);
        match site.store.acquire_in_line(&wants(task, &self.given.lanes), judge, in_line) {
            Ok(Acquired::Granted { .. } | Acquired::Refreshed(_)) => {}
            Ok(Acquired::NeedsRecovery(_)) => return Back::NeedsPass,
            Ok(_) | Err(_) => return Back::Waits,
        }
        site.store.leave_line(in_line);
        self.have(site, task, keeper)
    }

    /// The locks are there. What cannot be read or removed now is tried again: the task stands still meanwhile.
    fn have(&mut self, site: &Site, task: &Task, keeper: &mut Keeper) -> Back {
        let Ok(grants) = site.store.adopt(task.id, &self.given.lanes) else { return Back::Waits };
        if site.run_dir.forget_given_up(task.id).is_err() {
            return Back::Waits;
        }
        keeper.take_on(grants);
        site.store
            .note(&Event::of("retaken", task).in_lane_of(task).with(json!({ "lanes": names(&self.given.lanes) })));
        Back::Has
    }
}

fn names(lanes: &[LaneName]) -> Vec<String> {
    lanes.iter().map(ToString::to_string).collect()
}
