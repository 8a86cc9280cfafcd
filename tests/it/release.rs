//! What a task's release takes and what it leaves, whether or not the caller knows what the task was granted.

use luzia::model::lock::Grant;
use luzia::model::{Fence, LaneName, LockId, LockKind, TaskId};
use luzia::os::Processes;
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::policy::staleness::{judge, standing};
use luzia::store::{Acquired, By, LaneNeed, Release, Released, Request, Spool};
use std::path::Path;
use std::sync::Arc;

const OURS: TaskId = TaskId(7);

fn lanes() -> Vec<LaneName> {
    ["user:alice", "thread:1"].map(|lane| LaneName::parse(lane).unwrap()).to_vec()
}

fn take(store: &Spool, lanes: Vec<LaneName>, holder: &str) -> Vec<Grant> {
    let needs = lanes.into_iter().map(|lane| LaneNeed::new(lane, 4, 60_000)).collect();
    granted(store, request(needs, holder))
}

fn request(needs: Vec<LaneNeed>, holder: &str) -> Request {
    Request {
        needs,
        holder: holder.to_owned(),
        kind: LockKind::Task,
        ttl_ms: None,
        process: RealProcesses.me(),
        pid_watched: false,
        who: luzia::model::Who::default(),
        durable: false,
        lenders: Vec::new(),
        stands: standing,
    }
}

fn granted(store: &Spool, request: Request) -> Vec<Grant> {
    match store.acquire(&request, judge).unwrap() {
        Acquired::Granted { grants, .. } => grants,
        _ => panic!("the lanes have room"),
    }
}

/// Task 8 holds the first slot of the thread, then task 7 the user's lane and the second slot; `change` is made to the
/// locks and to what the caller knows. Gives the lanes that were released, in order, and the lock files that are left.
fn released(change: impl FnOnce(&Path, &mut Vec<Grant>)) -> (Vec<String>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let files = RealFiles::open_at(dir.path().to_str().unwrap(), false).unwrap().unwrap();
    let store = Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses));
    store.prepare().unwrap();
    take(&store, lanes()[1..].to_vec(), "task_8");
    let mut known = take(&store, lanes(), "task_7");
    assert_eq!(known.iter().map(|grant| grant.slot).collect::<Vec<_>>(), [0, 1]);
    let locks = dir.path().join("locks");
    change(&locks, &mut known);
    let released = store.release_task(OURS, &lanes(), &known).unwrap();
    for lock in &released {
        assert_eq!(lock.holder.as_deref(), Some("task_7"));
        assert!(lock.lock_id.as_deref().is_some_and(|id| id.starts_with("task_7_")), "{lock:?}");
    }
    assert_eq!(store.release_task(OURS, &lanes(), &known).unwrap(), [], "a second time finds nothing");
    let left = std::fs::read_dir(locks).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut left: Vec<String> = left.filter(|name| name.ends_with(".lock")).collect();
    left.sort();
    (released.iter().map(|lock| format!("{}@{}", lock.lane, lock.slot)).collect(), left)
}

/// Once with what the claim was granted, and once without.
fn check(change: impl Fn(&Path), expected: &[&str], left: &[&str]) {
    for is_known in [true, false] {
        let found = released(|locks, known| {
            change(locks);
            if !is_known {
                known.clear();
            }
        });
        assert_eq!(found.0, expected, "known: {is_known}");
        assert_eq!(found.1, left, "known: {is_known}");
    }
}

const BOTH: [&str; 2] = ["thread:1@1", "user:alice@0"];
const OTHER: &str = "thread_1.lock";

fn write(locks: &Path, name: &str, text: &str) {
    std::fs::write(locks.join(name), text).unwrap();
}

#[test]
fn a_task_gives_back_its_own_locks_the_last_lane_first() {
    check(|_| {}, &BOTH, &[OTHER]);
}

#[test]
fn a_lock_whose_sidecar_does_not_read_is_known_by_its_lock_file() {
    check(|locks| std::fs::remove_file(locks.join("thread_1@1.json")).unwrap(), &BOTH, &[OTHER]);
    check(|locks| write(locks, "user_alice.json", "{"), &BOTH, &[OTHER]);
    let long = format!("task_7_1795349616 5\n{}", "x".repeat(5000));
    let unread = |locks: &Path| {
        std::fs::remove_file(locks.join("thread_1@1.json")).unwrap();
        write(locks, "thread_1@1.lock", &long);
    };
    check(unread, &BOTH, &[OTHER]);
    // The other's as well.
    check(|locks| write(locks, "thread_1.json", "{"), &BOTH, &[OTHER]);
    let foreign = |locks: &Path| {
        std::fs::remove_file(locks.join("thread_1@1.json")).unwrap();
        write(locks, "thread_1@1.lock", "task_77_1795349616 5\n");
    };
    check(foreign, &["user:alice@0"], &[OTHER, "thread_1@1.lock"]);
}

