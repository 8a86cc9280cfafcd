//! Variables: `set`, `get`, the environment and the arguments of the next start, and `beat`.

use super::{pending, script};
use crate::support::Place;
use serde_json::json;

#[test]
fn a_variable_is_in_the_environment_and_the_arguments_of_the_next_start() {
    let place = Place::new();
    let id = place.enqueue(&[
        "-u",
        "alice",
        "--",
        "sh",
        "-c",
        "echo \"$LUZIA_VAR_page|$1|$LUZIA_VAR_list\"",
        "x",
        "p{{page}}-{{no}}",
    ]);
    place.ok(&["set", "--task", &id, "page=3 of 4", "empty="]);
    place.ok(&["set", "--task", &id, "--json-value", "list=[1, \"a\"]"]);
    place.drain();
    assert_eq!(place.ok(&["logs", &id]).line(), "3 of 4|p3 of 4-{{no}}|[1,\"a\"]");
    assert_eq!(place.show(&id)["vars"], json!({ "page": "3 of 4", "empty": "", "list": [1, "a"] }));
    assert_eq!(place.ok(&["get", "--task", &id, "list"]).line(), "[1,\"a\"]");
    assert_eq!(place.json(&["get", "--task", &id])["vars"]["page"], "3 of 4");
}

#[test]
fn a_script_keeps_its_place_over_its_starts() {
    let place = Place::new();
    let text = "n=$(\"$LUZIA\" get n || echo 0); \"$LUZIA\" set n=$((n+1)); echo now $LUZIA_VAR_n; test $n -ge 1";
    let id = place.enqueue(&["-u", "alice", "--retries", "3", "--", "sh", "-c", text]);
    place.drain();
    let shown = place.show(&id);
    assert_eq!((&shown["status"], &shown["vars"]["n"]), (&json!("completed"), &json!("2")), "{shown:#}");
    assert!(place.ok(&["logs", &id]).out.ends_with("now 1\n"), "the second start has what the first one set");
}

#[test]
fn twelve_that_set_at_once_lose_nothing() {
    let place = pending();
    let all: Vec<_> =
        (0..12).map(|at| place.start(&["set", "--task", "1", &format!("v{at}={at}"), "last=x"])).collect();
    all.into_iter().for_each(|one| drop(one.end().coded(0)));
    let vars = &place.json(&["get", "--task", "1"])["vars"];
    assert_eq!(vars.as_object().unwrap().len(), 13, "{vars:#}");
}

#[test]
fn bad_input_changes_nothing() {
    let place = pending();
    let before = place.snapshot();
    let long = format!("a={}", "x".repeat(70_000));
    let name = format!("{}=1", "n".repeat(65));
    for args in [
        &["set", "--task", "1"][..],
        &["set", "--task", "1", "a"],
        &["set", "--task", "1", "a-b=1"],
        &["set", "--task", "1", "=1"],
        &["set", "--task", "1", "ok=1", "9=1"],
        &["set", "--task", "1", "--json-value", "a=[1"],
        &["set", "--task", "1", "--json-value", "a=\"\\u0000\""],
        &["set", "--task", "1", &long],
        &["set", "--task", "1", &name],
        &["set", "--task", "1", "--unset", "a b"],
        &["get", "--task", "1", "a b"],
        &["set", "a=1"],
        &["get"],
        &["beat"],
        &["beat", "--task", "1", "--note", &long[..2000]],
    ] {
        let ran = place.luzia(args).coded(2);
        assert!(ran.err.contains("hint") || ran.err.contains("--help"), "{args:?} says what would help: {ran:?}");
    }
    place.luzia(&["set", "--task", "7", "a=1"]).coded(66);
    place.luzia(&["get", "--task", "1", "a"]).coded(1);
    place.assert_unchanged(&before, "bad input");
}

#[test]
fn all_variables_together_have_a_limit_and_the_old_ones_stay() {
    let place = pending();
    let value = "x".repeat(60_000);
    for name in ["a", "b", "c", "d"] {
        place.ok(&["set", "--task", "1", &format!("{name}={value}")]);
    }
    place.luzia(&["set", "--task", "1", &format!("e={value}")]).coded(2);
    let vars = &place.json(&["get", "--task", "1"])["vars"];
    assert_eq!(vars.as_object().unwrap().len(), 4);
    place.drain();
    assert_eq!(place.status("1"), "completed", "the environment holds the largest variables");
    place.luzia(&["set", "--task", "1", "--unset", "a"]).coded(1);
}

#[test]
fn a_finished_task_is_not_changed() {
    let place = pending();
    place.ok(&["set", "--task", "1", "a=1"]);
    place.drain();
    let before = place.snapshot();
    for args in [&["set", "--task", "1", "a=2"][..], &["beat", "--task", "1"]] {
        let ran = place.luzia(args).coded(1);
        assert!(ran.err.contains("completed"), "{ran:?}");
    }
    place.assert_unchanged(&before, "a verb for a finished task");
    assert_eq!(place.ok(&["get", "--task", "1", "a"]).line(), "1", "what it had can be read");
}

#[test]
fn a_variable_is_removed() {
    let place = pending();
    place.ok(&["set", "--task", "1", "a=1", "b=2"]);
    place.ok(&["set", "--task", "1", "--unset", "a", "c=3"]);
    assert_eq!(place.json(&["get", "--task", "1"])["vars"], json!({ "b": "2", "c": "3" }));
}

#[test]
fn a_task_that_uses_none_of_it_leaves_no_folder() {
    let place = pending();
    place.drain();
    assert!(!place.state().join("spool/steps").exists());
    assert!(place.show("1").get("vars").is_none());
}

#[test]
fn what_a_task_remembers_is_removed_with_it() {
    let place = Place::configured(&json!({ "retention": { "tasks": 1 } }));
    for _ in 0..2 {
        script(&place, &[], "\"$LUZIA\" set a=1; \"$LUZIA\" step one -- echo x; \"$LUZIA\" emit E --task self");
    }
    assert!(place.state().join("spool/steps/1/mail/1.json").exists());
    std::fs::write(place.state().join("spool/pruned"), "00000000000000000000\n").unwrap();
    place.ok(&["dispatch"]);
    assert!(!place.state().join("spool/steps/1").exists());
    assert!(place.state().join("spool/steps/2/vars.json").exists());
}

#[test]
fn a_sign_of_progress_is_shown_while_the_task_runs() {
    let place = Place::new();
    let gate = place.gate("gate");
    let id = place.enqueue(&[
        "-u",
        "alice",
        "--",
        "sh",
        "-ec",
        &format!("\"$LUZIA\" beat --note 'page 3'; echo > $PLACE/on; read x < {gate}"),
    ]);
    place.ok(&["dispatch"]);
    place.until_file("on");
    let shown = place.show(&id);
    assert_eq!(shown["beat"]["note"], "page 3", "{shown:#}");
    assert!(place.ok(&["show", &id]).out.contains("page 3"));
    assert_eq!(place.json(&["list"])["items"][0]["beat"]["note"], "page 3");
    place.open_gate("gate");
    place.until_status(&id, "completed");
}

#[test]
fn what_a_caller_has_of_another_task_does_not_reach_a_child() {
    let place = Place::new();
    let text = "test -n \"$LUZIA_VAR_a\" || { \"$LUZIA\" set a=1; exit 1; }; \"$LUZIA\" enqueue -u bob -- sh -c 'echo \"<$LUZIA_VAR_a>\"'";
    script(&place, &["--retries", "1"], text);
    place.drain();
    assert_eq!(place.ok(&["logs", "2"]).line(), "<>");
}
