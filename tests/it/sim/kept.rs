//! A task that blocks in `await`, under kills and power cuts: from the moment at which it is said to wait, the lane that it
//! keeps is granted to nobody else before its end is recorded, also not to those who come before the first pass.

use super::locks::{lane, prepared, store};
use super::{Env, Journal, Limits, Sim, World, know, seeds};
use luzia::app::locks::acquire::Lease;
use luzia::app::steps::wait::{WaitOrder, await_event};
use luzia::app::steps::words::wait_kind;
use luzia::app::{App, Inside, Settings};
use luzia::model::{Config, Name, Task, TaskId};
use luzia::policy::steps::waits::OnTimeout;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const WAITER: TaskId = TaskId(1);
/// Past the next refresh of the locks of a running task, so that a cut finds a sidecar that nobody has synced.
const LONG_MS: u64 = 400_000;

/// What an onlooker knows, across kills and power cuts.
#[derive(Default)]
struct Known {
    /// It was said that the task waits.
    waits: bool,
}

type Shared = Arc<Mutex<Known>>;

fn app(env: &Env) -> App {
    // The supervisor refreshes the lock every second, and syncs nothing then.
    App::new(store(env), Settings::fixed(Config { lock_timeout_ms: 3000, ..Config::default() }))
}

fn enqueue(env: &Env) {
    let store = store(env);
    if store.prepare().is_err() || store.reserve_ids(1).ok() != Some(WAITER) {
        return;
    }
    let task = Task {
        user: Name::new("alice").expect("a name"),
        lanes: Vec::new(),
        command: vec!["wait".to_owned()],
        conductor_dir: "/s/conductor/_".into(),
        grace_ms: 50,
        retries: 0,
        ..super::spool::task(WAITER)
    };
    let _ = store.accept(&[task], None);
    let _ = luzia::app::pass::pass(&app(env));
}

/// `luzia await event --timeout 400s --on-timeout continue`, inside the task.
fn command(env: &Env, known: &Shared) {
    let mut app = app(env);
    app.inside = Some(Inside { task: WAITER, user: None, project: None });
    let (kind, event) = wait_kind("event").expect("a kind");
    let order = WaitOrder {
        name: None,
        around: None,
        kind,
        event,
        time_ms: LONG_MS,
        on_timeout: OnTimeout::Continue,
        timeout_command: None,
        filter: Vec::new(),
        expect: 1,
        ends_run: false,
        output: None,
    };
    let _ = await_event(&app, &order, &mut |said| {
        if said.contains(" waits for ") && !std::mem::replace(&mut know(known).waits, true) {
            // Before that, a cut would end most runs too early.
            env.strike(1, 2);
        }
    });
}

/// Whether the end of the task is recorded; its lanes are free before its record has moved.
fn is_over(world: &World) -> bool {
    let result = world.peek("/s/spool/running/1.result.json").unwrap_or_default();
    let days = world.peek_names("/s/spool/done");
    String::from_utf8_lossy(result).contains("\"outcome\":{")
        || days.iter().any(|day| world.peek(&format!("/s/spool/done/{day}/1.json")).is_some())
}

/// Somebody who wants the lane, and was quicker than a pass.
fn take(env: &Env, known: &Shared) {
    let lease = Lease { lanes: vec![lane()], holder: "p".into(), wait_ms: 0, ttl_ms: None, pid: None, durable: false };
    if luzia::app::locks::acquire::acquire(&app(env), &lease, &mut |_| {}).is_err() {
        return;
    }
    let is_over = env.look(is_over).unwrap_or(true);
    if know(known).waits && !is_over {
        env.violation("the lane of a task that waits was granted");
    }
}

fn scenario(sim: &mut Sim, known: &Shared) {
    prepared(sim);
    sim.on_launch(|env| {
        let is_recovery = env.args.iter().any(|arg| arg == "--recover");
        let id = env.args.last().and_then(|arg| TaskId::parse(arg)).expect("a task");
        let _ = luzia::app::pass::supervise::supervise(&app(&env), id, is_recovery, &mut || env.is_told_to_end());
    });
    let ours = known.clone();
    sim.at_start(|_, _| Ok(vec![("user:alice".to_owned(), 1)]));
    sim.on_command(move |env| command(&env, &ours));
    sim.spawn("enq", |env| enqueue(&env));
    for name in ["after", "late"] {
        let ours = known.clone();
        sim.at_boot(name, move |env| {
            if name == "late" {
                // A sidecar that does not read counts as dead from then on.
                env.clock().sleep(Duration::from_secs(3));
            }
            take(&env, &ours);
            let _ = luzia::app::locks::cleanup::cleanup_stale(&app(&env), None, false);
            take(&env, &ours);
            let _ = luzia::app::pass::pass(&app(&env));
        });
    }
}

fn storm(journal: Journal) {
    let all = seeds(0..150, |sim| {
        sim.journal(journal).limits(Limits { kills: 0, cuts: 0, ..Limits::default() });
        scenario(sim, &Shared::default());
    });
    let all = all.expect_clean();
    // Strikes come only once it is said that the task waits.
    assert!(all.cuts > 50, "{all:?}");
}

#[test]
fn a_lane_kept_by_a_blocked_wait_is_granted_to_nobody() {
    storm(Journal::Ordered);
    storm(Journal::AnySubset);
}
