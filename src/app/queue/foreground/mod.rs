//! `lock` with a store of several hosts. A task of this host keeps the lanes: its own command, the keeper, only waits. The command of
//! the caller runs here, with this terminal, and has the task in its environment. So it belongs to the tree of the task: the
//! end of the lease, and a cancel from any host, end it with the task, also when its caller was killed.

mod lease;

pub use lease::{Named, Wanted, acquire_shared, keep_lease, release_shared, renew_shared};

use crate::app::ask::cancel;
use crate::app::fleet::Fleet;
use crate::app::locks::acquire::split_by_holder;
use crate::app::locks::lock::{Care, Ran, lock_variables, run_here};
use crate::app::locks::release::held_error;
use crate::app::queue::enqueue::{Caller, enqueue};
use crate::app::{App, AppError, Code, Obstacle, shell_word};
use crate::model::lock::Grant;
use crate::model::name::shortened;
use crate::model::task::{Environment, KEEP_LANES, OnInterrupt};
use crate::model::{Identity, LaneName, Task, TaskId};
use crate::os::{Exit, InPlace, TreeMark};
use crate::request::TaskRequest;
use crate::store::{CancelRequest, Started};
use serde_json::Value;
use std::time::Duration;

/// Time between two looks at the store.
const LOOK_MS: u64 = 200;
/// Longest time between two looks whether the keeper has started.
const SOON: Duration = Duration::from_millis(20);
/// Time in which the scheduler of all hosts decides about a task that nothing is known to keep, in milliseconds.
const DECISION_MS: u64 = 5_000;
/// Time for which the end of the task is awaited, in milliseconds: here, where a process may be left behind, and in the store.
const END_MS: [u64; 2] = [500, 3_000];
/// The variable of a keeper with the exit code of the command.
const EXIT_CODE: &str = "exit_code";
/// The exit code of a command that luzia did not start, and the one of signal 0 as a shell gives them.
const NOT_STARTED: i32 = 125;
const BY_SIGNAL: i32 = 128;
/// Time between two looks at the processes that the command left behind.
const LEFT: Duration = Duration::from_millis(200);

/// A wait for lanes.
#[derive(Clone, Copy)]
struct Wait {
    /// The longest wait in milliseconds; `None` waits for ever.
    longest_ms: Option<u64>,
    /// The hint where nothing else is known: what was not done.
    undone: &'static str,
}

/// The hint of a command that did not start.
const UNDONE: &str = "nothing was run";

/// A command that is to run while lanes are held.
#[derive(Clone, Copy)]
pub struct Foreground<'a> {
    /// The lanes, as `lanes_to_take` gives them.
    pub lanes: &'a [LaneName],
    /// The longest wait in milliseconds; `None` waits for ever.
    pub wait_ms: Option<u64>,
    /// A note for people.
    pub label: Option<&'a str>,
    /// The program and its arguments.
    pub command: &'a [String],
    /// The program of this process.
    pub program: &'a str,
}

/// Runs a command while holding lanes of all hosts. `tell` gets the first reason of a wait.
pub fn lock_shared(
    app: &App,
    fleet: &dyn Fleet,
    caller: Caller,
    asked: Foreground<'_>,
    tell: &mut dyn FnMut(&Obstacle, &Task),
) -> Result<Ran, AppError> {
    let place = |argv, env| InPlace { argv, env, cwd: None, has_input: true, held: Vec::new(), output: None };
    if split_by_holder(app, asked.lanes)?.wanted.is_empty() {
        let exit = run_here(app, place(asked.command, &[]), Care::default(), &|_| {})?;
        return Ok(Ran { end: exit.into(), kept: Vec::new() });
    }
    // The environment of the command is that of this process: the store keeps none of it.
    let bare = Caller { env: Environment::default(), cwd: Ok("/".to_owned()), ..caller };
    let task = enqueue(app, &request(app, &asked), &bare)?.task;
    let wait = Wait { longest_ms: asked.wait_ms, undone: UNDONE };
    let started = begun(app, fleet, task.id, wait, tell).map_err(|error| left_behind(error, UNDONE))?;
    let grants = grants(app, task.id, asked.lanes, UNDONE)?;
    let mark = mark(app, task.id, &started);
    let mut env = lock_variables(app, &grants);
    env.retain(|(name, _)| name != "LUZIA_STATE_DIR");
    env.push(("LUZIA_STATE_DIR".to_owned(), mark.state_dir.clone()));
    env.push(("LUZIA_TASK_ID".to_owned(), mark.task_id.clone()));
    let own = own_line(app, asked.program, "under-lanes", &[task.id.to_string(), "--".to_owned()]);
    let argv: Vec<String> = own.chain(asked.command.iter().cloned()).collect();
    let ran = run_here(app, place(&argv, &env), Care::default(), &|_| {});
    let code = match &ran {
        Ok(Exit::Code(code)) => *code,
        Ok(Exit::Signal(signal)) => BY_SIGNAL + signal,
        Err(_) => NOT_STARTED,
    };
    app.store.change_vars::<AppError>(task.id, |vars| {
        vars.insert(EXIT_CODE.to_owned(), code.into());
        Ok(())
    })?;
    let left = end(app, fleet, task.id, &mark)?;
    let kept = left
        .iter()
        .flat_map(|left| asked.lanes.iter().map(move |lane| (lane.clone(), format!("process {}", left.pid))));
    Ok(Ran { end: ran?.into(), kept: kept.collect() })
}

