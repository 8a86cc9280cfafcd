//! kill -9 of everything that can be killed. After each: the next pass recovers, no two live commands of one user ever
//! (the commands watch that themselves), and nothing is left.

use super::harness::checker::{Checker, settle};
use super::harness::oracle::{self, Deed};
use super::harness::procs::{CONT, KILL, STOP, TERM, is_alive, luzias, of_world, signal};
use super::harness::{World, until};
use std::fs;

/// Queues a task that waits for the gate and one that comes after it, starts the first, and gives the numbers of both.
fn start_and_queue(world: &World, first: &[String], options: &[&str]) -> (u64, u64) {
    let options: Vec<&str> = ["-u", "alice"].iter().chain(options).copied().collect();
    let first = world.enqueue(&options, first);
    let second = world.enqueue(&["-u", "alice"], &oracle::command(world, "alice", Deed::Quick));
    world.luzia(&["dispatch", "--once"]).ok();
    world.await_file("ready.alice");
    (first, second)
}

fn assert_end(world: &World, ends: &[(u64, &str, u64)]) {
    let mut checker = Checker::default();
    for (id, status, retries) in ends {
        assert_eq!(world.status_of(*id), *status, "task_{id}; see {}", world.keep().display());
        checker.promise(*id, *retries);
    }
    checker.assert_quiet(world);
    world.forget();
}

/// A command that leaves processes behind in the way that `child` says, and waits with SIGTERM ignored.
fn stubborn(world: &World, child: &str) -> Vec<String> {
    let script = format!("trap '' TERM; ({child}) & echo >\"ready.$1\"; sleep 600");
    oracle::script(world, "alice", &script)
}

#[test]
fn no_process_of_a_task_outlives_its_killed_supervisor_into_the_next_task() {
    for child in [
        "setsid sleep 600",
        "setsid sh -c 'trap \"\" TERM HUP; sleep 600 & sleep 600'",
        // Found by tree.lock only.
        "env -i setsid /bin/sleep 600",
        // Found by its environment only.
        "CLOSE; setsid sleep 600",
    ] {
        let world = World::new("orphans");
        let (first, second) = start_and_queue(&world, &stubborn(&world, child), &["--grace", "100ms"]);
        let supervisor = world.supervisor_of(first);
        assert!(signal(&world, supervisor, KILL));
        until("the supervisor is dead", || (!is_alive(&world, supervisor)).then_some(()));
        assert_eq!(world.luzia(&["check", "alice"]).code(), Some(75), "an orphan holds its lane: {child}");
        settle(&world);
        assert_end(&world, &[(first, "failed", 0), (second, "completed", 0)]);
    }
}

#[test]
fn a_living_supervisor_ends_what_hides_from_lock_and_environment() {
    let world = World::new("hidden");
    // Neither the lock nor the environment: only the subreaper knows it.
    let script = "(CLOSE; exec env -i setsid /bin/sleep 600) & :";
    let first = world.enqueue(&["-u", "alice"], &oracle::script(&world, "alice", script));
    let second = world.enqueue(&["-u", "alice"], &oracle::command(&world, "alice", Deed::Quick));
    settle(&world);
    assert_end(&world, &[(first, "completed", 0), (second, "completed", 0)]);
}

#[test]
fn supervisor_and_command_killed_at_once_are_an_interruption() {
    let world = World::new("both");
    let (first, second) = start_and_queue(&world, &oracle::command(&world, "alice", Deed::Gate), &["--grace", "100ms"]);
    for _ in 0..3 {
        of_world(&world).iter().for_each(|process| process.signal(KILL));
    }
    until("all are dead", || of_world(&world).is_empty().then_some(()));
    settle(&world);
    assert_end(&world, &[(first, "failed", 0), (second, "completed", 0)]);
}

#[test]
fn a_killed_recoverer_is_recovered() {
    let world = World::new("recoverer");
    let (first, second) = start_and_queue(&world, &stubborn(&world, "setsid sleep 600"), &["--grace", "60s"]);
    let supervisor = world.supervisor_of(first);
    signal(&world, supervisor, KILL);
    for _ in 0..3 {
        let recoverer = until("somebody recovers", || {
            world.luzia(&["dispatch", "--once"]).ok();
            luzias(&world).into_iter().find(|process| process.command.contains("--recover"))
        });
        recoverer.signal(KILL);
        until("it is dead", || (!is_alive(&world, recoverer.pid)).then_some(()));
        assert_eq!(world.luzia(&["check", "alice"]).code(), Some(75));
    }
    // The grace is long; a cancel with a short one is honoured by the recovery.
    world.luzia(&["cancel", &first.to_string(), "--grace", "50ms"]).ok();
    settle(&world);
    assert_end(&world, &[(first, "cancelled", 0), (second, "completed", 0)]);
}

