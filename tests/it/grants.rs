//! Several lanes at once: `lock`, `acquire` and `release` with more than one lane take all of them or none, in one order.

use super::support::*;
use rustix::process::Signal;
use serde_json::{Value, json};

fn places(place: &Place, lane: &str) -> usize {
    std::fs::read_dir(place.lock(&format!(".lane_{lane}.line"))).map_or(0, Iterator::count)
}

fn is_free(place: &Place, lane: &str) -> bool {
    place.luzia(&["check", &format!("lane:{lane}")]).code == 0
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path("work").join(name)).unwrap()
}

/// Holds a lane until the gate is opened.
fn hold(place: &Place, lane: &str, gate: &str) -> Running {
    let script = format!("echo x >held.{gate}; cat {}", place.gate(gate));
    let holder = place.start(&["lock", "-l", lane, "--", "sh", "-c", &script]);
    place.until_file(&format!("work/held.{gate}"));
    holder
}

/// Starts a lock of lanes that stands in the line of one of them then.
fn waits(place: &Place, lanes: &[&str], line: &str, script: &str) -> Running {
    let before = places(place, line);
    let mut args = vec!["lock"];
    lanes.iter().for_each(|lane| args.extend(["-l", lane]));
    args.extend(["--", "sh", "-c", script]);
    let waiter = place.start(&args);
    until("it stands in the line", || (places(place, line) > before).then_some(()));
    waiter
}

#[test]
fn two_that_name_the_same_lanes_in_opposite_order_take_turns() {
    let place = Place::new();
    let script = "mkdir inside || echo two >>overlaps; echo x >>ran; rmdir inside";
    std::thread::scope(|scope| {
        for lanes in [["a", "b"], ["b", "a"]] {
            let place = &place;
            scope.spawn(move || {
                for _ in 0..200 {
                    place.ok(&["lock", "-l", lanes[0], "-l", lanes[1], "--", "sh", "-c", script]);
                }
            });
        }
    });
    assert_eq!(lines(&place.path("work/ran")).len(), 400);
    assert!(!place.path("work/overlaps").exists());
    assert!(is_free(&place, "a") && is_free(&place, "b"));
    for line in [".lane_a.line", ".lane_b.line"] {
        assert!(!place.lock(line).exists(), "{line}");
    }
}

#[test]
fn a_killed_holder_gives_all_lanes_back_when_its_command_is_dead() {
    let place = Place::new();
    let script = "echo $$ >command; exec sleep 600";
    let mut holder = place.start(&["lock", "-l", "b", "-l", "a", "-l", "c", "--", "sh", "-c", script]);
    let command: u32 = place.until_file("work/command").trim().parse().unwrap();
    holder.kill();
    for lane in ["a", "b", "c"] {
        assert!(!is_free(&place, lane), "the command holds {lane}");
    }
    signal(command, Signal::KILL);
    for lane in ["a", "b", "c"] {
        until("the lane is free", || is_free(&place, lane).then_some(()));
    }
    place.ok(&["lock", "-l", "a", "-l", "b", "-l", "c", "-n", "--", "true"]);
}

#[test]
fn of_two_lanes_none_is_held_while_one_is_waited_for() {
    let place = Place::new();
    let holder = hold(&place, "b", "b");
    let waiter = waits(&place, &["a", "b"], "b", "echo both >got");
    until("it says for whom it waits", || waiter.err().contains("lane \"b\" is held by").then_some(()));
    assert!(!place.lock("lane_a.lock").exists() && !place.lock("lane_a.json").exists(), "a lane is kept for the other");
    place.ok(&["lock", "-l", "a", "-n", "--", "true"]);
    assert!(!place.path("work/got").exists());
    place.open_gate("b");
    holder.end().coded(0);
    waiter.end().coded(0);
    assert_eq!(read(&place, "got"), "both\n");
    assert!(is_free(&place, "a") && is_free(&place, "b"));
}

