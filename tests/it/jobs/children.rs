//! Children: each end is one event in the mailbox of the parent, and wakes nobody who does not wait for it (S1.22–S1.24, S2.12,
//! S2.13).

use crate::support::{Place, until};
use serde_json::{Value, json};

fn mail(place: &Place, parent: &str) -> Vec<Value> {
    let folder = place.state().join(format!("spool/steps/{}/mail", parent.trim_start_matches("task_")));
    let entries = std::fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap().path()).collect());
    let files: Vec<std::path::PathBuf> = entries.unwrap_or_default();
    let read = |path: &std::path::PathBuf| serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok();
    files.iter().filter_map(read).filter(|one: &Value| one["event"] == "AGENT_COMPLETED").collect()
}

#[test]
fn twelve_children_that_end_together_give_twelve_results() {
    // S2.12
    let place = Place::configured(&json!({ "slots": { "max": 16 } }));
    let script = "echo on > $PLACE/on; exec sleep 1000";
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-c", script]);
    place.ok(&["dispatch"]);
    place.until_file("on");
    let wait = "until [ -e $PLACE/go ]; do sleep 0.01; done; exit ";
    for number in 0..12 {
        let script = format!("{wait}{}", number % 3);
        place.enqueue(&["-u", &format!("c{number}"), "--parent", &parent, "--", "sh", "-c", &script]);
    }
    place.ok(&["dispatch"]);
    let running = || place.json(&["list", "--state", "running"])["items"].as_array().unwrap().len();
    until("all run", || (running() == 13).then_some(()));
    std::fs::write(place.path("go"), "").unwrap();
    until("all are over", || (running() == 1).then_some(()));
    let mut children: Vec<String> =
        mail(&place, &parent).iter().map(|one| one["data"]["child"].as_str().unwrap().to_owned()).collect();
    children.sort();
    let mut wanted: Vec<String> = (2..14).map(|number| format!("task_{number}")).collect();
    wanted.sort();
    assert_eq!(children, wanted);
    // Nobody waited for them, so the parent runs on as before.
    let shown = place.show(&parent);
    assert_eq!((&shown["status"], &shown["starts"]), (&json!("running"), &json!(1)));
    // S2.19: the tree has them all.
    let tree = place.ok(&["tree", &parent]).out;
    assert!(wanted.iter().all(|id| tree.contains(id.as_str())), "{tree}");
    place.ok(&["cancel", &parent, "--grace", "0"]);
}

#[test]
fn every_end_of_a_child_is_told_also_where_it_never_started() {
    let place = Place::new();
    let script = "echo on > $PLACE/on; exec sleep 1000";
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-c", script]);
    place.ok(&["dispatch"]);
    place.until_file("on");
    let child = |options: &[&str], command: &str| {
        place.enqueue(&[&["-u", "c", "--parent", &parent], options, &["--", "sh", "-c", command]].concat())
    };
    let removed = child(&["--hold"], "true");
    place.ok(&["cancel", &removed]);
    let replaced = child(&["--key", "k", "--hold"], "true");
    child(&["--key", "k", "--on-conflict", "replace"], "true");
    let failed = child(&[], "exit 3");
    let dependent = child(&["--after", &failed], "true");
    let late = child(&["--start-within", "1ms", "--in", "1h"], "true");
    let limited = child(&["--timeout", "20ms", "--grace", "0"], "sleep 1000");
    let status = |id: &str| {
        let all = mail(&place, &parent);
        let found: Vec<&Value> = all.iter().filter(|one| one["data"]["child"] == id).collect();
        assert!(found.len() < 2, "{id} is told twice");
        found.first().map(|one| one["data"]["childExecutionStatus"].as_str().unwrap().to_owned())
    };
    for (id, wanted) in [
        (&removed, "cancelled"),
        (&replaced, "cancelled"),
        (&failed, "failed"),
        (&dependent, "cancelled"),
        (&late, "timeout"),
        (&limited, "timeout"),
    ] {
        let told = until(&format!("the end of {id}"), || {
            place.ok(&["dispatch"]);
            status(id)
        });
        assert_eq!(told, wanted, "{id}");
    }
    place.ok(&["cancel", &parent, "--grace", "0"]);
}

#[test]
fn a_parent_that_waits_for_something_else_is_not_woken() {
    // S2.13
    let place = Place::new();
    let script = "exec \"$LUZIA\" await response";
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-c", script]);
    place.ok(&["dispatch"]);
    place.until_status(&parent, "waiting");
    place.enqueue(&["-u", "c", "--parent", &parent, "--", "true"]);
    place.ok(&["dispatch"]);
    until("the end is told", || (mail(&place, &parent).len() == 1).then_some(()));
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&parent), "waiting");
    assert_eq!(place.events_named("resumed").len(), 0);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &parent]);
    until("it is over", || (place.status(&parent) == "completed").then_some(()));
    // A parent that is over gets nothing.
    let other = place.enqueue(&["-u", "c", "--", "true"]);
    place.drain();
    assert_eq!(place.luzia(&["enqueue", "--parent", &other, "--", "true"]).code, 2);
}
