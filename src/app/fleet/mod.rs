//! The tasks of several hosts, as use cases see them. The room `fleet` keeps them in a database; without one, the state directory
//! has all tasks.

pub mod lanes;
pub mod leases;
pub mod places;
pub mod trial;

use crate::app::lifecycle::Accepted;
use crate::app::{App, AppError, Code, Obstacle};
use crate::model::task::Group;
use crate::model::{LaneName, Name, Status, Task, TaskId, Timestamp};
use crate::policy::analytics::timeline::Hold;
use crate::request::TaskRequest;
use crate::request::values::OnConflict;
use crate::store::{CancelRequest, Counts, LockView};
use places::{TaskPlace, place_of};
use std::time::Duration;

/// A migration of the tables of a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Migration {
    /// The version of the tables that was found; `None` without tables.
    pub from: Option<i32>,
    /// The version of this luzia.
    pub to: i32,
}

impl Migration {
    /// Whether the tables are not of this version yet.
    pub fn is_needed(&self) -> bool {
        self.from != Some(self.to)
    }
}

/// The state of a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreState {
    /// The version of the server.
    pub server: String,
    /// The version of the tables.
    pub schema: i32,
    /// Number of hosts.
    pub hosts: usize,
    /// Number of hosts whose leases are in force.
    pub living_hosts: usize,
    /// Number of tasks that wait for a host.
    pub queued: u64,
    /// Number of tasks that a host has.
    pub active: u64,
    /// The host that decides whose turn it is.
    pub duty: Option<String>,
}

/// A host as the database knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FleetHost {
    /// Its name.
    pub name: String,
    /// Whether its lease is in force.
    pub is_alive: bool,
    /// Milliseconds since it renewed its lease.
    pub age_ms: u64,
    /// The length of its lease, in milliseconds.
    pub lease_ms: u64,
    /// Number of tasks that it could start.
    pub free: u32,
    /// Number of its tasks.
    pub tasks: u64,
    /// Whether it takes no further tasks.
    pub is_draining: bool,
    /// Whether it decides whose turn it is.
    pub has_duty: bool,
    /// Its labels, which are places of tasks as its name is.
    pub labels: Vec<String>,
}

/// Numbers of the tasks of all hosts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FleetCounts {
    /// Tasks that wait for a host.
    pub waiting: Counts,
    /// The waiting task of the lowest number.
    pub oldest: Option<TaskId>,
    /// Ends of the last hour: completed, failed or ended by a time limit, cancelled.
    pub recent: [u64; 3],
}

/// Takes a task, or the error of a damaged record; returns whether to continue.
pub type Sink<'a> = &'a mut dyn FnMut(Result<Task, AppError>) -> bool;

/// Makes the record of a task that waits again of the record of its end.
pub type Again<'a> = dyn Fn(Task) -> Result<Task, AppError> + 'a;

/// The last part of the output of a task that is over.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tail {
    /// The host that has it, or had it last.
    pub host: Option<String>,
    /// The bytes, once they were posted.
    pub output: Option<Vec<u8>>,
}

/// Variables for the client of the database, which no task takes over from its caller.
const OF_CLIENT: [&str; 4] = ["PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE"];

/// The error of a verb that needs a store.
pub fn no_store() -> AppError {
    AppError::usage("no store of several hosts is named")
        .hint("--store URL, LUZIA_STORE, or store in the configuration names a PostgreSQL database")
}

/// The refusal of an option that is about one host.
pub fn local_only(what: &str) -> AppError {
    AppError::new(Code::LocalOnly, format!("{what} works on one host, and a store of several hosts is named"))
        .hint("with --store local it is about the tasks of this host; nothing was done")
}

/// Refuses the first of some things that are about one host and were asked for.
pub fn refuse_local<const N: usize>(things: [(bool, &str); N]) -> Result<(), AppError> {
    let asked = things.into_iter().find(|(is_asked, _)| *is_asked);
    asked.map_or(Ok(()), |(_, what)| Err(local_only(what)))
}

/// A task that is made ready for the database.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedTask {
    /// The task.
    pub task: Task,
    /// The effect of an unfinished task with the same key.
    pub on_conflict: OnConflict,
    /// The host that it is for.
    pub place: TaskPlace,
    /// Unfinished tasks with the same key that it does not replace.
    pub beside: Vec<TaskId>,
}

