//! `list`: its columns, its order, its filters, and what an empty list says.

use crate::support::{Place, until};

fn table(place: &Place, args: &[&str]) -> String {
    place.ok(&[&["list"], args].concat()).out
}

fn ids(place: &Place, args: &[&str]) -> Vec<String> {
    let out = place.ok(&[&["list", "-o", "name"], args].concat()).out;
    out.lines().map(str::to_owned).collect()
}

#[test]
fn the_columns_say_who_waits_for_whom_how_long_and_for_what_command() {
    let place = Place::new();
    let first = place.enqueue(&["-u", "alice", "--", "sleep", "30"]);
    place.ok(&["dispatch"]);
    until("it runs", || (place.status(&first) == "running").then_some(()));
    let second = place.enqueue(&["-u", "alice", "--", "sh", "-c", "sleep 3; exit 4"]);
    place.enqueue(&["-u", "alice", "--in", "2h", "--", "true"]);
    let out = table(&place, &[]);
    let words: Vec<&str> = out.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(words, ["ID", "USER", "STATUS", "RAN", "WAITED", "START", "REASON", "COMMAND"]);
    let line = |id: &str| out.lines().find(|line| line.starts_with(&format!("{id} "))).unwrap();
    assert!(line(&first).contains("s ago") && line(&first).ends_with("sleep 30"), "{out}");
    assert!(line(&second).contains("waits for task_1 (alice)"), "{out}");
    assert!(line(&second).ends_with("sh -c 'sleep 3; exit 4'"), "it can be pasted: {out}");
    assert!(line("task_3").contains("in 1h59m") && line("task_3").contains("due in 1h59m"), "{out}");
    assert_eq!(place.json(&["list"])["items"][1]["reason"], "UserLockHeld", "the word of JSON is the code");
    place.ok(&["cancel", &first, &second, "task_3"]);
}

#[test]
fn columns_are_chosen_by_name_and_headings_left_out() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--label", "tests", "--", "make", "a b"]);
    assert_eq!(table(&place, &["--columns", "command,id,Label"]).lines().count(), 2);
    let out = table(&place, &["--columns", "command,id,Label", "--no-header"]);
    assert_eq!(out.split_whitespace().collect::<Vec<_>>(), ["make", "'a", "b'", "task_1", "tests"]);
    assert!(!table(&place, &["--no-header"]).contains("COMMAND"));
    let wrong = place.luzia(&["list", "--columns", "id,colour"]).coded(2);
    assert!(wrong.err.contains("colour") && wrong.err.contains("waited"), "{}", wrong.err);
    place.luzia(&["list", "--columns", "id", "--json"]).coded(2);
    place.luzia(&["list", "--no-header", "-o", "name"]).coded(2);
}

#[test]
fn lists_are_sorted_both_ways_and_what_is_unknown_comes_last() {
    let place = Place::new();
    let slow = place.enqueue(&["-u", "alice", "--", "sleep", "0.3"]);
    let quick = place.enqueue(&["-u", "alice", "--", "true"]);
    place.drain();
    let waiting = place.enqueue(&["-u", "alice", "--in", "1h", "--", "true"]);
    assert_eq!(ids(&place, &["-a", "--sort", "started_at"]), [&slow[..], &quick, &waiting]);
    assert_eq!(ids(&place, &["-a", "--sort", "-started_at"]), [&quick[..], &slow, &waiting]);
    assert_eq!(ids(&place, &["-a", "--sort", "-ran"]), [&slow[..], &quick, &waiting]);
    assert_eq!(ids(&place, &["-a", "--sort", "ran", "-r"]), [&waiting[..], &slow, &quick]);
    assert_eq!(ids(&place, &["-a", "--sort=-completed_at", "-n", "1"]), [&quick[..]]);
    assert_eq!(ids(&place, &["-a", "-r"]).len(), 3);
    let wrong = place.luzia(&["list", "--sort", "-colour"]).coded(2);
    assert!(wrong.err.contains("started_at"), "{}", wrong.err);
}

#[test]
fn filters_are_by_project_label_key_command_and_time() {
    let place = Place::new();
    let one = place.enqueue(&["-u", "a", "-p", "web", "--label", "nightly", "--key", "k1", "--", "make", "deploy"]);
    let two = place.enqueue(&["-u", "b", "--label", "hourly", "--", "make", "test"]);
    for (args, expected) in [
        (&["--project", "web"][..], &one),
        (&["-p", "web"], &one),
        (&["--label", "hourly"], &two),
        (&["--key", "k1"], &one),
        (&["--command", "make dep"], &one),
        (&["--command", "test"], &two),
    ] {
        assert_eq!(ids(&place, args), [&expected[..]], "{args:?}");
    }
    assert_eq!(ids(&place, &["--command", "make"]).len(), 2);
    assert!(ids(&place, &["--label", "nightly", "--command", "test"]).is_empty());
    place.luzia(&["list", "--project", ""]).coded(2);
}

