//! Options of the verbs that create, await and end tasks. Definition only.

use super::values::{OnConflict, number, priority};
use clap::{Args, ValueHint};

/// What `enqueue` and `run` say about a task.
#[derive(Args, Clone, Debug)]
pub struct TaskOptions {
    /// The user the task is serialised by; by default the project's, else your account
    ///
    /// Inside a task, user and project are by default that task's. A project that has a conductor directory and no user
    /// takes the owner of that directory.
    #[arg(short, long)]
    pub user: Option<String>,

    /// The project the task belongs to
    #[arg(short, long)]
    pub project: Option<String>,

    /// A further lane the task takes, as `session:telegram:bob` or `cron`; may be repeated
    #[arg(short, long = "lane", value_name = "LANE")]
    pub lanes: Vec<String>,

    /// A thread the task takes: the lane `thread:ID`; may be repeated
    #[arg(long = "thread", value_name = "ID")]
    pub threads: Vec<String>,

    /// 0 (first) to 9 (last); 5 when not given
    #[arg(long, value_name = "N", value_parser = priority, allow_hyphen_values = true)]
    pub priority: Option<u8>,

    /// Do not start before this time has passed, as `10m`
    #[arg(long = "in", value_name = "DUR", allow_hyphen_values = true, conflicts_with = "at")]
    pub in_time: Option<String>,

    /// Do not start before this moment, as `2026-01-31T08:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,

    /// Do not start before this task has completed; may be repeated
    #[arg(long, value_name = "TASK")]
    pub after: Vec<String>,

    /// End the command when it has run this long
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// Give the task up when it has not started after this time
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub start_within: Option<String>,

    /// How many failed or interrupted attempts are followed by another
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub retries: Option<u32>,

    /// A name for the work: `--on-conflict` decides when an unfinished task has it
    #[arg(long)]
    pub key: Option<String>,

    /// What to do when an unfinished task has the same key
    #[arg(long, value_name = "WHAT", requires = "key")]
    pub on_conflict: Option<OnConflict>,

    /// A note for people
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub label: Option<String>,

    /// Set a variable for the command; may be repeated
    ///
    /// Variables that begin with LUZIA_ are refused. So are those that change how programs load, unless the configuration
    /// says allow_loader_env.
    #[arg(long, value_name = "K=V", allow_hyphen_values = true)]
    pub env: Vec<String>,

    /// The directory the command runs in; by default this one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cwd: Option<String>,

    /// The time between SIGTERM and SIGKILL when the task is ended
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub grace: Option<String>,

    /// A text for the project's configured agent, or for the command
    ///
    /// It takes the place of `{prompt}` in an argument. Where no argument has that, with --shell, and beyond 100000
    /// bytes, it is the standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,

    /// A command line for `/bin/sh -c`
    #[arg(long, value_name = "STRING", allow_hyphen_values = true)]
    pub shell: Option<String>,
}

/// `luzia enqueue`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Put a task in the queue and print its id, and only the id. The task survives kill -9 and a power cut \
                  from then on. Nothing is started: `luzia dispatch`, `luzia daemon` and `luzia run` start tasks.\n\n\
                  Everything after the command word belongs to the command. It is executed as given, without a shell, \
                  in the environment and working directory of this moment. `luzia run --help` says what it gets \
                  exactly, and which variables luzia sets for it.\n\n\
                  DUR is `100ms`, `30s`, `10m`, `1h30m`, or seconds as a bare number.",
    override_usage = "luzia enqueue [OPTIONS] [--] <CMD>...\n       \
                      luzia enqueue [OPTIONS] --prompt <TEXT>\n       \
                      luzia enqueue [OPTIONS] --shell <STRING>\n       \
                      luzia enqueue [OPTIONS] --from <FILE>",
    after_help = ENQUEUE_HELP
)]
pub struct EnqueueArgs {
    /// What the task is.
    #[command(flatten)]
    pub task: TaskOptions,

    /// Read tasks from a file of JSON objects, one a line; `-` is stdin
    ///
    /// Options that describe one task do not go together with it: each line has its own. Every line is checked before
    /// anything is queued, and one mistake refuses them all. A line whose key is taken (on_conflict reject, or replace
    /// when that task has started) ends the reading: the lines before it are queued, and the error names them. The ids are
    /// printed one a line, in the order of the lines.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["prompt", "shell", "wait", "command"])]
    pub from: Option<String>,

