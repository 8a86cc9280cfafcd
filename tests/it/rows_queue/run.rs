//! `run`, `wait` and `logs`: codes and streams as if the command stood there itself (S4.1, S4.12, S0.21).

use crate::support::{Place, until};
use serde_json::json;

#[test]
fn run_ends_as_the_command_ended() {
    // S4.12, contract section 6
    let place = Place::new();
    for (command, code) in [
        (&["true"][..], 0),
        (&["sh", "-c", "exit 7"], 7),
        (&["sh", "-c", "exit 255"], 255),
        (&["sh", "-c", "kill -TERM $$"], 143),
        (&["sh", "-c", "kill -KILL $$"], 137),
        (&["no-such-command"], 127),
        (&["./no-such-command"], 127),
        (&["/etc/passwd"], 126),
        (&["/"], 126),
    ] {
        let ran = place.luzia(&[&["run", "-u", "alice", "--"], command].concat()).coded(code);
        assert_eq!(ran.out, "", "{command:?}");
    }
    place.luzia(&["run", "-u", "alice", "--cwd", "/no/such/place", "--", "true"]).coded(125);
    place.ok(&["check", "alice"]);
}

#[test]
fn run_keeps_the_two_streams_apart_and_byte_for_byte() {
    let place = Place::new();
    let script = "printf 'a\\033[1m\\n'; printf 'err\\n' >&2; head -c 200000 /dev/zero | tr '\\0' x; printf 'end'";
    let ran = place.ok(&["run", "-u", "alice", "--", "sh", "-c", script]);
    assert_eq!(ran.out.len(), 6 + 200_000 + 3);
    assert!(ran.out.starts_with("a\u{1b}[1m\nxxx") && ran.out.ends_with("xend"));
    assert_eq!(ran.err, "err\n");
    let logs = |args: &[&str]| place.ok(&[&["logs", "1"], args].concat()).out;
    assert_eq!(logs(&["--stdout"]), ran.out);
    assert_eq!(logs(&["--stderr"]), "err\n");
    assert_eq!(logs(&["--stderr", "-n", "0"]), "");
    assert!(logs(&[]).contains("err\n"));
}

#[test]
fn everything_after_the_command_belongs_to_the_command() {
    // contract, section 4; nothing is interpreted by a shell
    let place = Place::new();
    let args =
        ["run", "-u", "alice", "printf", "%s|", "--json", "-u", "$(touch x)", "`id`", "a b", "", "--", ";&&|>\"'\\"];
    let ran = place.ok(&args);
    assert_eq!(ran.out, "--json|-u|$(touch x)|`id`|a b||--|;&&|>\"'\\|");
    assert_eq!(place.ok(&["run", "-u", "alice", "--shell", "echo a && echo b"]).out, "a\nb\n");
    assert_eq!(std::fs::read_dir(place.path("work")).unwrap().count(), 0);
}

#[test]
fn grouped_output_comes_in_one_piece() {
    // S4.1
    let place = Place::new();
    let shared = place.path("shared");
    let script = "for i in 1 2 3 4 5 6 7 8; do echo $0; sleep 0.01; done";
    let runs: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .map(|user| {
            let line = "exec \"$LUZIA\" run --group-output -u $0 -- sh -c \"$1\" $0 >> $2";
            let mut shell = place.shell(line);
            place.spawn(shell.args([*user, script, shared.to_str().unwrap()]))
        })
        .collect();
    for run in runs {
        run.end().coded(0);
    }
    let mut authors = crate::support::lines(&shared);
    assert_eq!(authors.len(), 32);
    authors.dedup();
    assert_eq!(authors.len(), 4, "{authors:?}");
}

#[test]
fn two_writers_on_one_thread_do_not_mix() {
    // S0.1, S0.2
    let place = Place::new();
    let script = "for i in 1 2 3 4 5 6 7 8 9; do echo $0 >> $PLACE/log; done";
    let runs: Vec<_> = ["a", "b"]
        .iter()
        .map(|user| place.start(&["run", "-u", user, "--thread", "7", "--", "sh", "-c", script, user]))
        .collect();
    for run in runs {
        run.end().coded(0);
    }
    let mut authors = crate::support::lines(&place.path("log"));
    authors.dedup();
    assert_eq!(authors.len(), 2, "{authors:?}");
}

