//! A control group for each start of a task (cgroups(7), version 2): what is born in it ends with it, and a process that sees it sees
//! whether the task lives, without `/proc`. Most of these need root, which may make a group anywhere.

use crate::support::{Place, Ran, is_root, lives, signal, skip, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The control group of the tests themselves, where version 2 is mounted.
fn own() -> Option<PathBuf> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?.trim_end_matches('/').to_owned();
    let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(|mount| PathBuf::from(format!("{mount}{path}")));
    mounts.into_iter().find(|path| path.join("cgroup.procs").exists())
}

/// False, and said, where no control group can be made.
fn may(test: &str) -> bool {
    let probe = own().map(|own| own.join(format!("luzia-probe-{}-{test}", std::process::id())));
    let may = is_root()
        && probe.is_some_and(|probe| std::fs::create_dir(&probe).is_ok() && std::fs::remove_dir(&probe).is_ok());
    if !may {
        skip(test, "root and a control group of version 2 that can be written");
    }
    may
}

/// A place whose tasks get control groups, also where none is delegated.
fn with_groups() -> Place {
    Place::configured(&json!({ "supervisor": { "cgroups": "on" }, "dispatch": { "contexts": "any" } }))
}

fn group_of(place: &Place, id: &str) -> PathBuf {
    let path = place.state().join(format!("spool/running/{}.started.json", &id[5..]));
    let started =
        until("its start is recorded", || std::fs::read_to_string(&path).ok().filter(|text| !text.is_empty()));
    let started: Value = serde_json::from_str(&started).unwrap();
    PathBuf::from(started["cgroup"]["path"].as_str().unwrap_or_else(|| panic!("no group: {started}")))
}

fn start(place: &Place, options: &[&str], script: &str) -> (String, PathBuf) {
    let id = place.enqueue(&[&["-u", "root"], options, &["--", "bash", "-c", script]].concat());
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let group = group_of(place, &id);
    (id, group)
}

fn is_populated(group: &Path) -> bool {
    std::fs::read_to_string(group.join("cgroup.events")).is_ok_and(|text| text.contains("populated 1"))
}

fn is_frozen(group: &Path) -> bool {
    std::fs::read_to_string(group.join("cgroup.events")).is_ok_and(|text| text.contains("frozen 1"))
}

/// Leaves session, environment and descriptors behind, and lives in a subreaper that nobody knows of: no mark is left but the
/// control group.
const HIDES: &str = "python3 -c 'import ctypes,os,sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 1024)
        os.execve(\"/bin/sleep\", [\"sleep\", \"600\"], {})
    os._exit(0)
os.wait()
' & ";

fn has_python() -> bool {
    Command::new("python3").args(["-c", "import ctypes"]).output().is_ok_and(|ran| ran.status.success())
}

#[test]
fn a_command_is_born_in_a_group_of_its_own_which_is_gone_after_it() {
    if !may("a_command_is_born_in_a_group_of_its_own_which_is_gone_after_it") {
        return;
    }
    let place = with_groups();
    let gate = place.gate("go");
    let (id, group) = start(&place, &[], &format!("cat /proc/self/cgroup >$PLACE/in; echo >$PLACE/up; read _ <{gate}"));
    let name = group.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.starts_with("luzia.") && name.ends_with(".task_1.1"), "{name}");
    assert!(place.until_file("in").lines().any(|line| line.starts_with("0::") && line.ends_with(&name)));
    let supervisor = std::fs::read_to_string(format!("/proc/{}/cgroup", place.supervisor(&id))).unwrap();
    assert!(!supervisor.contains(&name), "the supervisor is not in it: {supervisor}");
    assert!(is_populated(&group));
    place.open_gate("go");
    place.until_status(&id, "completed");
    until("it is gone", || (!group.exists()).then_some(()));
    // The supervisor went on to a second task, and the third one ends by itself.
    for _ in 0..2 {
        place.enqueue(&["-u", "root", "--", "true"]);
    }
    place.drain();
    let left = std::fs::read_dir(group.parent().unwrap()).unwrap().flatten().map(|entry| entry.file_name());
    let prefix = name.trim_end_matches("task_1.1");
    assert!(left.into_iter().all(|name| !name.to_str().unwrap().starts_with(prefix)), "none is left");
}

