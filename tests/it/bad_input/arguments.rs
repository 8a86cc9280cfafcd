//! Hostile names, wrong numbers, wrong durations, unknown words, and what does not exist.

use super::{check_json, check_text, lived_in, refused};
use crate::support::Place;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[test]
fn names_that_cannot_be_names_are_refused() {
    let place = lived_in();
    let long = "x".repeat(1025);
    let faces = "\u{1f600}".repeat(257);
    for name in ["", "a\nb", "a\tb", "\u{1b}]0;x\u{7}", "\u{7f}", "\u{9b}2J", &long, &faces] {
        for args in [
            &["enqueue", "-u", name, "--", "true"][..],
            &["enqueue", "-p", name, "--", "true"],
            &["enqueue", "--thread", name, "--", "true"],
            &["enqueue", "--key", name, "--", "true"],
            &["acquire", name, "--task", "t1"],
            &["acquire", "carol", "--task", name],
            &["lock", "-u", name, "--", "true"],
            &["lock", "-l", &format!("thread:{name}"), "--", "true"],
            &["check", name],
            &["release", name],
            &["explain", name],
        ] {
            refused(&place, args, 2);
        }
    }
}

#[test]
fn lanes_that_cannot_be_lanes_are_refused() {
    let place = lived_in();
    for lane in [":", ":7", "thread:", "Thread:7", "a_b:c", "th read:7", "../x:7", "user:"] {
        refused(&place, &["enqueue", "-l", lane, "--", "true"], 2);
        refused(&place, &["lock", "-l", lane, "--", "true"], 2);
        refused(&place, &["check", lane], 2);
    }
}

/// Nobody is told that a lane is free because a user of that name is.
#[test]
fn a_word_that_may_mean_a_lane_in_use_is_refused() {
    let place = Place::new();
    place.ok(&["acquire", "lane:emu", "--task", "me", "--ttl", "1h"]);
    for args in [&["check", "emu"][..], &["explain", "emu"], &["release", "emu"], &["acquire", "emu", "--task", "x"]] {
        let answer = place.luzia(args).coded(2);
        assert!(answer.err.contains("lane:emu") && answer.err.contains("user:emu"), "{answer:?}");
    }
    place.luzia(&["check", "lane:emu"]).coded(75);
    place.ok(&["check", "user:emu"]);
    place.ok(&["acquire", "user:emu", "--task", "x"]);
    place.luzia(&["check", "emu"]).coded(75);
    place.ok(&["release", "emu"]);
    place.ok(&["release", "lane:emu"]);
    place.ok(&["check", "emu"]);
}

#[test]
fn names_that_look_dangerous_stay_inside_the_state_directory() {
    let place = lived_in();
    for name in [".", "..", "../../etc/x", "/etc/passwd", "-rf", "--help", "--", ".guard", "a/b", "x.lock", "\u{202e}"]
    {
        let user = format!("--user={name}");
        let thread = format!("--thread={name}");
        let lane = format!("user:{name}");
        place.ok(&["acquire", &lane, "--task", "t1"]);
        place.luzia(&["check", &lane]).coded(75);
        let id = place.enqueue(&[&user, "-p", "web", &thread, "--", "true"]);
        assert_eq!(place.show(&id)["user"], name);
        place.ok(&["release", &lane]);
    }
    let id = place.enqueue(&["-p", "..", "-u", "x", "--", "true"]);
    assert!(place.show(&id)["conductor_dir"].as_str().unwrap().ends_with("/conductor/=2e."));
    place.drain();
    let around: Vec<_> = std::fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(around.len(), 3, "{around:?}");
    // On a terminal or not, a table shows no character that could move the cursor or turn the text.
    assert!(!place.ok(&["list", "-a"]).out.contains('\u{202e}'));
}