#[test]
fn run_without_waiting_takes_its_task_back() {
    // S0.21: --no-wait
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "elsewhere"]);
    let refused = place.luzia(&["run", "-u", "alice", "--no-wait", "--", "sh", "-c", "echo x > $PLACE/x"]).coded(75);
    assert!(refused.err.contains("elsewhere"), "{}", refused.err);
    place.ok(&["release", "alice"]);
    place.drain();
    assert!(!place.path("x").exists());
    place.ok(&["run", "-u", "alice", "--no-wait", "--", "true"]);
}

#[test]
fn run_says_what_it_waits_for_and_never_names_itself() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "elsewhere"]);
    let run = place.start(&["run", "-u", "alice", "--", "echo", "done"]);
    until("it says so", || run.err().contains("elsewhere has held it").then_some(()));
    place.ok(&["release", "alice"]);
    let ran = run.end().coded(0);
    assert_eq!(ran.out, "done\n");
    assert!(!ran.err.contains("task_1 has been running"), "{}", ran.err);
}

#[test]
fn logs_followed_wait_for_a_task_that_has_not_started() {
    let place = Place::new();
    place.gate("gate");
    let script = "echo one; read _ < $PLACE/gate; echo two; exit 3";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", script]);
    assert_eq!(place.ok(&["logs", &id]).out, "");
    let mut follow = place.start(&["logs", "-f", &id]);
    assert!(!follow.is_over());
    place.ok(&["dispatch"]);
    until("the first line came", || (follow.out() == "one\n").then_some(()));
    place.open_gate("gate");
    assert_eq!(follow.end().coded(0).out, "one\ntwo\n");
    assert_eq!(place.ok(&["logs", &id, "-n", "1"]).out, "two\n");
    assert_eq!(place.ok(&["logs", &id, "--grep", "one"]).out, "one\n");
    place.luzia(&["logs", "task_9"]).coded(66);
}

#[test]
fn wait_answers_with_the_worst_or_the_first_end() {
    // S1.32
    let place = Place::new();
    let good = place.enqueue(&["-u", "a", "--", "true"]);
    let bad = place.enqueue(&["-u", "b", "--", "sh", "-c", "exit 9"]);
    let late = place.enqueue(&["-u", "c", "--in", "1h", "--", "true"]);
    place.ok(&["dispatch"]);
    place.ok(&["wait", &good, "--timeout", "30"]);
    place.luzia(&["wait", &bad, "--timeout", "30"]).coded(1);
    place.luzia(&["wait", &good, &bad]).coded(1);
    place.ok(&["wait", "--any", &late, &good]);
    place.luzia(&["wait", &good, &late, "--timeout", "50ms"]).coded(75);
    place.luzia(&["wait", &good, "task_99"]).coded(66);
    let document = place.luzia(&["--json", "wait", &good, &bad]).coded(1).json();
    assert_eq!((&document["schema"], &document["items"][1]["exit_code"]), (&json!("luzia.wait/v1"), &json!(9)));
    // The numbers alone are as good.
    place.ok(&["wait", good.strip_prefix("task_").unwrap()]);
}

#[test]
fn enqueue_that_waits_prints_the_id_and_ends_as_wait_does() {
    let place = Place::new();
    let daemon = place.start(&["daemon"]);
    assert_eq!(place.luzia(&["enqueue", "-u", "a", "--wait", "--", "true"]).coded(0).out, "task_1\n");
    assert_eq!(place.luzia(&["enqueue", "-u", "a", "--wait", "--", "sh", "-c", "exit 9"]).coded(1).out, "task_2\n");
    place.luzia(&["enqueue", "-u", "a", "--wait", "--timeout", "50ms", "--", "sleep", "99"]).coded(124);
    drop(daemon);
}

