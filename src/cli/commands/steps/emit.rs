//! `luzia emit`: sends an event to tasks.

use crate::app::App;
use crate::app::steps::mail::{Address, event_data};
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use clap::Args;
use serde_json::{Value, json};

/// `luzia emit`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EMIT_HELP)]
pub struct EmitArgs {
    /// What happened, e.g. MESSAGE_RECEIVED
    #[arg(value_name = "EVENT")]
    pub event: String,

    /// The task that it is for
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,

    /// For every unfinished task with the lane of this thread
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,

    /// For every unfinished task of this user
    #[arg(short, long, value_name = "NAME")]
    pub user: Option<String>,

    /// What comes with it
    #[arg(long, value_name = "JSON")]
    pub data: Option<String>,
}

const EMIT_HELP: &str = "\
Notes:
  The event is kept durably in the mailbox of each task, in the order of arrival, until the task is removed.
  With several of --task, --thread and --user, only tasks for which all of them hold get it.
  A call that is killed may have reached some of several tasks. A further call sends a further event.

Examples:
  luzia emit MESSAGE_RECEIVED --task 12 --data '{\"from\":\"ana\",\"text\":\"yes\"}'
  luzia emit DOCUMENT_UPLOADED --thread 7 --data '{\"url\":\"/in/cv.pdf\"}'

Exit codes:
  0    kept for every task that it is for
  1    the task is over, or there is no unfinished task that it is for; nothing was changed
  2    usage; nothing was changed
  66   no such task
  others as in luzia-exit-codes(7)";

/// `luzia emit`.
pub fn run(args: &EmitArgs, app: &App, console: &mut Console) -> Answer {
    let data = event_data(args.data.as_deref())?;
    let to = Address {
        task: args.task.as_deref().map(|text| app.task_id(text)).transpose()?,
        thread: args.thread.clone(),
        user: args.user.as_deref().map(|text| crate::app::queue::enqueue::name("user", text)).transpose()?,
    };
    let delivered = app.emit(&args.event, &to, &data)?;
    if console.is_json() {
        let items: Vec<Value> =
            delivered.iter().map(|(id, number)| json!({ "id": id.to_string(), "number": number })).collect();
        let value = json!({ "event": args.event, "delivered": items });
        console.document(&json::single("emit", value))?;
    } else {
        for (id, _) in &delivered {
            console.out(&format!("{id}\n"))?;
        }
    }
    Ok(Exit::Done.code())
}
