//! The line of a lane under every interleaving that a seed allows, with kills, power cuts and failing operations: the lane
//! has one holder, everybody who lives comes to it without a retry of its own having to be waited for, and no line is left.

use super::locks::{LANE, TIMEOUT_MS, prepared, request, store};
use super::{Env, Limits, Sim, seeds};
use luzia::model::{LaneName, LockKind, SandboxId};
use luzia::policy::line::{LIFE_LOOK, LONGEST_TRUST, NO_LOCK_LOOK, has_turn, patience};
use luzia::policy::staleness::judge;
use luzia::store::{Acquired, Cleanup, Denial, InLine, LaneNeed, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How long a waiter may take where nothing fails: looks at the life of killed holders, and no turn that runs out.
const SOON_MS: u64 = 2_900;
/// More tries than any waiter needs.
const MOST_TRIES: u32 = 200;

/// `luzia lock` of lanes, as `app::locks::waiting` does it.
fn waiter(env: &Env, lanes: &[&str], grants: &AtomicU64, must_be_soon: bool) {
    let store = store(env);
    let needs: Vec<LaneNeed> =
        lanes.iter().map(|lane| LaneNeed::new(LaneName::parse(lane).expect("a lane"), 1, TIMEOUT_MS)).collect();
    let sandbox = || SandboxId::parse("0123456789abcdef");
    let mut in_line = InLine::waiting(has_turn, sandbox);
    let begin = env.clock().boot_ms();
    for _ in 0..MOST_TRIES {
        let request = Request { needs: needs.clone(), ..request(env, "p", LockKind::Process) };
        let is_held = match store.acquire_in_line(&request, judge, &mut in_line) {
            Ok(Acquired::Granted { grants: mut granted, mut files, .. }) => {
                grants.fetch_add(1, Ordering::Relaxed);
                let took = env.clock().boot_ms() - begin;
                if must_be_soon && took > SOON_MS {
                    env.violation(&format!("a waiter waited {took} ms, so nobody called it"));
                }
                lanes.iter().for_each(|lane| env.enter(lane));
                env.step("work");
                lanes.iter().for_each(|lane| env.leave(lane));
                drop(in_line);
                while let (Some(grant), Some(file)) = (granted.pop(), files.pop()) {
                    let _ = store.release_process(&grant, Some(file), false);
                }
                return;
            }
            Ok(Acquired::Denied(Denial::Held(_))) => true,
            Ok(_) | Err(_) => false,
        };
        let longest = match in_line.position() {
            Some(0) if is_held && in_line.sees_life() => LONGEST_TRUST,
            Some(0) | None => NO_LOCK_LOOK,
            Some(ahead) => patience(ahead),
        };
        if store.wait_in_line(&mut in_line, longest, LIFE_LOOK).is_none() {
            env.clock().sleep(NO_LOCK_LOOK);
        }
    }
    env.violation("a waiter never came to the lane");
}

fn nothing_left(env: &Env, lanes: &[&str]) {
    let store = store(env);
    let needs = lanes.iter().map(|lane| LaneNeed::new(LaneName::parse(lane).expect("a lane"), 1, TIMEOUT_MS)).collect();
    let answer = store.acquire(&Request { needs, ..request(env, "last", LockKind::Lease) }, judge);
    if !matches!(answer, Ok(Acquired::Granted { .. })) {
        env.violation("the lane is not to be had in the end");
    }
    let _ = store.clean_locks(&|_| 60_000, None, false, judge, &mut Cleanup::default());
    let left = env.vfs("/s").list("locks").ok().flatten().unwrap_or_default();
    if left.iter().any(|entry| entry.name.ends_with(".line")) {
        env.violation("the line of the dead is still there");
    }
}

/// The lanes of each of four waiters, which stand in the order in which they are taken.
type Wanted = [&'static [&'static str]; 4];

const ONE: Wanted = [&[LANE]; 4];
/// Two lanes at once, and each of them alone.
const TWO: Wanted = [&[LANE, "b"], &[LANE], &[LANE, "b"], &["b"]];

fn storm(wanted: Wanted, limits: &Limits, must_be_soon: bool, count: u64) {
    let grants = Arc::new(AtomicU64::new(0));
    let all = seeds(0..count, |sim: &mut Sim| {
        sim.limits(limits.clone());
        prepared(sim);
        for (at, lanes) in wanted.into_iter().enumerate() {
            let (ours, again) = (grants.clone(), grants.clone());
            sim.spawn(&format!("w{at}"), move |env| waiter(&env, lanes, &ours, must_be_soon));
            sim.at_boot(&format!("after{at}"), move |env| waiter(&env, lanes, &again, false));
        }
        sim.at_end("last", move |env| nothing_left(&env, wanted[0]));
    });
    let all = all.expect_clean();
    let grants = grants.load(Ordering::Relaxed);
    assert!(grants > all.runs, "{grants} grants in {all:?}");
}

#[test]
fn everybody_in_the_line_is_called_under_kills() {
    // Time passes only where nobody can move, so a process that waits for long was not called.
    storm(ONE, &Limits { wakes: 0, ..Limits::default() }, true, 1_500);
    storm(ONE, &Limits { wakes: 0, kills: 2, ..Limits::default() }, true, 1_500);
}

#[test]
fn everybody_in_the_line_comes_to_the_lane_whatever_fails() {
    storm(ONE, &Limits { kills: 1, errors: 3, ..Limits::default() }, false, 1_000);
    storm(ONE, &Limits { kills: 1, cuts: 1, errors: 1, ..Limits::default() }, false, 1_000);
}

#[test]
fn who_wants_two_lanes_is_called_as_well_and_keeps_nobody_from_one_of_them() {
    storm(TWO, &Limits { wakes: 0, ..Limits::default() }, true, 1_500);
    storm(TWO, &Limits { wakes: 0, kills: 2, ..Limits::default() }, true, 1_500);
    storm(TWO, &Limits { kills: 1, cuts: 1, errors: 2, ..Limits::default() }, false, 1_000);
}
