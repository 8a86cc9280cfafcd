//! Instructions that the hot verbs execute in their own process, counted by callgrind(1), which shows every program the
//! same processor: two runs differ by a few hundred of millions. Another compiler or C library may differ by more, so a
//! count may be off by a tenth. The kernel's work is not in it; that is what the system calls are counted for.

use super::{ENQUEUE, budget_of, deep};
use crate::support::{LUZIA, Place, is_static, skip};
use std::process::Command;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/budget/instructions.txt");
/// By how many parts of a hundred a count may differ from its budget.
const TOLERANCE: u64 = 10;

/// The instructions of one run of luzia, which must succeed.
fn instructions(place: &Place, args: &[&str]) -> u64 {
    let luzia = place.command(args);
    let log = place.path("valgrind");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(format!("--log-file={}", log.display())).arg(luzia.get_program()).args(args);
    valgrind.env_clear().current_dir(place.path("work")).stdin(std::process::Stdio::null());
    valgrind.envs(luzia.get_envs().filter_map(|(key, value)| Some((key, value?))));
    // What luzia keeps of its surroundings, and where it looks for a command.
    valgrind.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    place.spawn(&mut valgrind).end().coded(0);
    let log = std::fs::read_to_string(log).unwrap();
    let count = log.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count);
    count.unwrap_or_else(|| panic!("no count in {log}")).trim().parse().unwrap()
}

fn has_valgrind(test: &str) -> bool {
    let works = Command::new("valgrind").args(["-q", "--tool=none", "true"]).status();
    let works = works.is_ok_and(|status| status.success());
    if !works {
        skip(test, "valgrind(1)");
    }
    works
}

#[test]
fn the_hot_verbs_execute_what_the_budget_says() {
    if !has_valgrind("the_hot_verbs_execute_what_the_budget_says") {
        return;
    }
    if !is_static(LUZIA) {
        return skip(
            "the_hot_verbs_execute_what_the_budget_says",
            "a static binary: the loader's work is not budgeted",
        );
    }
    let place = Place::new();
    place.ok(&["lock", "-u", "bob", "--", "true"]);
    place.ok(&ENQUEUE);
    let found = [
        ("--version", &["--version"][..]),
        ("enqueue", &ENQUEUE),
        ("acquire", &["acquire", "deploy", "--task", "me", "--ttl", "1h"]),
        ("check", &["check", "bob"]),
        ("release", &["release", "deploy", "me"]),
        ("explain", &["explain", "1"]),
    ]
    .map(|(name, args)| (name, instructions(&place, args) / 1000));
    let lines: String = found.iter().map(|(name, count)| format!("{name}: {count}\n")).collect();
    let budget = budget_of(PATH, &format!("# verb: thousands of instructions of a build for tests\n{lines}"));
    let budget: Vec<&str> = budget.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(found.len(), budget.len());
    for ((name, count), line) in found.into_iter().zip(budget) {
        let allowed = line.strip_prefix(&format!("{name}: ")).and_then(|text| text.parse::<u64>().ok());
        let is_near = allowed.is_some_and(|allowed| count.abs_diff(allowed) * 100 <= allowed * TOLERANCE);
        assert!(is_near, "{name}: {count} thousand, not {line}; UPDATE_BUDGET=1 writes {PATH} anew, if this is meant");
    }
}

#[test]
fn no_hot_verb_executes_more_with_a_deep_queue() {
    if !has_valgrind("no_hot_verb_executes_more_with_a_deep_queue") {
        return;
    }
    // Two segments, and twenty.
    let counts = [2_000, 20_000].map(|depth| {
        let place = deep(depth);
        place.ok(&ENQUEUE);
        [&["dispatch", "--once"][..], &["check", "bob"], &["acquire", "bob", "--task", "me", "--ttl", "1h"], &ENQUEUE]
            .map(|args| (args.to_vec(), instructions(&place, args)))
    });
    for ((args, few), (_, many)) in counts[0].iter().zip(&counts[1]) {
        assert!(few.abs_diff(*many) * 100 <= *few, "{args:?}: {few}, {many}");
    }
}
