//! The scenes of the sweep: a prepared state directory, a verb, and what must be so after it and a recovery.

use super::harness::oracle::{self, Deed};
use super::harness::{Answer, World, run, strace, until};
use super::support::queue;
use super::sweep_lanes::{grant_is_counted, rated_lane};
use super::sweep_numbers::{
    all_are_counted_once, before_comes_before, hooks_are_old_or_new, hooks_of_a_task, many_events, one_hook,
};
use std::fs::File;
use std::process::Stdio;

/// A verb in its surroundings.
pub struct Scene {
    pub name: &'static str,
    pub args: &'static [&'static str],
    /// Makes the template.
    pub prepare: fn(&World),
    /// What must live while the verb runs, and so cannot be in the template.
    pub begin: Option<fn(&World)>,
    /// The verb is `supervise`, and gets the lock of this task.
    pub claim: Option<u64>,
    /// The processes it starts are disturbed as well.
    pub follow: bool,
    /// The tasks 1 to this number were acknowledged before.
    pub queued: u64,
    /// Further starts that somebody may have asked for.
    pub retries: u64,
    /// It prints the ids that it acknowledges.
    pub prints_ids: bool,
    pub leases_may_live: bool,
    /// A run may go on under the grant of the run before it, so both have one fence.
    pub resumes: bool,
    /// It only reads: where it cannot fire a timer, its answer is still right, and the next pass fires it.
    pub reads: bool,
    /// What else must be so.
    pub judge: fn(&World, &Answer) -> Vec<String>,
}

pub const PLAIN: Scene = Scene {
    name: "",
    args: &[],
    prepare: |_| {},
    begin: None,
    claim: None,
    follow: false,
    queued: 0,
    retries: 0,
    prints_ids: false,
    leases_may_live: false,
    resumes: false,
    reads: false,
    judge: |_, _| Vec::new(),
};

pub const ENQUEUE: Scene = Scene { prints_ids: true, ..PLAIN };
const LEASE: Scene = Scene { leases_may_live: true, judge: lease_can_be_released, ..PLAIN };

