//! A task runs in the context in which it was queued, or waits and says why (P9).

use crate::support::{Place, Ran, is_root, queue, skip};
use std::process::Command;

/// A sandbox with mount and pid namespaces of its own, as agents put shell commands into.
pub(crate) const SANDBOX: &str = "unshare --mount --pid --fork --mount-proc --kill-child";

/// Skips a test where namespaces cannot be made. Gives whether the test can go on.
pub(crate) fn can_unshare(test: &str) -> bool {
    let ran = Command::new("sh").args(["-c", &format!("{SANDBOX} true")]).output();
    let can = ran.is_ok_and(|ran| ran.status.success());
    if !can {
        skip(test, "the right to make mount and pid namespaces");
    }
    can
}

pub(crate) fn sh(place: &Place, script: &str) -> Ran {
    place.spawn(&mut place.shell(script)).end()
}

const NAMESPACE: &str = "readlink /proc/self/ns/pid";

#[test]
fn a_task_queued_outside_is_not_started_by_a_run_inside_a_sandbox() {
    if !can_unshare("a_task_queued_outside_is_not_started_by_a_run_inside_a_sandbox") {
        return;
    }
    let place = Place::new();
    let outside = sh(&place, NAMESPACE).line();
    let id = place.enqueue(&["-u", "bob", "--shell", &format!("{NAMESPACE}; ulimit -v")]);
    let run = format!("ulimit -v 8000000; \"$LUZIA\" run -u alice --shell '{NAMESPACE}; ulimit -v'");
    let inside = sh(&place, &format!("exec {SANDBOX} sh -c {}", shell_words(&run))).coded(0);
    assert_ne!(inside.out.lines().next(), Some(outside.as_str()), "the run started its own task in its sandbox");
    assert_eq!(inside.out.lines().nth(1), Some("8000000"));
    assert_eq!(place.status(&id), "pending", "and no other");
    let why = sh(&place, &format!("exec {SANDBOX} \"$LUZIA\" explain --json {id}")).coded(0).json();
    assert_eq!(why["reasons"][0]["reason"], "OtherContext", "{why}");
    assert_eq!(why["reasons"][0]["differences"], serde_json::json!(["mnt namespace", "pid namespace"]), "{why}");
    assert_eq!(why["reasons"].as_array().unwrap().len(), 1, "nobody inside could start it: {why}");
    place.ok(&["dispatch"]);
    place.until_status(&id, "completed");
    assert_eq!(place.ok(&["logs", &id]).out, format!("{outside}\nunlimited\n"));
}

#[test]
fn a_task_queued_inside_a_sandbox_waits_for_a_pass_there() {
    if !can_unshare("a_task_queued_inside_a_sandbox_waits_for_a_pass_there") {
        return;
    }
    let place = Place::new();
    // A first task of the same user that runs outside must not take the one from inside with it.
    let script = format!(
        "id=$(\"$LUZIA\" enqueue -u bob --shell '{NAMESPACE}'); echo $id > \"$PLACE/queued\"; \
         while ! test -e \"$PLACE/go\"; do sleep 0.02; done; {NAMESPACE}; \"$LUZIA\" dispatch; \"$LUZIA\" wait $id"
    );
    let inside = place.spawn(&mut place.shell(&format!("exec {SANDBOX} sh -c {}", shell_words(&script))));
    let id = place.until_file("queued").trim().to_owned();
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&id), "pending");
    assert_eq!(place.json(&["explain", &id])["reasons"][0]["reason"], "OtherContext");
    let own = place.ok(&["run", "-u", "bob", "--", "echo", "mine"]);
    assert_eq!(own.out, "mine\n", "a task of another sandbox is not first in the lane");
    assert_eq!(place.status(&id), "pending", "a supervisor that goes on looks at the context, too");
    std::fs::write(place.path("go"), "").unwrap();
    let inside = inside.end().coded(0);
    assert_eq!(place.ok(&["logs", &id]).out.trim(), inside.out.lines().next().unwrap());
}

