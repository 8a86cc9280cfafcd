//! The virtual run of the queue against dispatch, in random worlds on the file system of the simulator: what an estimate lets
//! start now is what a pass grants. The worlds have rates, reserves and groups beside all that `explained` has.

use super::Env;
use super::choice::Rng;
use super::explained::{Scene, begun, each_world, scene, told};
use luzia::app::estimate::{THOROUGH, estimate_start};
use luzia::app::pass::pass;
use luzia::app::query::explain;
use luzia::model::config::Rate;
use luzia::model::task::Group;
use luzia::model::{Name, Priority, Task, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// Adds rates, reserves and groups to a world.
fn with_rules(mut scene: Scene, seed: u64) -> Scene {
    let mut rng = Rng::new(seed ^ 0xf0e5);
    let mut pick = |bound: usize| rng.below(bound);
    for lane in ["build", "docs", "user:alice"] {
        let rule = scene.config.lanes.entry(lane.to_owned()).or_default();
        rule.rate =
            (pick(3) == 0).then(|| Rate { grants: u32::try_from(1 + pick(2)).expect("few"), window_ms: 3_600_000 });
    }
    // A pass counts the queues of a paused lane, where it asks whether they are few; the virtual run leaves them out.
    scene.pauses.clear();
    let most = scene.config.slots_max.min(3);
    if most > 1 && pick(2) == 0 {
        let rule = scene.config.lanes.entry(["docs", "test"][pick(2)].to_owned()).or_default();
        rule.reserve = Some(rule.max.unwrap_or(1).min(most - 1));
    }
    let mut groups: BTreeMap<(String, Priority), (TaskId, Option<String>)> = BTreeMap::new();
    for task in &mut scene.tasks {
        if pick(2) == 0 {
            // A group is of the session of its first task.
            let of_any = Task { share: None, ..task.clone() }.queue();
            let (first, share) =
                groups.entry((of_any, task.priority)).or_insert_with(|| (task.id, task.share.clone())).clone();
            task.share = share;
            task.group = Some(Group { name: Name::new("g").expect("a name"), first });
        }
    }
    scene
}

fn checked(env: &Env, seed: u64, counts: &[AtomicU64; 5]) {
    let scene = with_rules(scene(seed, env.clock().now().0), seed);
    let app = begun(env, &scene);
    let starts_now = |task: &&Task| {
        let expected = estimate_start(&app, task, THOROUGH).expect("an estimate");
        expected.is_some_and(|expected| expected.p90_ms == 0)
    };
    let foreseen: BTreeSet<TaskId> = scene.tasks.iter().filter(starts_now).map(|task| task.id).collect();
    let said: BTreeMap<TaskId, _> = {
        let mut reasons = explain::reasons(&app).expect("reasons");
        scene.tasks.iter().map(|task| (task.id, reasons.first_obstacle(task).expect("a reason"))).collect()
    };
    let granted: BTreeSet<TaskId> = pass(&app).expect("a pass").started.into_iter().collect();
    let differ: BTreeSet<TaskId> = foreseen.symmetric_difference(&granted).copied().collect();
    let either: BTreeSet<TaskId> = foreseen.union(&granted).copied().collect();
    // If the lane of a user has several slots, the earlier tasks of the pass decide whether it tries another queue of that user.
    let is_second = |task: &Task| {
        let is_other = |other: &&Task| other.id != task.id && other.user == task.user && other.takes_user_lane;
        let has_other = scene.tasks.iter().filter(is_other).any(|other| either.contains(&other.id));
        task.takes_user_lane && differ.contains(&task.id) && has_other
    };
    if scene.tasks.iter().any(is_second) {
        counts[4].fetch_add(1, Ordering::Relaxed);
    } else if !differ.is_empty() {
        let all = told(&scene.tasks, &said);
        let rules = &scene.config.lanes;
        env.violation(&format!(
            "seed {seed}: foreseen {foreseen:?}, granted {granted:?}: {all}\n{rules:?}\n{:?}",
            scene.leases
        ));
    }
    let has = |word: &str| said.values().flatten().any(|obstacle| obstacle.word() == word);
    counts[0].fetch_add(u64::from(!granted.is_empty()), Ordering::Relaxed);
    counts[1].fetch_add(u64::from(has("RateLimited")), Ordering::Relaxed);
    let has_reserve = scene.config.slots_max == 2 && scene.config.reserves().next().is_some();
    counts[2].fetch_add(u64::from(has_reserve && !granted.is_empty()), Ordering::Relaxed);
    let members = scene.tasks.iter().filter(|task| task.group.as_ref().is_some_and(|group| group.first != task.id));
    counts[3].fetch_add(members.count() as u64, Ordering::Relaxed);
}

#[test]
fn the_virtual_run_grants_what_a_pass_grants_in_worlds_with_rates_reserves_and_groups() {
    let counts: &'static [AtomicU64; 5] = Box::leak(Box::default());
    let count = 400;
    each_world(count, move |env, seed| checked(env, seed, counts));
    let [granted, limited, reserved, grouped, seconds] = counts.each_ref().map(|count| count.load(Ordering::Relaxed));
    assert!(seconds < 8, "{seconds}");
    // Worlds without them would prove nothing.
    let counts = [granted, limited, reserved, grouped].map(|those| those * 100 / count);
    assert!(counts[0] > 50 && counts[1] > 2 && counts[2] > 5 && counts[3] > 7, "of a hundred worlds: {counts:?}");
}