    /// Wait until the task is over, and exit as `luzia wait` does
    #[arg(long)]
    pub wait: bool,

    /// The command and its arguments
    #[arg(
        value_name = "CMD",
        trailing_var_arg = true,
        value_hint = ValueHint::CommandWithArguments,
        required_unless_present_any = ["prompt", "shell", "from"],
        conflicts_with = "shell"
    )]
    pub command: Vec<String>,
}

const ENQUEUE_HELP: &str = "\
Examples:
  luzia enqueue -u alice -- make test
  luzia enqueue -p alice_project --prompt 'fix the build' --priority 2
  luzia enqueue -u bob --in 10m --after task_12 ./report.sh
  luzia enqueue -u bob --shell 'make && make install'
  luzia enqueue --from tasks.jsonl

Lines of --from:
  command                 an array of strings: the command and its arguments
  shell, prompt           a string
  user, project, cwd      a string
  key, label, at          a string
  on_conflict             \"queue\", \"skip\", \"replace\" or \"reject\"
  lanes, threads, after   an array of strings or numbers, or one of them alone
  priority, retries       a whole number
  in, timeout, grace, start_within
                          a string as DUR, or a number of seconds
  env                     an object of strings, or an array of \"K=V\"
  A member means what the option of that name means, and one that is missing
  what the option means when it is not given. A line needs command, shell, or
  prompt and a project with an agent. lane, thread, start-within and on-conflict
  are other spellings. An unknown member, one given twice and one of another
  type, null too, are mistakes. Empty lines are passed over.

Exit codes:
  0    queued; with --wait: completed
  1    with --wait: the task failed or was cancelled
       --wait inside a task that holds a lane of the new one; nothing was queued
       --on-conflict replace, and the task with the key has started
  2    usage; nothing was queued
  66   no such task in --after
  74   input-output error, disk full included; nothing was queued, unless the
       error says that a task is
  75   --on-conflict reject, and an unfinished task has the key
  124  with --wait: a time limit ended the task
  others as in luzia-exit-codes(7)";

/// `luzia run`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Queue a command, start it when its turn comes, stream its output, and exit with its own code. The \
                  first Ctrl-C cancels the task with its grace, the second kills it. A command whose output nobody \
                  reads any more (`luzia run make | head`) is cancelled when it writes again, as SIGPIPE would end it \
                  without luzia.\n\n\
                  Inside a task that holds every lane of the new one, the command runs as a part of that task, with no \
                  record of its own. What would have to wait for a lane that the task holds is refused: another lane \
                  beside it, or an option that is about a record (--timeout, --retries, --key, --after and their \
                  like).\n\n\
                  The task lasts as long as its command: processes that are left in the background when it exits are \
                  ended, SIGTERM first and SIGKILL 5 seconds later, and only then its lanes are free. Its logs \
                  are kept up to `logs.max_bytes` (256 MiB) a task, the newest part.\n\n\
                  Everything after the command word belongs to the command. It is executed as given, without a shell.\n\n\
                  The command inherits the environment, the working directory and the umask of this moment. Variables \
                  that begin with LUZIA_ and those that change how programs load (LD_PRELOAD, BASH_ENV, NODE_OPTIONS \
                  and their like) are left out; then come those of --env and those that luzia sets, named below. Its \
                  standard input is /dev/null, unless a prompt is given there; its output goes to its logs, from \
                  which it is streamed here. Resource limits are those of the luzia process that starts it.\n\n\
                  DUR is `100ms`, `30s`, `10m`, `1h30m`, or seconds as a bare number.",
    override_usage = "luzia run [OPTIONS] [--] <CMD>...\n       \
                      luzia run [OPTIONS] --prompt <TEXT>\n       \
                      luzia run [OPTIONS] --shell <STRING>",
    after_help = RUN_HELP
)]
pub struct RunArgs {
    /// What the task is.
    #[command(flatten)]
    pub task: TaskOptions,

    /// Do not wait: when the task cannot start at once, cancel it and exit with 75
    ///
    /// The record of the cancelled task stays, as that of any other.
    #[arg(long)]
    pub no_wait: bool,

    /// Accepted for scripts that pass the options of `enqueue`: run always waits.
    #[arg(long, hide = true, conflicts_with = "no_wait")]
    pub wait: bool,

