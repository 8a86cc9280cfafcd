//! Waiting for a lane: in its line, where the kernel wakes one waiter for each grant; without a place there, by looks.
//! `acquire_waiting` is that wait. `pass_for_waiting` makes one pass after `release`, `luzia lock` or a session has given a lane
//! back, if a queued task waits for that lane (S0.23).

mod told;

pub(crate) use self::told::Full;
use super::reentrancy::waits_for_own_session;
use crate::app::admission::{is_near, may_start, own_context};
use crate::app::breaks::{broken_event, end_overdue, stale_line, until_overdue};
use crate::app::capacity::{not_now_text, pause_of_lane};
use crate::app::config_reload::{config, control, follow_config, follow_control};
use crate::app::locks::acquire::Granted;
use crate::app::pass::pass;
use crate::app::pass::recovery::recover_now;
use crate::app::query::cycles::refuse_ring_of_lanes;
use crate::app::{App, AppError, Code};
use crate::model::{LaneName, QueueName, SandboxId, TaskId, Tier, Timestamp};
use crate::policy::line::{LIFE_LOOK, LONGEST_TRUST, NO_LOCK_LOOK, has_turn, patience};
use crate::policy::staleness::judge;
use crate::store::{
    Acquired, Break, Changes, Denial, Event, InLine, LaneNeed, LockView, NotNow, Owed, Place, Request, StoreError,
};
use std::time::Duration;
use told::{barred_error, behind_error, lanes_held, tell_wait, warn_of_lock};

/// Longest sleep between two looks of a waiter without a place in the line.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// Time before a waiter says for whom it waits: most waits are over by then.
const SILENT_MS: u64 = 300;
/// Shortest time between two messages in which a waiter says for whom it waits.
const TELL_MS: u64 = 60_000;
/// Number of recoveries of a dead holder before the waiter gives up, or, without a limit, before it waits between further
/// tries.
const RECOVERIES: u32 = 10;

/// A rule that bars a lane with room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Bar {
    /// The rate of a lane allows no grant before a moment.
    Rate {
        /// The lane.
        lane: LaneName,
        /// The moment from which the lane may be granted again.
        until: Timestamp,
    },
    /// The rest of `global` is kept for other lanes.
    Kept,
    /// A lane is paused, its gate is shut, or strangers use the values of its slots.
    NotNow {
        /// The one of these bars that applies.
        why: NotNow,
        /// Whether the bar is the pause.
        is_paused: bool,
        /// The bar in words.
        text: String,
    },
}

/// The reason of a wait.
enum Seen {
    Held(Box<LockView>),
    Behind(LaneName),
    Barred(Bar),
}

/// Why a wait has ended without a grant.
enum Kept {
    Held(Full),
    Behind(LaneName),
    Barred(Bar),
}

/// One wait.
struct Wait<'a> {
    in_line: InLine<'a>,
    begin_ms: u64,
    limit_ms: Option<u64>,
    /// The watch of a waiter without a place.
    changes: Option<Changes>,
    recoveries: u32,
    /// Whether the waiter takes a place before it looks: others are in the guard, or were there.
    joins: bool,
    /// Whether the check was made that this wait closes no ring.
    is_checked: bool,
    /// Whether the waiter has been in the line long enough to ask whether those before it are stopped.
    asks: bool,
    /// Gets the line that names the holder for which the command waits.
    tell: &'a mut dyn FnMut(&str),
    told: Option<(u64, String)>,
    /// Whether the wait was reported, because it has lasted as long as its lane says.
    is_warned: bool,
}

/// Tries to take the lanes until they are granted or the time is over (`None`: for ever). `tell` gets a line that says for
/// whom it waits, as soon as it waits for a while, and at most once a minute when that changes. `refused` gets the lanes that
/// are full at the end of the time, and returns the lines of the error for `-v`.
pub(crate) fn acquire_waiting(
    app: &App,
    request: &Request,
    wait_ms: Option<u64>,
    tell: &mut dyn FnMut(&str),
    refused: &dyn Fn(&Full) -> Result<Vec<String>, AppError>,
) -> Result<Granted, AppError> {
    let sandbox = || -> Option<SandboxId> { Some(own_context(app).0.id().clone()) };
    let in_line = if wait_ms == Some(0) { InLine::once(has_turn) } else { InLine::waiting(has_turn, sandbox) };
    let in_line = in_line.shown_as(&request.who);
    let begin_ms = app.host.boot_ms();
    let mut wait = Wait {
        in_line,
        begin_ms,
        limit_ms: wait_ms,
        changes: None,
        recoveries: 0,
        joins: false,
        is_checked: false,
        asks: false,
        tell,
        told: None,
        is_warned: false,
    };
    let waited = wait_for_turn(app, request, &mut wait);
    app.store.leave_line(&mut wait.in_line);
    match waited? {
        Ok(granted) => Ok(granted),
        Err(Kept::Held(full)) => {
            let lines = refused(&full)?;
            Err(full.error(app.host.now()).with_log(lines))
        }
        Err(Kept::Behind(lane)) => Err(behind_error(&lane)),
        Err(Kept::Barred(bar)) => Err(barred_error(&bar, app.host.now())),
    }
}

