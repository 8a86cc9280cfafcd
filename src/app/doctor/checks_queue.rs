//! The work: locks, tasks in flight, records, hints, clocks, and the processes that start tasks.

use crate::app::admission::has_dispatcher;
use crate::app::config_reload::config;
use crate::app::doctor::checks_waiting::set_aside;
use crate::app::doctor::{Finding, Found, Level, add, tell};
use crate::app::locks::cleanup;
use crate::app::pass::recovery::blindness_of;
use crate::app::processes::stopped_supervisor;
use crate::app::query::cycles::{self, ring_text};
use crate::app::query::explain::front;
use crate::app::query::list;
use crate::app::sandboxes::elsewhere;
use crate::app::{App, AppError, lock_state};
use crate::model::evidence::{Reason, Sidecar, Verdict};
use crate::model::time::format_duration;
use crate::model::{LaneName, LockKind, Member, Task, TaskId, Timer, Timestamp};
use crate::policy::staleness::judge;
use crate::store::{Cleanup, LockView, Place, Problem, Survey};
use std::time::Duration;

/// Largest difference of two clocks (`locks.md`, j6), in milliseconds.
const CLOCK_SLACK_MS: i64 = 60_000;
/// No host of today has a clock before this moment: 2024-01-01.
const LEAST_NOW: Timestamp = Timestamp(1_704_067_200_000);
/// Pause before the second look at a task that looks abandoned: a claim takes its folder, then its lock.
const SECOND_LOOK: Duration = Duration::from_millis(50);
const FIX: &str = "luzia doctor --fix";

/// The result of reading every record once.
#[derive(Default)]
struct Read {
    records: u64,
    future: Vec<(TaskId, Timestamp)>,
    bad: Vec<Finding>,
}

pub(super) fn all(app: &App, findings: &mut Vec<Finding>) {
    // Before any other look at locks, which puts them back.
    add("lock-files", "no other program has removed a lock file", removed(app), findings);
    let (views, locks) = match list::locks(app) {
        Ok(views) => {
            let found = views.iter().filter_map(lock).collect();
            (views, Ok(found))
        }
        Err(error) => (Vec::new(), Err(error)),
    };
    add("locks", &format!("{} held", views.len()), locks, findings);
    add("lock-debris", "no file of a dead process is left beside the locks", debris(app), findings);
    add("in-flight", "every task that was started is supervised", in_flight(app), findings);
    add("set-aside", "no damaged record was set aside", set_aside(app), findings);
    match read_all(app) {
        Ok(read) => {
            let clocks = clock(&read, &views, app.host.now(), moved_ms(app, &views));
            add("records", &format!("all {} read", read.records), Ok(read.bad), findings);
            add("clock", "the clocks agree", Ok(clocks), findings);
        }
        Err(error) => tell("records", Err(error), findings),
    }
    add("foreign-names", "every name in the spool is luzia's", foreign(app), findings);
    add("parked", "something will wake every parked task", parked(app), findings);
    add("cycles", "no tasks wait for each other for ever", cycles(app), findings);
    add("sequence", "the counter of task ids is whole", sequence(app), findings);
    add("conductor", "every conductor directory can be read", conductors(app), findings);
    tell("dispatcher", dispatcher(app).map(|found| vec![found]), findings);
    add("sandboxes", "no task waits in another sandbox", ended_sandboxes(app), findings);
    add("spool-debris", "nothing was left in the spool", left(app), findings);
}

/// Lock files that another program removed while the lock was held. Every look at the lane puts them back, this one as well.
fn removed(app: &App) -> Found {
    let tell = |path: String| {
        let hint = "the lane stayed held; find the program that removes files there, and make it leave the state directory alone";
        Finding::warn(format!("the lock file \"{path}\" was removed by another program"), hint)
    };
    Ok(app.store.removed_lock_files()?.into_iter().map(tell).collect())
}

