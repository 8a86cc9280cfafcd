//! What one supervisor does after the end of its task: it goes on to the next task, in its turn, and everything that names
//! it follows; or it leaves the next one to another, where that is better.

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use std::collections::BTreeSet;

/// The supervisors of a place by the events that they wrote at each start, in the order of the starts.
fn supervisors(place: &Place) -> Vec<u64> {
    place.events_named("started").iter().map(|event| event["pid"].as_u64().unwrap()).collect()
}

/// Enqueues a task for each line.
fn enqueue_all(place: &Place, lines: &str) {
    std::fs::write(place.path("many.jsonl"), lines).unwrap();
    place.ok(&["enqueue", "--from", &place.text("many.jsonl")]);
}

#[test]
fn short_tasks_of_a_user_share_supervisors() {
    let place = Place::new();
    let lines = "{\"user\":\"alice\",\"command\":[\"true\"]}\n".repeat(40);
    enqueue_all(&place, &lines);
    place.drain();
    let pids = supervisors(&place);
    assert_eq!(pids.len(), 40);
    assert!(pids.iter().collect::<BTreeSet<_>>().len() < 40, "{pids:?}");
    assert_eq!(place.json(&["list", "-a", "--state", "completed"])["items"].as_array().unwrap().len(), 40);
}

#[test]
fn a_supervisor_that_went_on_is_known_by_its_new_task_and_is_the_only_one_cancelled() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    let second = place.enqueue(&["-u", "alice", "--", "sleep", "60"]);
    let third = place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["dispatch"]);
    let pid = place.supervisor(&second);
    let pids = until("both starts are noted", || Some(supervisors(&place)).filter(|pids| pids.len() == 2));
    assert_eq!(u64::from(pid), pids[1]);
    let input = std::fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
    assert_eq!(input, place.state().canonicalize().unwrap().join("run/2/supervisor.lock"));
    let lock = std::fs::read_to_string(place.state().join("locks/user_alice.json")).unwrap();
    assert!(lock.contains(&format!("\"acquired_by_pid\":{pid},")), "{lock}");
    place.ok(&["cancel", &second]);
    place.until_status(&third, "completed");
    assert_eq!((place.status("1"), place.status(&second)), ("completed".into(), "cancelled".into()));
}

#[test]
fn a_supervisor_that_has_lived_for_long_goes_on_too() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "sleep", "1.2"]);
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["dispatch"]);
    place.until_status("2", "completed");
    let pids = supervisors(&place);
    assert!(pids.len() == 2 && pids[0] == pids[1], "{pids:?}");
}

#[test]
fn a_supervisor_whose_program_was_replaced_leaves_the_next_task_to_the_new_one() {
    let place = Place::new();
    let (gate, program) = (place.gate("gate"), place.open_to_others());
    place.enqueue(&["-u", "alice", "--shell", &format!("cat {gate}")]);
    place.enqueue(&["-u", "alice", "--", "sleep", "60"]);
    place.spawn(&mut place.shell("exec \"$PLACE/program\" dispatch")).end().coded(0);
    place.until_status("1", "running");
    std::fs::rename(&program, place.path("old")).unwrap();
    place.open_to_others();
    place.open_gate("gate");
    let pids = until("both have started", || Some(supervisors(&place)).filter(|pids| pids.len() == 2));
    assert!(pids.len() == 2 && pids[0] != pids[1], "{pids:?}");
    let runs = std::fs::read_link(format!("/proc/{}/exe", pids[1])).unwrap();
    assert_eq!(runs, program.canonicalize().unwrap());
    place.ok(&["cancel", "2"]);
}

#[test]
fn a_switched_link_leads_supervisors_to_the_new_program() {
    let place = Place::new();
    let gates = [place.gate("first"), place.gate("second")];
    let switch = |version: &str| {
        let program = place.open_to_others();
        std::fs::create_dir(place.path(version)).unwrap();
        std::fs::rename(program, place.path(&format!("{version}/luzia"))).unwrap();
        std::os::unix::fs::symlink(format!("{version}/luzia"), place.path("new")).unwrap();
        std::fs::rename(place.path("new"), place.path("luzia")).unwrap();
    };
    switch("v1");
    // The second is started by a supervisor, and not by who was called by the link.
    place.enqueue(&["-u", "alice", "--shell", &format!("cat {}", gates[0])]);
    place.enqueue(&["-u", "alice", "--thread", "7", "--shell", &format!("cat {}", gates[1])]);
    place.enqueue(&["-u", "alice", "--", "sleep", "60"]);
    place.spawn(&mut place.shell("exec \"$PLACE/luzia\" dispatch")).end().coded(0);
    place.until_status("1", "running");
    let runs = |id| std::fs::read_link(format!("/proc/{}/exe", place.supervisor(id))).unwrap();
    for (next, version) in [("2", "v2"), ("3", "v3")] {
        switch(version);
        place.open_gate(if next == "2" { "first" } else { "second" });
        place.until_status(next, "running");
        assert_eq!(runs(next), place.path(&format!("{version}/luzia")).canonicalize().unwrap());
    }
    place.ok(&["cancel", "3"]);
}

