//! `retry` with a store: a task that is over is queued again from any host, with the environment that the store has kept.

use crate::hosts::{Host, assert_two_fences_rise, assert_whole, status, until_status};
use crate::server::Fleet;

/// Number of tasks whose environment is kept.
fn kept(fleet: &Fleet) -> i64 {
    fleet.client().query_one("SELECT count(*) FROM luzia.spec", &[]).unwrap().get(0)
}

#[test]
fn a_failed_task_is_retried_from_another_host_with_its_environment() {
    let Some(fleet) = Fleet::new("a_failed_task_is_retried") else { return };
    let host = Host::new(&fleet, "one", None);
    let file = fleet.place.text("tries");
    let script = format!("echo $LUZIA_FENCE >>{file}; echo $KEPT; test $(wc -l <{file}) -ge 2");
    let id = host.enqueue("alice", &script, &["--env", "KEPT=geheim", "--retries", "0", "--key", "once"]);
    fleet.luzia(&["wait", &id]).coded(1);
    assert_eq!(kept(&fleet), 1);
    let retried = fleet.json(&["retry", &id]);
    let task = &retried["items"][0];
    assert_eq!((&task["id"], &task["status"]), (&id.as_str().into(), &"pending".into()), "{retried:#}");
    fleet.luzia(&["wait", &id, "--timeout", "25s"]).coded(0);
    assert_two_fences_rise(&file);
    let task = fleet.json(&["show", &id]);
    assert_eq!((&task["status"], &task["starts"]), (&"completed".into(), &2.into()), "{task:#}");
    let logs = host.luzia(&["logs", &id]).coded(0).out;
    assert_eq!(logs, "geheim\n", "the second attempt has the environment");
    // Completed: nothing is kept.
    assert_eq!(kept(&fleet), 0);
    let said = fleet.refused(&fleet.url(), &["retry", &id], 1, "TASK_OVER");
    assert!(said.contains("luzia enqueue"), "{said}");
    assert_whole(&fleet);
}

#[test]
fn a_task_that_cannot_be_retried_stays_as_it_is() {
    let Some(fleet) = Fleet::new("a_task_that_cannot_be_retried") else { return };
    let host = Host::new(&fleet, "one", None);
    let running = host.enqueue("alice", "sleep 60", &[]);
    until_status(&fleet, &running, "running");
    fleet.refused(&fleet.url(), &["retry", &running], 1, "TASK_NOT_OVER");
    fleet.refused(&fleet.url(), &["retry", "task_1"], 66, "TASK_NOT_FOUND");
    fleet.luzia(&["cancel", &running, "--yes"]).coded(0);
    fleet.refused(&fleet.url(), &["retry", &running, "--no-after"], 2, "LOCAL_ONLY");
    assert_eq!(status(&fleet, &running), "cancelled");
    // The week is over: the next end of a task deletes it.
    fleet.sql("UPDATE luzia.spec SET kept_until = now() - interval '1 s'");
    let other = host.enqueue("bob", "true", &[]);
    fleet.luzia(&["wait", &other]).coded(0);
    assert_eq!(kept(&fleet), 0);
    let said = fleet.refused(&fleet.url(), &["retry", &running], 1, "TASK_OVER");
    assert!(said.contains("7 days"), "{said}");
    assert_eq!(status(&fleet, &running), "cancelled");
    assert_whole(&fleet);
}

#[test]
fn tasks_are_chosen_for_a_retry_and_wait_for_a_host_that_is_gone() {
    let Some(fleet) = Fleet::new("tasks_are_chosen_for_a_retry") else { return };
    let mut host = Host::new(&fleet, "one", Some("5s"));
    let file = fleet.place.text("ready");
    let script = format!("test -e {file}");
    let ids =
        [0, 1].map(|_| host.enqueue("alice", &script, &["--retries", "0", "--key", "build", "--on-conflict", "queue"]));
    for id in &ids {
        fleet.luzia(&["wait", id]).coded(1);
    }
    let choice = ["retry", "-u", "alice", "--state", "failed", "--since", "1h"];
    fleet.luzia(&choice).coded(2);
    assert_eq!(status(&fleet, &ids[0]), "failed", "nobody has agreed");
    host.kill();
    fleet.luzia(&[&choice[..], &["--yes"]].concat()).coded(0);
    fleet.sql("UPDATE luzia.host SET renewed_at = now() - interval '1 hour'");
    let why = fleet.json(&["explain", &ids[0]]);
    assert_eq!(why["reasons"][0]["reason"], "NoHost", "{why:#}");
    // It has its key again.
    let same = fleet.luzia(&["enqueue", "-u", "alice", "--key", "build", "--on-conflict", "skip", "--", "true"]);
    assert_eq!(same.coded(0).line(), ids[1]);
    std::fs::write(&file, "").unwrap();
    host.start(Some("5s"));
    fleet.luzia(&["wait", &ids[0], &ids[1], "--timeout", "25s"]).coded(0);
    fleet.refused(&fleet.url(), &["retry", "-u", "alice", "--yes"], 66, "NO_TASK_CHOSEN");
    assert_whole(&fleet);
}
