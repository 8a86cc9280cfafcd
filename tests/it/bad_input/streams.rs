//! Standard streams that are closed, full, or gone while luzia writes.

use super::{check_quick, lived_in};
use crate::support::Place;
use rustix::process::Signal;
use serde_json::json;
use std::fs::File;
use std::process::Stdio;

const READERS: [&[&str]; 10] = [
    &["list"],
    &["list", "--json"],
    &["status"],
    &["status", "--json"],
    &["show", "task_1"],
    &["check", "bob", "--json"],
    &["list-locks"],
    &["explain", "task_1"],
    &["completions", "bash"],
    &["--help"],
];

#[test]
fn an_answer_that_cannot_be_written_is_74_and_no_panic() {
    let place = lived_in();
    for args in READERS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = place.spawn_into(&mut place.command(args), Some(full.into())).end().coded(74);
        check_quick(&ran);
    }
}

#[test]
fn a_task_whose_id_cannot_be_printed_is_queued_and_says_so() {
    let place = Place::new();
    let enqueue = |args: &[&str]| {
        let full = File::options().write(true).open("/dev/full").unwrap();
        place.spawn_into(&mut place.command(args), Some(full.into())).end().coded(74)
    };
    let ran = enqueue(&["enqueue", "-u", "a", "--", "true"]);
    assert!(ran.err.contains("task_1 is queued, but could not be printed"), "{ran:#?}");
    assert_eq!(place.status("task_1"), "pending");
    std::fs::write(place.path("lines"), "{\"user\":\"b\",\"command\":[\"true\"]}\n").unwrap();
    let ran = enqueue(&["enqueue", "--from", &place.text("lines")]);
    assert!(ran.err.contains("queued, but could not be printed"), "{ran:#?}");
    assert_eq!(place.status("task_2"), "pending");
}

#[test]
fn every_task_of_a_cancel_is_cancelled_although_the_answer_cannot_be_written() {
    for format in ["name", "json"] {
        let place = Place::new();
        for user in ["a", "b", "c"] {
            place.luzia(&["enqueue", "-u", user, "--", "true"]).coded(0);
        }
        let cancel = |ids: &[&str]| {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let args: Vec<&str> = ["cancel", "-o", format].iter().chain(ids).copied().collect();
            place.spawn_into(&mut place.command(&args), Some(full.into())).end()
        };
        cancel(&["1", "2"]).coded(74);
        assert_eq!([place.status("1"), place.status("2")], ["cancelled", "cancelled"], "{format}");
        // A refusal is not lost behind the answer that cannot be written.
        let refused = cancel(&["1", "3"]).coded(1);
        assert!(refused.err.contains("task_1 is over already"), "{refused:#?}");
        assert_eq!(place.status("3"), "cancelled", "{format}");
    }
}

#[test]
fn a_run_whose_output_nobody_takes_goes_to_its_end() {
    let place = Place::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = place.command(&["run", "-u", "a", "--", "sh", "-c", "echo x; echo done > $PLACE/done; exit 3"]);
    let ran = place.spawn_into(&mut command, Some(full.into())).end().coded(74);
    check_quick(&ran);
    assert!(place.path("done").exists());
    assert_eq!(place.show("task_1")["exit_code"], 3);
}

#[test]
fn a_run_ends_with_the_reader_of_its_output() {
    // As SIGPIPE ends a command in a pipeline; on either stream.
    let place = Place::new();
    for (at, stream) in ["1", "2"].into_iter().enumerate() {
        let script = format!("exec \"$LUZIA\" run -u a --shell 'while echo y >&{stream}; do sleep 0.01; done' 2>&1");
        let ran = place.spawn_into(&mut place.shell(&script), Some(unread())).end().coded(0);
        assert_eq!(ran.out, "");
        let task = place.show(&(at + 1).to_string());
        assert_eq!((&task["status"], &task["cancelledBy"]), (&json!("cancelled"), &json!("run")));
        assert!(task["cancelReason"].as_str().unwrap().contains("reads"), "{task}");
    }
    // Also between two attempts, when what the last one wrote comes out.
    let script = "echo $LUZIA_ATTEMPT >> $PLACE/attempts; sleep 0.1; echo y; exit 1";
    let mut again = place.command(&["run", "-u", "a", "--retries", "3", "--shell", script]);
    place.spawn_into(&mut again, Some(unread())).end().coded(0);
    assert_eq!((place.status("3"), crate::support::lines(&place.path("attempts")).len()), ("cancelled".into(), 1));
    // A task that has come to its own end by then answers for itself.
    let mut late = place.command(&["run", "-u", "a", "--group-output", "--shell", "echo x; exit 3"]);
    place.spawn_into(&mut late, Some(unread())).end().coded(3);
    // One that somebody else has queued is left alone.
    let id = place.enqueue(&["-u", "a", "--key", "k", "--shell", "echo x; read _ < $PLACE/gate"]);
    place.gate("gate");
    place.ok(&["dispatch"]);
    place.until_status(&id, "running");
    let mut beside = place.command(&["run", "-u", "a", "--key", "k", "--", "true"]);
    place.spawn_into(&mut beside, Some(unread())).end().coded(0);
    assert_eq!(place.status(&id), "running");
    place.open_gate("gate");
    place.ok(&["wait", &id]);
}

