//! CPU tokens (agents.md, section 9). `tests/builds` does the same with cargo.

use super::{among_locks, is_over_soon, locked, most_at_once, running};
use crate::support::{Place, lines, signal, until};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;

/// A client of a job server that would start 8 jobs at once: one without asking, the others by a token each, which it gives
/// back after each job. It writes `+` and `-` around each job, and ends after so many.
const BUILD: &str = r#"
fifo=${CARGO_MAKEFLAGS##*fifo:}
exec 9<>"$fifo" || exit 9
job() {
    echo + >>"$PLACE/jobs"; sleep 0.05; echo - >>"$PLACE/jobs"
}
helper() {
    while [ ! -e "$PLACE/enough.$1" ]; do
        token=$(dd bs=1 count=1 <&9 2>/dev/null)
        job
        printf %s "$token" >&9
    done
}
for n in 1 2 3 4 5 6 7; do helper "$1" & done
n=0
while [ $n -lt "$2" ]; do job; n=$((n + 1)); done
echo x >"$PLACE/enough.$1"
# Those that wait for a token go with the tree.
kill $(jobs -p) 2>/dev/null
exit 0
"#;

fn builds(budget: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path("build.sh"), BUILD).unwrap();
    place.ok(&["lanes", "set", "build", "--max", "3", "--cpu-budget", budget]);
    place
}

fn build(place: &Place, user: &str, jobs: &str) -> String {
    let script = place.text("build.sh");
    place.enqueue(&["-u", user, "-l", "build", "--", "sh", &script, user, jobs])
}

/// What the holders of the lane have, as their sidecars say.
fn shares(place: &Place) -> Vec<u64> {
    let locks = place.json(&["list-locks"])["items"].clone();
    locks
        .as_array()
        .unwrap()
        .iter()
        .filter(|lock| lock["lane"] == "build")
        .filter_map(|lock| lock["cpus"].as_u64())
        .collect()
}

#[test]
fn three_builds_at_once_never_use_more_than_their_budget() {
    let place = builds("4");
    let ids = ["a", "b", "c"].map(|user| build(&place, user, "20"));
    place.drain();
    assert!(ids.iter().all(|id| place.status(id) == "completed"), "{:?}", ids.map(|id| place.show(&id)));
    let most = most_at_once(&place, "jobs");
    // Two more for an instant: the first of three may have taken all tokens before the others came.
    assert!((2..=6).contains(&most), "{most} at once");
    assert!(among_locks(&place, ".jobs").is_empty(), "the job servers are gone");
}

#[test]
fn tokens_move_at_each_start_and_end_and_a_killed_build_leaks_none() {
    let place = builds("4");
    let first = build(&place, "a", "100000");
    place.ok(&["dispatch"]);
    until("the first has all", || (shares(&place) == [4]).then_some(()));
    let second = build(&place, "b", "100000");
    place.ok(&["dispatch"]);
    until("they share", || (shares(&place) == [2, 2]).then_some(()));
    let third = build(&place, "c", "100000");
    place.ok(&["dispatch"]);
    until("three share", || {
        let mut shares = shares(&place);
        shares.sort_unstable();
        (shares == [1, 1, 2]).then_some(())
    });
    // From now on there are never more than four.
    std::fs::remove_file(place.path("jobs")).unwrap();
    until("some jobs", || (lines(&place.path("jobs")).len() > 60).then_some(()));
    let most = most_at_once(&place, "jobs");
    assert!(most <= 5, "{most} at once, of which one may have begun before");
    signal(place.supervisor(&third), Signal::KILL);
    until("its tokens are back", || {
        // A process that was killed is not gone at once.
        place.ok(&["dispatch"]);
        (shares(&place) == [2, 2]).then_some(())
    });
    place.ok(&["cancel", &second, "--yes"]);
    until("the first has all again", || (shares(&place) == [4]).then_some(()));
    place.ok(&["cancel", &first, "--yes"]);
    until("nothing is left", || (among_locks(&place, ".jobs").is_empty() && shares(&place).is_empty()).then_some(()));
}

#[test]
fn a_command_under_a_lock_shares_with_tasks() {
    let place = builds("3");
    let mut lock = locked(&place, "one", "build", "echo ${CARGO_MAKEFLAGS##*fifo:} >$PLACE/fifo");
    assert!(place.until_file("fifo").ends_with("locks/.lane_build.jobs"));
    assert_eq!(shares(&place), [3]);
    let id = running(&place, "alice", "build", "true");
    until("they share", || (shares(&place) == [2, 1]).then_some(()));
    for gate in ["gate.one", "gate.alice"] {
        place.open_gate(gate);
    }
    is_over_soon(&mut lock);
    place.until_status(&id, "completed");
    assert!(among_locks(&place, ".jobs").is_empty());
}

