//! One state directory and several namespaces: who cannot see a task's processes does not declare them dead (P1), and a
//! lock whose holder is gone is free wherever that can be proven (P4). Needs root.

use crate::support::{Place, Ran, Running, lives, signal, skip, until, with};
use rustix::process::Signal;
use std::process::Command;

/// A command of a task or of `luzia lock` that closes what it inherited, says its pid as the host sees it, and lives on.
const HIDES: &str = r#"for n in /proc/self/fd/*; do n=${n##*/}; test $n -lt 3 || eval "exec $n>&-"; done; echo up > "$PLACE/$0"; exec sleep 600"#;

/// A place whose sandboxes are one domain of trust: these tests queue in one namespace and start in another.
fn trusting() -> Place {
    Place::configured(&serde_json::json!({ "dispatch": { "contexts": "any" } }))
}

fn can(flags: &[&str]) -> bool {
    Command::new("unshare").args(flags).arg("true").output().is_ok_and(|ran| ran.status.success())
}

/// False, and said, where these namespaces cannot be made.
fn may(test: &str, flags: &[&str]) -> bool {
    let may = can(flags);
    if !may {
        skip(test, &format!("the right to `unshare {}`", flags.join(" ")));
    }
    may
}

/// Whether the tests run in the initial pid namespace, which alone can say that another one is gone.
fn is_initial() -> bool {
    std::fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.to_str() == Some("pid:[4026531836]"))
}

const PIDS: &[&str] = &["--pid", "--fork", "--mount-proc", "--kill-child"];
const FOREIGN_PROC: &[&str] = &["--pid", "--fork", "--kill-child"];

/// Starts a script in new namespaces.
fn start_in(place: &Place, flags: &[&str], script: &str) -> Running {
    let mut command = Command::new("unshare");
    command.args(flags).args(["bash", "-ec", script]).env_clear().current_dir(place.path("work"));
    let like = place.command(&[]);
    command.envs(like.get_envs().filter_map(|(key, value)| Some((key, value?))));
    place.spawn(&mut command)
}

fn run_in(place: &Place, flags: &[&str], script: &str) -> Ran {
    start_in(place, flags, script).end()
}

/// The process of a place that became `sleep 600`, by its number here.
fn sleeper(place: &Place) -> u32 {
    let is_it = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"sleep\x00600\x00");
    until("the command sleeps", || {
        let place = format!("PLACE={}", place.path("").to_str().unwrap().trim_end_matches('/'));
        let pids = std::fs::read_dir("/proc").unwrap().filter_map(|e| e.unwrap().file_name().to_str()?.parse().ok());
        let is_of_place = |pid: &u32| {
            let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            bytes.split(|byte| *byte == 0).any(|item| item == place.as_bytes())
        };
        pids.filter(is_it).find(is_of_place)
    })
}

