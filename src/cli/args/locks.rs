//! Options of the verbs about lanes and locks. Definition only.

use super::values::{LockState, number, pid};
use clap::{Args, ValueHint};

/// `luzia lock`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Hold a lane while a command runs, as flock(1) holds a file: no queue entry, no log. The command gets \
                  this terminal, and LUZIA_LOCK_ID and LUZIA_FENCE of the lane; its exit code is passed on. Without -u \
                  and -l the lane is your account's.\n\n\
                  Inside a task, a lane that the task holds is had at once: the command runs under the task's lock.",
    override_usage = "luzia lock [OPTIONS] [--] <CMD>...",
    after_help = LOCK_HELP
)]
pub struct LockArgs {
    /// Hold the lane of this user
    #[arg(short, long, conflicts_with = "lane")]
    pub user: Option<String>,

    /// Hold this lane, as `thread:7` or `cron`
    #[arg(short, long)]
    pub lane: Option<String>,

    /// Wait no longer than this
    #[arg(short, long, value_name = "DUR", allow_hyphen_values = true, conflicts_with = "nonblock")]
    pub wait: Option<String>,

    /// Do not wait
    #[arg(short, long, alias = "nb")]
    pub nonblock: bool,

    /// Exit with this code instead of 75 when the lane cannot be had
    #[arg(short = 'E', long, value_name = "CODE", value_parser = number::<u8>, allow_hyphen_values = true)]
    pub conflict_exit_code: Option<u8>,

    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<String>,
}

const LOCK_HELP: &str = "\
Notes:
  The command has this terminal, environment and working directory, and no record: only its lock is seen.
  As with flock(1), a process that it leaves in the background keeps the lane until that ends, too.
  Inside a task or a `luzia lock` that holds the lane already, the command runs at once.

Examples:
  luzia lock -u alice -- git commit -am wip
  luzia lock -l cron -n -- ./nightly.sh
  luzia lock -l thread:7 -w 30s -E 9 -- ./reply.sh

Exit codes:
  the command's own code, or 128+N when signal N ended it
  2    usage; nothing was run
  75   the lane was not to be had (-E overrides)
  125  luzia failed before the command was started
  126  the command cannot be executed
  127  there is no such command
  others as in luzia-exit-codes(7)";

/// `luzia acquire`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Take a lease on a lane, for scripts. It lasts until `luzia release`, or until its time to live has \
                  passed since the last refresh. Acquiring again with the same --task refreshes it.\n\n\
                  Inside a task, a lane that the task holds is had at once: the lock id of the task is printed, and \
                  a release gives nothing back, for the task keeps its lanes until it ends. The same holds inside \
                  the command of `luzia lock`.",
    after_help = ACQUIRE_HELP
)]
pub struct AcquireArgs {
    /// The user or lane, as `alice` or `thread:7`
    #[arg(value_name = "USER|LANE")]
    pub target: String,

    /// Who holds the lease: a task or any name
    #[arg(long, value_name = "ID")]
    pub task: String,

    /// Wait this long for the lane; by default not at all
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// How long the lease lasts without a refresh; by default the lane's lock timeout
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub ttl: Option<String>,

    /// End the lease also when this process ends
    #[arg(long, value_name = "PID", value_parser = pid, allow_hyphen_values = true)]
    pub pid: Option<u32>,

    /// Sync the lease to disk, so that it survives a power cut
    #[arg(long)]
    pub durable: bool,
}

const ACQUIRE_HELP: &str = "\
Examples:
  luzia acquire alice --task deploy --timeout 30
  luzia acquire thread:7 --task 100 --json
  luzia acquire gpu:0 --task train --ttl 2h --pid $$

Exit codes:
  0    acquired, or refreshed
  2    usage; nothing was changed
  75   somebody else holds the lane
  others as in luzia-exit-codes(7)";

/// `luzia renew`.
#[derive(Args, Clone, Debug)]
#[command(after_help = RENEW_HELP)]
pub struct RenewArgs {
    /// The user or lane, as `alice` or `thread:7`
    #[arg(value_name = "USER|LANE")]
    pub target: String,

    /// The lock id that `acquire` printed
    #[arg(long, value_name = "ID")]
    pub lock_id: String,
}

const RENEW_HELP: &str = "\
Examples:
  luzia renew alice --lock-id deploy_1768005905

