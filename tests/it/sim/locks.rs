//! The real lock code under every interleaving that a seed or a bound allows: exclusion, fences, and that a lane is
//! usable again in the end, with kills, power cuts, clock jumps, failing operations and cleaners at work.

use super::{Env, Journal, Limits, Sim, World, explore, know, seeds};
use luzia::model::evidence::Sidecar;
use luzia::model::{LaneName, LockKind};
use luzia::os::Open;
use luzia::policy::staleness::{judge, standing};
use luzia::store::{Acquired, By, Cleanup, Denial, HeadsSizes, Hold, LaneNeed, Release, Request, Spool};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) const TIMEOUT_MS: u64 = 60_000;
pub(super) const LANE: &str = "user:alice";
const FOLDERS: [&str; 17] = [
    "locks",
    "locks/.guard",
    "spool",
    "spool/tmp",
    "spool/pending",
    "spool/parked",
    "spool/timers",
    "spool/after",
    "spool/lanes",
    "spool/keys",
    "spool/running",
    "spool/waiting",
    "spool/done",
    "spool/corrupt",
    "run",
    "events",
    "conductor",
];

/// A state directory with its folders, durable.
pub fn prepared(sim: &mut Sim) {
    sim.dir("/s");
    for folder in FOLDERS {
        sim.dir(&format!("/s/{folder}"));
    }
    sim.file("/s/format", b"{\"v\":1}\n").file("/s/spool/wake", b"");
}

/// The store as a process of the run uses it. They differ in how many records the folder of a lane holds, and in whether few
/// lanes have a hint of heads.
pub fn store(env: &Env) -> Spool {
    let procs = env.procs();
    let pid = procs.me().pid as usize;
    let (holds, lanes) = ([0, 1, 250][pid % 3], [1, 2, 1, 1000][pid % 4]);
    let heads = HeadsSizes { lanes, looks: [1, 2], kept: 2, announced: 3 };
    Spool::new(env.vfs("/s"), env.clock(), procs).holding(holds).hinting(heads)
}

/// What an onlooker knows of the grants of one lane, across kills and power cuts.
#[derive(Default)]
struct Oracle {
    highest_fence: u64,
    /// Until when, by the boot clock, each holder's lease must be honoured; with the boot.
    leases: BTreeMap<String, (String, u64)>,
    grants: u64,
}

type Shared = Arc<Mutex<Oracle>>;

pub(super) fn lane() -> LaneName {
    LaneName::parse(LANE).expect("a lane")
}

pub fn request(env: &Env, holder: &str, kind: LockKind) -> Request {
    let need = LaneNeed::new(lane(), 1, TIMEOUT_MS);
    Request {
        needs: vec![need],
        holder: holder.to_owned(),
        kind,
        ttl_ms: None,
        process: env.procs().me(),
        pid_watched: false,
        who: luzia::model::Who::default(),
        durable: false,
        lenders: Vec::new(),
        stands: standing,
    }
}

fn note_grant(env: &Env, oracle: &Shared, fence: u64) {
    let mut known = know(oracle);
    known.grants += 1;
    if fence <= known.highest_fence {
        env.violation(&format!("fence {fence} after {}", known.highest_fence));
    }
    known.highest_fence = known.highest_fence.max(fence);
}

/// `luzia lock`: takes the lane, works, gives it back.
fn process(env: &Env, oracle: &Shared) {
    let store = store(env);
    let answer = store.acquire(&request(env, "p", LockKind::Process), judge);
    let Ok(Acquired::Granted { grants, mut files, .. }) = answer else {
        return;
    };
    note_grant(env, oracle, grants[0].fence.0);
    env.enter(LANE);
    env.step("work");
    env.leave(LANE);
    let _ = store.release_process(&grants[0], Some(files.remove(0)), false);
}

/// `luzia lock` with a command that inherits the open lock file and may outlive it; releases twice.
fn process_with_command(env: &Env, oracle: &Shared) {
    let store = store(env);
    let answer = store.acquire(&request(env, "p", LockKind::Process), judge);
    let Ok(Acquired::Granted { grants, mut files, .. }) = answer else {
        return;
    };
    note_grant(env, oracle, grants[0].fence.0);
    honour_leases(env, "p", oracle);
    env.enter(LANE);
    // Commands of the pretend machine are what `launch_supervisor` starts.
    let launched = env.procs().launch_supervisor(&[], files.remove(0).into_descriptor());
    env.leave(LANE);
    if launched.is_err() {
        return;
    }
    for _ in 0..2 {
        // Its own descriptor went to the command, so it closes another one here.
        if let Ok(Some(other)) = env.vfs("/s").open("format", Open::ReadOnly) {
            let _ = store.release_process(&grants[0], Some(Hold::of(other)), false);
        }
        env.clock().sleep(Duration::from_millis(1));
    }
}