#[test]
fn with_json_a_failed_run_says_only_its_document() {
    let place = Place::new();
    let ran = place.luzia(&["--json", "run", "-u", "a", "--", "sh", "-c", "exit 3"]).coded(3);
    let document: serde_json::Value = serde_json::from_str(&ran.err).expect("one document");
    assert_eq!((&document["schema"], &document["exit_code"]), (&json!("luzia.run/v1"), &json!(3)));
}

#[test]
fn logs_are_one_document_with_json_and_lines_of_json_as_they_come() {
    let place = Place::new();
    place.ok(&["run", "-u", "a", "--", "sh", "-c", "echo one; printf two; echo three >&2"]);
    // A line without an end may go on, so it comes last.
    let lines = [("stdout", "one"), ("stderr", "three"), ("stdout", "two")];
    let document = place.json(&["logs", "1"]);
    let at = |n: usize| document["items"][n]["at"].as_str().expect("a moment").to_owned();
    let item = |n: usize, (stream, line): (&str, &str)| json!({ "id": "task_1", "stream": stream, "attempt": 1, "at": at(n), "line": line });
    let items: Vec<_> = lines.into_iter().enumerate().map(|(n, line)| item(n, line)).collect();
    assert_eq!(document["schema"], "luzia.logs/v1");
    assert_eq!((&document["id"], &document["ids"]), (&json!("task_1"), &json!(["task_1"])));
    assert_eq!((&document["dropped_bytes"], &document["items"]), (&json!(0), &json!(items)));
    let streamed = place.ok(&["logs", "1", "-f", "-o", "jsonl"]).out;
    let streamed: Vec<serde_json::Value> = streamed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // A line of JSON says what it is.
    let said = |mut item: serde_json::Value| {
        item["kind"] = "logs".into();
        item
    };
    assert_eq!(streamed, items.into_iter().map(said).collect::<Vec<_>>());
    // The last line of one stream does not join the first of the other.
    assert_eq!(place.ok(&["logs", "1", "--grep", "three"]).out, "three\n");
}

#[test]
fn of_several_that_are_over_any_is_the_one_that_was_over_first() {
    let place = Place::new();
    place.ok(&["run", "-u", "alice", "--", "true"]);
    place.luzia(&["run", "-u", "alice", "--", "false"]).coded(1);
    for ids in [["1", "2"], ["2", "1"]] {
        let waited = place.ok(&["-o", "name", "wait", "--any", ids[0], ids[1]]);
        assert_eq!(waited.out, "task_1\n");
    }
    place.luzia(&["wait", "2", "1"]).coded(1);
}

#[test]
fn a_run_whose_directory_cannot_be_used_ends_with_125() {
    let place = Place::configured(
        &json!({ "projects": { "p": { "conductor_dir": "/proc/nope/c" }, "q": { "conductor_dir": "/etc/passwd" } } }),
    );
    for project in ["p", "q"] {
        let ran = place.luzia(&["run", "-u", "alice", "--project", project, "--", "true"]).coded(125);
        assert!(ran.err.contains("failed"), "{ran:?}");
    }
}

/// Writes the lines of `run --from`, each with a user and a shell line; the path.
fn lines_of(place: &Place, tasks: &[(&str, &str)]) -> String {
    let line = |(user, shell): &(&str, &str)| format!("{}\n", serde_json::json!({ "user": user, "shell": shell }));
    std::fs::write(place.path("tasks.jsonl"), tasks.iter().map(line).collect::<String>()).unwrap();
    place.text("tasks.jsonl")
}

