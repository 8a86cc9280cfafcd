//! `dispatch --drain` beside tasks that wait and schedules: it ends, and leaves nothing that could go on.

use crate::support::{Place, until};

#[test]
fn a_drain_waits_for_no_event_with_or_without_a_process_and_for_the_end_of_a_delay() {
    let place = Place::new();
    let task = |user: &str, text: &str| place.enqueue(&["-u", user, "--", "sh", "-ec", text]);
    let blocked = task("alice", "\"$LUZIA\" await response");
    let parked = task("bob", "\"$LUZIA\" await document --expect 2 --park");
    place.ok(&["emit", "DOCUMENT_UPLOADED", "--task", &parked]);
    let delays = ["", "--park"]
        .map(|mode| task(mode.get(2..).unwrap_or("d"), &format!("\"$LUZIA\" await delay --for 700ms {mode}")));
    let ran = place.ok(&["dispatch", "--drain"]);
    delays.iter().for_each(|id| assert!(ran.out.contains(id.as_str()) && place.status(id) == "completed", "{ran:?}"));
    assert_eq!((place.status(&blocked), place.status(&parked)), ("waiting".into(), "waiting".into()), "{ran:?}");
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &blocked]);
    place.until_status(&blocked, "completed");
}

/// The end of its time is no event that somebody must send: what the wait is followed by belongs to the drain.
#[test]
fn a_drain_goes_on_with_a_task_whose_wait_has_run_out() {
    let place = Place::new();
    let text = "\"$LUZIA\" await response --park --timeout 1s --on-timeout continue; sleep 0.3";
    let late = place.enqueue(&["-u", "bob", "--", "sh", "-c", text]);
    place.ok(&["dispatch", "--drain"]);
    let begin = std::time::Instant::now();
    until("its time is over", || (begin.elapsed().as_millis() > 1100).then_some(()));
    place.ok(&["dispatch", "--drain"]);
    assert_eq!(place.status(&late), "completed");
}

#[test]
fn a_drain_brings_a_family_to_its_end() {
    let place = Place::new();
    let text = |mode: &str| {
        format!("\"$LUZIA\" step ask -- \"$LUZIA\" enqueue -- sh -c 'sleep 0.2'; \"$LUZIA\" await agent {mode}")
    };
    let parents =
        ["", "--park"].map(|mode| place.enqueue(&["-u", &format!("u{mode}"), "--", "sh", "-ec", &text(mode)]));
    place.ok(&["dispatch", "--drain"]);
    parents.iter().for_each(|id| assert_eq!(place.status(id), "completed"));
}

/// Each task of the schedule lasts longer than the time to its next one.
#[test]
fn a_drain_ends_although_a_schedule_goes_on() {
    let place = Place::new();
    place.ok(&["cron", "add", "tick", "* * * * * *", "--overlap", "queue", "-u", "a", "--", "sleep", "1.3"]);
    let id = place.enqueue(&["-u", "b", "--", "sleep", "2.5"]);
    place.ok(&["dispatch", "--drain"]);
    assert_eq!(place.status(&id), "completed");
    assert!(place.ok(&["list", "-a", "-o", "name"]).out.lines().count() > 1, "the schedule has made tasks");
    place.ok(&["cron", "rm", "tick"]);
}

#[test]
fn a_wait_that_does_not_read_keeps_no_drain_from_its_end() {
    let place = Place::new();
    let parked = place.enqueue(&["-u", "bob", "--", "sh", "-ec", "\"$LUZIA\" await response --park"]);
    place.ok(&["dispatch", "--drain"]);
    let waits = place.state().join(format!("spool/steps/{}/waits.json", &parked[5..]));
    assert!(waits.exists());
    std::fs::write(waits, "{").unwrap();
    let next = place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["dispatch", "--drain"]);
    assert_eq!(place.status(&next), "completed");
}
