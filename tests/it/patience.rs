//! Callers that cannot wait long: an agent's tool ends a call after some minutes, and the task must go on without it.

use crate::support::{Place, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A task of user a that runs until its gate opens.
fn busy(place: &Place) -> String {
    let script = format!("read _ < {}", place.gate("go"));
    let id = place.enqueue(&["-u", "a", "--shell", &format!("echo up > $PLACE/up; {script}; echo over")]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    id
}

#[test]
fn a_run_that_yields_keeps_the_place_of_its_task() {
    let place = Place::new();
    busy(&place);
    let ran = place.luzia(&["run", "-u", "a", "--yield-after", "200ms", "--", "sh", "-c", "echo second"]).coded(75);
    let line = "still queued as task_2, position 1; go on with: luzia wait task_2 --stream";
    assert!(ran.err.contains(line), "{}", ran.err);
    assert!(ran.err.contains("task_2 waits: "), "it says at once for whom it waits: {}", ran.err);
    let third = place.luzia(&["--json", "run", "-u", "a", "--yield-after", "0.2", "--", "true"]).coded(75);
    let error: Value = serde_json::from_str(&third.err).unwrap();
    assert_eq!((&error["code"], &error["next"]), (&json!("STILL_QUEUED"), &json!(["luzia wait task_3 --stream"])));
    assert_eq!(place.status("task_2"), "pending");
    let stream = place.start(&["wait", "task_2", "--stream"]);
    place.open_gate("go");
    let ran = stream.end().coded(0);
    assert_eq!(ran.out, "second\n");
    place.ok(&["wait", "task_3"]);
}

#[test]
fn what_starts_in_time_is_not_yielded() {
    let place = Place::new();
    assert_eq!(
        place.ok(&["run", "--yield-after", "0", "--", "echo", "hi"]).out,
        "hi\n",
        "one pass is made in any case"
    );
    let ran = place.luzia(&["run", "--yield-after", "100ms", "--", "sh", "-c", "sleep 0.4; exit 7"]).coded(7);
    assert!(!ran.err.contains("still queued"), "{}", ran.err);
    for bad in ["-1", "x", ""] {
        place.luzia(&["run", "--yield-after", bad, "--", "true"]).coded(2);
    }
    place.luzia(&["run", "--yield-after", "1s", "--no-wait", "--", "true"]).coded(2);
}

#[test]
fn a_signal_to_a_run_of_an_agent_leaves_a_waiting_task_in_the_queue() {
    let place = Place::new();
    busy(&place);
    let start = |variable: &str, words: &[&str]| {
        let mut command = place.command(words);
        if !variable.is_empty() {
            command.env(variable, "1");
        }
        place.spawn(&mut command)
    };
    for (n, (variable, signal, code)) in
        [("CLAUDECODE", Signal::TERM, 143), ("LUZIA_AGENT", Signal::HUP, 129)].into_iter().enumerate()
    {
        let id = format!("task_{}", n + 2);
        let run = start(variable, &["run", "-u", "a", "--", "true"]);
        until("it waits", || run.err().contains("waits").then_some(()));
        run.signal(signal);
        let ran = run.end().coded(code);
        assert!(ran.err.contains(&format!("still queued as {id}")), "{}", ran.err);
        assert_eq!(place.status(&id), "pending");
    }
    // Ctrl-C cancels, and so does SIGTERM without an agent.
    for (variable, signal, code, id) in [("CLAUDECODE", Signal::INT, 130, "task_4"), ("", Signal::TERM, 143, "task_5")]
    {
        let run = start(variable, &["run", "-u", "a", "--", "true"]);
        until("it waits", || run.err().contains("waits").then_some(()));
        run.signal(signal);
        run.end().coded(code);
        assert_eq!(place.status(id), "cancelled");
    }
    // A task that runs is ended, also when an agent called.
    place.open_gate("go");
    place.ok(&["wait", "task_3", "--stream"]);
    let run = start("CLAUDECODE", &["run", "-u", "b", "--shell", "echo b > $PLACE/b; exec sleep 100"]);
    place.until_file("b");
    run.signal(Signal::TERM);
    run.end();
    assert_eq!(place.status("task_6"), "cancelled");
}

#[test]
fn attach_prints_the_output_from_its_beginning_and_ends_as_the_command_does() {
    let place = Place::new();
    for (script, code) in [("echo out; echo err >&2; exit 3", 3), ("kill -9 $$", 137), ("exit 0", 0)] {
        let id = place.enqueue(&["-u", "a", "--shell", script]);
        // A task that waits is started by attach itself.
        let ran = place.luzia(&["attach", &id]).coded(code);
        assert_eq!(place.luzia(&["attach", &id]).coded(code).out, ran.out, "again, of one that is over");
    }
    assert_eq!(place.luzia(&["attach", "1"]).out, "out\n");
    let id = place.enqueue(&["--timeout", "200ms", "--", "sleep", "60"]);
    place.luzia(&["attach", &id]).coded(124);
    place.luzia(&["attach", "task_99"]).coded(66);
    place.luzia(&["attach"]).coded(2);
    place.luzia(&["attach", "1", "2"]).coded(2);
    // Ctrl-C leaves the task alone.
    let id = place.enqueue(&["-u", "c", "--shell", "echo c > $PLACE/c; exec sleep 60"]);
    let attach = place.start_attentive(&["attach", &id]);
    place.until_file("c");
    attach.signal(Signal::INT);
    let ran = attach.end().coded(130);
    assert!(ran.err.contains(&format!("{id} goes on")), "{}", ran.err);
    assert_eq!(place.status(&id), "running");
    let late = place.luzia(&["wait", &id, "--stream", "--timeout", "100ms"]).coded(75);
    assert!(late.err.contains("not over yet"), "{}", late.err);
    assert_eq!(place.status(&id), "running");
    place.ok(&["cancel", "--yes", &id]);
}

#[test]
fn a_stream_of_several_tasks_has_the_code_of_the_first_that_failed() {
    let place = Place::new();
    let ids = ["echo 1", "echo 2; exit 5", "echo 3; exit 6"].map(|script| place.enqueue(&["--shell", script]));
    let ran = place.luzia(&["wait", "--stream", &ids[0], &ids[1], &ids[2]]).coded(5);
    assert_eq!(ran.out, "1\n2\n3\n");
    place.luzia(&["wait", "--stream", "--any", &ids[0]]).coded(2);
}

#[test]
fn a_result_file_holds_the_document_however_the_task_ends() {
    let place = Place::new();
    let path = place.text("result.json");
    let read = || -> Value { serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap() };
    for (script, code) in [("exit 0", 0), ("echo noise >&2; exit 4", 4)] {
        place.luzia(&["--json", "run", "--result-file", &path, "--shell", script]).coded(code);
        let document = read();
        assert_eq!((&document["schema"], &document["exit_code"]), (&json!("luzia.run/v1"), &json!(code)));
    }
    place.ok(&["acquire", "a", "--task", "t"]);
    place.luzia(&["run", "-u", "a", "--yield-after", "0", "--result-file", &path, "--", "true"]).coded(75);
    assert_eq!(read()["status"], "pending");
    let before = place.snapshot();
    std::fs::create_dir(place.path("folder")).unwrap();
    for bad in [place.text("nosuch/x"), String::new(), place.text("folder")] {
        let code = if bad.is_empty() { 2 } else { 73 };
        let ran = place.luzia(&["run", "--result-file", &bad, "--", "true"]).coded(code);
        assert!(!ran.err.contains(".luzia-"), "{}", ran.err);
        assert!(!bad.ends_with("nosuch/x") || ran.err.contains("No such file or directory"), "{}", ran.err);
    }
    place.assert_unchanged(&before, "a result file that cannot be made");
    let left = std::fs::read_dir(place.path(""))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with(".luzia-"));
    assert_eq!(left.count(), 0, "no temporary file is left");
}

#[test]
fn a_drain_names_every_task_when_it_ends_and_fails_with_one() {
    let place = Place::new();
    // The supervisor of the first starts the second.
    let ids: Vec<String> = (0..6).map(|n| place.enqueue(&["-u", ["a", "b"][n % 2], "--", "true"])).collect();
    let ran = place.ok(&["dispatch", "--drain"]);
    let mut named: Vec<&str> = ran.out.lines().collect();
    named.sort_unstable();
    assert_eq!(named, ids);
    let failed = place.enqueue(&["--shell", "exit 3"]);
    let late = place.enqueue(&["--timeout", "100ms", "--", "sleep", "60"]);
    let ran = place.luzia(&["--json", "dispatch", "--drain"]).coded(1);
    let mut ended = ran.json()["ended"].as_array().unwrap().clone();
    ended.sort_by_key(|end| end["id"].as_str().unwrap().to_owned());
    let end = |id: &str, status: &str, code: Value| json!({ "id": id, "status": status, "exit_code": code });
    assert_eq!(ended[0], end(&failed, "failed", json!(3)));
    assert_eq!((&ended[1]["id"], &ended[1]["status"]), (&json!(late), &json!("timeout")));
    assert_eq!(place.ok(&["dispatch", "--drain"]).out, "", "what was over before is not named");
    place.enqueue(&["--shell", "exit 3"]);
    let ran = place.luzia(&["-o", "jsonl", "dispatch", "--drain"]).coded(1);
    let line: Value = serde_json::from_str(ran.out.trim()).unwrap();
    assert_eq!(line["status"], "failed");
    // An end is told when it comes, not at the end of the drain.
    place.enqueue(&["-u", "quick", "--", "true"]);
    let slow = busy_of(&place);
    let drain = place.start(&["dispatch", "--drain"]);
    until("the quick one is named", || (drain.out() == "task_10\n").then_some(()));
    place.open_gate("slow");
    assert_eq!(drain.end().coded(0).out, format!("task_10\n{slow}\n"));
}

fn busy_of(place: &Place) -> String {
    place.enqueue(&["-u", "slow", "--shell", &format!("read _ < {}", place.gate("slow"))])
}

#[test]
fn wait_tells_each_end_when_it_comes() {
    let place = Place::new();
    let slow = busy_of(&place);
    let quick = place.enqueue(&["-u", "quick", "--", "true"]);
    let wait = place.start(&["-o", "jsonl", "wait", &slow, &quick]);
    place.ok(&["dispatch"]);
    until("the quick one is told", || wait.out().contains(&quick).then_some(()));
    assert!(!wait.out().contains(&format!("\"{slow}\"")), "{}", wait.out());
    place.open_gate("slow");
    let ran = wait.end().coded(0);
    assert_eq!(ran.out.lines().count(), 2);
}

#[test]
fn a_command_reads_the_standard_input_of_its_run() {
    let place = Place::new();
    let shell = |script: &str| place.spawn(&mut place.shell(script)).end();
    let ran = shell("printf 'one\\ntwo\\n' | \"$LUZIA\" run --stdin -- wc -l").coded(0);
    assert_eq!(ran.out.trim(), "2");
    // A file is read from where the caller stands in it.
    std::fs::write(place.path("lines"), "1\n2\n3\n").unwrap();
    let ran = shell("{ read -r first; \"$LUZIA\" run --stdin -- cat; } < $PLACE/lines").coded(0);
    assert!(["2\n3\n", ""].contains(&ran.out.as_str()), "a shell may read ahead, and then seeks back: {}", ran.out);
    // A supervisor that another dispatcher has started hands it on as well.
    place.ok(&["acquire", "a", "--task", "t"]);
    let run = place.spawn(&mut place.shell("echo far | \"$LUZIA\" run --stdin -u a -- cat"));
    until("it waits", || run.err().contains("waits").then_some(()));
    place.ok(&["release", "a", "t"]);
    place.ok(&["dispatch"]);
    assert_eq!(run.end().coded(0).out, "far\n");
    // The end of the input is the end for the command.
    assert_eq!(shell("\"$LUZIA\" run --stdin -- cat < /dev/null").coded(0).out, "");
}

#[test]
fn input_that_nobody_reads_is_told_and_input_that_is_gone_fails() {
    let place = Place::new();
    let shell = |script: &str| place.spawn(&mut place.shell(script)).end();
    let ran =
        shell("printf x > $PLACE/full; { printf x; sleep 1; } | { sleep 0.3; \"$LUZIA\" run -- wc -c; }").coded(0);
    assert_eq!(ran.out.trim(), "0");
    assert_eq!(ran.err.matches("nobody reads the pipe").count(), 1, "{}", ran.err);
    assert!(!shell("\"$LUZIA\" run -- true < /dev/null").err.contains("nobody reads"), "no pipe");
    place.ok(&["acquire", "a", "--task", "t"]);
    let mut run = place.spawn(&mut place.shell("exec \"$LUZIA\" run --stdin -u a -- cat < /dev/null"));
    until("it waits", || run.err().contains("waits").then_some(()));
    run.kill();
    place.ok(&["release", "a", "t"]);
    place.drain();
    let task = place.show("task_3");
    assert_eq!((&task["status"], &task["exit_code"]), (&json!("failed"), &json!(125)), "{task}");
    place.luzia(&["run", "--stdin", "--prompt", "x", "--", "cat"]).coded(2);
    place.luzia(&["run", "--stdin", "--retries", "1", "--", "cat"]).coded(2);
    let ran = shell("exec 0<&-; exec \"$LUZIA\" run --stdin -- cat");
    assert!([0, 2].contains(&ran.code), "{ran:#?}");
}
