//! Tasks and leases of a sandbox that was made for one call (P9): what is said at once, and how such a task still runs.

use crate::support::{Place, Ran, is_root, skip, until};
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

/// What can be told of a sandbox that has ended: only the initial pid namespace sees everybody.
fn ended() -> &'static str {
    let own = std::fs::read_link("/proc/self/ns/pid").unwrap();
    if own.to_str() == Some("pid:[4026531836]") { "ended" } else { "unseen" }
}

fn reason(why: &Value) -> Value {
    let reason = &why["reasons"][0];
    json!([reason["reason"], reason["sandbox"], reason["own"], reason["next"], reason["override"]])
}

#[test]
fn a_task_queued_in_a_sandbox_says_at_once_that_only_that_starts_it() {
    if !can_unshare("a_task_queued_in_a_sandbox_says_at_once_that_only_that_starts_it") {
        return;
    }
    let place = Place::new();
    let ran = inside(&place, "\"$LUZIA\" enqueue -u a -- true").coded(0);
    assert_eq!(ran.out, "task_1\n");
    assert!(ran.err.contains("only this sandbox starts task_1"), "{}", ran.err);
    assert!(ran.err.contains("luzia attach --here task_1"), "{}", ran.err);
    let answer = inside(&place, "\"$LUZIA\" --json enqueue -u a -- true").coded(0).json();
    assert_eq!(answer["only_this_sandbox"], true, "{answer}");
    std::fs::write(place.path("batch"), "{\"user\":\"a\",\"command\":[\"true\"]}\n").unwrap();
    let batch = inside(&place, "\"$LUZIA\" enqueue --from \"$PLACE/batch\"").coded(0);
    assert!(batch.err.contains("only this sandbox starts task_3"), "{}", batch.err);
    // Where something in the sandbox starts tasks, nothing is to be said.
    let script = "\"$LUZIA\" daemon --poll 50ms 2>/dev/null & daemon=$!; \
                  while ! ls \"$LUZIA_STATE_DIR\"/spool/dispatchers.* >/dev/null 2>&1; do sleep 0.02; done; \
                  \"$LUZIA\" --json enqueue -u b -- true; kill $daemon";
    let answer = inside(&place, script).coded(0).json();
    assert_eq!(answer["only_this_sandbox"], false, "{answer}");
    if ended() == "ended" {
        let ran = place.ok(&["--json", "enqueue", "-u", "c", "--", "true"]);
        assert_eq!(ran.json()["only_this_sandbox"], false, "outside, any pass starts it");
        assert_eq!(ran.err, "");
    }
}

