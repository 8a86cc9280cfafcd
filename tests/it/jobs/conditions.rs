//! `--after`, `--after-any`, `--after-failed`: which end of another task a task waits for, and that it never waits for one that
//! can come no more (`DependencyFailed`).

use crate::support::Place;
use serde_json::json;

const OPTIONS: [&str; 3] = ["--after", "--after-any", "--after-failed"];

/// A task that ends in a way once a pass is made; the last option of luzia to bring that about.
fn before(place: &Place, end: &str) -> String {
    let command = if end == "completed" { "true" } else { "exec sleep 1000" };
    let command = if end == "failed" { "exit 3" } else { command };
    let options: &[&str] = if end == "timeout" { &["--timeout", "50ms", "--grace", "0"] } else { &[] };
    place.enqueue(&[options, &["-u", "a", "--", "sh", "-c", command]].concat())
}

#[test]
fn a_task_starts_after_the_end_it_asks_for_and_else_ends_with_the_reason() {
    for end in ["completed", "failed", "timeout", "cancelled"] {
        let place = Place::new();
        let first = before(&place, end);
        let ids: Vec<String> =
            OPTIONS.iter().map(|option| place.enqueue(&["-u", "b", option, &first, "--", "true"])).collect();
        assert!(place.ok(&["explain", &ids[1]]).out.contains(&first));
        if end == "cancelled" {
            place.ok(&["cancel", &first]);
        }
        place.drain();
        assert_eq!(place.status(&first), end);
        for (option, id) in OPTIONS.iter().zip(&ids) {
            let starts = match *option {
                "--after" => end == "completed",
                "--after-any" => true,
                _ => end == "failed" || end == "timeout",
            };
            let shown = place.show(id);
            if starts {
                assert_eq!(shown["status"], "completed", "{option} {end}");
            } else {
                assert_eq!(
                    (&shown["status"], &shown["reason"]),
                    (&json!("cancelled"), &json!("DependencyFailed")),
                    "{option} {end}"
                );
                assert_eq!(shown["reason_detail"]["task"], first.as_str());
                assert!(shown["cancelReason"].as_str().unwrap().contains(&first), "{shown}");
                assert_eq!(shown["starts"], 0);
            }
        }
        assert!(place.ok(&["show", &ids[2]]).out.contains("(if it fails)"));
    }
}

#[test]
fn a_chain_of_failures_leaves_nobody_waiting() {
    let place = Place::new();
    let first = before(&place, "failed");
    let second = place.enqueue(&["-u", "a", "--after", &first, "--", "true"]);
    let third = place.enqueue(&["-u", "a", "--after", &second, "--", "true"]);
    let any = place.enqueue(&["-u", "a", "--after-any", &third, "--", "true"]);
    // Both at once: each as was asked.
    let both = place.enqueue(&["-u", "a", "--after-failed", &first, "--after-any", &second, "--", "true"]);
    place.drain();
    let states: Vec<String> = [&second, &third, &any, &both].iter().map(|id| place.status(id)).collect();
    assert_eq!(states, ["cancelled", "cancelled", "completed", "completed"]);
}

#[test]
fn a_removed_predecessor_ends_a_task_or_lets_it_start() {
    let place = Place::new();
    let first = before(&place, "cancelled");
    let ids: Vec<String> =
        OPTIONS.iter().map(|option| place.enqueue(&["-u", "b", option, &first, "--", "true"])).collect();
    // As after a restore from a backup: the record is nowhere.
    let number = first.trim_start_matches("task_");
    let mut found = Vec::new();
    let mut folders = vec![place.state().join("spool/pending")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.file_name().unwrap() == format!("{number}.json").as_str() {
                found.push(entry);
            }
        }
    }
    assert_eq!(found.len(), 1);
    std::fs::remove_file(&found[0]).unwrap();
    place.drain();
    let states: Vec<String> = ids.iter().map(|id| place.status(id)).collect();
    assert_eq!(states, ["cancelled", "completed", "cancelled"]);
}

#[test]
fn what_can_never_start_is_refused_at_once() {
    let place = Place::new();
    let done = before(&place, "completed");
    let failed = before(&place, "failed");
    place.drain();
    for (option, id, code, word) in [
        ("--after-failed", &done, 2, "did not fail"),
        ("--after", &failed, 2, "nothing can come after it"),
        ("--after-any", &done, 0, ""),
        ("--after-any", &failed, 0, ""),
        ("--after-failed", &failed, 0, ""),
        ("--after-any", &"task_99".to_owned(), 66, "there is no task_99"),
    ] {
        let ran = place.luzia(&["enqueue", "-u", "a", option, id, "--", "true"]).coded(code);
        assert!(ran.err.contains(word), "{option} {id}: {ran:?}");
    }
    let twice = ["enqueue", "-u", "a", "--after", &done, "--after-any", &done, "--", "true"];
    assert!(place.luzia(&twice).coded(2).err.contains("named in two of"));
}

#[test]
fn a_retry_waits_again_for_the_end_it_asked_for() {
    let place = Place::new();
    place.gate("gate");
    let first = place.enqueue(&["-u", "a", "--", "sh", "-c", "read _ < $PLACE/gate; exit 3"]);
    let second = place.enqueue(&["-u", "b", "--after-failed", &first, "--", "true"]);
    place.ok(&["dispatch"]);
    place.open_gate("gate");
    place.drain();
    assert_eq!(place.status(&second), "completed");
    place.ok(&["retry", &first]);
    place.ok(&["retry", &second]);
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&second), "pending");
    place.open_gate("gate");
    place.drain();
    assert_eq!(place.status(&second), "completed");
}
