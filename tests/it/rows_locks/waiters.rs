//! Those who wait for a lane with `lock` or `acquire` are shown wherever its holders are.

use crate::support::{Place, until};
use serde_json::{Value, json};

const LANE: &str = "lane:w";

/// A lane that is held, and two that wait for it, the second by `acquire` for an agent.
fn waited_for(place: &Place) -> [crate::support::Running; 3] {
    place.gate("gate");
    let holder = place.start(&["lock", "-l", "w", "--", "sh", "-c", "echo > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    let ann = place.start(&["lock", "-l", "w", "--label", "Ann deploys", "--", "true"]);
    until("one waits", || (waiters(place).len() == 1).then_some(()));
    let mut codex = place.command(&["acquire", LANE, "--task", "t", "--timeout", "1m", "--ttl", "1s"]);
    let codex = place.spawn(codex.env("LUZIA_AGENT", "codex"));
    until("both wait", || (waiters(place).len() == 2).then_some(()));
    [holder, ann, codex]
}

fn waiters(place: &Place) -> Vec<Value> {
    place.json(&["explain", LANE])["waiters"].as_array().unwrap().clone()
}

#[test]
fn every_answer_about_a_lane_tells_who_waits_for_it() {
    let place = Place::new();
    let [holder, ann, codex] = waited_for(&place);
    let found = waiters(&place);
    let told: Vec<Value> =
        found.iter().map(|one| json!([one["position"], one["pid"], one["label"], one["agent"]])).collect();
    assert_eq!(told, [json!([1, ann.pid(), "Ann deploys", null]), json!([2, codex.pid(), null, "codex"])]);
    assert!(found[0]["since"].as_str() <= found[1]["since"].as_str(), "{found:?}");
    let pids = |all: &Value| -> Vec<Value> { all.as_array().unwrap().iter().map(|one| one["pid"].clone()).collect() };
    let both = [json!(ann.pid()), json!(codex.pid())];
    assert_eq!(pids(&place.json(&["list-locks"])["items"][0]["waiters"]), both);
    let status = place.json(&["status"]);
    assert_eq!((&status["waiters"][0]["lane"], &status["waiters"][1]["agent"]), (&"w".into(), &"codex".into()));
    let checked = place.luzia(&["--json", "check", LANE]).coded(75).json();
    assert_eq!(pids(&checked["waiters"]), both);
    let words = format!("2 wait in its line: process {} [Ann deploys] for ", ann.pid());
    for text in
        [place.ok(&["explain", LANE]).out, place.luzia(&["check", LANE]).coded(75).err, place.ok(&["status"]).out]
    {
        assert!(text.contains(&words) && text.contains(&format!("process {} of codex for ", codex.pid())), "{text}");
    }
    assert!(place.ok(&["list-locks"]).out.contains("; 2 in its line"));
    place.open_gate("gate");
    for running in [holder, ann, codex] {
        running.end().coded(0);
    }
    assert_eq!(waiters(&place), Vec::<Value>::new());
}

#[test]
fn a_waiter_that_was_killed_is_not_shown() {
    let place = Place::new();
    let [_holder, mut ann, _codex] = waited_for(&place);
    ann.kill();
    until("one is left", || (waiters(&place).len() == 1).then_some(()));
    assert_eq!(waiters(&place)[0]["position"], 1);
}

#[test]
fn a_quiet_refusal_has_no_hint_and_busy_as_no_error_says_nothing() {
    let place = Place::new();
    place.ok(&["acquire", LANE, "--task", "me"]);
    let lines = |args: &[&str], code| place.luzia(args).coded(code).err.lines().count();
    assert!(lines(&["lock", "-n", "-l", "w", "--", "true"], 75) > 1);
    assert_eq!(lines(&["-q", "lock", "-n", "-l", "w", "--", "true"], 75), 1);
    assert_eq!(lines(&["lock", "-n", "-E", "0", "-l", "w", "--", "true"], 0), 0);
    assert_eq!(lines(&["-q", "lock", "-n", "-E", "0", "-l", "w", "--", "true"], 0), 0);
    assert_eq!(lines(&["-q", "lock", "-n", "-E", "9", "-l", "w", "--", "true"], 9), 0);
    assert!(lines(&["-v", "lock", "-n", "-E", "0", "-l", "w", "--", "true"], 0) > 0);
    assert_eq!(lines(&["-q", "release", "lane:w", "other"], 1), 1);
}

#[test]
fn a_lane_that_is_almost_one_with_a_rule_is_told_of() {
    let place =
        Place::configured(&json!({ "lanes": { "lane:build": { "max": 2 }, "lane:gpu": { "max": 4 }, "mem:*": {} } }));
    for (lane, told) in [
        ("biuld", Some("did you mean \"build\"")),
        ("gpu=1", Some("is another lane than \"gpu\"")),
        ("gpu:1", Some("is another lane than \"gpu\"")),
        ("build", None),
        ("mem:16", None),
        ("deploy", None),
    ] {
        let ways = [
            place.ok(&["lock", "-l", lane, "--", "true"]),
            // One that is held: the end of a lock starts what waits for it.
            place.ok(&["enqueue", "--hold", "-l", lane, "--", "true"]),
            place.ok(&["acquire", "-l", lane, "--task", "t"]),
        ];
        for way in ways {
            assert_eq!(told.is_some_and(|told| way.err.contains(told)), told.is_some(), "{lane}: {}", way.err);
            assert!(
                told.is_some() || !way.err.contains("another lane") && !way.err.contains("did you mean"),
                "{}",
                way.err
            );
        }
    }
}

#[test]
fn show_says_for_whom_a_task_waited() {
    let place = Place::new();
    place.gate("gate");
    let holder = place.start(&["lock", "-l", "w", "--", "sh", "-c", "echo > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    let first = place.enqueue(&["-l", "w", "--", "true"]);
    let second = place.enqueue(&["-l", "w", "--", "true"]);
    place.ok(&["dispatch"]);
    let pid = holder.pid();
    place.open_gate("gate");
    holder.end().coded(0);
    place.drain();
    let names = |id: &str| -> Vec<String> {
        let waited = place.show(id)["waited_for"].as_array().unwrap().clone();
        waited
            .iter()
            .map(|one| format!("{} {}", one["holder"].as_str().unwrap(), one["lane"].as_str().unwrap()))
            .collect()
    };
    assert_eq!(names(&first), [format!("pid-{pid} w")]);
    assert_eq!(names(&second), [format!("pid-{pid} w"), format!("{first} w")]);
    assert!(place.ok(&["show", &second]).out.contains(&format!("{first}, which had lane w")));
    let alone = place.enqueue(&["-l", "other", "--", "true"]);
    place.drain();
    assert_eq!(names(&alone), Vec::<String>::new());
}
