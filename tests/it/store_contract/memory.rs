//! What tasks remember, schedules, and the journal.

use super::{given_up, over_a_store};
use luzia::model::{Name, ScheduleKey, TaskId, Timer};
use luzia::store::{Event, Mail, StepRecord, StoreError};

const ID: TaskId = TaskId(4);

fn mail(event: &str) -> Mail {
    Mail { event: event.into(), ..Mail::default() }
}

#[test]
fn mail_is_numbered_in_its_order_and_a_refused_one_is_not_there() {
    over_a_store(|here, there| {
        let yes = || Ok::<(), StoreError>(());
        assert_eq!(here.store.deliver(ID, mail("ONE"), yes).unwrap(), 1);
        assert_eq!(there.store.deliver(ID, mail("TWO"), yes).unwrap(), 2);
        let refused = here.store.deliver(ID, mail("THREE"), || Err(StoreError::Absent { thing: "no".into() }));
        assert!(matches!(refused, Err(StoreError::Absent { .. })));
        let is_same = |known: &Mail| known.event == "TWO";
        assert_eq!(here.store.deliver_once(ID, mail("TWO"), &is_same).unwrap(), None, "it is told once");
        assert_eq!(here.store.deliver_once(ID, mail("FOUR"), &|known| known.event == "FOUR").unwrap(), Some(3));
        assert_eq!(there.store.mail_numbers(ID).unwrap(), [1, 2, 3]);
        let events: Vec<String> = (1..=3).map(|n| there.store.mail(ID, n).unwrap().unwrap().event).collect();
        assert_eq!(events, ["ONE", "TWO", "FOUR"]);
        assert_eq!(there.store.mail(ID, 4).unwrap(), None);
    });
}

#[test]
fn variables_change_together_or_not_at_all() {
    over_a_store(|here, there| {
        let set = |name: &'static str, fails: bool| {
            here.store.change_vars::<StoreError>(ID, |vars| {
                vars.insert(name.into(), name.into());
                if fails { Err(StoreError::Absent { thing: "no".into() }) } else { Ok(()) }
            })
        };
        assert_eq!(set("a", false).unwrap().value.len(), 1);
        assert!(set("b", true).is_err());
        let names: Vec<String> = there.store.vars(ID).unwrap().value.into_keys().collect();
        assert_eq!(names, ["a"]);
        assert!(there.store.vars(TaskId(5)).unwrap().value.is_empty(), "another task has its own");
    });
}

#[test]
fn a_step_is_recorded_once() {
    over_a_store(|here, there| {
        let step = |code| StepRecord { name: "build".into(), exit_code: code, start: 1, ..StepRecord::default() };
        assert!(here.store.record_step(ID, step(0)).unwrap());
        assert!(!there.store.record_step(ID, step(1)).unwrap());
        assert_eq!(there.store.step(ID, "build").unwrap().map(|step| step.exit_code), Some(0));
        assert_eq!(there.store.steps_done(ID).unwrap().len(), 1);
        assert!(there.store.has_steps(ID).unwrap());
        there.store.forget_steps(ID).unwrap();
        assert_eq!(here.store.step(ID, "build").unwrap(), None);
    });
}

#[test]
fn one_process_at_a_time_runs_a_step() {
    over_a_store(|here, there| {
        let lock = here.store.lock_step(ID, "build").unwrap();
        assert!(lock.is_some());
        assert!(there.store.lock_step(ID, "build").unwrap().is_none());
        assert!(there.store.lock_step(ID, "test").unwrap().is_some(), "another step");
        drop(lock);
        given_up(|| there.store.lock_step(ID, "build").unwrap());
    });
}

#[test]
fn schedules_change_under_one_lock_and_their_timers_are_told() {
    over_a_store(|here, there| {
        let book = here.store.enter_schedules().unwrap();
        assert!(there.store.try_schedules().unwrap().is_none());
        drop(book);
        given_up(|| there.store.try_schedules().unwrap());
        let (key, at) = (ScheduleKey::of(&Name::new("nightly").unwrap()), here.host.now().plus_ms(-1000));
        let timer = Timer::of(&key, at);
        for _ in 0..2 {
            here.store.set_timer(&timer).unwrap();
        }
        assert!(there.store.has_timer(&timer).unwrap());
        assert_eq!(there.store.timers(here.host.now()).unwrap().schedules, [(key, at)]);
        for _ in 0..2 {
            there.store.clear_timer(&timer).unwrap();
        }
        assert!(!here.store.has_timer(&timer).unwrap());
        assert!(here.store.schedules().unwrap().is_empty());
    });
}

#[test]
fn events_are_read_by_those_that_follow_and_by_time() {
    over_a_store(|here, there| {
        let mut reader = there.store.follow_events().unwrap();
        let since = here.host.now();
        here.store.note(&Event::new("lane_set"));
        here.store.note_all(&mut [Event::new("lane_unset"), Event::new("gate_shut")].into_iter());
        let mut followed = Vec::new();
        let mut take = |event: luzia::store::ReadEvent| {
            followed.push(event.line["event"].as_str().unwrap_or_default().to_owned());
            true
        };
        there.store.read_on(&mut reader, &mut take).unwrap();
        there.store.read_on(&mut reader, &mut take).unwrap();
        assert_eq!(followed, ["lane_set", "lane_unset", "gate_shut"], "each once, in their order");
        assert_eq!(there.store.events_since(since).unwrap().len(), 3);
        assert!(there.store.events_since(here.host.now().plus_ms(60_000)).unwrap().is_empty());
    });
}
