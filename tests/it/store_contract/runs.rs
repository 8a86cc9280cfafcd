//! Claims, starts, ends.

use super::{accepted, given_up, holders, lane, lease, over_a_store, request, task};
use luzia::model::{LockKind, Task, TaskId};
use luzia::policy::line::has_turn;
use luzia::policy::outcome::{Happened, conclude};
use luzia::policy::staleness::judge;
use luzia::store::{CancelRequest, Claim, Claimed, Denial, Ending, Head, Hold, Judges, Place, Site, Started};

/// The head of the only queue.
fn head(site: &Site) -> Head {
    let lanes = site.store.lanes_with_work().unwrap();
    let (tier, queue) = lanes.iter().find_map(|(tier, queues)| Some((*tier, queues.keys().next()?))).unwrap();
    site.store.head(tier, queue).unwrap().unwrap()
}

fn claim(site: &Site, head: &Head) -> Claim {
    let judges = Judges { lock: judge, turn: has_turn };
    let asked = |task: &Task| request(&task.id.to_string(), LockKind::Task, &task.all_lanes(), site.host.identity());
    site.store.claim(head, &|_| true, &asked, judges).unwrap()
}

fn claimed(site: &Site, head: &Head) -> Claimed {
    match claim(site, head) {
        Claim::Claimed(claimed) => *claimed,
        _ => panic!("nobody else has {}", head.id),
    }
}

fn started(site: &Site) -> Started {
    Started {
        start: 1,
        at: site.host.now(),
        supervisor: site.host.identity(),
        origin: site.host.own_origin(),
        state_dir: None,
        root: None,
        group: None,
        lock_id: "lock".into(),
        fence: 1,
        slots: Default::default(),
    }
}

/// Ends a run of a claimed task as a supervisor does. Gives the tasks that waited for it.
fn end(site: &Site, claimed: Claimed, happened: &Happened) -> (Ending, Vec<TaskId>) {
    let (id, lanes) = (claimed.task.id, claimed.task.all_lanes());
    let file = site.store.record_start(id, &started(site)).unwrap();
    let ending = Ending::of(conclude(&claimed.task, happened, site.host.now(), Some(1)));
    site.store.record_ending(&ending, Some(file)).unwrap();
    site.store.release_task(id, &lanes, &claimed.grants).unwrap();
    let dependents = site.store.settle(&ending, claimed.lock).unwrap();
    (ending, dependents)
}

/// Claims a head and brings it to a good end.
pub(super) fn finish(site: &Site, head: &Head) {
    end(site, claimed(site, head), &Happened::Exited(0));
}

fn hold(site: &Site, id: TaskId) -> Option<Hold> {
    site.run_dir.take_supervisor_lock(id).unwrap()
}

#[test]
fn a_task_is_claimed_once_with_all_its_lanes() {
    over_a_store(|here, there| {
        let [id] = accepted(&here.store, 1, |_, _| {})[..] else { panic!("one") };
        let head = head(there);
        let ours = claimed(here, &head);
        assert_eq!((ours.task.id, ours.grants.len()), (id, ours.task.all_lanes().len()));
        assert_eq!(there.store.place_of(id).unwrap(), Some(Place::Running));
        assert!(matches!(claim(there, &head), Claim::Lost));
        for text in ["user:alice", "thread:7"] {
            assert_eq!(holders(&there.store, text), ["task_1"], "{text}");
        }
        assert!(there.run_dir.is_supervised(id).unwrap());
    });
}

#[test]
fn a_claim_that_meets_a_held_lane_or_is_refused_changes_nothing() {
    over_a_store(|here, there| {
        let [id] = accepted(&here.store, 1, |_, _| {})[..] else { panic!("one") };
        lease(there, "somebody", &["thread:7"]);
        let head = head(here);
        assert!(matches!(claim(here, &head), Claim::Denied(_, Denial::Held(_))));
        let judges = Judges { lock: judge, turn: has_turn };
        let asked = |task: &Task| request("x", LockKind::Task, &task.all_lanes(), here.host.identity());
        assert!(matches!(here.store.claim(&head, &|_| false, &asked, judges).unwrap(), Claim::Refused(_)));
        assert_eq!(here.store.find(id).unwrap(), Some((Place::Pending, task(id))));
        assert_eq!(holders(&here.store, "user:alice"), [""; 0]);
        assert_eq!(holders(&here.store, "thread:7"), ["somebody"]);
        assert!(!here.run_dir.is_supervised(id).unwrap());
    });
}

