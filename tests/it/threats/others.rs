//! Other accounts: what they may not do to a state directory, its locks and its processes. Needs root.

use super::{identity, used};
use crate::support::{Place, Ran, home_variables, is_root, skip};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const NOBODY: &str = "65534";

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A shell script as nobody, in an environment that leads to the place; `$S` is its state directory.
fn as_nobody(place: &Place, script: &str) -> Ran {
    let program = place.open_to_others();
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--", "sh", "-c", script]);
    command
        .env_clear()
        .envs(home_variables(&place.path("home")))
        .env("PATH", "/usr/bin:/bin")
        .env("S", place.state())
        .env("L", program)
        .env("O", place.path("outside"));
    command.env("LUZIA_STATE_DIR", place.state()).current_dir("/");
    place.spawn(&mut command).end()
}

/// System calls by their plainest programs; each must fail.
const CALLS: [&str; 16] = [
    "ls $S/locks/.guard",
    "cat $S/spool/pending/5/user_bob*/2.json",
    "cat $S/spool/done/*/1.json",
    "cat $S/events/*",
    ": > $S/locks/user_alice.lock",
    ": > $S/locks/new.lock",
    "rm -f $S/locks/user_alice.lock",
    "mv $S/locks/user_alice.lock $S/locks/x",
    "ln -s $O/secret $S/locks/user_x.lock",
    "ln $S/locks/user_alice.lock /tmp/luzia-test-link.$$",
    "ln $O/secret $S/spool/pending/5/user_bob*/3.json",
    "mkdir $S/run/9",
    "rmdir $S/spool/tmp",
    "mknod $S/spool/tmp/fifo p",
    "flock -n $S/locks/.guard/00 true",
    "chmod 777 $S",
];

#[test]
fn another_uid_reaches_nothing_by_any_system_call_or_verb() {
    if !is_root() {
        return skip("another_uid_reaches_nothing_by_any_system_call_or_verb", "root");
    }
    let place = used();
    place.enqueue(&["-u", "bob", "--", "true"]);
    for mode in [0o700, 0o711, 0o755] {
        chmod(&place.state(), mode);
        let (before, lock) = (place.snapshot(), identity(&place.lock("user_alice.lock")));
        for call in CALLS {
            let ran = as_nobody(&place, call);
            assert_ne!(ran.code, 0, "mode {mode:o}: {call}: {ran:#?}");
        }
        for verb in [
            "enqueue -u a -- true",
            "release alice",
            "release alice --force",
            "cancel 2",
            "cleanup-stale 0",
            "acquire alice --task t2",
            "lock -u alice -- true",
            "dispatch",
            "doctor -y --fix",
            "retry 1",
            "logs 1",
        ] {
            let ran = as_nobody(&place, &format!("exec $L {verb}"));
            assert!([1, 77].contains(&ran.code), "mode {mode:o}: {verb}: {ran:#?}");
        }
        place.assert_unchanged(&before, "another account");
        assert_eq!(identity(&place.lock("user_alice.lock")), lock);
    }
}

#[test]
fn another_uid_cannot_signal_what_runs_nor_read_its_environment() {
    if !is_root() {
        return skip("another_uid_cannot_signal_what_runs_nor_read_its_environment", "root");
    }
    let place = used();
    place.gate("gate");
    let run = place.start(&["run", "-u", "bob", "--", "sh", "-c", "echo $$ > $PLACE/pid; read _ < $PLACE/gate"]);
    let command = place.until_file("pid");
    let supervisor = place.show("task_2")["supervisor_pid"].to_string();
    for pid in [command, supervisor, run.pid().to_string()] {
        for call in [
            format!("kill -9 {pid}"),
            format!("kill -STOP {pid}"),
            format!("cat /proc/{pid}/environ"),
            format!("ls /proc/{pid}/fd"),
        ] {
            assert_ne!(as_nobody(&place, &call).code, 0, "{call}");
        }
    }
    place.open_gate("gate");
    run.end().coded(0);
}

#[test]
fn a_lock_held_for_ever_by_another_uid_is_in_a_state_directory_of_its_own() {
    // Lanes are of one account: what another one holds in its own directory is nothing here.
    if !is_root() {
        return skip("a_lock_held_for_ever_by_another_uid_is_in_a_state_directory_of_its_own", "root");
    }
    let place = used();
    std::fs::create_dir(place.path("theirs")).unwrap();
    std::os::unix::fs::chown(place.path("theirs"), Some(65534), Some(65534)).unwrap();
    let held = as_nobody(&place, "exec $L --state-dir ${S%state}theirs/state acquire x --task forever").coded(0);
    assert!(held.out.starts_with("forever_"), "{held:#?}");
    place.ok(&["acquire", "x", "--task", "t2"]);
    // And root is no exception: it does not act in a directory of another account.
    let theirs = place.text("theirs/state");
    for verb in [&["cleanup-stale"][..], &["release", "x"], &["dispatch"], &["enqueue", "--", "true"]] {
        place.luzia(&[&["--state-dir", &theirs], verb].concat()).coded(77);
    }
}

#[test]
fn a_configuration_of_another_uid_is_refused() {
    if !is_root() {
        return skip("a_configuration_of_another_uid_is_refused", "root");
    }
    let place = used();
    place.configure(&serde_json::json!({ "slots": { "max": 9 } }));
    chmod(&place.path("config.json"), 0o644);
    std::os::unix::fs::chown(place.path("config.json"), Some(65534), None).unwrap();
    let ran = place.luzia(&["status"]).coded(78);
    assert!(ran.err.contains("can be changed by other accounts"), "{ran:#?}");
}
