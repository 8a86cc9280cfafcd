//! The user or lane that a command is about: as the first argument, or a user with `-u`.

use clap::Args;

/// A user or a lane.
#[derive(Args, Clone, Debug)]
pub struct Target {
    /// The user or lane, e.g. `alice` or `thread:7`
    #[arg(value_name = "USER|LANE", required_unless_present = "user")]
    pub target: Option<String>,

    /// The user, instead of the argument
    #[arg(short, long, value_name = "NAME", conflicts_with = "target")]
    pub user: Option<String>,
}

impl Target {
    /// The text that names the lane. A name after `-u` is always a user, also one that looks like a task or a lane.
    pub fn text(&self) -> String {
        named(self.target.as_deref(), self.user.as_deref())
    }
}

/// [`Target::text`] for a command that defines the two itself.
pub fn named(target: Option<&str>, user: Option<&str>) -> String {
    match user {
        Some(user) => format!("user:{user}"),
        None => target.unwrap_or_default().to_owned(),
    }
}
