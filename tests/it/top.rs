//! `top`: the tasks and the locks, once where nobody looks at a terminal.

use crate::support::Place;
use serde_json::{Value, json};

#[test]
fn top_shows_tasks_with_their_reasons_and_locks_once_where_stdout_is_no_terminal() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    let script = format!("read _ <{}", place.gate("go"));
    let runs = place.enqueue(&["-u", "alice", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&runs, "running");
    let waits = place.enqueue(&["-u", "alice", "--", "true"]);
    for args in [&["top"][..], &["top", "--once"]] {
        let said = place.ok(args).out;
        assert!(said.contains("1 of 4 slots in use") && said.contains(&format!("waits for {runs} (alice)")), "{said}");
        assert!(said.contains("LANE") && said.contains("user:alice  held") && !said.contains('\u{1b}'), "{said}");
    }
    let told = place.json(&["top"]);
    let ids: Vec<&Value> = told["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&json!(runs), &json!(waits)]);
    assert_eq!((&told["slots"]["used"], &told["tasks"][1]["reason"]), (&json!(1), &json!("UserLockHeld")));
    assert_eq!(told["locks"].as_array().unwrap().len(), 2);
    let few = place.json(&["top", "-n", "1"]);
    assert_eq!(few["tasks"].as_array().unwrap().len(), 1);
    place.open_gate("go");
    place.drain();
}

#[test]
fn top_of_nothing_shows_nothing_and_makes_nothing() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    let said = place.ok(&["top"]).out;
    assert!(said.contains("0 of 4 slots in use"), "{said}");
    assert!(!place.state().exists(), "nothing was written");
    for interval in ["0", "-1s", "soon"] {
        assert!(place.luzia(&["top", "--interval", interval]).coded(2).err.contains("interval"));
    }
}