fn own_line<'a>(
    app: &'a App,
    program: &'a str,
    verb: &'a str,
    more: &[String],
) -> impl Iterator<Item = String> + use<'a> {
    let own = std::iter::once(program.to_owned()).chain(app.same_place.iter().cloned());
    own.chain([verb.to_owned()]).chain(more.to_vec())
}

/// The task of the keeper.
fn request(app: &App, asked: &Foreground<'_>) -> TaskRequest {
    let words: Vec<String> = asked.command.iter().map(shell_word).collect();
    let label = asked.label.map_or_else(|| shortened(&words.join(" ")), str::to_owned);
    keeper_of(
        asked.lanes,
        Some(label),
        own_line(app, asked.program, KEEP_LANES, &app.host.identity().words()).collect(),
    )
}

/// The task of a keeper of lanes.
fn keeper_of(lanes: &[LaneName], label: Option<String>, command: Vec<String>) -> TaskRequest {
    let named = lanes.iter().filter(|lane| !lane.is_user()).map(ToString::to_string);
    TaskRequest {
        user: lanes.iter().find(|lane| lane.is_user()).map(|lane| lane.key().to_string()),
        lanes: named.collect(),
        command,
        label,
        retries: Some(0),
        on_interrupt: Some(OnInterrupt::Fail),
        is_waited_for: true,
        ..TaskRequest::default()
    }
}

/// Waits until the keeper holds the lanes on this host.
fn begun(
    app: &App,
    fleet: &dyn Fleet,
    id: TaskId,
    Wait { longest_ms, undone }: Wait,
    tell: &mut dyn FnMut(&Obstacle, &Task),
) -> Result<Started, AppError> {
    fleet.be_patient(longest_ms);
    let (begin, mut changes) = (app.host.boot_ms(), app.store.watch());
    let (mut looked_ms, mut is_told) = (None, false);
    loop {
        if app.run_dir.is_tree_locked(id)?
            && let Some(started) = app.store.started(id)?.flatten()
        {
            return Ok(started);
        }
        let waited = app.host.boot_ms().saturating_sub(begin);
        if looked_ms.is_none_or(|at| waited.saturating_sub(at) >= LOOK_MS) {
            looked_ms = Some(waited);
            let task = app.existing(id)?;
            if let Some(outcome) = task.outcome() {
                let why = format!("{id}, which was to keep the lanes, ended before: {}", outcome.summary);
                return Err(lost(why, undone));
            }
            let obstacle = fleet.obstacle(&task)?;
            if let Some(obstacle) = obstacle.as_ref().filter(|_| !is_told) {
                tell(obstacle, &task);
                is_told = true;
            }
            let is_decided = obstacle.is_some() || waited >= DECISION_MS;
            if longest_ms.is_some_and(|most| waited >= most && is_decided) {
                return Err(given_up(app, fleet, &task, obstacle.as_ref())?.or_hint(undone));
            }
        }
        changes.wait(SOON);
    }
}

/// Takes the request back. A keeper that has started meanwhile ends.
fn given_up(app: &App, fleet: &dyn Fleet, task: &Task, obstacle: Option<&Obstacle>) -> Result<AppError, AppError> {
    match cancel(app, task.id, &CancelRequest::by("lock", "the wait is over")) {
        Err(error) if error.code() != Code::TaskOver => return Err(error),
        _ => {}
    }
    let full = match obstacle {
        Some(Obstacle::UserLockHeld { .. }) => task.all_lanes().into_iter().find(LaneName::is_user),
        Some(Obstacle::LaneFull { lane, .. }) => Some(lane.clone()),
        _ => None,
    };
    if let Some(lane) = full
        && let Some(view) = fleet.holds(Some(&lane))?.first()
    {
        return Ok(held_error(&lane, view, app.host.now()));
    }
    Ok(match obstacle {
        Some(Obstacle::Paused { pause }) => AppError::new(Code::LanePaused, format!("\"{}\" is paused", pause.what)),
        Some(Obstacle::NoHost { .. }) => {
            AppError::new(Code::LockHeld, "this host is drained, or has no agent that is at work".to_owned())
                .hint(
                    "`luzia hosts undrain` ends the one; `luzia daemon` with the same store is the agent of this host",
                )
                .next("luzia hosts")
        }
        Some(Obstacle::HostsFull { .. }) => {
            AppError::new(Code::LockHeld, "every slot of this host is in use".to_owned())
        }
        _ => AppError::new(Code::LockHeld, "the lanes were not granted in time".to_owned()),
    })
}