fn lock(view: &LockView) -> Option<Finding> {
    let why = view.verdict.why();
    let (state, name) = (lock_state(&view.verdict), view.lane_name());
    let holder = view.holder().unwrap_or("an unknown holder");
    let age = format_duration(view.held_ms);
    let message = format!("lane \"{name}\" is held by {holder} for {age} ({state}: {})", why.text());
    let kind = view.record().map(|record| record.kind);
    let level = match (&view.verdict, why) {
        // A lease of luzia that runs out is normal; a crash, or a lock that another program left, is not.
        (Verdict::Stale { .. }, Reason::LeaseOver | Reason::SetIncomplete) if kind == Some(LockKind::Lease) => {
            Level::Warn
        }
        (Verdict::Stale { .. } | Verdict::Refused { .. }, _) | (Verdict::Live { .. }, Reason::CommandLives) => {
            Level::Problem
        }
        (Verdict::Live { overdue: true, .. }, _) => Level::Warn,
        (Verdict::Live { .. }, _) if view.sidecar == Sidecar::Corrupt => Level::Warn,
        (Verdict::Live { .. }, Reason::SupervisorLives | Reason::LockHeld) if view.record().is_none() => Level::Warn,
        (Verdict::Live { .. }, _) => return None,
    };
    let hint = match &view.verdict {
        Verdict::Stale { .. } => {
            format!("the next request gets the lane; luzia cleanup-stale or {FIX} removes the lock")
        }
        Verdict::Refused { .. } => format!("luzia leaves it alone; look at {}", view.path()),
        Verdict::Live { .. } if why == Reason::CommandLives => format!("luzia dispatch or {FIX} ends the command"),
        Verdict::Live { .. } if view.record().is_none() && why.is_living_process() => {
            format!("a living holder writes its sidecar anew within seconds; luzia cleanup-stale or {FIX} does so, too")
        }
        Verdict::Live { .. } => match view.holder().and_then(TaskId::parse) {
            Some(task) => format!("luzia explain {task}"),
            None => format!("luzia explain {name}"),
        },
    };
    Some(Finding::new(level, message, Some(hint)))
}

fn debris(app: &App) -> Found {
    let timeout = |lane: &LaneName| config(app).lock_timeout_ms(lane);
    let mut seen = Cleanup::default();
    app.store.clean_locks(&timeout, None, true, judge, &mut seen)?;
    let tell = |name: &String| Finding::warn(format!("\"locks/{name}\" has no lock"), FIX);
    Ok(seen.debris.iter().map(tell).collect())
}

/// The tasks in flight without a supervisor, seen so twice.
fn abandoned(app: &App) -> Result<Vec<TaskId>, AppError> {
    let look = || -> Result<Vec<TaskId>, AppError> {
        let mut alone = Vec::new();
        for id in app.store.unsupervised()? {
            if app.store.place_of(id)? != Some(Place::Waiting) {
                alone.push(id);
            }
        }
        Ok(alone)
    };
    let first = look()?;
    if first.is_empty() {
        return Ok(first);
    }
    app.host.sleep(SECOND_LOOK);
    let second = look()?;
    Ok(first.into_iter().filter(|id| second.contains(id)).collect())
}

fn in_flight(app: &App) -> Found {
    // A dispatcher at work recovers the task in moments; without a dispatcher the task stays.
    let level = if app.store.has_dispatcher(None)? { Level::Warn } else { Level::Problem };
    let mut found = Vec::new();
    for id in abandoned(app)? {
        let state = if app.run_dir.is_tree_locked(id)? {
            "its supervisor is dead and its command lives on"
        } else {
            "its supervisor is dead"
        };
        let task = app.find(id).ok().flatten().map(|(_, task)| task);
        let blind = task.map(|task| blindness_of(app, &task)).transpose()?.flatten();
        let hint = Some(match blind {
            Some(blind) => blind.reason().text().to_owned(),
            None => format!("the next pass recovers the task; luzia dispatch or {FIX} makes one"),
        });
        found.push(Finding::new(level, format!("{id}: {state}"), hint));
    }
    for id in app.store.in_flight()? {
        if let Some(pid) = stopped_supervisor(app, id)? {
            let message = format!("{id}: its supervisor, process {pid}, is stopped, and nobody watches it");
            found.push(Finding::problem(message, format!("kill -CONT {pid}")));
        }
    }
    Ok(found)
}

