//! `luzia status`: the queue, the slots and the locks at a glance.

use crate::app::look::status::{Capacity, Overview};
use crate::app::{App, AppError};
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::json;
use crate::cli::output::lock::lock_json;
use crate::cli::output::table::{Column, Table};
use crate::cli::output::task::task_json;
use crate::model::Task;
use clap::Args;
use serde_json::{Value, json};

/// `luzia status`.
#[derive(Args, Clone, Debug)]
#[command(after_help = STATUS_HELP)]
pub struct StatusArgs {
    /// Only the slots: how many there are, used and free, by project and by user
    #[arg(long)]
    pub capacity: bool,
}

const STATUS_HELP: &str = "\
Examples:
  luzia status
  luzia status --capacity --json

Locks:
  The table looks at 50 locks of users, the first by name, and counts the
  others; --json has all of them.

Exit codes:
  0    shown
  2    usage
  others as in luzia-exit-codes(7)";

/// `luzia status`.
pub fn run(args: &StatusArgs, app: &App, rule: &str, console: &mut Console) -> Answer {
    if args.capacity {
        capacity(&app.capacity()?, console)?;
        return Ok(Exit::Done.code());
    }
    if console.is_json() {
        console.document(&document(app, &app.overview(usize::MAX)?, rule, console)?)?;
    } else {
        text(app, &app.overview(MOST_LOCKS)?, rule, console)?;
    }
    Ok(Exit::Done.code())
}

/// How many locks of users the table shows. Each is judged by proof, and nobody reads a thousand at a glance.
const MOST_LOCKS: usize = 50;

fn slots(capacity: &Capacity) -> Value {
    json!({ "max": capacity.max, "used": capacity.used, "available": capacity.max.saturating_sub(capacity.used) })
}

fn capacity(capacity: &Capacity, console: &mut Console) -> Result<(), Stop> {
    if console.is_json() {
        // Exactly these members, as S3.16 compares the whole document.
        let value = json!({
            "slots": slots(capacity),
            "by_project": capacity.by_project,
            "by_user": capacity.by_user,
        });
        return console.document(&value);
    }
    let mut table = Table::new(&[Column::new("WHAT"), Column::new("USED"), Column::new("MAX")]);
    table.row(["slots".to_owned(), capacity.used.to_string(), capacity.max.to_string()]);
    for (name, count) in &capacity.by_user {
        table.row([format!("user {name}"), count.to_string(), String::new()]);
    }
    for (name, count) in &capacity.by_project {
        table.row([format!("project {name}"), count.to_string(), String::new()]);
    }
    console.table(&table)
}

fn active_json(app: &App, task: &Task, console: &Console) -> Result<Value, AppError> {
    task_json(app, task, app.shortage(task)?, None, console)
}

fn document(app: &App, overview: &Overview, rule: &str, console: &Console) -> Result<Value, AppError> {
    let tasks: Result<Vec<Value>, AppError> =
        overview.active.iter().map(|task| active_json(app, task, console)).collect();
    let [high, normal, low] = overview.counts.pending;
    let details: Vec<Value> = overview.user_locks.iter().map(lock_json).collect();
    let living = overview.user_locks.iter().filter(|view| crate::app::lock_state(&view.verdict) != "stale").count();
    Ok(json::document(
        "status",
        [
            (
                "pending",
                json!({ "high": high, "normal": normal, "low": low, "total": high + normal + low, "parked": overview.counts.parked }),
            ),
            (
                "active",
                json!({
                    "slots_used": overview.capacity.used,
                    "slots_max": overview.capacity.max,
                    "by_project": overview.capacity.by_project,
                    "by_user": overview.capacity.by_user,
                }),
            ),
            ("user_locks", json!({ "active": living, "details": details })),
            ("by_user", json!(overview.capacity.by_user)),
            ("tasks", tasks?.into()),
            ("set_aside", json!(overview.set_aside)),
            ("has_dispatcher", json!(overview.has_dispatcher)),
            ("needs_pass", json!(overview.front.needs_pass.map(|id| id.to_string()))),
            ("user_exclusion", json!(app.no_exclusion().is_none())),
            ("state_dir", json!(app.store_path())),
            ("state_dir_rule", json!(rule)),
        ],
    ))
}

fn text(app: &App, overview: &Overview, rule: &str, console: &mut Console) -> anyhow::Result<()> {
    if let Some(warning) = app.no_exclusion() {
        console.say(&format!("warning: {warning}"));
    }
    let [high, normal, low] = overview.counts.pending;
    let total = high + normal + low;
    let mut lines = Table::new(&[Column::new("WHAT"), Column::new("NOW")]);
    lines.row(["pending".to_owned(), format!("{total} ({high} high, {normal} normal, {low} low)")]);
    if overview.counts.parked > 0 {
        lines.row(["parked".to_owned(), format!("{} (not due, or after others)", overview.counts.parked)]);
    }
    let capacity = &overview.capacity;
    lines.row(["slots".to_owned(), format!("{} of {} used", capacity.used, capacity.max)]);
    for task in &overview.active {
        let waits = app.shortage(task)?.map_or_else(String::new, |shortage| format!(" ({})", shortage.word()));
        let now = format!("{} {}{waits}: {}", task.user, task.status, task.command.join(" "));
        lines.row([task.id.to_string(), now]);
    }
    for view in &overview.user_locks {
        let state = crate::app::lock_state(&view.verdict);
        let holder = view.shown().unwrap_or_else(|| "unknown".to_owned());
        lines.row([format!("lock {}", view.lane_name()), format!("{state}, {holder}")]);
    }
    if overview.unseen_locks > 0 {
        let more = format!("{} not looked at here; luzia list-locks looks at all", overview.unseen_locks);
        lines.row(["more locks".to_owned(), more]);
    }
    if overview.set_aside > 0 {
        lines.row(["set aside".to_owned(), format!("{} damaged records; luzia doctor names them", overview.set_aside)]);
    }
    lines.row(["state directory".to_owned(), format!("{} ({rule})", app.store_path())]);
    console.table(&lines)?;
    if let Some((id, reason)) = overview.front.first {
        console.say(&format!("first in the queue: {id} ({reason})"));
    }
    if total > 0 && !overview.has_dispatcher {
        console.hint(
            "tasks wait, and nothing is running that starts them; `luzia dispatch` or `luzia daemon` starts them",
        );
    } else if let Some(id) = overview.front.needs_pass {
        console.hint(&format!("{id} could start, and nothing runs that would start it now; luzia dispatch does"));
    }
    Ok(())
}
