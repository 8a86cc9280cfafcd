//! Options of the verbs that only look. Definition only.

use super::values::{TaskState, number};
use clap::Args;

/// `luzia list`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "List tasks: every unfinished one, and with --all or a finished --state the finished ones too.",
    after_help = LIST_HELP
)]
pub struct ListArgs {
    /// Finished tasks too
    #[arg(short, long)]
    pub all: bool,

    /// Only tasks in these states; several separated by commas
    #[arg(long = "state", alias = "status", value_name = "STATE", value_delimiter = ',')]
    pub states: Vec<TaskState>,

    /// Only tasks of this user
    #[arg(short, long)]
    pub user: Option<String>,

    /// Only tasks of this lane
    #[arg(short, long)]
    pub lane: Option<String>,

    /// Only running tasks that nobody watches: their supervisor is dead or stopped
    #[arg(long)]
    pub stuck: bool,

    /// Sort by id, user, status, priority, created_at or due_at
    #[arg(long, value_name = "KEY")]
    pub sort: Option<String>,

    /// Only the first N, in the order of the list
    ///
    /// Without --sort, started tasks come first, then pending ones, then finished ones, each by their numbers: the
    /// oldest first.
    #[arg(short = 'n', long, value_name = "N", value_parser = number::<usize>, allow_hyphen_values = true)]
    pub limit: Option<usize>,
}

const LIST_HELP: &str = "\
Examples:
  luzia list
  luzia list --all -u alice -n 20
  luzia list --state pending,running --json
  luzia list --stuck

Exit codes:
  0    listed, if only nothing
  2    usage
  others as in luzia-exit-codes(7)";

/// `luzia show`.
#[derive(Args, Clone, Debug)]
#[command(after_help = SHOW_HELP)]
pub struct ShowArgs {
    /// The task, as `task_12` or `12`
    #[arg(value_name = "TASK")]
    pub task: String,
}

const SHOW_HELP: &str = "\
Examples:
  luzia show task_12
  luzia show 12 --json

Exit codes:
  0    shown
  2    usage
  65   the task's record is corrupt, or a newer luzia wrote it
  66   no such task
  others as in luzia-exit-codes(7)";

/// `luzia logs`.
#[derive(Args, Clone, Debug)]
#[command(after_help = LOGS_HELP)]
pub struct LogsArgs {
    /// Tasks, as `task_12` or `12`; `last` is the newest one. With several, each line begins with its task
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,

    /// Go on printing until the tasks are over
    #[arg(short, long)]
    pub follow: bool,

    /// Only the last N lines of each stream
    #[arg(short = 'n', long, value_name = "N", value_parser = number::<usize>, allow_hyphen_values = true)]
    pub lines: Option<usize>,

    /// Only what it wrote to its standard output
    #[arg(long, conflicts_with = "stderr")]
    pub stdout: bool,

    /// Only what it wrote to its standard error
    #[arg(long)]
    pub stderr: bool,

    /// Only lines that contain this text; with -n, only those among the last N
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub grep: Option<String>,

    /// Only what this attempt wrote, from 1
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub attempt: Option<u32>,

    /// Only what was written in the last DUR, or after TIME (RFC 3339)
    #[arg(long, value_name = "DUR|TIME", allow_hyphen_values = true)]
    pub since: Option<String>,

    /// Begin each line with the moment by which luzia had seen it
    #[arg(long)]
    pub timestamps: bool,
}

const LOGS_HELP: &str = "\
Order and times:
  The supervisor looks at both streams when they grow, at most every 10 ms, and
  less often in a task that writes for long. Of what came between two looks,
  standard output comes first, and times are as coarse. --stdout or --stderr
  alone into a pipe gives that stream byte for byte.

Limit:
  Of the logs of a task the newest logs.max_bytes (256 MiB) are kept. What was
  dropped is said on standard error.

Examples:
  luzia logs task_12
  luzia logs 12 -f
  luzia logs last --timestamps
  luzia logs 12 13 -f
  luzia logs 12 --attempt 2 --since 10m
  luzia logs 12 --stderr -n 20

Exit codes:
  0    printed, if only nothing
  2    usage
  66   no such task
  others as in luzia-exit-codes(7)";

/// `luzia explain`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXPLAIN_HELP)]
pub struct ExplainArgs {
    /// A task, a user or a lane, as `task_12`, `alice` or `thread:7`
    #[arg(value_name = "TASK|USER|LANE")]
    pub target: String,
}

const EXPLAIN_HELP: &str = "\
Examples:
  luzia explain task_12
  luzia explain alice
  luzia explain thread:7 --json

Exit codes:
  0    explained
  2    usage
  66   no such task
  others as in luzia-exit-codes(7)";

/// `luzia status`.
#[derive(Args, Clone, Debug)]
#[command(after_help = STATUS_HELP)]
pub struct StatusArgs {
    /// Only the slots: how many there are, used and free, by project and by user
    #[arg(long)]
    pub capacity: bool,
}

const STATUS_HELP: &str = "\
Examples:
  luzia status
  luzia status --capacity --json

Locks:
  The table looks at 50 locks of users, the first by name, and counts the
  others; --json has all of them.

Exit codes:
  0    shown
  2    usage
  others as in luzia-exit-codes(7)";
