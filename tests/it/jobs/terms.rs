//! `--reuse`, `--on-finish`, `--log-sample`, and the variables of a trace.

use crate::support::{Place, until};
use serde_json::json;

#[test]
fn a_task_goes_on_from_the_variables_of_the_last_of_its_goal() {
    // S2.F3
    let place = Place::new();
    let of = |options: &[&str], script: &str| {
        let id = place.enqueue(&[&["-u", "a"], options, &["--", "sh", "-ec", script]].concat());
        place.drain();
        id
    };
    let old = of(&["--goal", "report"], "\"$LUZIA\" set n=1 old=yes");
    let newest = of(&["--goal", "report"], "\"$LUZIA\" set n=2");
    of(&["--goal", "report"], "\"$LUZIA\" set n=9; exit 3");
    of(&["--goal", "other"], "\"$LUZIA\" set n=7");
    let script = "echo \"$LUZIA_VAR_n$LUZIA_VAR_old\"; \"$LUZIA\" set n=3";
    let reused = of(&["--goal", "report", "--reuse", "goal"], script);
    let shown = place.show(&reused);
    assert_eq!((&shown["reuses"], &shown["vars"]["n"]), (&json!(newest), &json!("3")));
    assert_eq!(place.ok(&["logs", &reused, "--stdout"]).out, "2\n");
    // By its name, and without one that has ended.
    let named = of(&["--reuse", "report"], "echo $LUZIA_VAR_n $LUZIA_GOAL");
    assert_eq!(place.show(&named)["reuses"], reused.as_str());
    assert_eq!(place.ok(&["logs", &named, "--stdout"]).out, "3 report\n");
    let first = of(&["--reuse", "unknown"], "echo \"<$LUZIA_VAR_n>\"");
    assert!(place.show(&first).get("reuses").is_none());
    assert_eq!(place.ok(&["logs", &first, "--stdout"]).out, "<>\n");
    // Another user's variables are that user's.
    let foreign = place.ok(&["enqueue", "-u", "b", "--reuse", "report", "--", "true"]);
    assert!(
        foreign.err.contains("begins without variables: no task of user \"b\" with the goal \"report\""),
        "{}",
        foreign.err
    );
    assert!(place.show(foreign.out.trim()).get("reuses").is_none());
    let own = place.ok(&["enqueue", "-u", "a", "--goal", "report", "--reuse", "goal", "--", "true"]);
    assert!(own.err.contains(&format!("begins with the variables of {named}")), "{}", own.err);
    assert_eq!(place.show(&old)["vars"]["old"], "yes");
}

#[test]
fn the_last_command_of_a_task_runs_once_after_each_end() {
    // Row 22.7
    let place = Place::new();
    let line = "cat > $OUT/payload; echo $LUZIA_TASK_ID $LUZIA_STATUS $LUZIA_EXIT_CODE >> $OUT/ends";
    let line = line.replace("$OUT", &place.text(""));
    let asked = |options: &[&str], script: &str| {
        place.enqueue(&[&["-u", "a", "--on-finish", &line], options, &["--", "sh", "-c", script]].concat())
    };
    let good = asked(&[], "exit 0");
    let bad = asked(&["--retries", "1", "--backoff", "10ms"], "exit 3");
    let never = asked(&["--hold"], "exit 0");
    place.drain();
    place.ok(&["cancel", &never]);
    let ends = until("three ends", || {
        let text = std::fs::read_to_string(place.path("ends")).unwrap_or_default();
        (text.lines().count() == 3).then_some(text)
    });
    let mut ends: Vec<&str> = ends.lines().map(str::trim).collect();
    ends.sort_unstable();
    assert_eq!(ends, [format!("{good} completed 0"), format!("{bad} failed 3"), format!("{never} cancelled")]);
    let payload: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(place.path("payload")).unwrap()).unwrap();
    assert_eq!((&payload["event"], &payload["task"]), (&json!("task.finished"), &json!(never)));
    assert_eq!(place.events_named("hook_ran").len(), 3);
    // One that fails changes nothing but is told of.
    let id = place.enqueue(&["-u", "a", "--on-finish", "exit 7", "--", "true"]);
    place.drain();
    until("it failed", || (place.events_named("hook_failed").len() == 1).then_some(()));
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn a_share_of_the_starts_is_logged_with_prompt_and_answer() {
    // S2.32
    let place = Place::new();
    let asked = |share: &str| {
        let id = place.enqueue(&[
            "-u",
            "a",
            "--log-sample",
            share,
            "--prompt",
            "say hi",
            "--",
            "sh",
            "-c",
            "cat; echo there",
        ]);
        place.drain();
        id
    };
    let (all, none) = (asked("1"), asked("0"));
    let of = |kind: &str| -> Vec<(String, serde_json::Value)> {
        place
            .events_named(kind)
            .iter()
            .map(|one| (one["task"].as_str().unwrap().to_owned(), one["data"].clone()))
            .collect()
    };
    let (prompts, responses) = (of("prompt"), of("response"));
    assert_eq!((prompts.len(), responses.len()), (1, 1), "not {none}");
    assert_eq!((&prompts[0].0, &prompts[0].1["prompt"]), (&all, &json!("say hi")));
    assert_eq!(responses[0].1["response"], "say hithere");
}

#[test]
fn the_variables_of_a_trace_are_stored_and_passed_on() {
    let place = Place::new();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let script = "echo \"$TRACEPARENT|$TRACESTATE|$BAGGAGE\"";
    let enqueue = |baggage: &str| {
        let mut command = place.command(&["enqueue", "-u", "a", "--", "sh", "-c", script]);
        command.env("TRACEPARENT", parent).env("TRACESTATE", "v=1").env("BAGGAGE", baggage);
        let id = place.spawn(&mut command).end().coded(0).line();
        place.drain();
        id
    };
    let id = enqueue("user=a");
    let said = place.ok(&["logs", &id, "--stdout"]).out;
    let (own, rest) = said.trim_end().split_once('|').unwrap();
    assert_eq!(rest, "v=1|user=a");
    assert!(own.starts_with(&parent[..36]) && own != parent, "a span of its own in the same trace: {own}");
    let spans = place.ok(&["events", &id, "-o", "otlp"]).out;
    let traces: serde_json::Value = serde_json::from_str(spans.lines().next().unwrap()).unwrap();
    let span = &traces["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!((&span["traceId"], &span["traceState"]), (&json!(&parent[3..35]), &json!("v=1")));
    assert_eq!((&span["parentSpanId"], &span["spanId"]), (&json!(&parent[36..52]), &json!(&own[36..52])));
    // What is too long is left out, never cut.
    let id = enqueue(&"x".repeat(8193));
    assert!(place.ok(&["logs", &id, "--stdout"]).out.ends_with("|v=1|\n"));
}
