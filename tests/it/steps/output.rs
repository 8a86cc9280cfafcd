//! `await output`: a wait for what another task writes (S3.47).

use crate::support::{Place, kill_all, until};
use serde_json::json;

/// What a task has printed, without what luzia said to people.
fn said(place: &Place, id: &str) -> String {
    let out = place.luzia(&["logs", id]).out;
    out.lines().filter(|line| !line.starts_with("luzia: ")).map(|line| format!("{line}\n")).collect()
}

/// A task that writes some lines, and then stands until its gate opens.
#[track_caller]
fn writer(place: &Place, text: &str, gate: &str) -> String {
    let id = place.enqueue(&["-u", "writer", "--", "sh", "-c", &format!("{text}; read go < {gate}; echo last line")]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "running");
    id
}

#[test]
fn a_line_ends_the_wait_and_the_next_wait_goes_on_behind_it() {
    let place = Place::new();
    let gate = place.gate("gate");
    let other = writer(&place, "echo one 1; echo two; echo one 2; printf 'prompt> '", &gate);
    let wait = |pattern: &str| format!("\"$LUZIA\" await output --task {other} --match '{pattern}'");
    let text = format!(
        "{}; {}; {}; \"$LUZIA\" get lastOutput; {} || echo code $?",
        wait("^one [0-9]$"),
        wait("^one [0-9]$"),
        wait("> $"),
        wait("nothing says this")
    );
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", &text]);
    place.ok(&["dispatch"]);
    until("all but the last wait are over", || said(&place, &id).contains("prompt> \nprompt> \n").then_some(()));
    place.until_status(&id, "waiting");
    assert!(place.ok(&["explain", &id]).out.contains("/nothing says this/"));
    place.open_gate("gate");
    place.until_status(&id, "completed");
    assert!(said(&place, &id).starts_with("one 1\none 2\nprompt> \nprompt> \n"), "{}", said(&place, &id));
    assert!(said(&place, &id).contains("code 1\n"), "{}", said(&place, &id));
}

#[test]
fn a_parked_wait_and_a_killed_one_end_with_the_line() {
    let place = Place::new();
    let gate = place.gate("gate");
    let other = writer(&place, "echo begun", &gate);
    for park in ["--park", ""] {
        let text = format!("echo begun; a=$(\"$LUZIA\" await output --task {other} --match begun {park}); echo got $a");
        let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", &text]);
        place.ok(&["dispatch"]);
        place.until_status(&id, "completed");
        assert!(said(&place, &id).contains("got begun\n"), "{}", said(&place, &id));
    }
    let text = |park: &str| format!("a=$(\"$LUZIA\" await output --task {other} --match '^last' {park}); echo got $a");
    let parked = place.enqueue(&["-u", "alice", "--", "sh", "-ec", &text("--park")]);
    let blocked = place.enqueue(&["-u", "bob", "--", "sh", "-ec", &text("")]);
    place.ok(&["dispatch"]);
    place.until_status(&parked, "waiting");
    place.until_status(&blocked, "waiting");
    place.open_gate("gate");
    place.until_status(&other, "completed");
    for id in [&parked, &blocked] {
        until("it has gone on", || {
            place.ok(&["dispatch", "--once"]);
            (place.status(id) == "completed").then_some(())
        });
        assert!(said(&place, id).contains("got last line\n"), "{}", said(&place, id));
    }
    let endless = writer(&place, "echo begun", &place.gate("endless"));
    let text = format!("\"$LUZIA\" await output --task {endless} --match never || echo code $?");
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", &text]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    kill_all(&place);
    until("it has gone on without the line", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&id) == "completed").then_some(())
    });
    assert!(said(&place, &id).contains("code 1\n"), "{}", said(&place, &id));
}

#[test]
fn what_was_cut_ahead_of_a_wait_is_left_out() {
    let place = Place::configured(&json!({ "logs": { "max_bytes": 1024 * 1024 } }));
    let text = "echo first; yes 'a line that fills the log' | head -c 20000000; printf '\\nlast\\n'";
    let id = place.enqueue(&["-u", "writer", "--", "sh", "-c", text]);
    place.ok(&["dispatch", "--drain"]);
    let wait = |pattern: &str| place.luzia(&["await", "output", "--task", &id, "--match", pattern, "--json"]);
    assert_eq!(wait("^first$").coded(1).json()["outcome"], json!("ended"));
    assert_eq!(wait("^last$").coded(0).json()["line"], json!("last"));
    assert_eq!(wait("^a line that fills").coded(0).json()["line"], json!("a line that fills the log"));
}

#[test]
fn a_line_of_any_length_is_matched_as_a_whole_and_the_match_is_kept() {
    let place = Place::new();
    // The match stands across the 64 KiB that are looked at at once, and is written in two parts.
    let text = "head -c 65534 /dev/zero | tr '\\0' x; printf do; printf ne; head -c 65534 /dev/zero | tr '\\0' y; \
                printf '\\377\\000end\\n'";
    let id = place.enqueue(&["-u", "writer", "--", "sh", "-c", text]);
    place.ok(&["dispatch", "--drain"]);
    let line = |pattern: &str| {
        let seen = place.ok(&["await", "output", "--task", &id, "--match", pattern, "--json"]).json();
        seen["line"].as_str().expect("a line").to_owned()
    };
    for pattern in ["done", "xdoney", "^x+", "y.{2}end$"] {
        let kept = line(pattern);
        assert!(kept.len() <= 8 * 1024, "{pattern}: {} bytes", kept.len());
    }
    assert!(line("done").starts_with("doney"));
    assert!(line("end$").ends_with("end"));
    for pattern in ["^done", "done$", "^y", "x$"] {
        place.luzia(&["await", "output", "--task", &id, "--match", pattern]).coded(1);
    }
}

#[test]
fn outside_of_a_task_it_waits_in_place() {
    let place = Place::new();
    let gate = place.gate("gate");
    let other = writer(&place, "echo ready on 80", &gate);
    assert_eq!(place.ok(&["await", "output", "--task", &other, "--match", "ready on [0-9]+"]).out, "ready on 80\n");
    place.ok(&["await", "output", "--task", &other, "--idle", "100ms"]);
    place.luzia(&["await", "output", "--task", &other, "--match", "last", "--timeout", "100ms"]).coded(124);
    place.open_gate("gate");
    place.until_status(&other, "completed");
    let seen = place.luzia(&["await", "output", "--task", &other, "--match", "nothing", "--json"]).coded(1).json();
    assert_eq!((&seen["outcome"], &seen["line"], &seen["task"]), (&json!("ended"), &json!(null), &json!(other)));
    place.ok(&["await", "output", "--task", &other, "--idle", "1h"]);
    let before = place.snapshot();
    for wrong in [
        &["await", "output"][..],
        &["await", "output", "--task", &other],
        &["await", "output", "--task", &other, "--match", "("],
        &["await", "output", "--task", &other, "--match", "a", "--match", "b"],
        &["await", "output", "--task", &other, "--match", "a", "--idle", "1s"],
        &["await", "output", "--task", &other, "--match", "a", "--park"],
        &["await", "output", "--task", &other, "--match", "a", "--timeout", "31d"],
        &["await", "response", "--task", &other],
    ] {
        place.luzia(wrong).coded(2);
    }
    assert_eq!(place.snapshot(), before);
}