#[test]
fn a_daemon_of_another_sandbox_is_no_dispatcher_for_a_task() {
    if !can_unshare("a_daemon_of_another_sandbox_is_no_dispatcher_for_a_task") {
        return;
    }
    let place = Place::new();
    let _daemon = place.start(&["daemon", "--poll", "50ms"]);
    let mine = place.enqueue(&["-u", "a", "--", "true"]);
    place.until_status(&mine, "completed");
    let script = "id=$(\"$LUZIA\" enqueue -u bob -- true); \"$LUZIA\" explain --json $id";
    let why = sh(&place, &format!("exec {SANDBOX} sh -c {}", shell_words(script))).coded(0).json();
    assert_eq!(why["reasons"][0]["reason"], "NoDispatcher", "{why}");
    let seen = |name: &str| {
        std::fs::read_dir(place.state().join("spool"))
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with(name))
            .count()
    };
    assert_eq!((seen("dispatchers."), seen("duty.")), (1, 0), "of the daemon, and of no other");
}

#[test]
fn limits_umask_and_nice_value_follow_the_submitter() {
    let place = Place::new();
    let show = "ulimit -n; ulimit -c; umask; nice; cat /proc/self/oom_score_adj";
    let limited = "ulimit -n 99; ulimit -c 0; umask 027; echo 300 > /proc/self/oom_score_adj;";
    let id = sh(&place, &format!("{limited} exec nice -n 7 \"$LUZIA\" enqueue -u a --shell '{show}'")).line();
    place.drain();
    let nice: i32 = sh(&place, "nice").line().parse().unwrap();
    assert_eq!(place.ok(&["logs", &id]).out, format!("99\n0\n0027\n{}\n300\n", (nice + 7).min(19)));
    // The next task of the same supervisor has its own.
    let mine = sh(&place, show).out;
    let plain = place.ok(&["run", "-u", "a", "--shell", show]);
    assert_eq!(plain.out, mine);
    // The other way round: where a dispatcher may not raise a hard limit, the task waits, and a drain ends without it.
    let id = place.enqueue(&["-u", "a", "--shell", show]);
    let tight = sh(&place, &format!("{limited} exec nice -n 7 \"$LUZIA\" dispatch --drain")).coded(0);
    if place.status(&id) == "pending" {
        assert_eq!(tight.out, "", "no start was told of");
        place.drain();
    }
    assert_eq!(place.ok(&["logs", &id]).out, mine);
}

#[test]
fn a_hard_limit_that_the_dispatcher_may_not_raise_keeps_the_task_waiting() {
    let name = "a_hard_limit_that_the_dispatcher_may_not_raise_keeps_the_task_waiting";
    if !is_root() {
        return skip(name, "root, whose place another account uses");
    }
    let place = Place::new();
    place.open_to_others();
    std::fs::create_dir(place.state()).unwrap();
    std::os::unix::fs::chown(place.state(), Some(54_398), Some(54_398)).unwrap();
    std::os::unix::fs::chown(place.path("work"), Some(54_398), Some(54_398)).unwrap();
    let with = |limit: &str, verb: &str| {
        let account = "setpriv --reuid 54398 --regid 54398 --clear-groups";
        sh(&place, &format!("{limit} exec {account} env HOME=/ \"$PLACE/program\" {verb}"))
    };
    let id = with("", "enqueue -u a -- true").coded(0).line();
    with("ulimit -n 50;", "dispatch").coded(0);
    let why = with("ulimit -n 50;", &format!("explain --json {id}")).coded(0).json();
    assert_eq!(why["reasons"][0]["differences"], serde_json::json!(["hard limit of nofile"]), "{why}");
    with("", "dispatch --drain").coded(0);
    assert_eq!(with("", &format!("wait {id}")).code, 0);
}

#[test]
fn other_groups_that_may_not_be_changed_keep_the_task_waiting() {
    let name = "other_groups_that_may_not_be_changed_keep_the_task_waiting";
    if !is_root() {
        return skip(name, "root, whose place another account uses");
    }
    let place = Place::new();
    place.open_to_others();
    std::fs::create_dir(place.state()).unwrap();
    std::os::unix::fs::chown(place.state(), Some(54_398), Some(54_398)).unwrap();
    std::os::unix::fs::chown(place.path("work"), Some(54_398), Some(54_398)).unwrap();
    let with = |groups: &str, verb: &str| {
        let account = format!("setpriv --reuid 54398 --regid 54398 {groups}");
        sh(&place, &format!("exec {account} env HOME=/ \"$PLACE/program\" {verb}"))
    };
    let id = with("--groups 54400,54399", "enqueue -u a -- true").coded(0).line();
    with("--clear-groups", "dispatch").coded(0);
    let why = with("--clear-groups", &format!("explain --json {id}")).coded(0).json();
    assert_eq!(why["reasons"][0]["differences"], serde_json::json!(["supplementary groups"]), "{why}");
    with("--groups 54399,54400", "dispatch --drain").coded(0);
}

