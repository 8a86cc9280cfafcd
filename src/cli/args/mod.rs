//! The command line, read by clap.
//!
//! The result is text, small numbers and enums; `task_request` and the commands turn them into names, lanes and
//! durations. Never prints and never ends the process: an answer or a refusal is returned as a [`ParseStop`].

pub mod complete;
mod deferred;
mod frequent;
mod globals;
mod help;
mod identity;
mod preempt_options;
mod selection;
mod step_options;
mod target;
mod task_options;
mod term_options;
mod usage;
mod values;

pub use deferred::Deferred;
pub use globals::Globals;
pub use identity::Identity;
pub use preempt_options::PreemptOptions;
pub use selection::Selection;
pub use step_options::StepOptions;
pub use target::{Instead, lane_text, named};
pub use task_options::{ParentDeath, TaskOptions};
pub use term_options::TermOptions;
pub use usage::{ParseStop, Usage};
pub use values::{ColorWhen, LockState, OutputFormat};
pub(crate) use values::{number, pid, priority};

use super::commands::cron::{CronArgs, CronVerb};
use super::commands::locks::{
    acquire::AcquireArgs, check::CheckArgs, check_project::CheckProjectArgs, guard::GuardArgs, lanes::LanesArgs,
    list_locks::ListLocksArgs, lock::LockArgs, release::ReleaseArgs, renew::RenewArgs,
};
use super::commands::look::{
    events::EventsArgs, explain::ExplainArgs, list::ListArgs, logs::LogsArgs, metrics::MetricsArgs, show::ShowArgs,
    simulate::SimulateArgs, stats::StatsArgs, status::StatusArgs, timeline::TimelineArgs, top::TopArgs, tree::TreeArgs,
};
use super::commands::operate::{
    agent::AgentArgs, cleanup_stale::CleanupStaleArgs, completions::CompletionsArgs, config::ConfigArgs,
    daemon::DaemonArgs, demo::DemoArgs, dispatch::DispatchArgs, doctor::DoctorArgs, hook::HookArgs,
    install_docs::InstallDocsArgs, mcp::McpArgs, name::NameArgs, schema::SchemaArgs, shim::ShimArgs,
};
use super::commands::queue::{
    attach::AttachArgs, cancel::CancelArgs, edit::EditArgs, enqueue::EnqueueArgs, move_task::MoveArgs,
    pause::PauseArgs, pause::ResumeArgs, retry::RetryArgs, run::RunArgs, wait::WaitArgs,
};
use super::commands::steps::{
    beat::BeatArgs, emit::EmitArgs, finish::FinishArgs, get::GetArgs, set::SetArgs, step::StepArgs, wait_for::AwaitArgs,
};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;

