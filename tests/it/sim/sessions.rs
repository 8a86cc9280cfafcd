//! Session leases under every interleaving that a seed allows: an acquirer hands the kernel lock to a keeper, and neither a
//! kill nor an operation that fails lets two sessions have a lane, or keeps one from being had.

use super::locks::{LANE, TIMEOUT_MS, described, lane, prepared, request, store};
use super::{Env, Journal, Limits, Sim, seeds};
use luzia::model::{LockKind, Who};
use luzia::policy::staleness::judge;
use luzia::store::{Acquired, Cleanup, Denial, KeeperAnswer};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What an onlooker counts.
#[derive(Default)]
struct Seen {
    highest_fence: AtomicU64,
    kept: AtomicU64,
}

fn note(env: &Env, seen: &Seen, fence: u64) {
    if fence <= seen.highest_fence.fetch_max(fence, Ordering::SeqCst) {
        env.violation(&format!("fence {fence} again"));
    }
}

/// `luzia acquire --session`, for an agent whose keeper is another process.
fn acquirer(env: &Env, key: &str, seen: &Seen) {
    let store = store(env);
    let mut wanted = request(env, key, LockKind::Session);
    wanted.who = Who { session: Some(key.to_owned()), ..Who::default() };
    let Ok(Acquired::Granted { grants, files, .. }) = store.acquire(&wanted, judge) else { return };
    note(env, seen, grants[0].fence.0);
    let (lane, slot) = (&grants[0].lane, grants[0].slot);
    if store.ask_keeper(key, lane, slot).is_err() {
        return;
    }
    for _ in 0..40 {
        match store.keeper_answer(key, lane, slot) {
            Ok(KeeperAnswer::Waiting) => env.clock().sleep(Duration::from_millis(5)),
            Ok(KeeperAnswer::Holds | KeeperAnswer::Gone) | Err(_) => break,
        }
    }
    let _ = store.unask_keeper(key, lane, slot);
    drop(files);
}

/// The keeper of a session. As long as it has a lock the session is inside.
fn keeper(env: &Env, key: &str, seen: &Seen) {
    let store = store(env);
    let Ok(Some(_lock)) = store.take_keeper_lock(key) else { return };
    let mut held = Vec::new();
    for _ in 0..30 {
        if store.take_wanted(key, &mut held).is_err() {
            return;
        }
        if !held.is_empty() {
            break;
        }
        env.clock().sleep(Duration::from_millis(5));
    }
    for mut lock in held {
        env.enter(LANE);
        seen.kept.fetch_add(1, Ordering::SeqCst);
        env.step("work");
        let _ = store.refresh_session_lock(&mut lock, TIMEOUT_MS);
        env.clock().sleep(Duration::from_millis(1));
        if !store.is_in_force(&mut lock) {
            env.violation("a lease went while its keeper lives");
        }
        env.leave(LANE);
        let _ = store.end_session_lock(key, lock);
    }
    let _ = store.leave_session(key);
}

fn not_wedged(env: &Env, seen: &Seen) {
    let store = store(env);
    env.clock().sleep(Duration::from_millis(TIMEOUT_MS + 5_000));
    match store.acquire(&request(env, "last", LockKind::Process), judge) {
        Ok(Acquired::Granted { grants, .. }) => note(env, seen, grants[0].fence.0),
        Ok(Acquired::Denied(Denial::Held(view))) => env.violation(&format!("wedged: {view:?}")),
        Ok(_) => env.violation("wedged"),
        Err(error) => env.violation(&format!("wedged: {error}")),
    }
    env.clock().sleep(Duration::from_secs(3600));
    let _ = store.clean_locks(&|_| TIMEOUT_MS, None, false, judge, &mut Cleanup::default());
}

fn scenario(sim: &mut Sim) -> Arc<Seen> {
    let seen = Arc::<Seen>::default();
    prepared(sim);
    sim.always("I2", described);
    for key in ["a", "b"] {
        let ours = seen.clone();
        sim.spawn(&format!("acquirer-{key}"), move |env| acquirer(&env, key, &ours));
        let ours = seen.clone();
        sim.spawn(&format!("keeper-{key}"), move |env| keeper(&env, key, &ours));
    }
    sim.spawn("cleaner", |env| {
        let _ = store(&env).clean_locks(&|_| TIMEOUT_MS, None, false, judge, &mut Cleanup::default());
    });
    let ours = seen.clone();
    sim.at_end("last", move |env| not_wedged(&env, &ours));
    seen
}

fn storm(limits: &Limits, count: u64) {
    assert_eq!(lane().to_string(), LANE);
    let all_seen = Mutex::new(Vec::new());
    let all = seeds(0..count, |sim| {
        sim.journal(Journal::AnySubset).limits(limits.clone());
        all_seen.lock().expect("no panic").push(scenario(sim));
    });
    let all = all.expect_clean();
    let seen = all_seen.lock().expect("no panic");
    let kept: u64 = seen.iter().map(|seen| seen.kept.load(Ordering::SeqCst)).sum();
    assert!(kept > all.runs / 4, "{kept} leases were kept in {all:?}");
}

#[test]
fn a_lane_has_one_session_under_kills() {
    storm(&Limits { kills: 2, ..Limits::default() }, 1_500);
}

#[test]
fn a_lane_has_one_session_when_operations_fail() {
    storm(&Limits { kills: 1, errors: 2, ..Limits::default() }, 1_500);
}
