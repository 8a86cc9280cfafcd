//! Hints: what agents are to look at is announced after its commit, and nothing depends on that.

use crate::hosts::{Host, assert_whole, until_status};
use crate::server::Fleet;
use crate::support::{lives, signal, until};
use postgres::fallible_iterator::FallibleIterator;
use rustix::process::Signal;
use std::time::Duration;

/// The listener of an agent.
fn listener(agent: u32) -> Option<u32> {
    let agent = agent.to_string();
    let is_its = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&&b"listen-store"[..]) && words.get(2) == Some(&agent.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(is_its)
}

#[test]
fn a_request_a_grant_and_an_end_are_announced() {
    let Some(fleet) = Fleet::new("a_request_a_grant_and_an_end") else { return };
    let mut client = fleet.client();
    client.batch_execute("LISTEN luzia_1").unwrap();
    let mut heard = |what: &str| {
        let mut hints = client.notifications();
        assert!(hints.timeout_iter(Duration::from_secs(20)).next().unwrap().is_some(), "{what}");
    };
    fleet.luzia(&["enqueue", "-u", "alice", "--", "true"]).coded(0);
    heard("a request");
    let one = Host::new(&fleet, "one", None);
    heard("the room of a host");
    // The holder of the duty announces nothing to itself.
    until("it has the duty", || one.row().filter(|row| row["duty"] == true));
    let two = Host::new(&fleet, "two", None);
    heard("the room of another host");
    let id = two.enqueue("bob", "true", &[]);
    fleet.luzia(&["wait", &id]).coded(0);
    for what in ["a request", "a grant", "an end"] {
        heard(what);
    }
}

#[test]
fn a_listener_ends_with_its_agent_and_nothing_depends_on_it() {
    let Some(fleet) = Fleet::new("a_listener_ends_with_its_agent") else { return };
    let mut host = Host::new(&fleet, "one", None);
    let agent = host.daemon().pid();
    let pid = until("it listens", || listener(agent));
    let run = |host: &Host| host.luzia(&["run", "-u", "alice", "--", "echo", "hello"]).coded(0).out;
    assert_eq!(run(&host), "hello\n");
    // With its connection it ends, and the agent starts another one. So it is when it was killed.
    fleet.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()");
    assert_eq!(run(&host), "hello\n");
    let second = until("another one listens", || listener(agent).filter(|other| *other != pid));
    assert!(!lives(pid));
    signal(second, Signal::KILL);
    assert_eq!(run(&host), "hello\n");
    until("a third one listens", || listener(agent).filter(|other| *other != second));
    let listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()";
    until("it has a connection", || {
        (fleet.client().query_one(listening, &[]).unwrap().get::<_, i64>(0) == 1).then_some(())
    });
    assert_eq!(run(&host), "hello\n");
    host.start(None);
    let agent = host.daemon().pid();
    let pid = until("it listens", || listener(agent));
    signal(agent, Signal::KILL);
    until("it ends with its agent", || (!lives(pid)).then_some(()));
    assert_whole(&fleet);
}

#[test]
fn a_hint_names_the_hosts_that_it_concerns() {
    let Some(fleet) = Fleet::new("a_hint_names_the_hosts") else { return };
    let hosts = ["one", "two", "three"].map(|name| Host::new(&fleet, name, None));
    until("one has the duty", || hosts[0].row().filter(|row| row["duty"] == true));
    let mut client = fleet.client();
    let number = |client: &mut postgres::Client, name: &str| -> i32 {
        client.query_one("SELECT id FROM luzia.host WHERE name = $1", &[&name]).unwrap().get(0)
    };
    let [one, two] = ["one", "two"].map(|name| number(&mut client, name).to_string());
    client.batch_execute("LISTEN luzia_1").unwrap();
    let id = hosts[1].enqueue("alice", "sleep 60", &[]);
    until_status(&fleet, &id, "running");
    fleet.luzia(&["cancel", &id, "--yes"]).coded(0);
    let mut heard = Vec::new();
    let mut hints = client.notifications();
    // A request and an end are for the holder of the duty; a grant and a cancel are for the host of the task.
    while heard.iter().filter(|hint| **hint == one).count() < 2 || heard.iter().filter(|hint| **hint == two).count() < 2
    {
        heard.push(hints.timeout_iter(Duration::from_secs(20)).next().unwrap().unwrap().payload().to_owned());
    }
    assert!(heard.iter().all(|hint| [&one, &two].contains(&hint)), "{heard:?}");
}