/// The command: it is inside as long as it has the lock file open.
fn command(env: &Env) {
    env.enter(LANE);
    env.step("work");
    env.clock().sleep(Duration::from_millis(1));
    env.step("work");
    env.leave(LANE);
}

/// `luzia acquire`, a refresh, and `luzia release`.
fn lease(env: &Env, holder: &str, oracle: &Shared) {
    let store = store(env);
    let wanted = request(env, holder, LockKind::Lease);
    let lower_bound = || env.clock().boot_ms() + TIMEOUT_MS;
    let mut deadline = lower_bound();
    let Ok(Acquired::Granted { grants, .. }) = store.acquire(&wanted, judge) else {
        return;
    };
    let grant = &grants[0];
    lease_granted(env, holder, oracle, grant.fence.0, deadline);
    env.clock().sleep(Duration::from_millis(TIMEOUT_MS / 3));
    deadline = lower_bound();
    match store.acquire(&wanted, judge) {
        Ok(Acquired::Refreshed(again)) => {
            let again = &again[0];
            if again.fence != grant.fence || again.lock_id != grant.lock_id {
                env.violation(&format!("refreshed {again:?}, which was {grant:?}"));
            }
            know(oracle).leases.insert(holder.into(), (env.clock().boot_id(), deadline));
        }
        Ok(Acquired::Granted { grants, .. }) => lease_granted(env, holder, oracle, grants[0].fence.0, deadline),
        _ => return,
    }
    env.step("work");
    know(oracle).leases.remove(holder);
    let _ = store.release(&lane(), &Release::Holder(holder.into()), By::Holder, TIMEOUT_MS, judge);
}

fn lease_granted(env: &Env, holder: &str, oracle: &Shared, fence: u64, deadline: u64) {
    note_grant(env, oracle, fence);
    honour_leases(env, holder, oracle);
    env.enter(LANE);
    env.leave(LANE);
    know(oracle).leases.insert(holder.into(), (env.clock().boot_id(), deadline));
}

/// Nobody else may have a lease that runs by the boot clock.
fn honour_leases(env: &Env, holder: &str, oracle: &Shared) {
    let (boot_id, now) = (env.clock().boot_id(), env.clock().boot_ms());
    for (other, (boot, until)) in &know(oracle).leases {
        if other != holder && *boot == boot_id && now < *until {
            env.violation(&format!("granted to {holder} while the lease of {other} runs until {until}, at {now}"));
        }
    }
}

fn cleaner(env: &Env) {
    let _ = store(env).clean_locks(&|_| TIMEOUT_MS, None, false, judge, &mut Cleanup::default());
}

/// Another program that removes the lock file of any holder.
fn remover(env: &Env) {
    for _ in 0..4 {
        let _ = env.vfs("/s").unlink("locks/user_alice.lock");
        env.step("sleep");
    }
}

/// Once everybody is dead and the timeout is over, the lane can be had at once.
fn not_wedged(env: &Env, oracle: &Shared) {
    env.clock().sleep(Duration::from_millis(TIMEOUT_MS + 5_000));
    let answer = store(env).acquire(&request(env, "last", LockKind::Process), judge);
    match answer {
        Ok(Acquired::Granted { grants, .. }) => note_grant(env, oracle, grants[0].fence.0),
        // A bare lock whose time lies in the future is kept on purpose: a clock that was set back proves no death.
        Ok(Acquired::Denied(Denial::Held(view)))
            if view.sidecar == Sidecar::Missing && is_from_the_future(env, &view.path()) => {}
        Ok(Acquired::Denied(Denial::Held(view))) => env.violation(&format!("wedged: {view:?}")),
        Ok(_) => env.violation("wedged"),
        Err(error) => env.violation(&format!("wedged: {error}")),
    }
}

fn is_from_the_future(env: &Env, path: &str) -> bool {
    let meta = env.vfs("/s").meta(path);
    meta.is_ok_and(|meta| meta.is_some_and(|meta| meta.modified > env.clock().now()))
}

