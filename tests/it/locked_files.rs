//! Files that a foreign process keeps locked for longer than anybody waits for them.

use super::support::*;
use std::fs::File;
use std::time::Duration;

fn held(place: &Place, name: &str) -> File {
    let file = File::options().write(true).create(true).truncate(false).open(place.state().join(name)).unwrap();
    fs2::FileExt::lock_exclusive(&file).unwrap();
    file
}

fn held_guards(place: &Place) -> Vec<File> {
    let entries = std::fs::read_dir(place.lock(".guard")).unwrap();
    let held: Vec<File> = entries
        .map(|entry| held(place, &format!("locks/.guard/{}", entry.unwrap().file_name().to_str().unwrap())))
        .collect();
    assert!(!held.is_empty());
    held
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
    let guards = held_guards(&place);
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
    let guards = held_guards(&place);
    let run = place.start(&["run", "-u", "alice", "--", "true"]);
    std::thread::sleep(Duration::from_secs(12));
    drop(guards);
    let ran = run.end();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.status("2"), "completed");
}
