//! `guard`: a command runs only while the lock of its caller is in force (P5, issue of execution, item 9).

use crate::support::{Place, Ran, until};
use serde_json::Value;

/// Takes a lease; gives its lock id and its fence.
fn lease(place: &Place, lane: &str, holder: &str, options: &[&str]) -> (String, String) {
    let got: Value = place.json(&[&["acquire", lane, "--task", holder], options].concat());
    (got["lock_id"].as_str().unwrap().to_owned(), got["fence"].to_string())
}

fn guarded(place: &Place, lock_id: &str, args: &[&str]) -> Ran {
    let mut command = place.command(&[&["guard"], args].concat());
    place.spawn(command.env("LUZIA_LOCK_ID", lock_id)).end()
}

#[test]
fn a_lease_is_guarded_by_its_id_its_fence_and_its_lane() {
    let place = Place::new();
    let (id, fence) = lease(&place, "lane:build", "me", &[]);
    assert_eq!(guarded(&place, &id, &["--", "sh", "-c", "echo $LUZIA_FENCE; exit 7"]).coded(7).out.trim(), fence);
    place.ok(&["guard", "--lane", "lane:build", "--fence", &fence, "--", "true"]);
    place.ok(&["guard", "--fence", &fence, "--", "true"]);
    let old =
        place.luzia(&["guard", "--lane", "lane:build", "--fence", "1", "--", "touch", &place.text("ran")]).coded(1);
    assert!(old.err.contains("me") && old.err.contains(&fence), "it says who holds the lane: {}", old.err);
    assert!(old.err.contains("try: luzia explain lane:build"), "{}", old.err);
    place.luzia(&["guard", "--", "true"]).coded(2);
    guarded(&place, &id, &["--lane", "lane:other", "--", "true"]).coded(1);
    guarded(&place, "nobody_1", &["--", "true"]).coded(1);
    guarded(&place, &id, &["--", "/no/such/command"]).coded(127);
    assert!(!place.path("ran").exists());
}

#[test]
fn a_lease_that_ran_out_or_was_taken_over_guards_nothing() {
    let place = Place::new();
    let (id, _) = lease(&place, "lane:build", "me", &["--ttl", "200ms"]);
    std::thread::sleep(std::time::Duration::from_millis(400));
    guarded(&place, &id, &["--", "touch", &place.text("ran")]).coded(1);
    let (_, fence) = lease(&place, "lane:build", "other", &[]);
    let taken = guarded(&place, &id, &["--lane", "lane:build", "--", "touch", &place.text("ran")]).coded(1);
    assert!(taken.err.contains("other") && taken.err.contains(&fence), "{}", taken.err);
    assert!(!place.path("ran").exists());
}

#[test]
fn a_lease_does_not_run_out_under_a_guarded_command() {
    let place = Place::new();
    let (id, _) = lease(&place, "lane:build", "me", &["--ttl", "600ms"]);
    let script = "sleep 2; $LUZIA acquire lane:build --task thief; echo $?";
    let ran = guarded(&place, &id, &["--", "sh", "-c", script]).coded(0);
    assert_eq!(ran.line(), "75", "{ran:?}");
}

#[test]
fn a_command_whose_lock_is_lost_is_ended() {
    let place = Place::new();
    let (id, _) = lease(&place, "lane:build", "me", &[]);
    let mut command =
        place.command(&["guard", "--", "sh", "-c", "echo up >$PLACE/up; sleep 60; echo never >$PLACE/never"]);
    let mut guard = place.spawn(command.env("LUZIA_LOCK_ID", &id));
    place.until_file("up");
    place.ok(&["release", "lane:build", "me", "-y"]);
    lease(&place, "lane:build", "thief", &[]);
    until("the end of the command", || guard.is_over().then_some(()));
    let ended = guard.end().coded(1);
    assert!(ended.err.contains("was lost") && ended.err.contains("thief"), "{}", ended.err);
    assert!(!place.path("never").exists());
    assert_eq!(place.events_named("guard_lost").len(), 1);
}

/// Takes leases of two lanes by one call; gives their lock id.
fn two_leases(place: &Place) -> String {
    place.ok(&["acquire", "-l", "db", "-l", "cache", "--task", "me", "--ttl", "1h"]).line()
}

