//! Inside a task, and inside the command of `luzia lock`: what is held already, and what would wait for itself.

use crate::support::Place;

#[test]
fn a_task_may_take_again_what_it_holds() {
    // contract, section 4: re-entrancy inside a task
    let place = Place::new();
    let script = "set -e
        $LUZIA lock -u alice -n -- echo nested
        $LUZIA lock -l thread:7 -n -- echo thread
        $LUZIA lock -l global -n -- echo slot
        test \"$($LUZIA acquire alice --task other)\" = $LUZIA_LOCK_ID
        if $LUZIA lock -u bob -n -- echo bob; then echo free; else echo $?; fi";
    let ran = place.ok(&["run", "-u", "alice", "--thread", "7", "--", "sh", "-c", script]);
    assert_eq!(ran.out, "nested\nthread\nslot\n2\n", "{}", ran.err);
    place.ok(&["check", "alice"]);
}

#[test]
fn only_the_task_itself_may_take_again_what_it_holds() {
    let place = Place::new();
    place.gate("gate");
    let mut run = place.start(&["run", "-u", "alice", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    let mut liar = place.command(&["lock", "-u", "alice", "-n", "--", "true"]);
    place.spawn(liar.env("LUZIA_TASK_ID", "task_99")).end().coded(75);
    place.luzia(&["lock", "-u", "alice", "-n", "--", "true"]).coded(75);
    // Its environment may go to a process for which nobody waits when it ends, as by at(1).
    for verb in [&["lock", "-u", "alice", "-n"][..], &["run", "-u", "alice", "--no-wait"]] {
        let mut heir = place.command(&[verb, &["--", "true"]].concat());
        place.spawn(heir.env("LUZIA_TASK_ID", "task_1").env("LUZIA_LOCK_ID", "task_1_1")).end().coded(75);
    }
    assert!(!run.is_over());
    place.open_gate("gate");
    run.end().coded(0);
}

#[test]
fn a_task_never_waits_for_itself() {
    // S4.16, X27: a child in the parent's own lane borrows it or is refused, but nobody waits for ever
    let place = Place::new();
    for nested in [
        "enqueue --wait --no-inherit -- true",
        "run --no-inherit -- true",
        "wait self",
        "wait $($LUZIA enqueue --no-inherit -- true)",
        "wait $($LUZIA enqueue -u bob --after self -- true)",
        "wait --any $($LUZIA enqueue --no-inherit -- true) self",
        "wait $($LUZIA enqueue -u bob --after $($LUZIA enqueue -u carol --after self -- true) -- true)",
        "run -u bob --key k -- true",
        "enqueue --wait -u bob --key k -- true",
        "enqueue -- true > /dev/null; $LUZIA dispatch --drain",
        "enqueue -u bob --after self -- true > /dev/null; $LUZIA dispatch --drain",
        "logs -f self",
        "logs -f $($LUZIA enqueue --no-inherit -- true)",
    ] {
        let script = format!("$LUZIA {nested} > /dev/null; echo $?");
        let ran = place.ok(&["run", "-u", "alice", "--key", "k", "--timeout", "20s", "--", "sh", "-c", &script]);
        assert_eq!(ran.line(), "1", "{nested}: {}", ran.err);
        assert!(ran.err.contains("would wait for"), "{nested}: {}", ran.err);
    }
    place.drain();
    for nested in [
        "enqueue --wait -- true",
        "run --timeout 5s -- true",
        "run --group-output -- true",
        "wait $($LUZIA enqueue -- true)",
        "wait --any $($LUZIA enqueue -- true) self",
        "wait --stream $($LUZIA enqueue -- true)",
        "attach $($LUZIA enqueue -- true)",
        "logs -f $($LUZIA enqueue -- true)",
    ] {
        let script = format!("$LUZIA {nested} > /dev/null; echo $?");
        let ran = place.ok(&["run", "-u", "alice", "--timeout", "20s", "--", "sh", "-c", &script]);
        assert_eq!(ran.line(), "0", "the child borrows: {nested}: {}", ran.err);
    }
    // A lane beside its own, without the user's, is free (S4.5).
    place.ok(&["run", "-u", "alice", "--timeout", "20s", "--shell", "$LUZIA run -l cron -- true"]);
    // What can start it waits for, and nobody else is there to start it.
    let script = "$LUZIA wait $($LUZIA enqueue -u bob -- true) && $LUZIA enqueue --wait -u bob -- true";
    place.ok(&["run", "-u", "alice", "--timeout", "20s", "--shell", script]);
    // Who waits for a time only does not wait for ever.
    let script = "$LUZIA wait --timeout 0 $($LUZIA enqueue -- true) || echo $?";
    assert_eq!(place.ok(&["run", "-u", "alice", "--shell", script]).out, "75\n");
    // One of several is enough.
    let script = "$LUZIA wait --any $($LUZIA enqueue -- true) $($LUZIA enqueue -u bob -- true)";
    place.ok(&["run", "-u", "alice", "--timeout", "20s", "--shell", script]);
    place.drain();
    // Without waiting it is queued behind, for the same user.
    let id = place.ok(&["run", "-u", "alice", "--", "sh", "-c", "$LUZIA enqueue -- true"]).line();
    assert_eq!(place.show(&id)["user"], "alice");
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn more_slots_than_a_lock_around_the_caller_leaves_are_not_waited_for() {
    let place = Place::configured(&serde_json::json!({ "lanes": { "gpu": { "max": 2 } } }));
    for (nested, code) in [("run -l gpu --slots 2", 1), ("enqueue --wait -l gpu --slots 2", 1), ("run -l gpu", 0)] {
        let script = format!("timeout 20 $LUZIA {nested} -- true > /dev/null; echo $?");
        let ran = place.ok(&["lock", "-l", "gpu", "--", "sh", "-c", &script]);
        assert_eq!(ran.line(), code.to_string(), "{nested}: {}", ran.err);
        assert_eq!(ran.err.contains("would wait for a task that needs it"), code == 1, "{nested}: {}", ran.err);
    }
}

#[test]
fn a_run_in_the_lanes_of_its_task_is_a_part_of_it() {
    // contract, section 4: `run` on a lane that the task holds is re-entrant
    let place = Place::new();
    let script = "cd /
        echo for the task | $LUZIA run -u alice --thread 7 -- sh -c 'cat; echo $LUZIA_TASK_ID; exit 7'; echo $?
        $LUZIA run --env A=b --cwd /proc --shell 'echo $A; pwd'
        $LUZIA --json run -- true 2>&1
        $LUZIA run -- no-such-command 2> /dev/null; echo $?";
    let ran = place.ok(&["run", "-u", "alice", "--thread", "7", "--shell", script]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!((&lines[..4], lines[5]), (&["task_1", "7", "b", "/proc"][..], "127"), "{ran:#?}");
    let told: serde_json::Value = serde_json::from_str(lines[4]).unwrap();
    assert_eq!((&told["id"], &told["within"], &told["exit_code"]), (&"task_1".into(), &true.into(), &0.into()));
    assert_eq!(place.json(&["list", "-a"])["items"].as_array().unwrap().len(), 1, "it made no tasks");
    // Of another project it might have another account, and another user's environment.
    place.configure(&serde_json::json!({ "projects": { "p": { "user": "alice" }, "q": { "user": "alice" } } }));
    let script = "$LUZIA run -p q -- true; $LUZIA run -p p --shell 'exit 7'; echo $?; $LUZIA run -p q -- true";
    let ran = place.ok(&["run", "-p", "p", "--shell", script]);
    assert_eq!(
        (ran.out.as_str(), place.show("4")["project"].as_str()),
        ("7\n", Some("q")),
        "a child of its own: {ran:#?}"
    );
    place.configure(&serde_json::json!({}));
    // Only where the task holds every lane of it; and not by the word of somebody whose task is over.
    place.ok(&["run", "-u", "alice", "--shell", "$LUZIA run -u bob --shell 'test $LUZIA_TASK_ID = task_6'"]);
    let mut late = place.command(&["run", "-u", "alice", "--shell", "test $LUZIA_TASK_ID = task_7"]);
    place.spawn(late.env("LUZIA_TASK_ID", "task_1")).end().coded(0);
}

#[test]
fn a_lease_on_the_lane_of_ones_own_task_is_given_back_without_a_word_of_force() {
    // The script of README, inside a task of the same user.
    let place = Place::new();
    let script = "set -e
        id=$($LUZIA acquire alice --task deploy --ttl 10m); test $id = $LUZIA_LOCK_ID
        $LUZIA renew alice --lock-id $id
        $LUZIA release alice --lock-id $id
        $LUZIA acquire alice --task deploy; $LUZIA release alice deploy
        $LUZIA --json release alice | grep -q '\"kept_by\": \"task_1\"'
        if $LUZIA release alice --lock-id deploy_1; then exit 9; fi
        if $LUZIA check alice; then exit 10; fi";
    let ran = place.ok(&["run", "-u", "alice", "--shell", script]);
    assert!(ran.err.contains("stays with task_1") && !ran.err.contains("--force"), "{}", ran.err);
    // The holder of another slot is not the task itself.
    let place = Place::configured(&serde_json::json!({ "lanes": { "gpu": { "max": 2 } } }));
    place.ok(&["acquire", "lane:gpu", "--task", "other"]);
    // The rules inside a task are those outside of it: the lane has two slots by configuration.
    place.ok(&["run", "-l", "gpu", "--shell", "$LUZIA release lane:gpu other"]);
    assert_eq!(place.events_named("lock_released").len(), 1);
    // Without a name, what is one's own is meant, whatever stands before or after it.
    for before in [true, false] {
        let other = || place.ok(&["acquire", "lane:gpu", "--task", "other"]);
        place.gate("gate");
        before.then(other);
        let script = "echo up > $PLACE/up; read _ < $PLACE/gate; $LUZIA release lane:gpu; $LUZIA release -l gpu other";
        let run = place.start(&["run", "-l", "gpu", "--shell", script]);
        place.until_file("up");
        (!before).then(other);
        place.open_gate("gate");
        let ran = run.end().coded(0);
        assert!(ran.err.contains("stays with task_") && ran.err.contains("held by other"), "{ran:#?}");
        std::fs::remove_file(place.path("up")).unwrap();
        std::fs::remove_file(place.path("gate")).unwrap();
    }
}

#[test]
fn what_was_named_on_the_command_line_holds_inside_a_task_and_a_lock() {
    let place = Place::new();
    std::fs::write(place.path("rules.json"), r#"{ "lanes": { "gpu": { "max": 2 } } }"#).unwrap();
    let (elsewhere, rules) = (place.text("elsewhere"), place.text("rules.json"));
    for verb in ["lock", "run"] {
        let named = ["--state-dir", &elsewhere, "--config", &rules, verb, "-u", "alice", "--", "sh", "-c"];
        let script = "$LUZIA acquire -l gpu --task a > /dev/null && $LUZIA acquire -l gpu --task b > /dev/null
            $LUZIA list-locks -o name | wc -l; $LUZIA release -l gpu a; $LUZIA release -l gpu b; $LUZIA config path";
        let ran = place.ok(&[&named[..], &[script]].concat());
        let count = if verb == "lock" { "3" } else { "4" };
        assert_eq!(ran.out, format!("{count}\n{rules}\n"), "{verb}: {}", ran.err);
    }
}

#[test]
fn a_lock_in_a_lock_of_the_same_lane_is_one() {
    let place = Place::new();
    let script = "$LUZIA lock -u alice -n -- echo nested
        test $($LUZIA acquire alice --task t) = $LUZIA_LOCK_ID && $LUZIA release alice t; echo $?
        $LUZIA lock -u bob -n -- echo bob; echo $?
        $LUZIA run -u alice -- true; echo $?";
    let ran = place.ok(&["lock", "-u", "alice", "--", "sh", "-c", script]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!((lines[0], &lines[1..]), ("nested", &["0", "2", "1"][..]), "{ran:#?}");
    assert!(ran.err.contains("would wait for"), "{}", ran.err);
    // Through another lane, too.
    let nested = ["lock", "-l", "cron", "-n", "--", "echo", "deep"];
    let script = format!("$LUZIA lock -l db -- $LUZIA {}", nested.join(" "));
    assert_eq!(place.ok(&["lock", "-l", "cron", "--", "sh", "-c", &script]).out, "deep\n");
    // A process that has not inherited the lock may outlive it; a name in the environment keeps nobody out.
    let close = "for fd in /proc/$$/fd/*; do fd=${fd##*/}; test $fd -le 2 || eval \"exec $fd>&-\"; done";
    let script = format!("{close}; $LUZIA lock -u alice -n -- true; echo $?");
    assert_eq!(place.ok(&["lock", "-u", "alice", "--", "bash", "-c", &script]).out, "75\n");
    place.ok(&["acquire", "carol", "--task", "t"]);
    let mut liar = place.command(&["lock", "-u", "carol", "-n", "--", "true"]);
    place.spawn(liar.env("LUZIA_LOCK_ID", "pid-1_1")).end().coded(75);
}
