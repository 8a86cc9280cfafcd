//! The pretend kernel must behave like the real one where the lock protocol leans on it.

use super::{Env, Limits, Reuse, Sim, seeds};
use luzia::model::process::Probe;
use luzia::os::{Handle, Open};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LOCKED: &str = "supervisor.lock";

fn check(build: impl Fn(&mut Sim)) {
    let mut sim = Sim::replay(&[]);
    sim.traced();
    sim.dir("/d").file("/d/supervisor.lock", b"");
    build(&mut sim);
    let report = sim.run();
    assert!(report.violations.is_empty(), "{report}");
}

fn open(env: &Env) -> Box<dyn Handle> {
    let file = env.vfs("/d").open(LOCKED, Open::Existing);
    file.expect("opens").expect("is there")
}

fn locks(handle: &mut Box<dyn Handle>, shared: bool) -> bool {
    handle.try_lock(shared).expect("locks")
}

#[test]
fn kernel_locks_belong_to_the_open_file() {
    check(|sim| {
        sim.spawn("p", |env| {
            let (mut one, mut two) = (open(&env), open(&env));
            assert!(locks(&mut one, false) && locks(&mut one, false));
            assert!(!locks(&mut two, false) && !locks(&mut two, true));
            assert!(locks(&mut one, true) && locks(&mut two, true));
            assert!(!locks(&mut one, false), "two others share it");
            drop(two);
            assert!(locks(&mut one, false));
            let mut three = open(&env);
            one.unlock().expect("unlocks");
            assert!(locks(&mut three, false));
        });
    });
}

#[test]
fn an_inherited_lock_outlives_its_parent_and_ends_with_the_child() {
    check(|sim| {
        sim.on_launch(|env| {
            assert_eq!(env.args, ["12"]);
            drop(env.procs().inherited_lock().expect("the lock"));
            env.clock().sleep(Duration::from_secs(10));
        });
        sim.spawn("parent", |env| {
            let mut lock = open(&env);
            assert!(locks(&mut lock, false));
            let pid = env.procs().launch_supervisor(&["12".into()], lock);
            assert_ne!(pid.expect("launches"), env.procs().me().pid);
        });
        sim.spawn("other", |env| {
            env.clock().sleep(Duration::from_secs(5));
            let mut lock = open(&env);
            assert!(!locks(&mut lock, false), "the parent is long dead");
            let holder = lock.meta().expect("stats").ident;
            let pid = env.procs().lock_holder(holder).expect("the supervisor");
            let Probe::Alive { start } = env.procs().probe(pid) else {
                panic!("alive");
            };
            let boot_id = env.clock().boot_id();
            let who = luzia::model::Identity { pid, start, boot_id };
            let wait = |time| env.procs().await_death(&who, Duration::from_secs(time));
            assert!(!wait(1).expect("waits"));
            assert!(wait(60).expect("waits"));
            assert!(locks(&mut lock, false));
            assert_eq!(env.procs().probe(pid), Probe::Gone);
        });
    });
}

#[test]
fn an_open_file_without_a_name_has_no_links() {
    check(|sim| {
        sim.spawn("p", |env| {
            let files = env.vfs("/d");
            let file = open(&env);
            assert_eq!(file.meta().expect("stats").links, 1);
            assert!(files.unlink(LOCKED).expect("unlinks"));
            assert!(!files.unlink(LOCKED).expect("unlinks"));
            assert_eq!(file.meta().expect("stats").links, 0);
            let new = files.open("new", Open::CreateNew(0o600)).expect("opens");
            assert!(files.rename("new", LOCKED).expect("renames"));
            let ident = new.expect("is new").meta().expect("stats").ident;
            let named = files.meta(LOCKED).expect("stats").expect("is there");
            assert_eq!(named.ident, ident);
            assert_ne!(named.ident, file.meta().expect("stats").ident);
        });
    });
}