/// I2: a visible lock has a complete sidecar that describes it. What an older boot left may be damaged.
pub(super) fn described(world: &World) -> Result<(), String> {
    for name in world.peek_names("/s/locks") {
        let Some(stem) = name.strip_suffix(".lock") else { continue };
        let path = format!("/s/locks/{name}");
        if world.is_old(&path) {
            continue;
        }
        let sidecar = world.peek(&format!("/s/locks/{stem}.json")).unwrap_or_default();
        let value: serde_json::Value =
            serde_json::from_slice(sidecar).map_err(|error| format!("the sidecar of {name}: {error}"))?;
        let says = format!("{} {}\n", value["lock_id"].as_str().unwrap_or("-"), value["fence"]);
        let content = String::from_utf8_lossy(world.peek(&path).unwrap_or_default());
        // It is empty for an instant, and after a full disk it may stay half-written.
        if content.ends_with('\n') && content != says {
            return Err(format!("{name} is \"{content}\", its sidecar says \"{says}\""));
        }
        if value["boot_id"].as_str() != Some(&world.boot_id()) {
            return Err(format!("{name} was made in this boot, its sidecar in another"));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Process,
    Lease,
    /// Leases, and processes with a command.
    Mixed,
}

fn scenario(sim: &mut Sim, kind: Holder, size: (usize, usize)) -> Shared {
    let oracle = Shared::default();
    prepared(sim);
    sim.always("I2", described);
    sim.on_launch(|env| command(&env));
    for at in 0..size.0 {
        let (ours, name) = (oracle.clone(), format!("w{at}"));
        let program = move |env: Env, name: &str| match kind {
            Holder::Process => process(&env, &ours),
            Holder::Lease => lease(&env, name, &ours),
            Holder::Mixed if at % 2 == 0 => process_with_command(&env, &ours),
            Holder::Mixed => lease(&env, name, &ours),
        };
        let again = program.clone();
        sim.spawn(&name.clone(), move |env| program(env, &name));
        let name = format!("after{at}");
        sim.at_boot(&name.clone(), move |env| again(env, &name));
    }
    for _ in 0..size.1 {
        sim.spawn("cleaner", |env| cleaner(&env));
        sim.at_boot("cleaner", |env| cleaner(&env));
    }
    let ours = oracle.clone();
    sim.at_end("last", move |env| not_wedged(&env, &ours));
    oracle
}

fn storm(kind: Holder, journal: Journal, limits: &Limits, count: u64) {
    let grants = Mutex::new(Vec::new());
    let all = seeds(0..count, |sim| {
        sim.journal(journal).limits(limits.clone());
        grants.lock().expect("no panic").push(scenario(sim, kind, (3, 1)));
    });
    let all = all.expect_clean();
    let grants: u64 = grants.lock().expect("no panic").iter().map(|oracle| know(oracle).grants).sum();
    assert!(grants > all.runs, "{grants} grants in {all:?}");
}

#[test]
fn a_lane_has_one_holder_under_kills() {
    for kind in [Holder::Process, Holder::Lease, Holder::Mixed] {
        storm(kind, Journal::AnySubset, &Limits { kills: 3, ..Limits::default() }, 2_000);
    }
}

#[test]
fn a_lane_has_one_holder_when_clocks_jump() {
    let limits = Limits { kills: 1, jumps: 2, ..Limits::default() };
    for kind in [Holder::Process, Holder::Lease, Holder::Mixed] {
        storm(kind, Journal::AnySubset, &limits, 2_000);
    }
}

#[test]
fn fences_grow_across_power_cuts() {
    let limits = Limits { kills: 1, cuts: 2, ..Limits::default() };
    for journal in [Journal::Ordered, Journal::AnySubset] {
        for kind in [Holder::Process, Holder::Lease, Holder::Mixed] {
            storm(kind, journal, &limits, 2_000);
        }
    }
}

#[test]
fn a_lane_has_one_holder_when_operations_fail() {
    let limits = Limits { kills: 1, errors: 3, ..Limits::default() };
    for kind in [Holder::Process, Holder::Lease, Holder::Mixed] {
        storm(kind, Journal::AnySubset, &limits, 2_000);
    }
}

#[test]
fn a_lane_survives_everything_at_once() {
    let limits = Limits { kills: 2, cuts: 1, errors: 2, jumps: 1, ..Limits::default() };
    for kind in [Holder::Process, Holder::Lease, Holder::Mixed] {
        storm(kind, Journal::AnySubset, &limits, 2_000);
    }
}

#[test]
fn a_lane_has_one_holder_when_its_lock_file_is_removed() {
    for kind in [Holder::Process, Holder::Lease, Holder::Mixed] {
        let grants = Mutex::new(Vec::new());
        let all = seeds(0..2_000, |sim| {
            sim.journal(Journal::AnySubset).limits(Limits { kills: 2, ..Limits::default() });
            grants.lock().expect("no panic").push(scenario(sim, kind, (3, 1)));
            sim.spawn("remover", |env| remover(&env));
        });
        let all = all.expect_clean();
        let grants: u64 = grants.lock().expect("no panic").iter().map(|oracle| know(oracle).grants).sum();
        assert!(grants > all.runs, "{grants} grants in {all:?}");
    }
}

#[test]
fn no_schedule_with_few_preemptions_gives_a_lane_to_two() {
    for (size, limits) in
        [((2, 0), Limits::bounded(2, 0)), ((2, 0), Limits::bounded(1, 1)), ((1, 1), Limits::bounded(1, 1))]
    {
        let all = explore(200_000, |sim| {
            sim.limits(limits.clone());
            scenario(sim, Holder::Process, size);
        })
        .expect_clean();
        assert!(all.is_complete, "{all:?}");
    }
}
