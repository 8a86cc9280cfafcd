//! The request for one task: the options, the members of a line of `--from`, and their help.

use super::values::{
    OnConflict, ParentDeath, amount, directory, json_text, number, one_or_more, priority, variables, word,
};
use crate::model::task::OnInterrupt;
use clap::{Args, ValueHint};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A task that `enqueue`, `run`, `cron add`, a line of `--from` or another program requests. Only its form is checked.
///
/// The names of the fields are the names of the members of a line; `-` in an option is `_` there.
#[derive(Args, Serialize, Deserialize, Clone, PartialEq, Debug, Default)]
#[serde(default, deny_unknown_fields)]
pub struct TaskRequest {
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
    #[serde(alias = "lane", deserialize_with = "one_or_more")]
    pub lanes: Vec<String>,

    /// A thread the task takes: the lane `thread:ID`; may be repeated
    #[arg(long = "thread", value_name = "ID")]
    #[serde(alias = "thread", deserialize_with = "one_or_more")]
    pub threads: Vec<String>,

    /// Take the lane of the git repository of this directory, or of the one the command runs in
    ///
    /// Work trees and subdirectories of one repository have one lane.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", value_hint = ValueHint::DirPath)]
    #[serde(deserialize_with = "directory")]
    pub repo: Option<String>,

    /// Take the lane of the git work tree of this directory, or of the one the command runs in
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", value_hint = ValueHint::DirPath)]
    #[serde(deserialize_with = "directory")]
    pub tree: Option<String>,

    /// 0 (first) to 9 (last); 5 when not given
    #[arg(long, value_name = "N", value_parser = priority, allow_hyphen_values = true)]
    pub priority: Option<u8>,

    /// Run on this host of the store, or on one with this label; by default on the host of the caller
    ///
    /// Only with a store of several hosts. `luzia daemon --label` gives a host a label. The directory must exist on that host (else the task waits with the reason
    /// NoDirectory), and the command and its directory are not looked for here. `luzia hosts` lists the hosts.
    #[arg(long = "on", value_name = "HOST|LABEL", conflicts_with = "anywhere")]
    pub on: Option<String>,

    /// Run on any host of the store: the one with the most free slots
    ///
    /// Only with a store of several hosts, and not from a sandbox. The directory must exist on the host that takes the task;
    /// hosts that lack it are passed over.
    #[arg(long)]
    pub anywhere: bool,

    /// Do not start before this time has passed, e.g. `10m` or `2 hours`
    #[arg(id = "in", long, value_name = "DUR", allow_hyphen_values = true, conflicts_with = "at")]
    #[serde(rename = "in", deserialize_with = "amount")]
    pub delay: Option<String>,

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

    /// The effect when the parent is over first: `adopt` (the default) lets the task go on, `cancel` ends it
    #[arg(long, value_name = "WHAT")]
    #[serde(deserialize_with = "word")]
    pub on_parent_death: Option<ParentDeath>,

    /// Do not start before this task has completed; may be repeated
    #[arg(long, value_name = "TASK")]
    #[serde(deserialize_with = "one_or_more")]
    pub after: Vec<String>,

    /// End the command when it has run this long
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    #[serde(deserialize_with = "amount")]
    pub timeout: Option<String>,

    /// Give up the task when it has not started after this time
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    #[serde(deserialize_with = "amount")]
    pub start_within: Option<String>,

    /// Retry up to N times after a failure or an interruption
    ///
    /// 0 when not given. For a task with --stepwise or --steps the number counts for each step; `enqueue` then takes 3.
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub retries: Option<u32>,

    /// A name for the work: at most one unfinished task has it
    ///
    /// `--on-conflict` says what to do when one has it. `@tree` stands for the command, its directory, and the content of the git work tree around it: the tree of HEAD, what
    /// differs from it, and the files that git neither knows nor ignores. git(1) is asked for it.
    #[arg(long)]
    pub key: Option<String>,

    /// The effect when an unfinished task has the same key
    #[arg(long, value_name = "WHAT", requires = "key")]
    #[serde(deserialize_with = "word")]
    pub on_conflict: Option<OnConflict>,

