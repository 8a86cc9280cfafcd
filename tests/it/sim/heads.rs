//! The hint of heads among processes that announce lanes, list lanes and write the hint: a hint that can be used has every lane
//! with work that it should have.

use super::locks::{prepared, store};
use super::spool::task;
use super::{Env, Limits, know, seeds};
use luzia::model::queue::{FirstHead, Usage};
use luzia::model::{Name, Task, TaskId, Tier};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The queues of the tasks that were accepted.
type Shared = Arc<Mutex<BTreeSet<String>>>;

fn enqueue(env: &Env, known: &Shared, users: &[&str]) {
    let store = store(env);
    let count = u64::try_from(users.len()).expect("few");
    let Ok(TaskId(first)) = store.reserve_ids(count) else { return };
    let of =
        |(id, user): (u64, &&str)| Task { user: Name::new(user).expect("a name"), group: None, ..task(TaskId(id)) };
    let tasks: Vec<Task> = (first..).zip(users).map(of).collect();
    if store.accept(&tasks, None).is_ok() {
        know(known).extend(tasks.iter().map(Task::queue));
    }
}

/// Lists all lanes and writes them as a hint, as a pass does.
fn list(env: &Env) {
    let store = store(env);
    let Some(writer) = store.write_heads() else { return };
    let made = env.clock().now();
    let Ok(mut lanes) = store.lanes_with_work() else { return };
    let first = Tier::ALL.map(|tier| {
        let heads = lanes.remove(&tier).into_iter().flatten();
        (heads.map(|(queue, priority)| FirstHead { priority, used: Usage::default(), queue }).collect(), false)
    });
    let _ = store.finish_heads(writer, (made, made), &first);
}

/// Whether a hint that can be used has all lanes.
fn audit(env: &Env, known: &Shared, is_whole: bool) {
    env.calm();
    let store = store(env);
    let Some(heads) = store.heads() else { return };
    if heads.age_ms(env.clock().now()).is_none() {
        return;
    }
    let lanes: BTreeSet<String> = heads.view(100).lanes.into_values().flatten().map(|(queue, _)| queue).collect();
    for queue in know(known).iter().filter(|queue| is_whole && !lanes.contains(*queue)) {
        env.violation(&format!("{queue} is not in the hint: {lanes:?}"));
    }
    // Whatever was left, the next process that lists all lanes can write a hint.
    list(env);
    let heads = store.heads().filter(|heads| heads.age_ms(env.clock().now()).is_some());
    let lanes = heads.map(|heads| heads.view(100).lanes.into_values().map(|lanes| lanes.len()).sum::<usize>());
    if lanes < Some(know(known).len()) {
        env.violation(&format!("no hint can be written: {lanes:?}"));
    }
}

fn storm(limits: &Limits, is_whole: bool) {
    seeds(0..1500, |sim| {
        let known = Shared::default();
        sim.limits(limits.clone());
        prepared(sim);
        for (name, users) in [("one", &["a"][..]), ("two", &["b"]), ("many", &["a", "c"])] {
            let ours = known.clone();
            sim.spawn(name, move |env| enqueue(&env, &ours, users));
        }
        for name in ["lists", "lists, too"] {
            sim.spawn(name, move |env| {
                list(&env);
                list(&env);
            });
        }
        let ours = known.clone();
        sim.at_end("audit", move |env| audit(&env, &ours, is_whole));
    })
    .expect_clean();
}

#[test]
fn a_hint_has_every_lane_with_work_however_it_is_written_and_announced() {
    storm(&Limits::default(), true);
}

#[test]
fn a_hint_can_be_written_after_its_writer_was_killed_at_any_step() {
    storm(&Limits { kills: 2, errors: 2, ..Limits::default() }, false);
}
