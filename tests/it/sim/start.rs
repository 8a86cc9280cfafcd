//! What a supervisor does of which something has happened to its task since the claim: nothing is started without its
//! lanes, or against a request.

use super::locks::{prepared, store};
use super::{Env, Sim, spool};
use luzia::app::{App, Settings};
use luzia::model::{Config, Status, Task, TaskId};
use luzia::store::{CancelRequest, Place, Site};
use luzia::supervise::{Surroundings, run};
use std::sync::{Arc, Mutex};

const ID: TaskId = TaskId(1);
const ENOSPC: i32 = 28;

/// What is left of one run of a task that a pass has claimed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Left {
    /// Where its record stands, its state, and how often it was started.
    record: Option<(Place, Status, u32)>,
    /// How often its command ran.
    ran: u32,
    /// Lock files.
    locks: Vec<String>,
    /// Whether the supervisor ended without an error.
    is_well: bool,
}

/// Makes a `change` before the supervisor looks at its task, and lets it do its work once, with no pass after it.
fn supervised(change: impl Fn(&Env) + Send + Sync + 'static) -> Left {
    let left = Arc::new(Mutex::new(Left { record: None, ran: 0, locks: Vec::new(), is_well: false }));
    let (at_command, at_end) = (left.clone(), left.clone());
    let mut sim = Sim::replay(&[]);
    prepared(&mut sim);
    sim.on_launch(move |env| {
        change(&env);
        let site = Site::from(store(&env));
        let store = &site.store;
        let mut pass = Vec::new;
        let mut around = Surroundings {
            site: &site,
            config: None,
            timeout_ms: &|_| 3_600_000,
            cpu_plan: &|_| None,
            wants: &|_, _| panic!("nothing is given up here"),
            subject: &|_| Err("there is no work tree".to_owned()),
            logs_max_bytes: 0,
            cgroups: luzia::model::Cgroups::Auto,
            pass: &mut pass,
            loans: &|_, _| Vec::new(),
            told_to_end: &mut || false,
            is_told_to_end: false,
        };
        let ended =
            site.run_dir.take_over(ID).and_then(|lock| run(&mut around, ID, lock.expect("the lock was handed over")));
        env.fail_in(0, 0);
        let record = store.find(ID).expect("it reads").map(|(place, task)| (place, task.status(), task.starts));
        let locks = env.vfs("/s").list("locks").expect("it lists").unwrap_or_default();
        let mut left = at_end.lock().unwrap();
        (left.record, left.is_well) = (record, ended.is_ok());
        let locks = locks.into_iter().filter(|entry| entry.name != ".guard");
        left.locks = locks.map(|entry| entry.name.into()).collect();
    });
    sim.on_command(move |_| at_command.lock().unwrap().ran += 1);
    sim.at_start(|_, _| Ok(Vec::new()));
    sim.spawn("pass", |env| {
        let store = store(&env);
        let id = store.reserve_ids(1).expect("an id");
        let task = Task { conductor_dir: "/s/conductor/_".into(), ..spool::task(id) };
        store.accept(&[task], None).expect("it is accepted");
        luzia::app::pass::pass(&App::new(store, Settings::fixed(Config::default()))).expect("a pass");
    });
    let report = sim.run();
    assert!(report.violations.is_empty(), "{report}");
    left.lock().unwrap().clone()
}

fn left(record: (Place, Status, u32), ran: u32) -> Left {
    Left { record: Some(record), ran, locks: Vec::new(), is_well: true }
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
    let request = CancelRequest { by: "me".into(), reason: None, grace_ms: None, requeue: false };
    let found = supervised(move |env| assert!(store(env).request_cancel(ID, &request).expect("it is written")));
    assert_eq!(found, left((Place::Done, Status::Cancelled, 0), 0));
}

/// A disk that is full for a moment: whichever operation of the supervisor it strikes, the task is not the worse for it.
#[test]
fn a_host_that_is_short_of_space_for_a_moment_costs_no_attempt() {
    let (mut well, mut ill) = (0, 0);
    for n in 1..=60 {
        let Left { record, ran, is_well, .. } = supervised(move |env| env.fail_in(n, ENOSPC));
        let (place, status, starts) = record.expect("the record is there");
        match is_well {
            // It was tried again until there was space.
            true => assert_eq!((place, status, starts, ran), (Place::Done, Status::Completed, 1, 1), "{n}"),
            // Before the start it is claimed still, after the end it waits for the process that finishes it.
            false => assert!(ran == starts && (ran == 1 || place == Place::Running), "{n}: {place:?} {status:?}"),
        }
        (well, ill) = (well + u32::from(is_well), ill + u32::from(!is_well));
    }
    assert!(well > 20 && ill > 5, "{well} {ill}");
}
