//! The verbs: a row for each, with its word, its group of the help, what luzia does around it, and the call that runs it.
//! The enum that clap reads, the groups of the help, and every question about a verb come from these rows.

use super::args::{Cli, Deferred, KeepLanesArgs, KeeperArgs, ListenArgs, SuperviseArgs, UnderLanesArgs};
use super::commands::cron::CronVerb;
use super::commands::locks::lanes::LanesVerb;
use super::commands::{cron, locks, look, operate, queue, steps};
use super::configuration::config_of;
use super::context::{account, caller, half_written, surroundings, variable};
use super::entry::{self, alone, in_state, with_terminal};
use super::input::{confirm, read_data, read_input};
use super::output::console::{Answer, Console, End};
use super::signals::{daemon_ended, ended};
use super::top::on_screen;
use super::{account_files, agent::setup, fleet, mcp_server, shim};
use crate::model::task::LeaseOf;
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};

/// A group of `luzia --help`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// Verbs that change the queue.
    Queue,
    /// Verbs that a task calls.
    Inside,
    /// Verbs that change nothing.
    Look,
    /// Verbs for locks and lanes.
    Locks,
    /// Verbs for the operation of luzia.
    Operate,
}

impl Group {
    /// Every group with its heading, in the order of the help.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Queue, "Queue"),
        (Self::Inside, "Inside a task"),
        (Self::Look, "Look"),
        (Self::Locks, "Locks"),
        (Self::Operate, "Operate"),
    ];

    /// The words of the group's verbs.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        VERBS.iter().filter(move |verb| verb.group == self).map(|verb| verb.word)
    }
}

/// A property of a verb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    /// The verb makes the state directory if it is absent.
    MakesState,
    /// The verb works without a valid configuration. A claimed task runs by the rules of its claim, so tasks that run and
    /// locks that are held can be watched, renewed and ended without one.
    NoRules,
    /// The verb itself reads the rules of `lanes set` and the pauses, as each pass does.
    OwnRules,
    /// The verb lets no timer fire (S1.51): it makes a pass of its own, or is not about tasks.
    NoTimers,
    /// The verb runs the hooks for its own events, and ends after them. Another process runs those of the other verbs.
    RunsHooks,
    /// The verb ends, gives back or holds up what lives. luzia never proposes it as the next command (P10).
    Harms,
    /// The verb takes tasks that are over, too.
    TakesEnded,
    /// The verb reports the faults of an unsafe state directory, and is not refused there.
    ReportsFaults,
    /// The verb works in a state directory that belongs to another account.
    WorksForOthers,
    /// The verb is about the tasks of several hosts where a store of them is named.
    Fleet,
}

/// A verb that clap knows.
pub struct Verb {
    /// The word on the command line.
    pub word: &'static str,
    group: Group,
    does: &'static [Does],
    /// Adds the options of the verb to a definition.
    pub define: fn(clap::Command) -> clap::Command,
    /// Reads the command from what clap found by that definition.
    pub read: fn(&ArgMatches) -> Result<Command, clap::Error>,
}

impl Verb {
    /// The verb of a word. An alias has no verb here.
    pub fn of(word: &str) -> Option<&'static Self> {
        VERBS.iter().find(|verb| verb.word == word)
    }

    /// Whether the verb of a word has a property; false for a word that is no verb.
    pub fn does(word: &str, what: Does) -> bool {
        Self::of(word).is_some_and(|verb| verb.does.contains(&what))
    }
}