#[test]
fn a_process_without_any_other_mark_ends_with_the_group() {
    let name = "a_process_without_any_other_mark_ends_with_the_group";
    if !may(name) || !has_python() {
        return;
    }
    let place = with_groups();
    let (id, group) = start(&place, &["--grace", "200ms"], &format!("{HIDES} echo >$PLACE/up; sleep 600"));
    let pids = || -> Vec<u32> {
        let text = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    };
    let is_sleep = |pid: &u32| std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|bytes| bytes.is_empty());
    let hidden = until("it hides", || pids().into_iter().find(is_sleep));
    signal(place.supervisor(&id), Signal::KILL);
    let next = place.enqueue(&["-u", "root", "--", "true"]);
    place.drain();
    assert!(!lives(hidden));
    assert_eq!((place.status(&id).as_str(), place.status(&next).as_str()), ("failed", "completed"));
    assert!(!group.exists());
}

fn run_in(place: &Place, flags: &[&str], script: &str) -> Ran {
    let mut command = Command::new("unshare");
    command.args(flags).args(["bash", "-ec", script]).env_clear().current_dir(place.path("work"));
    let like = place.command(&[]);
    command.envs(like.get_envs().filter_map(|(key, value)| Some((key, value?))));
    place.spawn(&mut command).end()
}

