//! `attach` with a store: the host that has a task streams it.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::Fleet;
use crate::support::until;
use rustix::process::Signal;

#[test]
fn a_task_is_streamed_on_the_host_that_has_it() {
    let Some(fleet) = Fleet::new("a_task_is_streamed") else { return };
    let (one, two) = (Host::new(&fleet, "one", None), Host::new(&fleet, "two", None));
    let id = one.enqueue("alice", "echo begin; sleep 2; echo end; echo err >&2; exit 3", &[]);
    until_status(&fleet, &id, "running");
    let ran = two.luzia(&["attach", &id, "--json"]).coded(2);
    assert!(ran.err.contains("LOCAL_ONLY") && ran.err.contains("host \\\"one\\\" has"), "{ran:?}");
    let waits = one.enqueue("alice", "echo later", &[]);
    let waiting = one.start_luzia(&["attach", &waits]);
    let ran = one.luzia(&["attach", &id]).coded(3);
    assert!(ran.out == "begin\nend\n" && ran.err.contains("err\n"), "{ran:?}");
    assert_eq!(status(&fleet, &id), "failed", "the store knows the end");
    assert_eq!(waiting.end().coded(0).out, "later\n");
    // So is one that is over.
    assert_eq!(one.luzia(&["attach", &id]).coded(3).out, "begin\nend\n");
    two.luzia(&["attach", &id]).coded(2);
    assert_eq!(one.luzia(&["attach", "last"]).coded(0).out, "later\n");
    one.luzia(&["attach", &id, "--here"]).coded(2);
    one.luzia(&["attach", "task_1"]).coded(66);
    assert_whole(&fleet);
}

#[test]
fn an_attach_goes_on_through_attempts_and_leaves_at_an_interrupt() {
    let Some(fleet) = Fleet::new("an_attach_goes_on") else { return };
    let host = Host::new(&fleet, "one", None);
    let tries = fleet.place.text("tries");
    let script = format!("echo x >>{tries}; echo $(wc -l <{tries}); test $(wc -l <{tries}) -ge 2");
    let id = host.enqueue("alice", &script, &["--retries", "1", "--backoff", "100ms", "--in", "1s"]);
    let ran = host.luzia(&["attach", &id]).coded(0);
    assert!(ran.out.ends_with("2\n"), "{ran:?}");
    let id = host.enqueue("alice", "sleep 60", &[]);
    let running = host.start_luzia(&["attach", &id]);
    until_status(&fleet, &id, "running");
    std::thread::sleep(std::time::Duration::from_millis(500));
    running.signal(Signal::INT);
    running.end().coded(130);
    assert_eq!(status(&fleet, &id), "running");
    fleet.luzia(&["cancel", &id, "--yes"]).coded(0);
    let waits = fleet.luzia(&["enqueue", "-u", "bob", "--", "true"]).coded(0).line();
    let waiting = host.start_luzia(&["attach", &waits]);
    until("it says why", || waiting.err().contains("host").then_some(()));
    waiting.signal(Signal::INT);
    waiting.end().coded(130);
    // A task that no host ever had has no output.
    fleet.luzia(&["cancel", &waits]).coded(0);
    assert_eq!(host.luzia(&["attach", &waits]).coded(1).out, "");
    assert_whole(&fleet);
}
