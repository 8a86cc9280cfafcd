//! Ids, records, order, keys, timers, rules.

use super::{accepted, alice, over_a_store, task};
use luzia::model::{Priority, TaskId, Tier, Timer};
use luzia::store::{Place, Removed, StoreError};
use std::collections::BTreeSet;

#[test]
fn no_id_is_given_twice() {
    over_a_store(|here, there| {
        let mut given = BTreeSet::new();
        for count in [1, 3, 1, 1100, 2] {
            for site in [here, there] {
                let TaskId(first) = site.store.reserve_ids(count).unwrap();
                for id in first..first + count {
                    assert!(given.insert(id), "{id} was given before");
                }
            }
        }
    });
}

#[test]
fn what_is_accepted_is_found_by_every_process_as_it_was_given() {
    over_a_store(|here, there| {
        let [one, two] = accepted(&here.store, 2, |_, _| {})[..] else { panic!("two") };
        for id in [one, two] {
            assert_eq!(there.store.find(id).unwrap(), Some((Place::Pending, task(id))));
            assert_eq!(there.store.place_of(id).unwrap(), Some(Place::Pending));
        }
        assert_eq!(there.store.find(TaskId(two.0 + 1)).unwrap(), None);
        let listed: Vec<TaskId> = there.store.pending_tasks(None).unwrap().map(|task| task.unwrap().id).collect();
        assert_eq!(listed, [one, two], "in the order of their numbers");
        assert_eq!(there.store.pending_tasks(Some(&alice())).unwrap().count(), 2);
        assert!(!there.store.is_queue_empty().unwrap());
    });
}

#[test]
fn a_task_whose_number_is_taken_changes_nothing() {
    over_a_store(|here, there| {
        let [id] = accepted(&here.store, 1, |_, _| {})[..] else { panic!("one") };
        let other = luzia::model::Task { command: vec!["false".into()], ..task(id) };
        assert!(there.store.accept(&[other], None).is_err());
        assert_eq!(here.store.find(id).unwrap(), Some((Place::Pending, task(id))));
    });
}

#[test]
fn the_head_of_a_queue_is_the_most_urgent_and_then_the_first() {
    over_a_store(|here, _| {
        let store = &here.store;
        let urgent = Priority::new(4).unwrap();
        let ids = accepted(store, 3, |n, task| {
            if n == 2 {
                task.priority = urgent;
            }
        });
        let lanes = store.lanes_with_work().unwrap();
        let (tier, queues) = lanes.iter().find(|(_, queues)| !queues.is_empty()).unwrap();
        let (queue, best) = queues.iter().next().unwrap();
        assert_eq!((*tier, *best), (Tier::Normal, urgent));
        for expected in [ids[2], ids[0], ids[1]] {
            let head = store.head(*tier, queue).unwrap().unwrap();
            assert_eq!(head.id, expected);
            assert_eq!(store.peek(&head).map(|task| task.id), Some(expected));
            super::runs::finish(here, &head);
        }
        assert_eq!(store.head(*tier, queue).unwrap().map(|head| head.id), None);
        assert!(store.is_queue_empty().unwrap());
    });
}

#[test]
fn a_task_is_taken_by_one_process_at_a_time() {
    over_a_store(|here, there| {
        let [id] = accepted(&here.store, 1, |_, _| {})[..] else { panic!("one") };
        let Removed::Taken(found, lock) = here.store.take_pending(id).unwrap() else { panic!("nobody has it") };
        assert_eq!(*found, task(id));
        assert!(matches!(there.store.take_pending(id).unwrap(), Removed::Busy));
        here.store.let_go(id, lock).unwrap();
        let Removed::Taken(_, lock) = there.store.take_pending(id).unwrap() else { panic!("it was let go") };
        there.store.let_go(id, lock).unwrap();
        assert_eq!(here.store.place_of(id).unwrap(), Some(Place::Pending));
    });
}

#[test]
fn a_key_has_the_tasks_that_it_was_given_to_and_one_process_inside() {
    over_a_store(|here, there| {
        let mut slot = here.store.enter_key("nightly").unwrap();
        assert_eq!(slot.holders().unwrap(), []);
        slot.assign(&[TaskId(7)]).unwrap();
        slot.assign(&[TaskId(9), TaskId(7)]).unwrap();
        drop(slot);
        let mut slot = there.store.enter_key("nightly").unwrap();
        assert_eq!(slot.holders().unwrap(), [TaskId(9), TaskId(7)]);
        slot.note(&[]).unwrap();
        assert_eq!(slot.holders().unwrap(), []);
        assert_eq!(there.store.enter_key("weekly").unwrap().holders().unwrap(), [], "another key is free");
    });
}

#[test]
fn timers_are_told_when_they_are_due_and_until_they_are_cleared() {
    over_a_store(|here, there| {
        let now = here.host.now();
        let (early, late) = (now.plus_ms(-1000), now.plus_ms(3_600_000));
        for _ in 0..2 {
            here.store.set_timer(&Timer::of(TaskId(1), early)).unwrap();
            here.store.set_timer(&Timer::of(TaskId(2), late)).unwrap();
        }
        let timers = there.store.timers(now).unwrap();
        assert_eq!((timers.due.len(), timers.next), (1, Some(late)));
        assert!(there.store.is_timer_due().unwrap());
        assert_eq!(there.store.timers(late).unwrap().due.len(), 2, "at its very moment it is due");
        for _ in 0..2 {
            there.store.clear_timer(&Timer::of(TaskId(1), early)).unwrap();
        }
        assert!(!here.store.is_timer_due().unwrap());
        assert_eq!(here.store.timers(now).unwrap().next, Some(late));
    });
}

#[test]
fn a_dependency_is_told_until_it_is_cleared() {
    over_a_store(|here, there| {
        for _ in 0..2 {
            here.store.mark_after(TaskId(5), TaskId(2)).unwrap();
        }
        here.store.mark_after(TaskId(6), TaskId(2)).unwrap();
        let mut all = there.store.dependencies().unwrap();
        all.iter_mut().for_each(|(_, waiting)| waiting.sort());
        assert_eq!(all, [(TaskId(2), vec![TaskId(5), TaskId(6)])]);
        for id in [5, 6, 6] {
            there.store.clear_after(TaskId(id), TaskId(2)).unwrap();
        }
        assert_eq!(here.store.dependencies().unwrap(), []);
    });
}

#[test]
fn a_change_of_the_rules_is_whole_or_refused() {
    over_a_store(|here, there| {
        let refused: Result<(), StoreError> = here.store.change_control(|control| {
            control.lanes.insert("thread:7".into(), Default::default());
            Err(StoreError::Absent { thing: "refused".into() })
        });
        assert!(matches!(refused, Err(StoreError::Absent { .. })), "the error is the caller's own");
        assert!(there.store.control().unwrap().lanes.is_empty());
        let given: Result<u8, StoreError> = here.store.change_control(|control| {
            control.lanes.insert("thread:7".into(), Default::default());
            Ok(5)
        });
        assert_eq!(given.unwrap(), 5);
        assert_eq!(there.store.control().unwrap().lanes.len(), 1);
    });
}

#[test]
fn the_ledger_is_changed_by_what_stood_in_it() {
    over_a_store(|here, there| {
        for expected in [None, Some("x"), Some("xx")] {
            here.store
                .update_ledger(&mut |text| {
                    assert_eq!(text, expected);
                    Some(format!("{}x", text.unwrap_or_default()))
                })
                .unwrap();
        }
        assert_eq!(there.store.ledger().unwrap().as_deref(), Some("xxx"));
    });
}
