//! What the error of a verb that changes a task or a lock must say, compared with what stands in the state directory. An
//! error that hides a change makes its reader ask for the change twice.

use super::harness::{Answer, World};
use serde_json::Value;

/// What stands in the state directory after an error and is not told by it.
pub fn untold(scene: &str, world: &World, answer: &Answer) -> Option<String> {
    let (stands, words): (bool, &[&str]) = match scene {
        "cancel" => (is_cancelled(world, 2), &["task_2"]),
        "cancel-running" => (is_cancelled(world, 1), &["task_1"]),
        "retry" => (is_queued_again(world, 1), &["task_1"]),
        "release" => (!world.state.join("locks/user_deploy.lock").exists(), &["released", "free"]),
        _ => return None,
    };
    let claims = ["is cancelled", "asked to end", "all the same", "released", "is free"];
    let is_told = words.iter().any(|word| answer.err.contains(word))
        && claims.iter().any(|claim| answer.err.contains(claim))
        && !answer.err.contains("the old state is intact");
    (stands && !is_told).then(|| format!("{scene} was carried out or asked for, and the error hides it: {answer:?}"))
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
    assert_eq!(untold("cancel-running", &world, &hidden), None, "nothing stands");
    std::fs::write(world.state.join("run/1/cancel.json"), "{}").unwrap();
    assert!(untold("cancel-running", &world, &hidden).is_some());
    let told = answer("luzia: task_1 was asked to end, but cannot sync \"run\"\n");
    assert_eq!(untold("cancel-running", &world, &told), None);
}
