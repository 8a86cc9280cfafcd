//! What the hot verbs cost, counted in system calls and not in time: `budget.txt` is what they may cost, exactly, so that
//! a change that makes one dearer or cheaper shows. `UPDATE_BUDGET=1` writes the file anew. And what must not grow with
//! the backlog does not: the same verb costs the same with many waiting tasks as with few.

use crate::harness::strace;
use crate::support::{LUZIA, Place, processes_in, skip, until};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

/// What memory management, the start of any program and waiting for a child cost is not counted; nor is what a build with
/// debug assertions asks before it closes a descriptor.
const NOT_COUNTED: &str = "!brk,mmap,munmap,mremap,mprotect,madvise,execve,exit_group,rt_sigaction,rt_sigprocmask,\
                           sigaltstack,getrandom,futex,rseq,set_robust_list,set_tid_address,arch_prctl,prlimit64,\
                           fcntl,poll,ppoll,waitid,wait4,sendto,recvfrom,rt_sigreturn";
const SYNCS: [&str; 3] = ["fsync(", "fdatasync(", "syncfs("];
const CHANGES: [&str; 6] = ["rename", "mkdir", "unlink", "write(", "pwrite", "O_CREAT"];

/// The system calls of one run of luzia.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cost {
    /// From the first look at the state directory to the end.
    all: usize,
    /// Those that change something.
    changes: usize,
    /// Those that wait for the disk.
    syncs: usize,
}

/// What of the caller's surroundings changes a count: the directories in which a command is looked for, and whether the
/// mode of a new file has to be set.
const SAME_EVERYWHERE: &str = "umask 022 && exec strace -E PATH=/bin:/usr/bin \"$@\"";

/// Runs luzia under strace, which must succeed, and gives the trace.
fn traced(place: &Place, options: &[&str], calls: &str, args: &[&str]) -> String {
    let luzia = place.command(args);
    let log = place.path("trace");
    let mut strace = Command::new("sh");
    strace.args(["-c", SAME_EVERYWHERE, "strace"]).args(options);
    strace.args(["-qq", "-e", &format!("trace={calls}"), "-e", "signal=none", "-o"]).arg(&log).arg("--");
    strace.arg(luzia.get_program()).args(args).env_clear().current_dir(place.path("work"));
    strace.envs(luzia.get_envs().filter_map(|(key, value)| Some((key, value?))));
    strace.stdin(Stdio::null());
    place.spawn(&mut strace).end().coded(0);
    std::fs::read_to_string(&log).unwrap()
}

/// What one run of luzia costs; the processes it starts are not counted.
fn cost(place: &Place, args: &[&str]) -> Cost {
    let trace = traced(place, &[], NOT_COUNTED, args);
    let state = place.state();
    let lines = trace.lines().skip_while(|line| !line.contains(state.to_str().unwrap()));
    let lines = without_control_groups(lines);
    assert!(!lines.is_empty(), "{args:?} looks at its state directory");
    let count = |words: &[&str]| lines.iter().filter(|line| words.iter().any(|word| line.contains(word))).count();
    Cost { all: lines.len(), changes: count(&CHANGES), syncs: count(&SYNCS) }
}

/// Hosts have control groups of different depths, and luzia reads a file or two for each level.
fn without_control_groups<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut reads = false;
    let is_counted = |line: &&str| {
        let is_begun = line.contains("open") && line.contains("cgroup") && !line.contains("/ns/");
        let was_reading = std::mem::replace(&mut reads, is_begun && !line.contains("ENOENT"));
        if was_reading && !is_begun {
            // It reads, and closes, at once.
            reads = !line.starts_with("close(");
            return false;
        }
        !is_begun
    };
    lines.filter(is_counted).collect()
}

fn has_strace(test: &str) -> bool {
    let works = strace::is_available();
    if !works {
        skip(test, "strace(1) and the right to trace");
    }
    works
}

/// What a budget says; with `UPDATE_BUDGET=1`, from now on, what was found.
fn budget_of(path: &str, found: &str) -> String {
    if std::env::var_os("UPDATE_BUDGET").is_some() {
        std::fs::write(path, found).unwrap();
    }
    std::fs::read_to_string(path).unwrap_or_default()
}

/// `count` tasks of `users` users, by one batch.
fn fill(place: &Place, count: usize, users: usize) {
    let mut lines = String::new();
    for at in 0..count {
        writeln!(lines, "{{\"user\":\"u{}\",\"command\":[\"true\"]}}", at % users).unwrap();
    }
    std::fs::write(place.path("many.jsonl"), lines).unwrap();
    place.ok(&["enqueue", "--from", &place.text("many.jsonl")]);
}

