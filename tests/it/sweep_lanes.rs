//! The sweep, of rules of lanes.

use super::harness::{Answer, World};
use super::sweep_scenes::{PLAIN, Scene};

/// A lane that may be granted twice an hour, and was granted once.
pub fn rated_lane(world: &World) {
    world.luzia(&["lanes", "set", "user:deploy", "--rate", "2/1h"]).ok();
    world.luzia(&["acquire", "deploy", "--task", "first"]).ok();
    world.luzia(&["release", "deploy", "first"]).ok();
}

/// A caller that was told of the second grant got the last one; and a grant that was not told of may be counted, but none twice.
pub fn grant_is_counted(world: &World, answer: &Answer) -> Vec<String> {
    world.luzia(&["release", "deploy", "--force", "--yes"]);
    let text = std::fs::read_to_string(world.state.join("spool/rates/user_deploy")).unwrap_or_default();
    let count = text.strip_prefix("luzia-rate 1\n").map(|grants| grants.lines().count());
    let is_free = world.luzia(&["check", "deploy"]).code() == Some(0);
    match (answer.code(), count, is_free) {
        (Some(0), Some(2), false) => Vec::new(),
        (code, Some(1), true) | (code, Some(2), false) if code != Some(0) => Vec::new(),
        other => vec![format!("the grants are not counted: {other:?} {text}")],
    }
}

/// A pass meets a task that has waited for as long as its lane says.
pub const WARNS: Scene = Scene {
    name: "dispatch-warns",
    args: &["dispatch", "--once"],
    prepare: queue_in_a_lane_that_tells,
    begin: Some(|world| drop(world.luzia(&["acquire", "lane:build", "--task", "me", "--ttl", "1500ms"]).ok())),
    queued: 1,
    leases_may_live: true,
    judge: is_told_once,
    ..PLAIN
};

fn queue_in_a_lane_that_tells(world: &World) {
    let command = format!("echo told >>{}", world.work.join("told").display());
    world.luzia(&["lanes", "set", "build", "--warn-after", "1ms", "--on-wait", &command]).ok();
    world.enqueue(&["-u", "alice", "-l", "build"], &["true".to_owned()]);
}

/// Whatever became of the pass, the wait is told once at most, in all further passes and at the claim.
fn is_told_once(world: &World, _: &Answer) -> Vec<String> {
    world.luzia(&["dispatch", "--drain"]);
    let events = world.luzia(&["events", "-o", "jsonl", "--kind", "wait_warning"]).out;
    let runs = std::fs::read_to_string(world.work.join("told")).unwrap_or_default();
    let counts = (events.lines().count(), runs.lines().count());
    if counts.0 > 1 || counts.1 > 1 { vec![format!("told and run {counts:?}: {events}")] } else { Vec::new() }
}

/// A lease of two lanes, of which the caller has one.
pub const ACQUIRE_TWO: Scene = Scene {
    name: "acquire-two",
    args: &["acquire", "-l", "new", "-l", "had", "-l", "also-new", "--task", "me", "--ttl", "1h"],
    prepare: |world| drop(world.luzia(&["acquire", "lane:had", "--task", "me", "--ttl", "1h"]).ok()),
    leases_may_live: true,
    judge: both_or_none,
    ..PLAIN
};

/// A command under two lanes.
pub const LOCK_TWO: Scene = Scene {
    name: "lock-two",
    args: &["lock", "-u", "alice", "-l", "build", "--", "true"],
    prepare: |world| drop(world.luzia(&["lanes", "set", "build", "--max", "1"]).ok()),
    judge: both_are_free,
    ..PLAIN
};

/// `acquire` holds both new lanes or neither, even if it was killed, and still holds the earlier lane. All can be released.
fn both_or_none(world: &World, answer: &Answer) -> Vec<String> {
    let is_held = |lane: &str| world.luzia(&["check", lane]).code() == Some(75);
    let [new, had, also_new] = ["lane:new", "lane:had", "lane:also-new"].map(is_held);
    let is_right = had
        && match answer.code() {
            Some(0) => new && also_new,
            Some(_) | None => new == also_new,
        };
    let mut problems = Vec::new();
    if !is_right {
        problems.push(format!("held are new: {new}, had: {had}, also-new: {also_new} after {answer:?}"));
    }
    world.luzia(&["release", "-l", "new", "-l", "had", "-l", "also-new", "me"]).ok();
    if ["lane:new", "lane:had", "lane:also-new"].into_iter().any(is_held) {
        problems.push("a lane cannot be released".to_owned());
    }
    problems
}

fn both_are_free(world: &World, answer: &Answer) -> Vec<String> {
    let taken = world.luzia(&["lock", "-n", "-l", "build", "-u", "alice", "--", "true"]);
    if taken.code() == Some(0) { Vec::new() } else { vec![format!("not free after {answer:?}: {taken:?}")] }
}
