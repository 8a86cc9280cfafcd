//! `cron`: schedules make one task a slot, whichever process looks, whenever, and whatever is killed.

mod clock_changes;
mod commands;
mod delays;
mod missed;
mod zones;

use crate::support::Place;
use luzia::app::accounts::Accounts;
use luzia::app::cron::ScheduleRow;
use luzia::app::queue::enqueue::Caller;
use luzia::app::{App, AppError, Settings};
use luzia::model::calendar::Overlap;
use luzia::model::task::Environment;
use luzia::model::{Config, Status, Task, Timestamp};
use luzia::os::Clock;
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::request::{ScheduleRequest, TaskRequest};
use luzia::store::Spool;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// A wall clock that a test sets, and a boot clock that it sets ahead.
struct SetClock(AtomicI64, AtomicU64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
    fn boot_ms(&self) -> u64 {
        RealClock.boot_ms() + self.1.load(Ordering::SeqCst)
    }
    fn boot_id(&self) -> String {
        RealClock.boot_id()
    }
    fn sleep(&self, time: Duration) {
        RealClock.sleep(time);
    }
}

/// luzia in a place, by a clock that the test sets. Nothing is started.
struct Timed {
    place: Place,
    clock: Arc<SetClock>,
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn caller() -> Caller {
    Caller {
        env: Environment::default(),
        cwd: Ok("/".into()),
        umask: 0o022,
        accounts: Accounts::new(|| Ok("a".to_owned())),
        pid: 1,
    }
}

impl Timed {
    fn new(now: &str) -> Self {
        Self { place: Place::new(), clock: Arc::new(SetClock(AtomicI64::new(at(now).0), AtomicU64::new(0))) }
    }

    fn set(&self, now: &str) {
        self.clock.0.store(at(now).0, Ordering::SeqCst);
    }

    /// A process of its own.
    fn app(&self) -> App {
        let files = RealFiles::open_at(self.place.state().to_str().unwrap(), true).unwrap().unwrap();
        let mut app = App::new(
            Spool::new(Arc::new(files), self.clock.clone(), Arc::new(RealProcesses)),
            Settings::fixed(Config::default()),
        );
        app.zone_name = || Some("Europe/Berlin".to_owned());
        luzia::app::config_reload::follow_control(&app).unwrap();
        app
    }

    fn add(&self, new: ScheduleRequest) -> Result<ScheduleRow, AppError> {
        let task = TaskRequest { user: Some("a".into()), command: vec!["true".into()], ..new.task };
        luzia::app::cron::cron_add(&self.app(), &ScheduleRequest { task, ..new }, &caller())
    }

    /// What any command does that lets timers fire, in a process of its own, at a moment.
    fn look(&self, now: &str) {
        self.set(now);
        assert_eq!(luzia::app::pass::wake::fire_timers(&self.app()), Vec::<String>::new());
    }

    fn tasks(&self) -> Vec<Task> {
        let mut tasks: Vec<Task> = self.app().store.pending_tasks(None).unwrap().map(Result::unwrap).collect();
        tasks.extend(self.app().store.parked_tasks().unwrap().map(Result::unwrap));
        tasks.sort_by_key(|task| task.id);
        tasks
    }

    fn slots(&self) -> Vec<String> {
        self.tasks().iter().map(|task| task.schedule.as_ref().unwrap().slot.to_string()).collect()
    }