/// The conductor directories that cannot be read. Their tasks run, but the directories do not show how they end.
fn conductors(app: &App) -> Found {
    let look = |path: &String| {
        let opened = app.run_dir.conductor(path, false);
        let read = opened.and_then(|conductor| conductor.map_or(Ok(()), |conductor| conductor.claims().map(drop)));
        let error = read.err()?;
        let hint = format!("{error}; luzia must be able to read and to write it");
        Some(Finding::problem(format!("the conductor directory \"{path}\" cannot be used"), hint))
    };
    Ok(cleanup::conductors(app)?.iter().filter_map(look).collect())
}

fn read_all(app: &App) -> Result<Read, AppError> {
    let mut read = Read::default();
    let limit = app.host.now().plus_ms(CLOCK_SLACK_MS);
    let places = [app.store.pending_tasks(None)?, app.store.started_tasks(), app.store.done_tasks()?];
    for task in places.into_iter().flat_map(Survey::whole) {
        read.records += 1;
        match task {
            Ok(task) => {
                let ended = task.outcome().map_or(task.created_at, |outcome| outcome.completed_at);
                let latest = ended.max(task.created_at);
                read.future.extend((latest > limit).then_some((task.id, latest)));
            }
            Err(error) => read.bad.push(bad_record(&error.into())),
        }
    }
    Ok(read)
}

fn bad_record(error: &AppError) -> Finding {
    let hint = "luzia sets it aside when its turn comes and never deletes it";
    if error.is_damage() {
        return Finding::problem(error.message(), hint);
    }
    Finding::error(error)
}

/// Largest move of the wall clock since a lock was written.
fn moved_ms(app: &App, views: &[LockView]) -> Option<i64> {
    let of = |view: &LockView| {
        let record = view.record()?;
        app.store.clock_moved_ms(record.refreshed_at?, record.refreshed_boot_ms?, record.boot_id.as_deref()?)
    };
    views.iter().filter_map(of).max_by_key(|ms| ms.unsigned_abs())
}

fn clock(read: &Read, views: &[LockView], now: Timestamp, moved_ms: Option<i64>) -> Vec<Finding> {
    const SET: &str = "set the clock; due times and leases depend on it, exclusion does not";
    let mut found = Vec::new();
    if now < LEAST_NOW {
        found.push(Finding::problem(format!("the wall clock says {now}"), SET));
    }
    if let Some(ms) = moved_ms.filter(|ms| ms.abs() > CLOCK_SLACK_MS) {
        let (length, way) = (format_duration(ms.unsigned_abs()), if ms > 0 { "forward" } else { "back" });
        let message = format!("the wall clock was set {way} by {length} while a lock was held");
        found.push(Finding::warn(message, "leases of this boot use the boot clock; check the due times of tasks"));
    }
    if let Some((id, at)) = read.future.first() {
        let message = format!("{} tasks have times in the future, e.g. {id}: {at}", read.future.len());
        found.push(Finding::warn(message, SET));
    }
    let limit = now.plus_ms(CLOCK_SLACK_MS);
    for view in views {
        if let Some(at) = view.record().and_then(|record| record.acquired_at).filter(|at| *at > limit) {
            let message =
                format!("the lock of lane \"{}\" was taken at {at}, which is in the future", view.lane_name());
            found.push(Finding::warn(message, SET));
        }
    }
    found
}