#[test]
fn a_task_whose_sandbox_has_ended_is_told_apart_and_runs_where_it_is_attached() {
    if !can_unshare("a_task_whose_sandbox_has_ended_is_told_apart_and_runs_where_it_is_attached") {
        return;
    }
    let place = Place::new();
    let show = "readlink /proc/self/ns/pid; ulimit -n; exit 5";
    let queue = format!("\"$LUZIA\" enqueue -u a --key k --priority 2 --shell {}", quoted(show));
    let id = inside(&place, &queue).coded(0).line();
    let here = format!("luzia attach --here {id}");
    // From outside the end is seen; from a sandbox beside it is not, unless the kernel gave that the same number again.
    assert_eq!(reason(&place.json(&["explain", &id])), json!(["OtherContext", ended(), true, [here], null]));
    let beside = inside(&place, &format!("\"$LUZIA\" --json explain {id}")).coded(0).json();
    let seen = reason(&beside)[1].clone();
    assert!(seen == "unseen" || seen == "ended", "{beside}");
    assert_eq!(reason(&beside), json!(["OtherContext", seen, true, [here], null]));
    assert_eq!(place.json(&["status"])["other_sandboxes"][ended()], json!([id]));
    let status = place.ok(&["status"]);
    assert!(status.out.contains("attach --here") && !status.err.contains("luzia dispatch"), "{status:?}");
    let doctor = place.json(&["doctor"]);
    let found = doctor["items"].as_array().unwrap().iter().find(|one| one["check"] == "sandboxes").unwrap();
    assert!(found["message"].as_str().unwrap().contains(&id), "{found}");
    let before = place.show(&id);
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&id), "pending");
    // The caller's own decision: in the next sandbox, with its limits.
    let script = format!("ulimit -n 77; readlink /proc/self/ns/pid; exec \"$LUZIA\" attach --here {id}");
    let ran = inside(&place, &script);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!((ran.code, lines.len(), lines[0] == lines[1], lines[2]), (5, 3, true, "77"), "{ran:?}");
    assert!(ran.err.contains(&format!("{id} runs here: /bin/sh -c")) && ran.err.contains("ulimit -n"), "{}", ran.err);
    let after = place.show(&id);
    for member in ["key", "priority", "created_at", "cwd", "command", "user"] {
        assert_eq!(before[member], after[member], "{member}");
    }
    assert_eq!(place.events_named("taken_here").len(), 1);
    // Again it is a plain attach, and so it is for a task that this process may start.
    place.luzia(&["attach", "--here", &id]).coded(5);
    let own = place.enqueue(&["-u", "b", "--", "echo", "mine"]);
    let ran = place.ok(&["attach", "--here", &own]);
    assert!(ran.out == "mine\n" && !ran.err.contains("runs here"), "{ran:?}");
}

#[test]
fn a_task_is_not_taken_out_of_a_sandbox_that_lives() {
    if !can_unshare("a_task_is_not_taken_out_of_a_sandbox_that_lives") {
        return;
    }
    let place = Place::new();
    place.gate("end");
    let script = "\"$LUZIA\" enqueue -u a -- true; echo > \"$PLACE/queued\"; read _ < \"$PLACE/end\"";
    let sandbox = place.spawn(&mut place.shell(&format!("exec {SANDBOX} sh -c {}", quoted(script))));
    place.until_file("queued");
    let why = place.json(&["explain", "task_1"]);
    assert_eq!(reason(&why), json!(["OtherContext", "lives", true, ["luzia wait task_1"], null]));
    let before = place.snapshot();
    let refused = place.luzia(&["--json", "attach", "--here", "task_1"]).coded(1);
    let error: Value = serde_json::from_str(refused.err.lines().last().unwrap()).unwrap();
    assert_eq!((&error["code"], &error["next"]), (&json!("SANDBOX_LIVES"), &json!(["luzia wait task_1"])));
    place.assert_unchanged(&before, "a refused attach");
    place.open_gate("end");
    sandbox.end();
    until("its end is seen", || (reason(&place.json(&["explain", "task_1"]))[1] != "lives").then_some(()));
    place.ok(&["attach", "--here", "task_1"]);
    place.luzia(&["attach", "--here", "task_9"]).coded(66);
}

#[test]
fn only_the_session_that_asked_for_a_task_is_told_to_take_it() {
    if !can_unshare("only_the_session_that_asked_for_a_task_is_told_to_take_it") {
        return;
    }
    let place = Place::new();
    let of = |session: &str| format!("CLAUDECODE=1 CLAUDE_CODE_SESSION_ID={session} \"$LUZIA\"");
    let id = inside(&place, &format!("{} enqueue -u a -- true", of("one"))).coded(0).line();
    let asks = |session: &str| reason(&sh(&place, &format!("{} --json explain {id}", of(session))).coded(0).json());
    let here = format!("luzia attach --here {id}");
    assert_eq!(asks("one"), json!(["OtherContext", ended(), true, [here], null]));
    let first = if ended() == "ended" { format!("luzia show {id}") } else { format!("luzia wait {id}") };
    assert_eq!(asks("two"), json!(["OtherContext", ended(), false, [first], [here]]));
}

