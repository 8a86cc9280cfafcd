//! Schedules under kills, power cuts and failing operations: each slot makes one task and no more, a schedule that was added
//! stays, one that was removed is gone.

use super::locks::{prepared, store};
use super::{Env, Journal, Limits, know, seeds};
use luzia::app::accounts::Accounts;
use luzia::app::ask::{CancelRequest, cancel};
use luzia::app::pass::wake::fire_timers;
use luzia::app::queue::enqueue::Caller;
use luzia::app::{App, Settings};
use luzia::model::calendar::Overlap;
use luzia::model::task::Environment;
use luzia::model::{Config, Name, ScheduleKey, TaskId, Timer, Timestamp};
use luzia::request::{ScheduleRequest, TaskRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECOND: i64 = 1000;

/// What an onlooker knows, across kills and power cuts.
#[derive(Default)]
struct Known {
    /// The first slot of the schedule that was added.
    first: Option<Timestamp>,
    /// Whether the schedule `gone` was asked to go, and whether that was acknowledged.
    is_asked_to_go: bool,
    is_gone: bool,
    runs_asked: usize,
    runs: Vec<TaskId>,
}

type Shared = Arc<Mutex<Known>>;

fn app(env: &Env) -> App {
    App::new(store(env), Settings::fixed(Config::default()))
}

fn add(env: &Env, name: &str, line: &str) -> Option<Timestamp> {
    let new = ScheduleRequest {
        name: name.into(),
        expression: line.into(),
        overlap: Some(Overlap::Queue),
        fill: Some("1h".into()),
        task: TaskRequest {
            user: Some("a".into()),
            command: vec!["true".into()],
            no_check: true,
            cwd: Some("/".into()),
            ..TaskRequest::default()
        },
        ..ScheduleRequest::default()
    };
    let caller = Caller {
        env: Environment::default(),
        cwd: Ok("/".into()),
        umask: 0o022,
        accounts: Accounts::new(|| Ok("a".to_owned())),
        pid: 1,
    };
    luzia::app::cron::cron_add(&app(env), &new, &caller).ok().and_then(|row| row.schedule.next)
}

fn adder(env: &Env, known: &Shared) {
    let first = add(env, "tick", "* * * * * *");
    if first.is_some() {
        know(known).first = first;
    }
}

/// Looks again and again, as passes do.
fn looker(env: &Env) {
    let app = app(env);
    for _ in 0..4 {
        fire_timers(&app);
        env.clock().sleep(Duration::from_millis(700));
    }
}

/// Makes a task beside the slots, and removes a schedule.
fn user(env: &Env, known: &Shared) {
    if add(env, "extra", "@yearly").is_some() {
        for _ in 0..2 {
            know(known).runs_asked += 1;
            if let Ok(task) = luzia::app::cron::cron_run(&app(env), "extra") {
                know(known).runs.push(task.id);
            }
        }
    }
    if add(env, "gone", "@yearly").is_some() {
        know(known).is_asked_to_go = true;
        if luzia::app::cron::cron_rm(&app(env), "gone").is_ok() {
            know(known).is_gone = true;
        }
    }
}

/// Ends whatever waits, so that a task may be over before anybody looks whether it was made.
fn canceller(env: &Env) {
    let app = app(env);
    let request = CancelRequest { by: "me".to_owned(), reason: None, grace_ms: Some(20), requeue: false };
    for _ in 0..3 {
        env.clock().sleep(Duration::from_millis(400));
        let Ok(tasks) = app.store.pending_tasks(None) else { continue };
        let ids: Vec<TaskId> = tasks.filter_map(Result::ok).map(|task| task.id).collect();
        for id in ids {
            let _ = cancel(&app, id, &request);
        }
    }
}

fn audit(env: &Env, known: &Shared) {
    env.calm();
    let app = app(env);
    // One look makes a few slots of many that were missed.
    for _ in 0..100 {
        let aside = fire_timers(&app);
        if !aside.is_empty() {
            env.violation(&format!("a schedule was damaged: {aside:?}"));
        }
        if !app.store.is_timer_due().expect("a look") {
            break;
        }
    }
    let known = know(known);
    let name = |text: &str| Name::new(text).expect("a name");
    let mut made: BTreeMap<(String, Timestamp), Vec<TaskId>> = BTreeMap::new();
    // A task whose end was cut off may stand in two places, or be its own result, until a pass carries that out.
    let mut ids = BTreeSet::new();
    app.store.visit_ids(&mut |_, id| ids.extend([id])).expect("it lists");
    let running = env.vfs("/s").list("spool/running").expect("it lists").unwrap_or_default();
    ids.extend(running.iter().filter_map(|entry| TaskId::parse(entry.name.split('.').next()?)));
    for id in &ids {
        let task = app.store.find(*id).expect("it reads").expect("it is there").1;
        let of = task.schedule.expect("it has a slot");
        made.entry((of.schedule.to_string(), of.slot)).or_default().push(*id);
    }
    let of_tick: Vec<Timestamp> = made.keys().filter(|(of, _)| of == "tick").map(|(_, slot)| *slot).collect();
    if let Some((slot, ids)) = made.iter().find(|((of, _), ids)| of == "tick" && ids.len() > 1) {
        env.violation(&format!("{slot:?} was made twice: {ids:?}"));
    }
    let tick = app.store.schedule_at(&ScheduleKey::of(&name("tick"))).expect("it reads");
    match (&tick, known.first) {
        (None, Some(_)) => env.violation("a schedule that was added is gone"),
        (Some(tick), first) => {
            let next = tick.next.expect("it goes on");
            let count = of_tick.first().map_or(0, |first| next.ms_since(*first) / SECOND);
            if count != i64::try_from(of_tick.len()).expect("few") {
                env.violation(&format!("slots are missing before {next}: {of_tick:?}"));
            }
            if first.is_some() && !of_tick.is_empty() && of_tick.first() != first.as_ref() {
                env.violation(&format!("the first slot is {first:?}, and {of_tick:?} were made"));
            }
            if next <= env.clock().now() {
                env.violation(&format!("the slot {next} is not made"));
            }
            if !app
                .store
                .has_timer(&Timer::of(&ScheduleKey::of(&Name::new("tick").expect("a name")), next))
                .expect("a look")
            {
                env.violation("nothing looks at the next slot");
            }
        }
        (None, None) => {}
    }
    let runs = made.iter().filter(|((of, _), _)| of == "extra").map(|(_, ids)| ids.len()).sum::<usize>();
    if runs > known.runs_asked || known.runs.iter().any(|id| !ids.contains(id)) {
        env.violation(&format!("{runs} extra tasks, {} asked, {:?} acknowledged", known.runs_asked, known.runs));
    }
    let is_there = app.store.schedule_at(&ScheduleKey::of(&name("gone"))).expect("it reads").is_some();
    if is_there && known.is_gone {
        env.violation("a schedule that was removed is back");
    }
    let left = env.vfs("/s").list("spool/schedules").expect("it lists").unwrap_or_default();
    if let Some(entry) = left.iter().find(|entry| entry.name.ends_with(".task") && entry.name.starts_with("tick")) {
        env.violation(&format!("{} is left", entry.name));
    }
}

fn storm(limits: &Limits, count: u64) {
    for journal in [Journal::Ordered, Journal::AnySubset] {
        seeds(0..count, |sim| {
            let known = Shared::default();
            sim.journal(journal).limits(limits.clone());
            prepared(sim);
            let (ours, again) = (known.clone(), known.clone());
            sim.spawn("add", move |env| adder(&env, &ours));
            sim.spawn("user", move |env| user(&env, &again));
            for name in ["one", "two"] {
                sim.spawn(name, move |env| looker(&env));
            }
            sim.spawn("cancel", move |env| canceller(&env));
            sim.at_boot("after", move |env| looker(&env));
            let ours = known.clone();
            sim.at_end("audit", move |env| audit(&env, &ours));
        })
        .expect_clean();
    }
}

#[test]
fn each_slot_makes_one_task_under_kills_and_power_cuts() {
    storm(&Limits { kills: 2, cuts: 2, ..Limits::default() }, 250);
}

#[test]
fn each_slot_makes_one_task_under_operations_that_fail() {
    storm(&Limits { kills: 1, cuts: 1, errors: 3, ..Limits::default() }, 250);
}