pub const SCENES: &[Scene] = &[
    Scene { name: "first-enqueue", args: &["enqueue", "-u", "alice", "--", "true"], ..ENQUEUE },
    Scene {
        name: "enqueue",
        args: &["enqueue", "-u", "alice", "--thread", "7", "--key", "k", "--start-within", "1h", "--", "true"],
        prepare: queue_three,
        queued: 3,
        ..ENQUEUE
    },
    Scene {
        name: "enqueue-after",
        args: &["enqueue", "-u", "alice", "--after", "1", "--in", "50ms", "--", "true"],
        prepare: queue_three,
        queued: 3,
        ..ENQUEUE
    },
    Scene {
        name: "enqueue-replace",
        args: &["enqueue", "-u", "bob", "--key", "old", "--on-conflict", "replace", "--", "true"],
        prepare: queue_three,
        queued: 3,
        ..ENQUEUE
    },
    Scene {
        name: "enqueue-many",
        args: &["enqueue", "--from", "many.jsonl"],
        prepare: queue_three,
        queued: 3,
        ..ENQUEUE
    },
    Scene {
        name: "enqueue-deep",
        args: &["enqueue", "-u", "alice", "--", "true"],
        prepare: queue_deep,
        queued: 3,
        ..ENQUEUE
    },
    Scene {
        name: "enqueue-many-deep",
        args: &["enqueue", "--from", "many.jsonl"],
        prepare: queue_deep,
        queued: 3,
        ..ENQUEUE
    },
    Scene { name: "dispatch", args: &["dispatch", "--once"], prepare: queue_three, queued: 3, ..PLAIN },
    Scene { name: "dispatch-deep", args: &["dispatch", "--once"], prepare: queue_deep, queued: 3, ..PLAIN },
    Scene {
        name: "dispatch-and-supervise",
        args: &["dispatch", "--once"],
        prepare: queue_three,
        follow: true,
        queued: 3,
        ..PLAIN
    },
    Scene { name: "dispatch-due", args: &["dispatch", "--once"], prepare: park_two, queued: 2, ..PLAIN },
    Scene { name: "supervise", args: &["supervise", "1"], prepare: claim_one, claim: Some(1), queued: 3, ..PLAIN },
    Scene {
        name: "recover",
        args: &["supervise", "--recover", "1"],
        prepare: kill_one,
        claim: Some(1),
        queued: 2,
        ..PLAIN
    },
    Scene { name: "dispatch-dead", args: &["dispatch", "--once"], prepare: claim_one, queued: 3, ..PLAIN },
    Scene { name: "cleanup-dead", args: &["cleanup-stale"], prepare: kill_one, queued: 2, ..PLAIN },
    Scene { name: "cleanup-lease", args: &["cleanup-stale"], prepare: expire_lease, ..PLAIN },
    Scene {
        name: "acquire",
        args: &["acquire", "deploy", "--task", "me", "--ttl", "1h"],
        prepare: queue_none,
        ..LEASE
    },
    super::sweep_lanes::ACQUIRE_TWO,
    super::sweep_lanes::LOCK_TWO,
    Scene { name: "acquire-stale", args: &["acquire", "deploy", "--task", "me"], prepare: expire_lease, ..LEASE },
    Scene {
        name: "acquire-rated",
        args: &["acquire", "deploy", "--task", "me"],
        prepare: rated_lane,
        judge: grant_is_counted,
        ..LEASE
    },
    Scene { name: "renew", args: &["acquire", "deploy", "--task", "me"], prepare: hold_lease, ..LEASE },
    // The agent is the process that traces, so the session ends with the verb.
    Scene {
        name: "acquire-session",
        args: &["acquire", "deploy", "--session", "k", "--task", "me"],
        prepare: queue_none,
        judge: lease_can_be_released,
        ..PLAIN
    },
    Scene {
        name: "session",
        args: &["acquire", "deploy", "--session", "k", "--task", "me", "--ttl", "200ms"],
        prepare: queue_none,
        follow: true,
        judge: lease_can_be_released,
        ..PLAIN
    },
    Scene { name: "release", args: &["release", "deploy", "me"], prepare: hold_lease, ..LEASE },
    Scene { name: "lock", args: &["lock", "-u", "alice", "--", "true"], prepare: queue_none, ..PLAIN },
    Scene { name: "cancel", args: &["cancel", "2"], prepare: queue_three, queued: 3, judge: cancelled_two, ..PLAIN },
    Scene {
        name: "cancel-running",
        args: &["cancel", "1", "--yes", "--grace", "50ms"],
        begin: Some(start_waiting),
        prepare: queue_none,
        queued: 1,
        judge: |world, answer| ended_if_ok(world, answer, 1, "cancelled"),
        ..PLAIN
    },
    Scene { name: "pause-task", args: &["pause", "2"], prepare: queue_three, queued: 3, ..PLAIN },
    super::sweep_lanes::WARNS,
    super::sweep_pause::PAUSE,
    super::sweep_pause::RESUME,
    super::sweep_pause::SELF,
    super::sweep_pause::GROUP,
    super::sweep_pause::PREEMPT,
    super::sweep_pause::PREEMPTED,
    super::sweep_pause::PREEMPTED_DEAD,
    Scene { name: "resume-task", args: &["resume", "2"], prepare: hold_two, queued: 3, ..PLAIN },
    Scene {
        name: "edit",
        args: &["edit", "3", "--priority", "1", "--lane", "build", "--in", "0"],
        prepare: queue_three,
        queued: 3,
        judge: edited_three,
        ..PLAIN
    },
    Scene { name: "pause-user", args: &["pause", "alice", "--for", "1h"], prepare: queue_three, queued: 3, ..PLAIN },
    Scene {
        name: "lanes-set",
        args: &["lanes", "set", "build", "--max", "2"],
        prepare: queue_three,
        queued: 3,
        judge: limit_is_set,
        ..PLAIN
    },
    Scene { name: "retry", args: &["retry", "1"], prepare: finish_one, queued: 2, retries: 1, ..PLAIN },
    Scene {
        name: "loan",
        args: &["dispatch", "--once"],
        prepare: queue_lender,
        follow: true,
        queued: 2,
        retries: 1,
        judge: lanes_come_back,
        ..PLAIN
    },
    Scene {
        name: "child-ends",
        args: &["cancel", "2"],
        prepare: queue_child,
        queued: 2,
        judge: ends_are_told_once,
        ..PLAIN
    },
    super::sweep_waits::STEPS_AND_WAITS,
    Scene {
        name: "first-set",
        args: &["set", "--task", "1", "a=2"],
        prepare: queue_three,
        queued: 3,
        judge: variables_are_old_or_new,
        ..PLAIN
    },
    Scene {
        name: "set",
        args: &["set", "--task", "1", "a=2"],
        prepare: set_one,
        queued: 3,
        judge: variables_are_old_or_new,
        ..PLAIN
    },
    Scene {
        name: "emit",
        args: &["emit", "E", "--task", "1"],
        prepare: set_one,
        queued: 3,
        judge: mail_is_whole,
        ..PLAIN
    },
    super::sweep_steps::STEPWISE,
    super::sweep_capacity::CAPACITY,
    super::sweep_capacity::SLOTS,
    super::sweep_waits::AWAIT_SLOT,
    super::sweep_waits::PARK,
    super::sweep_waits::EMIT_PARKED,
    super::sweep_waits::AWAIT_OUTPUT,
    super::sweep_waits::OUTPUT_PARKED,
    super::sweep_waits::LATE_PARKED,
    super::sweep_waits::TIMED_OUT_PARKED,
    super::sweep_waits::CANCEL_PARKED,
    super::sweep_steps::ENQUEUE_GROUP,
    super::sweep_steps::DISPATCH_GROUP,
    super::sweep_steps::ENQUEUE_REUSE,
    super::sweep_cron::ADD,
    super::sweep_cron::DUE,
    super::sweep_cron::RUN,
    super::sweep_cron::RM,
    Scene {
        name: "hook-add",
        args: &["hook", "add", "alert", "--name", "new", "--", "true"],
        prepare: one_hook,
        judge: hooks_are_old_or_new,
        ..PLAIN
    },
    Scene {
        name: "hooks-of-a-task",
        args: &["dispatch", "--once"],
        prepare: hooks_of_a_task,
        follow: true,
        queued: 1,
        judge: before_comes_before,
        ..PLAIN
    },
    Scene { name: "metrics", args: &["metrics"], prepare: many_events, judge: all_are_counted_once, ..PLAIN },
];

