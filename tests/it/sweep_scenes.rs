//! The scenes of the sweep: a prepared state directory, a verb, and what must be so after it and a recovery.

use super::harness::oracle::{self, Deed};
use super::harness::procs::{KILL, of_world, signal};
use super::harness::{Answer, World, run, strace, until};
use super::support::queue;
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
    /// What else must be so.
    pub judge: fn(&World, &Answer) -> Vec<String>,
}

const PLAIN: Scene = Scene {
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
    judge: |_, _| Vec::new(),
};

const ENQUEUE: Scene = Scene { prints_ids: true, ..PLAIN };
const LEASE: Scene = Scene { leases_may_live: true, judge: lease_can_be_released, ..PLAIN };

pub const SCENES: [Scene; 26] = [
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
    Scene { name: "acquire-stale", args: &["acquire", "deploy", "--task", "me"], prepare: expire_lease, ..LEASE },
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
    Scene { name: "retry", args: &["retry", "1"], prepare: finish_one, queued: 2, retries: 1, ..PLAIN },
];

fn queue_none(world: &World) {
    world.luzia(&["list"]).ok();
    world.luzia(&["lock", "-u", "alice", "--", "true"]).ok();
}

fn queue_three(world: &World) {
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Quick));
    world.enqueue(&["-u", "bob", "--key", "old"], &oracle::command(world, "bob", Deed::Quick));
    world.enqueue(&["-u", "alice", "--thread", "7"], &oracle::command(world, "alice", Deed::Fail));
    let line = |user: &str| format!("{{\"user\":\"{user}\",\"command\":[\"true\"]}}\n");
    // One by itself, two whose folder is there already, two that bring theirs.
    let many = ["alice", "bob", "carol", "bob", "carol"].map(line);
    std::fs::write(world.work.join("many.jsonl"), many.concat()).unwrap();
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
fn claim_one(world: &World) {
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
    world.enqueue(&["-u", "alice", "--thread", "7"], &oracle::script(world, "alice", "echo >ready.alice; sleep 600"));
    world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Quick));
    world.luzia(&["dispatch", "--once"]).ok();
    world.await_file("ready.alice");
    signal(world, world.supervisor_of(1), KILL);
    until("all are dead", || {
        of_world(world).iter().for_each(|process| process.signal(KILL));
        of_world(world).is_empty().then_some(())
    });
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
