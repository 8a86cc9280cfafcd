//! The sweep, of what counts events and of hooks.

use super::harness::oracle;
use super::harness::{Answer, World};
use luzia::os::Clock;
use luzia::os::real::RealClock;
use std::fmt::Write as _;

/// Events that the log holds besides those of luzia itself.
const FOREIGN: u64 = 16_000;

/// So many events that the next look writes the tally.
pub fn many_events(world: &World) {
    world.luzia(&["lock", "-u", "alice", "--", "true"]).ok();
    let now = RealClock.now();
    let mut text = String::new();
    for _ in 0..FOREIGN {
        writeln!(text, "{{\"v\":1,\"at\":\"{now}\",\"boot_ms\":1,\"event\":\"enqueued\",\"task\":\"task_1\"}}")
            .unwrap();
    }
    let path = world.state.join("events").join(format!("{}.jsonl", now.day()));
    let mut log = std::fs::read_to_string(&path).unwrap();
    log.push_str(&text);
    assert!(log.len() > 1_100_000, "more than is added without being written");
    std::fs::write(path, log).unwrap();
}

/// However a look was disturbed, the next ones count each event once.
pub fn all_are_counted_once(world: &World, _: &Answer) -> Vec<String> {
    let wanted = FOREIGN;
    let mut problems = Vec::new();
    for _ in 0..2 {
        let text = world.luzia(&["metrics"]).out;
        let line = text.lines().find(|line| line.starts_with("luzia_tasks_created_total"));
        let count = line.and_then(|line| line.rsplit(' ').next()).and_then(|count| count.parse::<u64>().ok());
        if count != Some(wanted) {
            problems.push(format!("{count:?} tasks were counted, and {wanted} were created"));
        }
    }
    if !world.state.join("spool/tally.json").exists() {
        problems.push("no tally was written".to_owned());
    }
    problems
}

pub fn one_hook(world: &World) {
    world.luzia(&["lock", "-u", "alice", "--", "true"]).ok();
    world.luzia(&["hook", "add", "alert", "--name", "old", "--", "true"]).ok();
}

/// The hooks are whole, with the new one where the verb said so.
pub fn hooks_are_old_or_new(world: &World, answer: &Answer) -> Vec<String> {
    let listed = world.luzia(&["hook", "list", "-o", "name"]);
    let is_told =
        answer.code() == Some(0) || answer.code().is_none() || answer.err.contains("only a power cut can undo it");
    let is_hidden = answer.err.is_empty() || answer.err.contains("was carried out");
    let is_good = match listed.out.as_str() {
        "old\nnew\n" => is_told || is_hidden,
        "old\n" => answer.code() != Some(0),
        _ => false,
    };
    if is_good { Vec::new() } else { vec![format!("the hooks are {listed:?} after {answer:?}")] }
}

pub fn hooks_of_a_task(world: &World) {
    world.luzia(&["hook", "add", "before", "--", "sh", "-c", "echo before >>order"]).ok();
    world.luzia(&["hook", "add", "after", "--", "sh", "-c", "echo after >>order"]).ok();
    world.luzia(&["hook", "add", "task.finished", "--", "sh", "-c", "echo finished >>order"]).ok();
    let script = oracle::script(world, "alice", "echo command >>order || exit 7");
    world.enqueue(&["-u", "alice"], &script);
}

/// No command without its `before`, and no `after` without the command; a kill may take each away, and repeats none.
pub fn before_comes_before(world: &World, _: &Answer) -> Vec<String> {
    let text = std::fs::read_to_string(world.work.join("order")).unwrap_or_default();
    let steps: Vec<&str> = text.lines().collect();
    let whole = ["before", "command", "after", "finished"];
    let mut rest = whole.iter();
    let is_in_order = steps.iter().all(|step| rest.any(|one| one == step));
    let needs = |later: &str, earlier: &str| !steps.contains(&later) || steps.contains(&earlier);
    // The write of the command itself may be struck: then it has failed, and says so.
    let is_said = world.status_of(1) != "completed" || needs("after", "command");
    if is_in_order && needs("command", "before") && is_said {
        return Vec::new();
    }
    vec![format!("the order is {steps:?}")]
}