/// A parent that waits for a child, and a stranger of the same user behind it.
fn queue_lender(world: &World) {
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    let child: Vec<String> = oracle::command(world, "alice", Deed::Work).iter().map(quoted).collect();
    let text = format!("{luzia} run --timeout 20s -- {}", child.join(" "));
    world.enqueue(&["-u", "alice"], &["sh".into(), "-c".into(), text]);
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Quick));
}

/// After all, no lock of a borrower is left, and no mark of a waiter that would lend.
pub fn lanes_come_back(world: &World, _: &Answer) -> Vec<String> {
    let mut problems = Vec::new();
    for path in super::harness::list(&world.state.join("locks")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".lock") {
            problems.push(format!("{name} is left"));
        }
    }
    problems
}

/// A child in the queue of a parent that is in the queue, too.
fn queue_child(world: &World) {
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Quick));
    world.enqueue(&["-u", "bob", "--parent", "1"], &oracle::command(world, "bob", Deed::Quick));
}

/// Each end of a child is one event for its parent.
fn ends_are_told_once(world: &World, _: &Answer) -> Vec<String> {
    let mail = super::harness::list(&world.state.join("spool/steps/1/mail"));
    let is_over = world.status_of(2) != "pending";
    // A parent that is over by then is told nothing.
    if mail.len() > 1 || (is_over && mail.is_empty() && world.status_of(1) == "pending") {
        return vec![format!("{} events of one end", mail.len())];
    }
    Vec::new()
}