#[test]
fn a_pass_that_sees_the_group_recovers_the_task_from_another_pid_namespace() {
    let name = "a_pass_that_sees_the_group_recovers_the_task_from_another_pid_namespace";
    if !may(name) {
        return;
    }
    for flags in [&["--pid", "--fork", "--mount-proc", "--kill-child"][..], &["--pid", "--fork", "--kill-child"]] {
        let place = with_groups();
        let hides = r#"for n in /proc/self/fd/*; do n=${n##*/}; test $n -lt 3 || eval "exec $n>&-"; done; echo up >$PLACE/up; exec sleep 600"#;
        let (id, group) = start(&place, &["--grace", "200ms"], hides);
        signal(place.supervisor(&id), Signal::KILL);
        let next = place.enqueue(&["-u", "root", "--shell", "echo ran >$PLACE/second"]);
        let ran = run_in(&place, flags, r#""$LUZIA" dispatch --drain"#);
        assert!(!ran.err.contains("another pid namespace"), "{ran:?}");
        assert_eq!((place.status(&id).as_str(), place.status(&next).as_str()), ("failed", "completed"), "{ran:?}");
        assert!(!group.exists());
    }
}

#[test]
fn a_group_that_another_namespace_does_not_see_is_no_proof_there() {
    let name = "a_group_that_another_namespace_does_not_see_is_no_proof_there";
    if !may(name) {
        return;
    }
    let place = with_groups();
    let hides = r#"for n in /proc/self/fd/*; do n=${n##*/}; test $n -lt 3 || eval "exec $n>&-"; done; echo up >$PLACE/up; exec sleep 600"#;
    let (id, group) = start(&place, &["--grace", "200ms"], hides);
    signal(place.supervisor(&id), Signal::KILL);
    let away = "mount -t tmpfs none /sys/fs/cgroup; ";
    let flags = ["--pid", "--fork", "--mount", "--mount-proc", "--kill-child"];
    // An empty directory of that name is not the group, nor is its absence.
    let lies = format!("{away} mkdir -p {}; ", group.display());
    for script in [away, &lies] {
        let ran = run_in(&place, &flags, &format!(r#"{script} "$LUZIA" dispatch -v"#)).coded(0);
        assert!(ran.err.contains("another pid namespace"), "{ran:?}");
        assert_eq!(place.status(&id), "running");
        assert!(is_populated(&group), "its command lives");
    }
    place.drain();
    assert_eq!(place.status(&id), "failed");
}

#[test]
fn all_processes_of_a_group_end_at_once() {
    if !may("all_processes_of_a_group_end_at_once") {
        return;
    }
    let place = with_groups();
    let script =
        "trap '' TERM HUP; f() { while :; do (sleep 1 &) ; sleep 0.01; done; }; f & f & f & echo >$PLACE/up; wait";
    let (id, group) = start(&place, &[], script);
    std::thread::sleep(Duration::from_millis(100));
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
    assert_eq!(place.status(&id), "cancelled");
    assert!(!group.exists());
}

#[test]
fn a_task_with_a_group_is_paused_by_it() {
    if !may("a_task_with_a_group_is_paused_by_it") {
        return;
    }
    let place = with_groups();
    let script = "echo $$ >$PLACE/up; while :; do echo x >>$PLACE/log; sleep 0.01; done";
    // What waited for the grace would outlast the patience of this test.
    let (id, group) = start(&place, &["--grace", "10m"], script);
    let size = || std::fs::metadata(place.path("log")).map_or(0, |meta| meta.len());
    place.ok(&["pause", &id, "-y"]);
    assert!(is_frozen(&group));
    assert_eq!(place.events_named("paused")[0]["data"]["frozen"], json!(true));
    place.ok(&["resume", &id]);
    let before = size();
    until("it goes on", || (size() > before).then_some(()));
    assert!(!is_frozen(&group));
    // Killed with its supervisor's help, and without.
    place.ok(&["pause", &id, "-y"]);
    place.ok(&["cancel", &id, "-y"]);
    assert!(!group.exists(), "SIGTERM reached it");
    let (id, group) = start(&place, &["--grace", "10m"], script);
    place.ok(&["pause", &id, "-y"]);
    signal(place.supervisor(&id), Signal::KILL);
    let next = place.enqueue(&["-u", "root", "--", "true"]);
    place.drain();
    assert_eq!((place.status(&id).as_str(), place.status(&next).as_str()), ("failed", "completed"));
    assert!(!group.exists());
}

#[test]
fn a_luzia_in_the_group_is_not_frozen() {
    if !may("a_luzia_in_the_group_is_not_frozen") {
        return;
    }
    let place = with_groups();
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let script = format!("{luzia} lock -l x -- sh -c 'echo $$ >$PLACE/inner; echo >$PLACE/up; sleep 600'; :");
    let (id, group) = start(&place, &[], &script);
    place.ok(&["pause", &id, "-y"]);
    assert!(!is_frozen(&group));
    let inner = place.until_file("inner");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", inner.trim())).unwrap();
    assert!(stat.contains(") T "), "{stat}");
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
}

#[test]
fn none_is_made_where_none_is_delegated_or_where_that_is_off() {
    let name = "none_is_made_where_none_is_delegated_or_where_that_is_off";
    if !may(name) {
        return;
    }
    // Root owns the group of these tests, and nobody has delegated it; `off` holds anywhere.
    for config in [json!({}), json!({ "supervisor": { "cgroups": "off" } })] {
        let place = Place::configured(&config);
        let gate = place.gate("go");
        let id =
            place.enqueue(&["-u", "root", "--shell", &format!("cat /proc/self/cgroup >$PLACE/in; read _ <{gate}")]);
        place.ok(&["dispatch", "--once"]);
        assert!(!place.until_file("in").contains("luzia."), "{config}");
        let started = std::fs::read_to_string(place.state().join("spool/running/1.started.json")).unwrap();
        assert!(!started.contains("cgroup"), "{started}");
        place.open_gate("go");
        place.until_status(&id, "completed");
    }
}

/// Runs a script in a control group of its own, which is the root of its own cgroup namespace, as in a container.
fn in_container(place: &Place, script: &str) -> Ran {
    let group = own().unwrap().join(format!("luzia-tests{}", place.text("").trim_end_matches('/').replace('/', "-")));
    let enters = format!(
        "mkdir {0}; echo $$ >{0}/cgroup.procs; unshare --cgroup --mount bash -ec 'mount -t cgroup2 none /sys/fs/cgroup; {script}'",
        group.display()
    );
    let mut command = Command::new("bash");
    command.args(["-ec", &enters]).env_clear().current_dir(place.path("work"));
    let like = place.command(&[]);
    command.envs(like.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let ran = place.spawn(&mut command).end();
    until("it is empty", || std::fs::remove_dir(&group).is_ok().then_some(()));
    ran
}

#[test]
fn the_root_of_a_container_is_delegated_and_doctor_removes_what_is_left_there() {
    if !may("the_root_of_a_container_is_delegated_and_doctor_removes_what_is_left_there") {
        return;
    }
    let place = Place::new();
    let script = r#""$LUZIA" run -u root -- cat /proc/self/cgroup >"$PLACE/in"
        name=$(sed -n "s,^0::/,,p" "$PLACE/in"); mkdir "/sys/fs/cgroup/${name%task_1.1}task_99.1" "/sys/fs/cgroup/other"
        "$LUZIA" doctor || :; "$LUZIA" doctor --fix -y; ls /sys/fs/cgroup; rmdir /sys/fs/cgroup/other"#;
    let ran = in_container(&place, script);
    assert!(place.until_file("in").contains("0::/luzia."), "{ran:?}");
    assert!(ran.out.contains("task_99.1"), "doctor tells of it: {ran:?}");
    let listed = ran.out.rsplit("cgroup.controllers").next().unwrap();
    assert!(listed.contains("other") && !listed.contains("task_"), "and removes it, and no other: {ran:?}");
}

#[test]
fn a_group_that_cannot_be_made_costs_nothing() {
    if !may("a_group_that_cannot_be_made_costs_nothing") {
        return;
    }
    let place = with_groups();
    let ran = in_container(
        &place,
        r#"mount -o remount,bind,ro /sys/fs/cgroup; "$LUZIA" run -u root -- cat /proc/self/cgroup; "$LUZIA" run -u root -- true"#,
    );
    assert!(ran.code == 0 && !ran.out.contains("luzia."), "{ran:?}");
}