    /// Print the output when the task is over, in one piece
    #[arg(long)]
    pub group_output: bool,

    /// The command and its arguments
    #[arg(
        value_name = "CMD",
        trailing_var_arg = true,
        value_hint = ValueHint::CommandWithArguments,
        required_unless_present_any = ["prompt", "shell"],
        conflicts_with = "shell"
    )]
    pub command: Vec<String>,
}

const RUN_HELP: &str = "\
Examples:
  luzia run -u alice -- make test
  luzia run --thread 7 --timeout 10m ./reply.sh
  luzia run -u alice --no-wait -- git push

Variables of the command:
  LUZIA_STATE_DIR      the state directory
  LUZIA_CONFIG         the configuration, where --config or LUZIA_CONFIG named it
  LUZIA_TASK_ID        the task, as task_12
  LUZIA_USER           the user of the task
  LUZIA_PROJECT        the project of the task, empty when it has none
  LUZIA_LANES          the lanes of the task, the user's first, with blanks between
  LUZIA_LOCK_ID        the lock id of the user's lane
  LUZIA_FENCE          the fence of the user's lane
  LUZIA_ATTEMPT        the number of the attempt, from 1
  LUZIA_CONDUCTOR_DIR  the directory of the task, with its meta.json and its logs

Exit codes:
  the command's own code, or 128+N when signal N ended it
  1    the task was cancelled
       it would wait for a lane of the task around it; nothing was queued
       --on-conflict replace, and the task with the key has started
  2    usage; nothing was queued
  75   --no-wait, and the task could not start at once; it was cancelled
       --on-conflict reject, and an unfinished task has the key
  124  a time limit ended the task
  125  luzia failed before the command was started
  126  the command cannot be executed
  127  there is no such command
  others as in luzia-exit-codes(7)";

/// `luzia wait`.
#[derive(Args, Clone, Debug)]
#[command(after_help = WAIT_HELP)]
pub struct WaitArgs {
    /// The tasks, as `task_12` or `12`
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,

    /// Wait no longer than this
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// Wait until one of them is over, not all
    ///
    /// That one is printed, and the exit code says how it ended. Of several that are over already, it is the one that
    /// ended first.
    #[arg(long)]
    pub any: bool,
}

const WAIT_HELP: &str = "\
Examples:
  luzia wait task_12
  luzia wait 12 13 14 --any --timeout 10m

Exit codes:
  0    every task (with --any: the first to end) has completed
  1    a task failed or was cancelled
       inside a task for which one of them waits: nobody would ever end
  2    usage
  66   no such task
  124  the time is over, or a task's own time limit ended it
  others as in luzia-exit-codes(7)";

/// `luzia cancel`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "End tasks, or keep them from starting. A pending task never runs. A running one gets SIGTERM, and \
                  SIGKILL after its grace; its lanes are given back when its last process is gone.",
    after_help = CANCEL_HELP
)]
pub struct CancelArgs {
    /// The tasks, as `task_12` or `12`
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,

    /// Why, for the record
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,

    /// Who, for the record; by default your account
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    /// The time between SIGTERM and SIGKILL
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub grace: Option<String>,
}

const CANCEL_HELP: &str = "\
Examples:
  luzia cancel task_12 --reason 'wrong branch'
  luzia cancel 12 13 --grace 0

Exit codes:
  0    cancelled
  1    a task was over already; it is unchanged
  2    usage; nothing was changed
  66   no such task
  75   a task does not end; it stays asked to
  others as in luzia-exit-codes(7)";

/// `luzia retry`.
#[derive(Args, Clone, Debug)]
#[command(after_help = RETRY_HELP)]
pub struct RetryArgs {
    /// The tasks, as `task_12` or `12`
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,

    /// Do not wait for the tasks it comes after, now or at any later retry
    #[arg(long)]
    pub no_after: bool,
}

const RETRY_HELP: &str = "\
Notes:
  The task has its old place, command and environment, and one attempt more than it has spent.
  It waits again for the tasks of its --after; a due time that has not come stays, --start-within does not.

Examples:
  luzia retry task_12
  luzia retry task_3 task_4 task_5       a chain, in its order

Exit codes:
  0    back in the queue, with the same id
  1    a task is not over, or one that it comes after has failed; it is unchanged
  2    usage; nothing was changed
  66   no such task
  others as in luzia-exit-codes(7)";
