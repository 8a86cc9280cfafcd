//! The slots that a task does without while it blocks in `await`: others have them, and the task goes on when it has them again
//! (X3, X16).

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

fn narrow() -> Place {
    Place::configured(&json!({ "slots": { "max": 1 } }))
}

/// Starts a script as a task of a user of its own, and returns when others have its slots.
fn waits(place: &Place, options: &[&str], text: &str) -> String {
    let before = if place.state().exists() { place.events_named("gave_up").len() } else { 0 };
    let user = format!("user{before}");
    let id = place.enqueue(&[&["-u", &user][..], options, &["--", "sh", "-ec", text]].concat());
    place.ok(&["dispatch", "--once"]);
    until("its slots are given up", || (place.events_named("gave_up").len() > before).then_some(()));
    id
}

/// Starts a task of another user that runs until the gate of its name is opened.
fn holds(place: &Place, name: &str, options: &[&str]) -> String {
    let script = format!("echo up >$PLACE/{name}.up; read _ <{}; echo {name} >>$PLACE/order", place.gate(name));
    let id = place.enqueue(&[&["-u", name][..], options, &["--", "sh", "-c", &script]].concat());
    place.ok(&["dispatch", "--once"]);
    place.until_file(&format!("{name}.up"));
    id
}

fn holders(place: &Place, lane: &str) -> Vec<String> {
    let locks = place.json(&["list-locks"]);
    let locks = locks["items"].as_array().unwrap().iter().filter(|lock| lock["lane"] == lane);
    locks.map(|lock| lock["holder"].as_str().unwrap().to_owned()).collect()
}

fn order(place: &Place) -> String {
    std::fs::read_to_string(place.path("order")).unwrap_or_default()
}

fn state(pid: &str) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('-')
}

fn line_of_global(place: &Place) -> usize {
    std::fs::read_dir(place.state().join("locks/.lane_global.line")).map_or(0, Iterator::count)
}

#[test]
fn four_tasks_that_wait_leave_the_host_free() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    let all: Vec<String> = (0..4).map(|_| waits(&place, &[], "\"$LUZIA\" await response >/dev/null")).collect();
    assert_eq!(holders(&place, "global"), [""; 0]);
    assert_eq!(place.json(&["status"])["active"]["slots_used"], 0);
    let other = place.enqueue(&["-u", "fifth", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&other, "completed");
    for id in &all {
        assert_eq!(place.status(id), "waiting");
        place.luzia(&["check", &format!("user:{}", place.show(id)["user"].as_str().unwrap())]).coded(75);
        place.ok(&["emit", "response", "--task", id]);
    }
    all.iter().for_each(|id| place.until_status(id, "completed"));
    assert_eq!(place.events_named("took_again").len(), 4);
}

#[test]
fn it_goes_on_before_new_work_and_says_that_it_waits_for_its_slot() {
    let place = narrow();
    let id = waits(&place, &[], "\"$LUZIA\" await response --timeout 1h >/dev/null; echo first >>$PLACE/order");
    let holder = holds(&place, "holder", &[]);
    for user in ["new1", "new2"] {
        place.enqueue(&["-u", user, "--priority", "4", "--", "sh", "-c", &format!("echo {user} >>$PLACE/order")]);
    }
    place.ok(&["emit", "response", "--task", &id, "--data", "\"go\""]);
    until("it is resume_ready", || (place.show(&id)["resume_ready"] == true).then_some(()));
    assert_eq!(place.show(&id)["status"], "waiting");
    let why = place.json(&["explain", &id]);
    let reasons = why["reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{why:#}");
    assert!(reasons[0]["message"].as_str().unwrap().contains(&holder), "{why:#}");
    assert!(place.ok(&["explain", &id]).out.contains("has what it waited for, and waits for its lanes"));
    place.open_gate("holder");
    place.until_status(&id, "completed");
    place.drain();
    let order = order(&place);
    assert!(order.starts_with("holder\nfirst\nnew"), "{order}");
}

#[test]
fn the_time_spent_on_its_slots_is_not_that_of_the_await() {
    let place = narrow();
    let text = "\"$LUZIA\" await response --timeout 3s --on-timeout fail; echo $? >$PLACE/code";
    let id = waits(&place, &[], text);
    holds(&place, "holder", &[]);
    let until_text = place.show(&id)["waiting_until"].as_str().unwrap().to_owned();
    place.ok(&["emit", "response", "--task", &id]);
    until("its time is over", || (now() > until_text).then_some(()));
    assert_eq!(place.status(&id), "waiting");
    place.open_gate("holder");
    assert_eq!(place.until_file("code"), "0");
    assert_eq!(place.events_named("wait_timeout"), [Value::Null; 0]);
}