/// The whole command line: the global options and one command.
#[derive(Parser, Clone, Debug)]
#[command(
    name = "luzia",
    bin_name = "luzia",
    version,
    about = "Let AI agents and scripts on one host take turns",
    long_about = "luzia lets AI agents and scripts on one Linux host take turns. Commands in the same lane (a user, a \
                  repository, a deploy target) run one at a time, or N at a time. The others wait in a queue that \
                  survives crashes, and `luzia explain` says why.",
    after_help = ROOT_HELP,
    arg_required_else_help = false,
    subcommand_value_name = "VERB"
)]
pub struct Cli {
    #[command(flatten)]
    /// The options that every command has.
    pub globals: Globals,
    /// The command and its options.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order of `luzia --help`.
#[derive(Subcommand, Clone, Debug)]
pub enum Command {
    /// Put a task in the queue and print its id
    #[command(visible_alias = "add")]
    Enqueue(Deferred<EnqueueArgs>),
    /// Queue a command, stream its output, and exit with its code
    Run(Deferred<RunArgs>),
    /// Stream a task from its beginning, and exit with its code
    Attach(Deferred<AttachArgs>),
    /// Wait until tasks have finished
    Wait(Deferred<WaitArgs>),
    /// Cancel tasks, running ones too
    Cancel(Deferred<CancelArgs>),
    /// Start no further tasks: of a user, of a lane, one task, or any (--all)
    Pause(Deferred<PauseArgs>),
    /// Let paused tasks start again
    Resume(Deferred<ResumeArgs>),
    /// Change a task that has not started
    Edit(Deferred<EditArgs>),
    /// Put a task that has not started before others
    Move(Deferred<MoveArgs>),
    /// Put finished tasks back in the queue
    Retry(Deferred<RetryArgs>),
    /// Make tasks at set times, by cron lines
    Cron(Deferred<CronArgs>),
    /// Do a part of a task once, however often the task is started again
    Step(Deferred<StepArgs>),
    /// Set variables of a task, durably
    Set(Deferred<SetArgs>),
    /// Print variables of a task
    Get(Deferred<GetArgs>),
    /// Note that a task makes progress
    Beat(Deferred<BeatArgs>),
    /// Wait inside a task until an event comes
    Await(Deferred<AwaitArgs>),
    /// Send an event to tasks, which keep it
    Emit(Deferred<EmitArgs>),
    /// Set the result of the task that calls this
    Finish(Deferred<FinishArgs>),
    /// List tasks
    #[command(visible_alias = "ls")]
    List(Deferred<ListArgs>),
    /// Show everything known about a task
    Show(Deferred<ShowArgs>),
    /// Show a task, its steps, and the tasks that it has queued
    Tree(Deferred<TreeArgs>),
    /// Print the output of a task
    Logs(Deferred<LogsArgs>),
    /// Say why a task, a user or a lane is waiting, and what would change it
    Explain(Deferred<ExplainArgs>),
    /// Show the queue, the slots and the locks at a glance
    Status(Deferred<StatusArgs>),
    /// Print what happened, the oldest first
    Events(Deferred<EventsArgs>),
    /// Show how long lanes were waited for and held, and how tasks ended
    Stats(Deferred<StatsArgs>),
    /// Say what would become of a load, or of the queue with other limits
    Simulate(Deferred<SimulateArgs>),
    /// Draw who held which lane when
    Timeline(Deferred<TimelineArgs>),
    /// Show the tasks and the locks, again and again
    Top(Deferred<TopArgs>),
    /// Print numbers for Prometheus
    Metrics(Deferred<MetricsArgs>),
    /// Hold a lane while a command runs, without a queue entry
    Lock(Deferred<LockArgs>),
    /// Run a command only while a lock is in force
    Guard(Deferred<GuardArgs>),
    /// Take a lease on a lane, for scripts
    Acquire(Deferred<AcquireArgs>),
    /// Extend a lease
    Renew(Deferred<RenewArgs>),
    /// Release a lane
    Release(Deferred<ReleaseArgs>),
    /// Say whether a lane is free
    Check(Deferred<CheckArgs>),
    /// List every lock and whether its holder is alive
    #[command(visible_alias = "locks", alias = "list_locks")]
    ListLocks(Deferred<ListLocksArgs>),
    /// Show the lanes, and change their limits
    Lanes(Deferred<LanesArgs>),
    /// Release the locks of a project's finished tasks
    #[command(alias = "check_project")]
    CheckProject(Deferred<CheckProjectArgs>),
    /// Start the tasks whose turn it is
    Dispatch(Deferred<DispatchArgs>),
    /// Start tasks whenever their turn comes, until stopped
    Daemon(Deferred<DaemonArgs>),
    /// Remove locks whose holders are proven dead, and recover dead tasks
    #[command(alias = "cleanup_stale")]
    CleanupStale(Deferred<CleanupStaleArgs>),
    /// Show, locate or check the configuration
    Config(Deferred<ConfigArgs>),
    /// Run commands when something happens
    Hook(Deferred<HookArgs>),
    /// Look for problems on this host and in the state directory
    Doctor(Deferred<DoctorArgs>),
    /// See luzia take turns, in a state directory of its own
    Demo(Deferred<DemoArgs>),
    /// Print the lane of a repository, a work tree, a port, a database or a directory
    Name(Deferred<NameArgs>),
    /// Let heavy tools such as cargo and make take turns by links on PATH
    Shim(Deferred<ShimArgs>),
    /// Let coding agents take turns by themselves: their hooks, and the files that set them up
    Agent(Deferred<AgentArgs>),
    /// Serve the tools of luzia to an agent, by the Model Context Protocol
    Mcp(Deferred<McpArgs>),
    /// Print the JSON Schema of a document
    Schema(Deferred<SchemaArgs>),
    /// Print a completion script for a shell
    Completions(Deferred<CompletionsArgs>),
    /// Write the manual pages and completions where they are found
    InstallDocs(Deferred<InstallDocsArgs>),
    /// Tells completion scripts what may stand at the end of a line. clap does not know it.
    #[command(skip)]
    Complete(Vec<String>),
    /// Supervises one task. luzia starts this itself; clap does not know it.
    #[command(skip)]
    Supervise {
        /// The task.
        task: String,
        /// Finish the work of a dead supervisor.
        recover: bool,
    },
    /// Keeps the leases of a session. luzia starts this itself; clap does not know it.
    #[command(skip)]
    KeepSession {
        /// The process of the agent.
        pid: u32,
        /// Its start time.
        start: u64,
        /// The key of the session.
        key: String,
    },
    /// Runs hooks for the events on its standard input. luzia starts this itself; clap does not know it.
    #[command(skip)]
    RunHooks,
    /// Becomes the command of a task in another account. luzia starts this itself; clap does not know it.
    #[command(skip)]
    ExecTask(Vec<String>),
    /// Gives a command a terminal of its own. luzia starts this itself; clap does not know it.
    #[command(skip)]
    ExecPty(Vec<String>),
}

impl Command {
    /// The name of the command, e.g. `list-locks`; also the tail of the schema of its JSON document.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Enqueue(_) => "enqueue",
            Self::Run(_) => "run",
            Self::Attach(_) => "attach",
            Self::Wait(_) => "wait",
            Self::Cancel(_) => "cancel",
            Self::Pause(_) => "pause",
            Self::Resume(_) => "resume",
            Self::Edit(_) => "edit",
            Self::Move(_) => "move",
            Self::Retry(_) => "retry",
            Self::Cron(_) => "cron",
            Self::Step(_) => "step",
            Self::Set(_) => "set",
            Self::Get(_) => "get",
            Self::Beat(_) => "beat",
            Self::Finish(_) => "finish",
            Self::Await(_) => "await",
            Self::Emit(_) => "emit",
            Self::List(_) => "list",
            Self::Show(_) => "show",
            Self::Tree(_) => "tree",
            Self::Logs(_) => "logs",
            Self::Explain(_) => "explain",
            Self::Status(_) => "status",
            Self::Events(_) => "events",
            Self::Stats(_) => "stats",
            Self::Simulate(_) => "simulate",
            Self::Timeline(_) => "timeline",
            Self::Top(_) => "top",
            Self::Metrics(_) => "metrics",
            Self::Lock(_) => "lock",
            Self::Guard(_) => "guard",
            Self::Acquire(_) => "acquire",
            Self::Renew(_) => "renew",
            Self::Release(_) => "release",
            Self::Check(_) => "check",
            Self::ListLocks(_) => "list-locks",
            Self::Lanes(_) => "lanes",
            Self::CheckProject(_) => "check-project",
            Self::Dispatch(_) => "dispatch",
            Self::Daemon(_) => "daemon",
            Self::CleanupStale(_) => "cleanup-stale",
            Self::Config(_) => "config",
            Self::Hook(_) => "hook",
            Self::Doctor(_) => "doctor",
            Self::Demo(_) => "demo",
            Self::Name(_) => "name",
            Self::Shim(_) => "shim",
            Self::Agent(_) => "agent",
            Self::Mcp(_) => "mcp",
            Self::Schema(_) => "schema",
            Self::Completions(_) => "completions",
            Self::InstallDocs(_) => "install-docs",
            Self::Complete(_) => "__complete",
            Self::Supervise { .. } => "supervise",
            Self::KeepSession { .. } => "keep-session",
            Self::RunHooks => "run-hooks",
            Self::ExecTask(_) => "exec-task",
            Self::ExecPty(_) => "exec-pty",
        }
    }
}

