//! The scenes of the sweep about a task that runs and is paused. Each pause ends by itself, so that what a killed verb leaves
//! keeps nobody for ever.

use super::harness::oracle::{self, Deed};
use super::harness::procs::{KILL, of_world, signal};
use super::harness::{Answer, World, until};
use super::sweep_scenes::{PLAIN, Scene, queue_none};

/// Somebody pauses a task that runs.
pub const PAUSE: Scene = Scene {
    name: "pause-running",
    args: &["pause", "1", "--yes", "--for", "300ms"],
    begin: Some(start_waiting),
    prepare: queue_none,
    queued: 1,
    judge: goes_on,
    ..PLAIN
};

/// Somebody lets it go on.
pub const RESUME: Scene = Scene {
    name: "resume-running",
    args: &["resume", "1"],
    begin: Some(start_paused),
    prepare: queue_none,
    queued: 1,
    judge: goes_on,
    ..PLAIN
};

/// A task pauses itself: its supervisor stops it, and is disturbed while it does so.
pub const SELF: Scene = Scene {
    name: "pause-self",
    args: &["dispatch", "--once"],
    prepare: queue_one_that_pauses,
    follow: true,
    queued: 1,
    judge: goes_on,
    ..PLAIN
};

/// A task in a control group of its own, where one can be made.
pub const GROUP: Scene = Scene {
    name: "supervise-in-group",
    args: &["dispatch", "--once"],
    prepare: queue_in_group,
    follow: true,
    queued: 2,
    judge: no_group_is_left,
    ..PLAIN
};

fn queue_in_group(world: &World) {
    world.configure(r#"{ "slots": { "max": 64 }, "supervisor": { "cgroups": "on" } }"#);
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::ForkBare));
    world.enqueue(&["-u", "bob"], &oracle::command(world, "bob", Deed::Quick));
}

/// What a kill has left, `doctor` removes.
fn no_group_is_left(world: &World, _: &Answer) -> Vec<String> {
    world.luzia(&["doctor", "--fix", "-y"]);
    let told = world.luzia(&["doctor"]).out;
    if told.contains("cgroups ") { vec![told] } else { Vec::new() }
}

fn start_waiting(world: &World) {
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::GateSoft));
    world.luzia(&["dispatch", "--once"]).ok();
    world.await_file("ready.alice");
}

fn start_paused(world: &World) {
    start_waiting(world);
    world.luzia(&["pause", "1", "--yes", "--for", "1s"]).ok();
}

fn queue_one_that_pauses(world: &World) {
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let text = format!("{luzia} pause self --yes --for 30ms; :");
    world.enqueue(&["-u", "alice"], &oracle::script(world, "alice", &text));
}

/// After all, the task is over: no pause outlives its end, or the supervisor that made it.
fn goes_on(world: &World, _: &Answer) -> Vec<String> {
    let status = world.status_of(1);
    let is_over = ["completed", "failed", "cancelled"].contains(&status.as_str());
    let is_left = world.state.join("run/1/pause.json").exists();
    if is_over && !is_left { Vec::new() } else { vec![format!("task_1 is {status}, and its pause is left: {is_left}")] }
}

/// A task makes room for itself.
pub const PREEMPT: Scene = Scene {
    name: "preempt",
    args: &["enqueue", "-y", "-u", "alice", "--preempt", "requeue", "--preempt-grace", "50ms", "--", "true"],
    begin: Some(start_waiting),
    prepare: queue_none,
    queued: 1,
    retries: 1,
    prints_ids: true,
    ..PLAIN
};

/// A supervisor whose task is to make room before it has started.
pub const PREEMPTED: Scene = Scene {
    name: "supervise-preempted",
    args: &["supervise", "1"],
    prepare: claim_preempted,
    claim: Some(1),
    queued: 3,
    retries: 1,
    ..PLAIN
};

/// A task that was to make room when it died.
pub const PREEMPTED_DEAD: Scene = Scene {
    name: "recover-preempted",
    args: &["supervise", "--recover", "1"],
    prepare: kill_preempted,
    claim: Some(1),
    queued: 2,
    retries: 1,
    judge: is_queued_again,
    ..PLAIN
};

const REQUEST: &str = r#"{"by":"me","reason":"preempted by task_9","grace_ms":50,"requeue":true}"#;

fn claim_preempted(world: &World) {
    super::sweep_scenes::claim_one(world);
    std::fs::write(world.state.join("run/1/cancel.json"), REQUEST).unwrap();
}

fn kill_preempted(world: &World) {
    kill_first(world, "if test -e second; then :; else echo >second; echo >ready.alice; sleep 600; fi");
    std::fs::write(world.state.join("run/1/cancel.json"), REQUEST).unwrap();
}

/// It was no failure, and it was queued again. What followed may have been struck itself.
fn is_queued_again(world: &World, _: &Answer) -> Vec<String> {
    let shown = world.luzia(&["show", "1", "--json"]).out;
    let task: serde_json::Value = serde_json::from_str(&shown).unwrap_or_default();
    let is_again = task["starts"] == 2 || task.to_string().contains(r#""kind":"requeued""#);
    if task["status"] == "completed" || is_again { Vec::new() } else { vec![format!("not queued again: {task}")] }
}

/// A first task of alice that died with everything it had, and another one behind it.
pub fn kill_first(world: &World, script: &str) {
    world.enqueue(&["-u", "alice", "--thread", "7"], &oracle::script(world, "alice", script));
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Quick));
    world.luzia(&["dispatch", "--once"]).ok();
    world.await_file("ready.alice");
    signal(world, world.supervisor_of(1), KILL);
    until("all are dead", || {
        of_world(world).iter().for_each(|process| process.signal(KILL));
        of_world(world).is_empty().then_some(())
    });
}