/// A task of alice that was started here and has lost its supervisor, while its command has closed all it inherited; the
/// pid of the command.
fn orphan(place: &Place) -> u32 {
    let id = place.enqueue(&["-u", "alice", "--", "bash", "-c", HIDES, "up"]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let command = sleeper(place);
    let supervisor = place.supervisor(&id);
    signal(supervisor, Signal::KILL);
    until("the supervisor is gone", || (!lives(supervisor)).then_some(()));
    command
}

/// The task was left alone there: its record, its lane, and its command.
#[track_caller]
fn assert_left(place: &Place, command: u32) {
    assert!(lives(command), "the command was killed from where it cannot be seen");
    assert_eq!(place.status("task_1"), "running");
    assert!(place.lock("user_alice.lock").exists());
    assert!(!place.path("second").exists(), "the lane has two holders");
}

/// A pass that sees the processes recovers the task, and then the next one starts.
#[track_caller]
fn assert_recovered_here(place: &Place, command: u32) {
    place.drain();
    assert!(!lives(command));
    assert_eq!(place.status("task_1"), "failed");
    place.until_file("second");
}

fn second(place: &Place) {
    place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo ran > $PLACE/second"]);
}

#[test]
fn a_pass_in_another_pid_namespace_leaves_a_task_whose_processes_it_cannot_see() {
    if !may("a_pass_in_another_pid_namespace_leaves_a_task_whose_processes_it_cannot_see", PIDS) {
        return;
    }
    let place = trusting();
    let command = orphan(&place);
    second(&place);
    let ran = run_in(&place, PIDS, r#""$LUZIA" dispatch; "$LUZIA" dispatch -v; "$LUZIA" cleanup-stale"#).coded(0);
    assert!(ran.err.contains("another pid namespace"), "{ran:#?}");
    for verb in
        ["explain 1", "list-locks -o wide", "explain alice", "check alice || true", "doctor || true", "explain 2"]
    {
        let told = run_in(&place, PIDS, &format!("\"$LUZIA\" {verb}")).coded(0);
        let text = format!("{}{}", told.out, told.err);
        assert!(text.contains("another pid namespace") && text.contains("luzia dispatch"), "{verb}: {text}");
    }
    let refused = run_in(&place, PIDS, r#""$LUZIA" release alice"#).coded(75);
    assert!(refused.err.contains("another pid namespace"), "{refused:#?}");
    assert_left(&place, command);
    assert_recovered_here(&place, command);
}

#[test]
fn a_pass_with_the_proc_of_another_namespace_recovers_nothing_and_doctor_says_so() {
    if !may("a_pass_with_the_proc_of_another_namespace_recovers_nothing_and_doctor_says_so", FOREIGN_PROC) {
        return;
    }
    let place = trusting();
    let command = orphan(&place);
    second(&place);
    run_in(&place, FOREIGN_PROC, r#""$LUZIA" dispatch"#).coded(0);
    let doctor = run_in(&place, FOREIGN_PROC, r#""$LUZIA" --json doctor"#).coded(1).json();
    let found = with(&doctor["items"], "check", "proc");
    assert!(found[0]["message"].as_str().unwrap().contains("belongs to another pid namespace"), "{doctor:#}");
    assert_left(&place, command);
    // Nor is it dead where no /proc is mounted at all.
    let no_proc = ["--mount", "--pid", "--fork", "--kill-child"];
    run_in(&place, &no_proc, r#"umount -l /proc; "$LUZIA" dispatch || true; "$LUZIA" cleanup-stale || true"#).coded(0);
    assert_left(&place, command);
    assert_recovered_here(&place, command);
}

#[test]
fn a_task_under_a_foreign_proc_keeps_its_lane_until_what_it_left_behind_has_ended() {
    let test = "a_task_under_a_foreign_proc_keeps_its_lane_until_what_it_left_behind_has_ended";
    if !may(test, FOREIGN_PROC) {
        return;
    }
    let place = trusting();
    let leaves = r#"for n in /proc/self/fd/*; do n=${n##*/}; test $n -lt 3 || eval "exec $n>&-"; done
        (exec </dev/null >/dev/null 2>&1; setsid sh -c 'sleep 1; echo first >> "$PLACE/order"') & exit 0"#;
    place.enqueue(&["-u", "alice", "--", "bash", "-c", leaves]);
    place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo second >> \"$PLACE/order\""]);
    run_in(&place, FOREIGN_PROC, r#""$LUZIA" dispatch --drain || test $? = 1"#).coded(0);
    let order = std::fs::read_to_string(place.path("order")).unwrap();
    assert_eq!(order, "first\nsecond\n");
}

#[test]
fn an_ancestor_recovers_a_task_of_a_pid_namespace_below_it_and_a_sibling_does_not() {
    if !may("an_ancestor_recovers_a_task_of_a_pid_namespace_below_it_and_a_sibling_does_not", PIDS) {
        return;
    }
    let place = trusting();
    place.enqueue(&["-u", "alice", "--", "bash", "-c", HIDES, "up"]);
    second(&place);
    let script = r#""$LUZIA" dispatch
        while ! test -s "$PLACE/up"; do sleep 0.01; done
        kill -9 $("$LUZIA" show 1 --json | sed -n 's/.*"supervisor_pid": *\([0-9]*\).*/\1/p')
        echo killed > "$PLACE/killed"; sleep 500"#;
    let inside = start_in(&place, PIDS, script);
    place.until_file("killed");
    let command = sleeper(&place);
    run_in(&place, PIDS, r#""$LUZIA" dispatch; "$LUZIA" cleanup-stale"#).coded(0);
    assert_left(&place, command);
    assert_recovered_here(&place, command);
    drop(inside);
}

#[test]
fn a_task_whose_pid_namespace_is_gone_is_recovered_from_the_initial_one() {
    let test = "a_task_whose_pid_namespace_is_gone_is_recovered_from_the_initial_one";
    if !may(test, PIDS) {
        return;
    }
    if !is_initial() {
        return skip(test, "the initial pid namespace");
    }
    let place = trusting();
    place.enqueue(&["-u", "alice", "--", "bash", "-c", HIDES, "up"]);
    second(&place);
    // One that exists all the while cannot have the number of the one that ends.
    let sibling = start_in(&place, PIDS, r#"while ! test -s "$PLACE/go"; do sleep 0.01; done; "$LUZIA" dispatch"#);
    std::thread::sleep(std::time::Duration::from_millis(200));
    // With its first process the namespace ends, and everything in it.
    run_in(&place, PIDS, r#""$LUZIA" dispatch; while ! test -s "$PLACE/up"; do sleep 0.01; done"#).coded(0);
    std::fs::write(place.path("go"), "go\n").unwrap();
    let told = sibling.end().coded(0);
    assert!(told.err.contains("another pid namespace"), "{told:#?}");
    assert_eq!(place.status("task_1"), "running");
    place.ok(&["check", "alice"]);
    place.drain();
    assert_eq!(place.status("task_1"), "failed");
    place.until_file("second");
}

#[test]
fn release_by_force_takes_the_word_of_a_person_that_a_namespace_is_gone() {
    let test = "release_by_force_takes_the_word_of_a_person_that_a_namespace_is_gone";
    if !may(test, PIDS) {
        return;
    }
    let place = trusting();
    place.enqueue(&["-u", "alice", "--", "bash", "-c", HIDES, "up"]);
    let script = r#"while ! test -s "$PLACE/go"; do sleep 0.01; done
        "$LUZIA" release alice && exit 9 || test $? = 75; test -e "$PLACE/state/locks/user_alice.lock"
        "$LUZIA" release alice --force --yes; "$LUZIA" check alice"#;
    let sibling = start_in(&place, PIDS, script);
    std::thread::sleep(std::time::Duration::from_millis(200));
    run_in(&place, PIDS, r#""$LUZIA" dispatch; while ! test -s "$PLACE/up"; do sleep 0.01; done"#).coded(0);
    std::fs::write(place.path("go"), "go\n").unwrap();
    sibling.end().coded(0);
    assert_eq!(place.status("task_1"), "failed");
}

#[test]
fn a_task_whose_namespace_nobody_can_look_for_names_the_way_out_that_works() {
    let no_proc = ["--mount", "--pid", "--fork", "--kill-child"];
    if !may("a_task_whose_namespace_nobody_can_look_for_names_the_way_out_that_works", &no_proc) {
        return;
    }
    let place = trusting();
    let script = r#"umount -l /proc; "$LUZIA" enqueue -u alice -- sleep 600; "$LUZIA" dispatch --once; echo up > $PLACE/up; sleep 600"#;
    let mut inside = start_in(&place, &no_proc, script);
    place.until_file("up");
    place.supervisor("task_1");
    inside.kill();
    until("its supervisor is dead", || {
        place.ok(&["explain", "task_1"]).out.contains("lost its supervisor").then_some(())
    });
    let told = place.ok(&["explain", "task_1"]).out;
    assert!(!told.contains("luzia dispatch") && told.contains("by force"), "no pass can recover it: {told}");
    place.ok(&["dispatch", "--once"]);
    assert_eq!(place.status("task_1"), "running", "nothing proves its command dead");
    let refused = place.luzia(&["--json", "cancel", "task_1", "-y"]).coded(75);
    let refused: serde_json::Value = serde_json::from_str(refused.err.lines().last().unwrap()).unwrap();
    assert_eq!(refused["override"], serde_json::json!(["luzia release user:alice --force"]), "{refused}");
    assert!(!refused["next"].to_string().contains("force"), "{refused}");
    place.ok(&["release", "alice", "--force", "-y"]);
    place.until_status("task_1", "cancelled");
}

#[test]
fn a_pass_in_another_user_namespace_leaves_a_task_that_it_cannot_look_into() {
    let users = &["--user", "--map-root-user"];
    if !may("a_pass_in_another_user_namespace_leaves_a_task_that_it_cannot_look_into", users) {
        return;
    }
    let place = trusting();
    let command = orphan(&place);
    second(&place);
    let ran = run_in(&place, users, r#""$LUZIA" dispatch; "$LUZIA" cleanup-stale"#).coded(0);
    assert!(ran.err.contains("another user namespace"), "{ran:#?}");
    assert_left(&place, command);
    assert_recovered_here(&place, command);
}

#[test]
fn a_task_that_was_started_under_another_path_of_the_state_directory_is_found() {
    let mounts = &["--mount"];
    if !may("a_task_that_was_started_under_another_path_of_the_state_directory_is_found", mounts) {
        return;
    }
    let place = trusting();
    place.enqueue(&["-u", "alice", "--", "bash", "-c", HIDES, "up"]);
    second(&place);
    let script = r#"mkdir "$PLACE/other"; mount --bind "$PLACE/state" "$PLACE/other"
        export LUZIA_STATE_DIR="$PLACE/other"; "$LUZIA" dispatch
        while ! test -s "$PLACE/up"; do sleep 0.01; done"#;
    run_in(&place, mounts, script).coded(0);
    let command = sleeper(&place);
    signal(place.supervisor("task_1"), Signal::KILL);
    assert_recovered_here(&place, command);
}

#[test]
fn a_lock_whose_processes_are_gone_is_free_in_every_pid_namespace() {
    if !may("a_lock_whose_processes_are_gone_is_free_in_every_pid_namespace", PIDS) {
        return;
    }
    let place = trusting();
    // The first process of the namespace is luzia itself, and with it everything else ends.
    run_in(&place, PIDS, r#"exec "$LUZIA" lock -u alice -- sh -c 'sleep 60 & exit 0'"#).coded(0);
    assert!(place.lock("user_alice.lock").exists());
    run_in(&place, PIDS, r#""$LUZIA" check alice"#).coded(0);
    place.ok(&["check", "alice"]);
    place.ok(&["lock", "-n", "-u", "alice", "--", "true"]);
    assert!(!place.lock("user_alice.lock").exists());
}

#[test]
fn a_changed_host_name_keeps_no_dead_lock() {
    let names = &["--uts"];
    if !may("a_changed_host_name_keeps_no_dead_lock", names) {
        return;
    }
    let place = trusting();
    let held = r#"hostname elsewhere; exec "$LUZIA" lock -u alice -- sleep 600"#;
    let mut running = start_in(&place, names, held);
    let command = sleeper(&place);
    place.luzia(&["check", "alice"]).coded(75);
    running.kill();
    place.luzia(&["check", "alice"]).coded(75);
    signal(command, Signal::KILL);
    until("the command is gone", || (!lives(command)).then_some(()));
    place.ok(&["check", "alice"]);
    // The holder of a lease that is bound to a process.
    let lease = r#"hostname elsewhere; sleep 0.2 & "$LUZIA" acquire bob --task t1 --pid $! --ttl 1h; wait"#;
    run_in(&place, names, lease).coded(0);
    place.ok(&["check", "bob"]);
}

#[test]
fn the_command_of_a_killed_luzia_lock_keeps_its_lane_though_it_closed_the_lock_file() {
    let place = trusting();
    let mut running = place.start(&["lock", "-u", "alice", "--", "bash", "-c", HIDES, "up"]);
    place.until_file("up");
    let command = sleeper(&place);
    until("the command is recorded", || {
        let sidecar = std::fs::read_to_string(place.lock("user_alice.json")).ok()?;
        sidecar.contains("\"command_pid\":").then_some(())
    });
    running.kill();
    let busy = place.luzia(&["lock", "-n", "-u", "alice", "--", "true"]).coded(75);
    assert!(busy.err.contains("its command is alive"), "{busy:#?}");
    signal(command, Signal::KILL);
    until("the command is gone", || (!lives(command)).then_some(()));
    place.ok(&["lock", "-n", "-u", "alice", "--", "true"]);
}

#[test]
fn a_watched_process_in_another_pid_namespace_keeps_its_lease_until_it_or_its_namespace_is_gone() {
    let test = "a_watched_process_in_another_pid_namespace_keeps_its_lease_until_it_or_its_namespace_is_gone";
    if !may(test, PIDS) {
        return;
    }
    let place = trusting();
    let script = r#"sleep 601 & one=$!; sleep 602 & two=$!
        "$LUZIA" acquire alice --task t1 --pid $one --ttl 1h; "$LUZIA" acquire bob --task t2 --pid $two --ttl 1h
        echo up > "$PLACE/up"; while ! test -s "$PLACE/go"; do sleep 0.01; done
        kill -9 $one; wait $one || true; echo dead > "$PLACE/dead"; wait"#;
    let mut inside = start_in(&place, PIDS, script);
    place.until_file("up");
    place.ok(&["cleanup-stale"]);
    place.luzia(&["check", "alice"]).coded(75);
    std::fs::write(place.path("go"), "go\n").unwrap();
    place.until_file("dead");
    run_in(&place, PIDS, r#""$LUZIA" cleanup-stale; "$LUZIA" check alice || test $? = 75"#).coded(0);
    assert!(place.lock("user_alice.lock").exists(), "a sibling broke what it cannot judge");
    place.ok(&["check", "alice"]);
    place.luzia(&["check", "bob"]).coded(75);
    inside.kill();
    if is_initial() {
        until("the namespace is gone", || (place.luzia(&["check", "bob"]).code == 0).then_some(()));
        place.ok(&["cleanup-stale"]);
        assert!(!place.lock("user_bob.lock").exists());
    }
}

#[test]
fn luzia_works_as_the_first_process_of_a_pid_namespace() {
    if !may("luzia_works_as_the_first_process_of_a_pid_namespace", PIDS) {
        return;
    }
    let place = trusting();
    let script = r#"exec "$LUZIA" run -u alice -- sh -c 'setsid sleep 0.2 & exit 3'"#;
    run_in(&place, PIDS, script).coded(3);
    assert_eq!(place.status("task_1"), "failed");
    place.ok(&["check", "alice"]);
    let id = place.enqueue(&["-u", "alice", "--", "bash", "-c", "echo up > $PLACE/up; exec sleep 600"]);
    let mut daemon = start_in(&place, PIDS, r#"exec "$LUZIA" daemon --poll 50ms"#);
    place.until_file("up");
    place.ok(&["cancel", &id]);
    place.until_status(&id, "cancelled");
    place.ok(&["check", "alice"]);
    assert!(!daemon.is_over());
}

#[test]
fn a_state_directory_on_overlayfs_locks_and_runs() {
    let mounts = &["--mount"];
    let test = "a_state_directory_on_overlayfs_locks_and_runs";
    let overlay = "mkdir -p $PLACE/o/lower $PLACE/o/tmp $PLACE/merged; mount -t tmpfs none $PLACE/o/tmp; \
                   mkdir $PLACE/o/tmp/upper $PLACE/o/tmp/work; mount -t overlay none $PLACE/merged \
                   -o lowerdir=$PLACE/o/lower,upperdir=$PLACE/o/tmp/upper,workdir=$PLACE/o/tmp/work";
    let place = trusting();
    if !can(mounts) || run_in(&place, mounts, overlay).code != 0 {
        return skip(test, "the right to mount an overlayfs");
    }
    let script = format!(
        r#"{overlay}; export LUZIA_STATE_DIR="$PLACE/merged/state"
        "$LUZIA" lock -u alice -- sh -c '"$LUZIA" lock -n -u alice -l other -- true || test $? = 2; ! "$LUZIA" check bob || true'
        "$LUZIA" lock -u alice -- sh -c 'env -u LUZIA_LOCK_ID sh -c "\"$LUZIA\" check alice" || test $? = 75'
        "$LUZIA" run -u alice -- true; "$LUZIA" check alice"#
    );
    run_in(&place, mounts, &script).coded(0);
}

#[test]
fn a_line_has_one_order_across_pid_namespaces_and_a_killed_namespace_wakes_the_next() {
    if !may("a_line_has_one_order_across_pid_namespaces_and_a_killed_namespace_wakes_the_next", PIDS) {
        return;
    }
    let place = trusting();
    let gate = place.gate("gate");
    let holder = place.start(&["lock", "-u", "alice", "--", "sh", "-c", &format!("echo x >held; cat {gate}")]);
    place.until_file("work/held");
    let line = place.lock(".user_alice.line");
    let stands = |count: usize| {
        until("it stands in the line", || (std::fs::read_dir(&line).map_or(0, Iterator::count) == count).then_some(()));
    };
    let mut waiters = Vec::new();
    for at in 1..=6 {
        let script = format!("\"$LUZIA\" lock -u alice -- sh -c 'echo {at} >>numbers'");
        waiters.push(start_in(&place, if at % 2 == 0 { &["--uts"] } else { PIDS }, &script));
        stands(at);
    }
    // With its first process, the unshare(1) around it, the whole namespace ends.
    waiters[0].kill();
    waiters[2].kill();
    place.open_gate("gate");
    holder.end().coded(0);
    for (at, waiter) in waiters.into_iter().enumerate() {
        let code = waiter.end().code;
        assert_eq!(code == 0, at != 0 && at != 2, "waiter {at} ended with {code}");
    }
    assert_eq!(std::fs::read_to_string(place.path("work/numbers")).unwrap(), "2\n4\n5\n6\n");
    assert!(!line.exists());
}
