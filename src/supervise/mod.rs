//! CHILD: the supervisor of one task. Starts its command, watches it, kills the processes that must die, records its end, and
//! gives its lanes back. Never chooses the next task: it reports to its caller that a pass is due.

mod beside;
mod course;
mod cpus;
mod environment;
mod family;
mod finish;
mod hooks;
mod keep;
mod kill;
mod launch;
mod limits;
mod logs;
mod pause;
mod recover;
mod run;

pub use beside::{run_beside, told_end};
pub use course::away::Wants;
pub use course::deadline::Deadline;
pub use cpus::{CpuPlan, CpuShare};
pub use finish::{Finished, finish};
pub use keep::Keeper;
pub use recover::{kill_leftovers, recover, seen};
pub use run::{run, run_claimed};

use crate::model::{Cgroups, LaneName, Status, Task, TaskId};
use crate::policy::outcome::Happened;
use crate::store::Site;
use std::fs::File;
use std::time::Duration;

/// Time that stragglers may live after the command itself has exited, in milliseconds (`supervision.md`).
pub const STRAGGLER_GRACE_MS: u64 = 5000;
/// Pause between two looks of a supervisor for a request to cancel that no signal announced.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// Surroundings that a supervisor needs.
pub struct Surroundings<'a> {
    /// The state directory.
    pub site: &'a Site,
    /// The configuration file, if it has been named.
    pub config: Option<&'a str>,
    /// The lock timeout of a lane, in milliseconds.
    pub timeout_ms: &'a dyn Fn(&LaneName) -> u64,
    /// The plan by which the processors of a lane are shared, if it has a budget.
    pub cpu_plan: &'a dyn Fn(&LaneName) -> Option<CpuPlan>,
    /// The digest of the work tree around a directory, or the reason why it has no digest.
    pub subject: &'a dyn Fn(&str) -> Result<String, String>,
    /// Number of bytes that the logs of a task may take, both streams together; 0 for no limit.
    pub logs_max_bytes: u64,
    /// Whether tasks get control groups.
    pub cgroups: Cgroups,
    /// The request for lanes of a task that it has given up.
    pub wants: Wants<'a>,
    /// Called when a process inside the task asked for a scheduling pass. Returns the pids of the supervisors that it
    /// started, which are children of this process and not of the task.
    pub pass: &'a mut dyn FnMut() -> Vec<u32>,
    /// Ends the children that run in the lanes of a task and no longer have a waiter. Returns descriptors that become readable
    /// when a waiter for the other children, or for an event, ends. With `true` it looks in any case, else only if a process
    /// waits for a child.
    pub loans: &'a dyn Fn(TaskId, bool) -> Vec<File>,
    /// Asks whether this process got a request to end (SIGTERM), when no child is waited for; a yes is given once.
    pub told_to_end: &'a mut dyn FnMut() -> bool,
    /// Set when this process got a request to end, which interrupted its task.
    pub is_told_to_end: bool,
}

/// A task after an attempt: the pause before its next one goes by the boot clock. A limit of a service names a moment instead.
fn delayed(site: &Site, mut task: Task, happened: &Happened) -> Task {
    let is_pause = task.status() == Status::Pending && !matches!(happened, Happened::Limited(_));
    let due = task.due_at.filter(|at| is_pause && *at > site.host.now());
    task.terms.due_boot = due.map(|at| site.host.by_boot_clock(at));
    task
}
