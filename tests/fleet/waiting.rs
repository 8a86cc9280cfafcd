//! Tasks that wait for a host, from any host: the documents of today, and requests whose answers are lost.

use crate::proxy::Proxy;
use crate::server::Fleet;
use crate::support::Place;
use serde_json::Value;

/// The numbers of the tasks that `list` shows, in its order.
fn listed(fleet: &Fleet, args: &[&str]) -> Vec<String> {
    let list = fleet.json(&[&["list"], args].concat());
    list["items"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_task_is_queued_on_one_host_and_seen_on_another() {
    let Some(fleet) = Fleet::new("a_task_is_queued_on_one_host") else { return };
    let made = fleet.json(&["enqueue", "-u", "alice", "-l", "gpu", "--label", "l", "--priority", "2", "--", "true"]);
    let id = made["id"].as_str().unwrap();
    assert_eq!((&made["queued"], &made["created"], &made["position"]), (&true.into(), &true.into(), &0.into()));
    assert!(id.trim_start_matches("task_").parse::<u64>().unwrap() >= 1 << 40, "{id}");
    let second = fleet.luzia(&["enqueue", "-u", "alice", "--", "true"]).coded(0).line();
    // Another state directory is another host.
    let other = Place::new();
    let there = |args: &[&str]| other.spawn(other.command(args).env("LUZIA_STORE", fleet.url())).end().coded(0);
    let list = there(&["list", "--json"]).json();
    let ids: Vec<&Value> = list["items"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [id, &second]);
    let task = there(&["show", id, "--json"]).json();
    let own = fleet.json(&["show", id]);
    assert_eq!((&task["user"], &task["lanes"], &task["label"]), (&"alice".into(), &own["lanes"], &"l".into()));
    assert_eq!((&task["status"], &task["reason"]), (&"pending".into(), &"NoHost".into()), "{task:#}");
    assert_eq!(task["command"], serde_json::json!(["true"]));
    assert!(there(&["show", id]).out.contains("has no agent"));
    assert_eq!(there(&["show", "last", "--json"]).json()["id"], second.as_str());
    assert!(there(&["list"]).out.contains("takes no tasks"), "{}", there(&["list"]).out);
    // Nothing of it is a task of this host.
    assert_eq!(fleet.place.json(&["list"])["items"], serde_json::json!([]));
}

#[test]
fn list_and_status_know_states_users_and_what_is_due() {
    let Some(fleet) = Fleet::new("list_and_status") else { return };
    let queue = |args: &[&str]| fleet.luzia(&[&["enqueue"], args].concat()).coded(0).line();
    let (a, b) = (queue(&["-u", "a", "--", "true"]), queue(&["-u", "b", "--priority", "9", "--", "true"]));
    let late = queue(&["-u", "a", "--in", "1h", "--", "true"]);
    let gone = queue(&["-u", "a", "--", "true"]);
    assert_eq!(fleet.json(&["cancel", &gone, "--reason", "r"])["items"][0]["status"], "cancelled");
    assert_eq!(listed(&fleet, &[]), [&*a, &b, &late]);
    assert_eq!(listed(&fleet, &["-u", "a", "--all"]), [&*a, &late, &gone]);
    assert_eq!(listed(&fleet, &["--state", "cancelled"]), [&*gone]);
    assert_eq!(listed(&fleet, &["-n", "1"]), [&*a]);
    assert_eq!(fleet.json(&["show", &late])["reason"], "Delayed");
    let status = fleet.json(&["status"]);
    assert_eq!(status["pending"], serde_json::json!({ "high": 0, "normal": 1, "low": 1, "total": 2, "parked": 1 }));
    assert_eq!((&status["last_hour"]["cancelled"], &status["oldest_wait"]["task"]), (&1.into(), &a.as_str().into()));
    assert_eq!(status["active"]["slots_from"]["source"], "hosts");
    assert_eq!(status["store"], fleet.url());
    let text = fleet.luzia(&["status"]).coded(0);
    assert!(text.out.contains("2 (0 high, 1 normal, 1 low)") && text.out.contains("store"), "{}", text.out);
    let capacity = fleet.luzia(&["status", "--capacity", "--json"]).coded(0).json();
    assert_eq!(capacity["slots"], serde_json::json!({ "max": 0, "used": 0, "available": 0 }));
    assert_eq!(fleet.json(&["hosts"])["items"], serde_json::json!([]));
    assert!(fleet.luzia(&["hosts", "list"]).coded(0).err.contains("no host has joined"));
    fleet.place.luzia(&["hosts"]).coded(2);
    let state = fleet.json(&["store", "status"]);
    assert_eq!((&state["queued"], &state["active"]), (&3.into(), &0.into()));
}

#[test]
fn a_cancelled_task_is_over_for_good() {
    let Some(fleet) = Fleet::new("a_cancelled_task") else { return };
    let id = fleet.luzia(&["enqueue", "-u", "a", "--env", "SECRET=geheim", "--", "true"]).coded(0).line();
    let specs =
        |fleet: &Fleet| fleet.client().query_one("SELECT count(*) FROM luzia.spec", &[]).unwrap().get::<_, i64>(0);
    let records = || {
        let row = fleet.client().query_one("SELECT string_agg(body, '') FROM luzia.record", &[]).unwrap();
        row.get::<_, String>(0)
    };
    assert!(specs(&fleet) == 1 && !records().contains("geheim"), "the environment stands apart");
    fleet.luzia(&["cancel", &id, "--by", "me", "--reason", "why"]).coded(0);
    let task = fleet.json(&["show", &id]);
    assert_eq!((&task["status"], &task["cancelledBy"]), (&"cancelled".into(), &"me".into()), "{task:#}");
    let kept = "SELECT count(*) FROM luzia.spec WHERE kept_until BETWEEN now() + interval '6 days' AND now() + interval '7 days'";
    let kept: i64 = fleet.client().query_one(kept, &[]).unwrap().get(0);
    assert!(kept == 1 && !records().contains("geheim"), "the environment is kept for a retry, for a week");
    fleet.refused(&fleet.url(), &["cancel", &id], 1, "TASK_OVER");
    fleet.refused(&fleet.url(), &["cancel", "task_1099511699999"], 66, "TASK_NOT_FOUND");
    fleet.refused(&fleet.url(), &["show", "1"], 66, "TASK_NOT_FOUND");
    // As many as a selection finds.
    for _ in 0..3 {
        fleet.luzia(&["enqueue", "-u", "b", "--", "true"]).coded(0);
    }
    assert_eq!(fleet.json(&["cancel", "-u", "b", "--yes"])["items"].as_array().unwrap().len(), 3);
}

#[test]
fn a_batch_is_queued_whole_and_a_key_is_taken_once() {
    let Some(fleet) = Fleet::new("a_batch_is_queued_whole") else { return };
    let lines = |text: &str| {
        std::fs::write(fleet.place.path("lines"), text).unwrap();
        fleet.place.text("lines")
    };
    let file =
        lines("{\"user\":\"x\",\"command\":[\"true\"]}\n{\"user\":\"y\",\"command\":[\"true\"],\"key\":\"k\"}\n");
    let made = fleet.json(&["enqueue", "--from", &file]);
    assert_eq!(made["items"].as_array().unwrap().len(), 2);
    let holder = made["items"][1]["id"].clone();
    let again = fleet.json(&["enqueue", "-u", "z", "--key", "k", "--", "true"]);
    assert_eq!((&again["id"], &again["created"]), (&holder, &false.into()));
    let file = lines(
        "{\"user\":\"x\",\"command\":[\"true\"]}\n{\"user\":\"y\",\"command\":[\"true\"],\"key\":\"k\",\"on_conflict\":\"reject\"}\n",
    );
    let said = fleet.refused(&fleet.url(), &["enqueue", "--from", &file], 75, "KEY_TAKEN");
    assert!(said.contains(holder.as_str().unwrap()) && said.contains("nothing was queued"), "{said}");
    assert_eq!(listed(&fleet, &[]).len(), 2);
    let beside = fleet.json(&["enqueue", "-u", "z", "--key", "k", "--on-conflict", "queue", "--", "true"]);
    assert_eq!(beside["created"], true);
    fleet.luzia(&["cancel", "--key", "k", "--yes"]).coded(0);
    assert_eq!(fleet.json(&["enqueue", "-u", "z", "--key", "k", "--", "true"])["created"], true);
    // Twenty at once have one winner.
    let racers: Vec<_> = (0..20)
        .map(|_| {
            let mut command = fleet.place.command(&["enqueue", "-u", "r", "--key", "race", "--json", "--", "true"]);
            fleet.place.spawn(command.env("LUZIA_STORE", fleet.url()))
        })
        .collect();
    let answers: Vec<Value> = racers.into_iter().map(|racer| racer.end().coded(0).json()).collect();
    assert_eq!(answers.iter().filter(|answer| answer["created"] == true).count(), 1);
    assert!(answers.iter().all(|answer| answer["id"] == answers[0]["id"]));
}

#[test]
fn what_the_store_cannot_promise_is_refused() {
    let Some(fleet) = Fleet::new("what_the_store_cannot_promise") else { return };
    fleet.place.configure(&serde_json::json!({ "lanes": { "gpu": { "max": 2 } } }));
    for option in [&["--dry-run"][..], &["--preempt", "requeue"]] {
        let said =
            fleet.refused(&fleet.url(), &[&["enqueue", "-u", "a"], option, &["--", "true"]].concat(), 2, "LOCAL_ONLY");
        assert!(said.contains("--store local"), "{said}");
    }
    assert_eq!(listed(&fleet, &["-a"]), Vec::<String>::new());
    // A child belongs to the host of its parent.
    let script = format!("\"$LUZIA\" enqueue --store '{}' -u b -- true", fleet.url());
    let luzia = format!("LUZIA={}", crate::support::LUZIA);
    let ran = fleet.place.luzia(&["run", "-u", "a", "--env", &luzia, "--", "sh", "-c", &script]).coded(2);
    assert!(ran.err.contains("a task that another task queues"), "{}", ran.err);
    assert_eq!(listed(&fleet, &["-a"]), Vec::<String>::new());
}

#[test]
fn the_client_s_variables_stay_with_the_client() {
    let Some(fleet) = Fleet::new("the_client_s_variables") else { return };
    let enqueue = |args: &[&str]| {
        let mut command = fleet.place.command(&[&["enqueue", "-u", "a"], args, &["--", "true"]].concat());
        command
            .env("LUZIA_STORE", fleet.url())
            .env("PGPASSWORD", "geheim")
            .env("PGSERVICEFILE", "/f")
            .env("KEPT", "yes");
        fleet.place.spawn(&mut command).end().coded(0);
    };
    enqueue(&[]);
    let spec = |fleet: &Fleet| {
        let row = fleet.client().query_one("SELECT body FROM luzia.spec ORDER BY task_id DESC LIMIT 1", &[]).unwrap();
        row.get::<_, String>(0)
    };
    let kept = spec(&fleet);
    assert!(kept.contains("KEPT") && !kept.contains("geheim") && !kept.contains("PGSERVICEFILE"), "{kept}");
    enqueue(&["--env", "PGPASSWORD=other"]);
    assert!(spec(&fleet).contains("other"));
    enqueue(&["--env", "PGSERVICEFILE=/own"]);
    assert!(spec(&fleet).contains("PGSERVICEFILE") && !spec(&fleet).contains("geheim"));
}

#[test]
fn a_lost_answer_is_asked_for_again_and_nothing_is_done_twice() {
    let Some(fleet) = Fleet::new("a_lost_answer") else { return };
    let proxy = Proxy::new(fleet.socket());
    let url = fleet.url_at(proxy.folder());
    proxy.lose_answers_to("luzia_1.enqueue", 2);
    let id = fleet.with(&url, &["enqueue", "-u", "a", "--", "true"]).coded(0).line();
    assert_eq!((listed(&fleet, &["-a"]), proxy.lost()), (vec![id.clone()], 2));
    // A finished task is found by its request, too: the key of the request is not the key of the task.
    proxy.lose_answers_to("luzia_1.cancel", 1);
    fleet.with(&url, &["cancel", &id]).coded(0);
    assert_eq!((fleet.json(&["show", &id])["status"].clone(), proxy.lost()), ("cancelled".into(), 3));
}

#[test]
fn a_server_that_is_away_is_told_with_the_moment_since_which_it_is() {
    let Some(fleet) = Fleet::new("a_server_that_is_away_since") else { return };
    fleet.luzia(&["enqueue", "-u", "a", "--", "true"]).coded(0);
    let away = "postgres:///d?host=/nowhere";
    let since = |args: &[&str]| {
        let said = fleet.refused(away, args, 69, "STORE_AWAY");
        said.split("away since ").nth(1).unwrap_or_else(|| panic!("{said}")).split(' ').next().unwrap().to_owned()
    };
    let first = since(&["list"]);
    assert_eq!(since(&["enqueue", "-u", "a", "--", "true"]), first);
    assert_eq!(since(&["status"]), first);
    fleet.json(&["list"]);
    assert_ne!(since(&["list"]), first, "an answer ends the absence");
    fleet.luzia(&["list"]).coded(0);
    fleet.place.ok(&["doctor"]);
}