#[test]
fn numbers_and_durations_that_are_none_are_refused() {
    let place = lived_in();
    for number in ["-1", "10", "256", "1e9", "NaN", "0x10", "\u{ff11}", "", " 5", "+5"] {
        refused(&place, &["enqueue", "--priority", number, "--", "true"], 2);
    }
    for number in ["-1", "1e9", "4294967296", "99999999999999999999", "x", ""] {
        refused(&place, &["enqueue", "--retries", number, "--", "true"], 2);
        refused(&place, &["list", "-n", &format!("{number}x")], 2);
    }
    for duration in [
        "-5s",
        "1e400",
        "99999999999999999999",
        "5m5",
        "\u{661}s",
        "",
        "s",
        "1y",
        "1s1s",
        "1m1h",
        "0x1",
        "inf",
        "1.2.3",
    ] {
        for args in [
            &["enqueue", "--timeout", duration, "--", "true"][..],
            &["enqueue", "--in", duration, "--", "true"],
            &["enqueue", "--start-within", duration, "--", "true"],
            &["enqueue", "--grace", duration, "--", "true"],
            &["acquire", "carol", "--task", "t1", "--timeout", duration],
            &["acquire", "carol", "--task", "t1", "--ttl", duration],
            &["lock", "-u", "carol", "-w", duration, "--", "true"],
            &["wait", "task_1", "--timeout", duration],
            &["cancel", "task_1", "--grace", duration],
            &["daemon", "--poll", duration],
        ] {
            refused(&place, args, 2);
        }
    }
    for seconds in ["abc", "1e9", "-5", ""] {
        refused(&place, &["cleanup-stale", seconds], 2);
    }
    for (option, zero) in [("--timeout", "0"), ("--start-within", "0s")] {
        refused(&place, &["enqueue", option, zero, "--", "true"], 2);
    }
    refused(&place, &["acquire", "carol", "--task", "t1", "--ttl", "0"], 2);
    refused(&place, &["daemon", "--poll", "0"], 2);
    for pid in ["0", "-1", "4294967296", "x", "999999999"] {
        refused(&place, &["acquire", "carol", "--task", "t1", "--pid", pid], 2);
    }
    for code in ["256", "-1", "x"] {
        refused(&place, &["lock", "-u", "alice", "-n", "-E", code, "--", "true"], 2);
    }
    for time in ["tomorow", "", "2026-13-01T00:00:00Z", "2026-02-30", "25:00"] {
        refused(&place, &["enqueue", "--at", time, "--", "true"], 2);
    }
}

#[test]
fn variables_that_cannot_be_set_are_refused() {
    let place = lived_in();
    for pair in ["=x", "A", "A B=1", "1A=x", "", "\u{e4}=1", "LUZIA_TASK_ID=task_9", "LD_PRELOAD=/x.so", "BASH_ENV=/x"]
    {
        let ran = refused(&place, &["enqueue", "--env", pair, "--", "true"], 2);
        assert!(!ran.err.contains("write --env NAME=VALUE") || !pair.starts_with("LUZIA_"), "{ran:#?}");
    }
    let ran = refused(&place, &["enqueue", "--env", "LUZIA_X=1", "--", "true"], 2);
    assert!(ran.err.contains("choose a name that does not begin with LUZIA_"), "{ran:#?}");
    let id = place.enqueue(&[
        "-u",
        "carol",
        "--env",
        "A=B=C",
        "--env",
        "D=1",
        "--env",
        "D=2",
        "--",
        "sh",
        "-c",
        "echo $A$D",
    ]);
    place.drain();
    assert_eq!(place.ok(&["logs", &id]).out, "B=C2\n");
}

