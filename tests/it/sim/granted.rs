//! Granted tasks beside local ones of the same user: exclusion, fences that only grow, ends that are found again, under kills,
//! power cuts and failing operations; and a host that sleeps past the end of its lease.

use super::locks::{prepared, store};
use super::{Env, Journal, Limits, Sim, know, seeds};
use luzia::app::granted::{accept_granted, prepare_host, renew_grants, renew_lease};
use luzia::app::pass::pass;
use luzia::app::pass::supervise::supervise;
use luzia::app::{App, Settings};
use luzia::model::task::{FIRST_GRANTED, Granted, GrantedSlot, Word};
use luzia::model::{Config, Fence, LaneName, Task, TaskId};
use luzia::store::{Place, Taken};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SESSION: Word = Word(7);
const LONG_MS: u64 = 86_400_000;

/// What an onlooker knows, across kills and power cuts.
#[derive(Default)]
struct Known {
    accepted: BTreeSet<TaskId>,
    /// The greatest fence that a command of alice has seen.
    fence: u64,
    starts: BTreeMap<String, u32>,
}

type Shared = Arc<Mutex<Known>>;

fn app(env: &Env) -> App {
    App::new(store(env), Settings::fixed(Config::default()))
}

fn task(id: TaskId) -> Task {
    Task {
        lanes: Vec::new(),
        group: None,
        conductor_dir: "/s/conductor/_".into(),
        grace_ms: 50,
        ..super::spool::task(id)
    }
}

/// A grant of alice's lane with the fence of now, as a scheduler gives it.
fn granted(app: &App) -> Granted {
    let lane = LaneName::parse("user:alice").expect("a lane");
    let fence = Fence(u64::try_from(app.host.now().0).expect("after 1970") * 1000 + 999);
    let slot = GrantedSlot { lane, slot: 0, fence, value: None };
    Granted { session: SESSION, token: Word(1), slots: vec![slot], is_cut_off: false }
}

fn lease(app: &App, length_ms: u64) -> bool {
    prepare_host(app).is_ok() && renew_lease(app, SESSION, app.host.boot_ms(), length_ms).is_ok()
}

/// The agent: a lease, one task, and a new grant when the old one is used up.
fn agent(env: &Env, known: &Shared, number: u64) {
    let app = app(env);
    let id = TaskId(FIRST_GRANTED.0 + number);
    if !lease(&app, LONG_MS) {
        return;
    }
    let answer = accept_granted(&app, &task(id).with_grants(granted(&app)));
    if matches!(answer, Ok(Taken::New | Taken::Known(_))) {
        know(known).accepted.insert(id);
    }
    for _ in 0..3 {
        let _ = pass(&app);
        env.clock().sleep(Duration::from_millis(4));
        let _ = renew_grants(&app, id, Word(1), granted(&app));
    }
}

fn user(env: &Env) {
    let app = app(env);
    if app.store.prepare().is_ok()
        && let Ok(id) = app.store.reserve_ids(1)
    {
        if id >= FIRST_GRANTED {
            env.violation("a local task has a number of the scheduler");
        }
        let _ = app.store.accept(&[task(id)], None);
        let _ = pass(&app);
    }
}

/// Does what agents and dispatchers do until every task is over.
fn drain(env: &Env, known: &Shared) {
    let app = app(env);
    assert!(lease(&app, LONG_MS), "a lease is written when nothing goes wrong");
    let open = || -> Vec<TaskId> {
        let ids = know(known).accepted.clone();
        ids.into_iter().filter(|id| app.store.place_of(*id).expect("it reads") != Some(Place::Done)).collect()
    };
    // A lock without a sidecar counts for an hour.
    for _ in 0..60 {
        for id in open() {
            let _ = renew_grants(&app, id, Word(1), granted(&app));
        }
        pass(&app).expect("a pass");
        env.clock().sleep(Duration::from_secs(70));
    }
    if !open().is_empty() {
        env.violation(&format!("{:?} never ended", open()));
    }
}

