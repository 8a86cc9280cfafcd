//! A pid that is given out again is not the process that had it: who a holder was is its pid with its start time.

use super::locks::{prepared, request, store};
use super::{Limits, Reuse, seeds};
use luzia::model::LockKind;
use luzia::policy::staleness::judge;
use luzia::store::{Acquired, Denial};
use std::sync::{Arc, Mutex};

#[test]
fn a_lease_ends_with_its_process_though_another_has_its_pid() {
    let again = Arc::new(Mutex::new(0));
    let of_runs = again.clone();
    let all = seeds(0..200, move |sim| {
        let (holder, again) = (Arc::new(Mutex::new(None)), of_runs.clone());
        prepared(sim);
        sim.limits(Limits { kills: 1, ..Limits::default() }).reuse_pids(Reuse::AtOnce);
        let who = holder.clone();
        sim.spawn("holder", move |env| {
            let mut wanted = request(&env, "first", LockKind::Lease);
            wanted.pid_watched = true;
            *who.lock().expect("no panic") = Some(wanted.process.clone());
            let _ = store(&env).acquire(&wanted, judge);
        });
        sim.at_end("another", move |env| {
            let me = env.procs().me();
            let Some(first) = holder.lock().expect("no panic").clone() else { return };
            if me.pid != first.pid || me.start == first.start {
                env.violation(&format!("{me:?} does not have the pid of {first:?} again"));
            }
            match store(&env).acquire(&request(&env, "second", LockKind::Lease), judge) {
                Ok(Acquired::Granted { broken, .. }) => *again.lock().expect("no panic") += broken.len(),
                Ok(Acquired::Denied(Denial::Held(view))) => {
                    env.violation(&format!("held by a pid that is another's: {view:?}"))
                }
                Ok(_) => env.violation("neither granted nor held"),
                Err(error) => env.violation(&error.to_string()),
            }
        });
    });
    all.expect_clean();
    assert!(*again.lock().expect("no panic") > 100, "{again:?}");
}
