//! A task: one command with a state machine, and how it ended.

mod environment;
pub mod granted;
pub mod priority;
pub mod state;
pub mod terms;

use super::Identity;
use super::calendar::SlotOf;
use super::context::{Limits, NamedSandbox};
use super::control::TaskHold;
use super::lane::LaneName;
use super::name::Name;
use super::record::{self, Extra, Shared};
use super::time::Timestamp;
use super::who::{self, Agent};
pub use environment::{Environment, OF_ONE_REPOSITORY};
pub use granted::{FIRST_GRANTED, Granted, GrantedSlot, HostLease, TaskVersion, Word};
pub use priority::{Priority, Tier};
use serde::{Deserialize, Serialize};
pub use state::{EndState, Outcome, Status, TaskState, TaskWait};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
pub use terms::{DueBoot, Finish, Group, LastRun, OnInterrupt, Stepwise, Terms, Wanted};

/// The number of a task, written `task_<n>`. It is also its sequence, which orders the queue. A number is never given twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskId(pub u64);

impl TaskId {
    /// Parses `task_12` or `12`, in the one spelling without leading zeros.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("task_").unwrap_or(text);
        let number: u64 = digits.parse().ok()?;
        (number > 0 && number.to_string() == digits).then_some(Self(number))
    }
}

record::as_text!(TaskId, |text| Self::parse(text).ok_or_else(|| format!("\"{text}\" is not a task id")));

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task_{}", self.0)
    }
}

/// The verb in the command of a task that keeps lanes for a command in the foreground of its host.
pub const KEEP_LANES: &str = "keep-lanes";
/// The verb of the command of a task that keeps lanes for a lease.
pub const KEEP_LEASE: &str = "keep-lease";

/// The environment variables that describe its task to a command. Supervisors and hooks are started without them.
pub const TASK_VARIABLES: [&str; 9] = [
    "LUZIA_TASK_ID",
    "LUZIA_USER",
    "LUZIA_PROJECT",
    "LUZIA_LANES",
    "LUZIA_LOCK_ID",
    "LUZIA_FENCE",
    "LUZIA_ATTEMPT",
    "LUZIA_CONDUCTOR_DIR",
    "LUZIA_RESULT_FILE",
];

