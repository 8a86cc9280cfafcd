//! `luzia emit`: sends an event to tasks.

use crate::app::steps::mail::{Address, Delivered, Delivery, emit, event_data};
use crate::app::steps::members;
use crate::app::{App, AppError};
use crate::cli::output::console::Console;
use clap::Args;
use serde_json::{Value, json};

/// Number of tasks that are reported, each on a line.
const MOST_TOLD: usize = 10;

/// `luzia emit`.
#[derive(Args, Clone, Debug)]
#[command(after_help = format!("{EMIT_HEAD}{}\n{EMIT_TAIL}", members::table()))]
pub struct EmitArgs {
    /// The event: a kind that `luzia await` knows, event:NAME, or the name of an event, e.g. MESSAGE_RECEIVED
    #[arg(value_name = "EVENT")]
    pub event: String,

    /// The task that the event is for
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,

    /// For every unfinished task with the lane of this thread
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,

    /// For every unfinished task of this user
    #[arg(short, long, value_name = "NAME")]
    pub user: Option<String>,

    /// The data of the event: JSON, - for standard input, or @ and a file
    #[arg(long, value_name = "JSON|-|@FILE")]
    pub data: Option<String>,
}

const EMIT_HEAD: &str = "\
Notes:
  The event is kept durably in the mailbox of each task, in the order of arrival, until the task is removed.
  With several of --task, --thread and --user, only tasks for which all of them hold get it.
  Standard error says which tasks waited for it, and for which it is kept. A kept event ends the next wait that it matches.
  A call that is killed may have reached some of several tasks. A further call sends a further event.
  luzia itself makes the ends of children (agent) and of times (delay): both are refused here.

Waits, their events, and their variables:
";

const EMIT_TAIL: &str = "\
Examples:
  luzia emit response --task 12 --data '{\"from\":\"ana\",\"text\":\"yes\"}'
  luzia emit MESSAGE_RECEIVED --task 12 --data '\"yes\"'
  luzia emit document --thread 7 --data '{\"url\":\"/in/cv.pdf\"}'
  luzia emit event:deploy --user ci --data @deploy.json

A person asked and answered:
  id=$(luzia enqueue -- sh -ec '
      answer=$(luzia await response --name ok --timeout 2h)
      luzia finish --summary \"the answer was $answer\"')
  luzia dispatch
  luzia emit response --task \"$id\" --data '{\"text\":\"yes\"}'
  luzia wait \"$id\"

Exit codes:
  0    kept for every task that it is for
  1    the task is over, or there is no unfinished task that it is for; nothing was changed
  2    usage; nothing was changed
  66   no such task";

/// `luzia emit`. `read` reads a file, or standard input for `-`.
pub fn run(
    args: &EmitArgs,
    app: &App,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    console: &mut Console,
) -> anyhow::Result<()> {
    let data = event_data(args.data.as_deref(), read)?;
    let to = Address {
        task: args.task.as_deref().map(|text| app.task_id(text)).transpose()?,
        thread: args.thread.clone(),
        user: args.user.as_deref().map(|text| crate::app::queue::enqueue::name("user", text)).transpose()?,
    };
    let delivered = emit(app, &args.event, &to, &data)?;
    let item = |one: &Delivery| {
        json!({ "id": one.id.to_string(), "number": one.number, "awaited": one.is_meant,
            "waits_for": one.wait.as_ref().map(|wait| &wait.event) })
    };
    let items = || delivered.to.iter().map(item).collect::<Vec<_>>();
    if !console.json("emit", || json!({ "event": delivered.event, "delivered": items() }))? {
        for one in &delivered.to {
            console.out(&format!("{}\n", one.id))?;
        }
    }
    tell(&delivered, &data, console);
    Ok(())
}

/// Reports whether a task waited for the event, and the probable meaning where no task did.
fn tell(delivered: &Delivered, data: &Value, console: &mut Console) {
    let event = &delivered.event;
    for one in delivered.to.iter().take(MOST_TOLD) {
        console.progress(&match &one.wait {
            Some(_) if one.is_meant => format!("luzia: {} waits for {event}", one.id),
            Some(wait) if wait.event == *event => {
                let filter: Vec<String> = wait.filter.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("luzia: {} waits for {event} with {}; this one is kept", one.id, filter.join(" "))
            }
            Some(wait) => format!("luzia: {} waits for {}; {event} is kept", one.id, wait.event),
            None => format!("luzia: {} does not wait now; {event} is kept", one.id),
        });
        for (given, meant) in one.slips(data) {
            console.hint(&format!("a wait takes \"{meant}\" from the data, and not \"{given}\""));
        }
    }
    if delivered.to.len() > MOST_TOLD {
        console.progress(&format!("luzia: and {} more", delivered.to.len() - MOST_TOLD));
    }
    if let Some(meant) = delivered.nearest() {
        console.hint(&format!("did you mean {meant}?"));
    }
}
