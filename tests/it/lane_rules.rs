//! What the rules of lanes do: rates and reserves, each from the next grant on.

use crate::support::{Place, lines, until};
use serde_json::{Value, json};

fn reason(place: &Place, task: &str) -> Value {
    place.json(&["explain", task])["reasons"][0].clone()
}

fn status(place: &Place, task: &str) -> String {
    place.json(&["show", task])["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_rate_lets_so_many_through_and_says_when_it_goes_on() {
    let place = Place::new();
    place.ok(&["lanes", "set", "api", "--rate", "2/1h"]);
    let ids: Vec<String> = ["a", "b", "c"].map(|user| place.enqueue(&["-u", user, "-l", "api", "--", "true"])).into();
    let free = place.enqueue(&["-u", "d", "--", "true"]);
    for _ in 0..3 {
        place.ok(&["dispatch", "--once"]);
        until("what may start is over", || (place.json(&["status"])["active"]["slots_used"] == json!(0)).then_some(()));
    }
    let ended = |id: &String| status(&place, id) == "completed";
    assert_eq!((ids.iter().map(ended).collect::<Vec<_>>(), ended(&free)), (vec![true, true, false], true));
    let why = reason(&place, &ids[2]);
    assert_eq!((&why["reason"], &why["lane"], &why["rate"]), (&json!("RateLimited"), &json!("api"), &json!("2/1h")));
    assert!(why["until"].as_str().is_some_and(|until| until.ends_with('Z')), "{why}");
    assert!(place.ok(&["list"]).out.contains("api again in"), "{}", place.ok(&["list"]).out);
    // The lane itself is free, and nobody gets it before that moment.
    place.luzia(&["check", "lane:api"]).coded(75);
    let refused = place.luzia(&["lock", "-n", "-l", "api", "--", "true"]).coded(75);
    assert!(refused.err.contains("rate is used up"), "{}", refused.err);
    place.luzia(&["acquire", "lane:api", "--task", "me"]).coded(75);
    let row = place.json(&["lanes", "list", "api"])["items"][0].clone();
    assert_eq!((&row["active"], row["limited_until"].is_string()), (&json!(0), true));
    // A higher rate counts at the next grant.
    place.ok(&["lanes", "set", "api", "--rate", "3/1h"]);
    place.drain();
    assert!(ended(&ids[2]));
    place.luzia(&["check", "lane:api"]).coded(75);
    place.ok(&["lanes", "rm", "api"]);
    place.ok(&["check", "lane:api"]);
}

#[test]
fn a_drain_and_a_waiting_lock_go_on_at_the_moment_that_the_rate_names() {
    let place = Place::new();
    place.ok(&["lanes", "set", "api", "--rate", "1/300ms"]);
    let script = "date +%s%N >>$PLACE/at";
    let ids: Vec<String> =
        (0..3).map(|n| place.enqueue(&["-u", &format!("u{n}"), "-l", "api", "--shell", script])).collect();
    place.ok(&["dispatch", "--drain"]);
    assert!(ids.iter().all(|id| status(&place, id) == "completed"));
    for _ in 0..2 {
        place.ok(&["lock", "-l", "api", "--", "sh", "-c", script]);
    }
    let at = std::fs::read_to_string(place.path("at")).unwrap();
    let at: Vec<u64> = at.lines().map(|line| line.parse::<u64>().unwrap() / 1_000_000).collect();
    // Commands start later than they were granted, by a time that varies.
    assert!(at[4] - at[0] >= 4 * 300 - 150, "five grants within {} ms", at[4] - at[0]);
}

#[test]
fn grants_stay_counted_when_the_dispatcher_is_killed_and_leave_nothing_when_their_window_is_over() {
    let place = Place::new();
    place.ok(&["lanes", "set", "goal:*", "--rate", "1/200ms"]);
    place.ok(&["lanes", "set", "api", "--rate", "1/1h"]);
    let script = format!("echo up >>$PLACE/up; read _ <{}", place.gate("go"));
    let first = place.enqueue(&["-u", "a", "-l", "api", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let supervisor = place.json(&["show", &first])["supervisor_pid"].as_u64().unwrap();
    std::process::Command::new("kill").args(["-9", &supervisor.to_string()]).status().unwrap();
    place.ok(&["cancel", &first, "--yes"]);
    let second = place.enqueue(&["-u", "b", "-l", "api", "--", "true"]);
    until("the first is recovered", || {
        place.ok(&["dispatch", "--once"]);
        (status(&place, &first) != "running").then_some(())
    });
    place.ok(&["dispatch", "--once"]);
    assert_eq!(reason(&place, &second)["reason"], json!("RateLimited"));
    for n in 0..5 {
        place.enqueue(&["-l", &format!("goal:{n}"), "--", "true"]);
    }
    place.ok(&["cancel", &second, "--yes"]);
    place.drain();
    let rates = || std::fs::read_dir(place.path("state/spool/rates")).map_or(0, Iterator::count);
    until("only the lane whose window is open has a file", || {
        let _ = std::fs::remove_file(place.path("state/spool/pruned"));
        place.ok(&["dispatch", "--once"]);
        std::fs::write(place.path("state/spool/pruned"), "00000000000000000001\n").unwrap();
        place.ok(&["dispatch", "--once"]);
        (rates() == 1).then_some(())
    });
}

#[test]
fn a_damaged_file_of_grants_keeps_the_lane_for_one_window_only() {
    let place = Place::new();
    place.ok(&["lanes", "set", "api", "--rate", "5/300ms"]);
    std::fs::create_dir(place.path("state/spool/rates")).unwrap();
    std::fs::write(place.path("state/spool/rates/lane_api"), "damaged").unwrap();
    place.luzia(&["lock", "-n", "-l", "api", "--", "true"]).coded(75);
    place.ok(&["lock", "-w", "10", "-l", "api", "--", "true"]);
    let text = std::fs::read_to_string(place.path("state/spool/rates/lane_api")).unwrap();
    assert!(text.starts_with("luzia-rate 1\n") && text.lines().count() == 2, "{text}");
}

#[test]
fn a_reserve_keeps_a_slot_for_its_lane_and_others_say_so() {
    let place = Place::configured(&json!({ "slots": { "max": 2 } }));
    place.ok(&["lanes", "set", "deploy", "--reserve", "1"]);
    let script = |gate: &str| format!("echo up >>$PLACE/up; read _ <{}", place.gate(gate));
    let users = ["a", "b"].map(|user| place.enqueue(&["-u", user, "--shell", &script(user)]));
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let why = reason(&place, &users[1]);
    let found = [&why["reason"], &why["used"], &why["max"], &why["kept"]];
    assert_eq!(found, [&json!("Reserved"), &json!(1), &json!(2), &json!(1)]);
    assert!(place.ok(&["list"]).out.contains("1 reserved for others"));
    // The lane that the slot is for gets it, and once it has it nothing is kept.
    let own = place.enqueue(&["-u", "c", "-l", "deploy", "--shell", &script("c")]);
    place.ok(&["dispatch", "--once"]);
    until("both run", || (status(&place, &own) == "running").then_some(()));
    assert_eq!(reason(&place, &users[1])["reason"], json!("LaneFull"));
    // When it is over its slot is kept again, also while only a `lock` has the lane.
    place.open_gate("c");
    until("it is over", || (status(&place, &own) == "completed").then_some(()));
    let lock = place.start(&["lock", "-l", "deploy", "--", "sh", "-c", &script("d")]);
    place.ok(&["dispatch", "--once"]);
    assert_eq!(reason(&place, &users[1])["reason"], json!("Reserved"));
    place.ok(&["lanes", "set", "deploy", "--reserve", "0"]);
    place.ok(&["dispatch", "--once"]);
    until("the other user starts without the reserve", || (status(&place, &users[1]) == "running").then_some(()));
    for gate in ["a", "b", "d"] {
        place.open_gate(gate);
    }
    lock.end().coded(0);
    place.drain();
}

#[test]
fn a_lane_that_a_rule_keeps_is_as_busy_as_one_that_somebody_holds() {
    let place = Place::configured(&json!({ "slots": { "max": 2 } }));
    place.ok(&["lanes", "set", "deploy", "--reserve", "1"]);
    place.ok(&["lanes", "set", "api", "--rate", "1/1h"]);
    place.ok(&["acquire", "held", "-l", "global", "--task", "other"]);
    place.ok(&["lock", "-l", "api", "--", "true"]);
    for (lane, code) in [("global", "RESERVED"), ("api", "RATE_LIMITED"), ("user:held", "LOCK_HELD")] {
        let told = place.luzia(&["acquire", "-l", lane, "--task", "me", "--json"]).coded(75);
        let answer: Value = serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{lane}: {told:#?}"));
        let error: Value = serde_json::from_str(&told.err).unwrap();
        assert_eq!((&answer["acquired"], &error["code"]), (&json!(false), &json!(code)), "{lane}");
        place.luzia(&["lock", "-n", "-l", lane, "-E", "9", "--", "true"]).coded(9);
        place.luzia(&["lock", "-w", "20ms", "-l", lane, "-E", "9", "--", "true"]).coded(9);
    }
}

/// How many of some tasks run at once at most, by what each adds at its begin and takes away at its end.
fn most_at_once(place: &Place) -> i64 {
    let mut now = 0;
    let steps = lines(&place.path("steps")).into_iter().map(|step| if step == "begin" { 1 } else { -1 });
    steps.map(|step| (now += step, now).1).max().unwrap()
}

#[test]
fn a_rule_for_projects_or_goals_limits_the_tasks_of_each() {
    // S3.F1, S2.F2
    let place = Place::configured(&json!({ "slots": { "max": 8 }, "lanes": { "goal:rep*": { "max": 2 } } }));
    let script = "echo begin >>$PLACE/steps; sleep 0.1; echo end >>$PLACE/steps";
    let of_goal: Vec<String> =
        (0..6).map(|n| place.enqueue(&["-u", &format!("u{n}"), "--goal", "report", "--shell", script])).collect();
    assert_eq!(place.show(&of_goal[0])["lanes"], json!(["user:u0", "goal:report"]));
    place.drain();
    assert_eq!(most_at_once(&place), 2);
    std::fs::remove_file(place.path("steps")).unwrap();
    // Tasks that wait when the rule is set take the lane, too.
    let of_project = |n: u32| place.enqueue(&["-u", &format!("u{n}"), "-p", "site", "--shell", script]);
    let before: Vec<String> = (0..3).map(of_project).collect();
    let other = place.enqueue(&["-u", "x", "-p", "shop", "--", "true"]);
    place.ok(&["cron", "add", "nightly", "0 3 * * *", "-p", "site", "--", "true"]);
    assert!(place.ok(&["lanes", "set", "project:s*", "--max", "1"]).err.contains("so do 4 that waited"));
    let made = place.ok(&["cron", "run", "nightly"]).line();
    assert!(place.show(&made)["lanes"].to_string().contains("project:site"), "{}", place.show(&made));
    let after: Vec<String> = (3..6).map(of_project).collect();
    for id in [&before[0], &after[0]] {
        assert!(place.show(id)["lanes"].to_string().contains("project:site"), "{}", place.show(id));
    }
    assert!(place.show(&other)["lanes"].to_string().contains("project:shop"));
    place.drain();
    assert_eq!(most_at_once(&place), 1);
    // Without a rule nothing is added.
    let free = place.enqueue(&["-u", "u", "-p", "web", "--goal", "other", "--", "true"]);
    assert_eq!(place.show(&free)["lanes"], json!(["user:u"]));
}

#[test]
fn an_overdue_holder_is_ended_by_the_time_since_its_grant_wherever_the_rule_stands() {
    // S3.F4
    let rule = json!({ "lanes": { "build": { "lock_timeout_seconds": 0.6, "on_overdue": "terminate" } } });
    let (configured, set) = (Place::configured(&rule), Place::new());
    set.ok(&["lanes", "set", "build", "--lock-timeout", "600ms", "--on-overdue", "terminate"]);
    for place in [configured, set] {
        let holder = place.enqueue(&["-l", "build", "--", "sleep", "60"]);
        place.ok(&["dispatch", "--once"]);
        place.until_status(&holder, "running");
        until("it is overdue", || {
            let locks = place.json(&["list-locks", "--state", "overdue"]);
            (locks["items"][0]["lane"] == "build").then_some(())
        });
        // Nobody waits for it yet.
        assert_eq!(place.status(&holder), "running");
        place.ok(&["run", "-l", "build", "--", "true"]);
        assert_eq!(place.status(&holder), "cancelled");
        // One who waits with `lock` is somebody who waits.
        let holder = place.enqueue(&["-l", "build", "--", "sleep", "60"]);
        place.ok(&["dispatch", "--once"]);
        place.until_status(&holder, "running");
        place.ok(&["lock", "-l", "build", "--", "true"]);
        assert_eq!(place.status(&holder), "cancelled");
    }
}

#[test]
fn a_refresh_follows_a_rule_that_is_set_later() {
    // X1
    let place = Place::new();
    // One gate lets one reader through: the other one would meet the end of the file.
    let script = |lane: &str| format!("read _ <{}", place.gate(lane));
    let task = place.enqueue(&["-l", "build", "--shell", &script("build")]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&task, "running");
    let lock = place.start(&["lock", "-l", "pack", "--", "sh", "-c", &script("pack")]);
    until("both are held", || (place.json(&["list-locks"])["items"].as_array().unwrap().len() == 3).then_some(()));
    for lane in ["build", "pack"] {
        place.ok(&["lanes", "set", lane, "--lock-timeout", "6s"]);
    }
    let locks = || place.json(&["list-locks"])["items"].as_array().unwrap().clone();
    let refreshed = |lane: &str| {
        let lock = locks().into_iter().find(|lock| lock["lane"] == lane).unwrap();
        assert_eq!(lock["state"], "held", "{lock}");
        (lock["refreshed_at"] != lock["acquired_at"]).then_some(lock)
    };
    for lane in ["build", "pack"] {
        let lock = until("it is refreshed", || refreshed(lane));
        // The age for people counts from the grant.
        assert!(lock["held_ms"].as_u64() > lock["age_ms"].as_u64(), "{lock}");
    }
    for lane in ["build", "pack"] {
        place.open_gate(lane);
    }
    lock.end().coded(0);
    place.drain();
}
