//! Selection of tasks by a common property.

use crate::model::Status;
use clap::Args;

/// Options that select tasks of a command, beside the tasks that it names. A task must match all of them.
#[derive(Args, Clone, PartialEq, Eq, Debug, Default)]
#[group(id = "selection", multiple = true)]
pub struct Selection {
    /// Every task of this user
    #[arg(short, long, value_name = "USER")]
    pub user: Option<String>,

    /// Every task with this lane
    #[arg(short, long, value_name = "LANE")]
    pub lane: Option<String>,

    /// Only tasks in these states; several separated by commas
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',')]
    pub states: Vec<Status>,

    /// Every task with this note
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub label: Option<String>,

    /// Every task that was queued with this key
    #[arg(long)]
    pub key: Option<String>,

    /// Every task that the command can be used on
    #[arg(long)]
    pub all: bool,
}

impl Selection {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the selection is only a user, only a lane, or the whole host. Each of these can be paused as a whole.
    pub fn is_a_hold(&self) -> bool {
        let Self { user, lane, states, label, key, all } = self;
        let names_one = [user.is_some(), lane.is_some(), *all].into_iter().filter(|is_named| *is_named).count() == 1;
        names_one && states.is_empty() && label.is_none() && key.is_none()
    }
}
