//! Lanes of a store: limits, values of slots, tasks of several slots, and pauses, across hosts.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::Fleet;
use crate::support::until;
use serde_json::Value;

fn lane(fleet: &Fleet, name: &str) -> Value {
    fleet.json(&["lanes", "show", name])
}

#[test]
fn a_lane_has_as_many_holders_as_its_limit_wherever_they_run() {
    let Some(fleet) = Fleet::new("a_lane_has_as_many_holders") else { return };
    let hosts = [Host::new(&fleet, "one", None), Host::new(&fleet, "two", None)];
    let set = fleet.json(&["lanes", "set", "gpu", "--max", "2"]);
    assert_eq!((&set["lane"], &set["max_concurrent"], &set["rule"]), (&"gpu".into(), &2.into(), &"set".into()));
    // Two on one host: its own limit of the lane, which nobody has set, does not count beside the grant.
    let ids = [0, 0, 1].map(|at| hosts[at].luzia(&["enqueue", "-l", "gpu", "--", "sleep", "60"]).coded(0).line());
    until_status(&fleet, &ids[0], "running");
    until_status(&fleet, &ids[1], "running");
    let waits = fleet.json(&["show", &ids[2]]);
    assert_eq!((&waits["status"], &waits["reason"]), (&"pending".into(), &"LaneFull".into()), "{waits:#}");
    let row = lane(&fleet, "gpu");
    assert_eq!((&row["active"], &row["queue"], &row["draining"]), (&2.into(), &1.into(), &false.into()), "{row:#}");
    assert!(fleet.luzia(&["lanes"]).coded(0).out.contains("full"));
    fleet.luzia(&["lanes", "set", "gpu", "--max", "3"]).coded(0);
    until_status(&fleet, &ids[2], "running");
    let lowered = fleet.json(&["lanes", "rm", "gpu"]);
    assert_eq!((&lowered["changed"], &lowered["max_concurrent"]), (&true.into(), &1.into()));
    assert_eq!((&lane(&fleet, "gpu")["active"], &lane(&fleet, "gpu")["draining"]), (&3.into(), &true.into()));
    assert!(ids.iter().all(|id| status(&fleet, id) == "running"), "a lower limit ends nobody");
    fleet.luzia(&["cancel", "-l", "gpu", "--yes"]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_holder_finds_the_value_of_its_slot_and_a_wide_task_has_several() {
    let Some(fleet) = Fleet::new("a_holder_finds_the_value") else { return };
    let host = Host::new(&fleet, "one", None);
    fleet.luzia(&["lanes", "set", "resource:emu", "--values", "left,right"]).coded(0);
    let run = |options: &[&str]| {
        let args = [&["run", "-l", "resource:emu"], options, &["--shell", "echo $LUZIA_SLOT_EMU"]].concat();
        host.luzia(&args).coded(0).out
    };
    assert_eq!((run(&[]), run(&["--slots", "2"])), ("left\n".into(), "left,right\n".into()));
    let held = host.luzia(&["enqueue", "-l", "resource:emu", "--", "sleep", "60"]).coded(0).line();
    until_status(&fleet, &held, "running");
    assert_eq!(run(&[]), "right\n");
    let slots = lane(&fleet, "resource:emu")["slots"].clone();
    assert_eq!((&slots[0]["value"], &slots[0]["holder"]), (&"left".into(), &held.as_str().into()), "{slots:#}");
    assert_eq!(slots[1]["holder"], Value::Null);
    let wide = host.luzia(&["enqueue", "-l", "resource:emu", "--slots", "2", "--", "true"]).coded(0).line();
    until("it waits for both", || (fleet.json(&["show", &wide])["reason"] == "LaneFull").then_some(()));
    fleet.refused(&fleet.url(), &["enqueue", "-l", "resource:emu", "--slots", "3", "--", "true"], 1, "TOO_FEW_SLOTS");
    fleet.luzia(&["cancel", &held, "--yes"]).coded(0);
    fleet.luzia(&["wait", &wide]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_paused_lane_and_a_paused_user_start_nothing_until_they_are_resumed() {
    let Some(fleet) = Fleet::new("a_paused_lane") else { return };
    let host = Host::new(&fleet, "one", None);
    let paused = fleet.json(&["pause", "-l", "gpu", "--reason", "a new driver"]);
    assert_eq!((&paused["items"][0]["what"], &paused["items"][0]["reason"]), (&"gpu".into(), &"a new driver".into()));
    let again = fleet.json(&["pause", "-l", "gpu", "--reason", "still"]);
    assert_eq!(paused["items"][0]["since"], again["items"][0]["since"]);
    let id = host.luzia(&["enqueue", "-l", "gpu", "--", "true"]).coded(0).line();
    let other = host.enqueue("bob", "true", &[]);
    fleet.luzia(&["wait", &other]).coded(0);
    let task = fleet.json(&["show", &id]);
    assert_eq!((&task["status"], &task["reason"]), (&"pending".into(), &"Paused".into()), "{task:#}");
    assert!(fleet.luzia(&["show", &id]).coded(0).out.contains("still"));
    assert_eq!((&lane(&fleet, "gpu")["paused"], &lane(&fleet, "gpu")["queue"]), (&true.into(), &1.into()));
    assert_eq!(fleet.json(&["resume", "-l", "gpu"])["items"][0]["changed"], true);
    assert!(fleet.luzia(&["resume", "-l", "gpu"]).coded(0).err.contains("was not paused"));
    fleet.luzia(&["wait", &id]).coded(0);
    // A pause of a user is about all tasks of the user, and ends by itself.
    fleet.luzia(&["pause", "carol", "--for", "2s"]).coded(0);
    let ids = [&["-u", "carol"][..], &["-u", "carol", "-l", "gpu"]]
        .map(|options| host.luzia(&[&["enqueue"], options, &["--", "true"]].concat()).coded(0).line());
    assert!(ids.iter().all(|id| fleet.json(&["show", id])["reason"] == "Paused"));
    fleet.luzia(&[&["wait", "--timeout", "25s"], &ids.each_ref().map(String::as_str)[..]].concat()).coded(0);
    assert_whole(&fleet);
}

#[test]
fn rules_and_pauses_that_are_about_one_host_are_refused() {
    let Some(fleet) = Fleet::new("rules_and_pauses") else { return };
    let host = Host::new(&fleet, "one", None);
    let id = host.enqueue("a", "sleep 60", &[]);
    until_status(&fleet, &id, "running");
    for args in [
        &["lanes", "set", "gpu", "--hold-while", "load>1"][..],
        &["lanes", "set", "gpu", "--max", "2", "--reserve", "1"],
        &["lanes", "set", "global", "--max", "2"],
        &["lanes", "set", "goal:x", "--max", "2"],
        &["lanes", "set", "goal:*", "--max", "2"],
        &["pause", "-l", "global"],
        &["pause", &id],
        &["resume", &id],
    ] {
        let said = fleet.refused(&fleet.url(), args, 2, "LOCAL_ONLY");
        assert!(said.contains("--store local"), "{said}");
    }
    fleet.refused(&fleet.url(), &["lanes", "set", "gpu", "--max", "0"], 2, "USAGE");
    fleet.refused(&fleet.url(), &["lanes", "show", "nobody"], 66, "LANE_NOT_FOUND");
    let rows: i64 =
        fleet.client().query_one("SELECT count(*) FROM luzia.lane WHERE xid IS NOT NULL", &[]).unwrap().get(0);
    assert_eq!(rows, 0, "nothing was set");
    assert_eq!(fleet.json(&["lanes"])["items"][0]["lane"], "user:a");
}

#[test]
fn a_pattern_has_rules_and_pauses_for_all_lanes_that_it_means() {
    let Some(fleet) = Fleet::new("a_pattern_has_rules") else { return };
    let host = Host::slots(&fleet, "one", 12);
    let sleep = |lane: &str| host.luzia(&["enqueue", "-l", lane, "--", "sleep", "60"]).coded(0).line();
    let first = sleep("session:a");
    until_status(&fleet, &first, "running");
    let set = fleet.json(&["lanes", "set", "session:*", "--max", "2"]);
    assert_eq!((&set["lane"], &set["max_concurrent"], &set["rule"]), (&"session:*".into(), &2.into(), &"set".into()));
    // One that is in use, one that is new, and one with a rule of its own.
    fleet.luzia(&["lanes", "set", "session:c", "--max", "1"]).coded(0);
    let others = ["session:a", "session:b", "session:b", "session:c"].map(sleep);
    others.iter().for_each(|id| until_status(&fleet, id, "running"));
    let last = sleep("session:c");
    until("it waits", || (fleet.json(&["show", &last])["reason"] == "LaneFull").then_some(()));
    assert_eq!(
        (&lane(&fleet, "session:b")["max_concurrent"], &lane(&fleet, "session:b")["rule"]),
        (&2.into(), &"default".into())
    );
    assert_eq!(lane(&fleet, "session:*")["max_concurrent"], 2);
    // A pause of the pattern, and one of everything, are seen where a task waits.
    fleet.luzia(&["lanes", "set", "session:c", "--max", "none"]).coded(0);
    until_status(&fleet, &last, "running");
    fleet.luzia(&["pause", "session:*", "--reason", "update"]).coded(0);
    let held = sleep("session:new");
    let free = host.luzia(&["enqueue", "-l", "gpu", "--", "true"]).coded(0).line();
    fleet.luzia(&["wait", &free]).coded(0);
    assert_eq!(
        (&fleet.json(&["show", &held])["reason"], status(&fleet, &held).as_str()),
        (&"Paused".into(), "pending")
    );
    assert!(fleet.luzia(&["show", &held]).coded(0).out.contains("update"));
    assert_eq!(lane(&fleet, "session:new")["paused"], true);
    let said = fleet.luzia(&["pause", "--all", "--for", "10m"]).coded(0).err;
    assert!(said.contains("everything of the store is paused until"), "{said}");
    let all = host.enqueue("dave", "true", &[]);
    let seen = fleet.json(&["status"])["paused"].clone();
    assert_eq!((&seen[0]["what"], &seen[1]["what"], seen[2].is_null()), (&"session:*".into(), &"*".into(), true));
    assert_eq!(fleet.json(&["show", &all])["reason"], "Paused");
    let why = fleet.luzia(&["explain", &all]).coded(0).out;
    assert!(why.contains("every task is paused"), "{why}");
    assert_eq!(fleet.json(&["resume", "--all"])["items"][0]["what"], "*");
    let said = fleet.luzia(&["resume", "--all"]).coded(0).err;
    assert!(said.contains("everything of the store was not paused"), "{said}");
    fleet.luzia(&["wait", &all]).coded(0);
    assert_eq!(status(&fleet, &held), "pending");
    assert_eq!(fleet.json(&["resume", "sess*"])["items"][0]["what"], "session:*");
    until_status(&fleet, &held, "running");
    fleet.refused(&fleet.url(), &["resume", "sess*"], 66, "NOT_PAUSED");
    assert_eq!(fleet.json(&["lanes", "rm", "session:*"])["changed"], true);
    assert_eq!(lane(&fleet, "session:a")["max_concurrent"], 1);
    fleet.luzia(&["cancel", "-l", "session:*", "--yes"]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_lane_is_granted_no_more_often_than_its_rate_allows_on_all_hosts() {
    let Some(fleet) = Fleet::new("a_lane_is_granted") else { return };
    let hosts = [Host::new(&fleet, "one", None), Host::new(&fleet, "two", None)];
    fleet.luzia(&["lanes", "set", "api*", "--max", "4", "--rate", "2/3s"]).coded(0);
    let log = fleet.place.text("starts");
    let script = format!("date +%s%3N >>{log}");
    let ids: Vec<String> =
        (0..5).map(|at| hosts[at % 2].luzia(&["enqueue", "-l", "api", "--shell", &script]).coded(0).line()).collect();
    until_status(&fleet, &ids[1], "completed");
    let waits =
        until("it is limited", || Some(fleet.json(&["show", &ids[4]])).filter(|task| task["reason"] == "RateLimited"));
    assert_eq!(waits["status"], "pending", "{waits:#}");
    assert!(fleet.luzia(&["explain", &ids[4]]).coded(0).out.contains("2/3s"));
    assert!(lane(&fleet, "api")["limited_until"].is_string(), "{:#}", lane(&fleet, "api"));
    fleet.luzia(&[&["wait"][..], &ids.iter().map(String::as_str).collect::<Vec<_>>()].concat()).coded(0);
    // Grants of one window are two; a start comes a little after its grant.
    let starts: Vec<i64> = std::fs::read_to_string(&log).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    let mut starts = starts;
    starts.sort_unstable();
    assert!(starts.windows(3).all(|three| three[2] - three[0] > 2000), "{starts:?}");
    assert_whole(&fleet);
}

#[test]
fn a_user_has_the_weight_and_a_lease_the_time_that_the_store_says() {
    let Some(fleet) = Fleet::new("a_user_has_the_weight") else { return };
    let set = fleet.json(&["lanes", "set", "user:heavy", "--weight", "3"]);
    assert_eq!(set["weight"], 3, "{set:#}");
    fleet.refused(&fleet.url(), &["lanes", "set", "gpu", "--weight", "3"], 2, "USAGE");
    let log = fleet.place.text("order");
    let queue = |user: &str| {
        let script = format!("echo {user} >>{log}; sleep 0.1");
        fleet.luzia(&["enqueue", "-u", user, "--on", "one", "--shell", &script]).coded(0).line()
    };
    let ids: Vec<String> = (0..16).map(|at| queue(if at < 8 { "heavy" } else { "light" })).collect();
    let host = Host::slots(&fleet, "one", 1);
    fleet.luzia(&[&["wait"][..], &ids.iter().map(String::as_str).collect::<Vec<_>>()].concat()).coded(0);
    let order: Vec<String> = std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    let heavy = order[..8].iter().filter(|user| *user == "heavy").count();
    assert!((5..=7).contains(&heavy), "three of four: {order:?}");
    fleet.luzia(&["lanes", "set", "thread:*", "--lock-timeout", "7m"]).coded(0);
    let before = std::time::SystemTime::now();
    host.luzia(&["acquire", "thread:1", "--task", "me"]).coded(0);
    let locks = fleet.json(&["list-locks"]);
    let text = locks["items"][0]["expires_at"].as_str().unwrap();
    let until = chrono::DateTime::parse_from_rfc3339(text).unwrap();
    let left = std::time::SystemTime::from(until).duration_since(before).unwrap();
    assert!((400..=430).contains(&left.as_secs()), "{text}");
    host.luzia(&["release", "thread:1", "me"]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_task_is_held_and_released_from_any_host_until_a_host_has_it() {
    let Some(fleet) = Fleet::new("a_task_is_held") else { return };
    let host = Host::new(&fleet, "one", None);
    let held = host.enqueue("alice", "true", &["--hold"]);
    let next = host.enqueue("alice", "true", &[]);
    fleet.luzia(&["wait", &next]).coded(0);
    let task = fleet.json(&["show", &held]);
    assert_eq!((&task["status"], &task["reason"]), (&"pending".into(), &"Paused".into()), "{task:#}");
    assert_eq!(fleet.json(&["resume", &held])["items"][0]["changed"], true);
    fleet.luzia(&["wait", &held]).coded(0);
    // A pause of a task that waits ends by itself, and a retry or a cancel of one that is held works as of any other.
    fleet.luzia(&["pause", "-u", "alice"]).coded(0);
    let ids = ["bob", "alice"].map(|user| host.enqueue(user, "true", &["--in", "1s"]));
    fleet.luzia(&["pause", &ids[0], "--for", "3s", "--reason", "wait for it"]).coded(0);
    assert!(fleet.luzia(&["show", &ids[0]]).coded(0).out.contains("wait for it"));
    fleet.luzia(&["wait", &ids[0], "--timeout", "25s"]).coded(0);
    fleet.luzia(&["pause", &ids[1]]).coded(0);
    fleet.luzia(&["cancel", &ids[1], "--yes"]).coded(0);
    fleet.refused(&fleet.url(), &["pause", &ids[1]], 1, "TASK_OVER");
    // Chosen ones.
    let label = ["--hold", "--label", "nightly"];
    let chosen = [host.enqueue("carol", "true", &label), host.enqueue("dave", "true", &label)];
    assert_eq!(fleet.json(&["resume", "--label", "nightly", "--yes"])["items"].as_array().unwrap().len(), 2);
    fleet.luzia(&["wait", &chosen[0], &chosen[1]]).coded(0);
    assert_whole(&fleet);
}