#[test]
fn tasks_of_a_file_run_side_by_side_and_print_in_the_order_of_their_lines() {
    // contract, section 4
    let place = Place::new();
    place.gate("gate");
    let from = lines_of(
        &place,
        &[
            ("alice", "echo a1; echo first >&2; read _ < $PLACE/gate; echo a2"),
            ("bob", "echo b1; echo > $PLACE/gate; exit 3"),
            ("alice", "echo a3; exit 5"),
            ("carol", "echo c1"),
        ],
    );
    let ran = place.luzia(&["run", "--from", &from]).coded(3);
    assert_eq!(ran.out, "a1\na2\nb1\na3\nc1\n", "{ran:?}");
    assert!(ran.err.contains("first\n") && ran.err.contains("task_2 failed") && ran.err.contains("task_3 failed"));
    let statuses: Vec<String> = (1..=4).map(|id| place.status(&id.to_string())).collect();
    assert_eq!(statuses, ["completed", "failed", "failed", "completed"]);
    // All well; from standard input, one of them due later and one after another of before.
    let more = "{\"user\":\"a\",\"shell\":\"echo x\",\"in\":\"300ms\"}\n\n{\"user\":\"b\",\"command\":[\"echo\",\"y\"],\"after\":4}\n";
    std::fs::write(place.path("more"), more).unwrap();
    let script = "exec \"$LUZIA\" --json run --wait --from - < $PLACE/more";
    let ran = place.spawn(&mut place.shell(script)).end().coded(0);
    assert_eq!(ran.out, "x\ny\n");
    let told: Vec<serde_json::Value> = ran.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (told.len(), told[0]["id"].as_str(), told[1]["status"].as_str()),
        (2, Some("task_5"), Some("completed"))
    );
}

#[test]
fn a_file_with_a_mistake_runs_nothing_and_an_empty_one_is_done() {
    let place = Place::new();
    let from = lines_of(&place, &[("alice", "true"), ("", "true")]);
    let refused = place.luzia(&["run", "--from", &from]).coded(2);
    assert!(refused.err.contains("line 2"), "{}", refused.err);
    for more in [&["-u", "bob"][..], &["--no-wait"], &["--", "true"], &["--shell", "true"]] {
        place.luzia(&[&["run", "--from", &from][..], more].concat()).coded(2);
    }
    place.luzia(&["run", "--from", "/no/such"]).coded(74);
    std::fs::write(place.path("empty"), "\n\n").unwrap();
    place.ok(&["run", "--from", &place.text("empty")]);
    assert_eq!(place.json(&["list", "-a"])["items"], serde_json::json!([]));
    // Inside a task a line that needs a lane of that task would wait for ever.
    let inside = place.luzia(&["run", "-u", "alice", "--shell", &format!("$LUZIA run --from {from}")]).coded(1);
    assert!(inside.err.contains("line 1: "), "{inside:?}");
}

#[test]
fn an_interrupt_ends_all_tasks_of_a_file() {
    let place = Place::new();
    let sleep = "echo up > $PLACE/up$LUZIA_TASK_ID; exec sleep 1000";
    let from = lines_of(&place, &[("alice", sleep), ("bob", sleep), ("alice", sleep)]);
    let run = place.start_attentive(&["run", "--from", &from]);
    place.until_file("uptask_1");
    place.until_file("uptask_2");
    crate::support::signal(run.pid(), rustix::process::Signal::INT);
    let ran = run.end();
    assert_ne!(ran.code, 0);
    assert!((1..=3).all(|id| place.status(&id.to_string()) == "cancelled"), "{ran:?}");
}

#[test]
fn an_interrupt_ends_a_task_of_a_file_that_starts_at_that_moment() {
    for _ in 0..20 {
        let place = Place::new();
        // The end of the first one starts the second one, while `run` asks both to end.
        let first = "until [ -s $PLACE/pid ]; do sleep 0.005; done; kill -INT $(cat $PLACE/pid)";
        let from = lines_of(&place, &[("alice", first), ("alice", "exec sleep 1000")]);
        let run = place.start_attentive(&["run", "--from", &from]);
        std::fs::write(place.path("pid"), run.pid().to_string()).unwrap();
        assert_ne!(run.end().code, 0);
        assert_eq!(place.status("2"), "cancelled");
    }
}

#[test]
fn tasks_of_a_file_end_when_nobody_reads_any_more() {
    let place = Place::new();
    let from = lines_of(
        &place,
        &[("alice", "echo a"), ("bob", "head -c 300000 /dev/zero | tr '\\0' x"), ("carol", "exec sleep 1000")],
    );
    let script = format!("\"$LUZIA\" run --from {from} | head -n 1");
    assert_eq!(place.spawn(&mut place.shell(&script)).end().coded(0).out, "a\n");
    place.until_status("3", "cancelled");
}
