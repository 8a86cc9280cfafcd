//! Many processes that wait for one thing.

use super::support::*;
use rustix::process::Signal;
use std::time::Duration;

fn until_pending(place: &Place, count: usize) {
    until("runs are queued", || {
        let listed = place.json(&["list", "-a", "--state", "pending"]);
        (listed["items"].as_array()?.len() == count).then_some(())
    });
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
