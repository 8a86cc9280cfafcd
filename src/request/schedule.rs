//! The request of `cron add`.

use super::TaskRequest;
use crate::model::calendar::Overlap;
use clap::Args;

/// A schedule to add.
#[derive(Args, Clone, PartialEq, Debug, Default)]
pub struct ScheduleRequest {
    /// The name of the schedule
    #[arg(value_name = "NAME")]
    pub name: String,

    /// The cron line, e.g. `0 9 * * mon-fri`, or a word such as `@daily`
    #[arg(value_name = "EXPR")]
    pub expression: String,

    /// The time zone of the line, e.g. `Europe/Berlin`; by default that of this host
    #[arg(long = "tz", value_name = "TZ")]
    pub zone: Option<String>,

    /// The effect on a slot while the former task is not over; skip when not given, with --fill DUR queue
    #[arg(long, value_name = "WHAT")]
    pub overlap: Option<Overlap>,

    /// Make every slot that was missed within this time, e.g. `6h`; or `once`: the last one, however long ago it was
    ///
    /// A line that is rarer than daily means `once` when this is not given, and any other line the last slot within a day. A time
    /// is 31 days at most, and the line may have 5000 slots within it at most. A look makes twenty of them, and the next look
    /// goes on. A time is refused together with `--overlap skip`.
    #[arg(long, value_name = "once|DUR", allow_hyphen_values = true)]
    pub fill: Option<String>,

    /// Replace a schedule of that name
    #[arg(long)]
    pub replace: bool,

    /// The task of each slot.
    #[command(flatten)]
    pub task: TaskRequest,
}
