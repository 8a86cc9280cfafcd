//! The options that describe a task.

use crate::app::OnConflict;
use crate::cli::args::{TermOptions, number, priority};
use clap::{Args, ValueEnum, ValueHint};

/// What the end of a parent means for a child that is not over.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParentDeath {
    /// It goes on.
    Adopt,
    /// It is cancelled.
    Cancel,
}

/// What `enqueue` and `run` say about a task.
#[derive(Args, Clone, Debug)]
pub struct TaskOptions {
    /// The user of the task: tasks of one user run one at a time; any name. By default the project's, else your account
    ///
    /// The name need not be an account of this host. Your account counts only where neither -l, --thread, --repo nor --tree
    /// names a lane. Inside a task, user and project are by default that task's. A project that has a conductor directory and no
    /// user takes the owner of that directory.
    #[arg(short, long)]
    pub user: Option<String>,

    /// The project the task belongs to
    #[arg(short, long)]
    pub project: Option<String>,

    /// A lane the task takes, e.g. `build` or `session:telegram:bob`; may be repeated
    ///
    /// Without -u and -p the task then takes only the lanes that are named, and not the lane of your account.
    #[arg(short, long = "lane", value_name = "LANE")]
    pub lanes: Vec<String>,

    /// A thread the task takes: the lane `thread:ID`; may be repeated
    #[arg(long = "thread", value_name = "ID")]
    pub threads: Vec<String>,

    /// Take the lane of the git repository of this directory, or of the one the command runs in
    ///
    /// Work trees and subdirectories of one repository have one lane.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", value_hint = ValueHint::DirPath)]
    pub repo: Option<String>,

    /// Take the lane of the git work tree of this directory, or of the one the command runs in
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", value_hint = ValueHint::DirPath)]
    pub tree: Option<String>,

    /// 0 (first) to 9 (last); 5 when not given
    #[arg(long, value_name = "N", value_parser = priority, allow_hyphen_values = true)]
    pub priority: Option<u8>,

    /// Do not start before this time has passed, e.g. `10m` or `2 hours`
    #[arg(long = "in", value_name = "DUR", allow_hyphen_values = true, conflicts_with = "at")]
    pub in_time: Option<String>,

    /// Do not start before this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24 18:00`
    ///
    /// Without a zone it is that of this host, and the answer names it. `8:00` is the next time the clock shows that. A day is
    /// today, tomorrow, a weekday (the next one) or a date; a day alone means 00:00. RFC 3339 names its zone.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,

    /// Queue the task paused: it starts after `luzia resume TASK`
    #[arg(long)]
    pub hold: bool,

    /// The task whose child this is, or `self`; inside a task, that task
    ///
    /// The end of a child is an event in the mailbox of its parent (AGENT_COMPLETED). A child that is waited for (`run`,
    /// `enqueue --wait`, `wait`) runs in the lanes of its parent: the parent lends them until the child is over.
    #[arg(long, value_name = "TASK")]
    pub parent: Option<String>,

    /// Do not borrow the lanes of the parent: wait for them in the queue
    #[arg(long)]
    pub no_inherit: bool,

    /// What happens to the task when its parent is over first: `adopt` (the default) lets it go on, `cancel` ends it
    #[arg(long, value_name = "WHAT")]
    pub on_parent_death: Option<ParentDeath>,

    /// Do not start before this task has completed; may be repeated
    #[arg(long, value_name = "TASK")]
    pub after: Vec<String>,

    /// End the command when it has run this long
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// Give up the task when it has not started after this time
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub start_within: Option<String>,

    /// Retry up to N times after a failure or an interruption
    ///
    /// 0 when not given. For a task with --stepwise or --steps the number counts for each step; `enqueue` then takes 3.
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub retries: Option<u32>,

    /// A name for the work: `--on-conflict` decides when an unfinished task has it
    ///
    /// `@tree` stands for the command, its directory, and the content of the git work tree around it: the tree of HEAD, what
    /// differs from it, and the files that git neither knows nor ignores. git(1) is asked for it.
    #[arg(long)]
    pub key: Option<String>,

    /// What to do when an unfinished task has the same key
    #[arg(long, value_name = "WHAT", requires = "key")]
    pub on_conflict: Option<OnConflict>,

    /// Conditions and terms that few tasks have.
    #[command(flatten)]
    pub terms: TermOptions,

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
    ///
    /// In another one, the command has none of git's variables about one repository, such as GIT_DIR, that --env does not set.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cwd: Option<String>,

    /// The time between SIGTERM and SIGKILL when the task is ended
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub grace: Option<String>,

    /// A text for the project's configured agent, or for the command
    ///
    /// It takes the place of `{prompt}` in an argument, but never in a script. Where no argument has that, with --shell, and beyond 100000
    /// bytes, it is the standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,

    /// A command line for `/bin/sh -c`
    ///
    /// The value of a variable never becomes a part of it: `{{name}}` is refused. Write `"$LUZIA_VAR_name"`.
    #[arg(long, value_name = "STRING", allow_hyphen_values = true)]
    pub shell: Option<String>,

    /// Queue the task although its directory or its command is not there now
    #[arg(long)]
    pub no_check: bool,

    /// Whether `--` stands before the command.
    #[arg(skip)]
    pub is_separated: bool,
}
