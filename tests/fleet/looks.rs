//! Looks at lanes and at what waits for them, from any host: the documents of looks at files.

use crate::hosts::{Host, until_status};
use crate::server::Fleet;
use crate::support::until;
use serde_json::{Value, json};

/// The words of the reasons in a document of `explain`.
fn words(why: &Value) -> Vec<&str> {
    why["reasons"].as_array().unwrap().iter().map(|reason| reason["reason"].as_str().unwrap()).collect()
}

#[test]
fn explain_names_every_reason_with_the_holder_on_another_host() {
    let Some(fleet) = Fleet::new("explain_names_every_reason") else { return };
    let host = Host::new(&fleet, "one", None);
    let first = host.enqueue("alice", "sleep 60", &["-l", "gpu", "--label", "train"]);
    until_status(&fleet, &first, "running");
    let second = host.enqueue("alice", "true", &["-l", "gpu"]);
    let third = host.enqueue("alice", "true", &["--priority", "9"]);
    let why = fleet.json(&["explain", &second]);
    assert_eq!(words(&why), ["UserLockHeld", "LaneFull"], "{why:#}");
    assert_eq!(
        (&why["lanes_now"][0]["holders"][0]["holder"], &why["estimate"]),
        (&first.as_str().into(), &Value::Null)
    );
    assert_eq!(words(&fleet.json(&["explain", &third])), ["UserLockHeld", "Priority"]);
    let text = fleet.luzia(&["explain", &second]).coded(0).out;
    assert!(text.contains("host \"one\" has it") && text.contains(&format!("luzia wait {first}")), "{text}");
    // A user, a lane, and all that waits.
    for target in ["alice", "lane:gpu"] {
        let why = fleet.json(&["explain", target]);
        assert_eq!((&why["first"], &why["known"]), (&second.as_str().into(), &true.into()), "{why:#}");
        let holder = &why["holders"][0];
        assert_eq!((&holder["label"], &holder["alive"]), (&"train".into(), &true.into()));
        assert!(holder["evidence"].as_str().unwrap().starts_with("host \"one\" has it"), "{holder:#}");
    }
    assert_eq!(fleet.json(&["explain", "lane:gpu"])["pending"], 1);
    assert_eq!(fleet.json(&["explain", "alice"])["pending"], 2);
    let all = fleet.json(&["explain"]);
    let ids: Vec<&Value> = all["items"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&second, &third]);
    let unknown = fleet.json(&["explain", "lane:none"]);
    assert_eq!((&unknown["known"], &unknown["pending"]), (&false.into(), &0.into()));
    // What runs, what waits for a moment or for a host, and what is over.
    assert!(fleet.luzia(&["explain", &first]).coded(0).out.contains("is running"));
    let late = host.enqueue("bob", "true", &["--in", "1h"]);
    assert_eq!(words(&fleet.json(&["explain", &late])), ["Delayed"]);
    let lost = fleet.luzia(&["enqueue", "-u", "carol", "--", "true"]).coded(0).line();
    assert_eq!(words(&fleet.json(&["explain", &lost])), ["NoHost"]);
    fleet.luzia(&["cancel", &lost]).coded(0);
    assert!(fleet.luzia(&["explain", &lost]).coded(0).out.contains("is over: cancelled"));
    fleet.refused(&fleet.url(), &["explain", "task_1"], 66, "TASK_NOT_FOUND");
    fleet.refused(&fleet.url(), &["explain", "lane:global"], 2, "LOCAL_ONLY");
}

#[test]
fn locks_are_listed_and_checked_from_another_host() {
    let Some(fleet) = Fleet::new("locks_are_listed_and_checked") else { return };
    assert_eq!(fleet.json(&["list-locks"])["items"], json!([]));
    let mut host = Host::new(&fleet, "one", None);
    let id = host.enqueue("alice", "sleep 60", &["-l", "gpu", "--label", "train"]);
    until_status(&fleet, &id, "running");
    let locks = fleet.json(&["list-locks"]);
    let items = locks["items"].as_array().unwrap();
    assert_eq!(items.iter().map(|lock| &lock["lane"]).collect::<Vec<_>>(), ["gpu", "user:alice"], "{locks:#}");
    for lock in items {
        let expected = json!(["held", id, "one", "train", "task", 0]);
        let found = ["state", "holder", "host", "label", "kind", "slot"].map(|name| lock[name].clone());
        assert_eq!(json!(found), expected, "{lock:#}");
        let fence = lock["fence"].as_i64().unwrap();
        let kept = "SELECT count(*) FROM luzia.hold h JOIN luzia.lane l ON l.id = h.lane_id WHERE h.fence = $1 AND l.name = $2";
        let lane = lock["lane"].as_str().unwrap();
        assert_eq!(fleet.client().query_one(kept, &[&fence, &lane]).unwrap().get::<_, i64>(0), 1);
    }
    let text = fleet.luzia(&["list-locks"]).coded(0).out;
    assert!(text.contains("host \"one\" has it; the lease of its host is in force"), "{text}");
    let checked = fleet.luzia(&["check", "alice", "--json"]).coded(75).json();
    assert_eq!((&checked["free"], &checked["limit"]), (&false.into(), &1.into()), "{checked:#}");
    assert_eq!(
        (&checked["locks"][0]["host"], &checked["activeExecutionId"]),
        (&"one".into(), &json!(id[5..].parse::<u64>().unwrap()))
    );
    assert_eq!(fleet.json(&["check", "bob"])["free"], true);
    fleet.luzia(&["check", "-l", "gpu", "-l", "none"]).coded(75);
    for refused in [&["check", "-l", "thread:*"][..], &["check", "lane:global"]] {
        fleet.refused(&fleet.url(), refused, 2, "LOCAL_ONLY");
    }
    // A host that is silent for longer than its lease has its locks until it is taken for lost.
    host.kill();
    fleet.sql("UPDATE luzia.host SET renewed_at = now() - interval '1 hour'");
    let silent = fleet.json(&["list-locks", "--state", "overdue"]);
    assert_eq!(silent["items"].as_array().unwrap().len(), 2, "{silent:#}");
    fleet.luzia(&["check", "alice"]).coded(75);
}

#[test]
fn a_list_is_of_one_moment() {
    let Some(fleet) = Fleet::new("a_list_is_of_one_moment") else { return };
    let id = fleet.luzia(&["enqueue", "-u", "alice", "--", "true"]).coded(0).line();
    fleet.sql(
        "ALTER FUNCTION luzia_1.tasks(text, text, bigint, int) RENAME TO tasks_now;
         CREATE FUNCTION luzia_1.tasks(text, text, bigint, int) RETURNS TABLE (id bigint, record text) LANGUAGE plpgsql AS $$
         BEGIN
           RETURN QUERY SELECT * FROM luzia_1.tasks_now($1, $2, $3, $4);
           IF $1 = 'arw' THEN PERFORM pg_sleep(2); END IF;
         END $$",
    );
    let mut command = fleet.place.command(&["list", "-a", "-o", "name"]);
    let list = fleet.place.spawn(command.env("LUZIA_STORE", fleet.url()));
    let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    until("the tasks with a host are read", || {
        (fleet.client().query_one(sleeps, &[]).unwrap().get::<_, i64>(0) == 1).then_some(())
    });
    fleet.sql("UPDATE luzia.task SET state = 'a'");
    assert_eq!(list.end().coded(0).out.trim(), id);
}
