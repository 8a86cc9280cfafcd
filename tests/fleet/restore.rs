//! A database that is older than its hosts: a backup was put in its place.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::Fleet;
use crate::support::until;

/// Number of hosts that renew their leases.
fn alive(fleet: &Fleet) -> usize {
    let hosts = fleet.json(&["hosts"]);
    hosts["items"].as_array().unwrap().iter().filter(|host| host["alive"] == true).count()
}

fn beat(fleet: &Fleet) -> i64 {
    fleet.client().query_one("SELECT beat FROM luzia.host", &[]).unwrap().get(0)
}

fn until_refused(host: &mut Host) {
    let older = "is older than what this host has seen of it";
    until("the agent refuses the database", || host.daemon().err().contains(older).then_some(()));
}

#[test]
fn hosts_refuse_an_older_database_until_it_is_accepted() {
    let Some(fleet) = Fleet::new("hosts_refuse_an_older_database") else { return };
    let mut host = Host::new(&fleet, "one", Some("60s"));
    let known = host.enqueue("alice", "sleep 60", &[]);
    until_status(&fleet, &known, "running");
    let backup = fleet.backup();
    let ends = fleet.place.text("ends");
    let forgotten = host.enqueue("bob", &format!("echo x >>{ends}"), &[]);
    until_status(&fleet, &forgotten, "completed");
    fleet.restore(&backup);
    until_refused(&mut host);
    // Nothing new starts, and what runs goes on.
    let waits = host.enqueue("carol", "true", &[]);
    let before = beat(&fleet);
    host.daemon().kill();
    host.start_alone(&["--lease", "60s"]);
    until_refused(&mut host);
    assert_eq!((status(&fleet, &waits), beat(&fleet)), ("pending".to_owned(), before));
    assert_eq!(host.place.status(&known), "running");

    fleet.luzia(&["store", "recover"]).coded(0);
    until("the host joins again", || (alive(&fleet) == 1).then_some(()));
    fleet.luzia(&["wait", &waits, "--timeout", "28s"]).coded(0);
    assert_eq!(status(&fleet, &known), "running");
    let number = |id: &str| id.trim_start_matches("task_").parse::<u64>().unwrap();
    let next = host.enqueue("bob", "true", &[]);
    assert!(number(&next) > number(&forgotten), "{next} is above {forgotten}");
    fleet.luzia(&["wait", &next, "--timeout", "28s"]).coded(0);
    assert_eq!(std::fs::read_to_string(&ends).unwrap(), "x\n");
    fleet.luzia(&["cancel", &known, "--yes"]).coded(0);
    until_status(&fleet, &known, "cancelled");
    assert_whole(&fleet);
}

#[test]
fn a_host_with_a_new_name_begins_anew() {
    let Some(fleet) = Fleet::new("a_host_with_a_new_name") else { return };
    let mut host = Host::new(&fleet, "one", Some("60s"));
    host.daemon().kill();
    host.rename("other");
    host.start(Some("60s"));
    let id = host.enqueue("alice", "true", &[]);
    until_status(&fleet, &id, "completed");
}

#[test]
fn a_host_that_turns_to_another_database_takes_new_numbers() {
    let Some(fleet) = Fleet::new("a_host_that_turns_to_another") else { return };
    let mut host = Host::new(&fleet, "one", Some("60s"));
    let first = host.enqueue("alice", "true", &[]);
    until_status(&fleet, &first, "completed");
    host.daemon().kill();
    fleet.sql("DROP SCHEMA luzia CASCADE; DROP SCHEMA luzia_1 CASCADE");
    fleet.luzia(&["store", "migrate"]).coded(0);
    host.start(Some("60s"));
    let next = host.enqueue("alice", "true", &[]);
    assert_ne!(next, first);
    until_status(&fleet, &next, "completed");
    assert_whole(&fleet);
}
