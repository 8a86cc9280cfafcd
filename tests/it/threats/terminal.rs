//! What people read on a terminal: no text of a task moves the cursor, sets the title or forges a line.

use crate::support::{Place, Ran, skip};
use std::process::Command;

const ESCAPES: &str = "a\u{1b}]0;owned\u{7}b\u{1b}[2Jc\rd\u{8}e\u{9b}31mf\u{202e}g";

/// Calls luzia with a terminal for its standard streams; what came out of it.
fn on_terminal(place: &Place, args: &str) -> Ran {
    let script = format!("exec script -qec \"$LUZIA {args}\" /dev/null");
    let mut command = place.shell(&script);
    command.env("TERM", "xterm").env("SHELL", "/bin/sh");
    place.spawn(&mut command).end()
}

#[test]
fn escape_sequences_of_a_task_reach_no_terminal() {
    // CVE-2023-28486
    if !Command::new("script").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        return skip("escape_sequences_of_a_task_reach_no_terminal", "script(1)");
    }
    let place = Place::new();
    let printing = "printf '%s\\nsecond\\n' \"$0\"; printf '%s\\n' \"$0\" >&2; exit 3";
    let over = place.enqueue(&["-u", "alice", "--label", ESCAPES, "--", "sh", "-c", printing, ESCAPES]);
    place.drain();
    let cancelled = place.enqueue(&["-u", "alice", "--label", ESCAPES, "--", "echo", ESCAPES]);
    place.ok(&["cancel", &cancelled, "--reason", ESCAPES]);
    place.enqueue(&["-u", "g\u{202e}h", "-l", "thread:\u{202e}x", "--in", "1h", "--", "echo", ESCAPES]);
    for args in [
        "list -a",
        "list -a -o wide",
        "list-locks",
        "status",
        &format!("show {over}"),
        &format!("show {cancelled}"),
        &format!("logs {over}"),
        &format!("explain {over}"),
        "explain 3",
        "doctor",
    ] {
        let ran = on_terminal(&place, args);
        assert!([0, 1].contains(&ran.code) && !ran.out.is_empty(), "{args}: {ran:#?}");
        assert!(!args.starts_with("logs") || ran.out.contains("second"), "{ran:#?}");
        for bad in ["\u{1b}]0", "\u{7}", "\u{1b}[2J", "\u{8}", "\u{9b}", "\u{202e}"] {
            assert!(!ran.out.contains(bad), "{args} lets {bad:?} through: {:?}", ran.out);
        }
        let bare = ran.out.replace("\r\n", "\n");
        assert!(!bare.contains('\r') || !bare.contains("c\rd"), "{args}: {bare:?}");
    }
    // In a pipe a log is what the command wrote, byte for byte.
    assert!(place.ok(&["logs", &over, "--stdout"]).out.starts_with(ESCAPES));
}

#[test]
fn a_name_cannot_forge_a_line_of_any_output_or_event() {
    let place = Place::new();
    for name in ["a\nb", "a\rb", "a\u{1b}[1mb", "a\u{85}b", "a\u{2028}b"] {
        let refused = place.luzia(&["enqueue", "-u", name, "--", "true"]);
        if refused.code == 0 {
            // A line separator of Unicode is no control character; it is escaped wherever people read it.
            assert!(!place.ok(&["list"]).out.contains('\u{2028}'), "{name:?}");
        } else {
            assert_eq!((refused.code, refused.err.lines().count() < 4), (2, true), "{refused:#?}");
        }
    }
    for event in place.events() {
        assert!(event["event"].is_string());
    }
    let id = place.enqueue(&["-u", "x", "--label", "one\ntwo", "--", "echo", "three\nfour"]);
    assert_eq!(place.ok(&["list", "--user", "x"]).out.lines().count(), 2, "a heading and one task");
    assert_eq!(place.ok(&["list", "--user", "x", "-o", "jsonl"]).out.lines().count(), 1);
    assert_eq!(place.show(&id)["label"], "one\ntwo");
}
