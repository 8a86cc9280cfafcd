//! One combination of files for one task: what it consists of, how it is built, and what is left of it.

use super::{Walked, store};
use crate::sim::{Env, World, spool};
use luzia::model::task::{EndState, Outcome as TaskOutcome, TaskState, TaskWait};
use luzia::model::{LaneName, LockId, LockKind, Name, Task, TaskId, Timer, Timestamp};
use luzia::os::{Handle, Open, Vfs};
use luzia::policy::staleness::{judge, standing};
use luzia::store::{Acquired, CancelRequest, LaneNeed, Request, encode_task};
use std::sync::Arc;
use std::time::Duration;

/// The number of the task.
pub const ID: u64 = 1;
/// The places of a record, in the order in which a copy counts more than those after it.
pub const PLACES: [&str; 5] = ["done", "parked", "pending", "running", "waiting"];
const DAY: &str = "2026-01-09";
const READY: &str = "ready";
const END: &str = "end";

/// Which places hold a copy of the record; a bit each, as in [`PLACES`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Copies(u8);

impl std::fmt::Debug for Copies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Copies {
    /// Copies in these places.
    pub fn of(names: &[&str]) -> Self {
        let bit = |name: &&str| 1 << PLACES.iter().position(|place| place == name).expect("a place");
        Self(names.iter().map(bit).sum())
    }

    /// Whether a place holds one.
    pub fn has(self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// The places that hold one.
    pub fn names(self) -> Vec<&'static str> {
        PLACES.into_iter().enumerate().filter(|(at, _)| self.0 & (1 << at) != 0).map(|(_, name)| name).collect()
    }

    fn is_within(self, names: &[&str]) -> bool {
        self.names().iter().all(|name| names.contains(name))
    }
}

/// `result.json`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Not there.
    None,
    /// There, but not whole.
    Torn,
    /// Whole; the task is over.
    Over,
    /// Whole; the task is queued again.
    Again,
    /// Whole; the task waits for an event.
    Waits,
}

/// `tree.lock`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tree {
    /// Not there.
    Absent,
    /// There, and nobody has it.
    Free,
    /// A process has it.
    Held,
}

/// The lock of the user's lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    /// Neither `.lock` nor sidecar.
    None,
    /// Both, taken for this task.
    Whole,
    /// A sidecar alone, as a kill in the middle of a grant or a release leaves it.
    SidecarOnly,
}

/// One combination. A pending record stands in the folder of its lane, in a segment there, or, when a power cut came after
/// the task was queued again, in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combination {
    /// Whether `supervisor.lock` is held.
    pub is_supervised: bool,
    /// Where the record stands.
    pub copies: Copies,
    /// `result.json`.
    pub result: Outcome,
    /// Whether `started.json` is there.
    pub is_started: bool,
    /// `tree.lock`.
    pub tree: Tree,
    /// Whether `cancel.json` is there.
    pub is_cancelled: bool,
    /// The lock of its lane.
    pub lock: Lock,
}

/// Every combination. What lies beside a living supervisor is of no consequence, so of those there are fewer.
pub fn all() -> impl Iterator<Item = Combination> {
    every().filter(|one| !one.is_supervised || (!one.is_cancelled && one.lock == Lock::Whole))
}

fn every() -> impl Iterator<Item = Combination> {
    let bools = [false, true];
    let copies = (0..32).map(Copies);
    let results = [Outcome::None, Outcome::Torn, Outcome::Over, Outcome::Again, Outcome::Waits];
    let trees = [Tree::Absent, Tree::Free, Tree::Held];
    let locks = [Lock::None, Lock::Whole, Lock::SidecarOnly];
    bools.into_iter().flat_map(move |is_supervised| {
        copies.clone().flat_map(move |copies| {
            results.into_iter().flat_map(move |result| {
                bools.into_iter().flat_map(move |is_started| {
                    trees.into_iter().flat_map(move |tree| {
                        bools.into_iter().flat_map(move |is_cancelled| {
                            locks.into_iter().map(move |lock| Combination {
                                is_supervised,
                                copies,
                                result,
                                is_started,
                                tree,
                                is_cancelled,
                                lock,
                            })
                        })
                    })
                })
            })
        })
    })
}

/// A task that takes its user's lane and the global one only, and whose processes get little time to end.
fn task() -> Task {
    Task { lanes: Vec::new(), grace_ms: 50, ..spool::task(TaskId(ID)) }
}

fn over() -> Task {
    let completed_at = Timestamp(1_767_960_000_000);
    let outcome = TaskOutcome {
        end: EndState::Completed,
        completed_at,
        data: None,
        summary: "the command completed".into(),
        exit_code: Some(0),
        signal: None,
        error: None,
        cancelled_by: None,
        cancel_reason: None,
        ran_ms: Some(1),
        step: None,
    };
    Task { state: TaskState::Over(outcome), ..task() }
}

