//! What the error of a verb that changes a task or a lock must say, compared with what stands in the state directory. An
//! error that hides a change makes its reader ask for the change twice.

use super::harness::{Answer, World};
use serde_json::Value;

/// What stands in the state directory after an error and is not told by it. The tasks 1 to `queued` were queued before.
pub fn untold(scene: &str, queued: u64, world: &World, answer: &Answer) -> Option<String> {
    if scene == "dispatch" || scene == "dispatch-deep" {
        return untold_start(queued, world, answer);
    }
    let (stands, words): (bool, &[&str]) = match scene {
        "cancel" => (is_cancelled(world, 2), &["task_2"]),
        "cancel-running" => (is_cancelled(world, 1), &["task_1"]),
        "retry" => (is_queued_again(world, 1), &["task_1"]),
        "release" => (!world.state.join("locks/user_deploy.lock").exists(), &["released", "free"]),
        "cleanup-lease" => (!world.state.join("locks/user_deploy.lock").exists(), &["deploy"]),
        _ => return None,
    };
    let claims = [
        "is cancelled",
        "asked to end",
        "all the same",
        "is queued again",
        "released",
        "is free",
        "was freed",
        "its lease has run out",
    ];
    let is_told = words.iter().any(|word| answer.err.contains(word))
        && claims.iter().any(|claim| answer.err.contains(claim))
        && !answer.err.contains("the old state is intact");
    (stands && !is_told).then(|| format!("{scene} was carried out or asked for, and the error hides it: {answer:?}"))
}

/// A task that a dispatcher has started and does not name.
fn untold_start(queued: u64, world: &World, answer: &Answer) -> Option<String> {
    let has_started = |id: &u64| world.state.join(format!("spool/running/{id}.started.json")).exists();
    let is_told = |id: &u64| {
        let name = format!("task_{id}");
        answer.out.lines().any(|line| line == name) || answer.err.contains(&name)
    };
    let id = (1..=queued).find(|id| has_started(id) && !is_told(id))?;
    Some(format!("task_{id} was started, and the error hides it: {answer:?}"))
}

/// Whether a record, a result or a request says that a task is to end, or has ended, by a cancel.
fn is_cancelled(world: &World, id: u64) -> bool {
    let is = |status: Option<Value>| status.is_some_and(|status| status == "cancelled");
    is(result_status(world, id)) || world.state.join(format!("run/{id}/cancel.json")).exists() || in_done(world, id, is)
}

/// Whether a task that was over stands in the queue, or has a result that queues it.
fn is_queued_again(world: &World, id: u64) -> bool {
    result_status(world, id).is_some_and(|status| status == "pending") || !in_done(world, id, |_| true)
}

fn in_done(world: &World, id: u64, is: impl Fn(Option<Value>) -> bool) -> bool {
    let name = format!("{id}.json");
    let paths = super::harness::files_below(&world.state.join("spool/done"));
    paths.iter().any(|path| path.file_name().is_some_and(|found| *found == *name) && is(status(path)))
}

fn result_status(world: &World, id: u64) -> Option<Value> {
    status(&world.state.join(format!("spool/running/{id}.result.json")))
}

fn status(path: &std::path::Path) -> Option<Value> {
    let record: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    record.get("status").cloned()
}

#[test]
fn an_error_that_hides_a_cancel_is_found() {
    use std::os::unix::process::ExitStatusExt;
    let world = World::new("sweep-words");
    std::fs::create_dir_all(world.state.join("run/1")).unwrap();
    let answer = |err: &str| Answer {
        status: std::process::ExitStatus::from_raw(74 << 8),
        out: String::new(),
        err: err.to_owned(),
    };
    let hidden = answer("luzia: cannot sync \"run\"\nhint: the old state is intact\n");
    assert_eq!(untold("cancel-running", 1, &world, &hidden), None, "nothing stands");
    std::fs::write(world.state.join("run/1/cancel.json"), "{}").unwrap();
    assert!(untold("cancel-running", 1, &world, &hidden).is_some());
    let told = answer("luzia: task_1 was asked to end, but cannot sync \"run\"\n");
    assert_eq!(untold("cancel-running", 1, &world, &told), None);
}