#[test]
fn killed_dispatchers_lose_nothing_and_start_nothing_twice() {
    let world = World::new("dispatchers");
    let users = ["alice", "bob", "carol"];
    let mut checker = Checker::default();
    for _ in 0..8 {
        for user in users {
            checker.promise(world.enqueue(&["-u", user], &oracle::command(&world, user, Deed::Quick)), 0);
        }
    }
    let mut kills = 0;
    for patience_us in (0..40).map(|round| round * 400) {
        let mut dispatcher = world.command(&["dispatch", "--drain"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(patience_us));
        kills += u32::from(dispatcher.kill().is_ok());
        dispatcher.wait().unwrap();
    }
    assert_eq!(kills, 40);
    settle(&world);
    checker.assert_quiet(&world);
    let lines = oracle::journal(&world);
    assert_eq!(lines.iter().filter(|line| line.what == 'E').count(), 24, "a killed dispatcher harms no command");
}

#[test]
fn a_running_command_outlives_its_daemon_and_a_new_daemon_collects_its_result() {
    let world = World::new("daemon");
    let command = oracle::command(&world, "alice", Deed::GateSoft);
    let first = world.enqueue(&["-u", "alice"], &command);
    let mut daemon = world.command(&["daemon"]).spawn().unwrap();
    world.await_file("ready.alice");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert_eq!(world.status_of(first), "running");
    assert_eq!(world.luzia(&["check", "alice"]).code(), Some(75));

    let mut daemon = world.command(&["daemon"]).spawn().unwrap();
    let second = world.enqueue(&["-u", "alice"], &oracle::command(&world, "alice", Deed::Quick));
    let other = world.enqueue(&["-u", "bob"], &oracle::command(&world, "bob", Deed::Quick));
    until("the daemon works", || (world.status_of(other) == "completed").then_some(()));
    assert_eq!(world.status_of(second), "pending");
    world.touch("gate");
    until("both are over", || (world.status_of(second) == "completed").then_some(()));
    let pid = i32::try_from(daemon.id()).unwrap();
    until("it can be ended", || signal(&world, pid, TERM).then_some(()));
    assert!(daemon.wait().unwrap().success(), "SIGTERM ends a daemon with 0");
    settle(&world);
    assert_end(&world, &[(first, "completed", 0), (second, "completed", 0), (other, "completed", 0)]);
}

#[test]
fn sigterm_to_a_daemon_leaves_commands_running() {
    let world = World::new("daemon-term");
    let first = world.enqueue(&["-u", "alice"], &oracle::command(&world, "alice", Deed::GateSoft));
    let mut daemon = world.command(&["daemon"]).spawn().unwrap();
    world.await_file("ready.alice");
    signal(&world, i32::try_from(daemon.id()).unwrap(), TERM);
    assert!(daemon.wait().unwrap().success());
    assert_eq!(world.status_of(first), "running");
    world.touch("gate");
    settle(&world);
    assert_end(&world, &[(first, "completed", 0)]);
}

#[test]
fn a_task_goes_on_when_its_run_client_is_killed() {
    let world = World::new("client");
    let command = oracle::command(&world, "alice", Deed::GateSoft);
    let args: Vec<&str> = ["run", "-u", "alice", "--"].into_iter().chain(command.iter().map(String::as_str)).collect();
    let mut client = world.command(&args).spawn().unwrap();
    world.await_file("ready.alice");
    client.kill().unwrap();
    client.wait().unwrap();
    let second = world.enqueue(&["-u", "alice"], &oracle::command(&world, "alice", Deed::Quick));
    world.luzia(&["dispatch", "--once"]).ok();
    assert_eq!(world.status_of(second), "pending");
    world.touch("gate");
    settle(&world);
    assert_end(&world, &[(1, "completed", 0), (second, "completed", 0)]);
}

#[test]
fn nobody_breaks_a_stopped_supervisor() {
    let world = World::new("stopped");
    // A limit of an instant: age alone breaks nothing.
    world.configure(r#"{ "per_user_serialization": { "enabled": true, "lock_timeout_seconds": 1 } }"#);
    let (first, second) = start_and_queue(&world, &oracle::command(&world, "alice", Deed::GateSoft), &[]);
    let supervisor = world.supervisor_of(first);
    signal(&world, supervisor, STOP);
    until("it is past its limit", || {
        world.luzia(&["cleanup-stale", "0"]).ok();
        world.luzia(&["dispatch", "--once"]).ok();
        assert_eq!(world.luzia(&["check", "alice"]).code(), Some(75));
        world.luzia(&["list-locks", "--state", "overdue"]).ok().out.contains("alice").then_some(())
    });
    // Its command ends meanwhile; the lane stays with the supervisor until it has said so.
    world.touch("gate");
    until("the command is over", || {
        oracle::journal(&world).iter().any(|line| line.what == 'E' && line.task == Some(first)).then_some(())
    });
    world.luzia(&["cleanup-stale"]).ok();
    world.luzia(&["dispatch", "--once"]).ok();
    assert_eq!(world.status_of(second), "pending");
    assert_eq!(world.luzia(&["release", "alice", &format!("task_{first}")]).code(), Some(1));
    signal(&world, supervisor, CONT);
    settle(&world);
    assert_end(&world, &[(first, "completed", 0), (second, "completed", 0)]);
}

#[test]
fn sigterm_without_a_cancel_is_an_interruption_and_retries_are_honoured() {
    let world = World::new("sigterm");
    let (first, second) =
        start_and_queue(&world, &oracle::command(&world, "alice", Deed::GateSoft), &["--retries", "1"]);
    fs::remove_file(world.work.join("ready.alice")).unwrap();
    signal(&world, world.supervisor_of(first), TERM);
    until("it is queued again", || {
        (oracle::journal(&world).iter().any(|line| line.what == 'E' && line.task == Some(second))).then_some(())
    });
    assert_eq!(world.status_of(first), "pending", "an interruption with a retry left is no end");
    until("it is started again", || {
        world.luzia(&["dispatch", "--once"]).ok();
        world.work.join("ready.alice").exists().then_some(())
    });
    signal(&world, world.supervisor_of(first), TERM);
    until("it is over", || (world.status_of(first) != "running").then_some(()));
    settle(&world);
    let begins = oracle::journal(&world).iter().filter(|line| line.what == 'B' && line.task == Some(first)).count();
    assert_eq!(begins, 2);
    assert_end(&world, &[(first, "failed", 1), (second, "completed", 0)]);
}

#[test]
fn a_task_that_kills_its_supervisor_does_not_loop_for_ever() {
    for retries in [0_u64, 1] {
        let world = World::new("suicide");
        let options = ["-u", "alice", "--grace", "50ms", "--retries", &retries.to_string()];
        let first = world.enqueue(&options, &oracle::command(&world, "alice", Deed::KillSupervisor));
        let second = world.enqueue(&["-u", "alice"], &oracle::command(&world, "alice", Deed::Quick));
        settle(&world);
        let begins = oracle::journal(&world).iter().filter(|line| line.what == 'B' && line.task == Some(first)).count();
        assert_eq!(u64::try_from(begins).unwrap(), 1 + retries);
        assert_end(&world, &[(first, "failed", retries), (second, "completed", 0)]);
    }
}

#[test]
fn a_lane_stays_held_by_what_a_killed_lock_leaves_running() {
    let world = World::new("lock");
    // As scripts do, it makes locks of its own on the numbers that everybody uses.
    let numbers = [3, 4, 5, 6, 7, 10, 11, 20, 42, 99, 100, 200].map(|fd| format!("{fd}>own.{fd}"));
    let script = format!("exec {}; {}", numbers.join(" "), oracle::WAIT_AT_GATE);
    let command = oracle::script(&world, "alice", &script);
    let args: Vec<&str> = ["lock", "-u", "alice", "--"].into_iter().chain(command.iter().map(String::as_str)).collect();
    let mut locker = world.command(&args).spawn().unwrap();
    world.await_file("ready.alice");
    locker.kill().unwrap();
    locker.wait().unwrap();
    let task = world.enqueue(&["-u", "alice"], &oracle::command(&world, "alice", Deed::Quick));
    world.luzia(&["cleanup-stale", "0"]).ok();
    world.luzia(&["dispatch", "--once"]).ok();
    assert_eq!(world.status_of(task), "pending", "the command of the killed lock still runs");
    assert_eq!(world.luzia(&["lock", "-n", "-u", "alice", "--", "true"]).code(), Some(75));
    world.touch("gate");
    settle(&world);
    assert_end(&world, &[(task, "completed", 0)]);
}
