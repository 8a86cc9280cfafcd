//! `status`: who waits longest, how tasks ended lately, and who has how many.

use crate::support::{Place, until};
use serde_json::json;

#[test]
fn the_overview_has_the_oldest_wait_the_last_hour_and_each_user() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.enqueue(&["-u", "alice", "--", "false"]);
    place.drain();
    let over = place.enqueue(&["-u", "bob", "--", "true"]);
    place.ok(&["cancel", &over]);
    let running = place.enqueue(&["-u", "alice", "--", "sleep", "30"]);
    place.ok(&["dispatch"]);
    until("it runs", || (place.status(&running) == "running").then_some(()));
    let oldest = place.enqueue(&["-u", "alice", "--priority", "9", "--", "true"]);
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.enqueue(&["-u", "carol", "--in", "1h", "--", "true"]);
    let status = place.json(&["status"]);
    assert_eq!(status["oldest_wait"]["task"], oldest.as_str(), "by its age, not by its place");
    assert!(status["oldest_wait"]["waited_ms"].is_u64());
    assert_eq!(status["last_hour"], json!({ "completed": 1, "failed": 1, "cancelled": 1 }));
    assert_eq!(status["users"], json!([{ "user": "alice", "pending": 2, "active": 1 }]));
    let table = place.ok(&["status"]).out;
    let row = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(row("oldest wait").contains(&format!("luzia explain {oldest}")), "{table}");
    assert!(row("last hour").ends_with("1 completed, 1 failed, 1 cancelled"), "{table}");
    assert!(row("user alice").ends_with("2 pending, 1 active"), "{table}");
    assert!(row(&running).contains("alice running for ") && row(&running).ends_with(": sleep 30"), "{table}");
    place.ok(&["cancel", &running]);
}

#[test]
fn an_overview_of_many_users_shows_those_with_most_tasks() {
    let place = Place::new();
    let line = |at: usize| format!("{{\"user\":\"u{}\",\"command\":[\"true\"]}}\n", at % 12);
    std::fs::write(place.path("many.jsonl"), (0..25).map(line).collect::<String>()).unwrap();
    place.ok(&["enqueue", "--from", &place.text("many.jsonl")]);
    let table = place.ok(&["status"]).out;
    let users: Vec<&str> = table.lines().filter(|line| line.starts_with("user ")).collect();
    assert!(users.len() == 10 && users[0].ends_with("3 pending, 0 active"), "{table}");
    assert!(table.contains("2; luzia status --json has all"), "{table}");
    assert_eq!(place.json(&["status"])["users"].as_array().unwrap().len(), 12);
}