#[test]
fn a_run_that_ended_is_over_and_tells_who_waited() {
    over_a_store(|here, there| {
        let [id] = accepted(&here.store, 1, |_, _| {})[..] else { panic!("one") };
        here.store.mark_after(TaskId(99), id).unwrap();
        let (ending, dependents) = end(here, claimed(here, &head(here)), &Happened::Exited(0));
        assert!(matches!(ending, Ending::Over(_)));
        assert_eq!(dependents, [TaskId(99)]);
        let (place, over) = there.store.find(id).unwrap().unwrap();
        assert_eq!((place, over.outcome().is_some()), (Place::Done, true));
        assert!(there.store.started(id).unwrap().is_none());
        assert_eq!(there.store.in_flight().unwrap(), []);
        assert_eq!(there.store.done_since("2000-01-01").unwrap(), [id]);
        // Once more, as after a crash behind the last step but one.
        let lock = hold(there, id).unwrap();
        assert_eq!(there.store.settle(&ending, lock).unwrap(), [TaskId(99)]);
        assert_eq!(there.store.find(id).unwrap().map(|(place, _)| place), Some(Place::Done));
    });
}

#[test]
fn a_run_that_is_tried_again_is_queued_with_its_attempt_spent() {
    over_a_store(|here, there| {
        let [id] = accepted(&here.store, 1, |_, task| task.retries = 1)[..] else { panic!("one") };
        let (ending, _) = end(here, claimed(here, &head(here)), &Happened::Exited(3));
        assert!(matches!(ending, Ending::Requeued(_)));
        let (place, again) = there.store.find(id).unwrap().unwrap();
        assert_eq!((place, again.failures), (Place::Parked, 1), "it waits for its back-off");
        assert_eq!(there.store.in_flight().unwrap(), []);
    });
}

#[test]
fn a_recorded_end_is_found_by_the_process_that_recovers() {
    over_a_store(|here, there| {
        let [id] = accepted(&here.store, 1, |_, _| {})[..] else { panic!("one") };
        let ours = claimed(here, &head(here));
        assert!(there.store.find_abandoned(id).unwrap().is_none(), "somebody has it");
        here.store.record_start(id, &started(here)).unwrap();
        assert_eq!(there.store.started(id).unwrap().flatten().map(|start| start.start), Some(1));
        let ending = Ending::of(conclude(&ours.task, &Happened::Exited(0), here.host.now(), Some(1)));
        here.store.record_ending(&ending, None).unwrap();
        assert_eq!(there.store.unsupervised().unwrap(), []);
        drop(ours);
        given_up(|| (there.store.unsupervised().unwrap() == [id]).then_some(()));
        let found = there.store.find_abandoned(id).unwrap().unwrap();
        assert!(found.is_started && found.ending == Some(ending) && found.place == Some(Place::Running));
    });
}

#[test]
fn a_request_to_cancel_reaches_the_run_and_goes_with_it() {
    over_a_store(|here, there| {
        let [id] = accepted(&here.store, 1, |_, _| {})[..] else { panic!("one") };
        let asked = CancelRequest { by: "bob".into(), reason: None, grace_ms: Some(5), requeue: false };
        assert!(!there.store.request_cancel(id, &asked).unwrap(), "nothing runs");
        let ours = claimed(here, &head(here));
        assert!(there.store.request_cancel(id, &asked).unwrap());
        assert_eq!(here.store.cancel_request(id).unwrap(), Some(asked));
        end(here, ours, &Happened::Exited(0));
        assert_eq!(there.store.cancel_request(id).unwrap(), None);
        assert_eq!(holders(&there.store, &lane("thread:7").to_string()), [""; 0]);
    });
}
