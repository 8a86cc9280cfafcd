//! Locks in lists and in `status` (S0.27, S3.13, S3.16, S3.26 to S3.29, S3.32, S3.37, S3.38).

use crate::support::{Place, with};
use serde_json::json;

#[test]
fn every_lock_is_listed_with_its_members_in_the_order_of_the_last_refresh() {
    // S0.27, S3.28, S3.29, S3.32
    let place = Place::new();
    for thread in ["1", "2", "3"] {
        place.ok(&["acquire", &format!("thread:{thread}"), "--task", "100"]);
    }
    place.ok(&["acquire", "thread:1", "--task", "100"]);
    let listed = place.json(&["list-locks"]);
    assert_eq!(listed["schema"], "luzia.list-locks/v1");
    let items = listed["items"].as_array().unwrap();
    let threads: Vec<&str> = items.iter().map(|item| item["threadId"].as_str().unwrap()).collect();
    assert_eq!(threads, ["2", "3", "1"]);
    for item in items {
        for member in [
            "threadId",
            "activeExecutionId",
            "executionLockedAt",
            "lockMinutes",
            "owner",
            "lane",
            "lock_id",
            "task_id",
            "fence",
            "kind",
            "acquired_at",
            "expires_at",
            "acquired_by_pid",
            "state",
        ] {
            assert!(item.get(member).is_some_and(|value| !value.is_null()), "{member}: {item}");
        }
        assert_eq!((&item["activeExecutionId"], &item["owner"]), (&json!(100), &json!("task_100")));
    }
    let same = |verb: &str| place.ok(&[verb, "-o", "name"]).out;
    assert_eq!(same("list-locks"), "thread:2\nthread:3\nthread:1\n");
    assert_eq!(same("list_locks"), same("list-locks"));
    assert_eq!(same("locks"), same("list-locks"));
}

#[test]
fn status_has_the_shape_of_the_contract() {
    // S3.13, S3.16, S3.27, S3.28
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    place.gate("gate");
    let held = ["run", "-u", "alice", "-p", "web", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"];
    let run = place.start(&held);
    place.until_file("up");
    for priority in ["0", "3", "4", "5", "6", "7"] {
        place.enqueue(&["-u", "alice", "--priority", priority, "--", "true"]);
    }
    let status = place.json(&["status"]);
    let pending = &status["pending"];
    for (tier, count) in [("high", 2), ("normal", 3), ("low", 1), ("total", 6)] {
        assert_eq!(pending[tier], count, "{tier}");
    }
    let active = &status["active"];
    assert_eq!((&active["slots_used"], &active["slots_max"]), (&json!(1), &json!(4)));
    assert_eq!((&active["by_user"], &active["by_project"]), (&json!({ "alice": 1 }), &json!({ "web": 1 })));
    assert_eq!(status["by_user"], json!({ "alice": 1 }));
    assert_eq!(status["user_locks"]["active"], 1);
    let detail = &status["user_locks"]["details"][0];
    assert_eq!((&detail["user"], &detail["task_id"]), (&json!("alice"), &json!("task_1")));
    for member in ["lock_id", "acquired_at", "acquired_by_pid", "expires_at"] {
        assert!(!detail[member].is_null(), "{member}");
    }
    let capacity = place.json(&["status", "--capacity"]);
    let expected = json!({
        "slots": { "max": 4, "used": 1, "available": 3 }, "by_project": { "web": 1 }, "by_user": { "alice": 1 },
    });
    assert_eq!(capacity, expected);
    place.open_gate("gate");
    run.end().coded(0);
}

#[test]
fn the_table_of_status_looks_at_fifty_locks_and_counts_the_others() {
    let place = Place::new();
    let shown = |held: usize| {
        let table = place.ok(&["status"]).out;
        let locks = table.lines().filter(|line| line.starts_with("lock user:")).count();
        // By name "u9" is the last.
        assert_eq!(table.contains("lock user:u9 "), held <= 50);
        let more = table.lines().find(|line| line.starts_with("more locks")).map(str::to_owned);
        let all = place.json(&["status"])["user_locks"].clone();
        assert_eq!((&all["active"], all["details"].as_array().unwrap().len()), (&json!(held), held));
        (locks, more)
    };
    // Locks of other lanes come after those of users.
    place.ok(&["acquire", "thread:1", "--task", "t"]);
    for user in 1..=50 {
        place.ok(&["acquire", &format!("u{user}"), "--task", "t"]);
    }
    let (locks, more) = shown(50);
    assert_eq!(locks, 50);
    assert!(more.is_some_and(|more| more.contains(" 1 not shown here; luzia list-locks shows all")));
    place.ok(&["acquire", "u51", "--task", "t"]);
    place.ok(&["acquire", "u52", "--task", "t"]);
    let (locks, more) = shown(52);
    assert_eq!(locks, 50);
    assert!(more.is_some_and(|more| more.contains(" 3 not shown here; luzia list-locks shows all")));
}

#[test]
fn acquiring_does_not_look_at_the_queue() {
    // S3.37, S3.38, without a stopwatch: a lane can be had and given back while hundreds wait
    let place = Place::new();
    let lines: String = (0..600).map(|n| format!("{{\"user\":\"u{}\",\"command\":[\"true\"]}}\n", n % 7)).collect();
    std::fs::write(place.path("lines"), lines).unwrap();
    place.ok(&["enqueue", "--from", &place.text("lines")]);
    place.ok(&["acquire", "other", "--task", "t1"]);
    place.luzia(&["check", "other"]).coded(75);
    place.ok(&["release", "other", "t1"]);
    let counts = &place.json(&["status"])["pending"]["total"];
    assert_eq!(*counts, 600);
    let enqueued = place.json(&["enqueue", "-u", "u1", "--", "true"]);
    assert_eq!(enqueued["position"], 86);
}

#[test]
fn several_daemons_start_every_task_once_and_one_at_a_time_for_each_user() {
    // S3.1, S3.26
    let place = Place::new();
    let daemons: Vec<_> = (0..3).map(|_| place.start(&["daemon"])).collect();
    let script =
        "set -e; mkdir $PLACE/in-$LUZIA_USER; echo $LUZIA_TASK_ID >> $PLACE/starts; rmdir $PLACE/in-$LUZIA_USER";
    let lines: String = (0..20)
        .map(|n| format!("{}\n", json!({ "user": format!("u{}", n % 3), "command": ["sh", "-c", script] })))
        .collect();
    std::fs::write(place.path("lines"), lines).unwrap();
    let ids = place.ok(&["enqueue", "--from", &place.text("lines")]).out;
    let wait: Vec<&str> = ["wait"].into_iter().chain(ids.lines()).collect();
    place.ok(&wait);
    let mut starts = crate::support::lines(&place.path("starts"));
    starts.sort();
    let mut expected: Vec<String> = ids.lines().map(str::to_owned).collect();
    expected.sort();
    assert_eq!(starts, expected);
    let done = place.json(&["list", "-a"]);
    assert_eq!(with(&done["items"], "status", "completed").len(), 20);
    for daemon in daemons {
        daemon.signal(rustix::process::Signal::TERM);
        daemon.end().coded(0);
    }
}
