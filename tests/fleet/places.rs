//! The host of a task: the caller's, a named one, or any; and hosts that are drained.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::Fleet;
use crate::support::until;
use std::process::Command;

#[test]
fn a_task_runs_on_the_host_that_is_named() {
    let Some(fleet) = Fleet::new("a_task_runs_on_the_host_that_is_named") else { return };
    let [one, two] = ["one", "two"].map(|name| Host::new(&fleet, name, None));
    // Neither the directory nor the command is looked for on the host of the caller.
    let ran = one.luzia(&["run", "--on", "two", "-u", "alice", "--shell", "echo $LUZIA_STATE_DIR"]).coded(0);
    assert_eq!(ran.out.trim(), two.place.state().to_str().unwrap());
    one.luzia(&["enqueue", "--on", "two", "-u", "alice", "--", "/no/such/command"]).coded(0);
    let id = one.luzia(&["enqueue", "--on", "nowhere", "-u", "bob", "--", "true"]).coded(0).line();
    let task = fleet.json(&["show", &id]);
    assert_eq!((&task["status"], &task["reason"]), (&"pending".into(), &"NoHost".into()), "{task:#}");
    // A task for an absent host stops no other one of its user.
    one.luzia(&["run", "-u", "bob", "--", "true"]).coded(0);
    let file = fleet.place.text("lines");
    std::fs::write(&file, "{\"user\":\"carol\",\"command\":[\"true\"],\"on\":\"two\"}\n").unwrap();
    let made = one.luzia(&["enqueue", "--from", &file]).coded(0).line();
    fleet.luzia(&["wait", &made]).coded(0);
    assert_eq!(two.place.status(&made), "completed");
    assert_whole(&fleet);
}