#[test]
fn who_leaves_a_line_for_another_lane_calls_the_next_one() {
    let place = Place::new();
    let holders = (hold(&place, "a", "a"), hold(&place, "b", "b"));
    let both = waits(&place, &["b", "a"], "a", "echo both >>numbers");
    let next = waits(&place, &["a"], "a", "echo one >>numbers");
    place.open_gate("a");
    holders.0.end().coded(0);
    next.end().coded(0);
    until("it stands in the line of the other lane", || (places(&place, "b") == 1).then_some(()));
    place.open_gate("b");
    holders.1.end().coded(0);
    both.end().coded(0);
    assert_eq!(lines(&place.path("work/numbers")), ["one", "both"]);
    assert_eq!(place.events_named("line_passed"), [Value::Null; 0], "nobody had to be passed");
    for line in [".lane_a.line", ".lane_b.line"] {
        assert!(!place.lock(line).exists(), "{line}");
    }
}

#[test]
fn a_waiter_goes_from_line_to_line_until_all_lanes_are_free() {
    let place = Place::new();
    let first = (hold(&place, "a", "a"), hold(&place, "b", "b"));
    let waiter = waits(&place, &["a", "b"], "a", "echo both >got");
    place.open_gate("a");
    first.0.end().coded(0);
    until("it stands in the line of b", || (places(&place, "b") == 1).then_some(()));
    let second = hold(&place, "a", "again");
    place.open_gate("b");
    first.1.end().coded(0);
    until("it stands in the line of a", || (places(&place, "a") == 1).then_some(()));
    assert!(is_free(&place, "b"));
    place.open_gate("again");
    second.end().coded(0);
    waiter.end().coded(0);
    assert_eq!(read(&place, "got"), "both\n");
}

#[test]
fn a_full_lane_names_all_its_holders_and_keeps_the_free_one_free() {
    let place = Place::new();
    place.ok(&["lanes", "set", "gpu", "--max", "2"]);
    for holder in ["one", "two"] {
        place.ok(&["acquire", "lane:gpu", "--task", holder]);
    }
    let refused = place.luzia(&["lock", "-l", "gpu", "-l", "disk", "-n", "--", "true"]).coded(75);
    for holder in ["lane \"gpu\" is held by one for", "lane \"gpu\" is held by two for"] {
        assert!(refused.err.contains(holder), "{}", refused.err);
    }
    assert!(!refused.err.contains("\"disk\""), "{}", refused.err);
    let refused = place.luzia(&["acquire", "-l", "gpu", "-l", "disk", "--task", "me", "--json"]).coded(75);
    assert_eq!((&refused.json()["acquired"], &refused.json()["grants"]), (&json!(false), &json!([])));
    assert!(!place.lock("lane_disk.lock").exists());
    place.ok(&["release", "lane:gpu", "one"]);
    place.ok(&["acquire", "-l", "gpu", "-l", "disk", "--task", "me"]);
    let refused = place.luzia(&["acquire", "-l", "disk", "-l", "gpu", "--task", "other", "--json"]).coded(75);
    for holder in ["\"disk\" is held by me", "\"gpu\" is held by two", "\"gpu\" is held by me"] {
        assert!(refused.err.replace("\\\"", "\"").contains(holder), "{}", refused.err);
    }
    assert!(refused.err.contains("luzia explain lane:disk") && refused.err.contains("luzia explain lane:gpu"));
}

#[test]
fn a_lease_of_several_lanes_has_one_id_and_a_grant_of_each() {
    let place = Place::new();
    let args = ["acquire", "-l", "zeta", "-u", "alice", "-l", "beta", "--task", "me", "--json"];
    let taken = place.json(&args);
    let of = |member: &str| -> Vec<Value> {
        taken["grants"].as_array().unwrap().iter().map(|grant| grant[member].clone()).collect()
    };
    assert_eq!(of("lane"), ["user:alice", "beta", "zeta"]);
    assert_eq!(of("lock_id"), vec![taken["lock_id"].clone(); 3]);
    assert_eq!(of("slot"), [0, 0, 0]);
    assert!(of("fence").iter().all(|fence| fence.as_u64().is_some_and(|fence| fence > 0)));
    assert_eq!((&taken["lane"], &taken["fence"]), (&json!("user:alice"), &of("fence")[0]));
    let again = place.json(&args);
    assert_eq!((&again["refreshed"], &again["lock_id"]), (&json!(true), &taken["lock_id"]));
    let id = place.ok(&["acquire", "-l", "beta", "-l", "zeta", "--task", "me"]).line();
    assert_eq!(json!(id), taken["lock_id"]);
    // One more lane: those that it has are refreshed, and keep their grants.
    let more = place.json(&["acquire", "-l", "beta", "-l", "more", "--task", "me", "--json"]);
    let grants = &more["grants"];
    assert_eq!((&grants[0]["fence"], &grants[0]["refreshed"]), (&of("fence")[1], &json!(true)));
    assert_eq!((&grants[1]["lane"], &grants[1]["refreshed"]), (&json!("more"), &json!(false)));
    assert_eq!(more["refreshed"], json!(false));
    let one = place.json(&["acquire", "lane:single", "--task", "me", "--json"]);
    assert_eq!((one["grants"].as_array().map(Vec::len), &one["grants"][0]["fence"]), (Some(1), &one["fence"]));
}

