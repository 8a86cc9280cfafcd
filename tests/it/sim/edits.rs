//! Edits of a pending task beside passes that look for heads and remove empty folders.

use super::locks::{prepared, store};
use super::spool::task;
use super::{Env, know, seeds};
use luzia::model::{LaneName, Task};
use luzia::store::{Place, Removed};
use std::sync::{Arc, Mutex};

/// The task as its last edit left it, once both have been made.
type Shared = Arc<Mutex<Option<Task>>>;

/// Queues a task and moves it to the queues of two other lanes.
fn edit(env: &Env, known: &Shared) {
    let store = store(env);
    let id = store.reserve_ids(1).expect("a number");
    store.accept(&[Task { group: None, takes_user_lane: false, ..task(id) }], None).expect("accepted");
    let mut last = None;
    for lane in ["pool:a", "pool:b"] {
        let Ok(Removed::Taken(old, lock)) = store.take_pending(id) else {
            panic!("the task cannot be taken");
        };
        let new = Task { lanes: vec![LaneName::parse(lane).expect("a lane")], ..(*old).clone() };
        if let Err(error) = store.change_pending(&old, new.clone(), lock, &mut || ()) {
            panic!("the edit failed: {error}");
        }
        last = Some(new);
    }
    *know(known) = last;
}

/// Looks for the first task of each queue, as a pass does.
fn look(env: &Env) {
    let store = store(env);
    for (tier, heads) in store.lanes_with_work().expect("listed") {
        for (queue, _) in heads {
            if let Err(error) = store.head(tier, &queue) {
                env.violation(&format!("the look failed: {error}"));
            }
        }
    }
}

#[test]
fn an_edit_moves_a_task_while_passes_remove_empty_folders() {
    seeds(0..1500, |sim| {
        let known = Shared::default();
        prepared(sim);
        let ours = known.clone();
        sim.spawn("edits", move |env| edit(&env, &ours));
        for name in ["looks", "looks, too"] {
            let ours = known.clone();
            sim.spawn(name, move |env| {
                while know(&ours).is_none() {
                    look(&env);
                }
            });
        }
        sim.at_end("audit", move |env| {
            let known = know(&known).clone().expect("two edits");
            match store(&env).find(known.id) {
                Ok(Some((Place::Pending, found))) if found.lanes == known.lanes => {}
                other => env.violation(&format!("the task is not where its last edit put it: {other:?}")),
            }
        });
    })
    .expect_clean();
}
