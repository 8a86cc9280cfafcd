//! The changes of a task that has not started.

use super::values::{number, priority};
use clap::Args;

/// The changes that `edit` makes. A property without a new value stays.
#[derive(Args, Clone, PartialEq, Eq, Debug, Default)]
pub struct EditRequest {
    /// 0 (first) to 9 (last)
    #[arg(long, value_name = "N", value_parser = priority, allow_hyphen_values = true)]
    pub priority: Option<u8>,

    /// Do not start before this time has passed, e.g. `10m` or `2 hours`; 0 for now
    #[arg(id = "in", long, value_name = "DUR", allow_hyphen_values = true, conflicts_with = "at")]
    pub delay: Option<String>,

    /// Do not start before this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24 18:00`
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,

    /// A lane in place of the lanes that the task names now; may be repeated. The lane of its user stays
    #[arg(short, long = "lane", value_name = "LANE")]
    pub lanes: Vec<String>,

    /// Take this many slots of each capacity lane of the task, in place of the present number
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub slots: Option<u32>,

    /// A note for people; an empty text takes the note away
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub label: Option<String>,

    /// Accept the new command although it does not exist now
    #[arg(long)]
    pub no_check: bool,

    /// The command in place of the present one
    #[arg(value_name = "COMMAND", last = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}
