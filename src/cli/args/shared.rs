//! Options that several verbs share.

use crate::model::control::How;
use clap::Args;

/// The name of the caller.
#[derive(Args, Clone, Debug, Default)]
pub struct Identity {
    /// The name by which others see you, instead of LUZIA_AGENT and the variables of your agent
    ///
    /// At most 64 bytes, without control characters. Claude Code, Codex, Gemini CLI, Copilot CLI and Cursor are known by
    /// their own variables.
    #[arg(long = "as", value_name = "NAME", allow_hyphen_values = true)]
    pub as_name: Option<String>,
}

/// The options of `enqueue` and `run`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Preemption")]
pub struct PreemptOptions {
    /// Make room: end, or queue again, the running tasks that hold the lanes of this one
    ///
    /// Only tasks of the same or a lower priority make room, and only where that frees every lane that is full. Of several, the
    /// lowest priority makes room first, and then the youngest. This task then starts before others of its priority. A lease or
    /// a `luzia lock` is never taken: the command is refused, and nothing is queued. Work of somebody else (another agent or
    /// session, else another user) makes room only after a question on a terminal, or with --yes.
    #[arg(long, value_name = "HOW", num_args = 0..=1, default_missing_value = "end", conflicts_with = "from")]
    pub preempt: Option<How>,

    /// The time between SIGTERM and SIGKILL for the tasks that make room; by default that of each task
    #[arg(long, value_name = "DUR", allow_hyphen_values = true, requires = "preempt")]
    pub preempt_grace: Option<String>,
}

/// The options that stand in the place of the first argument.
#[derive(Args, Clone, Debug)]
pub struct Instead {
    /// The user, instead of the argument
    #[arg(short, long, value_name = "NAME", conflicts_with = "target")]
    pub user: Option<String>,

    /// The lane, instead of the argument
    #[arg(short, long, value_name = "LANE", conflicts_with_all = ["target", "user"])]
    pub lane: Option<String>,
}

impl Instead {
    /// Whether neither option is given.
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.lane.is_none()
    }

    /// The text that names the user or lane.
    pub fn text(&self, target: Option<&str>) -> String {
        match &self.lane {
            Some(lane) => lane_text(lane),
            None => named(target, self.user.as_deref()),
        }
    }
}

/// The argument or the name after `-u`, which is always a user, also one that looks like a task or a lane.
pub fn named(target: Option<&str>, user: Option<&str>) -> String {
    match user {
        Some(user) => format!("user:{user}"),
        None => target.unwrap_or_default().to_owned(),
    }
}

/// A lane as an argument that may be a user as well: a bare word would be a user there.
pub fn lane_text(lane: &str) -> String {
    let kind = if lane.contains(':') || lane.starts_with('@') { "" } else { "lane:" };
    format!("{kind}{lane}")
}