#[test]
fn each_lane_of_a_lease_is_released_by_itself_or_with_others() {
    let place = Place::new();
    let take = || place.ok(&["acquire", "-l", "a", "-l", "b", "-l", "c", "--task", "me"]).line();
    let id = take();
    place.ok(&["release", "lane:b", "--lock-id", &id]);
    assert_eq!((is_free(&place, "a"), is_free(&place, "b"), is_free(&place, "c")), (false, true, false));
    place.ok(&["acquire", "lane:b", "--task", "other"]);
    let refused = place.luzia(&["release", "-l", "a", "-l", "b", "-l", "c", "me"]).coded(1);
    assert!(refused.err.contains("lane \"b\" is held by other"), "{}", refused.err);
    assert_eq!((is_free(&place, "a"), is_free(&place, "b"), is_free(&place, "c")), (true, false, true));
    place.ok(&["release", "-l", "b", "other"]);
    let id = take();
    let given = place.json(&["release", "-l", "c", "-l", "a", "--lock-id", &id, "--json"]);
    assert_eq!((&given["lane"], &given["released"]), (&json!("a"), &json!(true)));
    let lanes: Vec<&Value> = given["lanes"].as_array().unwrap().iter().map(|one| &one["lane"]).collect();
    assert_eq!(lanes, ["a", "c"]);
    assert_eq!((is_free(&place, "a"), is_free(&place, "b"), is_free(&place, "c")), (true, false, true));
}

#[test]
fn a_lease_of_a_session_takes_several_lanes() {
    let place = Place::new();
    let mut agent = place.spawn(std::process::Command::new("sleep").arg("600"));
    let pid = agent.pid().to_string();
    let session = ["--session", "k", "--pid", &pid];
    place.ok(&[&["acquire", "-l", "a", "-l", "b"][..], &session].concat());
    let again = place.json(&[&["acquire", "-l", "b", "-l", "c", "--json"][..], &session].concat());
    let refreshed: Vec<&Value> = again["grants"].as_array().unwrap().iter().map(|grant| &grant["refreshed"]).collect();
    assert_eq!(refreshed, [true, false]);
    assert_eq!((is_free(&place, "a"), is_free(&place, "b"), is_free(&place, "c")), (false, false, false));
    agent.kill();
    drop(agent.end());
    for lane in ["a", "b", "c"] {
        until("the lane is free", || is_free(&place, lane).then_some(()));
    }
}

#[test]
fn inside_a_holder_only_the_other_lanes_are_taken() {
    let place = Place::new();
    let inner = "luzia lock -l b -l a -n -- sh -c 'luzia check lane:b >/dev/null; echo $? >code' && \
                 luzia acquire -l b -l a --task me --json >leased && luzia acquire -l c -l d -l a --task me >ids";
    let script = format!("PATH=$(dirname \"{LUZIA}\"):$PATH; {inner}");
    place.ok(&["lock", "-l", "a", "-l", "c", "--", "sh", "-c", &script]);
    assert_eq!(read(&place, "code"), "75\n", "the inner lock held b");
    let leased: Value = serde_json::from_str(&read(&place, "leased")).unwrap();
    assert_eq!((&leased["grants"][0]["lane"], &leased["grants"][0]["refreshed"]), (&json!("a"), &json!(true)));
    assert_eq!((&leased["grants"][1]["lane"], &leased["grants"][1]["refreshed"]), (&json!("b"), &json!(false)));
    assert_eq!(lines(&place.path("work/ids")).len(), 2, "the lock around, and the lease");
    assert_eq!((is_free(&place, "a"), is_free(&place, "c")), (true, true));
    assert_eq!((is_free(&place, "b"), is_free(&place, "d")), (false, false), "the leases last");
    place.enqueue(&["-u", "alice", "-l", "a", "--shell", &script]);
    place.ok(&["release", "-l", "b", "-l", "d", "me"]);
    place.drain();
    assert_eq!(place.status("task_1"), "completed");
}