/// The line that `luzia --version` prints.
const VERSION_LINE: &str = concat!("luzia ", env!("CARGO_PKG_VERSION"), "\n");

/// The definition for clap, also for completions and manual pages.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Reads the arguments of the process; the first is the program's own name.
pub fn parse(args: Vec<OsString>) -> Result<Cli, ParseStop> {
    let args = usage::utf8(args)?;
    match args.get(1..) {
        Some([only]) if only == "--version" || only == "-V" => return Err(ParseStop::answer(VERSION_LINE)),
        Some([first, rest @ ..]) if first == "exec-task" => {
            return Ok(Cli { globals: Globals::default(), command: Command::ExecTask(rest.to_vec()) });
        }
        Some([first, rest @ ..]) if first == "exec-pty" => {
            return Ok(Cli { globals: Globals::default(), command: Command::ExecPty(rest.to_vec()) });
        }
        _ => {}
    }
    if let Some([first, rest @ ..]) = args.get(1..)
        && first == "__complete"
    {
        return Ok(Cli { globals: Globals::default(), command: Command::Complete(rest.to_vec()) });
    }
    if let Some(cli) = of_supervisor(&args) {
        return Ok(cli);
    }
    match read(&args) {
        Ok(cli) => usage::checked(with_separator(cli, &args), &args),
        Err(error) => Err(usage::explain(&error, &args)),
    }
}