fn set_one(world: &World) {
    queue_three(world);
    world.luzia(&["set", "--task", "1", "a=1"]).ok();
}

/// The variables are whole, and new where the verb said so.
fn variables_are_old_or_new(world: &World, answer: &Answer) -> Vec<String> {
    let path = world.state.join("spool/steps/1/vars.json");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let value = serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default()["vars"]["a"].clone();
    let had_one = world.state.join("spool/steps/1/vars.json.before").exists();
    let is_told = answer.code() == Some(0) || answer.err.contains("the change stands");
    let is_good = match value.as_str() {
        Some("2") => is_told || answer.code().is_none() || answer.err.is_empty(),
        Some("1") => answer.code() != Some(0),
        _ => answer.code() != Some(0) && !had_one && text.is_empty(),
    };
    if is_good { Vec::new() } else { vec![format!("{path:?} holds {text:?} after {answer:?}")] }
}

/// Every event is whole, and there is one where the verb said so.
fn mail_is_whole(world: &World, answer: &Answer) -> Vec<String> {
    let folder = world.state.join("spool/steps/1/mail");
    let files = super::harness::files_below(&folder);
    let is_whole = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|mail| mail["event"] == "E")
    };
    let is_good = files.iter().all(is_whole) && (answer.code() != Some(0) || files.len() == 1);
    let is_hidden = !files.is_empty() && answer.code().is_some_and(|code| code != 0) && !answer.err.is_empty();
    let is_good = is_good
        && (!is_hidden || ["the change stands", "was carried out"].iter().any(|word| answer.err.contains(word)));
    if is_good { Vec::new() } else { vec![format!("the mail is {files:?} after {answer:?}")] }
}

pub fn queue_none(world: &World) {
    world.luzia(&["list"]).ok();
    world.luzia(&["lock", "-u", "alice", "--", "true"]).ok();
}

pub fn queue_three(world: &World) {
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Quick));
    world.enqueue(&["-u", "bob", "--key", "old"], &oracle::command(world, "bob", Deed::Quick));
    world.enqueue(&["-u", "alice", "--thread", "7"], &oracle::command(world, "alice", Deed::Fail));
    let line = |user: &str| format!("{{\"user\":\"{user}\",\"command\":[\"true\"]}}\n");
    // One by itself, two whose folder is there already, two that bring theirs.
    let many = ["alice", "bob", "carol", "bob", "carol"].map(line);
    std::fs::write(world.work.join("many.jsonl"), many.concat()).unwrap();
}

fn hold_two(world: &World) {
    queue_three(world);
    world.luzia(&["pause", "2", "--reason", "later"]).ok();
}

/// As lanes stand of which each has so many tasks that further ones go to segments.
fn queue_deep(world: &World) {
    for user in ["alice", "bob"] {
        std::fs::create_dir_all(world.state.join("spool/pending/5").join(queue(user)).join("999999")).unwrap();
    }
    queue_three(world);
    assert!(world.state.join("spool/pending/5").join(queue("bob")).join("0/2.json").exists());
}

fn park_two(world: &World) {
    world.enqueue(&["-u", "alice", "--in", "1ms", "--thread", "7"], &oracle::command(world, "alice", Deed::Quick));
    world.enqueue(&["-u", "alice", "--after", "1"], &oracle::command(world, "alice", Deed::Quick));
}