fn foreign(app: &App) -> Found {
    Ok(warned(app.store.foreign_names()?, "move the file away if nobody needs it there"))
}

fn warned(problems: impl IntoIterator<Item = Problem>, remedy: &str) -> Vec<Finding> {
    let tell = |problem: Problem| Finding::warn(format!("\"{}\": {}", problem.path, problem.what), remedy);
    problems.into_iter().map(tell).collect()
}

/// The waker of a task outside the scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waker {
    /// A timer at a moment.
    Timer(Timestamp),
    /// A mark at another task.
    After(TaskId),
}

/// The wakers that a parked task must have. A timer in the past may have fired while the task waited for another one, so it
/// is needed only if nothing else would wake the task.
pub(super) fn wakers(task: &Task, now: Timestamp) -> Vec<Waker> {
    let mut wakers: Vec<Waker> = task.after.iter().copied().map(Waker::After).collect();
    let due = task.wakes_at().filter(|at| *at > now || wakers.is_empty());
    wakers.extend(due.map(Waker::Timer));
    // A task that is paused until a person resumes it needs no waker.
    if wakers.is_empty() && !task.is_held(now) {
        wakers.push(Waker::Timer(now));
    }
    wakers.extend(task.start_by.filter(|at| *at > now).map(Waker::Timer));
    wakers
}

/// The parked tasks that lack a waker.
pub(super) fn unwoken(app: &App) -> Result<Vec<(TaskId, Vec<Waker>)>, AppError> {
    let mut found = Vec::new();
    for task in app.store.parked_tasks()? {
        // A damaged record is reported elsewhere.
        let Ok(task) = task else { continue };
        let mut missing = Vec::new();
        for waker in wakers(&task, app.host.now()) {
            let is_there = match waker {
                Waker::Timer(at) => app.store.has_timer(&Timer::of(task.id, at))?,
                Waker::After(other) => app.store.has_after_mark(task.id, other)?,
            };
            if !is_there {
                missing.push(waker);
            }
        }
        // A task that leaves loses its wakers, so the task must still be there after the look.
        if !missing.is_empty() && app.store.is_parked(task.id)? {
            found.push((task.id, missing));
        }
    }
    Ok(found)
}

fn parked(app: &App) -> Found {
    let tell = |(id, missing): &(TaskId, Vec<Waker>)| {
        let names: Vec<String> = missing
            .iter()
            .map(|waker| match waker {
                Waker::Timer(_) => "its timer".to_owned(),
                Waker::After(other) => format!("its mark at {other}"),
            })
            .collect();
        Finding::problem(format!("{id} may never wake: {} is missing", names.join(" and ")), FIX)
    };
    Ok(unwoken(app)?.iter().map(tell).collect())
}

fn cycles(app: &App) -> Found {
    let tell = |ring: Vec<Member>| {
        let message = format!("these wait for each other for ever: {}", ring_text(&ring));
        let first = ring.iter().find(|member| matches!(member, Member::Task(_)));
        let way = first.map_or_else(|| "luzia list-locks".to_owned(), |id| format!("luzia explain {id}"));
        Finding::problem(message, format!("{way} tells more; they wait until somebody ends one of them"))
    };
    Ok(cycles::cycles(app)?.into_iter().map(tell).collect())
}

fn sequence(app: &App) -> Found {
    Ok(warned(app.store.damaged_sequence()?, "nothing to do: no id is given twice"))
}

