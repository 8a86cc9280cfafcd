//! What a supervisor does of which something has happened to its task since the claim: nothing is started without its
//! lanes, or against a request.

use super::locks::{prepared, store};
use super::{Env, Sim, spool};
use luzia::app::App;
use luzia::model::{Config, Status, Task, TaskId};
use luzia::store::{CancelRequest, Place};
use luzia::supervise::{Surroundings, run};
use std::sync::{Arc, Mutex};

const ID: TaskId = TaskId(1);

/// What is left of one run of a task that a pass has claimed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Left {
    /// Where its record stands, its state, and how often it was started.
    record: Option<(Place, Status, u32)>,
    /// How often its command ran.
    ran: u32,
    /// Lock files.
    locks: Vec<String>,
}

/// Makes a `change` before the supervisor looks at its task, and lets it do its work once, with no pass after it.
fn supervised(change: impl Fn(&Env) + Send + Sync + 'static) -> Left {
    let left = Arc::new(Mutex::new(Left { record: None, ran: 0, locks: Vec::new() }));
    let (at_command, at_end) = (left.clone(), left.clone());
    let mut sim = Sim::replay(&[]);
    prepared(&mut sim);
    sim.on_launch(move |env| {
        change(&env);
        let store = store(&env);
        let lock = store.take_over(ID).expect("it reads").expect("the lock was handed over");
        let mut pass = Vec::new;
        let mut around = Surroundings { store: &store, pass: &mut pass, is_told_to_end: false };
        run(&mut around, ID, lock).expect("it ends");
        let record = store.find(ID).expect("it reads").map(|(place, task)| (place, task.status, task.starts));
        let locks = env.vfs("/s").list("locks").expect("it lists").unwrap_or_default();
        let mut left = at_end.lock().unwrap();
        left.record = record;
        let locks = locks.into_iter().filter(|entry| entry.name != ".guard");
        left.locks = locks.map(|entry| entry.name.into()).collect();
    });
    sim.on_command(move |_| at_command.lock().unwrap().ran += 1);
    sim.at_start(|_, _| Ok(Vec::new()));
    sim.spawn("pass", |env| {
        let store = store(&env);
        let id = store.reserve_ids(1).expect("an id");
        let task = Task { conductor_dir: "/s/conductor/_".into(), ..spool::task(id) };
        store.accept(&[task]).expect("it is accepted");
        let app = App { store, config: Config::default(), same_place: Vec::new(), inside: None };
        app.pass().expect("a pass");
    });
    let report = sim.run();
    assert!(report.violations.is_empty(), "{report}");
    left.lock().unwrap().clone()
}

fn left(record: (Place, Status, u32), ran: u32) -> Left {
    Left { record: Some(record), ran, locks: Vec::new() }
}

#[test]
fn a_claimed_task_runs_once_and_leaves_no_lock() {
    assert_eq!(supervised(|_| {}), left((Place::Done, Status::Completed, 1), 1));
}

#[test]
fn a_task_that_lost_a_lane_since_its_claim_is_queued_again_without_a_start() {
    for lane in ["user_alice", "thread_7", "lane_global"] {
        let found = supervised(move |env| {
            for end in ["json", "lock"] {
                assert!(env.vfs("/s").unlink(&format!("locks/{lane}.{end}")).expect("it is removed"), "{lane}");
            }
        });
        assert_eq!(found, left((Place::Pending, Status::Pending, 0), 0), "{lane}");
    }
}

#[test]
fn a_task_that_was_cancelled_since_its_claim_is_not_started() {
    let request = CancelRequest { by: "me".into(), reason: None, grace_ms: None };
    let found = supervised(move |env| assert!(store(env).request_cancel(ID, &request).expect("it is written")));
    assert_eq!(found, left((Place::Done, Status::Cancelled, 0), 0));
}