#[test]
fn a_command_line_that_makes_no_sense_is_refused_with_a_way_out() {
    let place = lived_in();
    for (args, help) in [
        (&["enqueue"][..], "CMD"),
        (&["enqueue", "--"], "CMD"),
        (&["enqueue", "--", ""], ""),
        (&["run", "-u", "alice"], "CMD"),
        (&["enqueu", "--", "true"], "enqueue"),
        (&["enq", "--", "true"], "enqueue"),
        (&["list", "--lanes"], ""),
        (&["list", "--sort", "colour"], "priority"),
        (&["list", "--state", "done"], "completed"),
        (&["list", "-o", "xml"], "json"),
        (&["list", "--status", "runing"], "'--status <STATE>'"),
        (&["list", "--state", "runing"], "did you mean \"running\"?"),
        (&["acquire", "alice"], "missing: --task <ID> or --session"),
        (&["acquire"], "--session"),
        (&["shim", "rm"], "luzia shim rm --help"),
        (&["hook", "add", "--on", "x"], "luzia hook add --help"),
        (&["agent", "setup", "foo"], "luzia agent setup --help"),
        (&["shim", "list", "foo"], "`luzia shim list` takes options only"),
        (&["list", "build"], "-l LANE"),
        (&["lanes", "set", "build", "3"], "luzia lanes set LANE --max N"),
        (&["run", "-j", "3", "--", "true"], "luzia lanes set LANE --max N"),
        (&["run", "-n", "--", "true"], "did you mean --no-wait?"),
        (&["status", "-l", "build"], "luzia explain -l LANE"),
        (&["daemon", "start"], "takes options only"),
        (&["priority", "task_1"], "luzia edit TASK --priority N"),
        (&["who"], "luzia list-locks"),
        (&["lanes", "build"], "`luzia lanes show build` shows that lane"),
        (&["config", "set", "slots.max", "8"], "`luzia lanes set global --max 8`"),
        (&["config", "get", "slots.max"], "try: luzia config show"),
        (&["cron", "add", "nightly", "--", "true"], "luzia cron add NAME '0 3 * * *' -- CMD"),
        (&["cancel"], "try: luzia list"),
        (&["clean"], "try: luzia config show"),
        (&["acquire", "alice", "--task", "t", "--label", "two", "words"], "put a text of several words in quotes"),
        (&["acquire", "alice", "two", "--task", "t"], "`luzia acquire` takes [USER|LANE]"),
        (&["lock", "-E", "300", "--", "true"], "the range is 0 to 255"),
        (&["enqueue", "--retries", "99999999999", "--", "true"], "the range is 0 to 4294967295"),
        (&["await", "response"], "luzia await response"),
        (&["step", "a", "--", "true"], "luzia step test -- make test"),
        (&["renew", "alice"], ""),
        (&["check"], ""),
        (&["config"], ""),
        (&["enqueue", "--on-conflict", "skip", "--", "true"], ""),
        (&["enqueue", "--in", "1s", "--at", "2026-01-01T00:00:00Z", "--", "true"], ""),
        (&["enqueue", "--shell", "a", "--", "b"], ""),
        (&["lock", "-n", "-w", "1", "--", "true"], ""),
        (&["dispatch", "--once", "--drain"], ""),
        (&["show"], ""),
        (&["release", "alice", "t2", "--lock-id", "t1_5"], ""),
    ] {
        let ran = refused(&place, args, 2);
        assert!(ran.err.contains(help), "{ran:#?}");
    }
    let ran = place.luzia(&[]).coded(2);
    check_text(&ran);
}

/// `lock LANE -- CMD` runs no program of the name of a lane.
#[test]
fn a_lane_in_the_place_of_a_command_is_told() {
    let place = lived_in();
    let ran = place.luzia(&["lock", "no-such-program", "--", "echo", "a b"]).coded(127);
    assert!(ran.err.contains("\"no-such-program\" is not a program"), "{ran:#?}");
    assert!(ran.err.contains("try: luzia lock -l no-such-program -- echo 'a b'"), "{ran:#?}");
    let ran = place.luzia(&["lock", "no-such-program", "-n", "--", "echo"]).coded(127);
    assert!(ran.err.contains("try: luzia lock -l no-such-program -n -- echo"), "{ran:#?}");
    let ran = place.luzia(&["lock", "no-such-program", "--force"]).coded(127);
    assert!(!ran.err.contains("-l no-such-program"), "{ran:#?}");
}

#[test]
fn a_free_lane_of_which_luzia_knows_nothing_is_told() {
    let place = lived_in();
    let known = |word: &str| place.json(&["explain", word])["known"].clone();
    assert_eq!(
        place.ok(&["explain", "build2"]).out,
        "lane \"user:build2\" is free; luzia knows no user and no lane \"build2\"\n"
    );
    assert_eq!(place.ok(&["explain", "lane:build2"]).out, "lane \"build2\" is free; luzia knows no such lane\n");
    assert_eq!((known("build2"), known("lane:build2"), known("cron")), (false.into(), false.into(), true.into()));
    place.ok(&["lanes", "set", "build2", "--max", "2"]);
    assert_eq!((known("lane:build2"), known("user:build2")), (true.into(), true.into()));
    place.ok(&["lock", "-u", "erin", "--", "true"]);
    assert_eq!(place.ok(&["explain", "erin"]).out, "lane \"user:erin\" is free\n");
}

