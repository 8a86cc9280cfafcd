//! The end of a run at the store: either it is recorded, or nothing is there that could be taken for it.

use super::locks::{prepared, store};
use super::{Env, Sim, spool};
use luzia::model::TaskId;
use luzia::store::{Ending, Started};
use std::sync::{Arc, Mutex};

const ID: TaskId = TaskId(1);
const RESULT: &str = "/s/spool/running/1.result.json";
const EIO: i32 = 5;

/// Records a start and an end; tells whether the end was recorded, when it came to that.
fn start_and_end(env: &Env) -> Option<bool> {
    let store = store(env);
    let started =
        Started { start: 1, at: store.now(), supervisor: store.identity(), lock_id: "task_1_1".into(), fence: 1 };
    let file = store.record_start(ID, &started).ok()?;
    let is_recorded = store.record_ending(&Ending { task: spool::task(ID) }, Some(file)).is_ok();
    let (is_there, is_safe) = env
        .look(|world| (world.peek(RESULT).is_some_and(|bytes| !bytes.is_empty()), world.disk.has_safe_bytes(RESULT)))?;
    if is_there != is_recorded || is_recorded && !is_safe {
        env.violation(&format!("recorded: {is_recorded}, there: {is_there}, durably: {is_safe}"));
    }
    Some(is_recorded)
}

#[test]
fn an_end_that_could_not_be_recorded_leaves_no_result() {
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    for operation in 1..=12 {
        let mut sim = Sim::replay(&[]);
        prepared(&mut sim);
        sim.fail_at(operation, EIO);
        let ours = outcomes.clone();
        sim.spawn("supervisor", move |env| ours.lock().unwrap().extend(start_and_end(&env)));
        let report = sim.run();
        assert!(report.violations.is_empty(), "operation {operation} fails: {report}");
    }
    let outcomes = outcomes.lock().unwrap();
    let failed = outcomes.iter().filter(|is_recorded| !**is_recorded).count();
    assert_eq!(failed, 2, "to write and to sync it can fail: {outcomes:?}");
    assert!(outcomes.contains(&true), "{outcomes:?}");
}
