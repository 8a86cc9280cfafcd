//! The user or lane of a command, in the place of its first argument.

use clap::Args;

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