/// One accepted task, from its request to its end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The version of the task's record.
    pub v: TaskVersion,
    /// The number of the task.
    pub id: TaskId,
    /// The state of the task, with the members that only that state has.
    #[serde(flatten)]
    pub state: TaskState,
    /// The user that the task is serialised by.
    pub user: Name,
    /// The project of the task, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
    /// The lanes of the task beside that of its user and `global`: in canonical order, without repeats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<LaneName>,
    /// Whether the task takes the lane of its user. A task that names lanes only does not (contract, section 4).
    #[serde(rename = "user_lane", default = "record::yes", skip_serializing_if = "record::is_true")]
    pub takes_user_lane: bool,
    /// The sandbox in which the task was queued; `None` for records of luzia 0.1.0, which start in any.
    #[serde(default, with = "super::context::recorded", skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Arc<NamedSandbox>>,
    /// The limits of the task's submitter, which the supervisor sets for the command.
    #[serde(default, deserialize_with = "record::object", skip_serializing_if = "Option::is_none")]
    pub limits: Option<Shared<Limits>>,
    /// The place of the task among tasks of the same lane.
    #[serde(default)]
    pub priority: Priority,
    /// The program and its arguments, executed as they are.
    pub command: Vec<String>,
    /// Text given to the command on its standard input, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// The process whose standard input the command reads (`run --stdin`).
    #[serde(default, deserialize_with = "record::object", skip_serializing_if = "Option::is_none")]
    pub stdin_of: Option<Identity>,
    /// Whether the command gets a terminal of its own (`run --pty`).
    #[serde(rename = "pty", default, skip_serializing_if = "std::ops::Not::not")]
    pub has_terminal: bool,
    /// A note for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The agent that asked for the task.
    #[serde(flatten, deserialize_with = "record::together")]
    pub agent: Option<Agent>,
    /// The process that asked for the task, if no agent is known. It is only a key to compare.
    #[serde(default, deserialize_with = "who::key", skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// Only one unfinished task has a given key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The environment of the command, as bytes; luzia's own variables are added at the start.
    #[serde(flatten, with = "environment")]
    pub env: Environment,
    /// The working directory of the command.
    pub cwd: String,
    /// The file mode creation mask of the command.
    #[serde(default = "default_umask")]
    pub umask: u32,
    /// The directory with `active/` and `done/` that contains the task's own directory.
    pub conductor_dir: String,
    /// Whether `conductor_dir` was configured for the project (then luzia never removes anything there).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conductor_configured: bool,
    /// The account of the command, if luzia runs as root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as: Option<String>,
    /// The time at which the task was accepted.
    pub created_at: Timestamp,
    /// The process that asked for the task.
    #[serde(default)]
    pub created_by_pid: u32,
    /// The task inside which a process asked for it.
    #[serde(default, deserialize_with = "record::note", skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// Whether the process that asked for it, in the tree of `parent` or in its name, waits for its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waited_for: bool,
    /// Whether the task does not borrow the lanes of `parent` (`--no-inherit`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_inherit: bool,
    /// Whether the task is cancelled when `parent` is over (`--on-parent-death cancel`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_with_parent: bool,
    /// The purpose of the task, in words; the command finds it as LUZIA_GOAL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The part of the user's share that it belongs to ([`Task::own_share`], in a group the one of its first task). The value
    /// is from the time of its acceptance. `None` in records of older versions, which are in queues without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<String>,
    /// The steps of the task, if its command is started once per step.
    #[serde(default, deserialize_with = "record::object", skip_serializing_if = "Option::is_none")]
    pub stepwise: Option<Stepwise>,
    /// The schedule that made it, and the slot of that schedule.
    #[serde(flatten, deserialize_with = "record::together")]
    pub schedule: Option<SlotOf>,
    /// The hold of the task itself: it does not start while the hold is in force (`pause TASK`, `enqueue --hold`).
    #[serde(default, deserialize_with = "record::object", skip_serializing_if = "Option::is_none")]
    pub hold: Option<TaskHold>,
    /// The place of the task's record before a change of its queue: `<priority>/<queue>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was_in: Option<String>,
    /// The moment before which the task does not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The tasks that must complete before the task starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// Every task that this task must come after, including those that completed before: a retry waits for them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comes_after: Vec<TaskId>,
    /// The moment at which the task ends as `timeout` if it has not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_by: Option<Timestamp>,
    /// The longest run time of the task's command, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The time between SIGTERM and SIGKILL, in milliseconds.
    #[serde(default = "default_grace")]
    pub grace_ms: u64,
    /// Number of failed or interrupted attempts that are followed by another one.
    #[serde(default)]
    pub retries: u32,
    /// Attempts that have failed or were interrupted (P3).
    #[serde(default)]
    pub failures: u32,
    /// Launches of the command that were recorded (P3).
    #[serde(default)]
    pub starts: u32,
    /// Claims that ended before the command was launched.
    #[serde(default)]
    pub claims: u32,
    /// Data of the latest start.
    #[serde(default, deserialize_with = "record::object", skip_serializing_if = "Option::is_none")]
    pub last_start: Option<Start>,
    /// Options that few tasks use.
    #[serde(flatten)]
    pub terms: Terms,
    /// The group that the task belongs to.
    #[serde(flatten, deserialize_with = "record::together")]
    pub group: Option<Group>,
    /// Members of the record that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The default time between SIGTERM and SIGKILL of a task, in milliseconds.
pub const DEFAULT_GRACE_MS: u64 = 10_000;

fn default_grace() -> u64 {
    DEFAULT_GRACE_MS
}

fn default_umask() -> u32 {
    0o022
}

/// A lease of a store, as the command of its task says behind [`KEEP_LEASE`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaseOf {
    /// The name of the lease's holder.
    pub holder: String,
    /// The process of `acquire`: without it a lease that has not begun is over.
    pub caller: Identity,
    /// The process with which the lease ends (`--pid`).
    pub watched: Option<Identity>,
}

impl LeaseOf {
    /// The words of the lease.
    pub fn words(&self) -> Vec<String> {
        let watched = self.watched.iter().flat_map(Identity::words);
        std::iter::once(self.holder.clone()).chain(self.caller.words()).chain(watched).collect()
    }

    /// Parses the words of a lease.
    pub fn of_words(words: &[&str]) -> Option<Self> {
        let (holder, processes) = words.split_first()?;
        let (caller, watched) = processes.split_at_checked(3)?;
        let watched = if watched.is_empty() { None } else { Some(Identity::of_words(watched)?) };
        Some(Self { holder: (*holder).to_owned(), caller: Identity::of_words(caller)?, watched })
    }
}

