//! CHILD: the supervisor of one task. Starts its command, watches it, kills what must die, records how it ended, and
//! gives its lanes back. Never chooses what runs next: it tells its caller that a pass is due.

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
pub use cpus::{CpuPlan, CpuShare};
pub use finish::{Finished, finish};
pub use keep::Keeper;
pub use recover::{recover, seen};
pub use run::{run, run_claimed};

use crate::model::{Cgroups, LaneName, Status, Task, TaskId, Timestamp};
use crate::policy::outcome::Happened;
use crate::store::Site;
use std::fs::File;
use std::time::Duration;

/// How long stragglers may live after the command itself has exited, in milliseconds (`supervision.md`).
pub const STRAGGLER_GRACE_MS: u64 = 5000;
/// How often a supervisor looks for a request to cancel that no signal announced.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// What a supervisor needs of its surroundings.
pub struct Surroundings<'a> {
    /// The state directory.
    pub site: &'a Site,
    /// The configuration file, where it has been named.
    pub config: Option<&'a str>,
    /// The lock timeout of a lane, in milliseconds.
    pub timeout_ms: &'a dyn Fn(&LaneName) -> u64,
    /// How the processors of a lane are shared, where it has a budget.
    pub cpu_plan: &'a dyn Fn(&LaneName) -> Option<CpuPlan>,
    /// The digest of the work tree around a directory, or why it has no digest.
    pub subject: &'a dyn Fn(&str) -> Result<String, String>,
    /// How many bytes the logs of a task may take, both streams together; 0 for no limit.
    pub logs_max_bytes: u64,
    /// Whether tasks get control groups.
    pub cgroups: Cgroups,
    /// The request for lanes of a task that it has given up.
    pub wants: Wants<'a>,
    /// Called when somebody inside the task asked for a scheduling pass; gives the pids of the supervisors it started,
    /// which are this process's children and none of the task's.
    pub pass: &'a mut dyn FnMut() -> Vec<u32>,
    /// Ends the children that run in the lanes of a task and for which nobody waits any more, and gives what becomes readable when
    /// one of those who wait for the others, or for an event, ends. Looks in any case where that is asked for, else only where somebody waits.
    pub loans: &'a dyn Fn(TaskId, bool) -> Vec<File>,
    /// Asks whether this process was told to end (SIGTERM), where no child is waited for; a yes is given once.
    pub told_to_end: &'a mut dyn FnMut() -> bool,
    /// Set when this process was told to end, which interrupted its task.
    pub is_told_to_end: bool,
}

/// A task after an attempt: the pause before its next one goes by the boot clock. A limit of a service names a moment instead.
fn delayed(site: &Site, mut task: Task, happened: &Happened) -> Task {
    let is_pause = task.status() == Status::Pending && !matches!(happened, Happened::Limited(_));
    let due = task.due_at.filter(|at| is_pause && *at > site.host.now());
    task.terms.due_boot = due.map(|at| site.host.by_boot_clock(at));
    task
}

/// Milliseconds between two moments, never negative.
fn elapsed_ms(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.ms_since(from)).unwrap_or(0)
}
