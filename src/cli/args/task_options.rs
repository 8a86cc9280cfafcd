//! The options that describe a task.

use crate::cli::args::{OnConflict, number, priority};
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

    /// A further lane the task takes, e.g. `session:telegram:bob` or `cron`; may be repeated
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

    /// Do not start before this time has passed, e.g. `10m`
    #[arg(long = "in", value_name = "DUR", allow_hyphen_values = true, conflicts_with = "at")]
    pub in_time: Option<String>,

    /// Do not start before this moment, e.g. `2026-01-31T08:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,

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

    /// Queue the task although its directory or its command is not there now
    #[arg(long)]
    pub no_check: bool,

    /// Whether `--` stands before the command.
    #[arg(skip)]
    pub is_separated: bool,
}
