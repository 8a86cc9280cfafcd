//! The hidden verb `supervise`: owns one task to its end, then makes one pass for the tasks that wait. If that pass finds one
//! task to start, this process goes on to it, as long as a new process would not do better.

use super::claim::request;
use crate::app::admission::turns::payer_of;
use crate::app::config_reload::{follow_config, follow_control, lock_timeouts};
use crate::app::hooks::{due_hooks, hand_hooks_over, run_due};
use crate::app::lifecycle::wake_dependents;
use crate::app::loans::{end_of_await, see_to_loans};
use crate::app::pass::{Hand, pass_with};
use crate::app::waits::resting::look_at_taken;
use crate::app::{App, AppError, capacity, config_reload, pass};
use crate::model::{LaneName, Task, TaskId};
use crate::policy::fair::Ledger;
use crate::store::{Claimed, Event, Hold, Place};
use crate::supervise::{Finished, Surroundings, recover, run, run_claimed};
use std::cell::Cell;

/// Number of tasks after which a supervisor ends. A limit on the whole life of a process, e.g. on its CPU time (setrlimit(2)),
/// must not end its last task. The number also bounds the memory that passes over very many lanes leave in use.
const MOST_TASKS: u32 = 100;

/// The work of this process for a task whose lock it has.
enum Work {
    /// To run a task that a dispatcher has claimed.
    Run(TaskId, Hold),
    /// To run a task that this very process has claimed.
    GoOn(Box<Claimed>),
    /// To recover a task without a supervisor, or to run a command for the end of the time of its wait.
    Recover(TaskId, Hold),
}

/// Supervises a task that a dispatcher claimed and handed over, or recovers one without a supervisor. `is_told_to_end` returns
/// whether this process was asked to end.
pub fn supervise(
    app: &App,
    mut id: TaskId,
    is_recovery: bool,
    is_told_to_end: &mut dyn FnMut() -> bool,
) -> Result<(), AppError> {
    let Some(lock) = app.run_dir.take_over(id)? else {
        return Err(AppError::usage("supervise is started by luzia itself, with the task's lock as standard input"));
    };
    let mut count = 0;
    let has_supervisors = Cell::new(false);
    let mut work = if is_recovery { Work::Recover(id, lock) } else { Work::Run(id, lock) };
    loop {
        let may_go_on = see_to(app, work, &has_supervisors, is_told_to_end).inspect_err(|error| {
            app.store.note(&Event { task: Some(id), ..Event::new("supervisor_failed").saying(error.to_string()) });
        })?;
        count += 1;
        // A task that it took would wait for them.
        let due = due_hooks(app, &mut |_| {});
        let is_free = may_go_on && due.is_empty() && count < MOST_TASKS && !has_supervisors.get() && !is_told_to_end();
        let is_fit = || app.host.is_program_current();
        let mut hand = Hand { is_free, is_fit: &is_fit, claimed: None, between: &mut || {} };
        if let Err(error) = pass_with(app, &mut hand) {
            // Only an event can report it.
            app.store.note(&Event::new("pass_failed").saying(error.to_string()));
        }
        // A failed hook is recorded as an event.
        run_due(app, &due, &mut |_| {});
        let Some(claimed) = hand.claimed else { return Ok(()) };
        app.run_dir.go_on_to(claimed.task.id, &claimed.lock)?;
        (id, work) = (claimed.task.id, Work::GoOn(claimed));
    }
}

/// Brings one task to its end, as far as that is up to this process; true if it did and was not asked to end.
fn see_to(
    app: &App,
    work: Work,
    has_supervisors: &Cell<bool>,
    is_told_to_end: &mut dyn FnMut() -> bool,
) -> Result<bool, AppError> {
    let begin = app.host.boot_ms();
    let mut pass = || {
        let mut supervisors = pass::pass(app).map(|pass| pass.supervisors).unwrap_or_default();
        supervisors.extend(hand_hooks_over(app, &mut |_| {}));
        has_supervisors.set(has_supervisors.get() || !supervisors.is_empty());
        supervisors
    };
    let timeout_ms = lock_timeouts(app);
    // The claim was made by another process, which knew the rules.
    let cpu_plan = |lane: &LaneName| follow_control(app).ok().and_then(|()| capacity::cpu_plan(app, lane));
    let wants = |task: &Task, lanes: &[LaneName]| {
        // If the rules are invalid, the last ones hold.
        let _ = follow_control(app);
        let mut request = request(app, task);
        request.needs.retain(|need| lanes.contains(&need.lane));
        request
    };
    let waiters = |id: TaskId, in_any_case: bool| {
        let mut ends = see_to_loans(app, id, in_any_case);
        ends.extend(end_of_await(app, id).unwrap_or_default());
        ends
    };
    let site = app.site();
    let mut around = Surroundings {
        site: &site,
        timeout_ms: &timeout_ms,
        cpu_plan: &cpu_plan,
        config: app.config_path.as_deref(),
        subject: &|cwd| app.surroundings.subject(cwd).map_err(|error| error.to_string()),
        logs_max_bytes: config_reload::config(app).logs_max_bytes,
        cgroups: config_reload::config(app).cgroups,
        pass: &mut pass,
        wants: &wants,
        loans: &waiters,
        told_to_end: is_told_to_end,
        is_told_to_end: false,
    };
    let ended = match work {
        Work::Run(id, lock) => run(&mut around, id, lock)?,
        Work::GoOn(claimed) => run_claimed(&mut around, *claimed)?,
        Work::Recover(id, lock) if app.store.waits_at_rest(id)? => {
            see_to_late_wait(app, id, lock)?;
            return Ok(!(around.told_to_end)());
        }
        Work::Recover(id, lock) => recover(&site, id, app.store.look_abandoned(id, lock)?, &[])?,
    };
    let is_told_to_end = around.is_told_to_end;
    let Some(Finished { id, task, dependents, .. }) = ended else { return Ok(false) };
    wake_dependents(app, id, &dependents)?;
    charge_end(app, &task, app.host.boot_ms().saturating_sub(begin))?;
    Ok(!is_told_to_end)
}

/// Acts on the end of the time of a wait, for a task whose lock was handed over. The pass that follows starts the task again if
/// it goes on.
fn see_to_late_wait(app: &App, id: TaskId, lock: Hold) -> Result<(), AppError> {
    match app.store.find(id)? {
        Some((Place::Waiting, task)) => look_at_taken(app, &task, lock, &[], true).map(drop),
        _ => Ok(app.store.let_go(id, lock)?),
    }
}

fn charge_end(app: &App, task: &Task, ran_ms: u64) -> Result<(), AppError> {
    if !Ledger::charges_end(ran_ms) {
        return Ok(());
    }
    // If the rules are invalid, no user is charged.
    if follow_config(app).is_err() {
        return Ok(());
    }
    let (payer, now) = (payer_of(app, task), app.host.now());
    app.store.update_ledger(&mut |text| {
        let mut ledger = text.and_then(Ledger::from_text).unwrap_or_default();
        ledger.ended(&payer, ran_ms, now);
        Some(ledger.to_text())
    })?;
    Ok(())
}