/// The error of a store that is away: the request stays there, and its keeper ends because its caller has.
fn left_behind(error: AppError, undone: &str) -> AppError {
    match error.code() {
        Code::StoreAway => error.hint(format!("{undone}; the request ends by itself once the server is back")),
        _ => error,
    }
}

fn lost(message: String, undone: &str) -> AppError {
    AppError::new(Code::LockLost, message).hint(undone)
}

/// The grants of the keeper, in the order of the lanes.
fn grants(app: &App, id: TaskId, lanes: &[LaneName], undone: &str) -> Result<Vec<Grant>, AppError> {
    let (mut grants, own) = (Vec::new(), id.to_string());
    for lane in lanes {
        let views = app.holders(lane)?;
        let view = views.iter().find(|view| view.holder() == Some(own.as_str()));
        let grant = view.and_then(|view| view.record().map(|record| record.grant(lane, view.slot)));
        grants.push(grant.ok_or_else(|| lost(format!("lane \"{lane}\" was lost at once"), undone))?);
    }
    Ok(grants)
}

/// Waits until the store knows the end of the keeper, which has the exit code of the command. Returns a process that the command left
/// behind, which keeps the lanes. Where the store does not answer, the command is over all the same.
fn end(app: &App, fleet: &dyn Fleet, id: TaskId, mark: &TreeMark) -> Result<Option<Identity>, AppError> {
    let (begin, mut changes) = (app.host.boot_ms(), app.store.watch());
    let keeper = tree(app, mark)?.into_iter().min_by_key(|process| process.start);
    let waited = || app.host.boot_ms().saturating_sub(begin);
    while app.store.find(id)?.is_some_and(|(_, task)| !task.status().is_final()) {
        if waited() >= END_MS[0] {
            return Ok(tree(app, mark)?.into_iter().find(|left| Some(left) != keeper.as_ref()));
        }
        changes.wait(SOON);
    }
    // The agent of this host tells a store that is away later: the command is over either way.
    fleet.be_patient(Some(0));
    while waited() < END_MS[1] && fleet.find(id).is_ok_and(|task| task.is_some_and(|task| !task.status().is_final())) {
        app.host.sleep(SOON);
    }
    Ok(None)
}

/// The mark of the processes of a keeper that has started, and of its command.
fn mark(app: &App, id: TaskId, started: &Started) -> TreeMark {
    let state_dir = started.state_dir.clone().unwrap_or_else(|| app.store_path().to_owned());
    let since = Some(started.supervisor.start);
    TreeMark { state_dir, task_id: id.to_string(), since, ..TreeMark::default() }
}

fn tree(app: &App, mark: &TreeMark) -> Result<Vec<Identity>, AppError> {
    app.host
        .procs
        .tree(mark, &[])
        .map_err(|error| AppError::new(Code::Io, format!("cannot look for processes: {error}")))
}

/// Keeps the lanes of the task around this process until its caller has died or has left the exit code of its command, and then as
/// long as processes of the command live. Returns the exit code. The caller sends no signal: a keeper that has just started would
/// die of it.
pub fn keep_lanes(app: &App, caller: &Identity, is_told_to_end: &mut dyn FnMut() -> bool) -> Result<u8, AppError> {
    let outside = || AppError::usage("it keeps the lanes of a task, and no task is around it");
    let id = app.inside.as_ref().map(|inside| inside.task).ok_or_else(outside)?;
    let exit_code = || Ok::<_, AppError>(app.store.vars(id)?.value.get(EXIT_CODE).and_then(Value::as_u64));
    let mut changes = app.store.watch_steps(id, caller)?;
    while !is_told_to_end() && !app.host.await_death(caller, Duration::ZERO) && exit_code()?.is_none() {
        changes.wait(Duration::from_secs(60));
    }
    if let Some(started) = app.store.started(id)?.flatten() {
        let mark = mark(app, id, &started);
        let me = app.host.identity().pid;
        while tree(app, &mark)?.iter().any(|process| process.pid != me) {
            app.host.sleep(LEFT);
        }
    }
    let unknown = || AppError::new(Code::LockLost, "`luzia lock` was killed, so the end of its command is not known");
    exit_code()?.map(|code| u8::try_from(code).unwrap_or(u8::MAX)).ok_or_else(unknown)
}
