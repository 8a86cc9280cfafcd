//! Pids that come again, in a pid namespace of the test's own. Needs root.

use crate::support::{Place, skip};
use std::process::Command;

/// Makes the next process of the namespace get a pid, starts one, and tells which it got.
const RECYCLE: &str = "again() { echo $(($1 - 1)) > /proc/sys/kernel/ns_last_pid; sleep 600 & test $! = $1; }";

fn in_namespace(place: &Place, script: &str) -> crate::support::Ran {
    let whole = format!("{RECYCLE}\n{script}");
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-ec", &whole]);
    let like = place.command(&[]);
    command.envs(like.get_envs().filter_map(|(key, value)| Some((key, value?)))).current_dir(place.path("work"));
    place.spawn(&mut command).end()
}

fn can_unshare() -> bool {
    Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "true"])
        .output()
        .is_ok_and(|ran| ran.status.success())
}

#[test]
fn a_recycled_pid_is_not_taken_for_the_dead_holder() {
    if !can_unshare() {
        return skip("a_recycled_pid_is_not_taken_for_the_dead_holder", "the right to make a pid namespace");
    }
    let place = Place::new();
    // A lease that is bound to a process; the process dies, another one gets its pid; the lock is judged by start time.
    let script = r#"
        sleep 600 & holder=$!
        "$LUZIA" acquire alice --task t1 --pid $holder --ttl 1h >/dev/null
        if "$LUZIA" check alice >/dev/null 2>&1; then echo "free while its holder lives"; exit 9; fi
        sleep 1
        kill -9 $holder; wait $holder || true
        again $holder || { echo "could not recycle $holder"; exit 8; }
        kill -0 $holder
        "$LUZIA" check alice
        "$LUZIA" acquire alice --task t2 >/dev/null
        echo recycled"#;
    let ran = in_namespace(&place, script).coded(0);
    assert!(ran.out.ends_with("recycled\n"), "{ran:#?}");
}

#[test]
fn a_recycled_pid_of_a_supervisor_is_neither_honoured_nor_signalled() {
    if !can_unshare() {
        return skip(
            "a_recycled_pid_of_a_supervisor_is_neither_honoured_nor_signalled",
            "the right to make a pid namespace",
        );
    }
    let place = Place::new();
    let script = r#"
        "$LUZIA" enqueue -u alice -- sh -c 'echo $$ > $PLACE/up; exec sleep 600' >/dev/null
        "$LUZIA" dispatch
        while ! test -s "$PLACE/up"; do sleep 0.01; done
        supervisor=$("$LUZIA" show 1 --json | sed -n 's/.*"supervisor_pid": *\([0-9]*\).*/\1/p')
        sleep 1
        # As long as the command lives its session keeps the pid of the supervisor, so both have to go.
        kill -9 $supervisor $(cat "$PLACE/up")
        while test -d /proc/$supervisor || test -d /proc/$(cat "$PLACE/up"); do sleep 0.01; done
        again $supervisor || { echo "could not recycle $supervisor"; exit 8; }
        "$LUZIA" cancel 1 >/dev/null 2>&1 || true
        "$LUZIA" dispatch --drain
        kill -0 $supervisor || { echo "the wrong process was signalled"; exit 9; }
        "$LUZIA" check alice
        "$LUZIA" list -a -o name"#;
    let ran = in_namespace(&place, script).coded(0);
    assert!(ran.out.ends_with("task_1\n"), "{ran:#?}");
    assert!(["failed", "cancelled"].contains(&place.status("task_1").as_str()));
}
