//! Options of the verbs that start tasks and tend the installation. Definition only.

use clap::{Args, Subcommand};

/// `luzia dispatch`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Make a scheduling pass: recover what died, start the tasks whose turn it is, and remove some of the \
                  finished ones that are kept no longer. Prints the ids of the tasks it started. They run on when \
                  dispatch has returned. Several dispatchers may run at once.",
    after_help = DISPATCH_HELP
)]
pub struct DispatchArgs {
    /// Make one pass and return (the default)
    #[arg(long, conflicts_with = "drain")]
    pub once: bool,

    /// Make passes until nothing runs and nothing is pending
    ///
    /// A task that waits for its time or for another task is pending, and so is waited for. What only a newer luzia can
    /// start is not.
    #[arg(long)]
    pub drain: bool,
}

const DISPATCH_HELP: &str = "\
Examples:
  luzia dispatch --once
  luzia enqueue -u alice -- make test && luzia dispatch --drain

Exit codes:
  0    done, whether something was started or not
  1    --drain inside a task, and tasks wait for that one
  2    usage
  65   done, but a newer luzia wrote a record; it was left alone
  others as in luzia-exit-codes(7)";

/// `luzia daemon`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Start tasks whenever their turn comes, until SIGTERM or Ctrl-C. Running tasks are not touched when it \
                  stops, and another daemon or any `luzia dispatch` goes on from there. A change of the configuration \
                  holds from its next pass; SIGHUP makes it look at once, and ends it only where it has a terminal. What fails, such as a pass on a full disk or a supervisor that does not come up, is \
                  said on standard error and tried again after a second, without end; no task is failed for it.",
    after_help = DAEMON_HELP
)]
pub struct DaemonArgs {
    /// How often to look where nothing can announce itself; by default as configured
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub poll: Option<String>,
}

const DAEMON_HELP: &str = "\
Examples:
  luzia daemon
  luzia daemon --poll 5s -v

Exit codes:
  0    stopped by SIGTERM or Ctrl-C
  2    usage
  others as in luzia-exit-codes(7)";

/// `luzia config`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Show, locate or check the configuration. Daemons and supervisors read a changed one before they start \
                  anything else. While it has a mistake they start nothing; what runs comes to its end.\n\n\
                  The project \"*\" has what other projects leave out, and all of those that are not named.",
    subcommand_required = true,
    subcommand_value_name = "VERB",
    after_help = CONFIG_HELP
)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: ConfigVerb,
}

/// The verbs of `luzia config`.
#[derive(Subcommand, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConfigVerb {
    /// Print the configuration in force, defaults included
    #[command(after_help = CONFIG_SHOW_HELP)]
    Show,
    /// Print the path of the configuration file in force
    #[command(after_help = CONFIG_PATH_HELP)]
    Path,
    /// Read the configuration and report its first mistake, or every key without effect
    #[command(after_help = CONFIG_CHECK_HELP)]
    Check,
}

const CONFIG_HELP: &str = "\
Examples:
  luzia config show
  luzia config check --config ./config.json

Exit codes:
  0    done
  2    usage
  78   the configuration has a mistake
  others as in luzia-exit-codes(7)";

const CONFIG_SHOW_HELP: &str = "\
Examples:
  luzia config show --json

Exit codes:
  0    shown
  2    usage
  78   the configuration has a mistake
  others as in luzia-exit-codes(7)";

const CONFIG_PATH_HELP: &str = "\
Examples:
  luzia config path

Exit codes:
  0    printed
  2    usage
  others as in luzia-exit-codes(7)";

const CONFIG_CHECK_HELP: &str = "\
Examples:
  luzia config check
  luzia config check --config ./config.json

Exit codes:
  0    no mistake
  2    usage
  78   the configuration has a mistake
  others as in luzia-exit-codes(7)";

/// `luzia doctor`.
#[derive(Args, Clone, Debug)]
#[command(after_help = DOCTOR_HELP)]
pub struct DoctorArgs {
    /// Mend what can be mended safely
    #[arg(long)]
    pub fix: bool,
}

const DOCTOR_HELP: &str = "\
Examples:
  luzia doctor
  luzia doctor --fix

Exit codes:
  0    no problem found
  1    a problem found
  2    usage, or a refused confirmation
  others as in luzia-exit-codes(7)";

/// `luzia demo`.
#[derive(Args, Clone, Debug)]
#[command(after_help = DEMO_HELP)]
pub struct DemoArgs {
    /// Keep the state directory of the demo, and print its path
    #[arg(long)]
    pub keep: bool,
}

const DEMO_HELP: &str = "\
Examples:
  luzia demo
  luzia demo --keep

Exit codes:
  0    done
  2    usage
  others as in luzia-exit-codes(7)";

/// `luzia completions`.
#[derive(Args, Clone, Debug)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  luzia completions bash > ~/.local/share/bash-completion/completions/luzia
  luzia completions zsh > ~/.zfunc/_luzia
  luzia completions fish > ~/.config/fish/completions/luzia.fish

Exit codes:
  0    printed
  2    usage
  others as in luzia-exit-codes(7)";

/// `luzia supervise`, started by luzia.
#[derive(Args, Clone, Debug)]
pub struct SuperviseArgs {
    /// The task
    #[arg(value_name = "TASK")]
    pub task: String,

    /// Finish what a dead supervisor has left
    #[arg(long)]
    pub recover: bool,
}

/// `luzia exec-task`, started by luzia.
#[derive(Args, Clone, Debug)]
pub struct ExecTaskArgs {
    /// What to become; its form is settled between the supervisor and this verb
    #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
}