/// Reads the command line of a supervisor, exactly as luzia writes it. clap would take a sixth of all instructions that
/// such a process executes.
fn of_supervisor(args: &[String]) -> Option<Cli> {
    let mut globals = Globals::default();
    let mut words = args.iter().skip(1).map(String::as_str);
    loop {
        let place = match words.next()? {
            "--state-dir" => &mut globals.state_dir,
            "--config" => &mut globals.config,
            "supervise" => break,
            "run-hooks" if words.next().is_none() => return Some(Cli { globals, command: Command::RunHooks }),
            "keep-session" => return of_keeper(globals, &words.collect::<Vec<&str>>()),
            _ => return None,
        };
        let value = words.next().filter(|value| place.is_none() && !value.starts_with('-'))?;
        *place = Some(value.to_owned());
    }
    let (recover, task) = match words.collect::<Vec<&str>>()[..] {
        [task] => (false, task),
        ["--recover", task] => (true, task),
        _ => return None,
    };
    let command = Command::Supervise { task: task.to_owned(), recover };
    (!task.starts_with('-')).then_some(Cli { globals, command })
}

/// Reads the command line of a keeper behind its verb.
fn of_keeper(globals: Globals, words: &[&str]) -> Option<Cli> {
    let [pid, start, key] = words else { return None };
    let command = Command::KeepSession { pid: pid.parse().ok()?, start: start.parse().ok()?, key: (*key).to_owned() };
    Some(Cli { globals, command })
}

/// Reads a command line. clap copies the global options into every command that it knows (150 KiB, a tenth of the time of
/// `enqueue`), so it is told of the one command first, and of all of them where that fails.
pub(crate) fn read(args: &[String]) -> Result<Cli, clap::Error> {
    if let Some(cli) = command_word(args).and_then(|word| read_one(word, args)) {
        return Ok(cli);
    }
    Cli::from_arg_matches(&command().try_get_matches_from_mut(args)?)
}

fn read_one(word: &str, args: &[String]) -> Option<Cli> {
    let one = match frequent::definition(word) {
        Some(one) => one,
        None => {
            let all = Command::augment_subcommands(clap::Command::new("luzia"));
            all.get_subcommands().find(|one| one.get_name() == word)?.clone()
        }
    };
    let root = <Globals as clap::Args>::augment_args(clap::Command::new("luzia")).subcommand(one);
    Cli::from_arg_matches(&root.try_get_matches_from(args).ok()?).ok()
}

/// Notes whether `--` stands before the command of a task, which clap does not tell.
fn with_separator(mut cli: Cli, args: &[String]) -> Cli {
    let (task, command) = match &mut cli.command {
        Command::Enqueue(Deferred(enqueue)) => (&mut enqueue.task, &enqueue.command),
        Command::Run(Deferred(run)) => (&mut run.task, &run.command),
        Command::Cron(Deferred(CronArgs { verb: Some(CronVerb::Add(add)) })) => (&mut add.task, &add.command),
        _ => return cli,
    };
    let before = args.len().checked_sub(command.len() + 1).and_then(|at| args.get(at));
    task.is_separated = before.is_some_and(|word| word == "--");
    cli
}

/// The first word that is neither an option nor the value of a global one.
fn command_word(args: &[String]) -> Option<&str> {
    let mut words = args.iter().skip(1).map(String::as_str);
    loop {
        match words.next()? {
            "--state-dir" | "--config" | "--color" | "-o" | "--output" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
}

const ROOT_HELP: &str = "\
Examples:
  luzia demo
  luzia enqueue -u alice -- make test
  luzia run -l build -- make test
  luzia dispatch --drain
  luzia explain task_12

Exit codes:
  0   done; yes; free; queued
  1   failed, or the condition is false
  2   usage error; nothing was changed
  75  busy, try again
  all of them: luzia-exit-codes(7)";

#[cfg(test)]
mod tests;