#[test]
fn lanes_that_cannot_be_taken_together_are_refused_and_nothing_is_changed() {
    let place = Place::new();
    place.ok(&["acquire", "lane:kept", "--task", "somebody"]);
    let before = place.snapshot();
    let many: Vec<String> = (0..65).map(|number| format!("-ll{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let wrong: [(&[&str], &str); 7] = [
        (&["-u", "alice", "-l", "user:bob"], "lanes of two users"),
        (&["-l", "user:alice", "-l", "user:bob"], "lanes of two users"),
        (&["-l", "a", "-l", "b", "-l", "a"], "\"a\" is named twice"),
        (&["-u", "alice", "-l", "user:alice"], "\"user:alice\" is named twice"),
        (&["-l", "a", "-l", ""], "refused"),
        (&["-l", "a", "-l", "@nothing"], "nothing"),
        (&many, "65 lanes"),
    ];
    for (lanes, says) in wrong {
        for (verb, rest) in [("lock", &["-n", "--", "true"][..]), ("acquire", &["--task", "me"])] {
            let answer = place.luzia(&[&[verb], lanes, rest].concat()).coded(2);
            assert!(answer.err.contains(says), "{verb} {lanes:?}: {}", answer.err);
            assert_eq!(answer.out, "");
            place.assert_unchanged(&before, &format!("{verb} {lanes:?}"));
        }
    }
    place.luzia(&["acquire", "--task", "me"]).coded(2);
    place.luzia(&["release", "-l", "a", "-l", "a"]).coded(2);
    place.luzia(&["release", "-l", "a", "b", "c"]).coded(2);
    place.luzia(&["lock", "-l", "a", "--repo", ".", "--", "true"]).coded(2);
    place.assert_unchanged(&before, "none of them");
}

/// The mark of the leases that one call took, as a sidecar names it.
fn mark_of(place: &Place, lane: &str) -> std::path::PathBuf {
    let sidecar = std::fs::read_to_string(place.lock(&format!("lane_{lane}.json"))).unwrap();
    let sidecar: Value = serde_json::from_str(&sidecar).unwrap();
    place.lock(".sets").join(sidecar["set"].as_str().unwrap_or_else(|| panic!("no set: {sidecar}")))
}

#[test]
fn leases_whose_acquirer_was_killed_before_it_had_all_hold_nothing() {
    let place = Place::new();
    place.ok(&["acquire", "-l", "a", "-l", "b", "--task", "me", "--ttl", "1h"]);
    let mark = mark_of(&place, "a");
    assert_eq!((mark.exists(), mark_of(&place, "b")), (false, mark.clone()));
    assert!(!is_free(&place, "a") && !is_free(&place, "b"));
    // As a kill before its removal leaves it.
    std::fs::write(&mark, "").unwrap();
    assert!(is_free(&place, "a") && is_free(&place, "b"));
    let lock = place.json(&["list-locks"])["items"][0].clone();
    assert_eq!(lock["state"], "stale", "{lock:#}");
    assert!(lock["evidence"].as_str().unwrap().contains("before it had all of its lanes"), "{lock:#}");
    place.ok(&["acquire", "-l", "b", "-l", "c", "--task", "other", "--ttl", "1h"]);
    assert!(is_free(&place, "a") && !is_free(&place, "b") && !is_free(&place, "c"));
    // The mark stays for as long as a lock names it, and for a while after.
    place.ok(&["cleanup-stale"]);
    assert!(mark.exists() && !place.lock("lane_a.lock").exists());
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(700);
    std::fs::File::options().write(true).open(&mark).unwrap().set_modified(old).unwrap();
    place.ok(&["cleanup-stale"]);
    assert!(!mark.exists() && !is_free(&place, "b"));
    // One lane needs no mark.
    place.ok(&["acquire", "lane:d", "--task", "me"]);
    let sidecar = std::fs::read_to_string(place.lock("lane_d.json")).unwrap();
    assert!(!sidecar.contains("\"set\""), "{sidecar}");
}