/// The paths at which a record in a place can stand.
fn paths(place: &str) -> Vec<String> {
    match place {
        "done" => vec![format!("spool/done/{DAY}/{ID}.json")],
        "parked" => vec![format!("spool/parked/0/{ID}.json")],
        "pending" => ["", "0/"].map(|segment| format!("spool/pending/5/user_alice/{segment}{ID}.json")).into(),
        other => vec![format!("spool/{other}/{ID}.json")],
    }
}

fn write(files: &Arc<dyn Vfs>, path: &str, bytes: &[u8]) {
    for (at, _) in path.match_indices('/') {
        files.make_dir(&path[..at], 0o700).unwrap();
    }
    files.open(path, Open::CreateNew(0o600)).unwrap().unwrap().write_all(bytes).unwrap();
}

/// Opens a file and takes its kernel lock.
fn hold(env: &Env, path: &str) -> Box<dyn Handle> {
    let files = env.vfs("/s");
    while files.meta(path).unwrap().is_none() {
        env.clock().sleep(Duration::from_millis(1));
    }
    let mut handle = files.open(path, Open::Existing).unwrap().unwrap();
    assert!(handle.try_lock(false).unwrap());
    handle
}

fn until(env: &Env, name: &str) {
    while env.vfs("/c").meta(name).unwrap().is_none() {
        env.clock().sleep(Duration::from_millis(1));
    }
}

impl Combination {
    /// Lays the files, lock and sidecar included.
    pub fn build(self, env: &Env) {
        let (files, store) = (env.vfs("/s"), store(env));
        store.prepare().unwrap();
        let lock_id = if self.lock == Lock::None { String::new() } else { self.take_lane(env) };
        for place in self.copies.names() {
            let record = match place {
                "done" => over(),
                "parked" => Task { due_at: Some(Timestamp(1_767_999_999_000)), ..task() },
                "waiting" => self.waiting(&lock_id),
                _ => task(),
            };
            for path in self.chosen(paths(place)) {
                write(&files, &path, &encode_task(&record).unwrap());
            }
            if let Some(at) = record.due_at {
                store.set_timer(&Timer::of(record.id, at)).unwrap();
            }
        }
        let run = |name: &str| format!("run/{ID}/{name}");
        write(&files, &run("supervisor.lock"), b"");
        if self.is_started {
            let started = serde_json::json!({ "v": 1, "start": 1, "at": "2026-01-09T23:00:00.000Z", "pid": 4, "pid_start": 1,
                "boot_id": "other", "lock_id": "task_1_1767999000", "fence": 1 });
            // A kill can leave it empty; that is as good.
            let text = if self.lock == Lock::SidecarOnly { String::new() } else { started.to_string() };
            write(&files, &format!("spool/running/{ID}.started.json"), text.as_bytes());
        }
        if self.tree != Tree::Absent {
            write(&files, &run("tree.lock"), b"");
        }
        let result = format!("spool/running/{ID}.result.json");
        match self.result {
            Outcome::None => {}
            // As the start makes it, or in the middle of the end.
            Outcome::Torn if self.is_cancelled => write(&files, &result, b""),
            Outcome::Torn => write(&files, &result, &encode_task(&over()).unwrap()[..40]),
            Outcome::Over => write(&files, &result, &encode_task(&over()).unwrap()),
            Outcome::Again => write(&files, &result, &encode_task(&task()).unwrap()),
            Outcome::Waits => write(&files, &result, &encode_task(&self.waiting(&lock_id)).unwrap()),
        }
        if self.is_cancelled {
            let request = CancelRequest { by: "me".into(), reason: None, grace_ms: Some(20), requeue: false };
            assert!(store.request_cancel(TaskId(ID), &request).unwrap());
        }
        write(&env.vfs("/c"), READY, b"");
    }

    /// The record of the task while it waits. One whose claim died holds a lock that the record does not name.
    fn waiting(self, lock_id: &str) -> Task {
        let lane = LaneName::user(&Name::new("alice").unwrap());
        let kept = if self.names_lock() { vec![(lane, LockId(lock_id.to_owned()))] } else { Vec::new() };
        let wait = TaskWait { until: Timestamp(1_800_000_000_000), kept, lends: false };
        Task { state: TaskState::Waiting(Some(wait)), ..task() }
    }

    /// Whether the record of the waiting task names the lock as one that it keeps.
    pub fn names_lock(self) -> bool {
        self.tree != Tree::Free
    }

    /// Where the record stands of the paths at which it can: of a pending one at each of them and at both, by turns.
    fn chosen(self, mut paths: Vec<String>) -> Vec<String> {
        match (self.tree, self.is_started) {
            _ if paths.len() == 1 => {}
            (Tree::Free, _) => {}
            (_, is_started) => paths = vec![paths.swap_remove(usize::from(is_started))],
        }
        paths
    }

