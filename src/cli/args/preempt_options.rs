//! The options of a task that makes room for itself.

use crate::model::control::How;
use clap::Args;

/// The options of `enqueue` and `run`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Preemption")]
pub struct PreemptOptions {
    /// Make room: end, or queue again, the running tasks that hold the lanes of this one
    ///
    /// Only tasks of the same or a lower priority make room, and only where that frees every lane that is full. Of several, the
    /// lowest priority makes room first, and then the youngest. This task then starts before others of its priority. A lease or
    /// a `luzia lock` is never taken: the command is refused, and nothing is queued. Work of somebody else (another agent or
    /// session, else another user) makes room only after a question on a terminal, or with --yes.
    #[arg(long, value_name = "HOW", num_args = 0..=1, default_missing_value = "end", conflicts_with = "from")]
    pub preempt: Option<How>,

    /// The time between SIGTERM and SIGKILL for those that are ended or queued again; by default their own
    #[arg(long, value_name = "DUR", allow_hyphen_values = true, requires = "preempt")]
    pub preempt_grace: Option<String>,
}