fn now() -> String {
    let out = std::process::Command::new("date").args(["-u", "+%FT%T.%3NZ"]).output().unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

#[test]
fn only_capacity_lanes_without_values_whose_rule_says_release_go() {
    let place = Place::configured(&json!({
        "slots": { "max": 3 },
        "lanes": { "port": { "max": 1, "values": ["9000"] }, "stays": { "hold": "keep" } }
    }));
    let lanes = ["-l", "port", "-l", "stays", "-l", "goes", "--thread", "7"];
    let id = waits(&place, &lanes, "\"$LUZIA\" await response >/dev/null");
    let gone = place.events_named("gave_up")[0]["data"]["lanes"].clone();
    assert_eq!(gone, json!(["goes", "global"]));
    for (lane, code) in [("lane:port", 75), ("lane:stays", 75), ("thread:7", 75), ("user:user0", 75), ("lane:goes", 0)]
    {
        place.luzia(&["check", lane]).coded(code);
    }
    place.ok(&["emit", "response", "--task", &id]);
    place.until_status(&id, "completed");
}

#[test]
fn a_task_that_waits_for_a_child_keeps_its_slots_for_it() {
    let place = narrow();
    let text = "c=$(\"$LUZIA\" enqueue -- true); \"$LUZIA\" await agent >/dev/null";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&id, "completed");
    assert_eq!(place.events_named("gave_up"), [Value::Null; 0]);
}

#[test]
fn a_pause_of_its_lane_does_not_keep_it_from_going_on() {
    let place = narrow();
    let id = waits(&place, &["-l", "build"], "\"$LUZIA\" await response >/dev/null");
    place.ok(&["pause", "lane:build"]);
    place.ok(&["pause", "--all", "-y"]);
    place.ok(&["emit", "response", "--task", &id]);
    place.until_status(&id, "completed");
}

#[test]
fn an_await_that_timeout_ends_returns_when_its_task_has_its_slot() {
    let place = narrow();
    let id = waits(&place, &[], "timeout 2 \"$LUZIA\" await response || echo $? >$PLACE/code");
    holds(&place, "holder", &[]);
    until("it stands in the line", || (line_of_global(&place) > 0).then_some(()));
    assert!(!place.path("code").exists());
    place.open_gate("holder");
    assert_eq!(place.until_file("code"), "124");
    place.until_status(&id, "completed");
    assert_eq!(holders(&place, "global"), [""; 0]);
}

#[test]
fn a_tree_whose_await_is_killed_stands_still_until_it_has_its_slot() {
    let place = narrow();
    // A shell that starts a command is in the state D, and not in T, while that is stopped before it runs.
    let text = "echo $$ >$PLACE/shell; sh -c 'echo $$ >$PLACE/await; exec \"$LUZIA\" await response' || :; \
                until [ -e $PLACE/end ]; do :; done; echo on >>$PLACE/order";
    let id = waits(&place, &[], text);
    holds(&place, "holder", &[]);
    signal(place.until_file("await").parse().unwrap(), Signal::KILL);
    let shell = place.until_file("shell");
    until("its shell is stopped", || (state(&shell) == 'T').then_some(()));
    // A pause that comes meanwhile and ends does not let it go on.
    place.ok(&["pause", &id, "-y"]);
    place.ok(&["resume", &id]);
    std::fs::write(place.path("end"), "").unwrap();
    assert_eq!(state(&shell), 'T');
    place.open_gate("holder");
    place.until_status(&id, "completed");
    assert_eq!(order(&place), "holder\non\n");
    assert_eq!(place.events_named("took_again").len(), 1);
}

#[test]
fn a_second_await_waits_for_the_first_one_and_both_return_with_the_slot() {
    let place = narrow();
    let text = "(\"$LUZIA\" await event:ONE; echo one >>$PLACE/order) & \
                until \"$LUZIA\" show self | grep -q 'waiting for'; do sleep 0.02; done; \
                \"$LUZIA\" await event:TWO; wait; echo both >>$PLACE/order";
    let id = waits(&place, &[], text);
    let holder = holds(&place, "holder", &[]);
    place.ok(&["emit", "ONE", "--task", &id]);
    place.ok(&["emit", "TWO", "--task", &id]);
    until("it is resume_ready", || (place.show(&id)["resume_ready"] == true).then_some(()));
    place.open_gate("holder");
    place.until_status(&holder, "completed");
    place.until_status(&id, "completed");
    assert_eq!(order(&place), "holder\none\nboth\n");
}

#[test]
fn one_that_is_cancelled_does_not_wait_for_its_slot() {
    for is_ready in [false, true] {
        let place = narrow();
        let id = waits(&place, &["--grace", "600s"], "\"$LUZIA\" await response");
        let holder = holds(&place, "holder", &[]);
        if is_ready {
            place.ok(&["emit", "response", "--task", &id]);
            until("it is resume_ready", || (place.show(&id)["resume_ready"] == true).then_some(()));
        }
        place.ok(&["cancel", &id, "-y"]);
        place.until_status(&id, "cancelled");
        assert_eq!((place.status(&holder).as_str(), holders(&place, "global")), ("running", vec![holder.clone()]));
        place.open_gate("holder");
    }
}

#[test]
fn a_supervisor_that_is_killed_meanwhile_leaves_a_task_that_waits_without_a_process() {
    let place = narrow();
    let id = waits(&place, &[], "\"$LUZIA\" await response >/dev/null; echo on >>$PLACE/order");
    let holder = holds(&place, "holder", &[]);
    signal(place.supervisor(&id), Signal::KILL);
    place.ok(&["dispatch", "--once"]);
    until("it waits without a process", || (place.show(&id)["parked"] == true).then_some(()));
    assert_eq!(holders(&place, "global"), [holder]);
    place.luzia(&["check", "user:user0"]).coded(75);
    place.open_gate("holder");
    place.ok(&["emit", "response", "--task", &id]);
    place.until_status(&id, "completed");
    assert_eq!((order(&place).as_str(), place.show(&id)["attempt"].clone()), ("holder\non\n", json!(1)));
}
