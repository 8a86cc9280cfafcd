//! `explain` against dispatch, in random worlds on the file system of the simulator: what it calls ready is what a pass
//! grants, and what a pass grants it called ready (issue 21, section 7).

use super::choice::Rng;
use super::locks::{prepared, store};
use super::{Env, Sim, seeds};
use luzia::app::config_reload::follow_control;
use luzia::app::locks::acquire::{Lease, acquire};
use luzia::app::pass::pass;
use luzia::app::query::explain;
use luzia::app::queue::pause::{What, Wish, pause};
use luzia::app::{App, Obstacle, Settings};
use luzia::model::config::LaneRule;
use luzia::model::control::{Held, TaskHold};
use luzia::model::task::Terms;
use luzia::model::{Agent, Config, LaneName, Name, Priority, Task, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

const USERS: [&str; 3] = ["alice", "bob", "carol"];
const LANES: [&str; 8] = ["thread:1", "thread:2", "session:s", "build", "docs", "test", "build", "docs"];

fn lane(text: &str) -> LaneName {
    LaneName::parse(text).expect("a lane")
}

/// A world: the rules, the tasks, and who else is there.
pub(super) struct Scene {
    pub config: Config,
    pub tasks: Vec<Task>,
    /// Lanes that somebody holds, with the lease where one is known.
    pub leases: Vec<(LaneName, Option<u64>)>,
    pub pauses: Vec<LaneName>,
}

pub(super) fn scene(seed: u64, now: i64) -> Scene {
    let mut rng = Rng::new(seed);
    let rule = |max| LaneRule { max: Some(max), ..LaneRule::default() };
    let mut pick = |bound: usize| rng.below(bound);
    let mut lanes = BTreeMap::new();
    for name in ["build", "docs", "test", "user:alice"] {
        lanes.insert(name.to_owned(), rule([1, 2, 2, 3][pick(4)]));
    }
    // Where slots are short, a task that is ready may not be granted because others were.
    let config = Config { slots_max: u32::try_from([1, 2, 20][pick(3)]).expect("few"), lanes, ..Config::default() };
    // Where few lanes are named, tasks meet in them, and wait for several slots of them.
    let is_crowded = pick(4) == 0;
    let names = if is_crowded { &LANES[3..5] } else { &LANES[..] };
    let mut tasks: Vec<Task> = Vec::new();
    for id in 1..=u64::try_from(2 + pick(7)).expect("few") {
        let mut named: Vec<LaneName> =
            (0..pick(3).max(usize::from(is_crowded))).map(|_| lane(names[pick(names.len())])).collect();
        named.sort();
        named.dedup();
        let is_after = id > 1 && pick(8) == 0;
        let after =
            if is_after { vec![TaskId(1 + pick(usize::try_from(id - 1).expect("few")) as u64)] } else { Vec::new() };
        let session = [None, Some("one"), Some("two")][pick(3)];
        let hold =
            TaskHold { since: luzia::model::Timestamp(now), until: None, reason: None, by: None, start_left_ms: None };
        let task = Task {
            user: Name::new(USERS[pick(3)]).expect("a name"),
            takes_user_lane: named.is_empty() || !is_crowded && pick(3) > 0,
            lanes: named,
            priority: Priority::new([5, 5, 5, 4, 1, 9][pick(6)]).expect("a priority"),
            comes_after: after.clone(),
            after,
            due_at: (pick(8) == 0).then(|| luzia::model::Timestamp(now + 3_600_000)),
            hold: (pick(10) == 0).then_some(hold),
            timeout_ms: [None, Some(10_000), Some(60_000)][pick(3)],
            agent: session.map(|session| Agent { name: "codex".into(), session: Some(session.into()) }),
            group: None,
            terms: Terms { slot_count: [None, None, None, Some(2), Some(3)][pick(5)], ..Terms::default() },
            conductor_dir: "/s/conductor/_".into(),
            command: vec!["Work".into()],
            ..super::spool::task(TaskId(id))
        };
        tasks.push(Task { share: task.own_share(), ..task });
    }
    let held = |pick: &mut dyn FnMut(usize) -> usize| {
        let lane = [lane("user:bob"), lane("build"), lane("docs"), lane("thread:1")][pick(4)].clone();
        (lane, [None, Some(30_000), Some(90_000)][pick(3)])
    };
    let mut leases: Vec<(LaneName, Option<u64>)> = (0..pick(4)).map(|_| held(&mut pick)).collect();
    leases.extend(is_crowded.then(|| (lane("build"), Some(90_000))));
    let pauses = (0..pick(4) / 3).map(|_| [lane("user:carol"), lane("docs")][pick(2)].clone()).collect();
    Scene { config, tasks, leases, pauses }
}

fn lease(lane: &LaneName, ttl_ms: Option<u64>, number: usize) -> Lease {
    Lease {
        lanes: vec![lane.clone()],
        holder: format!("holder-{number}"),
        wait_ms: 0,
        ttl_ms,
        pid: None,
        durable: false,
    }
}

/// What shares a lane but `global` with another task, so that the one's start may decide over the other's.
fn touches(one: &Task, other: &Task) -> bool {
    let lanes =
        |task: &Task| -> BTreeSet<LaneName> { task.all_lanes().into_iter().filter(|lane| !lane.is_global()).collect() };
    !lanes(one).is_disjoint(&lanes(other))
}

/// The tasks of a scene with what was said of them.
pub(super) fn told(tasks: &[Task], said: &BTreeMap<TaskId, Option<Obstacle>>) -> String {
    let line = |task: &Task| {
        let lanes: Vec<String> = task.all_lanes().iter().map(LaneName::to_string).collect();
        let word = said[&task.id].as_ref().map_or("ready", Obstacle::word);
        format!("\n  {} {} {} priority {} {lanes:?} {word}", task.id, task.user, task.queue(), task.priority.number())
    };
    tasks.iter().map(line).collect()
}

/// The world, as far as it has come.
pub(super) fn begun(env: &Env, scene: &Scene) -> App {
    let app = App::new(store(env), Settings::fixed(scene.config.clone()));
    let prepared = app.store.prepare().and_then(|()| app.store.reserve_ids(scene.tasks.len() as u64));
    prepared.and_then(|_| app.store.accept(&scene.tasks, None)).expect("they are accepted");
    for (number, (lane, ttl_ms)) in scene.leases.iter().enumerate() {
        // A lane that is full already stays so.
        let _ = acquire(&app, &lease(lane, *ttl_ms, number), &mut |_| {});
    }
    for lane in &scene.pauses {
        let wish = Wish { until: None, reason: None, by: None };
        pause(&app, &What::Lanes(Held::Lane(lane.clone())), &wish).expect("it is paused");
    }
    follow_control(&app).expect("the pauses read");
    app
}

fn checked(env: &Env, seed: u64, counts: &[AtomicU64; 4]) {
    let scene = scene(seed, env.clock().now().0);
    let slots = scene.config.slots_max;
    let app = begun(env, &scene);
    let mut reasons = explain::reasons(&app).expect("reasons");
    let mut said = BTreeMap::new();
    for task in &scene.tasks {
        let obstacle = reasons.first_obstacle(task).expect("a reason").filter(|one| *one != Obstacle::NoDispatcher);
        said.insert(task.id, obstacle);
    }
    let granted = pass(&app).expect("a pass").started;
    let of = |id: &TaskId| scene.tasks.iter().find(|task| task.id == *id).expect("a task of the scene");
    let ready: Vec<TaskId> = said.iter().filter(|(_, obstacle)| obstacle.is_none()).map(|(id, _)| *id).collect();
    // A start of this pass may change for what a task waits: that may keep its start now (`policy::backfill`), or let others pass.
    let meets = |one: &Task, other: &Task| {
        let wants_several = |task: &Task| task.lanes.len() > 1 || task.terms.slot_count.is_some();
        let between = |task: &Task| wants_several(task) && touches(one, task) && touches(task, other);
        touches(one, other) || scene.tasks.iter().any(between)
    };
    for id in &ready {
        let gave_way = granted.len() >= slots as usize || granted.iter().any(|other| meets(of(id), of(other)));
        if !granted.contains(id) && !gave_way {
            let all = told(&scene.tasks, &said);
            env.violation(&format!("seed {seed}: explain calls {id} ready, and the pass granted {granted:?}: {all}"));
        }
    }
    for (at, id) in granted.iter().enumerate() {
        // One that was not ready may have become so by a start of this pass: the next one of a user of two slots, or one
        // behind a task whose capacity lane was taken by that start (`policy::beyond`).
        let is_after = |of_one: &Task| granted[..at].iter().any(|before| meets(of_one, of(before)));
        let is_next = is_after(of(id)) || ready.iter().any(|one| touches(of(id), of(one)) && is_after(of(one)));
        // A tier that is owed a grant gets it before the user's own task of a better one (`tier_shares`).
        let tier = |id: &TaskId| of(id).priority.tier();
        let is_by_share = matches!(said[id], Some(Obstacle::Priority { .. }))
            && ready.iter().any(|other| tier(other) < tier(id) && touches(of(id), of(other)));
        if let Some(obstacle) = said[id].as_ref().filter(|_| !is_next && !is_by_share) {
            let all = told(&scene.tasks, &said);
            env.violation(&format!(
                "seed {seed}: the pass granted {granted:?}, explain said of {id} {obstacle:?}: {all}"
            ));
        }
    }
    if granted.is_empty() != ready.is_empty() {
        env.violation(&format!("seed {seed}: ready were {ready:?}, granted {granted:?}"));
    }
    counts[0].fetch_add(1, Ordering::Relaxed);
    counts[1].fetch_add(u64::from(!granted.is_empty()), Ordering::Relaxed);
    counts[2].fetch_add((scene.tasks.len() - ready.len()) as u64, Ordering::Relaxed);
    let booked = said.values().filter(|one| matches!(one, Some(Obstacle::Booked { .. }))).count();
    counts[3].fetch_add(booked as u64, Ordering::Relaxed);
}

/// Looks at random worlds, each by its seed. A supervisor does nothing there: the claims stand.
pub(super) fn each_world(count: u64, look: impl Fn(&Env, u64) + Copy + Send + Sync + 'static) {
    for seed in 0..count {
        let all = seeds(seed..seed + 1, |sim: &mut Sim| {
            prepared(sim);
            sim.on_launch(|_| {});
            sim.spawn("look", move |env| look(&env, seed));
        });
        all.expect_clean();
    }
}

#[test]
fn explain_calls_ready_what_a_pass_grants_and_nothing_else() {
    let counts: &'static [AtomicU64; 4] = Box::leak(Box::default());
    let count = 2000;
    each_world(count, move |env, seed| checked(env, seed, counts));
    let [worlds, with_grants, blocked, booked] = counts.each_ref().map(|count| count.load(Ordering::Relaxed));
    // Worlds in which nothing ever starts, or nothing ever waits, would prove nothing.
    assert!(worlds >= count && with_grants > worlds / 2 && blocked > worlds, "{worlds} {with_grants} {blocked}");
    assert!(booked > worlds / 50, "{booked}");
}
