//! Tasks and leases of a sandbox that was made for one call (P9): what is said at once, and how such a task still runs.

use crate::support::{Place, Ran, is_root, skip};
use serde_json::{Value, json};
use std::process::Command;

/// A sandbox with mount and pid namespaces of its own, as agents make one for each command.
const SANDBOX: &str = "unshare --mount --pid --fork --mount-proc --kill-child";

fn can_unshare(test: &str) -> bool {
    let can =
        Command::new("sh").args(["-c", &format!("{SANDBOX} true")]).output().is_ok_and(|ran| ran.status.success());
    if !can {
        skip(test, "the right to make mount and pid namespaces");
    }
    can
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn sh(place: &Place, script: &str) -> Ran {
    place.spawn(&mut place.shell(script)).end()
}

/// Runs a script in a sandbox of its own.
fn inside(place: &Place, script: &str) -> Ran {
    sh(place, &format!("exec {SANDBOX} sh -c {}", quoted(script)))
}

/// A mount namespace in which the state directory is read-only, or all of it but `locks`.
fn reading(place: &Place, with_locks: bool, verbs: &str) -> Ran {
    let locks = if with_locks { "mount --bind $S/locks $S/locks && mount -o remount,rw,bind $S/locks &&" } else { "" };
    let script =
        format!("S=\"$LUZIA_STATE_DIR\"; mount --bind $S $S && {locks} mount -o remount,ro,bind $S && {verbs}");
    sh(place, &format!("exec unshare --mount sh -c {}", quoted(&script)))
}

#[test]
fn those_who_may_only_read_see_who_holds_a_lane() {
    let name = "those_who_may_only_read_see_who_holds_a_lane";
    if !is_root() {
        return skip(name, "root, who may mount");
    }
    let place = Place::new();
    place.gate("go");
    let holder = place.start(&["lock", "-l", "build", "--", "sh", "-c", "echo > $PLACE/held; read _ < $PLACE/go"]);
    place.until_file("held");
    place.enqueue(&["-l", "build", "--", "true"]);
    for with_locks in [false, true] {
        for (verb, code) in [
            ("status", 0),
            ("status --json", 0),
            ("list-locks", 0),
            ("check lane:build", 75),
            ("explain lane:build", 0),
            ("explain task_1", 0),
            ("top --json", 0),
            ("list", 0),
        ] {
            let ran = reading(&place, with_locks, &format!("exec \"$LUZIA\" {verb}")).coded(code);
            let says = format!("{}{}", ran.out, ran.err);
            assert!(verb == "list" || says.contains("build"), "{verb}, locks {with_locks}: {says}");
        }
    }
    let lock = reading(&place, true, "exec \"$LUZIA\" lock -n -l other -- echo in").coded(0);
    assert_eq!(lock.out, "in\n", "a sandbox that may write `locks` only has locks");
    place.open_gate("go");
    holder.end().coded(0);
}

#[test]
fn status_shows_who_holds_a_named_lane() {
    let place = Place::new();
    place.gate("go");
    let holder = place.start(&["lock", "-l", "build", "--", "sh", "-c", "echo > $PLACE/held; read _ < $PLACE/go"]);
    place.until_file("held");
    let status = place.ok(&["status"]).out;
    assert!(status.lines().any(|line| line.contains("lock build") && line.contains("held")), "{status}");
    let answer = place.json(&["status"]);
    assert_eq!((&answer["lane_locks"][0]["lane"], &answer["user_locks"]["active"]), (&json!("build"), &json!(0)));
    place.open_gate("go");
    holder.end().coded(0);
}

#[test]
fn a_session_is_refused_where_its_keeper_would_end_with_the_sandbox() {
    if !can_unshare("a_session_is_refused_where_its_keeper_would_end_with_the_sandbox") {
        return;
    }
    let place = Place::new();
    let error = inside(&place, "\"$LUZIA\" --json acquire -l x --session=abc").coded(1).err;
    let error: Value = serde_json::from_str(error.lines().last().unwrap()).unwrap();
    assert_eq!(error["code"], "ENDS_WITH_SANDBOX");
    assert!(error["hint"].as_str().unwrap().contains("--ttl"), "{error}");
    place.ok(&["check", "lane:x"]);
    let taken = inside(&place, "\"$LUZIA\" acquire -l x --session=abc --ttl 10m").coded(0);
    assert!(taken.err.contains("the lease lasts as long as --ttl says"), "{}", taken.err);
    place.luzia(&["check", "lane:x"]).coded(75);
    let again = inside(&place, "\"$LUZIA\" acquire -l x --session=abc --ttl 10m").coded(0);
    assert_eq!(again.out, taken.out, "the same session refreshes it");
    place.ok(&["release", "lane:x", "--lock-id", taken.line().as_str()]);
}