#[test]
fn tools_without_a_job_server_get_numbers_and_smaller_ones_of_their_own_stay() {
    let place = builds("3");
    let names = "CARGO_BUILD_JOBS CMAKE_BUILD_PARALLEL_LEVEL GOMAXPROCS PYTEST_XDIST_AUTO_NUM_WORKERS";
    let script =
        format!("for name in {names}; do eval echo \\$$name; done >$PLACE/numbers; echo $MAKEFLAGS >$PLACE/flags");
    let ran = ["run", "-u", "a", "-l", "build", "--env", "GOMAXPROCS=2", "--env", "MAKEFLAGS=k -j9", "--", "sh", "-c"];
    place.ok(&[&ran[..], &[&script]].concat());
    assert_eq!(lines(&place.path("numbers")), ["3", "3", "2", "3"]);
    let flags = place.until_file("flags");
    assert!(flags.starts_with("k -j3") && !flags.contains("-j9"), "{flags}");
    // A lane without a budget changes nothing.
    place.ok(&["run", "-u", "a", "-l", "other", "--", "sh", "-c", "echo x$CARGO_MAKEFLAGS$GOMAXPROCS >$PLACE/none"]);
    assert_eq!(place.until_file("none"), "x");
}

#[test]
fn make_of_this_host_obeys_or_gets_a_number() {
    let place = builds("2");
    std::fs::write(
        place.path("work/Makefile"),
        "all: 1 2 3 4 5 6\n%:\n\t@echo + >>$(PLACE)/made; sleep 0.1; echo - >>$(PLACE)/made\n",
    )
    .unwrap();
    let ran = place.luzia(&["run", "-u", "a", "-l", "build", "--", "make", "-s", "all"]);
    if ran.code == 127 {
        crate::support::skip("make_of_this_host_obeys_or_gets_a_number", "make");
        return;
    }
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "no warning about a job server");
    assert!((1..=2).contains(&most_at_once(&place, "made")));
}

#[test]
fn affinity_binds_what_runs_in_the_lane() {
    let place = builds("1");
    place.ok(&["lanes", "set", "build", "--affinity"]);
    let script = "grep Cpus_allowed_list /proc/self/status | cut -f2";
    let task = place.ok(&["run", "-u", "a", "-l", "build", "--", "sh", "-c", script]).line();
    let lock = place.ok(&["lock", "-l", "build", "--", "sh", "-c", script]).line();
    assert!(task.parse::<u32>().is_ok(), "one processor: {task}");
    assert_eq!(task, lock, "the same one for all of the lane");
}

#[test]
fn an_old_make_is_told_where_a_budget_is_set_and_by_doctor() {
    let place = Place::new();
    std::fs::create_dir(place.path("bin")).unwrap();
    let call = |version: &str, args: &[&str]| {
        let script = format!("#!/bin/sh\necho GNU Make {version}\n");
        std::fs::write(place.path("bin/make"), script).unwrap();
        std::fs::set_permissions(place.path("bin/make"), std::fs::Permissions::from_mode(0o755)).unwrap();
        place.spawn(place.command(args).env("PATH", format!("{}:/usr/bin:/bin", place.text("bin")))).end()
    };
    const BUDGET: [&str; 5] = ["lanes", "set", "build", "--cpu-budget", "2"];
    const TOLD: &str = "GNU Make 4.3 of this host";
    let doctor = |version: &str| call(version, &["--json", "doctor"]).out;
    assert!(!call("4.3", &["lanes", "set", "build", "--max", "2"]).coded(0).err.contains(TOLD));
    assert!(!doctor("4.3").contains(TOLD));
    assert!(!call("4.4.1", &BUDGET).coded(0).err.contains("GNU Make"));
    assert!(!doctor("4.4.1").contains("GNU Make"));
    let told = call("4.3", &BUDGET).coded(0).err;
    assert!(
        told.contains(TOLD) && told.contains("`make -jN` exceeds a CPU budget") && told.contains("--affinity"),
        "{told}"
    );
    assert!(doctor("4.3").contains(TOLD));
    assert!(!call("4.3", &["lanes", "set", "build", "--affinity"]).coded(0).err.contains(TOLD));
    assert!(!doctor("4.3").contains(TOLD), "the commands themselves are bound");
}