fn dispatcher(app: &App) -> Result<Finding, AppError> {
    const HINT: &str = "luzia dispatch or luzia daemon starts them";
    let counts = app.store.counts()?;
    let late = super::checks_waiting::overdue(app).map_or(0, |late| late.len());
    let (pending, parked) = (counts.pending.iter().sum::<u64>(), counts.parked);
    let is_at_work = has_dispatcher(app)?;
    Ok(match front(app)?.needs_pass {
        Some(id) if is_at_work => {
            Finding::warn(format!("{id} could start, but nothing is running that starts it"), HINT)
        }
        None if is_at_work => Finding::ok(format!("at work, tasks waiting: {}", pending + parked)),
        _ if late > 0 => {
            let message = format!("nothing is running that starts tasks; waits whose time has run out: {late}");
            Finding::warn(message, HINT)
        }
        _ if pending == 0 && parked == 0 => Finding::ok("none, and no task waits for one"),
        // The check of sandboxes reports the tasks of other sandboxes.
        _ if parked == 0 && elsewhere(app).is_ok_and(|(_, is_all)| is_all) => {
            Finding::ok("none, and no task waits for one here")
        }
        _ => {
            let message = format!(
                "nothing is running that starts tasks; waiting for their turn: {pending}, for their time: {parked}"
            );
            Finding::warn(message, HINT)
        }
    })
}

/// Tasks that no process starts, because the sandbox in which they were queued has ended.
fn ended_sandboxes(app: &App) -> Found {
    let (found, _) = elsewhere(app)?;
    let tell = |ids: &[TaskId], level, what: &str, hint: &str| {
        let message = format!("{} {what}", crate::app::sandboxes::named(ids));
        (!ids.is_empty()).then(|| Finding::new(level, message, Some(hint.to_owned())))
    };
    let here = "luzia attach --here TASK shows the command of a task and runs it here";
    let seen = "if one has ended, luzia attach --here TASK runs its task here";
    let there = "luzia dispatch, or a daemon, in that sandbox starts them";
    Ok([
        tell(&found.ended, Level::Warn, "wait in sandboxes that have ended", here),
        tell(&found.unseen, Level::Ok, "wait in sandboxes that cannot be seen from here", seen),
        tell(&found.lives, Level::Ok, "wait in other sandboxes, which live", there),
    ]
    .into_iter()
    .flatten()
    .collect())
}

fn left(app: &App) -> Found {
    let tell = |path: &String| Finding::warn(format!("\"{path}\" was left by a killed process"), FIX);
    Ok(app.store.clean_spool(true)?.iter().map(tell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests_support::task;

    #[test]
    fn a_parked_task_needs_what_will_wake_it() {
        let now = Timestamp(1000);
        let check = |after: &[u64], due: Option<i64>, start_by: Option<i64>, wanted: &[Waker]| {
            let mut task = task(9);
            task.after = after.iter().copied().map(TaskId).collect();
            (task.due_at, task.start_by) = (due.map(Timestamp), start_by.map(Timestamp));
            assert_eq!(wakers(&task, now), wanted, "{after:?} {due:?} {start_by:?}");
        };
        check(&[], Some(2000), None, &[Waker::Timer(Timestamp(2000))]);
        check(&[], Some(500), None, &[Waker::Timer(Timestamp(500))]);
        check(&[3], Some(500), None, &[Waker::After(TaskId(3))]);
        check(&[3], Some(2000), None, &[Waker::After(TaskId(3)), Waker::Timer(Timestamp(2000))]);
        check(&[3], None, Some(4000), &[Waker::After(TaskId(3)), Waker::Timer(Timestamp(4000))]);
        check(&[3], None, Some(400), &[Waker::After(TaskId(3))]);
        check(&[], None, None, &[Waker::Timer(now)]);
    }

    #[test]
    fn clocks_that_disagree_are_told() {
        let (read, now) = (Read::default(), Timestamp(1_800_000_000_000));
        assert_eq!(clock(&read, &[], now, Some(59_000)), []);
        assert_eq!(clock(&read, &[], now, Some(-61_000))[0].level, Level::Warn);
        assert_eq!(clock(&read, &[], Timestamp(0), None)[0].level, Level::Problem);
        let ahead = Read { future: vec![(TaskId(3), Timestamp(i64::MAX))], ..Read::default() };
        assert!(clock(&ahead, &[], now, None)[0].message.contains("task_3"));
    }
}