fn scenario(sim: &mut Sim) {
    prepared(sim);
    let known = Shared::default();
    sim.limits(Limits { kills: 2, cuts: 1, errors: 2, ..Limits::default() }).journal(Journal::default());
    let book = known.clone();
    sim.at_start(move |_, command| {
        let of = |name: &str| {
            let found = command.env.iter().find(|(key, _)| key == name.as_bytes());
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
        };
        let (id, fence) = (of("LUZIA_TASK_ID"), of("LUZIA_FENCE").parse::<u64>().unwrap_or(0));
        let mut known = know(&book);
        let starts = known.starts.entry(id.clone()).or_default();
        *starts += 1;
        if *starts > 1 {
            return Err(format!("{id} has no retries and starts {starts} times"));
        }
        if fence <= known.fence {
            return Err(format!("{id} has the fence {fence} after {}", known.fence));
        }
        known.fence = fence;
        Ok(vec![("alice".to_owned(), 1)])
    });
    sim.on_command(|env| {
        env.step("work");
        env.clock().sleep(Duration::from_millis(2));
        env.step("work");
    });
    sim.on_launch(|env| {
        let is_recovery = env.args.iter().any(|arg| arg == "--recover");
        let id = env.args.last().and_then(|arg| TaskId::parse(arg)).expect("a task");
        let _ = supervise(&app(&env), id, is_recovery, &mut || env.is_told_to_end());
    });
    for number in 1..=2 {
        let book = known.clone();
        sim.spawn(&format!("agent{number}"), move |env| agent(&env, &book, number));
    }
    sim.spawn("user", |env| user(&env)).spawn("other", |env| user(&env));
    sim.at_boot("boot", |env| {
        let app = app(&env);
        lease(&app, LONG_MS);
        let _ = pass(&app);
    });
    sim.at_end("drain", move |env| drain(&env, &known));
}

#[test]
fn granted_and_local_tasks_exclude_each_other_and_fences_only_grow_through_every_mishap() {
    seeds(0..400, scenario).expect_clean();
}

/// The command notes the boot clock at each of its steps.
#[test]
fn a_host_that_slept_past_the_lease_runs_its_command_no_further() {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let mut sim = Sim::replay(&[]);
    prepared(&mut sim);
    let ours = steps.clone();
    sim.at_start(|_, _| Ok(Vec::new())).on_command(move |env| {
        env.ignore_term();
        for _ in 0..100_000 {
            env.clock().sleep(Duration::from_millis(300));
            env.step("work");
            know(&ours).push(env.clock().boot_ms());
        }
    });
    sim.on_launch(|env| {
        let id = env.args.last().and_then(|arg| TaskId::parse(arg)).expect("a task");
        let _ = supervise(&app(&env), id, false, &mut || false);
    });
    let end = Arc::new(Mutex::new(0));
    let at = end.clone();
    sim.spawn("agent", move |env| {
        let app = app(&env);
        *know(&at) = env.clock().boot_ms() + 60_000;
        assert!(lease(&app, 60_000));
        let id = TaskId(FIRST_GRANTED.0 + 1);
        accept_granted(&app, &task(id).with_grants(granted(&app))).expect("it is accepted");
        pass(&app).expect("a pass");
        env.clock().sleep(Duration::from_secs(5));
        env.suspend(Duration::from_secs(3600));
    });
    sim.at_end("look", |env| {
        let found = app(&env).store.find(TaskId(FIRST_GRANTED.0 + 1)).expect("it reads");
        let is_cut_off = found.and_then(|(_, task)| task.terms.granted).is_some_and(|granted| granted.is_cut_off);
        assert!(is_cut_off, "it is cut off");
    });
    let report = sim.run();
    assert!(report.violations.is_empty(), "{report}");
    let (steps, end) = (know(&steps).clone(), *know(&end));
    assert!(steps.len() > 10, "it ran");
    // Both wake at the same instant.
    assert!(steps.iter().filter(|at| **at >= end).count() <= 1, "{:?} after {end}", steps.last());
}