/// A dispatcher that is killed when it is about to start the supervisor leaves a claim.
pub fn claim_one(world: &World) {
    queue_three(world);
    let log = world.work.join("trace");
    let call = "?fork,?vfork,clone,?clone3".to_owned();
    let point = strace::Point { call, n: 1, fault: strace::Fault::Kill };
    run(strace::command(world, &log, false, Some(&point), &["dispatch", "--once"]), super::harness::PATIENCE);
    let claimed = world.state.join("spool/running/1.json").exists();
    assert!(claimed && !world.state.join("spool/running/1.started.json").exists(), "a claim without a supervisor");
}

/// A task that died with everything it had.
fn kill_one(world: &World) {
    super::sweep_pause::kill_first(world, "echo >ready.alice; sleep 600");
}

fn hold_lease(world: &World) {
    queue_none(world);
    world.luzia(&["acquire", "deploy", "--task", "me", "--ttl", "1h"]).ok();
}

fn expire_lease(world: &World) {
    queue_none(world);
    world.luzia(&["acquire", "deploy", "--task", "other", "--ttl", "1ms"]).ok();
    until("it has expired", || (world.luzia(&["check", "deploy"]).code() == Some(0)).then_some(()));
}

fn finish_one(world: &World) {
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Fail));
    world.luzia(&["dispatch", "--drain"]).drained();
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Quick));
}

fn start_waiting(world: &World) {
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::GateSoft));
    world.luzia(&["dispatch", "--once"]).ok();
    world.await_file("ready.alice");
}

fn lease_can_be_released(world: &World, _: &Answer) -> Vec<String> {
    let released = world.luzia(&["release", "deploy", "--force", "--yes"]);
    let left = world.luzia(&["check", "deploy"]);
    let is_free = released.code() == Some(0) && left.code() == Some(0);
    if is_free { Vec::new() } else { vec![format!("the lease cannot be released: {released:?} {left:?}")] }
}

fn cancelled_two(world: &World, answer: &Answer) -> Vec<String> {
    ended_if_ok(world, answer, 2, "cancelled")
}

/// A task is the old one or the new one, and the new one when that was acknowledged.
fn edited_three(world: &World, answer: &Answer) -> Vec<String> {
    let show = world.luzia(&["show", "3", "--json"]);
    let task: serde_json::Value = serde_json::from_str(&show.out).unwrap_or_default();
    let (lanes, priority) = (task["lanes"].to_string(), task["priority"].as_u64());
    let is_new = lanes.contains("\"build\"") && !lanes.contains("thread:7") && priority == Some(1);
    let is_old = lanes.contains("thread:7") && !lanes.contains("\"build\"") && priority == Some(5);
    if is_new || is_old && answer.code() != Some(0) { Vec::new() } else { vec![format!("half edited: {task}")] }
}

fn limit_is_set(world: &World, answer: &Answer) -> Vec<String> {
    let listed = world.luzia(&["lanes", "list", "build", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&listed.out).unwrap_or_default();
    let max = document["items"][0]["max_concurrent"].as_u64();
    let is_right = max == Some(2) || max == Some(1) && answer.code() != Some(0);
    if is_right { Vec::new() } else { vec![format!("the limit is {max:?}: {listed:?}")] }
}

/// An acknowledged request has its effect.
fn ended_if_ok(world: &World, answer: &Answer, id: u64, status: &str) -> Vec<String> {
    let found = world.status_of(id);
    if answer.code() == Some(0) && found != status {
        return vec![format!("acknowledged as {status}, but task_{id} is {found}")];
    }
    Vec::new()
}

/// The lock of a task, taken as a dispatcher takes it.
pub fn supervisor_lock(world: &World, id: u64) -> Stdio {
    let file =
        File::options().read(true).write(true).open(world.state.join(format!("run/{id}/supervisor.lock"))).unwrap();
    fs2::FileExt::try_lock_exclusive(&file).expect("nobody else has it");
    Stdio::from(file)
}
