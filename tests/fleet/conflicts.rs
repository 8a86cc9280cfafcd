//! Keys whose holder is replaced, and tasks that are waited for or that start at once, with a store.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::Fleet;
use crate::support::until;
use serde_json::Value;

#[test]
fn a_task_replaces_those_with_its_key_once_they_are_over() {
    let Some(fleet) = Fleet::new("a_task_replaces") else { return };
    let host = Host::new(&fleet, "one", None);
    let key = |policy: &'static str| ["--key", "deploy", "--on-conflict", policy];
    let running = host.enqueue("alice", "trap 'sleep 0.5; exit 1' TERM; sleep 60 & wait", &key("queue"));
    until_status(&fleet, &running, "running");
    let waiting: Vec<String> = (0..2).map(|_| host.enqueue("alice", "true", &key("queue"))).collect();
    // It comes from another host, ends the one that runs and the last one that waits, and stays beside the other.
    let options = [&["enqueue", "--on", "one", "-u", "alice", "--json"][..], &key("replace"), &["--", "true"]].concat();
    let new = fleet.luzia(&options).coded(0).json();
    assert_eq!((&new["created"], &new["queued"]), (&true.into(), &true.into()), "{new:#}");
    for old in [&running, &waiting[1]] {
        let task = fleet.json(&["show", old]);
        assert_eq!(task["status"], "cancelled", "{task:#}");
        assert!(task["result_summary"].as_str().unwrap().contains("replaced"), "{task:#}");
    }
    fleet.luzia(&["wait", &waiting[0], new["id"].as_str().unwrap()]).coded(0);
    // Without a holder of the key it is a new task.
    assert_eq!(fleet.luzia(&options).coded(0).json()["created"], true);
    // The work of others is not ended.
    let asked = |agent: &str, args: &[&str]| {
        let mut command = fleet.place.command(args);
        command.env("LUZIA_STORE", fleet.url()).env("LUZIA_AGENT", agent).env("LUZIA_SESSION", agent);
        fleet.place.spawn(&mut command).end()
    };
    let sleep = [&["enqueue", "--on", "one", "-u", "bob"][..], &key("queue"), &["--", "sleep", "60"]].concat();
    let theirs = asked("claude-code", &sleep).coded(0).line();
    until_status(&fleet, &theirs, "running");
    let refused = asked("codex", &options).coded(1);
    assert!(refused.err.contains("KEY_RUNS") && refused.err.contains("nothing was queued"), "{}", refused.err);
    assert_eq!(status(&fleet, &theirs), "running");
    fleet.luzia(&["cancel", &theirs, "--yes"]).coded(0);
    // Two of one request.
    let line = "{\"user\":\"x\",\"command\":[\"true\"],\"key\":\"k\",\"on_conflict\":\"replace\"}\n";
    std::fs::write(fleet.place.path("lines"), line.repeat(2)).unwrap();
    let said = fleet.refused(&fleet.url(), &["enqueue", "--from", &fleet.place.text("lines")], 75, "KEY_TAKEN");
    assert!(said.contains("nothing was queued"), "{said}");
    assert_whole(&fleet);
}