#[test]
fn another_memory_limit_of_the_control_group_keeps_the_task_waiting() {
    if !can_unshare("another_memory_limit_of_the_control_group_keeps_the_task_waiting") {
        return;
    }
    let place = Place::new();
    // A place of its own for the files of control groups, of both versions.
    let script = r#"mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/memory
        limit() { echo "$1" | tee /sys/fs/cgroup/memory.max >/sys/fs/cgroup/memory/memory.limit_in_bytes; }
        limit 5000000000
        id=$("$LUZIA" enqueue -u a -- true)
        for other in 4000000000 max; do
            limit $other; "$LUZIA" dispatch; "$LUZIA" explain --json $id >"$PLACE/$other.json"
        done
        limit 5000000000; "$LUZIA" dispatch --drain && "$LUZIA" wait $id"#;
    sh(&place, &format!("exec unshare --mount sh -c {}", shell_words(script))).coded(0);
    for other in ["4000000000", "max"] {
        let text = std::fs::read_to_string(place.path(&format!("{other}.json"))).unwrap();
        let why: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected = serde_json::json!(["memory limit of its control group"]);
        assert_eq!(why["reasons"][0]["differences"], expected, "{why}");
    }
}

#[test]
fn no_new_privs_and_another_root_are_other_contexts() {
    let name = "no_new_privs_and_another_root_are_other_contexts";
    if !is_root() {
        return skip(name, "root");
    }
    let place = Place::new();
    for (wrapper, difference) in [
        ("setpriv --no-new-privs", "NoNewPrivs"),
        ("setpriv --bounding-set -sys_ptrace", "capabilities"),
        ("unshare --uts", "uts namespace"),
        ("unshare --net", "net namespace"),
        ("unshare --mount", "mnt namespace"),
    ] {
        let id = sh(&place, &format!("exec {wrapper} \"$LUZIA\" enqueue -u a -- true")).coded(0).line();
        place.ok(&["dispatch"]);
        let why = place.json(&["explain", &id]);
        assert_eq!(why["reasons"][0]["differences"], serde_json::json!([difference]), "{wrapper}: {why}");
        let here = format!("luzia attach --here {id}");
        let (life, next) = match wrapper {
            "setpriv --no-new-privs" => ("unseen", here),
            "setpriv --bounding-set -sys_ptrace" => ("lives", format!("luzia wait {id}")),
            // Nothing but its number tells it from a later one, and a process may hide where it lives.
            "unshare --uts" | "unshare --net" if why["reasons"][0]["sandbox"] == "lives" => {
                ("lives", format!("luzia wait {id}"))
            }
            _ if why["reasons"][0]["sandbox"] == "unseen" => ("unseen", here),
            _ => ("ended", here),
        };
        assert_eq!(why["reasons"][0]["sandbox"], life, "{wrapper}: {why}");
        assert_eq!(why["reasons"][0]["next"][0], next, "the way out harms nothing");
        place.ok(&["cancel", &id]);
    }
}