fn wait_for_turn(app: &App, request: &Request, wait: &mut Wait) -> Result<Result<Granted, Kept>, AppError> {
    let (mut request, mut is_first) = (request.clone(), true);
    shut_paused(app, &mut request);
    loop {
        if stands_behind(app, &request, wait) {
            continue;
        }
        // The command has made this look when it began.
        if !std::mem::take(&mut is_first) {
            follow_limits(app, &mut request)?;
        }
        let (before, stood) = (wait.in_line.position(), place_of(&request, wait).map(|need| need.lane.clone()));
        let answer = match app.store.acquire_in_line(&request, judge, &mut wait.in_line) {
            // A wait without a limit never ends because others hold the guard; a limited one ends with its limit.
            Err(StoreError::GuardBusy { .. }) if !self::left(app, wait).is_zero() => {
                wait.joins = true;
                continue;
            }
            other => other?,
        };
        let seen = match answer {
            Acquired::Granted { grants, refreshed, broken, files } => {
                warn_of_lock(app, &request, None, true, wait);
                let log = note_granted(app, &request, stood.as_ref().zip(before), &broken);
                return Ok(Ok(Granted { grants, refreshed, files, log }));
            }
            Acquired::Refreshed(grants) => {
                let refreshed = grants.iter().map(|grant| grant.lane.clone()).collect();
                return Ok(Ok(Granted { grants, refreshed, ..Granted::default() }));
            }
            Acquired::Denied(Denial::Held(view)) => {
                // If the holder cannot be asked to end, the caller waits on.
                let _ = end_overdue(app, &view);
                Seen::Held(view)
            }
            Acquired::Denied(Denial::Behind(lane) | Denial::NoGrant(lane)) => Seen::Behind(lane),
            Acquired::Denied(Denial::Limited { lane, until }) => Seen::Barred(Bar::Rate { lane, until }),
            Acquired::Denied(Denial::Kept) => Seen::Barred(Bar::Kept),
            Acquired::Denied(Denial::NotNow(why)) => {
                let text = not_now_text(app, &why);
                let is_paused = matches!(&why, NotNow::Shut(lane) if pause_of_lane(app, lane).is_some());
                Seen::Barred(Bar::NotNow { why, is_paused, text })
            }
            Acquired::Denied(Denial::NeedsRecovery(task)) => {
                recover_for(app, task, wait)?;
                continue;
            }
        };
        // The lane of which it was the first in line may have been left to tasks.
        if let Some(lane) = stood.filter(|lane| before.is_some() && !wait.in_line.stands_in(lane)) {
            pass_if_owed(app, &lane);
        }
        // The session of the caller would wait for itself.
        let is_own = match &seen {
            Seen::Held(view) => waits_for_own_session(app, view)?,
            Seen::Behind(_) | Seen::Barred(_) => false,
        };
        if self::left(app, wait).is_zero() || is_own {
            return Ok(Err(match seen {
                Seen::Held(view) => Kept::Held(lanes_held(app, &request, &view)),
                Seen::Behind(lane) => Kept::Behind(lane),
                Seen::Barred(bar) => Kept::Barred(bar),
            }));
        }
        if !std::mem::replace(&mut wait.is_checked, true) {
            refuse_ring_of_lanes(app, &request)?;
        }
        rest(app, &request, &seen, wait);
    }
}

/// Applies limits that `lanes set` has changed since.
fn follow_limits(app: &App, request: &mut Request) -> Result<(), AppError> {
    let before = control(app);
    follow_control(app)?;
    let may_change = |need: &LaneNeed| need.is_shut || config(app).hold_while(&need.lane).is_some();
    if before != control(app) || request.needs.iter().any(may_change) {
        let lanes: Vec<LaneName> = request.needs.iter().map(|need| need.lane.clone()).collect();
        request.needs = app.needs(&lanes);
        shut_paused(app, request);
    }
    Ok(())
}

