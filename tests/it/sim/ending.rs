//! The end of a run at the store: it is recorded durably, or nothing is there that could be taken for it.

use super::locks::{prepared, store};
use super::{Env, Sim, spool};
use luzia::model::control::TaskHold;
use luzia::model::{Task, TaskId, Timestamp};
use luzia::os::Open;
use luzia::policy::outcome::{Happened, conclude};
use luzia::store::{Ending, Site, Started, encode_task};
use luzia::supervise::recover;
use std::sync::{Arc, Mutex};

const ID: TaskId = TaskId(1);
const RESULT: &str = "/s/spool/running/1.result.json";
const STARTED: &str = "/s/spool/running/1.started.json";
const EIO: i32 = 5;

/// Records a start and an end; tells whether the end was recorded, when it came to that.
fn start_and_end(env: &Env) -> Option<bool> {
    let Site { host, store, .. } = store(env).into();
    let started = Started {
        start: 1,
        at: host.now(),
        supervisor: host.identity(),
        origin: host.own_origin(),
        state_dir: None,
        root: None,
        group: None,
        lock_id: "task_1_1".into(),
        fence: 1,
        slots: Default::default(),
    };
    let file = store.record_start(ID, &started).ok()?;
    let is_recorded = store.record_ending(&Ending::of(spool::task(ID)), Some(file)).is_ok();
    let (is_there, is_safe) = env
        .look(|world| (world.peek(RESULT).is_some_and(|bytes| !bytes.is_empty()), world.disk.has_safe_bytes(RESULT)))?;
    if is_there != is_recorded || is_recorded && !is_safe {
        env.violation(&format!("recorded: {is_recorded}, there: {is_there}, durably: {is_safe}"));
    }
    Some(is_recorded)
}

/// Lets a process with a running record do something, again and again, while the first, the second … of its operations
/// fails; gives what it told.
fn while_each_fails<T: Send + 'static>(operations: u64, program: fn(&Env) -> Option<T>) -> Vec<T> {
    let told = Arc::new(Mutex::new(Vec::new()));
    for operation in 1..=operations {
        let mut sim = Sim::replay(&[]);
        with_running_record(&mut sim);
        sim.fail_at(operation, EIO);
        let ours = told.clone();
        sim.spawn("supervisor", move |env| ours.lock().unwrap().extend(program(&env)));
        let report = sim.run();
        assert!(report.violations.is_empty(), "operation {operation} fails: {report}");
    }
    std::mem::take(&mut told.lock().unwrap())
}

#[test]
fn an_end_that_could_not_be_recorded_leaves_no_result() {
    let outcomes = while_each_fails(12, start_and_end);
    let failed = outcomes.iter().filter(|is_recorded| !**is_recorded).count();
    assert_eq!(failed, 2, "to write and to sync it can fail: {outcomes:?}");
    assert!(outcomes.contains(&true), "{outcomes:?}");
}

/// The record of the task when it is over.
fn over(env: &Env) -> Ending {
    Ending::of(conclude(&spool::task(ID), &Happened::Exited(0), Site::from(store(env)).host.now(), Some(1)))
}

/// Where it stands then, and whether a power cut can take its bytes.
fn done(env: &Env, task: &Task) -> Option<bool> {
    let day = task.outcome().as_ref()?.completed_at.day();
    let path = format!("/s/spool/done/{day}/1.json");
    env.look(|world| world.peek(&path).map(|_| world.disk.has_safe_bytes(&path)))?
}

fn with_running_record(sim: &mut Sim) {
    prepared(sim);
    let record = encode_task(&spool::task(ID)).expect("a record");
    sim.file("/s/spool/running/1.json", &record).dir("/s/run/1").file("/s/run/1/supervisor.lock", b"");
}

