//! A task that ends its run for a wait, under kills, power cuts and failing operations: the lane that it keeps goes to nobody
//! else before it is over, an event that was acknowledged brings it on, and a wait spends no attempt.

use super::locks::{prepared, store};
use super::{Env, Journal, Limits, Sim, World, know, seeds};
use luzia::app::locks::cleanup::cleanup_stale;
use luzia::app::pass::pass;
use luzia::app::steps::mail::Address;
use luzia::app::{App, Settings};
use luzia::model::{Config, Name, Task, TaskId};
use luzia::os::Signal;
use luzia::store::{OpenWait, Site, StoreError};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const WAITER: TaskId = TaskId(1);
const OTHER: TaskId = TaskId(2);

/// What an onlooker knows, across kills and power cuts.
#[derive(Default)]
struct Known {
    accepted: bool,
    other_accepted: bool,
    /// The checkpoint of the wait was acknowledged.
    checkpoint: bool,
    /// The command began again after its wait.
    resumed: u32,
    sent: bool,
}

type Shared = Arc<Mutex<Known>>;

fn app(env: &Env) -> App {
    App::new(store(env), Settings::fixed(Config::default()))
}

fn task(id: TaskId, deed: &str) -> Task {
    Task {
        user: Name::new("alice").expect("a name"),
        lanes: Vec::new(),
        command: vec![deed.to_owned()],
        conductor_dir: "/s/conductor/_".into(),
        grace_ms: 50,
        retries: 0,
        ..super::spool::task(id)
    }
}

/// One after the other: the one that waits comes first in their lane.
fn enqueue(env: &Env, known: &Shared) {
    let store = store(env);
    if store.prepare().is_err() || store.reserve_ids(2).ok() != Some(WAITER) {
        return;
    }
    if store.accept(&[task(WAITER, "wait")], None).is_ok() {
        know(known).accepted = true;
        know(known).other_accepted = store.accept(&[task(OTHER, "other")], None).is_ok();
    }
}

fn command(env: &Env, known: &Shared) {
    env.step("work");
    if env.args[0] == "wait" && wait(env, known).is_err() {
        env.exit_with(1);
    }
}

/// As `luzia await --park` does.
fn wait(env: &Env, known: &Shared) -> Result<(), StoreError> {
    let Site { host, store, .. } = store(env).into();
    let waiter = store.begin_wait(WAITER)?;
    let mut waits = store.waits(WAITER)?;
    if !waits.done.is_empty() {
        know(known).resumed += 1;
        return Ok(());
    }
    let Some(started) = store.started(WAITER)?.flatten() else { return Ok(()) };
    (waits.start, waits.next) = (u64::from(started.start), 1);
    waits.open = Some(OpenWait {
        kind: "event".into(),
        event: "GO".into(),
        since: host.now().to_string(),
        until: host.now().plus_ms(86_400_000).to_string(),
        expect: 1,
        on_timeout: "fail".into(),
        ends_run: true,
        ..OpenWait::default()
    });
    store.write_waits(&waiter, &waits)?;
    know(known).checkpoint = true;
    for _ in 0..40 {
        host.signal(&started.supervisor, Signal::Wake);
        env.clock().sleep(Duration::from_secs(1));
    }
    Ok(())
}

fn send(env: &Env, known: &Shared) {
    if know(known).sent {
        return;
    }
    let to = Address { task: Some(WAITER), ..Address::default() };
    if luzia::app::steps::mail::emit(&app(env), "GO", &to, &Value::Null).is_ok() {
        know(known).sent = true;
    }
}

fn dispatch(env: &Env, passes: u32) {
    let app = app(env);
    for _ in 0..passes {
        let _ = pass(&app);
        env.clock().sleep(Duration::from_millis(3));
    }
}