    /// Takes the lock, and gives its id.
    fn take_lane(self, env: &Env) -> String {
        let lane = LaneName::user(&Name::new("alice").unwrap());
        let request = Request {
            needs: vec![LaneNeed::new(lane, 1, 60_000)],
            holder: format!("task_{ID}"),
            kind: if self.stays_waiting() && self.names_lock() { LockKind::Wait } else { LockKind::Task },
            ttl_ms: None,
            process: env.procs().me(),
            pid_watched: false,
            who: luzia::model::Who::default(),
            durable: false,
            lenders: Vec::new(),
            stands: standing,
        };
        let Ok(Acquired::Granted { grants, .. }) = store(env).acquire(&request, judge) else { panic!("{self:?}") };
        if self.lock == Lock::SidecarOnly {
            for name in ["locks/.user_alice.held", "locks/user_alice.lock"] {
                assert!(env.vfs("/s").unlink(name).unwrap());
            }
        }
        grants[0].lock_id.0.clone()
    }

    /// Holds `supervisor.lock` until all is over.
    pub fn hold_supervisor(self, env: &Env) {
        let handle = hold(env, &format!("run/{ID}/supervisor.lock"));
        write(&env.vfs("/c"), "supervised", b"");
        until(env, END);
        drop(handle);
    }

    /// Whether the table leaves the record in `waiting`.
    pub fn stays_waiting(self) -> bool {
        self.copies == Copies::of(&["waiting"])
            && matches!(self.result, Outcome::None | Outcome::Torn)
            && !self.is_cancelled
    }

    /// Whether the task was over, so that its command must not run again.
    pub fn is_over(self) -> bool {
        !matches!(self.result, Outcome::Again | Outcome::Waits)
            && (self.copies.has("done") || self.result == Outcome::Over)
    }

    /// Whether a crash can leave it: renames are never torn, so a record stands twice only between the step that gives
    /// it its new place and the one that removes the old copy; nothing of a living supervisor is a crash's.
    pub fn is_reachable(self) -> bool {
        let copies = self.copies;
        let by_end = match self.result {
            // The end of a run: `done` first, then the old copy goes.
            Outcome::None | Outcome::Torn => {
                let before_end = [&["done"][..], &["parked"], &["pending"], &["running"], &["waiting"]];
                let old = ["parked", "pending", "running", "waiting"];
                let one = before_end.iter().any(|names| copies == Copies::of(names));
                let finished = old.iter().any(|name| copies == Copies::of(&["done", name]));
                let queued = ["parked", "pending"]
                    .iter()
                    .any(|name| ["running", "waiting"].iter().any(|old| copies == Copies::of(&[name, old])));
                one || finished || queued
            }
            Outcome::Over => copies.names().len() <= 1 && !copies.has("done"),
            Outcome::Waits => copies.names().is_empty() || copies == Copies::of(&["running"]),
            Outcome::Again => copies.names().len() <= 1 && copies.is_within(&["done", "running", "waiting"]),
        };
        by_end && !self.is_supervised
    }
}

/// Holds `tree.lock` until all is over, as a process of the task's tree does.
pub fn hold_tree(env: &Env) {
    let handle = hold(env, &format!("run/{ID}/tree.lock"));
    write(&env.vfs("/c"), "tree", b"");
    until(env, END);
    drop(handle);
}

/// Waits until everything lies as it should.
pub fn until_built(env: &Env, combination: Combination) {
    until(env, READY);
    if combination.is_supervised {
        until(env, "supervised");
    }
    if combination.tree == Tree::Held {
        until(env, "tree");
    }
}

/// Lets those that hold something end.
pub fn let_go(env: &Env) {
    write(&env.vfs("/c"), END, b"");
}

/// Whether a name in `running` is that of the record itself, and not of its start or result.
fn is_record(name: &str) -> bool {
    name == format!("{ID}.json")
}

/// What lies there now.
pub fn look(world: &World, walked: &mut Walked) {
    let is_done = || {
        let days = world.peek_names("/s/spool/done");
        days.iter().any(|day| world.peek(&format!("/s/spool/done/{day}/{ID}.json")).is_some())
    };
    let stands = |place: &&str| match *place {
        "done" => is_done(),
        other => paths(other).iter().any(|path| world.peek(&format!("/s/{path}")).is_some()),
    };
    walked.copies = PLACES.into_iter().filter(|place| stands(place)).collect();
    let locks = world.peek_names("/s/locks");
    walked.is_locked = locks.iter().any(|name| name.starts_with("user_") && name.ends_with(".lock"));
    let in_running = world.peek_names("/s/spool/running");
    walked.has_run_dir = !world.peek_names("/s/run").is_empty() || in_running.iter().any(|name| !is_record(name));
    walked.has_tree = world.procs.iter().any(|proc| proc.name == "tree" && world.living(proc.pid).is_some());
}