    fn row(&self, name: &str) -> ScheduleRow {
        luzia::app::cron::cron_list(&self.app())
            .unwrap()
            .rows
            .into_iter()
            .find(|row| row.schedule.name.as_str() == name)
            .unwrap()
    }
}

fn daily(name: &str) -> ScheduleRequest {
    ScheduleRequest { name: name.into(), expression: "0 9 * * *".into(), ..ScheduleRequest::default() }
}

/// S2.14.
#[test]
fn a_daily_schedule_makes_one_task_at_nine() {
    let timed = Timed::new("2082-11-24T07:00:00Z");
    let row = timed.add(ScheduleRequest { overlap: Some(Overlap::Queue), ..daily("standup") }).unwrap();
    assert_eq!(row.zone.text(row.schedule.next.unwrap()), "2082-11-24 09:00 +01:00 (Europe/Berlin)");
    timed.look("2082-11-24T07:59:59.999Z");
    assert_eq!(timed.slots(), Vec::<String>::new());
    for _ in 0..3 {
        timed.look("2082-11-24T08:00:00Z");
        assert_eq!(timed.slots(), ["2082-11-24T08:00:00.000Z"]);
    }
    let task = timed.tasks().remove(0);
    assert_eq!((task.status(), task.user.as_str(), &*task.command), (Status::Pending, "a", &["true".to_owned()][..]));
    assert_eq!((task.schedule.unwrap().schedule.as_str(), task.created_at), ("standup", at("2082-11-24T08:00:00Z")));
    timed.look("2082-11-25T08:00:01Z");
    assert_eq!(timed.slots().len(), 2);
    assert_eq!(timed.row("standup").schedule.next, Some(at("2082-11-26T08:00:00Z")));
}

#[test]
fn a_slot_in_a_gap_makes_one_task_after_it_and_one_in_a_fold_makes_one() {
    let timed = Timed::new("2082-03-28T12:00:00Z");
    let line = ScheduleRequest { expression: "30 2 * * *".into(), overlap: Some(Overlap::Queue), ..daily("night") };
    timed.add(line).unwrap();
    timed.look("2082-03-29T00:59:59Z");
    assert_eq!(timed.slots(), Vec::<String>::new());
    timed.look("2082-03-29T01:00:00Z");
    timed.look("2082-03-29T12:00:00Z");
    assert_eq!(timed.slots(), ["2082-03-29T01:00:00.000Z"]);
    timed.look("2082-10-24T12:00:00Z");
    let before = timed.slots().len();
    for minute in ["00:30", "00:59", "01:30", "01:31", "02:30"] {
        timed.look(&format!("2082-10-25T{minute}:00Z"));
    }
    assert_eq!(timed.slots()[before..], ["2082-10-25T00:30:00.000Z"]);
}

/// The clock shows 02:30 twice that night. The schedule is added after the first. An hourly line counts real hours.
#[test]
fn a_line_that_is_added_within_a_fold_has_had_its_slot_and_hours_go_on() {
    let timed = Timed::new("2082-10-25T00:45:00Z");
    timed
        .add(ScheduleRequest { expression: "30 2 * * *".into(), overlap: Some(Overlap::Queue), ..daily("night") })
        .unwrap();
    timed
        .add(ScheduleRequest { expression: "30 * * * *".into(), overlap: Some(Overlap::Queue), ..daily("hours") })
        .unwrap();
    for minute in ["01:29", "01:30", "01:45", "02:30"] {
        timed.look(&format!("2082-10-25T{minute}:00Z"));
    }
    assert_eq!(timed.slots(), ["2082-10-25T01:30:00.000Z", "2082-10-25T02:30:00.000Z"]);
    assert_eq!(timed.row("night").schedule.next, Some(at("2082-10-26T01:30:00Z")));
}

#[test]
fn queued_slots_make_a_task_each_although_the_former_is_not_over() {
    let timed = Timed::new("2082-11-24T07:00:00Z");
    timed.add(ScheduleRequest { overlap: Some(Overlap::Queue), ..daily("queues") }).unwrap();
    for day in [24, 25, 26] {
        timed.look(&format!("2082-11-{day}T08:00:00Z"));
    }
    assert_eq!(timed.slots().len(), 3);
    assert_eq!(timed.row("queues").schedule.skipped, None);
}

#[test]
fn of_missed_slots_the_last_is_made_and_with_a_time_to_fill_all_within_it() {
    let timed = Timed::new("2082-11-20T12:00:00Z");
    timed.add(daily("one")).unwrap();
    let fill = ScheduleRequest { fill: Some("2d".into()), ..daily("all") };
    timed.add(fill).unwrap();
    let monthly = ScheduleRequest { expression: "0 9 21 * *".into(), ..daily("month") };
    timed.add(monthly).unwrap();
    timed.look("2082-11-24T12:00:00Z");
    let made: Vec<(String, String)> = timed
        .tasks()
        .iter()
        .map(|task| task.schedule.clone().unwrap())
        .map(|of| (of.schedule.to_string(), of.slot.to_string()[..10].to_owned()))
        .collect();
    let own = |name: &str| made.iter().filter(|(of, _)| of == name).map(|(_, day)| day.as_str()).collect::<Vec<_>>();
    assert_eq!(own("one"), ["2082-11-24"]);
    assert_eq!(own("all"), ["2082-11-23", "2082-11-24"]);
    assert_eq!(own("month"), ["2082-11-21"]);
    assert_eq!(timed.row("month").schedule.next, Some(at("2082-12-21T08:00:00Z")));
}

#[test]
fn a_slot_is_passed_over_while_the_former_task_is_not_over_unless_slots_are_queued() {
    let timed = Timed::new("2082-11-24T07:00:00Z");
    timed.add(daily("skips")).unwrap();
    timed.look("2082-11-24T08:00:00Z");
    timed.look("2082-11-25T08:00:00Z");
    assert_eq!(timed.slots(), ["2082-11-24T08:00:00.000Z"]);
    assert_eq!(timed.row("skips").schedule.skipped, Some(at("2082-11-25T08:00:00Z")));
    let id = timed.tasks()[0].id.to_string();
    timed.place.ok(&["cancel", &id]);
    timed.look("2082-11-26T08:00:00Z");
    assert_eq!(timed.slots(), ["2082-11-26T08:00:00.000Z"]);
}

#[test]
fn many_that_look_at_once_make_one_task_a_slot() {
    let timed = Arc::new(Timed::new("2082-11-24T07:59:00Z"));
    for number in 0..5 {
        let every = ScheduleRequest { expression: "* * * * *".into(), overlap: Some(Overlap::Queue), ..daily("") };
        timed.add(ScheduleRequest { name: format!("s{number}"), ..every }).unwrap();
    }
    for minute in 0..4 {
        timed.set(&format!("2082-11-24T08:0{minute}:00Z"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let timed = Arc::clone(&timed);
                scope.spawn(move || drop(luzia::app::pass::wake::fire_timers(&timed.app())));
            }
        });
        luzia::app::pass::wake::fire_timers(&timed.app());
    }
    let mut slots: Vec<String> = timed
        .tasks()
        .iter()
        .map(|task| task.schedule.clone().unwrap())
        .map(|of| format!("{} {}", of.schedule, of.slot))
        .collect();
    let all = slots.len();
    slots.sort();
    slots.dedup();
    assert_eq!((all, slots.len()), (20, 20));
}