#[test]
fn a_run_that_yields_in_a_sandbox_says_how_the_next_call_goes_on() {
    if !can_unshare("a_run_that_yields_in_a_sandbox_says_how_the_next_call_goes_on") {
        return;
    }
    let place = Place::new();
    place.gate("go");
    let holder = place.start(&["lock", "-l", "y", "--", "sh", "-c", "echo > $PLACE/held; read _ < $PLACE/go"]);
    place.until_file("held");
    let script = "exec \"$LUZIA\" --json run -l y --yield-after 100ms -- echo ran";
    let ran = inside(&place, script).coded(75);
    let error: Value = serde_json::from_str(ran.err.lines().last().unwrap()).unwrap();
    assert_eq!(error["next"], json!(["luzia attach --here task_1"]), "{error}");
    assert_eq!(error["only_this_sandbox"], true, "{error}");
    place.open_gate("go");
    holder.end().coded(0);
    let ran = inside(&place, "exec \"$LUZIA\" attach --here task_1").coded(0);
    assert_eq!(ran.out, "ran\n", "{ran:?}");
}

#[test]
fn a_call_that_meets_a_task_of_an_ended_sandbox_is_led_out() {
    if !can_unshare("a_call_that_meets_a_task_of_an_ended_sandbox_is_led_out") {
        return;
    }
    let place = Place::new();
    inside(&place, "\"$LUZIA\" enqueue --key k -l y -- echo ran").coded(0);
    let here = json!(["luzia attach --here task_1"]);
    for verb in ["run --key k -l y --yield-after 100ms -- echo ran", "wait task_1 --stream --timeout 100ms"] {
        let ran = inside(&place, &format!("exec \"$LUZIA\" --json {verb}")).coded(75);
        let error: Value = serde_json::from_str(ran.err.lines().last().unwrap()).unwrap();
        assert_eq!(error["next"], here, "{verb}: {error}");
    }
    let ran = inside(&place, "timeout 1 \"$LUZIA\" attach task_1");
    assert!(ran.err.contains("luzia: task_1 is still queued; go on with: luzia attach --here task_1"), "{ran:?}");
    let ran = inside(&place, "exec \"$LUZIA\" attach --here task_1").coded(0);
    assert_eq!(ran.out, "ran\n", "{ran:?}");
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
    let wait = "exec \"$LUZIA\" lock -l other -- \"$LUZIA\" wait 1 --timeout 100ms";
    assert!(reading(&place, true, wait).coded(75).err.contains("not over yet: task_1"));
    place.open_gate("go");
    holder.end().coded(0);
    // The guard of the lane is there, so it can be opened; only a grant is refused.
    for verb in ["lock -l build -- true", "acquire lane:build --task x", "lock -l build -l other -- true"] {
        let ran = reading(&place, false, &format!("exec \"$LUZIA\" {verb}")).coded(74);
        assert!(ran.err.contains("ask for write access"), "{verb}: {}", ran.err);
    }
    assert_eq!(place.json(&["list-locks"])["items"], json!([]));
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

#[test]
fn a_release_says_who_starts_a_task_of_another_sandbox() {
    // S0.23
    if !can_unshare("a_release_says_who_starts_a_task_of_another_sandbox") {
        return;
    }
    let place = Place::new();
    for lane in ["thread:9", "build"] {
        place.ok(&["acquire", &format!("lane:{lane}").replace("lane:thread", "thread"), "--task", "other"]);
        let ran = inside(&place, &format!("\"$LUZIA\" enqueue -l {lane} -- true")).coded(0);
        let told = place.json(&["release", "-l", lane])["waiting"].clone();
        let wanted = format!("{} can start now, but only in the sandbox in which it was queued", ran.line());
        assert!(told.as_str().unwrap().starts_with(&wanted), "{told}");
        assert_eq!(place.status(&ran.line()), "pending");
        place.ok(&["acquire", "thread:8", "--task", "other"]);
        assert_eq!(place.json(&["release", "thread:8"])["waiting"], Value::Null);
    }
}