#[test]
fn history_is_asked_for_by_time_and_by_number() {
    let place = Place::new();
    let first = place.enqueue(&["-u", "a", "--", "true"]);
    place.drain();
    let second = place.enqueue(&["-u", "a", "--", "true"]);
    let end = place.show(&first)["completed_at"].as_str().unwrap().to_owned();
    assert_eq!(ids(&place, &["--since", "1h"]), [&second[..], &first], "finished ones too");
    assert_eq!(ids(&place, &["--since", &end, "--until", "2099-01-01"]).len(), 2);
    assert!(ids(&place, &["--until", &end]).is_empty(), "the end itself is not before it");
    assert!(ids(&place, &["--until", "yesterday"]).is_empty());
    assert_eq!(ids(&place, &["--last", "1"]), [&second[..]]);
    assert_eq!(ids(&place, &["--last", "5"]), [&second[..], &first]);
    assert_eq!(ids(&place, &["--last", "5", "-r"]), [&first[..], &second]);
    let wrong = place.luzia(&["list", "--since", "soon"]).coded(2);
    assert!(wrong.err.contains("--since") && wrong.err.contains("yesterday"), "{}", wrong.err);
    place.luzia(&["list", "--last", "2", "--sort", "id"]).coded(2);
}

#[test]
fn an_empty_list_says_what_it_did_not_show() {
    let place = Place::new();
    let empty = place.ok(&["list"]);
    assert!(empty.out.starts_with("ID ") && empty.err.contains("no queue yet in"), "{}", empty.err);
    let id = place.enqueue(&["-u", "a", "--", "true"]);
    assert_eq!(place.ok(&["list"]).err, "");
    place.ok(&["cancel", &id]);
    assert_eq!(place.ok(&["list"]).err, "no unfinished task; 1 finished: luzia list -a\n");
    assert_eq!(place.ok(&["list", "-u", "b"]).err, "no task matches; `luzia list -a` lists every task\n");
    assert_eq!(place.ok(&["list", "--since", "1h", "--label", "x"]).out.lines().count(), 1);
    for args in [&["list", "-q"][..], &["list", "--json"], &["list", "-o", "name"]] {
        assert_eq!(place.ok(args).err, "", "{args:?}");
    }
}

#[test]
fn a_terminal_of_80_columns_gets_one_line_a_task() {
    if !std::process::Command::new("script").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        return crate::support::skip("a_terminal_of_80_columns_gets_one_line_a_task", "script(1)");
    }
    let place = Place::new();
    let lanes = ["-l", "repo:a-rather-long-name-of-a-repository", "-l", "deploy"];
    place.enqueue(&[&["-u", "alice", "-p", "web", "--label", "a label"], &lanes[..], &["--", "make", "test"]].concat());
    for form in ["table", "wide"] {
        let mut script = std::process::Command::new("script");
        let call = format!("stty cols 80; exec {} list --color never -o {form}", env!("CARGO_BIN_EXE_luzia"));
        script
            .args(["-qec", &call, "/dev/null"])
            .envs(place.command(&[]).get_envs().filter_map(|(k, v)| Some((k, v?))));
        let out = place.spawn(&mut script).end().coded(0).out;
        let lines: Vec<&str> = out.lines().map(|line| line.trim_end_matches('\r')).collect();
        assert_eq!(lines.len(), 2, "{form}: {out}");
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{form}: {out}");
        assert!(lines[0].contains("COMMAND") && lines[1].contains("make test"), "{form}: {out}");
    }
}

#[test]
fn an_end_without_words_before_a_retry_is_left_out() {
    let place = Place::new();
    let script = "exec $LUZIA await response --park --timeout 1s --on-timeout fail";
    let id = place.enqueue(&["-u", "z", "--", "sh", "-c", script]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    // A pass may have the task in its hands; the answer is then 75, to try again.
    for verb in ["cancel", "retry"] {
        until(verb, || (place.luzia(&[verb, &id]).code == 0).then_some(()));
    }
    place.ok(&["dispatch"]);
    place.until_status(&id, "timeout");
    let shown = table(&place, &["-a"]);
    assert!(!shown.contains("before:"), "{shown}");
}
