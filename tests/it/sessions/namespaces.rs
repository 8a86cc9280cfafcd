//! Sessions in pid namespaces: a process that can read the lock file can judge them. Needs root.

use super::agents::{AGENT_LIVES, only_keeper, program};
use crate::support::{Place, Running, lives, signal, skip, until};
use rustix::process::Signal;
use std::process::Command;

const PIDS: [&str; 4] = ["--pid", "--fork", "--mount-proc", "--kill-child"];

fn may(test: &str) -> bool {
    let may = Command::new("unshare").args(PIDS).arg("true").output().is_ok_and(|ran| ran.status.success());
    if !may {
        skip(test, "the right to `unshare --pid`");
    }
    may
}

fn inside(place: &Place, script: &str) -> Running {
    let mut command = Command::new("unshare");
    command.args(PIDS).args(["bash", "-ec", script]).env_clear().current_dir(place.path("work"));
    let like = place.command(&[]);
    command.envs(like.get_envs().filter_map(|(key, value)| Some((key, value?)))).env("AGENT", program(place));
    place.spawn(&mut command)
}

fn check_inside(place: &Place, code: i32) {
    inside(place, &format!("\"$LUZIA\" check alice || test $? = {code}")).end().coded(0);
}

#[test]
fn a_session_in_a_pid_namespace_is_judged_right_from_outside_and_from_beside() {
    if !may("a_session_in_a_pid_namespace_is_judged_right_from_outside_and_from_beside") {
        return;
    }
    let place = Place::new();
    let script = format!(
        r#""$AGENT" -c '"$LUZIA" acquire alice --session k; {AGENT_LIVES}' & agent=$!
        while ! test -e "$PLACE/go"; do sleep 0.01; done; kill -9 $agent; wait $agent || true
        while test -e "$LUZIA_STATE_DIR/locks/user_alice.lock"; do sleep 0.01; done; echo free > "$PLACE/free"; sleep 600"#
    );
    let _namespace = inside(&place, &script);
    place.until_file("up");
    place.ok(&["cleanup-stale"]);
    place.luzia(&["check", "alice"]).coded(75);
    check_inside(&place, 75);
    assert!(place.lock("user_alice.lock").exists());
    std::fs::write(place.path("go"), "").unwrap();
    place.until_file("free");
    place.ok(&["check", "alice"]);
    assert_eq!(place.events_named("session_ended")[0]["data"]["why"], "agent_ended");
}

#[test]
fn a_session_whose_pid_namespace_ends_is_stale_at_once_for_everybody() {
    if !may("a_session_whose_pid_namespace_ends_is_stale_at_once_for_everybody") {
        return;
    }
    let place = Place::new();
    let mut namespace = inside(&place, &format!(r#""$LUZIA" acquire alice --session k --pid 1; {AGENT_LIVES}"#));
    place.until_file("up");
    place.luzia(&["check", "alice"]).coded(75);
    let keeper = only_keeper(&place);
    namespace.kill();
    until("the namespace is gone", || (!lives(keeper)).then_some(()));
    check_inside(&place, 0);
    place.ok(&["check", "alice"]);
    place.ok(&["lock", "-n", "-u", "alice", "--", "true"]);
}

#[test]
fn a_session_of_the_host_is_judged_right_from_inside_a_pid_namespace() {
    if !may("a_session_of_the_host_is_judged_right_from_inside_a_pid_namespace") {
        return;
    }
    let place = Place::new();
    place.ok(&["acquire", "alice", "--session", "k"]);
    inside(&place, "\"$LUZIA\" cleanup-stale; \"$LUZIA\" lock -n -u alice -- true || test $? = 75").end().coded(0);
    place.luzia(&["check", "alice"]).coded(75);
    let keeper = only_keeper(&place);
    signal(keeper, Signal::KILL);
    until("the keeper is gone", || (!lives(keeper)).then_some(()));
    inside(&place, "\"$LUZIA\" lock -n -u alice -- true").end().coded(0);
}