/// A place in which one user's lane is held, and is `depth` tasks deep. What a pass writes once, and the guard of another
/// lane, are there.
fn deep(depth: usize) -> Place {
    let place = Place::new();
    place.ok(&["acquire", "u0", "--task", "me", "--ttl", "1h"]);
    fill(&place, depth, 1);
    place.ok(&["dispatch"]);
    place.ok(&["lock", "-u", "bob", "--", "sleep", "0.2"]);
    place
}

const ENQUEUE: [&str; 5] = ["enqueue", "-u", "alice", "--", "true"];

#[test]
fn the_hot_verbs_cost_what_the_budget_says() {
    if !has_strace("the_hot_verbs_cost_what_the_budget_says") {
        return;
    }
    let place = Place::new();
    place.ok(&["lock", "-u", "bob", "--", "sleep", "0.2"]);
    let mut found = String::from("# verb: system calls, those that change something, those that wait for the disk\n");
    for (name, args) in [
        ("enqueue into a new lane", &ENQUEUE[..]),
        ("enqueue into a lane", &ENQUEUE),
        ("acquire", &["acquire", "deploy", "--task", "me", "--ttl", "1h"]),
        ("acquire again", &["acquire", "deploy", "--task", "me", "--ttl", "1h"]),
        ("check of a free lane", &["check", "bob"]),
        ("release", &["release", "deploy", "me"]),
        ("lock", &["lock", "-u", "bob", "--", "sleep", "0.2"]),
    ] {
        let Cost { all, changes, syncs } = cost(&place, args);
        writeln!(found, "{name}: {all} {changes} {syncs}").unwrap();
    }
    place.drain();
    until("the supervisors have made their last pass", || processes_in(&place.state()).is_empty().then_some(()));
    let Cost { all, changes, syncs } = cost(&place, &["dispatch", "--once"]);
    writeln!(found, "dispatch of nothing: {all} {changes} {syncs}").unwrap();
    let Cost { all, changes, syncs } = cost(&place, &ENQUEUE);
    writeln!(found, "enqueue into an idle lane: {all} {changes} {syncs}").unwrap();
    add_looks_at_many(&mut found);
    let budget = budget_of(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/budget.txt"), &found);
    assert_eq!(found, budget, "UPDATE_BUDGET=1 writes tests/it/budget.txt anew, if this is meant");
}

/// Adds what looks at 400 tasks of 100 users cost, and the batch that queues so many.
fn add_looks_at_many(found: &mut String) {
    let place = Place::new();
    fill(&place, 400, 100);
    for (name, args) in [
        ("list", &["list"][..]),
        ("list -n 50", &["list", "-n", "50"]),
        ("list --json", &["list", "--json"]),
        ("status", &["status"]),
        ("explain of a task", &["explain", "task_7"]),
        ("explain of a user", &["explain", "u7"]),
        ("emit to 4", &["emit", "response", "-u", "u7"]),
        ("enqueue --from", &["enqueue", "--from", &place.text("many.jsonl")]),
    ] {
        let Cost { all, changes, syncs } = cost(&place, args);
        writeln!(found, "400 tasks of 100 users, {name}: {all} {changes} {syncs}").unwrap();
    }
}

/// The page faults of one run of luzia that ends with `code`, as the kernel counted them until its end (proc_pid_stat(5)).
fn faults(place: &Place, program: &File, args: &[&str], code: i32) -> u64 {
    let as_usual = place.command(args);
    let mut command = Command::new(format!("/proc/{}/fd/{}", std::process::id(), program.as_raw_fd()));
    command.args(args).env_clear().current_dir(place.path("work"));
    command.envs(as_usual.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // It ends, and stays to be asked until `wait`.
    waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?}");
    // The name of the program, in parentheses, is the second field; the minor faults are the tenth.
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(7).unwrap().parse().unwrap()
}

/// Page faults are most of what a short command costs, and grow with the program. A copy in memory is measured, where the kernel
/// maps 16 pages by one fault: of a file on a disk it maps up to 512, as its cache happens to have them. The numbers differ a
/// little between hosts: a fifth beyond the budget fails, and so do three tenths below it, because the budget is no longer true
/// then.
#[test]
fn short_commands_touch_as_few_pages_as_the_budget_says() {
    let place = Place::new();
    let mut program = File::from(memfd_create("program", MemfdFlags::empty()).unwrap());
    std::io::copy(&mut File::open(LUZIA).unwrap(), &mut program).unwrap();
    place.ok(&["lock", "-u", "bob", "--", "true"]);
    place.ok(&ENQUEUE);
    let mut found = String::from("# verb: page faults of the program that the tests use\n");
    for (name, args, code) in [
        ("enqueue into a lane", &ENQUEUE[..], 0),
        ("lock", &["lock", "-u", "bob", "--", "true"], 0),
        ("check of a free lane", &["check", "bob"], 0),
        ("list", &["list"], 0),
        ("status", &["status"], 0),
        ("explain", &["explain", "1"], 0),
        ("show of no task", &["show", "999"], 66),
        ("dispatch --help", &["dispatch", "--help"], 0),
        ("--version", &["--version"], 0),
    ] {
        let least = (0..5).map(|_| faults(&place, &program, args, code)).min().unwrap();
        writeln!(found, "{name}: {least}").unwrap();
    }
    let budget = budget_of(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/faults.txt"), &found);
    let numbers =
        |text: &str| -> Vec<f64> { text.lines().filter_map(|line| line.rsplit_once(": ")?.1.parse().ok()).collect() };
    let (found_each, budget_each) = (numbers(&found), numbers(&budget));
    assert_eq!(found_each.len(), budget_each.len(), "UPDATE_BUDGET=1 writes tests/it/faults.txt anew");
    let is_true = |(found, budget): (&f64, &f64)| (budget * 0.7..=budget * 1.2).contains(found);
    assert!(
        found_each.iter().zip(&budget_each).all(is_true),
        "{found}\nand not\n{budget}\nUPDATE_BUDGET=1 writes tests/it/faults.txt anew, if this is meant"
    );
}

#[test]
fn a_task_waits_for_the_disk_three_times_from_its_claim_to_its_end() {
    if !has_strace("a_task_waits_for_the_disk_three_times_from_its_claim_to_its_end") {
        return;
    }
    let place = Place::new();
    place.ok(&["run", "-u", "alice", "--", "true"]);
    place.ok(&ENQUEUE);
    let trace = traced(&place, &["-f", "-y"], "fsync,fdatasync,syncfs", &["dispatch", "--drain"]);
    let synced: Vec<&str> =
        trace.lines().filter_map(|line| line.split_once("/state/")?.1.split_once('>').map(|(path, _)| path)).collect();
    let expected = ["spool/running/2.started.json", "spool/running", "spool/running/2.result.json"];
    assert_eq!(synced, expected, "{trace}");
}

#[test]
fn a_start_asks_once_and_an_end_twice_for_what_a_task_remembers() {
    if !has_strace("a_start_asks_once_and_an_end_twice_for_what_a_task_remembers") {
        return;
    }
    let place = Place::new();
    place.ok(&["run", "-u", "alice", "--", "true"]);
    place.ok(&ENQUEUE);
    let trace = traced(&place, &["-f", "-y"], "%file", &["dispatch", "--once"]);
    let asked = trace.lines().filter(|line| line.contains("spool/steps")).count();
    // The end asks for leases, too.
    assert_eq!(asked, 3, "{trace}");
}

#[test]
fn no_hot_verb_costs_more_with_a_deep_queue() {
    if !has_strace("no_hot_verb_costs_more_with_a_deep_queue") {
        return;
    }
    let costs = [1, 5000].map(|depth| {
        let place = deep(depth);
        let dispatch = cost(&place, &["dispatch", "--once"]);
        let lock = cost(&place, &["lock", "-u", "bob", "--", "sleep", "0.2"]);
        let enqueue = cost(&place, &ENQUEUE);
        (dispatch, lock, enqueue)
    });
    assert_eq!(costs[0], costs[1]);
}

#[test]
fn paused_tasks_cost_the_others_nothing_however_many_they_are() {
    if !has_strace("paused_tasks_cost_the_others_nothing_however_many_they_are") {
        return;
    }
    let costs = [(1, 1), (3_000, 60)].map(|(of_user, by_themselves)| {
        let place = Place::new();
        place.ok(&["lock", "-u", "bob", "--", "sleep", "0.2"]);
        place.ok(&["pause", "-u", "u0"]);
        fill(&place, of_user, 1);
        let held = "{\"user\":\"u1\",\"hold\":true,\"command\":[\"true\"]}\n".repeat(by_themselves);
        std::fs::write(place.path("held.jsonl"), held).unwrap();
        place.ok(&["enqueue", "--from", &place.text("held.jsonl")]);
        place.ok(&ENQUEUE);
        place.drain();
        until("the supervisors have made their last pass", || processes_in(&place.state()).is_empty().then_some(()));
        let dispatch = cost(&place, &["dispatch", "--once"]);
        let enqueue = cost(&place, &ENQUEUE);
        (dispatch, enqueue, cost(&place, &["lock", "-u", "bob", "--", "sleep", "0.2"]))
    });
    assert_eq!(costs[0], costs[1]);
}

#[test]
fn a_pass_costs_the_same_with_one_schedule_and_with_many() {
    if !has_strace("a_pass_costs_the_same_with_one_schedule_and_with_many") {
        return;
    }
    let costs = [1, 40].map(|count| {
        let place = Place::new();
        place.ok(&["lock", "-u", "bob", "--", "sleep", "0.2"]);
        for number in 0..count {
            let line = format!("{} {} 1 1 *", number, number % 24);
            place.ok(&["cron", "add", &format!("s{number}"), &line, "--tz", "UTC", "-u", "a", "--", "true"]);
        }
        place.ok(&["dispatch", "--once"]);
        cost(&place, &["dispatch", "--once"])
    });
    assert_eq!(costs[0], costs[1]);
}

/// A place in which many users wait for one lane, which is held.
fn full(users: usize) -> Place {
    let place = Place::new();
    place.ok(&["acquire", "lane:cron", "--task", "me", "--ttl", "1h"]);
    let line = |user| format!("{{\"user\":\"u{user}\",\"lanes\":[\"cron\"],\"command\":[\"true\"]}}\n");
    std::fs::write(place.path("many.jsonl"), (0..users).map(line).collect::<String>()).unwrap();
    place.ok(&["enqueue", "--from", &place.text("many.jsonl")]);
    place
}

#[test]
fn a_look_at_a_full_lane_costs_a_few_calls_for_each_user_in_it() {
    if !has_strace("a_look_at_a_full_lane_costs_a_few_calls_for_each_user_in_it") {
        return;
    }
    let looks: [&[&str]; 3] = [&["status"], &["list", "-n", "5"], &["explain", "task_1"]];
    let costs = [100, 200].map(|users| {
        let place = full(users);
        looks.map(|args| cost(&place, args).all)
    });
    // For each user: a list of folders costs four calls, and a name that is looked for in all folders two. The next pass is
    // followed until it comes to the task, which costs nine. `explain` reads all that waits once more, for its estimate.
    let most = [4 + 9, 4, 2 + 4 + 9 + 9].map(|calls| 100 * calls + 20);
    assert!((0..looks.len()).all(|at| costs[1][at] - costs[0][at] <= most[at]), "{costs:?}");
}

#[test]
fn users_who_wait_for_one_full_lane_are_only_looked_at() {
    if !has_strace("users_who_wait_for_one_full_lane_are_only_looked_at") {
        return;
    }
    let costs = [100, 200].map(|users| {
        let place = full(users);
        place.ok(&["dispatch", "--once"]);
        cost(&place, &["dispatch", "--once"])
    });
    let [few, many] = costs;
    assert_eq!(few.changes, many.changes, "nothing is claimed in vain");
    assert!(many.all - few.all <= 100 * 20, "{costs:?}");
}

#[test]
fn the_first_tasks_of_a_long_list_cost_no_more_than_those_of_a_short_one() {
    if !has_strace("the_first_tasks_of_a_long_list_cost_no_more_than_those_of_a_short_one") {
        return;
    }
    let costs = [1000, 6000].map(|depth| {
        let place = Place::new();
        place.ok(&["acquire", "u0", "--task", "me", "--ttl", "1h"]);
        fill(&place, depth, 1);
        cost(&place, &["list", "-n", "5", "-o", "name"]).all
    });
    assert!(costs[1] <= costs[0] + 4, "{costs:?}");
}

#[test]
fn a_list_looks_at_each_task_once_however_many_users_there_are() {
    if !has_strace("a_list_looks_at_each_task_once_however_many_users_there_are") {
        return;
    }
    let costs = [10, 200].map(|users| {
        let place = Place::new();
        fill(&place, 400, users);
        cost(&place, &["list"]).all
    });
    // Each user has a folder, which is listed; each task has a record. To look for each task in each folder took 80,000 calls.
    assert!(costs[1] <= costs[0] + 200 * 40, "{costs:?}");
}

#[test]
fn the_end_of_a_task_without_heirs_looks_at_no_other_process() {
    if !has_strace("the_end_of_a_task_without_heirs_looks_at_no_other_process") {
        return;
    }
    let place = Place::new();
    let trace = traced(&place, &["-f"], "open,openat", &["run", "-u", "alice", "--", "sleep", "0.2"]);
    let others: std::collections::BTreeSet<&str> = trace
        .lines()
        .filter_map(|line| line.split_once("\"/proc/")?.1.split_once("/stat\"").map(|(pid, _)| pid))
        .collect();
    // The client, the supervisor and the command look at themselves and each other; a host has many more processes.
    assert!(others.len() <= 4, "{others:?}");
}