/// Shuts the lanes of a request that are paused: a holder may refresh its lease, and nothing new is granted.
fn shut_paused(app: &App, request: &mut Request) {
    for need in &mut request.needs {
        need.is_shut |= pause_of_lane(app, &need.lane).is_some();
    }
}

/// Makes a pass if this process has given a lane back to a task that gave way to it: no other process may come for that task.
/// An error there does not fail the verb.
pub(crate) fn pass_if_owed(app: &App, lane: &LaneName) {
    let owed = app.store.owes_pass().map(|owed| (lane, owed));
    pass_for(app, owed.as_slice());
}

/// Like `pass_if_owed`, one pass for all lanes that were given back.
pub(crate) fn pass_for(app: &App, owed: &[(&LaneName, Owed)]) {
    if owed.is_empty() {
        return;
    }
    let mut paid = pass(app).map(drop);
    for (lane, _) in owed.iter().filter(|(_, owed)| *owed == Owed::Perhaps) {
        paid = paid.and(app.store.end_tasks_turn(lane).map_err(AppError::from));
    }
    if let Err(error) = paid {
        app.store.note(&Event::new("pass_failed").saying(error.to_string()));
    }
}

/// The time that is left of a wait.
fn left(app: &App, wait: &Wait) -> Duration {
    let passed = waited_ms(app, wait);
    wait.limit_ms.map_or(Duration::MAX, |limit| Duration::from_millis(limit.saturating_sub(passed)))
}

/// Takes or keeps a place in the line, and waits there if others are before it. False if the waiter is to look whether it can
/// have the lane: it is the first, has no place, or has waited long enough for those before it.
fn stands_behind(app: &App, request: &Request, wait: &mut Wait) -> bool {
    let Some(lane) = place_of(request, wait).map(|need| need.lane.clone()) else { return false };
    let asks = std::mem::take(&mut wait.asks) || self::left(app, wait).is_zero();
    // For the first in line, the guard shows whether another waiter came in between.
    let may_be_behind = wait.in_line.position().map_or(wait.joins, |ahead| ahead > 0);
    if asks || !may_be_behind {
        return false;
    }
    app.store.join_line(&lane, &mut wait.in_line);
    let is_behind = wait.in_line.position().is_some_and(|ahead| ahead > 0);
    if is_behind {
        rest(app, request, &Seen::Behind(lane), wait);
    }
    is_behind
}

fn recover_for(app: &App, task: TaskId, wait: &mut Wait) -> Result<(), AppError> {
    wait.recoveries += 1;
    if wait.recoveries <= RECOVERIES {
        return recover_now(app, task);
    }
    if self::left(app, wait).is_zero() || wait.limit_ms == Some(0) {
        return Err(AppError::new(
            Code::RecoveryPending,
            format!("{task} has lost its supervisor, and its processes still run"),
        )
        .hint("luzia grants the lane again when no process of {task} lives")
        .next(format!("luzia explain {task}")));
    }
    app.host.sleep(self::left(app, wait).min(LIFE_LOOK));
    recover_now(app, task)
}

/// Waits until a further try may succeed, or the time is over.
fn rest(app: &App, request: &Request, seen: &Seen, wait: &mut Wait) {
    let left = self::left(app, wait);
    let is_held = matches!(seen, Seen::Held(_));
    let again = match seen {
        Seen::Barred(Bar::Rate { until, .. }) => until.saturating_ms_since(app.host.now()).max(1),
        _ => u64::MAX,
    };
    let longest = match wait.in_line.position() {
        // No event reports that a host is idle or that a stranger gives a port back.
        _ if matches!(seen, Seen::Barred(Bar::NotNow { .. })) => NO_LOCK_LOOK,
        // Of several holders only one is looked at.
        Some(0) if is_held && wait.in_line.sees_life() && request.needs.iter().all(|n| n.limit == 1) => LONGEST_TRUST,
        Some(0) => NO_LOCK_LOOK,
        Some(ahead) => patience(ahead),
        None => LONGEST_PAUSE,
    };
    let overdue = match seen {
        Seen::Held(view) => until_overdue(app, view),
        Seen::Behind(_) | Seen::Barred(_) => None,
    };
    // A holder that was asked to end ends in its own time.
    let longest =
        longest.min(Duration::from_millis(again)).min(overdue.filter(|left| !left.is_zero()).unwrap_or(Duration::MAX));
    let longest = longest.min(warn_of_lock(app, request, Some(seen), false, wait));
    let silent = Duration::from_millis(SILENT_MS.saturating_sub(waited_ms(app, wait)));
    let says_first = wait.told.is_none() && silent < longest.min(left);
    if says_first && app.store.wait_in_line(&mut wait.in_line, silent, LIFE_LOOK) == Some(true) {
        return;
    }
    tell_wait(app, request, seen, wait);
    let left = self::left(app, wait);
    if let Some(is_woken) = app.store.wait_in_line(&mut wait.in_line, longest.min(left), LIFE_LOOK) {
        wait.asks = !is_woken;
        return;
    }
    // A watch that starts now may have missed a release: the caller looks once more before it waits on the watch.
    match &mut wait.changes {
        Some(changes) => changes.wait(longest.min(left)),
        None => wait.changes = Some(app.store.watch_locks()),
    }
}