#[test]
fn one_domain_of_trust_can_be_configured() {
    if !can_unshare("one_domain_of_trust_can_be_configured") {
        return;
    }
    let place = Place::new();
    let id = sh(&place, &format!("exec {SANDBOX} \"$LUZIA\" enqueue -u a -- true")).coded(0).line();
    place.configure(&serde_json::json!({ "dispatch": { "contexts": "any" } }));
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn a_record_without_a_context_is_started_from_anywhere() {
    if !can_unshare("a_record_without_a_context_is_started_from_anywhere") {
        return;
    }
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--", "true"]);
    // As luzia 0.1.0 left it: no members `sandbox` and `limits`, in the folder of the user's lane.
    let tier = place.state().join("spool/pending/5");
    let path = tier.join(queue("a")).join("1.json");
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record.as_object_mut().unwrap().retain(|name, _| name != "sandbox" && name != "limits");
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir(path.parent().unwrap()).unwrap();
    std::fs::create_dir(tier.join("user_a")).unwrap();
    std::fs::write(tier.join("user_a/1.json"), record.to_string()).unwrap();
    sh(&place, &format!("exec {SANDBOX} \"$LUZIA\" dispatch --drain")).coded(0);
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn a_hundred_thousand_tasks_of_another_sandbox_cost_a_pass_nothing() {
    if !can_unshare("a_hundred_thousand_tasks_of_another_sandbox_cost_a_pass_nothing") {
        return;
    }
    // System calls of a pass, with 20 and with 2,000 users of another sandbox: one listing tells all.
    let calls = |users: usize| {
        let place = Place::new();
        let line = |at: usize| format!("{{\"user\":\"u{at}\",\"command\":[\"true\"]}}\n");
        std::fs::write(place.path("batch"), (0..users).map(line).collect::<String>()).unwrap();
        sh(&place, &format!("exec {SANDBOX} \"$LUZIA\" enqueue --from \"$PLACE/batch\" > /dev/null")).coded(0);
        place.ok(&["dispatch"]);
        let script = "exec strace -f -o \"$PLACE/trace\" \"$LUZIA\" dispatch";
        assert_eq!(sh(&place, script).coded(0).out, "");
        crate::support::lines(&place.path("trace")).len()
    };
    let (few, many) = (calls(20), calls(2000));
    assert!(many <= few + 60, "{few} system calls with 20 foreign queues, {many} with 2,000");
}

#[test]
fn lanes_without_a_user_run_beside_each_other_and_one_lane_takes_turns() {
    let place = Place::new();
    let id = |lanes: &[&str]| place.enqueue(&[lanes, &["--", "sleep", "60"]].concat());
    let (a, b, again) = (id(&["-l", "repo:a"]), id(&["-l", "repo:b"]), id(&["-l", "repo:a"]));
    let with_user = id(&["-u", "carol", "-l", "repo:c"]);
    let behind = id(&["-u", "carol"]);
    place.ok(&["dispatch"]);
    for id in [&a, &b, &with_user] {
        place.until_status(id, "running");
    }
    assert_eq!((place.status(&again), place.status(&behind)), ("pending".into(), "pending".into()));
    assert_eq!(place.show(&a)["lanes"], serde_json::json!(["repo:a"]));
    assert_eq!(place.show(&with_user)["lanes"], serde_json::json!(["user:carol", "repo:c"]));
    assert_eq!(place.json(&["explain", &again])["reasons"][0]["reason"], "LaneFull");
    assert_eq!(place.json(&["explain", &behind])["reasons"][0]["reason"], "UserLockHeld");
    place.ok(&["cancel", &a]);
    place.until_status(&again, "running");
    for id in [&b, &again, &with_user, &behind] {
        place.luzia(&["cancel", id]);
    }
}

/// The name of a sandbox as of versions that recorded inode numbers only.
fn old_sandbox_id(sandbox: &serde_json::Value) -> String {
    use sha2::{Digest, Sha256};
    let numbers = |member: &str| {
        let pairs = sandbox[member].as_object().unwrap().iter().map(|(name, number)| format!("{name}={number}"));
        pairs.collect::<Vec<_>>().join(",")
    };
    let list = |member: &str| sandbox[member].as_array().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
    let hex = |member: &str| format!("{:x}", sandbox[member].as_u64().unwrap());
    let memory = sandbox["memory_max"].as_u64();
    let text = [
        sandbox["boot_id"].as_str().unwrap().to_owned(),
        numbers("namespaces"),
        format!("[{}]", list("root").join(", ")),
        sandbox["no_new_privs"].to_string(),
        sandbox["seccomp"].to_string(),
        hex("cap_bounding"),
        hex("cap_effective"),
        numbers("hard_limits"),
        format!("Some([{}])", list("groups").join(", ")),
        format!("{memory:?}\n"),
    ];
    Sha256::digest(text.join("\n")).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_record_without_the_mount_of_its_root_is_started_in_its_sandbox_and_keeps_its_queue() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--", "true"]);
    let tier = place.state().join("spool/pending/5");
    let path = tier.join(queue("a")).join("1.json");
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let sandbox = record["sandbox"].as_object_mut().unwrap();
    sandbox.remove("root_mount");
    sandbox.remove("init_start");
    let old = tier.join(format!("user_a~c{}", old_sandbox_id(&record["sandbox"])));
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir(path.parent().unwrap()).unwrap();
    std::fs::create_dir(&old).unwrap();
    std::fs::write(old.join("1.json"), record.to_string()).unwrap();
    place.ok(&["edit", &id, "--label", "mine"]);
    assert!(old.join("1.json").exists(), "its queue has the name that the older version gave it");
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

/// A text as one word of a shell.
pub(crate) fn shell_words(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
