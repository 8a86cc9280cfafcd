//! Many processes that wait for one thing, and files that a foreign process keeps locked.

use super::support::*;
use rustix::process::Signal;
use std::fs::File;
use std::time::Duration;

fn held(place: &Place, name: &str) -> File {
    let file = File::options().write(true).create(true).truncate(false).open(place.state().join(name)).unwrap();
    fs2::FileExt::lock_exclusive(&file).unwrap();
    file
}

/// The user and system time of a process, in clock ticks of 10 ms.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().skip(11).take(2).filter_map(|number| number.parse::<u64>().ok()).sum()
}

fn until_pending(place: &Place, count: usize) {
    until("runs are queued", || {
        let listed = place.json(&["list", "-a", "--state", "pending"]);
        (listed["items"].as_array()?.len() == count).then_some(())
    });
}

#[test]
fn enqueue_names_the_file_and_the_process_that_keeps_the_sequence_locked() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    let sequence = held(&place, "spool/sequence");
    let enqueue = place.start(&["enqueue", "-u", "alice", "--", "true"]);
    std::thread::sleep(Duration::from_secs(4));
    let used = ticks(enqueue.pid());
    let ran = enqueue.end();
    assert_eq!(ran.code, 75, "{}", ran.err);
    assert!(ran.err.contains("spool/sequence"), "{}", ran.err);
    assert!(ran.err.contains(&format!("process {}", std::process::id())), "{}", ran.err);
    assert!(used < 30, "{used} ticks of 10 ms in four seconds");
    drop(sequence);
    assert_eq!(place.enqueue(&["-u", "alice", "--", "true"]), "task_2");
}

#[test]
fn lock_without_a_limit_outlasts_a_guard_that_stays_locked() {
    let place = Place::new();
    place.ok(&["lock", "-u", "alice", "--", "true"]);
    let guards: Vec<File> = std::fs::read_dir(place.lock(".guard"))
        .unwrap()
        .map(|entry| held(&place, &format!("locks/.guard/{}", entry.unwrap().file_name().to_str().unwrap())))
        .collect();
    assert!(!guards.is_empty());
    let lock = place.start(&["lock", "-u", "alice", "--", "true"]);
    std::thread::sleep(Duration::from_secs(7));
    drop(guards);
    let ran = lock.end();
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn an_accepted_run_outlasts_a_guard_that_stays_locked() {
    let place = Place::new();
    place.ok(&["run", "-u", "alice", "--", "true"]);
    let guards: Vec<File> = std::fs::read_dir(place.lock(".guard"))
        .unwrap()
        .map(|entry| held(&place, &format!("locks/.guard/{}", entry.unwrap().file_name().to_str().unwrap())))
        .collect();
    let run = place.start(&["run", "-u", "alice", "--", "true"]);
    std::thread::sleep(Duration::from_secs(12));
    drop(guards);
    let ran = run.end();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.status("2"), "completed");
}

#[test]
fn of_many_waiting_runs_one_makes_the_passes() {
    const RUNS: usize = 24;
    let place = Place::new();
    let gate = place.gate("gate");
    place.enqueue(&["-u", "alice", "--shell", &format!("cat {gate}")]);
    place.ok(&["dispatch"]);
    let runs: Vec<Running> = (0..RUNS).map(|_| place.start(&["run", "-u", "alice", "--", "true"])).collect();
    until_pending(&place, RUNS);
    std::thread::sleep(Duration::from_secs(3));
    let before: u64 = runs.iter().map(|run| ticks(run.pid())).sum();
    // Each of these wakes the dispatchers.
    for _ in 0..10 {
        place.enqueue(&["-u", "alice", "--", "true"]);
    }
    std::thread::sleep(Duration::from_secs(2));
    let used = runs.iter().map(|run| ticks(run.pid())).sum::<u64>() - before;
    assert!(used < 100, "{RUNS} waiting runs used {used} ticks of 10 ms for ten changes of others");
    // A killed one, the one on duty among them or not, keeps nobody from running.
    signal(runs[0].pid(), Signal::KILL);
    signal(runs[1].pid(), Signal::KILL);
    place.open_gate("gate");
    for run in runs.into_iter().skip(2) {
        let ran = run.end();
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
}

#[test]
fn a_run_takes_the_duty_over_from_one_that_was_killed() {
    let place = Place::new();
    let gate = place.gate("gate");
    place.enqueue(&["-u", "alice", "--shell", &format!("cat {gate}")]);
    place.ok(&["dispatch"]);
    let first = place.start(&["run", "-u", "alice", "--", "true"]);
    until_pending(&place, 1);
    let second = place.start(&["run", "-u", "alice", "--", "true"]);
    until_pending(&place, 2);
    signal(first.pid(), Signal::KILL);
    first.end();
    std::thread::sleep(Duration::from_millis(200));
    // Nobody but the second run can start this one.
    let other = place.enqueue(&["-u", "bob", "--", "true"]);
    place.until_status(&other, "completed");
    place.open_gate("gate");
    assert_eq!(second.end().code, 0);
}