#[test]
fn what_became_somebody_elses_is_left() {
    let of = |locks: &Path, from: &str, to: &str| {
        let text = std::fs::read_to_string(locks.join("thread_1@1.json")).unwrap();
        assert!(text.contains(from));
        write(locks, "thread_1@1.json", &text.replace(from, to));
    };
    let left = ["user:alice@0"];
    check(|locks| of(locks, "\"task_id\":\"task_7\"", "\"task_id\":\"task_70\""), &left, &[OTHER, "thread_1@1.lock"]);
    check(|locks| of(locks, "\"kind\":\"task\"", "\"kind\":\"lease\""), &left, &[OTHER, "thread_1@1.lock"]);
}

#[test]
fn what_stands_where_a_lock_would_be_and_is_none_stops_nobody() {
    let link = |locks: &Path| std::os::unix::fs::symlink("/nowhere", locks.join("thread_1@2.lock")).unwrap();
    check(link, &BOTH, &[OTHER, "thread_1@2.lock"]);
}

#[test]
fn a_lane_in_which_the_known_grant_is_not_found_is_looked_through() {
    // In another slot than the caller believes.
    let found = released(|_, known| known[1].slot = 0);
    assert_eq!(found, (BOTH.map(str::to_owned).to_vec(), vec![OTHER.to_owned()]));
    // A grant of another lane tells nothing of this one.
    let found = released(|_, known| {
        let lane = known[0].lane.clone();
        *known = vec![Grant {
            lane,
            slot: 1,
            lock_id: LockId("task_7_1".into()),
            fence: Fence(1),
            value: None,
            has_share: false,
        }];
    });
    assert_eq!(found, (BOTH.map(str::to_owned).to_vec(), vec![OTHER.to_owned()]));
}

/// What a dead claim of the task left in a further slot.
fn leave_debris(locks: &Path) {
    for end in ["json", "lock"] {
        std::fs::copy(locks.join(format!("thread_1@1.{end}")), locks.join(format!("thread_1@2.{end}"))).unwrap();
    }
}

#[test]
fn of_several_slots_in_a_lane_all_are_given_back_that_are_known() {
    let all = ["thread:1@1", "thread:1@2", "user:alice@0"].map(str::to_owned).to_vec();
    let found = released(|locks, known| {
        leave_debris(locks);
        known.push(Grant { slot: 2, ..known[1].clone() });
    });
    assert_eq!(found, (all.clone(), vec![OTHER.to_owned()]));
    // One of them has gone: the lane is looked through.
    let found = released(|locks, known| {
        leave_debris(locks);
        known.push(Grant { slot: 3, ..known[1].clone() });
    });
    assert_eq!(found, (all, vec![OTHER.to_owned()]));
}

/// A claim of several slots that died, of which nothing is left to recover: whichever of its locks is named, all of them go.
#[test]
fn the_lock_of_one_of_several_slots_stands_for_all_of_them() {
    for named in 0..3 {
        let dir = tempfile::tempdir().unwrap();
        let files = RealFiles::open_at(dir.path().to_str().unwrap(), false).unwrap().unwrap();
        let store = Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses));
        store.prepare().unwrap();
        let lane = LaneName::parse("build").unwrap();
        // The process of the claim is gone.
        let me = RealProcesses.me();
        let dead = || luzia::model::Identity { start: me.start + 1, ..me.clone() };
        let need = |count| LaneNeed { count, ..LaneNeed::new(lane.clone(), 8, 60_000) };
        let claim = |count, holder| Request { process: dead(), ..request(vec![need(count)], holder) };
        let ours = granted(&store, claim(3, "task_7"));
        granted(&store, claim(2, "task_8"));
        let which = Release::LockId(ours[named].lock_id.to_string());
        let released = store.release(&lane, &which, By::Holder, 60_000, judge).unwrap();
        assert!(matches!(released, Released::Removed(_)), "{released:?}");
        let left = std::fs::read_dir(dir.path().join("locks")).unwrap().flatten();
        let texts = left.filter(|entry| entry.path().extension().is_some_and(|end| end == "lock"));
        let texts: Vec<String> = texts.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
        assert!(texts.len() == 2 && texts.iter().all(|text| text.starts_with("task_8_")), "{texts:?}");
    }
}
