//! The scenes of the sweep about lanes that give more than a place: values, a gate that remembers, shares of processors, and
//! several slots at once.

use super::harness::{Answer, World, oracle};
use super::sweep_scenes::{PLAIN, Scene, lanes_come_back};
use std::collections::BTreeSet;

/// Two tasks with a value and a job server each, in a lane whose gate was shut and opens.
pub const CAPACITY: Scene = Scene {
    name: "capacity",
    args: &["dispatch", "--once"],
    prepare: queue_two,
    follow: true,
    queued: 2,
    retries: 0,
    judge: nothing_is_given_twice,
    ..PLAIN
};

/// Two tasks of two slots each, in a lane that has three: one of them waits, and finds all its slots or none. A third task takes
/// one slot.
pub const SLOTS: Scene = Scene {
    name: "slots",
    args: &["dispatch", "--once"],
    prepare: queue_slots,
    follow: true,
    queued: 3,
    judge: all_slots_or_none,
    ..PLAIN
};

fn queue_slots(world: &World) {
    world.luzia(&["lanes", "set", "resource:s", "--values", "a,b,c"]).ok();
    for (user, count) in [("alice", "2"), ("bob", "2"), ("carol", "1")] {
        let text = "echo $1 $LUZIA_SLOT_S >>values";
        // Two of two slots exclude each other.
        let text =
            if count == "2" { format!("exec 7>>wide; flock -n 7 || echo \"V WHO\" >&8; {text}") } else { text.into() };
        world.enqueue(&["-u", user, "-l", "resource:s", "--slots", count], &oracle::script(world, user, &text));
    }
}

/// Each start had as many values as slots, and no lock is left.
fn all_slots_or_none(world: &World, answer: &Answer) -> Vec<String> {
    let mut wrong = lanes_come_back(world, answer);
    let given = std::fs::read_to_string(world.work.join("values")).unwrap_or_default();
    for line in given.lines() {
        let (user, values) = line.split_once(' ').unwrap_or((line, ""));
        let values: BTreeSet<&str> = values.split(',').filter(|value| ["a", "b", "c"].contains(value)).collect();
        if values.len() != if user == "carol" { 1 } else { 2 } {
            wrong.push(format!("a start was given {line:?}"));
        }
    }
    wrong
}

fn queue_two(world: &World) {
    let rules = ["--values", "a,b", "--cpu-budget", "3", "--hold-while", "load>999..998"];
    world.luzia(&[&["lanes", "set", "resource:r"][..], &rules].concat()).ok();
    for user in ["alice", "bob"] {
        let text = "echo $LUZIA_SLOT_R >>values; test -p ${CARGO_MAKEFLAGS##*fifo:} && echo x >>servers";
        world.enqueue(&["-u", user, "-l", "resource:r"], &oracle::script(world, user, text));
    }
    std::fs::write(world.state.join("locks/.resource_r.shut"), "").expect("a mark");
}

/// Each start had one of the values, and locks that are left have different ones.
fn nothing_is_given_twice(world: &World, _: &Answer) -> Vec<String> {
    let mut wrong = Vec::new();
    let given = std::fs::read_to_string(world.work.join("values")).unwrap_or_default();
    wrong.extend(given.lines().filter(|value| !["a", "b"].contains(value)).map(|value| format!("the value {value:?}")));
    let mut seen = BTreeSet::new();
    let entries = std::fs::read_dir(world.state.join("locks")).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().into_string().unwrap_or_default();
        if !name.starts_with("resource_r") || !name.ends_with(".json") || !entry.path().with_extension("lock").exists()
        {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let record: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if !seen.insert(record["value"].to_string()) {
            wrong.push(format!("{name} has the value of another lock: {record}"));
        }
        if record["cpus"].as_u64().is_none_or(|cpus| !(1..=3).contains(&cpus)) {
            wrong.push(format!("{name} has no share within the budget: {record}"));
        }
    }
    wrong
}
