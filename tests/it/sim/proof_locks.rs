//! The simulator must find what is wrong with three lock protocols, two of which are wrong: the interleavings are those
//! of a hand-written model of single system calls, so an explorer that misses them explores nothing.

use super::{Env, Explored, Limits, Sim, explore, seeds};
use luzia::model::process::Probe;
use luzia::os::{Handle, Open, Published, Vfs};
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Protocol {
    /// O_CREAT|O_EXCL, then the owner is written into it.
    CreateThenWrite,
    /// A complete file gets the name by a rename that does not replace.
    Publish,
    /// As the first, with every change under flock(2) on a guard that stays.
    Guard,
}

const LOCK: &str = "alice.lock";

struct Worker {
    env: Env,
    files: Arc<dyn Vfs>,
    protocol: Protocol,
}

impl Worker {
    fn new(env: Env, protocol: Protocol) -> Self {
        let files = env.vfs("/locks");
        Self { env, files, protocol }
    }

    fn me(&self) -> String {
        self.env.procs().me().pid.to_string()
    }

    /// The guard, where there is one; `Err` when somebody else has it.
    fn guard(&self) -> Result<Option<Box<dyn Handle>>, ()> {
        if self.protocol != Protocol::Guard {
            return Ok(None);
        }
        let guard = self.files.open("guard", Open::Existing).expect("opens");
        let mut guard = guard.expect("the guard is permanent");
        if guard.try_lock(false).expect("locks") {
            return Ok(Some(guard));
        }
        Err(())
    }

    fn acquire(&self) -> bool {
        let Ok(guard) = self.guard() else {
            return false;
        };
        let taken = match self.protocol {
            Protocol::CreateThenWrite | Protocol::Guard => self.create(LOCK),
            Protocol::Publish => {
                let tmp = format!("tmp.{}", self.me());
                assert!(self.create(&tmp), "its own name");
                self.files.publish(&tmp, LOCK).expect("renames") == Published::Done
            }
        };
        if let Some(mut guard) = guard {
            guard.unlock().expect("unlocks");
        }
        taken
    }

    fn create(&self, name: &str) -> bool {
        match self.files.open(name, Open::CreateNew(0o644)).expect("opens") {
            Some(mut file) => {
                file.write_all(self.me().as_bytes()).expect("writes");
                true
            }
            None => false,
        }
    }

    fn hold(&self) {
        self.env.enter("alice");
        self.env.step("work");
        self.env.leave("alice");
    }

    fn release(&self) {
        let guard = loop {
            match self.guard() {
                Ok(guard) => break guard,
                Err(()) => self.env.clock().sleep(std::time::Duration::from_millis(1)),
            }
        };
        if self.owner().as_deref() == Some(&*self.me()) {
            self.files.unlink(LOCK).expect("unlinks");
        }
        drop(guard);
    }

    fn owner(&self) -> Option<String> {
        let mut file = self.files.open(LOCK, Open::ReadOnly).expect("opens")?;
        let bytes = file.read_all(100).expect("reads");
        Some(String::from_utf8(bytes).expect("digits"))
    }

    /// Looks whether the owner is dead, and if so removes the lock.
    fn clean(&self) {
        let Ok(_guard) = self.guard() else {
            return;
        };
        let Some(owner) = self.owner() else {
            return;
        };
        let pid = owner.parse::<u32>().ok();
        if pid.is_none_or(|pid| self.env.procs().probe(pid) == Probe::Gone) {
            self.files.unlink(LOCK).expect("unlinks");
        }
    }
}

fn scenario(sim: &mut Sim, protocol: Protocol, workers: usize, cleaners: usize) {
    sim.dir("/locks").file("/locks/guard", b"");
    for _ in 0..workers {
        sim.spawn("worker", move |env| {
            let worker = Worker::new(env, protocol);
            if worker.acquire() {
                worker.hold();
                worker.release();
            }
        });
    }
    for _ in 0..cleaners {
        sim.spawn("cleaner", move |env| Worker::new(env, protocol).clean());
    }
}

fn all(protocol: Protocol, size: (usize, usize), limits: Limits) -> Explored {
    explore(3_000_000, |sim| {
        sim.limits(limits.clone());
        scenario(sim, protocol, size.0, size.1);
    })
}

#[test]
fn a_lock_that_is_created_empty_has_two_holders_without_any_kill() {
    let report = all(Protocol::CreateThenWrite, (2, 1), Limits::bounded(2, 0));
    report.expect_failure("at once");
}

#[test]
fn a_lock_that_is_complete_at_birth_is_clean_without_kills() {
    let all = all(Protocol::Publish, (2, 1), Limits::bounded(2, 0)).expect_clean();
    assert!(all.is_complete && all.runs > 100, "{all:?}");
}

#[test]
fn a_lock_that_is_complete_at_birth_has_two_holders_after_a_kill_and_two_cleaners() {
    // Of somebody who is dead already.
    explore(3_000_000, |sim| {
        sim.limits(Limits::bounded(2, 0));
        scenario(sim, Protocol::Publish, 2, 2);
        sim.file("/locks/alice.lock", b"99999");
    })
    .expect_failure("at once");
    let found = explore(3_000_000, |sim| {
        sim.limits(Limits::bounded(2, 1));
        scenario(sim, Protocol::Publish, 3, 2);
    });
    assert_eq!(found.expect_failure("at once").kills, 1);
}

#[test]
fn a_guarded_lock_never_has_two_holders() {
    for (size, limits) in
        [((2, 1), Limits::bounded(3, 0)), ((2, 1), Limits::bounded(2, 1)), ((1, 2), Limits::bounded(2, 1))]
    {
        let all = all(Protocol::Guard, size, limits).expect_clean();
        assert!(all.is_complete && all.runs > 1000, "{all:?}");
    }
}

#[test]
fn seeds_find_the_same_two_faults_and_no_third() {
    let limits = Limits { kills: 2, ..Limits::default() };
    let over = |protocol, count| {
        seeds(0..count, |sim| {
            sim.limits(limits.clone());
            scenario(sim, protocol, 3, 2);
        })
    };
    over(Protocol::CreateThenWrite, 5_000).expect_failure("at once");
    over(Protocol::Publish, 20_000).expect_failure("at once");
    over(Protocol::Guard, 3_000).expect_clean();
}

#[test]
fn a_failure_comes_again_from_its_seed_and_from_its_choices() {
    let build = |sim: &mut Sim| scenario(sim, Protocol::CreateThenWrite, 3, 2);
    let found = seeds(0..5_000, build).expect_failure("at once");
    let mut again = Sim::replay(&found.choices());
    again.traced();
    build(&mut again);
    let again = again.run();
    assert_eq!(found.violations, again.violations);
    assert_eq!(found.trace, again.trace);
}