/// Declares the verbs. A row has the line of the help, the name of the variant with its arguments, the word, the group, the
/// properties, and the call: `alone` runs it without a state directory, `in_state` runs it in one. Rows of `own` are command
/// lines that luzia writes for itself; clap does not know them.
macro_rules! verbs {
    (
        shown {
            $($(#[$meta:meta])* $name:ident($args:ty) $word:literal $group:ident [$($does:ident)*]
                $place:ident |$given:ident, $at:ident, $console:ident| $run:expr;)*
        }
        own {
            $($(#[$own_meta:meta])* $own:ident($own_args:ty) $own_word:literal [$($own_does:ident)*]
                $own_place:ident |$own_given:ident, $own_at:ident, $own_console:ident| $own_run:expr;)*
        }
    ) => {
        /// The commands, in the order of `luzia --help`.
        #[derive(Subcommand, Clone, Debug)]
        pub enum Command {
            $($(#[$meta])* #[command(name = $word)] $name(Deferred<$args>),)*
            $($(#[$own_meta])* #[command(skip)] $own($own_args),)*
        }

        /// The verbs that clap knows, in the same order.
        pub const VERBS: &[Verb] = &[$(Verb {
            word: $word,
            group: Group::$group,
            does: &[$(Does::$does),*],
            define: <$args as Args>::augment_args,
            read: |matches| Deferred::from_arg_matches(matches).map(Command::$name),
        },)*];

        impl Command {
            /// The word of the command, e.g. `list-locks`; also the tail of the schema of its JSON document.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $word,)*
                    $(Self::$own(_) => $own_word,)*
                }
            }

            /// The properties in the row of the command.
            fn row(&self) -> &'static [Does] {
                match self {
                    $(Self::$name(_) => &[$(Does::$does),*],)*
                    $(Self::$own(_) => &[$(Does::$own_does),*],)*
                }
            }
        }

        /// Runs the command of a command line.
        pub(super) fn run(cli: &Cli, console: &mut Console) -> Answer {
            match &cli.command {
                $(Command::$name($given) => $place(cli, console, &mut |$at, $console| End::answer($run)),)*
                $(Command::$own($own_given) => $own_place(cli, console, &mut |$own_at, $own_console| End::answer($own_run)),)*
            }
        }
    };
}

impl Command {
    /// The properties of the command. Those of `cron add`, `lanes set` and `lanes rm` go beyond the row of the verb: the first
    /// makes the state directory, and the others fire no timer, because a rule of a lane is about later tasks.
    pub fn properties(&self) -> Vec<Does> {
        let more = match self {
            Self::Cron(args) if matches!(args.verb, Some(CronVerb::Add(_))) => Some(Does::MakesState),
            Self::Lanes(args) if matches!(args.verb, Some(LanesVerb::Set { .. } | LanesVerb::Rm { .. })) => {
                Some(Does::NoTimers)
            }
            _ => None,
        };
        self.row().iter().copied().chain(more).collect()
    }

    /// Whether the command acts on this host whatever store is named: luzia calls it itself, or a task calls it. Events that are
    /// sent may be for tasks of other hosts.
    pub fn stays_here(&self) -> bool {
        Verb::of(self.name())
            .is_none_or(|verb| verb.group == Group::Inside && verb.word != "emit" || verb.word == "guard")
    }
}

verbs! {
shown {
    /// Put a task in the queue and print its id
    #[command(visible_alias = "add")]
    Enqueue(queue::enqueue::EnqueueArgs) "enqueue" Queue [MakesState OwnRules RunsHooks Fleet]
        in_state |args, at, console| queue::enqueue::run(args, at.app, &caller(), &read_input, &at.agree, console);

    /// Queue a command, stream its output, and exit with its code
    Run(queue::run::RunArgs) "run" Queue [MakesState OwnRules NoTimers Fleet]
        in_state |args, at, console| with_terminal(|terminal| {
            queue::run::run(args, at.app, &caller(), &read_input, &at.agree, terminal, console)
        });

    /// Stream a task from its beginning, and exit with its code
    Attach(queue::attach::AttachArgs) "attach" Queue [OwnRules TakesEnded Fleet]
        in_state |args, at, console| {
            with_terminal(|terminal| queue::attach::run(args, at.app, at.store, terminal, console))
        };

    /// Wait until tasks have finished
    Wait(queue::wait::WaitArgs) "wait" Queue [NoRules TakesEnded Fleet]
        in_state |args, at, console| match args.stream {
            true => with_terminal(|terminal| queue::wait::stream(args, at.app, account, terminal, console)),
            false => queue::wait::run(args, at.app, account, console),
        };

    /// Cancel tasks, running ones too
    Cancel(queue::cancel::CancelArgs) "cancel" Queue [NoRules RunsHooks Harms Fleet]
        in_state |args, at, console| queue::cancel::run(args, at.app, account, at.agree.ask, console);

    /// Keep tasks from starting: those of a user or a lane, one task, or all (--all)
    Pause(queue::pause::PauseArgs) "pause" Queue [MakesState RunsHooks Harms Fleet]
        in_state |args, at, console| queue::pause::pause(args, at.app, account, at.agree.ask, console);

    /// Let paused tasks start again
    Resume(queue::pause::ResumeArgs) "resume" Queue [RunsHooks Fleet]
        in_state |args, at, console| queue::pause::resume(args, at.app, at.agree.ask, console);

    /// Change a task that has not started
    Edit(queue::edit::EditArgs) "edit" Queue [RunsHooks]
        in_state |args, at, console| queue::edit::run(args, at.app, at.agree.ask, console);

    /// Put a task that has not started before others
    Move(queue::move_task::MoveArgs) "move" Queue [Harms]
        in_state |args, at, console| queue::move_task::run(args, at.app, console);

    /// Put finished tasks back in the queue
    Retry(queue::retry::RetryArgs) "retry" Queue [OwnRules RunsHooks TakesEnded Fleet]
        in_state |args, at, console| queue::retry::run(args, at.app, at.agree.ask, console);

    /// Make tasks at set times, by cron lines
    Cron(cron::CronArgs) "cron" Queue [RunsHooks]
        in_state |args, at, console| cron::run(args, at.app, &caller, &read_input, console);

    /// Do a part of a task once, however often the task is started again
    Step(steps::step::StepArgs) "step" Inside [NoRules NoTimers]
        in_state |args, at, console| steps::step::run(args, at.app, variable("LUZIA_STEP_NAME")?.as_deref(), console);

    /// Set variables of a task, durably
    Set(steps::set::SetArgs) "set" Inside [NoRules]
        in_state |args, at, console| steps::set::run(args, at.app, console);

    /// Print variables of a task
    Get(steps::get::GetArgs) "get" Inside [NoRules TakesEnded]
        in_state |args, at, console| steps::get::run(args, at.app, console);

    /// Note that a task makes progress
    Beat(steps::beat::BeatArgs) "beat" Inside [NoRules NoTimers]
        in_state |args, at, console| steps::beat::run(args, at.app, console);

    /// Wait inside a task until an event comes
    Await(steps::wait_for::AwaitArgs) "await" Inside [NoRules NoTimers]
        in_state |args, at, console| steps::wait_for::run(args, at.app, variable("LUZIA_STEP_NAME")?.as_deref(), console);

    /// Send an event to tasks, which keep it
    Emit(steps::emit::EmitArgs) "emit" Inside [NoRules RunsHooks]
        in_state |args, at, console| steps::emit::run(args, at.app, &read_data, console);

    /// Set the result of the task that calls this
    Finish(steps::finish::FinishArgs) "finish" Inside [NoRules NoTimers]
        in_state |args, at, console| steps::finish::run(args, at.app, console);

    /// List tasks
    #[command(visible_alias = "ls")]
    List(look::list::ListArgs) "list" Look [Fleet]
        in_state |args, at, console| look::list::run(args, at.app, console);

    /// Show everything known about a task
    Show(look::show::ShowArgs) "show" Look [TakesEnded Fleet]
        in_state |args, at, console| look::show::run(args, at.app, console);

    /// Show a task, its steps, and the tasks that it has queued
    Tree(look::tree::TreeArgs) "tree" Look [TakesEnded]
        in_state |args, at, console| look::tree::run(args, at.app, console);

    /// Print the output of a task
    Logs(look::logs::LogsArgs) "logs" Look [NoRules TakesEnded Fleet]
        in_state |args, at, console| look::logs::run(args, at.app, account, console);

    /// Say why a task, a user or a lane is waiting, and what would change it
    Explain(look::explain::ExplainArgs) "explain" Look [TakesEnded Fleet]
        in_state |args, at, console| look::explain::run(args, at.app, console);

    /// Show the queue, the slots and the locks at a glance
    Status(look::status::StatusArgs) "status" Look [Fleet]
        in_state |args, at, console| look::status::run(args, at.app, at.rule, console);

    /// Print what happened, the oldest first
    Events(look::events::EventsArgs) "events" Look [NoRules]
        in_state |args, at, console| look::events::run(args, at.app, account, console);

    /// Show how long lanes were waited for and held, and how tasks ended
    Stats(look::stats::StatsArgs) "stats" Look []
        in_state |args, at, console| look::stats::run(args, at.app, console);

    /// Simulate a load, or the queue with other limits
    Simulate(look::simulate::SimulateArgs) "simulate" Look [NoTimers]
        in_state |args, at, console| look::simulate::run(args, at.app, &read_input, console);

    /// Draw the holders of lanes over time
    Timeline(look::timeline::TimelineArgs) "timeline" Look [Fleet]
        in_state |args, at, console| look::timeline::run(args, at.app, console);

    /// Show lanes and tasks on a full screen, and act on them
    Top(look::top::TopArgs) "top" Look []
        in_state |args, at, console| on_screen(args, at, console).unwrap_or_else(|| look::top::run(args, at.app, console));

    /// Print numbers for Prometheus
    Metrics(look::metrics::MetricsArgs) "metrics" Look []
        in_state |args, at, console| look::metrics::run(args, at.app, console);

    /// Hold a lane while a command runs, without a queue entry
    Lock(locks::lock::LockArgs) "lock" Locks [MakesState NoTimers Fleet]
        in_state |args, at, console| locks::lock::run(args, at.app, account, &|| (caller(), fleet::own::program()), console);

    /// Run a command only while a lock is in force
    Guard(locks::guard::GuardArgs) "guard" Locks [NoTimers]
        in_state |args, at, console| {
            let environment = [variable("LUZIA_LOCK_ID")?, variable("LUZIA_FENCE")?];
            locks::guard::run(args, at.app, environment, console)
        };

    /// Take a lease on a lane, for scripts
    Acquire(locks::acquire::AcquireArgs) "acquire" Locks [MakesState NoTimers RunsHooks Fleet]
        in_state |args, at, console| locks::acquire::run(args, at.app, &|| (caller(), fleet::own::program()), console);

    /// Extend a lease
    Renew(locks::renew::RenewArgs) "renew" Locks [NoRules NoTimers Fleet]
        in_state |args, at, console| locks::renew::run(args, at.app, console);

    /// Release a lane
    Release(locks::release::ReleaseArgs) "release" Locks [NoRules NoTimers RunsHooks Harms Fleet]
        in_state |args, at, console| locks::release::run(args, at.app, account, at.agree.ask, console);

    /// Say whether a lane is free
    Check(locks::check::CheckArgs) "check" Locks [Fleet]
        in_state |args, at, console| locks::check::run(args, at.app, console);

    /// List every lock and whether its holder is alive
    #[command(visible_alias = "locks", alias = "list_locks")]
    ListLocks(locks::list_locks::ListLocksArgs) "list-locks" Locks [Fleet]
        in_state |args, at, console| locks::list_locks::run(args, at.app, console);

    /// Show the lanes, and change their limits
    Lanes(locks::lanes::LanesArgs) "lanes" Locks [MakesState Harms Fleet]
        in_state |args, at, console| locks::lanes::run(args, at.app, console);

    /// Release the locks of a project's finished tasks
    #[command(alias = "check_project")]
    CheckProject(locks::check_project::CheckProjectArgs) "check-project" Locks []
        in_state |args, at, console| locks::check_project::run(args, at.app, console);

    /// Start the tasks whose turn it is
    Dispatch(operate::dispatch::DispatchArgs) "dispatch" Operate [OwnRules NoTimers]
        in_state |args, at, console| operate::dispatch::run(args, at.app, &mut ended(), console);

    /// Start tasks whenever their turn comes, until stopped
    Daemon(operate::daemon::DaemonArgs) "daemon" Operate [MakesState OwnRules NoTimers Fleet]
        in_state |args, at, console| {
            operate::daemon::run(args, at.app, at.rule, at.store, &account_files::unit, &mut daemon_ended(), console)
        };

    /// Remove locks whose holders are proven dead, and recover dead tasks
    #[command(alias = "cleanup_stale")]
    CleanupStale(operate::cleanup_stale::CleanupStaleArgs) "cleanup-stale" Operate [RunsHooks Harms]
        in_state |args, at, console| operate::cleanup_stale::run(args, at.app, console);

    /// Show, locate or check the configuration
    Config(operate::config::ConfigArgs) "config" Operate []
        alone |args, cli, console| operate::config::run(args.verb, &|| config_of(&cli.globals), console);

    /// Run commands when something happens
    Hook(operate::hook::HookArgs) "hook" Operate [MakesState NoTimers]
        in_state |args, at, console| operate::hook::run(&args.verb, at.app, &caller(), account, console);

    /// Look for problems on this host and in the state directory
    Doctor(operate::doctor::DoctorArgs) "doctor" Operate [OwnRules ReportsFaults]
        alone |args, cli, console| {
            let ask = &mut |question: &str| confirm(&cli.globals, question);
            operate::doctor::run(args, &entry::around(&cli.globals), ask, console)
        };

    /// See luzia take turns, in a state directory of its own
    Demo(operate::demo::DemoArgs) "demo" Operate []
        alone |args, cli, console| entry::demo(args, &cli.globals, console);

    /// Make the tables of a store of several hosts, or show its state
    Store(operate::store::StoreArgs) "store" Operate []
        alone |args, cli, console| operate::store::run(&args.verb, &|| fleet::of(&cli.globals), console);

    /// Try tasks of several hosts on this machine, with a database and two hosts
    Fleet(operate::fleet::FleetArgs) "fleet" Operate []
        alone |args, cli, console| fleet::trial::with_trial(args.verb.account(), &cli.globals, &mut |trial| {
            operate::fleet::run(&args.verb, trial, console)
        });

    /// List the hosts of a store, and whether each takes tasks
    Hosts(operate::hosts::HostsArgs) "hosts" Operate [Fleet]
        in_state |args, at, console| operate::hosts::run(args, at.app, console);

    /// Print the lane of a repository, a work tree, a port, a database or a directory
    Name(operate::name::NameArgs) "name" Locks []
        alone |args, _cli, console| operate::name::run(args, &surroundings(), console);

    /// Let heavy tools such as cargo and make take turns by links on PATH
    Shim(operate::shim::ShimArgs) "shim" Operate []
        alone |args, _cli, console| operate::shim::run(&args.verb, &shim::folder()?, console);

    /// Let coding agents take turns by themselves: their hooks, and the files that set them up
    Agent(operate::agent::AgentArgs) "agent" Operate []
        alone |args, cli, console| setup::agent(&args.verb, &cli.globals, console);

    /// Serve the tools of luzia to an agent, by the Model Context Protocol
    Mcp(operate::mcp::McpArgs) "mcp" Operate []
        alone |args, cli, _console| {
            Ok(mcp_server::serve(&cli.globals, args.holder.clone(), &|words| entry::captured(words, &cli.globals))?)
        };

    /// Print the JSON Schema of a document
    Schema(operate::schema::SchemaArgs) "schema" Operate []
        alone |args, _cli, console| operate::schema::run(args, console);

    /// Print a completion script for a shell
    Completions(operate::completions::CompletionsArgs) "completions" Operate []
        alone |args, _cli, console| operate::completions::run(args, console);

    /// Write the manual pages and completions where they are found
    InstallDocs(operate::install_docs::InstallDocsArgs) "install-docs" Operate []
        alone |args, _cli, console| {
            let documents = operate::install_docs::Documents {
                share: &account_files::share,
                write: &account_files::write_document,
                remove: &account_files::remove_document,
            };
            operate::install_docs::run(args, &documents, console)
        };
}

own {
    /// Tells completion scripts what may stand at the end of a line.
    Complete(Vec<String>) "__complete" []
        alone |args, cli, console| {
            operate::complete::run(args, &|places| half_written(&cli.globals, places), console)
        };

    /// Supervises one task.
    Supervise(SuperviseArgs) "supervise" [NoRules NoTimers RunsHooks WorksForOthers]
        in_state |args, at, _console| entry::supervised(args, at.app);

    /// Keeps the leases of a session.
    KeepSession(KeeperArgs) "keep-session" [NoRules NoTimers]
        in_state |args, at, _console| entry::kept(args, at.app);

    /// Keeps the lanes of a `lock` with a store of several hosts.
    KeepLanes(KeepLanesArgs) "keep-lanes" [NoRules NoTimers]
        in_state |args, at, _console| fleet::own::kept_lanes(args, at.app);

    /// Keeps the lanes of a lease of such a store.
    KeepLease(LeaseOf) "keep-lease" [NoRules NoTimers]
        in_state |args, at, _console| fleet::own::kept_lease(args, at.app);

    /// Becomes the command of such a `lock`.
    UnderLanes(UnderLanesArgs) "under-lanes" [NoRules NoTimers]
        in_state |args, at, console| fleet::own::under_lanes(args, at.app, console);

    /// Wakes the agent of a store when the store has something for it.
    ListenStore(ListenArgs) "listen-store" []
        alone |args, _cli, _console| fleet::own::listened(args);

    /// Runs hooks for the events on its standard input.
    RunHooks(()) "run-hooks" [NoRules NoTimers]
        in_state |_args, at, _console| entry::hooked(at.app);

    /// Watches the lease of the host.
    WatchLease(()) "watch-lease" [NoRules NoTimers]
        in_state |_args, at, _console| entry::watched(at.app);

    /// Becomes the command of a task in another account.
    ExecTask(Vec<String>) "exec-task" []
        alone |args, _cli, console| Ok(entry::exec_task(args, console));

    /// Gives a command a terminal of its own.
    ExecPty(Vec<String>) "exec-pty" []
        alone |args, _cli, console| Ok(entry::exec_pty(args, console));
}
}