#[test]
fn a_task_for_any_host_goes_where_room_is() {
    let Some(fleet) = Fleet::new("a_task_for_any_host") else { return };
    let hosts = ["one", "two"].map(|name| Host::new(&fleet, name, None));
    let ids: Vec<String> = (0..6)
        .map(|n| {
            let user = format!("u{n}");
            hosts[0].luzia(&["enqueue", "--anywhere", "-u", &user, "--", "sleep", "60"]).coded(0).line()
        })
        .collect();
    ids.iter().for_each(|id| until_status(&fleet, id, "running"));
    let shares = hosts.each_ref().map(|host| host.row().unwrap()["tasks"].as_u64().unwrap());
    assert!(shares.iter().sum::<u64>() == 6 && shares.iter().all(|tasks| *tasks >= 2), "{shares:?}");
    fleet.luzia(&["cancel", "--all", "--yes"]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_label_is_the_place_of_each_host_that_has_it() {
    let Some(fleet) = Fleet::new("a_label_is_the_place") else { return };
    let caller = Host::new(&fleet, "caller", None);
    let labelled = ["one", "two"].map(|name| Host::labelled(&fleet, name, &["gpu", name.get(..1).unwrap()]));
    let row = labelled[0].row().unwrap();
    assert_eq!(row["labels"], serde_json::json!(["gpu", "o"]), "{row}");
    assert!(fleet.luzia(&["hosts"]).coded(0).out.contains("gpu t"));
    let on = |label: &str, user: &str, command: &[&str]| {
        let args = [&["enqueue", "--on", label, "-u", user, "--"][..], command].concat();
        caller.luzia(&args).coded(0).line()
    };
    let ids: Vec<String> = (0..8).map(|n| on("gpu", &format!("u{n}"), &["sleep", "60"])).collect();
    ids.iter().for_each(|id| until_status(&fleet, id, "running"));
    let shares = labelled.each_ref().map(|host| host.row().unwrap()["tasks"].as_u64().unwrap());
    assert_eq!((shares, &caller.row().unwrap()["tasks"]), ([4, 4], &0.into()));
    let full = on("gpu", "u9", &["true"]);
    let mine = on("t", "u8", &["true"]);
    let nobody = on("tpu", "u8", &["true"]);
    assert_eq!(fleet.json(&["show", &nobody])["reason"], "NoHost");
    fleet.luzia(&["cancel", &ids[0], &ids[1], &ids[2], &ids[3], "--yes"]).coded(0);
    fleet.luzia(&["wait", &full]).coded(0);
    fleet
        .luzia(&[&["cancel", "--yes"][..], &ids[4..].iter().map(String::as_str).collect::<Vec<_>>()].concat())
        .coded(0);
    fleet.luzia(&["wait", &mine]).coded(0);
    assert_eq!(labelled[1].place.status(&mine), "completed");
    // Without the option the host has no label.
    let ran = caller.place.luzia(&["daemon", "--label", "x", "--store", "local"]).coded(2);
    assert!(ran.err.contains("--label"), "{ran:?}");
    fleet.luzia(&["daemon", "--label", ""]).coded(2);
    assert_whole(&fleet);
}

#[test]
fn a_task_waits_where_its_directory_is_missing_and_no_attempt_is_spent() {
    let Some(fleet) = Fleet::new("a_task_waits_where_its_directory") else { return };
    let host = Host::new(&fleet, "one", None);
    let folder = fleet.place.text("later");
    for option in [&["--on", "one"][..], &["--anywhere"]] {
        let args = [&["enqueue", "-u", "alice", "--cwd", &folder], option, &["--shell", "pwd"]].concat();
        let id = fleet.luzia(&args).coded(0).line();
        until("it is given back", || (fleet.json(&["show", &id])["reason"] == "NoDirectory").then_some(()));
        assert!(fleet.luzia(&["show", &id]).coded(0).out.contains("host one has no directory"), "{folder}");
        // The lane of its user is free, and so is its slot.
        host.luzia(&["run", "-u", "alice", "--", "true"]).coded(0);
        std::fs::create_dir(&folder).unwrap();
        // The holder of the duty may have looked between the beginning of this transaction and its end.
        fleet.sql("UPDATE luzia.task SET due_at = now(), xid = pg_current_xact_id() WHERE state = 'q'");
        fleet.luzia(&["wait", &id]).coded(0);
        let task = fleet.json(&["show", &id]);
        assert_eq!((&task["starts"], &task["status"]), (&1.into(), &"completed".into()), "{task:#}");
        let starts: i32 = fleet.client().query_one("SELECT max(starts) FROM luzia.task", &[]).unwrap().get(0);
        assert_eq!(starts, 1);
        std::fs::remove_dir(&folder).unwrap();
    }
    assert_whole(&fleet);
}

#[test]
fn a_drained_host_takes_nothing_and_its_tasks_run_on() {
    let Some(fleet) = Fleet::new("a_drained_host") else { return };
    let host = Host::new(&fleet, "one", None);
    let running = host.enqueue("alice", "sleep 2", &[]);
    until_status(&fleet, &running, "running");
    let drained = fleet.json(&["hosts", "drain", "one"]);
    assert_eq!((&drained["items"][0]["draining"], &drained["items"][0]["changed"]), (&true.into(), &true.into()));
    assert_eq!(fleet.json(&["hosts", "drain", "one"])["items"][0]["changed"], false);
    assert!(fleet.luzia(&["hosts"]).coded(0).out.contains("drained"));
    let waits = host.enqueue("bob", "true", &[]);
    fleet.luzia(&["wait", &running]).coded(0);
    assert_eq!(
        (status(&fleet, &waits), fleet.json(&["show", &waits])["reason"].clone()),
        ("pending".into(), "NoHost".into())
    );
    for ran in
        [fleet.luzia(&["explain", &waits]).coded(0), host.luzia(&["lock", "-n", "-l", "q", "--", "true"]).coded(75)]
    {
        assert!(format!("{}{}", ran.out, ran.err).contains("luzia hosts undrain"), "{ran:?}");
    }
    assert!(fleet.luzia(&["hosts", "undrain", "one"]).coded(0).err.contains("takes tasks"));
    fleet.luzia(&["wait", &waits]).coded(0);
    let said = fleet.refused(&fleet.url(), &["hosts", "drain", "nobody"], 66, "HOST_NOT_FOUND");
    assert!(said.contains("luzia hosts"), "{said}");
    assert_whole(&fleet);
}

#[test]
fn a_place_that_cannot_be_is_refused() {
    let Some(fleet) = Fleet::new("a_place_that_cannot_be") else { return };
    for place in [&["--on", ""][..], &["--on", "a\nb"], &["--on", "a", "--anywhere"]] {
        fleet.refused(&fleet.url(), &[&["enqueue", "-u", "a"], place, &["--", "true"]].concat(), 2, "USAGE");
    }
    for place in [&["--on", "one"][..], &["--anywhere"]] {
        let ran = fleet.place.luzia(&[&["enqueue", "-u", "a"], place, &["--", "true"]].concat()).coded(2);
        assert!(ran.err.contains("no store") && ran.err.contains("--store"), "{}", ran.err);
        // Another host has no sandbox of this caller.
        let inner = fleet.place.command(&[&["enqueue", "-u", "a", "--json"], place, &["--", "true"]].concat());
        let mut outer = Command::new("setpriv");
        outer.arg("--no-new-privs").arg(inner.get_program()).args(inner.get_args()).env("LUZIA_STORE", fleet.url());
        outer.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
        let ran = fleet.place.spawn(&mut outer).end().coded(2);
        assert!(ran.err.contains("sandbox") && ran.err.contains("nothing was queued"), "{}", ran.err);
    }
    assert_eq!(fleet.json(&["list", "-a"])["items"], serde_json::json!([]));
}