#[test]
fn a_supervisor_ends_after_a_hundred_tasks() {
    let place = Place::new();
    let lines = "{\"user\":\"alice\",\"command\":[\"true\"]}\n".repeat(101);
    enqueue_all(&place, &lines);
    place.ok(&["dispatch"]);
    place.until_status("101", "completed");
    let pids = supervisors(&place);
    let longest = pids.chunk_by(|one, next| one == next).map(<[u64]>::len).max();
    assert!(pids.len() == 101 && longest <= Some(100), "{longest:?} of {}", pids.len());
}

#[test]
fn a_supervisor_killed_in_its_second_task_interrupts_that_one_only() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    let second = place.enqueue(&["-u", "alice", "--shell", "exec sleep 61"]);
    place.ok(&["dispatch"]);
    signal(place.supervisor(&second), Signal::KILL);
    place.drain();
    assert_eq!((place.status("1"), place.status(&second)), ("completed".into(), "failed".into()));
    assert_eq!(place.show("1")["starts"], 1);
}

#[test]
fn a_turn_that_somebody_keeps_delays_a_pass_and_does_not_stop_it() {
    let place = Place::new();
    place.ok(&["run", "-u", "alice", "--", "true"]);
    let turn = std::fs::File::open(place.state().join("spool/turn")).unwrap();
    fs2::FileExt::lock_exclusive(&turn).unwrap();
    for id in 2..6 {
        assert_eq!(place.enqueue(&["-u", "alice", "--", "true"]), format!("task_{id}"));
    }
    place.drain();
    assert_eq!(place.json(&["list", "-a", "--state", "completed"])["items"].as_array().unwrap().len(), 5);
}

#[test]
fn all_that_becomes_free_by_one_end_is_taken_at_once() {
    let place = Place::new();
    let gate = place.gate("gate");
    place.enqueue(&["-u", "alice", "--thread", "7", "--shell", &format!("cat {gate}")]);
    let rest: Vec<String> = [["bob", "7"], ["alice", "8"]]
        .map(|[user, thread]| place.enqueue(&["-u", user, "--thread", thread, "--", "sleep", "60"]))
        .into();
    place.ok(&["dispatch"]);
    place.until_status("1", "running");
    assert_eq!((place.status(&rest[0]), place.status(&rest[1])), ("pending".into(), "pending".into()));
    place.open_gate("gate");
    // Nobody else makes a pass, and both go on until they are cancelled.
    place.until_status(&rest[0], "running");
    place.until_status(&rest[1], "running");
    place.ok(&["cancel", &rest[0], &rest[1]]);
}

#[test]
fn a_supervisor_that_was_told_to_end_ends_and_another_one_takes_the_next_task() {
    let place = Place::new();
    let first = place.enqueue(&["-u", "alice", "--", "sleep", "60"]);
    let second = place.enqueue(&["-u", "alice", "--", "sleep", "60"]);
    place.ok(&["dispatch"]);
    let pid = place.supervisor(&first);
    signal(pid, Signal::TERM);
    assert_ne!(place.supervisor(&second), pid);
    assert_eq!(place.status(&first), "failed");
    place.ok(&["cancel", &second]);
}

#[test]
fn a_copy_of_a_finished_task_that_stands_next_in_the_queue_is_not_started() {
    for (is_deep, name) in [(false, "2.json"), (true, "0/2.json")] {
        let place = Place::new();
        if is_deep {
            place.deepen("alice");
        }
        place.enqueue(&["-u", "alice", "--", "true"]);
        let second = place.enqueue(&["-u", "alice", "--", "touch", &place.text("started")]);
        // A cancel that was killed before it removed the queued record.
        let queued = place.state().join("spool/pending/5").join(crate::support::queue("alice")).join(name);
        let record = std::fs::read(&queued).unwrap();
        place.ok(&["cancel", &second]);
        std::fs::write(&queued, record).unwrap();
        place.enqueue(&["-u", "alice", "--", "true"]);
        place.drain();
        let states: Vec<String> = ["1", "2", "3"].map(|id| place.status(id)).into();
        assert_eq!(states, ["completed", "cancelled", "completed"]);
        assert!(!place.path("started").exists() && !queued.exists());
    }
}