#[test]
fn missing_things_answer_as_the_traits_say() {
    check(|sim| {
        sim.oddity("/d/link");
        sim.spawn("p", |env| {
            let files = env.vfs("/d");
            let none = |how| files.open("no/file", how).expect("opens").is_none();
            assert!(none(Open::Existing) && none(Open::ReadOnly));
            assert!(files.open("no/file", Open::CreateNew(0o600)).is_err());
            assert!(files.open(LOCKED, Open::CreateNew(0o600)).expect("opens").is_none());
            let odd = files.open("link", Open::ReadOnly).err().expect("refused");
            assert_eq!(odd.kind(), std::io::ErrorKind::InvalidInput);
            assert!(files.meta("no").expect("stats").is_none());
            assert!(files.list("no").expect("lists").is_none());
            assert!(!files.rename("no", "x").expect("renames"));
            assert!(!files.rename(LOCKED, "no/x").expect("renames"));
            let published = files.publish(LOCKED, "no/x").expect("renames");
            assert_eq!(published, luzia::os::Published::NoDirectory);
            assert!(files.make_dir("no/x", 0o700).is_err());
            assert!(files.sync_dir("no").is_err());
            assert!(files.make_dir("full", 0o700).expect("makes"));
            assert!(!files.make_dir("full", 0o700).expect("makes"));
            assert!(files.rename(LOCKED, "full/x").expect("renames"));
            assert!(!files.remove_dir("full").expect("removes"));
            assert!(files.open("../d/full/x", Open::ReadOnly).is_err());
        });
    });
}

#[test]
fn a_sync_that_failed_must_not_be_repeated() {
    let run = |again: bool| {
        let mut sim = Sim::new(1);
        sim.dir("/d").file("/d/supervisor.lock", b"").fail_at(3, 5);
        sim.spawn("p", move |env| {
            let mut file = open(&env);
            file.write_all(b"x").expect("writes");
            assert!(file.sync_all().is_err());
            if again {
                assert!(file.sync_data().is_ok());
            }
        });
        sim.run().violations
    };
    assert!(run(false).is_empty());
    assert!(run(true)[0].contains("fsync retried on the same descriptor"));
}

#[test]
fn a_watch_wakes_for_a_new_name_and_not_without() {
    check(|sim| {
        sim.spawn("watcher", |env| {
            let files = env.vfs("/d");
            let mut watch = files.watch(&["", "missing"]).expect("watches");
            let mut wait = |time| watch.wait(Duration::from_secs(time)).expect("waits");
            assert!(!wait(1) && wait(100) && !wait(1));
        });
        sim.spawn("maker", |env| {
            env.clock().sleep(Duration::from_secs(50));
            env.vfs("/d").make_dir("new", 0o700).expect("makes");
        });
    });
}

#[test]
fn pids_are_used_again_with_another_start_time() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let of_run = seen.clone();
    check(move |sim| {
        let seen = of_run.clone();
        sim.reuse_pids(Reuse::AtOnce);
        let note = move |env: Env| seen.lock().expect("no panic").push(env.procs().me());
        sim.on_launch(note.clone());
        sim.at_end("later", note.clone());
        sim.spawn("p", move |env| {
            let lock = open(&env);
            env.procs().launch_supervisor(&[], lock).expect("launches");
            note(env);
        });
    });
    let seen = seen.lock().expect("no panic").clone();
    assert_eq!(seen.len(), 3);
    assert!(seen[2].pid == seen[0].pid || seen[2].pid == seen[1].pid);
    assert!(seen[2].start > seen[0].start && seen[2].start > seen[1].start);
}

#[test]
fn after_a_power_cut_the_boot_is_another_and_its_clock_starts_again() {
    let boots = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let all = seeds(0..50, |sim| {
        let limits = Limits { cuts: 1, ..Limits::default() };
        sim.limits(limits).dir("/d");
        let boots = boots.clone();
        let note = move |env: Env| {
            env.clock().sleep(Duration::from_secs(100));
            let late = env.clock().boot_ms() > 150_000;
            boots.lock().expect("no panic").insert((env.clock().boot_id(), late));
        };
        sim.at_boot("after", note.clone());
        sim.spawn("before", note);
    });
    assert!(all.expect_clean().cuts > 10);
    assert_eq!(boots.lock().expect("no panic").len(), 2);
}
