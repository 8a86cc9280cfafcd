//! A state directory that is taken away or replaced while something uses it.

use crate::support::{Place, lives, until};

fn running(place: &Place) -> String {
    place.gate("gate");
    let id = place.enqueue(&[
        "-u",
        "alice",
        "--",
        "sh",
        "-c",
        "echo up > $PLACE/up; read _ < $PLACE/gate; echo done > $PLACE/done",
    ]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    id
}

#[test]
fn a_state_directory_moved_away_under_a_task_gets_its_result_where_it_went() {
    // The supervisor holds the directory and not its name.
    let place = Place::new();
    let id = running(&place);
    std::fs::rename(place.state(), place.path("moved")).unwrap();
    place.open_gate("gate");
    place.until_file("done");
    let moved = place.text("moved");
    until("the result is in the moved directory", || {
        let shown = place.luzia(&["--state-dir", &moved, "--json", "show", &id]);
        (shown.code == 0 && shown.json()["status"] == "completed").then_some(())
    });
    place.ok(&["--state-dir", &moved, "check", "alice"]);
    assert!(!place.state().exists(), "nothing makes it anew");
}

#[test]
fn a_state_directory_replaced_under_a_task_is_not_written_by_it() {
    let place = Place::new();
    running(&place);
    std::fs::rename(place.state(), place.path("moved")).unwrap();
    let other = place.enqueue(&["-u", "alice", "--in", "1h", "--", "true"]);
    let before = place.snapshot();
    place.open_gate("gate");
    place.until_file("done");
    let moved = place.text("moved");
    until("it is over there", || (place.luzia(&["--state-dir", &moved, "check", "alice"]).code == 0).then_some(()));
    place.assert_unchanged(&before, "a task of the directory that stood here before");
    assert_eq!(place.status(&other), "pending");
}

#[test]
fn a_state_directory_removed_under_a_task_ends_its_supervisor_and_not_before_the_command() {
    let place = Place::new();
    running(&place);
    let supervisor = place.supervisor("task_1");
    std::fs::remove_dir_all(place.state()).unwrap();
    place.open_gate("gate");
    place.until_file("done");
    until("its supervisor ends", || (!lives(supervisor)).then_some(()));
    // Its directory may come back as an empty one: a new queue, in which nothing of the old one is.
    place.ok(&["enqueue", "-u", "alice", "--", "true"]);
    place.drain();
    assert_eq!(place.status("task_1"), "completed");
}

#[test]
fn a_state_directory_that_goes_away_ends_a_verb_that_waits_for_it() {
    let place = Place::new();
    running(&place);
    let waits = [
        place.start(&["wait", "task_1"]),
        place.start(&["lock", "-u", "alice", "--", "true"]),
        place.start(&["acquire", "alice", "--task", "t2", "--timeout", "10s", "--ttl", "1s"]),
        place.start(&["run", "-u", "alice", "--", "true"]),
    ];
    until("they wait", || {
        place.state().join("spool/pending/5").join(crate::support::queue("alice")).join("2.json").exists().then_some(())
    });
    std::thread::sleep(std::time::Duration::from_millis(200));
    std::fs::rename(place.state(), place.path("moved")).unwrap();
    place.open_gate("gate");
    for wait in waits {
        let ran = wait.end();
        assert!(ran.code < 128 && ran.code != 101 && !ran.err.contains("panicked"), "{ran:#?}");
    }
}

#[test]
fn a_supervisor_killed_under_a_run_is_noticed_by_the_run() {
    // Nothing on disk changes when a supervisor dies, and nobody else is there to look.
    let place = Place::new();
    place.gate("gate");
    let run = place.start(&["run", "-u", "alice", "--", "sh", "-c", "echo $$ > $PLACE/up; read _ < $PLACE/gate"]);
    let command: u32 = place.until_file("up").parse().unwrap();
    let supervisor = place.supervisor("task_1");
    crate::support::signal(supervisor, rustix::process::Signal::KILL);
    crate::support::signal(command, rustix::process::Signal::KILL);
    let ran = run.end();
    assert!(ran.code != 0 && ran.code < 128, "{ran:#?}");
    assert_eq!(place.status("task_1"), "failed");
    place.ok(&["check", "alice"]);
}
