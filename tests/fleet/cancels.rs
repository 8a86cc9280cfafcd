//! `cancel` of tasks that leave their host before it has carried the request out.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::Fleet;
use crate::support::{signal, until};
use rustix::process::Signal;

#[test]
fn a_cancel_of_a_task_whose_host_is_lost_stands() {
    let Some(fleet) = Fleet::new("a_cancel_of_a_task_whose_host_is_lost") else { return };
    let mut host = Host::new(&fleet, "one", Some("5s"));
    let other = Host::new(&fleet, "two", Some("5s"));
    let id = host.enqueue("alice", "sleep 60", &["--retries", "3", "--on-interrupt", "retry"]);
    until_status(&fleet, &id, "running");
    host.kill();
    let ask = ["cancel", &id, "--by", "me", "--reason", "no more", "--grace", "0s", "--yes"];
    let asking = other.start_luzia(&ask);
    asking.end();
    // The other host takes the task from the lost one, and the task is over with that.
    until("it is over", || (status(&fleet, &id) == "cancelled").then_some(()));
    let task = fleet.json(&["show", &id]);
    assert_eq!((&task["cancelledBy"], &task["starts"]), (&"me".into(), &1.into()), "{task:#}");
    assert!(task["result_summary"].as_str().unwrap().contains("no more"), "{task:#}");
    assert_whole(&fleet);
}

#[test]
fn a_cancel_of_a_task_that_its_host_gives_back_stands() {
    let Some(fleet) = Fleet::new("a_cancel_of_a_task_that_its_host_gives_back") else { return };
    let mut host = Host::new(&fleet, "one", None);
    let other = Host::new(&fleet, "two", None);
    let pid = host.stop_agent(&other);
    let folder = fleet.place.text("folder");
    let id = other.enqueue("alice", "true", &["--on", "one", "--cwd", &folder]);
    host.until_given();
    let asking = other.start_luzia(&["cancel", &id, "--by", "me", "--yes"]);
    until("the host is asked", || {
        let asked: i64 = fleet.client().query_one("SELECT count(*) FROM luzia.wish", &[]).unwrap().get(0);
        (asked == 1).then_some(())
    });
    signal(pid, Signal::CONT);
    asking.end().coded(0);
    assert_eq!(status(&fleet, &id), "cancelled");
    assert_whole(&fleet);
}