Exit codes:
  0    extended
  1    the lane is no longer held by this lock id, or that is no lease
  2    usage; nothing was changed
  others as in luzia-exit-codes(7)";

/// `luzia release`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Give a lane back. A free lane is released with success. A lease whose time runs is released by \
                  whoever asks, without naming anybody; with TASK or --lock-id it is refused when somebody else holds \
                  the lane. A lease taken with --pid whose process lives must be named by one of them. The lock of a \
                  living task or `luzia lock` is refused without --force; inside of it, where `acquire` took nothing, \
                  nothing is given back, with success.\n\n\
                  In a lane of several slots, what is released is the lock that is named, else the first one.",
    after_help = RELEASE_HELP
)]
pub struct ReleaseArgs {
    /// The user or lane, as `alice` or `thread:7`
    #[arg(value_name = "USER|LANE")]
    pub target: String,

    /// Release only what this task (or name given to `acquire`) holds
    #[arg(value_name = "TASK")]
    pub task: Option<String>,

    /// Release only what has this lock id
    #[arg(long, value_name = "ID")]
    pub lock_id: Option<String>,

    /// End a living holder first: cancel the task, or end the process
    #[arg(long)]
    pub force: bool,
}

const RELEASE_HELP: &str = "\
Examples:
  luzia release alice --lock-id deploy_1768005905
  luzia release alice task_123
  luzia release thread:7 --force

Exit codes:
  0    released, or free already
  1    somebody else holds it, or its holder lives; nothing was changed
  2    usage; nothing was changed
  others as in luzia-exit-codes(7)";

/// `luzia check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CHECK_HELP)]
pub struct CheckArgs {
    /// The user or lane, as `alice` or `thread:7`
    #[arg(value_name = "USER|LANE")]
    pub target: String,
}

const CHECK_HELP: &str = "\
Examples:
  luzia check alice && echo free
  luzia check thread:7 --json

Exit codes:
  0    the next to acquire would get it: free, or stale
  2    usage
  75   held
  others as in luzia-exit-codes(7)";

/// `luzia list-locks`.
#[derive(Args, Clone, Debug)]
#[command(after_help = LIST_LOCKS_HELP)]
pub struct ListLocksArgs {
    /// Only locks in these states; several separated by commas
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',')]
    pub states: Vec<LockState>,
}

const LIST_LOCKS_HELP: &str = "\
Examples:
  luzia list-locks
  luzia list-locks --state stale,orphan --json

Exit codes:
  0    listed
  2    usage
  others as in luzia-exit-codes(7)";

/// `luzia cleanup-stale`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Remove locks whose holders are proven dead, and leases that have run out. The lock of a living task \
                  or `luzia lock` is never removed, however old. With SECONDS, what was not refreshed for longer than \
                  that counts as run out: leases without a --ttl of their own, and locks of other programs.\n\n\
                  A task whose supervisor died is recovered: its living processes are ended first, then it is over or \
                  back in the queue, as after any interruption. What killed processes of luzia left is removed, a \
                  conductor directory that missed the end of its task is closed, and every configured project is \
                  checked as by `luzia check-project`. Prints how many locks were removed and tasks recovered.",
    after_help = CLEANUP_STALE_HELP
)]
pub struct CleanupStaleArgs {
    /// The age from which a lease is stale, instead of the configured one
    #[arg(value_name = "SECONDS")]
    pub seconds: Option<String>,

    /// Say what would be done, recovered tasks included, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

const CLEANUP_STALE_HELP: &str = "\
Examples:
  luzia cleanup-stale
  luzia cleanup-stale 3600 --dry-run

Exit codes:
  0    done, whether something was removed or not
  2    usage; nothing was changed
  others as in luzia-exit-codes(7)";

/// `luzia check-project`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Release the locks of a project's tasks whose meta.json says that they are over; it must name id, user \
                  and lock_id, as luzia-spool(5) says. A claim that does not fit the lock is reported and refused, and \
                  harms nobody. Prints how many locks were released.",
    after_help = CHECK_PROJECT_HELP
)]
pub struct CheckProjectArgs {
    /// The project
    #[arg(value_name = "PROJECT")]
    pub project: String,

    /// Say what would be released, and release nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

const CHECK_PROJECT_HELP: &str = "\
Examples:
  luzia check-project alice_project
  luzia check-project alice_project -n

Exit codes:
  0    done, whether something was released or not
  2    usage; nothing was changed
  66   no such project
  others as in luzia-exit-codes(7)";