#[test]
fn what_does_not_exist_is_66_and_what_is_no_task_is_2() {
    let place = lived_in();
    for verb in ["show", "logs", "wait", "cancel", "retry", "explain"] {
        refused(&place, &[verb, "task_999"], 66);
        refused(&place, &[verb, "task_18446744073709551615"], 66);
        if verb != "explain" {
            for word in [
                "",
                "0",
                "task_0",
                "task_01",
                "01",
                "task_",
                "-1",
                "1e3",
                "task_18446744073709551616",
                "bob",
                "self",
                "1 ",
            ] {
                refused(&place, &[verb, "--", word], 2);
            }
        }
    }
    refused(&place, &["check-project", "nothing"], 66);
    refused(&place, &["enqueue", "--after", "task_999", "--", "true"], 66);
    refused(&place, &["enqueue", "--after", "bob", "--", "true"], 2);
    refused(&place, &["enqueue", "--from", "/no/such/file"], 74);
    refused(&place, &["enqueue", "--prompt", "x"], 2);
}

#[test]
fn a_task_is_no_user_and_no_lane() {
    // contract, section 4: `task_N` or digits are a task; a success that does nothing would be believed
    let place = lived_in();
    for task in ["task_1", "1", "task_99"] {
        for args in [
            &["check", task][..],
            &["release", task],
            &["acquire", task, "--task", "x"],
            &["renew", task, "--lock-id", "x"],
        ] {
            let refused = refused(&place, args, 2);
            assert!(refused.err.contains(&format!("user:{task}")), "{refused:#?}");
        }
    }
    place.ok(&["check", "user:task_1"]);
}

#[test]
fn arguments_that_are_no_utf_8_are_refused() {
    let place = lived_in();
    let raw = OsStr::from_bytes(b"al\xffice");
    let before = place.snapshot();
    for (head, tail) in [
        (&["enqueue", "-u"][..], &["--", "true"][..]),
        (&["enqueue", "-u", "a", "--", "echo"], &[]),
        (&["check"], &[]),
        (&[], &[]),
        (&["--json", "enqueue", "-u"], &["--", "true"]),
    ] {
        let mut command = place.command(head);
        let ran = place.spawn(command.arg(raw).args(tail)).end().coded(2);
        if head.contains(&"--json") { check_json(&ran, 2) } else { check_text(&ran) }
    }
    place.assert_unchanged(&before, "it");
}

#[test]
fn an_environment_that_is_no_utf_8_reaches_the_command_unchanged() {
    let place = lived_in();
    let mut command = place.command(&["enqueue", "-u", "carol", "--", "sh", "-c", "printf %s \"$RAW\" | od -An -tx1"]);
    let id = place.spawn(command.env("RAW", OsStr::from_bytes(b"\xff\xfe"))).end().coded(0).line();
    place.drain();
    assert_eq!(place.ok(&["logs", &id]).out.trim(), "ff fe");
}

#[test]
fn arguments_as_large_as_the_system_takes_are_taken_and_larger_ones_refused() {
    let place = lived_in();
    let large = "x".repeat(131_000);
    let ran = place.ok(&["run", "-u", "carol", "--", "sh", "-c", "printf %s \"$1\" | wc -c", "sh", &large]);
    assert_eq!(ran.line().trim(), "131000");
    // From a file, an argument may be longer than any that a shell could have given.
    let line = serde_json::json!({ "user": "a", "command": ["echo", "x".repeat(131_072)] }).to_string();
    std::fs::write(place.path("lines"), line).unwrap();
    refused(&place, &["enqueue", "--from", &place.text("lines")], 2);
}

#[test]
fn hostile_text_is_escaped_wherever_people_read_it() {
    let place = lived_in();
    let text = "a\u{1b}[2Jb\nc\u{9b}d";
    let id = place.enqueue(&["-u", "carol", "--label", text, "--", "echo", text]);
    for verb in [&["list", "-o", "wide"][..], &["show", &id], &["explain", &id], &["status"]] {
        let ran = place.ok(verb);
        assert!(ran.out.chars().chain(ran.err.chars()).all(|c| c == '\n' || !c.is_control()), "{ran:#?}");
    }
    assert_eq!(place.show(&id)["label"], text);
}