    /// Use the lanes of the parent, as a child does that is waited for; refused where that is impossible
    #[arg(long, conflicts_with = "no_inherit")]
    #[serde(skip_deserializing)]
    pub inherit: bool,

    /// Do not start before this task has ended, whatever its result; may be repeated
    #[arg(long, value_name = "TASK")]
    #[serde(deserialize_with = "one_or_more")]
    pub after_any: Vec<String>,

    /// Do not start before this task has failed or run into a time limit; may be repeated
    ///
    /// Where a condition of --after or --after-failed can no longer come true, the later task is cancelled with the reason
    /// DependencyFailed.
    #[arg(long, value_name = "TASK")]
    #[serde(deserialize_with = "one_or_more")]
    pub after_failed: Vec<String>,

    /// With --on-conflict join: also join a task that ended less than this time ago
    #[arg(long, value_name = "DUR", requires = "on_conflict", allow_hyphen_values = true)]
    #[serde(deserialize_with = "amount")]
    pub fresh: Option<String>,

    /// Say at the end whether the git work tree of the task has changed since the task was queued
    ///
    /// The answer is the member subject_changed of `luzia show --json` and of the event that the task is over. A task whose
    /// work tree changed is not joined by --fresh.
    #[arg(long)]
    pub stable: bool,

    /// Run the tasks of this group one after another on their lane
    ///
    /// A task takes its turn as if it had been queued right behind the first of its group that is not over, at most 16 tasks in
    /// a row. Tasks of a group have the same user, lanes and priority.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,

    /// The pause before the second attempt; each later one is twice as long. 2s when not given
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    #[serde(deserialize_with = "amount")]
    pub backoff: Option<String>,

    /// The longest pause between two attempts; 1h when not given
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    #[serde(deserialize_with = "amount")]
    pub max_backoff: Option<String>,

    /// The effect when the supervisor of the task or the host goes down while the command runs
    #[arg(long, value_name = "WHAT")]
    #[serde(deserialize_with = "word")]
    pub on_interrupt: Option<OnInterrupt>,

    /// Run this shell line once when the task is over, however it ended
    ///
    /// It gets the input and the variables of a hook (`luzia hook --help`), in the directory of the task. Its own end
    /// changes no task.
    ///
    /// It runs at most once. Where luzia is killed before it knows how the command ended, `luzia show` says so.
    #[arg(long, value_name = "STRING", allow_hyphen_values = true)]
    pub on_finish: Option<String>,

    /// Write the event wait_warning once when the task has waited this long for its lanes
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    #[serde(deserialize_with = "amount")]
    pub warn_after: Option<String>,

    /// Run this shell line once at that time, or after 2s without --warn-after; its input is that of a hook
    #[arg(long, value_name = "STRING", allow_hyphen_values = true)]
    pub on_wait: Option<String>,

    /// Log the prompt and the end of the output of this share of the starts, from 0 to 1, as events
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    #[serde(deserialize_with = "amount")]
    pub log_sample: Option<String>,

    /// Take this many slots of each capacity lane of the task, all of them at once or none
    ///
    /// Capacity lanes are the lanes of -l that are no user, thread or session. The task waits until so many slots are free, and
    /// gives all of them back at its end. Where the slots have names, LUZIA_SLOT_NAME has its values, joined by commas. Not
    /// with --preempt.
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub slots: Option<u32>,

    /// The message that the task answers, which `luzia show --json` has in `context`; by default the prompt or the command
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub message: Option<String>,

    /// The channel by which it came; by default that of the session lane
    #[arg(long, value_name = "NAME")]
    pub channel: Option<String>,

    /// Begin with the variables of the newest completed task of this user and this goal; `goal` stands for the value of --goal
    #[arg(long, value_name = "GOAL", allow_hyphen_values = true)]
    pub reuse: Option<String>,

    /// A note for people
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub label: Option<String>,

    /// Set a variable for the command; may be repeated
    ///
    /// Variables that begin with LUZIA_ are refused. So are those that change how programs load, unless the configuration
    /// says allow_loader_env.
    #[arg(long, value_name = "K=V", allow_hyphen_values = true)]
    #[serde(deserialize_with = "variables")]
    pub env: Vec<String>,

    /// The directory the command runs in; by default this one
    ///
    /// In another one, the command has none of git's variables about one repository, such as GIT_DIR, that --env does not set.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cwd: Option<String>,

