//! The real spool under kills, power cuts and failing operations: what was accepted is found again, whole and once; no
//! task number is given twice; and the queue goes on.

use super::locks::{prepared, store};
use super::{Env, Journal, Limits, Sim, know, seeds};
use luzia::model::task::Group;
use luzia::model::{LaneName, Name, Task, TaskId, Timestamp};
use luzia::store::Place;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// What an onlooker knows, across kills and power cuts.
#[derive(Default)]
struct Known {
    given: BTreeSet<u64>,
    accepted: BTreeSet<u64>,
}

type Shared = Arc<Mutex<Known>>;

/// A task as `luzia enqueue` makes it.
pub fn task(id: TaskId) -> Task {
    Task {
        lanes: vec![LaneName::parse("thread:7").expect("a lane")],
        umask: 0o027,
        conductor_dir: "/c".into(),
        created_by_pid: 9,
        // Some form groups, whose queues have names of their own.
        group: id.0.is_multiple_of(3).then(|| group_of(id)),
        ..Task::plain(id, Name::new("alice").expect("a name"), vec!["true".into()], Timestamp(1_700_000_000_123))
    }
}

fn group_of(first: TaskId) -> Group {
    Group { name: Name::new("together").expect("a name"), first }
}

/// `luzia enqueue`, of one task or of several at once.
fn enqueue(env: &Env, known: &Shared, count: u64) {
    let store = store(env);
    if store.prepare().is_err() {
        return;
    }
    let Ok(first) = store.reserve_ids(count) else {
        return;
    };
    let ids = first.0..first.0 + count;
    for id in ids.clone() {
        if !know(known).given.insert(id) {
            env.violation(&format!("task number {id} was given twice"));
        }
    }
    let tasks: Vec<Task> = ids.clone().map(|id| task(TaskId(id))).collect();
    if store.accept(&tasks, None).is_ok() {
        know(known).accepted.extend(ids);
    }
}

/// What was accepted is there, and what else is there is whole.
fn audit(env: &Env, known: &Shared) {
    env.calm();
    let store = store(env);
    for id in know(known).accepted.clone() {
        match store.find(TaskId(id)) {
            Ok(Some((Place::Pending, found))) if found == task(TaskId(id)) => {}
            other => env.violation(&format!("lost task {id}: {other:?}")),
        }
    }
    let mut seen = BTreeSet::new();
    let visited = store.visit_ids(&mut |_, id| {
        if !seen.insert(id) {
            env.violation(&format!("task {id} stands in two places"));
        }
    });
    if let Err(error) = visited {
        env.violation(&format!("the spool cannot be read: {error}"));
    }
    for id in seen {
        if let Err(error) = store.find(id) {
            env.violation(&format!("task {id} is damaged: {error}"));
        }
    }
}

/// The queue goes on: a further task is accepted.
fn usable(env: &Env, known: &Shared) {
    audit(env, known);
    let before = know(known).accepted.len();
    enqueue(env, known, 1);
    if know(known).accepted.len() == before {
        let why = store(env).prepare().err();
        env.violation(&format!("the queue does not go on: {why:?}"));
    }
    audit(env, known);
}

fn storm(start: fn(&mut Sim), limits: &Limits, count: u64) {
    for journal in [Journal::Ordered, Journal::AnySubset] {
        seeds(0..count, |sim| {
            let known = Shared::default();
            sim.journal(journal).limits(limits.clone());
            start(sim);
            for (name, count) in [("one", 1), ("two", 1), ("many", 3)] {
                let ours = known.clone();
                sim.spawn(name, move |env| enqueue(&env, &ours, count));
            }
            let ours = known.clone();
            sim.at_boot("after", move |env| {
                audit(&env, &ours);
                enqueue(&env, &ours, 1);
            });
            let ours = known.clone();
            sim.at_end("usable", move |env| usable(&env, &ours));
        })
        .expect_clean();
    }
}

#[test]
fn what_was_accepted_survives_kills_and_power_cuts() {
    let limits = Limits { kills: 1, cuts: 2, ..Limits::default() };
    storm(prepared, &limits, 1_500);
}

#[test]
fn what_was_accepted_survives_operations_that_fail() {
    let limits = Limits { kills: 1, cuts: 1, errors: 3, ..Limits::default() };
    storm(prepared, &limits, 1_500);
}

#[test]
fn a_state_directory_that_is_cut_off_while_it_is_made_can_be_used() {
    let empty = |sim: &mut Sim| {
        sim.dir("/s");
    };
    let limits = Limits { kills: 1, cuts: 2, ..Limits::default() };
    storm(empty, &limits, 1_500);
}

#[test]
fn a_folder_that_is_made_again_survives_a_power_cut() {
    let found = Arc::new(Mutex::new(None));
    let ours = found.clone();
    let mut sim = Sim::replay(&[]);
    prepared(&mut sim);
    sim.spawn("doctor", move |env| {
        assert!(env.vfs("/s").remove_dir("spool/parked").expect("it is removed"));
        env.vfs("/s").sync_dir("spool").expect("it stays so");
        let made = store(&env).make_folders().expect("it is made");
        *ours.lock().unwrap() = env.look(|world| (made, world.disk.has_safe_name("/s/spool/parked")));
    });
    let report = sim.run();
    assert!(report.violations.is_empty(), "{report}");
    let found = found.lock().unwrap();
    let (made, is_durable) = found.as_ref().expect("it came to that");
    assert!(made.contains(&"spool/parked") && *is_durable, "{found:?}");
}