/// Writes a result and goes away when its sync fails, without a word; then recovers the task. Tells where the record is.
fn write_and_recover(env: &Env) -> Option<Option<bool>> {
    let ending = over(env);
    let mut file = env.vfs("/s").open("spool/running/1.result.json", Open::Truncate(0o600)).ok()??;
    let bytes = encode_task(ending.task()).expect("a record");
    if file.write_all(&bytes).is_err() || file.sync_data().is_ok() {
        return None;
    }
    drop(file);
    let store = store(env);
    let abandoned = store.find_abandoned(ID).expect("it reads").expect("nobody has it");
    recover(&store.into(), ID, abandoned, &[]).expect("it ends");
    Some(done(env, ending.task()))
}

/// A later sync would succeed without the bytes.
#[test]
fn a_result_of_which_a_sync_failed_is_written_anew_by_the_process_that_finds_it() {
    assert_eq!(while_each_fails(4, write_and_recover), [Some(true)]);
}

#[test]
fn the_last_copy_of_a_record_stays_when_somebody_took_its_result_away() {
    let left = Arc::new(Mutex::new(None));
    let mut sim = Sim::replay(&[]);
    with_running_record(&mut sim);
    let ours = left.clone();
    sim.spawn("supervisor", move |env| {
        let (site, ending) = (Site::from(store(&env)), over(&env));
        let store = &site.store;
        let lock = site.run_dir.take_supervisor_lock(ID).expect("it reads").expect("nobody has it");
        store.record_ending(&ending, None).expect("it is recorded");
        assert!(env.vfs("/s").unlink("spool/running/1.result.json").expect("it is removed"));
        let settled = store.settle(&ending, lock).is_ok();
        let has_record = env.look(|world| world.peek("/s/spool/running/1.json").is_some());
        *ours.lock().unwrap() = Some((settled, has_record, done(&env, ending.task())));
    });
    let report = sim.run();
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(*left.lock().unwrap(), Some((false, Some(true), None)));
}

/// Records a start. Tells whether it succeeded.
fn start(env: &Env) -> Option<bool> {
    let Site { host, store, .. } = store(env).into();
    let started = Started {
        start: 1,
        at: host.now(),
        supervisor: host.identity(),
        origin: host.own_origin(),
        state_dir: None,
        root: None,
        group: None,
        lock_id: "task_1_1".into(),
        fence: 1,
        slots: Default::default(),
    };
    let is_recorded = store.record_start(ID, &started).is_ok();
    let is_there = env.look(|world| world.peek(STARTED).is_some())?;
    if is_there != is_recorded {
        env.violation(&format!("recorded: {is_recorded}, there: {is_there}"));
    }
    Some(is_recorded)
}

#[test]
fn a_start_that_could_not_be_recorded_is_none() {
    let outcomes = while_each_fails(12, start);
    let failed = outcomes.iter().filter(|is_recorded| !**is_recorded).count();
    assert_eq!(failed, 6, "two files made, two written, two syncs: {outcomes:?}");
}

/// Asks for a pause. Tells whether it was recorded.
fn pause(env: &Env) -> Option<bool> {
    const PAUSE: &str = "/s/run/1/pause.json";
    let hold = TaskHold { since: Timestamp(1), until: None, reason: None, by: None, start_left_ms: None };
    let is_recorded = store(env).request_pause(ID, &hold).is_ok_and(|is_there| is_there);
    let (is_whole, is_safe) = env.look(|world| {
        let is_whole = world.peek(PAUSE).is_none_or(|bytes| bytes.ends_with(b"}"));
        (is_whole, world.disk.has_safe_bytes(PAUSE))
    })?;
    if !is_whole || is_recorded && !is_safe {
        env.violation(&format!("recorded: {is_recorded}, whole: {is_whole}, durably: {is_safe}"));
    }
    Some(is_recorded)
}

#[test]
fn a_pause_that_is_acknowledged_is_durable_and_never_half_written() {
    let outcomes = while_each_fails(14, pause);
    assert!(outcomes.contains(&true) && outcomes.contains(&false), "{outcomes:?}");
}
