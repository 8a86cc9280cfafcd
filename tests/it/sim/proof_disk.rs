//! The simulator must lose what a real power cut loses: records of a queue that were acknowledged too early.

use super::{Journal, Limits, Sim, explore, seeds};
use luzia::os::{Open, Published};
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Enqueue {
    Full,
    WithoutFileSync,
    WithoutDirSync,
}

const RECORD: &str = "{\"id\":\"task\",\"command\":[\"true\"]}";

/// Two programs enqueue, the power goes at any moment, and a third looks whether each acknowledged record is whole.
fn scenario(sim: &mut Sim, how: Enqueue, journal: Journal) {
    sim.journal(journal).dir("/spool").dir("/spool/tmp");
    let acked = Arc::new(Mutex::new(Vec::new()));
    for name in ["one", "two"] {
        let acked = acked.clone();
        sim.spawn(name, move |env| {
            let files = env.vfs("/spool");
            files.make_dir("pending", 0o700).expect("a directory");
            let tmp = format!("tmp/{name}");
            let file = files.open(&tmp, Open::CreateNew(0o600)).expect("opens");
            let mut file = file.expect("its own name");
            file.write_all(RECORD.as_bytes()).expect("writes");
            if how != Enqueue::WithoutFileSync {
                file.sync_all().expect("syncs");
            }
            let to = format!("pending/{name}");
            assert_eq!(files.publish(&tmp, &to).expect("renames"), Published::Done);
            if how != Enqueue::WithoutDirSync {
                files.sync_dir("pending").expect("syncs");
            }
            acked.lock().expect("no panic").push(to);
        });
    }
    sim.at_boot("reader", move |env| {
        let files = env.vfs("/spool");
        for name in acked.lock().expect("no panic").clone() {
            let file = files.open(&name, Open::ReadOnly).expect("opens");
            let bytes = file.map(|mut file| file.read_all(1000).expect("reads"));
            if bytes.as_deref() != Some(RECORD.as_bytes()) {
                env.violation(&format!("lost {name}: {bytes:?}"));
            }
        }
    });
}

fn one_cut() -> Limits {
    Limits { cuts: 1, ..Limits::default() }
}

#[test]
fn an_enqueue_without_a_sync_loses_an_acknowledged_record() {
    for how in [Enqueue::WithoutFileSync, Enqueue::WithoutDirSync] {
        for journal in [Journal::Ordered, Journal::AnySubset] {
            let found = seeds(0..2_000, |sim| {
                sim.limits(one_cut());
                scenario(sim, how, journal);
            });
            found.expect_failure("lost pending");
        }
    }
}

#[test]
fn a_full_enqueue_never_loses_an_acknowledged_record() {
    for journal in [Journal::Ordered, Journal::AnySubset] {
        let all = seeds(0..5_000, |sim| {
            sim.limits(one_cut());
            scenario(sim, Enqueue::Full, journal);
        })
        .expect_clean();
        assert!(all.cuts > 2_000, "{all:?}");
    }
}

#[test]
fn a_cut_at_every_operation_with_every_simple_image_is_survived() {
    for journal in [Journal::Ordered, Journal::AnySubset] {
        let all = explore(100_000, |sim| {
            sim.limits(Limits { cuts: 1, ..Limits::bounded(1, 0) });
            scenario(sim, Enqueue::Full, journal);
        })
        .expect_clean();
        assert!(all.is_complete && all.cuts > 500, "{all:?}");
    }
}

/// A file that is overwritten in place is old, new, or neither, until it is synced.
#[test]
fn every_kind_of_damage_to_unsynced_bytes_occurs() {
    let seen = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let all = seeds(0..3_000, |sim| {
        let seen = seen.clone();
        sim.limits(one_cut()).dir("/d").file("/d/old", b"aaaa");
        sim.spawn("writer", |env| {
            let files = env.vfs("/d");
            let open = |name, how| files.open(name, how).expect("opens").expect("is there");
            open("old", Open::Existing).write_at_start(b"bbbb").expect("writes");
            open("new", Open::CreateNew(0o600)).write_all(b"cc").expect("writes");
        });
        sim.at_boot("reader", move |env| {
            let look = |path| env.look(|world| world.disk.peek(path).map(<[u8]>::to_vec)).flatten();
            seen.lock().expect("no panic").insert((look("/d/old"), look("/d/new")));
        });
    });
    all.expect_clean();
    let seen = seen.lock().expect("no panic").clone();
    let olds: Vec<_> = [&b"aaaa"[..], b"bbbb"].map(|bytes| Some(bytes.to_vec())).into();
    for old in olds {
        let news = [None, Some(&b""[..]), Some(b"\0\0"), Some(b"c"), Some(b"cc")];
        for new in news.map(|new| new.map(<[u8]>::to_vec)) {
            assert!(seen.contains(&(old.clone(), new.clone())), "{old:?} {new:?} in {seen:?}");
        }
    }
    assert_eq!(seen.len(), 10, "{seen:?}");
}

/// Without one journal for everything, a later rename may survive an earlier one; with one, it may not.
#[test]
fn only_the_loose_journal_keeps_a_later_change_without_an_earlier_one() {
    let later_alone = |journal| {
        let found = seeds(0..500, |sim| {
            sim.journal(journal).limits(one_cut()).dir("/d");
            sim.spawn("writer", |env| {
                let files = env.vfs("/d");
                files.make_dir("first", 0o700).expect("a directory");
                files.make_dir("second", 0o700).expect("a directory");
                files.make_dir("second/third", 0o700).expect("a directory");
            });
            sim.at_boot("reader", |env| {
                let names = env.look(|world| world.disk.peek_names("/d")).expect("alive");
                if names == ["second"] {
                    env.violation("later alone");
                }
            });
        });
        found.failure.is_some()
    };
    assert!(later_alone(Journal::AnySubset));
    assert!(!later_alone(Journal::Ordered));
}
