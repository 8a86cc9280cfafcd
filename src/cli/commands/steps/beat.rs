//! `luzia beat`: notes that a task makes progress.

use crate::app::App;
use crate::app::steps::{subject, vars};
use crate::cli::output::console::Console;
use crate::cli::output::json;
use clap::Args;
use serde_json::json;

/// `luzia beat`.
#[derive(Args, Clone, Debug)]
#[command(after_help = BEAT_HELP)]
pub struct BeatArgs {
    /// The present work of the task
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,

    /// The task, instead of the one inside which luzia is called
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
}

const BEAT_HELP: &str = "\
Notes:
  `luzia show` and `luzia list --json` have the last one. It does not change the state of the task.

Examples:
  luzia beat
  luzia beat --note 'page 3 of 9'

Exit codes:
  0    noted
  1    the task is over; nothing was changed
  2    usage; nothing was changed
  66   no such task";

/// `luzia beat`.
pub fn run(args: &BeatArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let id = subject(app, args.task.as_deref())?;
    let beat = vars::beat(app, id, args.note.clone())?;
    console.json("beat", || json!({ "id": id.to_string(), "at": json::time(beat.at), "note": beat.note }))?;
    Ok(())
}