#[test]
fn all_lanes_of_one_lock_are_guarded_and_the_loss_of_one_ends_the_command() {
    let place = Place::new();
    let script = "echo up >$PLACE/up; sleep 60; echo never >$PLACE/never";
    for (lane, options) in [("db", &[][..]), ("cache", &[][..]), ("cache", &["--lane", "db", "--lane", "cache"])] {
        let id = two_leases(&place);
        let mut command = place.command(&[&["guard"], options, &["--", "sh", "-c", script]].concat());
        let mut guard = place.spawn(command.env("LUZIA_LOCK_ID", &id));
        place.until_file("up");
        place.ok(&["release", &format!("lane:{lane}"), "me", "-y"]);
        until("the end of the command", || guard.is_over().then_some(()));
        let ended = guard.end().coded(1);
        assert!(ended.err.contains(&format!("of lane \"{lane}\" was lost")), "{}", ended.err);
        // A lane that is named must be in force when the command begins.
        let named = ["--lane", "db", "--lane", "cache", "--", "touch", &place.text("never")];
        guarded(&place, &id, &named).coded(1);
        place.ok(&["release", "-l", "db", "-l", "cache", "me", "-y"]);
        std::fs::remove_file(place.path("up")).unwrap();
    }
    assert!(!place.path("never").exists());
    let id = two_leases(&place);
    guarded(&place, &id, &["--lane", "db", "--lane", "cache", "--fence", "1", "--", "true"]).coded(2);
    // `luzia lock` of two lanes, and one slot of several of a task.
    place.ok(&["lock", "-l", "x", "-l", "y", "--", "sh", "-c", "$LUZIA guard -- true"]);
}

#[test]
fn leases_of_several_lanes_are_renewed_by_one_call() {
    let place = Place::new();
    let id = two_leases(&place);
    let until_of = |lane: &str| {
        let locks = place.json(&["list-locks"]);
        crate::support::with(&locks["items"], "lane", lane)[0]["expires_at"].as_str().unwrap().to_owned()
    };
    let mut before = (until_of("cache"), until_of("db"));
    for named in [&[][..], &["-l", "db", "-l", "cache"], &["lane:db", "-l", "cache"]] {
        let renewed = place.json(&[&["renew"], named, &["--lock-id", &id]].concat());
        let lanes: Vec<&str> =
            renewed["lanes"].as_array().unwrap().iter().filter_map(|one| one["lane"].as_str()).collect();
        assert_eq!((lanes, renewed["lane"].as_str()), (vec!["cache", "db"], Some("cache")), "{renewed:#}");
        let now = (until_of("cache"), until_of("db"));
        assert!(now.0 > before.0 && now.1 > before.1, "{before:?} {now:?}");
        before = now;
    }
    // What is left is renewed, and the lost lane is told.
    place.ok(&["release", "lane:db", "me"]);
    let lost = place.luzia(&["renew", "-l", "db", "-l", "cache", "--lock-id", &id]).coded(1);
    assert!(lost.err.contains("\"db\" is not held") && lost.err.contains("\"cache\" renewed"), "{}", lost.err);
    assert!(until_of("cache") > before.0);
    let left = place.json(&["renew", "--lock-id", &id]);
    assert_eq!(left["lanes"].as_array().unwrap().len(), 1, "{left:#}");
    place.luzia(&["renew", "--lock-id", "nobody_1"]).coded(1);
    place.luzia(&["renew", "-l", "db", "-l", "db", "--lock-id", &id]).coded(2);
}

#[test]
fn a_task_and_a_lock_guard_their_own_lanes() {
    let place = Place::new();
    place.ok(&["lock", "-l", "build", "--", "sh", "-c", "$LUZIA guard -- true"]);
    let script =
        "$LUZIA guard -- true && $LUZIA guard --lane thread:7 -- true && $LUZIA guard --lane lane:x -- true; echo $?";
    assert_eq!(place.ok(&["run", "-u", "a", "--thread", "7", "--shell", script]).line(), "1", "lane:x is nobody's");
    // A loan gives the parent a new fence, and the lock id names the lock still. While the child has the lane, the parent has not.
    let child = "$LUZIA guard -- true; echo child $?; LUZIA_TASK_ID= LUZIA_LOCK_ID=$PARENT $LUZIA guard -- true; echo parent $?";
    std::fs::write(place.path("child.sh"), child).unwrap();
    let script = "$LUZIA run --timeout 20s --env PARENT=$LUZIA_LOCK_ID -- sh $PLACE/child.sh 2>/dev/null; $LUZIA guard -- true; echo after $?";
    let ran = place.ok(&["run", "-u", "a", "--shell", script]);
    assert_eq!(ran.out, "child 0\nparent 1\nafter 0\n", "{}", ran.err);
}