    /// The time between SIGTERM and SIGKILL when the task is ended
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    #[serde(deserialize_with = "amount")]
    pub grace: Option<String>,

    /// A text for the project's configured agent, or for the command
    ///
    /// It takes the place of `{prompt}` in an argument, but never in a script. It is the standard input where no argument
    /// has `{prompt}`, with --shell, and if it is longer than 100000 bytes.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,

    /// A command line for `/bin/sh -c`
    ///
    /// The value of a variable never becomes a part of it: `{{name}}` is refused. Write `"$LUZIA_VAR_name"`.
    #[arg(long, value_name = "STRING", allow_hyphen_values = true)]
    pub shell: Option<String>,

    /// Queue the task although its directory or its command does not exist now
    #[arg(long)]
    pub no_check: bool,

    /// The purpose of the task; the command finds it as LUZIA_GOAL
    #[arg(long, help_heading = "Steps", value_name = "TEXT", allow_hyphen_values = true)]
    pub goal: Option<String>,

    /// Start the command again and again, one step each time, until it calls `luzia finish`
    ///
    /// Between two steps the task is queued again and other work may run. The command finds LUZIA_STEP (from 0),
    /// LUZIA_LAST_KIND (none, output, tool or child), LUZIA_LAST_RESULT and LUZIA_LAST_EXIT. LUZIA_LAST_RESULT is the last 16 KiB
    /// of the output; LUZIA_LAST_RESULT_LEFT_OUT is the number of bytes before that. --retries counts for each step.
    #[arg(long, help_heading = "Steps")]
    pub stepwise: bool,

    /// The steps, a JSON file: one command or one wait a step; `-` is standard input
    #[arg(long, help_heading = "Steps", value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["stepwise", "prompt", "shell", "command"])]
    #[serde(deserialize_with = "json_text")]
    pub steps: Option<String>,

    /// Take N steps before other work may run; by default 1
    #[arg(long, help_heading = "Steps", value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub steps_per_run: Option<u32>,

    /// Let the task fail after N steps without `luzia finish`; by default 1000
    #[arg(long, help_heading = "Steps", value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true, conflicts_with = "steps")]
    pub max_steps: Option<u32>,

    /// The command and its arguments
    #[arg(
        value_name = "CMD",
        trailing_var_arg = true,
        value_hint = ValueHint::CommandWithArguments,
        required_unless_present_any = ["prompt", "shell", "steps"],
        conflicts_with = "shell"
    )]
    pub command: Vec<String>,

    /// Whether `--` is before the command, so that no option behind it can be misplaced.
    #[arg(skip)]
    #[serde(skip)]
    pub is_separated: bool,

    /// `run --stdin`: the command reads the standard input of `run`.
    #[arg(skip)]
    #[serde(skip)]
    pub reads_stdin: bool,

    /// `run --pty`: the command gets a terminal of its own.
    #[arg(skip)]
    #[serde(skip)]
    pub has_terminal: bool,

    /// `run --group-output`, which only a task of its own can have.
    #[arg(skip)]
    #[serde(skip)]
    pub is_grouped: bool,

    /// Whether the caller waits for the end of the task.
    #[arg(skip)]
    #[serde(skip)]
    pub is_waited_for: bool,

    /// Whether the request comes from `run`, whose caller sees a failure at once.
    #[arg(skip)]
    #[serde(skip)]
    pub is_run: bool,
}

impl TaskRequest {
    /// The request with the content of the file of `--steps` in the place of its name. `read` reads a file.
    pub fn with_steps<E>(&self, read: &dyn Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        Ok(Self { steps: self.steps.as_deref().map(read).transpose()?, ..self.clone() })
    }

    /// The names of the members that are neither absent nor false nor empty, in the order of the help.
    pub fn given(&self) -> Vec<String> {
        let is_given =
            |value: &Value| !matches!(value, Value::Null | Value::Bool(false)) && *value != Value::Array(Vec::new());
        match serde_json::to_value(self) {
            Ok(Value::Object(members)) => {
                members.into_iter().filter(|(_, value)| is_given(value)).map(|(name, _)| name).collect()
            }
            _ => Vec::new(),
        }
    }
}
