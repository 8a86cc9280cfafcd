//! The options of a task that few tasks have.

use crate::app::queue::terms::NewTerms;
use crate::model::task::OnInterrupt;
use clap::Args;

/// What `enqueue` and `run` take.
#[derive(Args, Clone, Debug, Default)]
pub struct TermOptions {
    /// Use the lanes of the parent, as a child does that is waited for; refused where that is impossible
    #[arg(long, conflicts_with = "no_inherit")]
    pub inherit: bool,

    /// Do not start before this task has ended, whatever its result; may be repeated
    #[arg(long, value_name = "TASK")]
    pub after_any: Vec<String>,

    /// Do not start before this task has failed or run into a time limit; may be repeated
    ///
    /// Where a condition of --after or --after-failed can no longer come true, the later task is cancelled with the reason
    /// DependencyFailed.
    #[arg(long, value_name = "TASK")]
    pub after_failed: Vec<String>,

    /// With --on-conflict join: join a task too that ended less than this time ago
    #[arg(long, value_name = "DUR", requires = "on_conflict", allow_hyphen_values = true)]
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
    pub backoff: Option<String>,

    /// The longest pause between two attempts; 1h when not given
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub max_backoff: Option<String>,

    /// What it means when the supervisor of the task or the host goes down while the command runs
    #[arg(long, value_name = "WHAT")]
    pub on_interrupt: Option<OnInterrupt>,

    /// Run this shell line once when the task is over, however it ended
    ///
    /// It gets what a hook gets (`luzia hook --help`), in the directory of the task. Its own end changes no task.
    ///
    /// It runs at most once. Where luzia is killed before it knows how the command ended, `luzia show` says so.
    #[arg(long, value_name = "STRING", allow_hyphen_values = true)]
    pub on_finish: Option<String>,

    /// Tell the event wait_warning once when the task has waited this long for its lanes
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub warn_after: Option<String>,

    /// Run this shell line once then, or after 2s without --warn-after; it gets what a hook gets
    #[arg(long, value_name = "STRING", allow_hyphen_values = true)]
    pub on_wait: Option<String>,

    /// Log the prompt and the end of the output of this share of the starts, from 0 to 1, as events
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub log_sample: Option<String>,

    /// Take this many slots of each capacity lane of the task, all of them at once or none
    ///
    /// Capacity lanes are the lanes of -l that are no user, thread or session. The task waits until so many slots are free, and
    /// gives all of them back at its end. Where the slots have names, LUZIA_SLOT_NAME has its values, joined by commas. Not
    /// with --preempt.
    #[arg(long, value_name = "N")]
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
}

impl TermOptions {
    /// The terms of a request.
    pub fn terms(&self) -> NewTerms {
        NewTerms {
            after_any: self.after_any.clone(),
            after_failed: self.after_failed.clone(),
            fresh: self.fresh.clone(),
            is_stable: self.stable,
            group: self.group.clone(),
            backoff: self.backoff.clone(),
            most_backoff: self.max_backoff.clone(),
            on_interrupt: self.on_interrupt,
            on_finish: self.on_finish.clone(),
            warn_after: self.warn_after.clone(),
            on_wait: self.on_wait.clone(),
            log_sample: self.log_sample.clone(),
            reuse: self.reuse.clone(),
            message: self.message.clone(),
            channel: self.channel.clone(),
            slots: self.slots,
            must_inherit: self.inherit,
            is_run: false,
        }
    }
}