#[test]
fn a_bad_schedule_is_set_aside_and_stops_no_other() {
    let timed = Timed::new("2082-11-24T07:00:00Z");
    for name in ["bad", "good", "newer"] {
        timed.add(daily(name)).unwrap();
    }
    let file = |name: &str| timed.place.state().join(format!("spool/schedules/{name}.json"));
    std::fs::write(file("bad"), "{\"v\":1,").unwrap();
    let newer = std::fs::read_to_string(file("newer")).unwrap().replace("\"v\":1", "\"v\":2");
    std::fs::write(file("newer"), &newer).unwrap();
    timed.set("2082-11-24T08:00:00Z");
    let wrong = luzia::app::pass::wake::fire_timers(&timed.app());
    assert!(wrong.len() == 1 && wrong[0].contains("bad.json"), "{wrong:?}");
    assert_eq!(timed.tasks().len(), 1);
    assert!(!file("bad").exists());
    assert_eq!(std::fs::read_to_string(file("newer")).unwrap(), newer);
    assert!(timed.place.state().join("spool/corrupt/spool_schedules_bad.json").exists());
    assert_eq!(luzia::app::cron::cron_list(&timed.app()).unwrap().broken.len(), 1);
}

#[test]
fn a_schedule_is_replaced_and_the_old_one_makes_no_more_tasks() {
    let timed = Timed::new("2082-11-24T07:00:00Z");
    timed.add(daily("x")).unwrap();
    let error = timed.add(daily("x")).unwrap_err();
    assert_eq!(error.code().word(), "NAME_TAKEN");
    let later = ScheduleRequest { expression: "0 10 * * *".into(), replace: true, ..daily("x") };
    timed.add(later).unwrap();
    timed.look("2082-11-24T08:30:00Z");
    assert_eq!(timed.slots(), Vec::<String>::new());
    timed.look("2082-11-24T09:30:00Z");
    assert_eq!(timed.slots(), ["2082-11-24T09:00:00.000Z"]);
    luzia::app::cron::cron_rm(&timed.app(), "x").unwrap();
    timed.look("2082-11-25T09:30:00Z");
    assert_eq!(timed.slots().len(), 1);
}

/// A `cron add` that was killed before its schedule stood leaves a timer; one of a schedule that was removed by hand, too.
#[test]
fn a_timer_without_a_schedule_goes_away() {
    let timed = Timed::new("2082-11-24T07:00:00Z");
    timed.add(daily("x")).unwrap();
    std::fs::remove_file(timed.place.state().join("spool/schedules/x.json")).unwrap();
    timed.look("2082-11-24T08:00:00Z");
    assert_eq!(
        crate::harness::files_below(&timed.place.state().join("spool/timers")),
        Vec::<std::path::PathBuf>::new()
    );
}

#[test]
fn a_schedule_goes_on_while_its_tasks_wait_for_more_slots_than_there_are() {
    let timed = Timed::new("2082-11-24T07:00:00Z");
    let set = |max: &str| timed.place.ok(&["lanes", "set", "build", "--max", max]);
    let slots = |name: &str, overlap| {
        let task = TaskRequest { lanes: vec!["build".into()], slots: Some(3), ..TaskRequest::default() };
        ScheduleRequest { task, overlap: Some(overlap), ..daily(name) }
    };
    set("2");
    assert_eq!(timed.add(slots("early", Overlap::Queue)).unwrap_err().code().word(), "TOO_FEW_SLOTS");
    set("3");
    timed.add(slots("all", Overlap::Queue)).unwrap();
    timed.add(slots("one", Overlap::Skip)).unwrap();
    set("2");
    timed.look("2082-11-24T08:00:00Z");
    timed.look("2082-11-25T08:00:00Z");
    let tasks = timed.tasks();
    assert_eq!(tasks.len(), 3, "two of the one schedule, one of the other");
    for task in &tasks {
        let why = timed.place.json(&["explain", &task.id.to_string()])["reasons"][0].clone();
        assert_eq!(
            (&why["reason"], &why["needed"], &why["max"]),
            (&"TooFewSlots".into(), &3.into(), &2.into()),
            "{why}"
        );
    }
    assert_eq!(timed.row("all").schedule.next, Some(at("2082-11-26T08:00:00Z")));
    assert_eq!(timed.row("one").schedule.next, Some(at("2082-11-26T08:00:00Z")));
    set("3");
    timed.place.drain();
    assert!(tasks.iter().all(|task| timed.place.status(&task.id.to_string()) == "completed"));
}