/// The unfinished tasks for which a request queues nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InTheWay {
    /// The task that has the key of one that is rejected for it.
    Rejects(TaskId),
    /// All tasks that the request is to replace. Nothing of it is rejected.
    Older(Vec<TaskId>),
}

/// Makes a task ready for the database. What the database cannot promise is refused.
pub(crate) fn shared(app: &App, mut task: Task, new: &TaskRequest) -> Result<SharedTask, AppError> {
    let on_conflict = new.on_conflict.unwrap_or_default();
    refuse_local([
        (app.inside.is_some(), "a task that another task queues"),
        (new.parent.is_some(), "--parent"),
        (!task.after.is_empty(), "--after"),
        (new.reuse.is_some(), "--reuse"),
        (new.fresh.is_some(), "--fresh"),
        (task.stdin_of.is_some(), "--stdin"),
    ])?;
    let is_given = |name: &str| new.env.iter().any(|pair| pair.split('=').next() == Some(name));
    let is_of_client = |key: &[u8]| OF_CLIENT.iter().any(|name| key == name.as_bytes() && !is_given(name));
    if task.env.iter().any(|(key, _)| is_of_client(key)) {
        let rest: Vec<_> = task.env.iter().filter(|(key, _)| !is_of_client(key)).cloned().collect();
        task.env = rest.into();
    }
    // The name was checked before; the database finds the first task of the group.
    let group = new.group.as_deref().and_then(|text| Name::new(text).ok());
    task.group = group.map(|name| Group { name, first: task.id });
    let place = place_of(app, new)?;
    if place != TaskPlace::Own {
        // On another host the sandbox of its agent and the limits there count.
        (task.sandbox, task.limits) = (None, None);
    }
    Ok(SharedTask { task, on_conflict, place, beside: Vec::new() })
}

/// The error of a database that does not answer, with the moment since which verbs of this host found it so.
pub fn since(app: &App, error: AppError) -> AppError {
    match (error.code() == Code::StoreAway).then(|| app.store.store_away_since()) {
        Some(Ok(since)) => error.reworded(|why| format!("{why}; it is away since {since}")),
        Some(Err(_)) | None => error,
    }
}

/// The health of the server of a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreHealth {
    /// Whether it keeps what it has committed.
    pub is_synchronous: bool,
    /// Whether a notification arrives.
    pub are_hints_heard: bool,
}

/// The agent of a host, as a daemon calls it between its passes.
pub trait FleetAgent {
    /// One round: renews the lease, accepts tasks, posts ends, and decides whose turn it is if this host has the duty.
    fn step(&mut self, app: &App) -> Result<(), AppError>;

    /// Renews the lease if that is due. Called between any two pieces of work of the daemon.
    fn keep(&mut self, app: &App) -> Result<(), AppError>;

    /// The time until a renewal of the lease is due. Before it has joined no time is too long.
    fn rest(&self, app: &App) -> Duration;

    /// A renewal of the lease that came too late for tasks, once.
    fn take_late(&mut self) -> Option<AppError>;

    /// Whether it has joined.
    fn has_joined(&self) -> bool;
}

/// A database with the tasks of several hosts.
pub trait Fleet: lanes::FleetLanes + places::FleetPlaces {
    /// The database as it was named. It holds no password.
    fn name(&self) -> String;

    /// The name of this host in it.
    fn host_name(&self) -> &str;

    /// Asks a database that is away again for a while before that is an error, and for `most_ms` at most: for a verb that waits.
    fn be_patient(&self, most_ms: Option<u64>);

    /// The statements that make the tables of this version.
    fn script(&self) -> &'static str;

    /// Brings the tables to this version in one transaction; with `dry_run` changes nothing.
    fn migrate(&self, dry_run: bool) -> Result<Migration, AppError>;

    /// Accepts a database that is older than its hosts: they join again, and new tasks have numbers above those that they have seen.
    fn recover(&self) -> Result<(), AppError>;

    /// The state of the database.
    fn state(&self) -> Result<StoreState, AppError>;

    /// The health of the server. A notification is waited for a second at most.
    fn health(&self) -> Result<StoreHealth, AppError>;

    /// Queues tasks durably, all or none, and gives them their numbers. Returns for each the task that the request is about, and
    /// whether it is a new one; or the unfinished tasks for which none was queued.
    fn enqueue(&self, tasks: &[SharedTask]) -> Result<Result<Vec<Accepted>, InTheWay>, AppError>;

