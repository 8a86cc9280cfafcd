//! What the store owes its callers, by two handles on one state directory. `sim` tests crashes.

mod locks;
mod memory;
mod queue;
mod runs;

use crate::support::until;
use luzia::model::{Identity, LaneName, LockKind, Name, Task, TaskId, Who};
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::policy::staleness::{judge, standing};
use luzia::store::{Acquired, InLine, LaneNeed, Request, Site, Spool};
use std::sync::Arc;

/// An empty store as two processes have it, each by a handle of its own.
struct Made {
    here: Site,
    there: Site,
    _folder: tempfile::TempDir,
}

/// Makes an empty store.
fn empty_store() -> Made {
    let folder = tempfile::tempdir().unwrap();
    let handle = || {
        let files = RealFiles::open_at(folder.path().to_str().unwrap(), false).unwrap().unwrap();
        Site::from(Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses)))
    };
    let (here, there) = (handle(), handle());
    here.store.prepare().unwrap();
    Made { here, there, _folder: folder }
}

/// Runs a check over an empty store.
fn over_a_store(check: fn(&Site, &Site)) {
    let made = empty_store();
    check(&made.here, &made.there);
}

/// Takes what was given up a moment ago. A process that another test starts has a copy of each lock until it executes its program.
fn given_up<T>(take: impl FnMut() -> Option<T>) -> T {
    until("what was given up can be taken", take)
}

fn lane(text: &str) -> LaneName {
    LaneName::parse(text).unwrap()
}

/// A task of one user in one named lane.
fn task(id: TaskId) -> Task {
    Task { group: None, ..crate::sim::spool::task(id) }
}

/// Accepts tasks, each changed by `change`; gives their numbers.
fn accepted(store: &Spool, count: u64, change: impl Fn(usize, &mut Task)) -> Vec<TaskId> {
    let TaskId(first) = store.reserve_ids(count).unwrap();
    let mut tasks: Vec<Task> = (first..first + count).map(|id| task(TaskId(id))).collect();
    tasks.iter_mut().enumerate().for_each(|(n, task)| change(n, task));
    store.accept(&tasks, None).unwrap();
    tasks.iter().map(|task| task.id).collect()
}

fn needs(lanes: &[LaneName]) -> Vec<LaneNeed> {
    lanes.iter().map(|lane| LaneNeed::new(lane.clone(), 1, 3_600_000)).collect()
}

fn request(holder: &str, kind: LockKind, lanes: &[LaneName], process: Identity) -> Request {
    Request {
        needs: needs(lanes),
        holder: holder.to_owned(),
        kind,
        ttl_ms: (kind == LockKind::Lease).then_some(3_600_000),
        process,
        pid_watched: false,
        who: Who::default(),
        durable: false,
        lenders: Vec::new(),
        stands: standing,
    }
}

/// Asks for a lease of each lane.
fn lease(site: &Site, holder: &str, lanes: &[&str]) -> Acquired {
    let lanes: Vec<LaneName> = lanes.iter().map(|text| lane(text)).collect();
    let request = request(holder, LockKind::Lease, &lanes, site.host.identity());
    let mut in_line = InLine::once(luzia::policy::line::has_turn);
    site.store.acquire_in_line(&request, judge, &mut in_line).unwrap()
}

fn holders(store: &Spool, text: &str) -> Vec<String> {
    let views = store.holders(&lane(text), 3_600_000, judge).unwrap();
    views.iter().map(|view| view.holder().unwrap_or_default().to_owned()).collect()
}

fn alice() -> Name {
    Name::new("alice").unwrap()
}
