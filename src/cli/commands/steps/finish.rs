//! `luzia finish`: a task reports how it ends.

use crate::app::App;
use crate::app::steps::subject;
use crate::app::steps::vars::{self, finish_of};
use crate::cli::output::console::Console;
use crate::model::Status;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

/// `luzia finish`.
#[derive(Args, Clone, Debug)]
#[command(after_help = FINISH_HELP)]
pub struct FinishArgs {
    /// The end of the task
    #[arg(long, value_enum, value_name = "STATUS", default_value = "completed")]
    pub status: FinishWord,

    /// One sentence on the result
    #[arg(long, visible_alias = "result", value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: Option<String>,

    /// The data for the task that asked for it
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub data: Option<String>,

    /// The task, instead of the one inside which luzia is called
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
}

/// The ends that a task may report.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FinishWord {
    /// The task has done its work
    Completed,
    /// The task cannot be done
    Failed,
}

const FINISH_HELP: &str = "\
Notes:
  A task with --stepwise goes on, step by step, until one of its steps calls this. Any task may call it: the recorded end
  stands, whatever the exit code of its command is; only a cancel comes before it. The task is over when its command ends.
  Its parent finds summary and data in its mailbox (AGENT_COMPLETED, result_summary and result_data).

Examples:
  luzia finish --summary '3 pages written'
  luzia finish --status failed --summary 'no such customer' --data '{\"customer\": 7}'

Exit codes:
  0    recorded; or recorded before in the same words
  1    the task does not run, or has recorded another end; nothing was changed
  2    usage; nothing was changed
  66   no such task";

/// `luzia finish`.
pub fn run(args: &FinishArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let status = match args.status {
        FinishWord::Completed => Status::Completed,
        FinishWord::Failed => Status::Failed,
    };
    let finish = finish_of(status, args.summary.as_deref(), args.data.as_deref())?;
    let id = subject(app, args.task.as_deref())?;
    vars::finish(app, id, &finish)?;
    console.json("finish", || {
        let data = finish.data.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        json!({ "id": id.to_string(), "status": status.word(), "summary": finish.summary, "data": data })
    })?;
    Ok(())
}
