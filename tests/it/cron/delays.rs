//! Delays go by the boot clock while the host is up, whatever happens to the wall clock. A pass waits for every dead child of its
//! process, so each of these tests has a process of its own.

use super::{Timed, at, caller};
use crate::support::is_own_process;
use luzia::app::queue::enqueue::enqueue;
use luzia::model::Timestamp;
use luzia::request::TaskRequest;
use std::sync::atomic::Ordering;

/// A place in which a pass starts nothing.
fn paused(now: &str) -> Timed {
    let timed = Timed::new(now);
    timed.place.ok(&["pause", "--all"]);
    timed
}

fn queue(timed: &Timed, delay: Option<&str>, at: Option<&str>) {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let new = TaskRequest {
        user: Some("a".into()),
        command: vec!["true".into()],
        delay: owned(delay),
        at: owned(at),
        ..TaskRequest::default()
    };
    enqueue(&timed.app(), &new, &caller()).unwrap();
}

/// A pass at a moment of the wall clock, when so much time of the boot clock has passed. Gives what is due to come.
fn pass(timed: &Timed, now: &str, minutes: u64) -> Vec<Option<Timestamp>> {
    timed.set(now);
    timed.clock.1.store(minutes * 60_000, Ordering::SeqCst);
    let app = timed.app();
    luzia::app::pass::pass(&app).unwrap();
    let parked = app.store.parked_tasks().unwrap();
    parked.map(|task| task.unwrap().due_at).collect()
}

fn minutes_between(one: Option<Timestamp>, other: &str) -> i64 {
    (one.unwrap().ms_since(at(other)) + 30_000).div_euclid(60_000)
}

#[test]
fn a_wall_clock_that_is_set_back_postpones_no_delay() {
    if !is_own_process("cron::delays::a_wall_clock_that_is_set_back_postpones_no_delay", &[]) {
        return;
    }
    let timed = paused("2082-11-24T12:00:00Z");
    queue(&timed, Some("1h"), None);
    queue(&timed, None, Some("2082-11-24T12:30:00Z"));
    // Five hours back, after ten minutes.
    let due = pass(&timed, "2082-11-24T07:10:00Z", 10);
    assert_eq!(due.len(), 2);
    assert!(due.iter().any(|due| minutes_between(*due, "2082-11-24T08:00:00Z") == 0), "{due:?}");
    assert!(due.contains(&Some(at("2082-11-24T12:30:00Z"))), "a moment that was named stays");
    assert!(!timed.place.events_named("clock_moved").is_empty());
    assert_eq!(pass(&timed, "2082-11-24T07:59:00Z", 59).len(), 2);
    let due = pass(&timed, "2082-11-24T08:00:05Z", 61);
    assert_eq!(due, [Some(at("2082-11-24T12:30:00Z"))]);
}

#[test]
fn a_wall_clock_that_is_set_ahead_ends_no_delay() {
    if !is_own_process("cron::delays::a_wall_clock_that_is_set_ahead_ends_no_delay", &[]) {
        return;
    }
    let timed = paused("2082-11-24T12:00:00Z");
    queue(&timed, Some("1h"), None);
    let due = pass(&timed, "2082-11-24T20:10:00Z", 10);
    assert_eq!((due.len(), minutes_between(due[0], "2082-11-24T21:00:00Z")), (1, 0), "{due:?}");
    assert_eq!(pass(&timed, "2082-11-24T20:59:00Z", 59).len(), 1);
    assert_eq!(pass(&timed, "2082-11-24T21:00:05Z", 61), []);
    assert_eq!(timed.tasks().len(), 1);
}