fn waited_ms(app: &App, wait: &Wait) -> u64 {
    app.host.boot_ms().saturating_sub(wait.begin_ms)
}

/// Reports the locks that were removed for a grant, and returns their lines for `-v`.
fn note_granted(app: &App, request: &Request, before: Option<(&LaneName, usize)>, broken: &[Break]) -> Vec<String> {
    app.remember_places();
    broken.iter().for_each(|stale| app.store.note(&broken_event(stale)));
    if let Some((lane, ahead @ 1..)) = before {
        let text = format!(
            "{} took the lane before {ahead} others in its line, which did not take their turn",
            request.holder
        );
        app.store.note(&Event::new("line_passed").in_lane(lane).saying(text));
    }
    broken.iter().filter_map(stale_line).collect()
}

/// The lane in whose line a waiter is, or would be first.
fn place_of<'r>(request: &'r Request, wait: &Wait) -> Option<&'r LaneNeed> {
    let stands = request.needs.iter().find(|need| wait.in_line.stands_in(&need.lane));
    stands.or(request.needs.first())
}

/// Makes a pass if a task waits for one of these lanes, which are free now. Returns a sentence if only a process of another
/// sandbox may start that task. An error does not fail the verb: the lanes are free.
pub(crate) fn pass_for_waiting(app: &App, lanes: &[LaneName]) -> Option<String> {
    let made = next_in(app, lanes).and_then(|next| match next {
        Some((id, false)) => Ok(Some(format!(
            "{id} can start now, but only in the sandbox in which it was queued: `luzia dispatch` there starts it"
        ))),
        Some((_, true)) => pass(app).map(|_| None),
        None => Ok(None),
    });
    made.unwrap_or_else(|error| {
        app.store.note(&Event::new("pass_failed").saying(error.to_string()));
        None
    })
}

/// A task that waits for one of the lanes, and whether this process may start it; one that it may start is preferred.
fn next_in(app: &App, lanes: &[LaneName]) -> Result<Option<(TaskId, bool)>, AppError> {
    let queues = app.store.lanes_with_work()?;
    if queues.values().all(|queues| queues.is_empty()) {
        return Ok(None);
    }
    follow_config(app)?;
    let mut found = None;
    let mut see = |id: TaskId, is_near: bool| {
        found = found.filter(|(_, was_near)| *was_near || !is_near).or(Some((id, is_near)));
        is_near
    };
    // The first tasks of thread and session lanes are known by their marks.
    for lane in lanes.iter().filter(|lane| lane.is_key_lane() && !lane.is_user()) {
        for tier in Tier::ALL {
            let Some((_, (_, id))) = app.store.first_in(lane, tier)? else { continue };
            let task = app.store.find(id).ok().flatten().filter(|(place, _)| *place == Place::Pending);
            if task.is_some_and(|(_, task)| see(id, may_start(app, &task))) {
                return Ok(found);
            }
        }
    }
    // For the other lanes, the names of queues give the users, and the first task of each queue gives its capacity lanes.
    let has_capacity = lanes.iter().any(LaneName::is_capacity_lane);
    for (queue, priority) in queues.values().flatten() {
        let Some(name) = QueueName::parse(queue) else { continue };
        let is_of_user = |lane: &LaneName| lane.is_user() && name.takes_user_lane() && lane.stem() == name.user_stem;
        let has_all = lanes.iter().any(is_of_user);
        if !has_all && !has_capacity {
            continue;
        }
        let Some(head) = app.store.head_from(*priority, queue)? else { continue };
        let is_meant = |lane: &LaneName| lane.is_capacity_lane() && lanes.contains(lane);
        let waits = has_all || app.store.peek(&head).is_some_and(|task| task.lanes.iter().any(is_meant));
        if waits && see(head.id, is_near(app, queue)?) {
            return Ok(found);
        }
    }
    Ok(found)
}