fn done(world: &World, id: TaskId) -> Option<String> {
    let days = world.peek_names("/s/spool/done");
    let path = |day: &String| format!("/s/spool/done/{day}/{}.json", id.0);
    days.iter().find_map(|day| world.peek(&path(day)).map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}

/// Whether the end of a task is recorded; its lanes are free before its record has moved.
fn is_over(world: &World, id: TaskId) -> bool {
    let result = world.peek(&format!("/s/spool/running/{}.result.json", id.0)).unwrap_or_default();
    done(world, id).is_some() || String::from_utf8_lossy(result).contains("\"outcome\":{")
}

/// Whether the task stands in `waiting`, and names its lane as kept. A power cut before that may have taken the lock.
fn is_kept(world: &World) -> bool {
    let record = world.peek("/s/spool/waiting/1.json").unwrap_or_default();
    String::from_utf8_lossy(record).contains("\"lane\":\"user:alice\"") && !is_over(world, WAITER)
}

/// Whatever happens, the lane of a task that stands in `waiting` is its own.
fn keeps_its_lane(world: &World) -> Result<(), String> {
    if !is_kept(world) {
        return Ok(());
    }
    match world.peek("/s/locks/user_alice.lock") {
        Some(text) if text.starts_with(b"task_1_") => Ok(()),
        other => Err(format!("task 1 waits, and its lane is {other:?}")),
    }
}

fn drain(env: &Env, known: &Shared) {
    env.calm();
    send(env, known);
    let app = app(env);
    for _ in 0..2 {
        for _ in 0..8 {
            if let Err(error) = pass(&app) {
                env.violation(&format!("a pass fails although nothing goes wrong: {error}"));
            }
            env.clock().sleep(Duration::from_secs(70));
        }
        // Then a lock whose text a power cut took counts as old.
        env.clock().sleep(Duration::from_secs(3700));
    }
    let _ = cleanup_stale(&app, None, false);
}

fn audit(env: &Env, known: &Shared) {
    let known = know(known);
    let Some((waiter, other)) = env.look(|world| (done(world, WAITER), done(world, OTHER))) else { return };
    if known.accepted && waiter.is_none() {
        env.violation("the task that waited is not over");
    }
    if known.other_accepted && other.is_none() {
        env.violation("the task behind it never ran");
    }
    let is_completed = waiter.as_ref().is_some_and(|text| text.contains("\"status\":\"completed\""));
    // A kill of its second run is an interruption like any other.
    let is_waited_for = store(env).waits(WAITER).is_ok_and(|waits| waits.done.is_empty());
    if known.checkpoint && known.sent && known.resumed == 0 && is_waited_for {
        env.violation(&format!("its event came, and it never went on: {waiter:?}"));
    }
    if waiter.is_some_and(|text| !is_completed && text.contains("\"status\":\"timeout\"")) {
        env.violation("it timed out although its event came");
    }
    env.look(|world| world.peek_names("/s/locks"))
        .into_iter()
        .flatten()
        .filter(|name| name.ends_with(".lock"))
        .for_each(|name| env.violation(&format!("{name} is left")));
}

fn scenario(sim: &mut Sim, known: &Shared, has_cuts: bool) {
    prepared(sim);
    sim.always("a task that waits keeps its lane", keeps_its_lane);
    let ours = known.clone();
    sim.at_start(move |world, command| {
        let is_other = command.argv.first().is_some_and(|word| word == "other");
        if is_other && !is_over(world, WAITER) && (is_kept(world) || (!has_cuts && know(&ours).checkpoint)) {
            return Err("the lane of a task that waits went to another one".to_owned());
        }
        Ok(vec![("user:alice".to_owned(), 1)])
    });
    sim.on_launch(|env| {
        let is_recovery = env.args.iter().any(|arg| arg == "--recover");
        let id = env.args.last().and_then(|arg| TaskId::parse(arg)).expect("a task");
        let _ = luzia::app::pass::supervise::supervise(&app(&env), id, is_recovery, &mut || env.is_told_to_end());
    });
    let ours = known.clone();
    sim.on_command(move |env| command(&env, &ours));
    let ours = known.clone();
    sim.spawn("enq", move |env| {
        enqueue(&env, &ours);
        dispatch(&env, 3);
    });
    let ours = known.clone();
    sim.spawn("send", move |env| {
        env.clock().sleep(Duration::from_millis(4));
        send(&env, &ours);
    });
    let ours = known.clone();
    sim.at_boot("after", move |env| {
        dispatch(&env, 1);
        send(&env, &ours);
        dispatch(&env, 1);
    });
    let ours = known.clone();
    sim.at_end("drain", move |env| drain(&env, &ours));
    let ours = known.clone();
    sim.at_end("audit", move |env| audit(&env, &ours));
}

fn storm(limits: &Limits, count: u64) {
    for journal in [Journal::Ordered, Journal::AnySubset] {
        seeds(0..count, |sim| {
            sim.journal(journal).limits(limits.clone());
            scenario(sim, &Shared::default(), limits.cuts > 0);
        })
        .expect_clean();
    }
}

#[test]
fn a_wait_lives_through_kills() {
    storm(&Limits { kills: 3, ..Limits::default() }, 150);
}

#[test]
fn a_wait_lives_through_power_cuts() {
    storm(&Limits { kills: 1, cuts: 2, ..Limits::default() }, 150);
}
