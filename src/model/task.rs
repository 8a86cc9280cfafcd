//! A task: one command with a state machine, and how it ended.

pub mod priority;
pub mod state;
pub mod stepwise;
pub mod terms;
pub mod wait;

use super::Identity;
use super::calendar::SlotOf;
use super::context::{Limits, NamedSandbox};
use super::control::TaskHold;
use super::lane::LaneName;
use super::name::Name;
use super::time::Timestamp;
use super::who::Agent;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use priority::{Priority, Tier};
pub use state::{EndState, Outcome, Status, TaskState};
pub use stepwise::{Finish, LastRun, Stepwise};
pub use terms::{Group, OnInterrupt, Terms, Wanted};
pub use wait::TaskWait;

/// The number of a task, written `task_<n>`; also its sequence, which orders the queue. Never given twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskId(pub u64);

impl TaskId {
    /// Reads `task_12` or `12`, in the one spelling without leading zeros.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("task_").unwrap_or(text);
        let number: u64 = digits.parse().ok()?;
        (number > 0 && number.to_string() == digits).then_some(Self(number))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task_{}", self.0)
    }
}

/// The environment variables that tell a command of its task. Supervisors and hooks are started without them.
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

/// Variables and their values, as bytes; shared by the tasks of a batch.
pub type Environment = Arc<Vec<(Vec<u8>, Vec<u8>)>>;

/// One accepted task, from its request to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// Where it stands, and what only that state has.
    pub state: TaskState,
    /// The name it is serialised by.
    pub user: Name,
    /// Its project, if any.
    pub project: Option<Name>,
    /// Whether it takes the lane of its user. A task that names lanes only does not (contract, section 4).
    pub takes_user_lane: bool,
    /// Further lanes it takes, beside its user's and `global`: in canonical order, without repeats.
    pub lanes: Vec<LaneName>,
    /// The sandbox in which it was queued; `None` for records of luzia 0.1.0, which start in any.
    pub sandbox: Option<Arc<NamedSandbox>>,
    /// The limits of its submitter, which the supervisor sets for the command.
    pub limits: Option<Limits>,
    /// Its place among tasks of the same lane.
    pub priority: Priority,
    /// The program and its arguments, executed as they are.
    pub command: Vec<String>,
    /// Text given to the command on its standard input, if any.
    pub stdin: Option<String>,
    /// The process whose standard input the command reads (`run --stdin`).
    pub stdin_of: Option<Identity>,
    /// Whether the command gets a terminal of its own (`run --pty`).
    pub has_terminal: bool,
    /// A note for people.
    pub label: Option<String>,
    /// The agent that asked for it.
    pub agent: Option<Agent>,
    /// The process for which it was asked, where no agent is known: a key to compare, nothing more.
    pub asked_by: Option<String>,
    /// Only one unfinished task has a given key.
    pub key: Option<String>,
    /// The environment of the command, as bytes; luzia's own variables are added at the start.
    pub env: Environment,
    /// The working directory of the command.
    pub cwd: String,
    /// The file mode creation mask of the command.
    pub umask: u32,
    /// The directory with `active/` and `done/` in which the task's own directory stands.
    pub conductor_dir: String,
    /// Whether `conductor_dir` was configured for the project (then luzia never removes anything there).
    pub conductor_configured: bool,
    /// The account the command runs as, when luzia runs as root.
    pub run_as: Option<String>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// The process that asked for it.
    pub created_by_pid: u32,
    /// The task inside which it was asked for.
    pub parent: Option<TaskId>,
    /// Whether the process that asked for it, in the tree of `parent` or in its name, waits for its end.
    pub waited_for: bool,
    /// Whether it does not borrow the lanes of `parent` (`--no-inherit`).
    pub no_inherit: bool,
    /// Whether it is cancelled when `parent` is over (`--on-parent-death cancel`).
    pub ends_with_parent: bool,
    /// What it is for, in words; the command finds it as LUZIA_GOAL.
    pub goal: Option<String>,
    /// The part of the user's share that it belongs to ([`Task::own_share`]), as it was when it was accepted; `None` in
    /// records of older versions, which stand in queues without one.
    pub share: Option<String>,
    /// Its steps, where its command is started once per step.
    pub stepwise: Option<Stepwise>,
    /// The schedule that made it, and for which of its moments.
    pub schedule: Option<SlotOf>,
    /// Not while it is paused by itself (`pause TASK`, `enqueue --hold`).
    pub hold: Option<TaskHold>,
    /// Where its record stood before a change of its queue: `<priority>/<queue>`.
    pub was_in: Option<String>,
    /// Not before this moment.
    pub due_at: Option<Timestamp>,
    /// Not before these have completed.
    pub after: Vec<TaskId>,
    /// Every task it was told to come after, also those that completed before: a retry waits for them again.
    pub comes_after: Vec<TaskId>,
    /// Ends as `timeout` when it has not started by this moment.
    pub start_by: Option<Timestamp>,
    /// The longest its command may run, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The time between SIGTERM and SIGKILL, in milliseconds.
    pub grace_ms: u64,
    /// How many failed or interrupted attempts are followed by another one.
    pub retries: u32,
    /// Attempts that have failed or were interrupted (P3).
    pub failures: u32,
    /// Launches of the command that were recorded (P3).
    pub starts: u32,
    /// Claims that ended before the command was launched.
    pub claims: u32,
    /// What is known of the latest start.
    pub last_start: Option<Start>,
    /// What few tasks ask for.
    pub terms: Terms,
    /// Members of the record that this version does not know, kept as JSON text.
    pub extra: Option<String>,
}

/// The time between SIGTERM and SIGKILL of a task that names none, in milliseconds.
pub const DEFAULT_GRACE_MS: u64 = 10_000;

impl Task {
    /// A pending task of a user that asks for nothing but its command: in the root directory, with an empty environment.
    pub fn plain(id: TaskId, user: Name, command: Vec<String>, created_at: Timestamp) -> Self {
        Self {
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
            env: Arc::default(),
            cwd: "/".into(),
            umask: 0o022,
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
            extra: None,
        }
    }

    /// Every lane it must hold to run, in the order in which they are taken: user, others by name, `global` last.
    pub fn all_lanes(&self) -> Vec<LaneName> {
        let mut lanes: Vec<LaneName> = self.takes_user_lane.then(|| LaneName::user(&self.user)).into_iter().collect();
        lanes.extend(self.lanes.iter().cloned());
        lanes.push(LaneName::global());
        lanes
    }

    /// Where it stands, as a word.
    pub fn status(&self) -> Status {
        self.state.status()
    }

    /// How it ended; `None` until it is over.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            TaskState::Over(outcome) => Some(outcome),
            TaskState::Pending | TaskState::Running { .. } | TaskState::Waiting(_) => None,
        }
    }

    /// Its wait without a process: the one in which it stands, or from which it was claimed and not started yet.
    pub fn wait(&self) -> Option<&TaskWait> {
        match &self.state {
            TaskState::Running { from } => from.as_ref(),
            TaskState::Waiting(wait) => wait.as_ref(),
            TaskState::Pending | TaskState::Over(_) => None,
        }
    }

    /// From when its time lets it start: when it was queued, or when it is due, if that is later.
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// When the start was recorded.
    pub at: Timestamp,
    /// The lock id of the task's user lane at that start.
    pub lock_id: String,
    /// The fence of the task's user lane at that start.
    pub fence: u64,
    /// What its slots stand for, by the names of their lanes.
    pub slots: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests;
