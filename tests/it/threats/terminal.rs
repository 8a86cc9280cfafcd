//! What people read on a terminal: no text of a task moves the cursor, sets the title or forges a line.

use crate::support::{Place, Ran, skip};
use std::process::Command;

const ESCAPES: &str = "a\u{1b}]0;owned\u{7}b\u{1b}[2Jc\rd\u{8}e\u{9b}31mf\u{202e}g";

/// Calls luzia with a terminal for its standard streams; what came out of it.
fn on_terminal(place: &Place, args: &str) -> Ran {
    let script = format!("exec script -qec \"$LUZIA {args}\" /dev/null");
    let mut command = place.shell(&script);
    command.env("TERM", "xterm").env("NO_COLOR", "1").env("SHELL", "/bin/sh");
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

/// What must never reach a terminal: escapes, and characters that nobody sees or that turn text around.
const UNSEEN: [&str; 9] =
    ["\u{1b}", "\u{7}", "\u{8}", "\u{9b}", "\u{202e}", "\u{200b}", "\u{2066}", "\u{61c}", "\u{e0041}"];

/// Commands that look at task 1.
const LOOKS: &[&str] = &[
    "attach 1",
    "wait 1 --stream",
    "wait 1",
    "logs 1",
    "logs 1 --stdout",
    "logs 1 --steps",
    "get --task 1 said",
    "get --task 1",
    "tree 1",
    "metrics",
    "events",
    "events -o jsonl",
    "timeline",
    "timeline --by lane",
    "timeline -o svg",
    "timeline -o trace",
    "show 1 --checkpoint",
    "show 1 --json",
    "list -a -o wide",
    "list -a --json",
    "stats",
    "stats --by status",
    "simulate",
    "status",
    "doctor",
    "await output --task 1 --match owned --timeout 5s",
];

#[test]
fn an_onlooker_of_a_task_gets_text_and_no_terminal_control() {
    if !Command::new("script").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        return skip("an_onlooker_of_a_task_gets_text_and_no_terminal_control", "script(1)");
    }
    let place = Place::new();
    let evil = format!("{ESCAPES}{}", UNSEEN.concat());
    let user = "z\u{200b}w\u{61c}x\u{202e}y";
    let script =
        "printf '%s\\r\\n' \"$LUZIA_VAR_said\"; printf '%s\\n' \"$LUZIA_VAR_said\" >&2; \"$LUZIA\" await event:GO";
    let id = place.enqueue(&[
        "-u",
        user,
        "--label",
        &evil,
        "--goal",
        &evil,
        "-l",
        "goal:x\u{200b}y",
        "--",
        "sh",
        "-c",
        script,
    ]);
    place.ok(&["set", "--task", &id, &format!("said={evil}")]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    let data = serde_json::json!({ "text": evil }).to_string();
    place.ok(&["emit", "OTHER", "--task", &id, "--data", &data]);
    for args in ["explain 1", "show 1", "top --once"] {
        check(&place, args);
    }
    place.ok(&["emit", "GO", "--task", &id, "--data", &data]);
    place.until_status(&id, "completed");
    for args in LOOKS {
        check(&place, args);
    }
    let attached = on_terminal(&place, "attach 1").out;
    assert!(attached.contains("a\\x1b]0;owned\\x07b") && attached.contains("\\u{200b}"), "{attached:?}");
    // The command of one's own `run` has the terminal, as any program that is started there.
    let own = on_terminal(&place, "run -q -u bob -- printf '\\\\033[1mbold'").out;
    assert!(own.contains("\u{1b}[1mbold"), "{own:?}");
    // In a pipe an onlooker gets every byte, and a picture has no such character anywhere.
    assert!(place.ok(&["attach", "1"]).out.starts_with(&evil));
    assert_eq!(place.ok(&["get", "--task", "1", "said"]).line(), evil);
    let picture = place.ok(&["timeline", "-o", "svg"]).out;
    for bad in UNSEEN {
        assert!(!picture.contains(bad), "{bad:?}: {picture}");
    }
    assert!(picture.contains("z\\u{200b}w"), "{picture}");
    let metrics = place.ok(&["metrics"]).out;
    let is_sample =
        |line: &str| line.starts_with('#') || line.rsplit_once(' ').is_some_and(|(_, n)| n.parse::<f64>().is_ok());
    assert!(metrics.split('\n').filter(|line| !line.is_empty()).all(is_sample), "{metrics}");
}

#[track_caller]
fn check(place: &Place, args: &str) {
    let ran = on_terminal(place, args);
    assert!([0, 1].contains(&ran.code) && !ran.out.is_empty(), "{args}: {ran:#?}");
    for bad in UNSEEN {
        assert!(!ran.out.contains(bad), "{args} lets {bad:?} through: {:?}", ran.out);
    }
    let has_stray_return = ran.out.split('\n').any(|line| line.trim_end_matches('\r').contains('\r'));
    assert!(!has_stray_return, "{args}: {:?}", ran.out);
}
