//! The journal of a daemon: every start, end and failure, whichever process supervises (22.7).

use crate::support::{Place, until};
use rustix::process::Signal;

#[test]
fn a_daemon_tells_of_tasks_that_others_start_and_end() {
    let place = Place::new();
    place.enqueue(&["-u", "first", "--", "true"]);
    place.drain();
    let daemon = place.start(&["daemon", "--poll", "100ms"]);
    // The first of them may end before the daemon looks.
    until("it tells", || {
        place.luzia(&["run", "-u", "z", "--", "false"]).coded(1);
        daemon.err().contains("of z failed").then_some(())
    });
    place.luzia(&["run", "-u", "a", "--", "sh", "-c", "exit 3"]).coded(3);
    let queued = place.enqueue(&["-u", "b", "--retries", "1", "--backoff", "50ms", "--", "sh", "-c", "exit 4"]);
    let held = place.enqueue(&["-u", "c", "--hold", "--", "true"]);
    place.ok(&["cancel", &held]);
    for line in [
        "of a started, attempt 1".to_owned(),
        "of a failed, exit 3".to_owned(),
        format!("{queued} of b started, attempt 1"),
        format!("{queued} of b failed 1 times, and is queued again"),
        format!("{queued} of b started, attempt 2"),
        format!("{queued} of b failed, exit 4"),
        format!("{held} of c cancelled"),
    ] {
        until(&line, || daemon.err().contains(&line).then_some(()));
    }
    assert!(!daemon.err().contains("task_1 "), "what was before is no news: {}", daemon.err());
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.end().coded(0).out, "");
}
