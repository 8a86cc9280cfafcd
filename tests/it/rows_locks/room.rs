//! Lanes that have room for several, and guards that lost what they knew: whom a task looks at, and that fences rise
//! (P4, I4 of `locks.md`).

use crate::support::Place;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn with_room() -> Place {
    Place::configured(&json!({ "lanes": { "cron": { "max": 2 } } }))
}

fn write_lock(place: &Place, stem: &str, sidecar: &Value) {
    let text = |member: &str| sidecar[member].as_str().unwrap().to_owned();
    fs::write(place.lock(&format!("{stem}.json")), sidecar.to_string()).unwrap();
    fs::write(place.lock(&format!("{stem}.lock")), format!("{} {}\n", text("lock_id"), sidecar["fence"])).unwrap();
}

fn fence(place: &Place, lane: &str) -> u64 {
    place.json(&["acquire", lane, "--task", "t"])["fence"].as_u64().unwrap()
}

/// The guard of a lane: the first byte of the CRC-32 of its stem.
fn guard(place: &Place, stem: &str) -> PathBuf {
    place.lock(&format!(".guard/{:02x}", crc32fast::hash(stem.as_bytes()) >> 24))
}

#[test]
fn a_lease_that_ran_out_is_broken_by_a_task_though_its_lane_has_room() {
    // P4
    let place = with_room();
    place.ok(&["acquire", "cron", "--task", "t1", "--ttl", "1"]);
    place.age_lock("lane_cron", 1_001);
    place.ok(&["run", "-u", "a", "--lane", "cron", "--", "true"]);
    assert_eq!(place.events_named("lock_broken").len(), 1);
    assert_eq!(place.json(&["list-locks"])["items"], json!([]));
}

#[test]
fn a_task_holds_one_slot_of_each_lane_whatever_a_dead_claim_of_it_left() {
    for (name, content) in [("named", None), ("empty", Some("")), ("torn", Some("task"))] {
        let place = with_room();
        let gate = place.gate("gate");
        place.enqueue(&["-u", "a", "--lane", "cron", "--", "sh", "-c", &format!("read x <{gate}")]);
        for (stem, lane) in [("lane_cron", "cron"), ("lane_global", "global")] {
            let left = json!({ "v": 1, "lane": lane, "lock_id": "task_1_1700000000", "task_id": "task_1", "fence": 5,
                "acquired_at": "2023-11-14T22:13:20Z", "kind": "task" });
            write_lock(&place, stem, &left);
            if let Some(content) = content {
                fs::write(place.lock(&format!("{stem}.lock")), content).unwrap();
            }
        }
        let dispatcher = place.start(&["dispatch", "--drain"]);
        place.until_status("1", "running");
        place.supervisor("1");
        let held = place.json(&["list-locks"]);
        let mut lanes: Vec<&str> =
            held["items"].as_array().unwrap().iter().map(|lock| lock["lane"].as_str().unwrap()).collect();
        lanes.sort_unstable();
        assert_eq!(lanes, ["cron", "global", "user:a"], "{name}");
        place.open_gate("gate");
        place.until_status("1", "completed");
        assert_eq!(dispatcher.end().code, 0);
        assert_eq!(place.json(&["list-locks"])["items"], json!([]), "{name}");
    }
}

#[test]
fn a_guard_with_something_behind_its_line_gives_the_next_fence() {
    let place = Place::new();
    let first = fence(&place, "alice");
    place.ok(&["release", "alice"]);
    let guard = guard(&place, "user_alice");
    let line = fs::read(&guard).unwrap();
    fs::write(&guard, [&*line, b"and more\n"].concat()).unwrap();
    for further in 1..4 {
        assert_eq!(fence(&place, "alice"), first + further);
        place.ok(&["release", "alice"]);
    }
}

#[test]
fn a_guard_that_was_lost_goes_on_past_the_fences_of_all_its_lanes() {
    let place = Place::new();
    let bucket = |user: &str| guard(&place, &format!("user_{user}"));
    let neighbour = (0..).map(|n| format!("u{n}")).find(|user| bucket(user) == bucket("alice")).unwrap();
    fence(&place, &neighbour);
    let stem = format!("user_{neighbour}");
    let mut sidecar: Value = serde_json::from_slice(&fs::read(place.lock(&format!("{stem}.json"))).unwrap()).unwrap();
    let far = 8_000_000_000_000_000;
    sidecar["fence"] = far.into();
    write_lock(&place, &stem, &sidecar);
    for lost in [None, Some("not a line")] {
        fs::remove_file(bucket("alice")).unwrap();
        if let Some(text) = lost {
            fs::write(bucket("alice"), text).unwrap();
        }
        assert!(fence(&place, "alice") > far, "{lost:?}");
        place.ok(&["release", "alice"]);
    }
}