#[test]
fn a_batch_that_is_refused_for_one_line_has_replaced_nothing() {
    let Some(fleet) = Fleet::new("a_batch_that_is_refused") else { return };
    let host = Host::new(&fleet, "one", None);
    let running = host.enqueue("alice", "sleep 60", &["--key", "r"]);
    let waiting = host.enqueue("alice", "sleep 60", &["--key", "w"]);
    let others: Vec<String> =
        ["bob", "bob"].map(|user| host.enqueue(user, "sleep 60", &["--key", "o", "--on-conflict", "queue"])).into();
    until_status(&fleet, &running, "running");
    until_status(&fleet, &others[0], "running");
    let line = |user: &str, key: &str, policy: &str| {
        format!(
            "{{\"user\":\"{user}\",\"command\":[\"true\"],\"key\":\"{key}\",\"on_conflict\":\"{policy}\",\"on\":\"one\"}}\n"
        )
    };
    let replaced = line("alice", "r", "replace") + &line("alice", "w", "replace");
    let asked = |lines: &str| {
        std::fs::write(fleet.place.path("lines"), lines).unwrap();
        let mut command = fleet.place.command(&["enqueue", "--json", "--from", &fleet.place.text("lines")]);
        command.env("LUZIA_STORE", fleet.url());
        fleet.place.spawn(&mut command).end()
    };
    // A key that is taken, in either order; one key twice; and the one that runs is replaced by a later line.
    for bad in [
        replaced.clone() + &line("carol", "o", "reject"),
        line("carol", "o", "reject") + &replaced,
        replaced.clone() + &line("carol", "x", "skip") + &line("carol", "x", "replace"),
        line("carol", "w", "skip") + &replaced,
        line("carol", "r", "reject") + &replaced,
    ] {
        let ran = asked(&bad).coded(75);
        assert!(ran.err.contains("KEY_TAKEN") && ran.err.contains("nothing was queued"), "{ran:?}");
        for (id, wanted) in
            [(&running, "running"), (&waiting, "pending"), (&others[0], "running"), (&others[1], "pending")]
        {
            assert_eq!(status(&fleet, id), wanted, "{bad}");
        }
        assert_eq!(fleet.json(&["list"])["items"].as_array().unwrap().len(), 4, "{bad}");
    }
    // Without such a line all of it is done.
    let done = asked(&(replaced + &line("carol", "o", "replace"))).coded(0).json();
    assert_eq!(done["items"].as_array().unwrap().len(), 3, "{done}");
    for id in [&running, &waiting, &others[0], &others[1]] {
        assert_eq!(status(&fleet, id), "cancelled");
    }
    until("all tasks are over", || fleet.json(&["list"])["items"].as_array().unwrap().is_empty().then_some(()));
    assert_whole(&fleet);
}

#[test]
fn enqueue_waits_for_the_end_on_any_host() {
    let Some(fleet) = Fleet::new("enqueue_waits") else { return };
    let _host = Host::new(&fleet, "one", None);
    let wait = |script: &str, code: i32| {
        let ran = fleet.luzia(&["enqueue", "--anywhere", "-u", "alice", "--wait", "--shell", script]).coded(code);
        assert!(ran.out.starts_with("task_") && !ran.err.contains("nothing is running"), "{ran:?}");
        ran.line()
    };
    assert_eq!(status(&fleet, &wait("true", 0)), "completed");
    assert_eq!(status(&fleet, &wait("exit 3", 1)), "failed");
    let options = ["--key", "k", "--timeout", "500ms"];
    let started = ["enqueue", "--anywhere", "-u", "alice", "--wait"];
    fleet.luzia(&[&started[..], &options, &["--", "sleep", "60"]].concat()).coded(124);
    assert_whole(&fleet);
}

#[test]
fn a_run_that_does_not_wait_starts_at_once_or_leaves_nothing_behind() {
    let Some(fleet) = Fleet::new("a_run_that_does_not_wait") else { return };
    let host = Host::new(&fleet, "one", None);
    let run =
        |options: &[&str]| host.luzia(&[&["run", "--no-wait"], options, &["--", "sh", "-c", "echo out"]].concat());
    assert_eq!(run(&["-u", "alice"]).coded(0).out, "out\n");
    let holder = host.enqueue("alice", "sleep 60", &["-l", "gpu", "--key", "k"]);
    until_status(&fleet, &holder, "running");
    for (options, why) in
        [(&["-u", "alice"][..], "alice"), (&["-l", "gpu"], "gpu"), (&["-u", "b", "--on", "none"], "none")]
    {
        let said = run(options).coded(75).err;
        assert!(said.contains("cannot start at once") && said.contains(why), "{said}");
    }
    let list = |state: &str| fleet.json(&["list", "--state", state])["items"].as_array().unwrap().clone();
    assert_eq!(list("pending"), Vec::<Value>::new());
    assert!(list("cancelled").iter().all(|task| task["cancelledBy"] == "run --no-wait"));
    // One that another caller has queued stays.
    let pending = host.enqueue("alice", "true", &["--key", "p"]);
    let said = run(&["-u", "carol", "--key", "p"]).coded(75).err;
    assert!(said.contains(&pending) && said.contains("has not started"), "{said}");
    assert_eq!(status(&fleet, &pending), "pending");
    fleet.luzia(&["cancel", &holder, "--yes"]).coded(0);
    fleet.luzia(&["wait", &pending]).coded(0);
    assert_whole(&fleet);
}