    /// Gives the tasks in some states to `sink`: those that a host has, then those that wait for one, then those that are over, each
    /// by number.
    fn tasks(&self, wants: &dyn Fn(Status) -> bool, user: Option<&Name>, sink: Sink) -> Result<(), AppError>;

    /// A task by its number.
    fn find(&self, id: TaskId) -> Result<Option<Task>, AppError>;

    /// The newest task, of a user where one is given.
    fn newest(&self, user: Option<&str>) -> Result<Option<TaskId>, AppError>;

    /// Number of tasks of the same user that come before a task.
    fn ahead(&self, id: TaskId) -> Result<u64, AppError>;

    /// The first reason why no host takes a task.
    fn obstacle(&self, task: &Task) -> Result<Option<Obstacle>, AppError>;

    /// Every reason why no host takes a task.
    fn obstacles(&self, task: &Task) -> Result<Vec<Obstacle>, AppError>;

    /// The holders of a lane, or of all lanes, in the order of their grants, each with the task that has the lane.
    fn keepers(&self, lane: Option<&LaneName>) -> Result<Vec<(TaskId, LockView)>, AppError>;

    /// The holders of a lane, or of all lanes, in the order of their grants.
    fn holds(&self, lane: Option<&LaneName>) -> Result<Vec<LockView>, AppError> {
        Ok(self.keepers(lane)?.into_iter().map(|(_, view)| view).collect())
    }

    /// Lets all hosts see the id and the end of a lease. False if its task has left its host.
    fn note_lease(&self, id: TaskId, lock_id: &str, expires_at: Timestamp) -> Result<bool, AppError>;

    /// Number of tasks that wait for a lane, and the first of them.
    fn waiting_in(&self, lane: &LaneName) -> Result<(u64, Option<TaskId>), AppError>;

    /// Numbers of the tasks.
    fn counts(&self) -> Result<FleetCounts, AppError>;

    /// The hosts, by name.
    fn hosts(&self) -> Result<Vec<FleetHost>, AppError>;

    /// Ends a task that no host has, with the record of its end. False if a host has it, or if it is over.
    fn end_queued(&self, ended: &Task) -> Result<bool, AppError>;

    /// Queues a task that is over again, with the record that `again` makes of the present one. `None` if what its start needs is not
    /// kept any more.
    fn requeue(&self, id: TaskId, again: &Again) -> Result<Option<Task>, AppError>;

    /// Replaces the record of a task that no host has, and holds or queues it as that says. False if the record is not `seen`, or if a
    /// host has the task.
    fn change_waiting(&self, seen: &Task, changed: &Task) -> Result<bool, AppError>;

    /// The time for which the environment of a task that did not complete is kept, in words.
    fn kept(&self) -> Result<String, AppError>;

    /// Asks the host of a task to end it. Returns the name of that host; `None` if no host has it.
    fn wish_end(&self, id: TaskId, request: &CancelRequest) -> Result<Option<String>, AppError>;

    /// The last part of the output of a task.
    fn tail(&self, id: TaskId) -> Result<Tail, AppError>;

    /// The holds of lanes that lasted at a moment or later, in the order of their grants. Of several runs of a task each has its own.
    fn holds_since(&self, since: Timestamp) -> Result<Vec<Hold>, AppError>;

    /// Calls `heard` with true whenever the agent of a host is to look at the database, and with false each second in between, until
    /// it returns false or the connection ends.
    fn listen(&self, host: i32, heard: &mut dyn FnMut(bool) -> bool) -> Result<(), AppError>;

    /// The agent of this host, with the length of its lease and the labels of the host.
    fn agent(&self, lease_ms: u64, labels: Vec<String>) -> Box<dyn FleetAgent + '_>;
}

/// The store of a command.
#[cfg(feature = "fleet")]
pub type Store = Box<dyn Fleet>;

/// The store of a command. Without the feature `fleet` it has no value, so the compiler leaves out each question to it.
#[cfg(not(feature = "fleet"))]
#[derive(Clone, Copy, Debug)]
pub enum Store {}

#[cfg(not(feature = "fleet"))]
impl std::ops::Deref for Store {
    type Target = dyn Fleet;

    fn deref(&self) -> &Self::Target {
        match *self {}
    }
}