impl Task {
    /// Whether the task keeps lanes for a command in the foreground of its host.
    pub fn keeps_lanes(&self) -> bool {
        self.command.iter().any(|word| word == KEEP_LANES)
    }

    /// The lease for which the task keeps lanes.
    pub fn lease(&self) -> Option<LeaseOf> {
        let words: Vec<&str> = self.command.iter().map(String::as_str).skip_while(|word| *word != KEEP_LEASE).collect();
        LeaseOf::of_words(words.get(1..)?)
    }

    /// The number of the step at which it failed, from 0; 0 for a task without steps.
    pub fn failed_action(&self) -> u32 {
        let own = self.outcome().and_then(|outcome| outcome.step);
        self.stepwise.as_ref().map_or(own.unwrap_or(0), |stepwise| stepwise.step)
    }

    /// A pending task of a user that has only a command: in the root directory, with an empty environment.
    pub fn plain(id: TaskId, user: Name, command: Vec<String>, created_at: Timestamp) -> Self {
        Self {
            v: TaskVersion::Plain,
            id,
            state: TaskState::Pending,
            user,
            project: None,
            takes_user_lane: true,
            lanes: Vec::new(),
            sandbox: None,
            limits: None,
            priority: Priority::DEFAULT,
            command,
            stdin: None,
            stdin_of: None,
            has_terminal: false,
            label: None,
            agent: None,
            asked_by: None,
            key: None,
            env: Environment::default(),
            cwd: "/".into(),
            umask: default_umask(),
            conductor_dir: "/".into(),
            conductor_configured: false,
            run_as: None,
            created_at,
            created_by_pid: 0,
            parent: None,
            waited_for: false,
            no_inherit: false,
            ends_with_parent: false,
            goal: None,
            share: None,
            stepwise: None,
            schedule: None,
            hold: None,
            was_in: None,
            due_at: None,
            after: Vec::new(),
            comes_after: Vec::new(),
            start_by: None,
            timeout_ms: None,
            grace_ms: DEFAULT_GRACE_MS,
            retries: 0,
            failures: 0,
            starts: 0,
            claims: 0,
            last_start: None,
            terms: Terms::default(),
            group: None,
            extra: Extra::default(),
        }
    }

    /// Every lane that the task must hold to run, in the order in which lanes are taken: user, others by name, `global`
    /// last.
    pub fn all_lanes(&self) -> Vec<LaneName> {
        let mut lanes: Vec<LaneName> = self.takes_user_lane.then(|| LaneName::user(&self.user)).into_iter().collect();
        lanes.extend(self.lanes.iter().cloned());
        lanes.push(LaneName::global());
        lanes
    }

    /// The state of the task, as a word.
    pub fn status(&self) -> Status {
        self.state.status()
    }

    /// The end of the task; `None` until it is over.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            TaskState::Over(outcome) => Some(outcome),
            TaskState::Pending | TaskState::Running { .. } | TaskState::Waiting(_) => None,
        }
    }

    /// The wait of the task without a process: its present wait, or the wait from which it was claimed if it has not
    /// started yet.
    pub fn wait(&self) -> Option<&TaskWait> {
        match &self.state {
            TaskState::Running { from } => from.as_ref(),
            TaskState::Waiting(wait) => wait.as_ref(),
            TaskState::Pending | TaskState::Over(_) => None,
        }
    }

    /// The time from which the task may start: the time at which it was queued, or its due time, whichever is later.
    pub fn due_since(&self) -> Timestamp {
        self.due_at.map_or(self.created_at, |due| due.max(self.created_at))
    }

    /// The number of the attempt that runs, comes next, or was the last, from 1.
    pub fn attempt(&self) -> u32 {
        match self.status() {
            // The attempt that ended it is counted among its failures.
            Status::Failed | Status::Timeout => self.failures.max(1),
            Status::Pending | Status::Running | Status::Waiting | Status::Completed | Status::Cancelled => {
                self.failures.saturating_add(1)
            }
        }
    }
}

/// One launch of a task's command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The time at which the start was recorded.
    pub at: Timestamp,
    /// The lock id of the task's user lane at that start.
    pub lock_id: String,
    /// The fence of the task's user lane at that start.
    pub fence: u64,
    /// The values of its slots, by the names of their lanes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slots: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests;
