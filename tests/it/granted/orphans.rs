//! Agent and supervisors killed at once: the watcher of the lease is left, and then nothing.

use super::*;
use crate::support::{Running, lives, signal};
use rustix::process::Signal;

/// Starts the watcher as an agent does, with the lock of the watch as its standard input.
fn watcher(agent: &Agent) -> Running {
    let path = agent.place.state().join("lease.lock");
    let lock = std::fs::OpenOptions::new().create(true).truncate(false).write(true).read(true).open(path).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let mut command = agent.place.command(&["--state-dir", &agent.place.text("state"), "watch-lease"]);
    agent.place.spawn(command.stdin(lock))
}

#[test]
fn orphans_without_an_agent_are_dead_at_the_end_of_the_lease() {
    let agent = Agent::new();
    agent.lease(LONG_MS);
    let mut watcher = watcher(&agent);
    let stubborn = "trap '' TERM; (trap '' TERM; exec env -i setsid sleep 600) & sleep 600 & while :; do sleep 1; done";
    let users = ["alice", "bob", "carol"];
    let ids: Vec<String> = (1..).zip(users).map(|(n, user)| agent.run(n, user, stubborn)).collect();
    for id in &ids {
        let supervisor = agent.place.supervisor(id);
        signal(supervisor, Signal::KILL);
        until("the supervisor is dead", || (!lives(supervisor)).then_some(()));
    }
    assert!(!agent.alive().is_empty(), "the trees live on");
    let end = agent.lease(9000);
    let dead = agent.until_dead();
    assert!(dead <= end, "{} ms after the end", dead - end);
    until("the watcher has ended", || watcher.is_over().then_some(()));
    for id in &ids {
        assert_eq!(agent.place.status(id), "failed");
        assert!(agent.summary(id).ends_with("(HostCutOff)"), "{}", agent.summary(id));
    }
}

#[test]
fn the_watcher_outlives_renewals_and_ends_with_a_refused_lease() {
    let agent = Agent::new();
    agent.lease(4000);
    let mut watcher = watcher(&agent);
    let end = agent.lease(6000);
    std::thread::sleep(Duration::from_millis(1000));
    agent.lease(LONG_MS);
    sleep_past(end + 1000);
    assert!(!watcher.is_over());
    end_lease(&agent.app, SESSION).unwrap();
    until("the watcher has ended", || watcher.is_over().then_some(()));
}