#[test]
fn a_run_whose_reader_has_paused_is_interrupted_all_the_same() {
    // contract, section 4: the first Ctrl-C cancels, the second kills; a pager reads only what it shows
    let place = Place::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let script = "seq 1 100000; echo up > $PLACE/up; exec sleep 1000";
    let mut command = place.command(&["run", "-u", "a", "--shell", script]);
    let run = place.spawn_into(&mut command, Some(writer.into()));
    place.until_file("up");
    run.signal(Signal::TERM);
    place.until_status("1", "cancelled");
    // What was written before is still there for its reader, unless somebody has enough of that.
    run.signal(Signal::TERM);
    drop(command);
    run.end().coded(143);
    drop(reader);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(&["run", "-u", "a", "--shell", "seq 1 100000"]);
    let run = place.spawn_into(&mut command, Some(writer.into()));
    drop(command);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
    assert_eq!((text.lines().count(), text.lines().last()), (100_000, Some("100000")));
    run.end().coded(0);
}

/// A pipe whose reader has gone.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let place = lived_in();
    for args in READERS {
        let ran = place.spawn_into(&mut place.command(args), Some(unread())).end().coded(0);
        assert_eq!(ran.err, "", "{args:?}");
    }
    let mut enqueue = place.command(&["enqueue", "-u", "a", "--", "true"]);
    place.spawn_into(&mut enqueue, Some(unread())).end().coded(0);
    assert_eq!(place.status("task_2"), "pending");
}

#[test]
fn closed_streams_do_not_matter() {
    let place = Place::new();
    for (at, closed) in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"].iter().enumerate() {
        let script = format!("exec \"$LUZIA\" enqueue -u a -- true {closed}");
        let ran = place.spawn(&mut place.shell(&script)).end();
        check_quick(&ran);
        assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), at + 1, "{closed}");
        for verb in ["status", "list", "check a"] {
            let script = format!("exec \"$LUZIA\" {verb} {closed}");
            check_quick(&place.spawn(&mut place.shell(&script)).end());
        }
        let script = format!("exec \"$LUZIA\" lock -u x -n -- sh -c 'exit 7' {closed}");
        place.spawn(&mut place.shell(&script)).end().coded(7);
    }
    let script = "exec \"$LUZIA\" dispatch --drain <&- >&- 2>&-";
    place.spawn(&mut place.shell(script)).end().coded(0);
    assert_eq!(place.status("task_4"), "completed");
    // No file of luzia became a standard stream of a command.
    let id = place.enqueue(&["-u", "a", "--", "sh", "-c", "ls /proc/self/fd | wc -l"]);
    place.spawn(&mut place.shell(script)).end().coded(0);
    assert!(place.ok(&["logs", &id]).line().trim().parse::<u32>().unwrap() <= 5);
}

#[test]
fn endless_input_is_refused() {
    let place = lived_in();
    let mut command = place.command(&["enqueue", "--from", "-"]);
    let ran = place.spawn(command.stdin(Stdio::from(File::open("/dev/zero").unwrap()))).end();
    assert!([2, 74].contains(&ran.code), "{ran:#?}");
    assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 1);
}

#[test]
fn input_that_is_no_utf_8_is_refused() {
    let place = lived_in();
    std::fs::write(place.path("lines"), b"{}\n\n{\"user\":\"\xff\",\"command\":[\"true\"]}").unwrap();
    let refused = super::refused(&place, &["enqueue", "--from", &place.text("lines")], 2);
    assert!(refused.err.contains("line 3 is not UTF-8"), "{}", refused.err);
    super::refused(&place, &["enqueue", "--from", &place.text("work")], 74);
}

#[test]
fn help_that_cannot_be_written_is_an_error_that_says_so() {
    let place = Place::new();
    for option in ["--help", "--version"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = place.spawn_into(&mut place.command(&[option]), Some(full.into())).end().coded(74);
        assert!(ran.err.starts_with("luzia: the answer could not be written"), "{ran:?}");
    }
}
