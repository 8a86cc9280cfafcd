//! `luzia cron`: schedules; each moment of a schedule makes a task.

use crate::app::admission::has_dispatcher;
use crate::app::config_reload::config;
use crate::app::cron::{HEALTH, MOST_TOLD, ScheduleRow, cron_add, cron_list, cron_next, cron_rm, cron_run};
use crate::app::queue::enqueue::{Caller, after_accepting};
use crate::app::queue::terms::moments::said;
use crate::app::{App, AppError, Code, shell_word};
use crate::cli::args::{OutputFormat, number};
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::cli::output::table::{Column, Table};
use crate::cli::output::task::running_json;
use crate::model::time::format_duration;
use crate::model::{Task, Timestamp};
use crate::request::ScheduleRequest;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Make tasks at set times, by cron lines. Each moment that a line means is a slot, and makes exactly one task, however many
/// dispatchers look and whatever is killed in the middle. A daemon is on time; `luzia dispatch` and commands that look at the
/// queue, e.g. list, status and enqueue, make up for what is due.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = CRON_HELP)]
pub struct CronArgs {
    /// The action; without it, list the schedules.
    #[command(subcommand)]
    pub verb: Option<CronVerb>,
}

/// The actions of `luzia cron`.
#[derive(Subcommand, Clone, Debug)]
pub enum CronVerb {
    /// Add a schedule
    #[command(
        after_help = ADD_HELP,
        override_usage = "luzia cron add [OPTIONS] <NAME> <EXPR> [--] <CMD>...\n       \
                          luzia cron add [OPTIONS] <NAME> <EXPR> --prompt <TEXT>\n       \
                          luzia cron add [OPTIONS] <NAME> <EXPR> --shell <STRING>"
    )]
    Add(Box<ScheduleRequest>),
    /// List the schedules
    #[command(after_help = LIST_HELP, alias = "ls")]
    List,
    /// Show the next slots
    #[command(after_help = NEXT_HELP)]
    Next {
        /// The schedule; all of them when not given
        #[arg(value_name = "NAME")]
        name: Option<String>,

        /// The number of slots
        #[arg(short = 'n', long = "count", value_name = "N", default_value = "5", value_parser = number::<usize>,
              allow_hyphen_values = true)]
        count: usize,
    },
    /// Make one task of a schedule now
    #[command(after_help = RUN_HELP)]
    Run {
        /// The schedule
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Remove a schedule; the tasks that it made stay
    #[command(after_help = RM_HELP, alias = "remove")]
    Rm {
        /// The schedule
        #[arg(value_name = "NAME")]
        name: String,
    },
}

const CRON_HELP: &str = "\
Examples:
  luzia cron add standup '0 9 * * mon-fri' -u alice -- ./standup.sh
  luzia cron list
  luzia cron next standup -n 3
  luzia cron run standup
  luzia pause cron:standup
  luzia cron rm standup

Exit codes:
  0    done
  2    usage; nothing was changed
  66   no such schedule";

const ADD_HELP: &str = "\
Examples:
  luzia cron add standup '0 9 * * mon-fri' --tz Europe/Berlin -- ./standup.sh
  luzia cron add daily '0 9 * * *' --goal standup --stepwise -- ./standup.sh
  luzia cron add backup @daily --fill 3d -u root -- ./backup.sh
  luzia cron add poll '*/10 * * * *' --overlap skip --shell 'make poll'

Lines:
  minute hour day month weekday, with * , - / and names such as mon and jan. L
  is the last day of a month, fri#2 the second Friday. Six fields begin with
  seconds. @hourly, @daily (or @midnight), @weekly, @monthly and @yearly are
  words that stand for lines.
  Where both the day and the weekday are set, either is enough.

Changes of the clock:
  Where the clock goes forward, a slot in the missing hour comes once, right
  after that hour. Where the clock goes back, a slot in the repeated hour
  comes once, the first time. A line whose minute or hour begins with * follows
  the time that passes instead: */30 2 * * * has no slot on a day without that
  hour, and 0,30 2 * * * has one.

Notes:
  The task is that of `luzia enqueue` with these options, in the environment
  and working directory of this moment. --at, --in, --after, --key and others are
  about one task and are refused.

Exit codes:
  0    added
  2    usage, a line that never comes, an unknown zone, or a name that is
       taken; nothing was changed
  66   no such project, or a user that users.known does not list
  75   others change schedules; try again";

const LIST_HELP: &str = "\
Examples:
  luzia cron list
  luzia cron list --json

Notes:
  MISSED counts the slots that came while nobody looked: those that made no
  task, and those that made one more than a day late. Each is an event
  slot_missed. `luzia pause cron:NAME` pauses a schedule: its slots make no
  tasks, and are not made up for.
  health is built in: each pass looks for tasks whose supervisor died, and
  proves that before it does anything. -o name leaves it out.

Exit codes:
  0    listed, also when the list is empty";

const NEXT_HELP: &str = "\
Examples:
  luzia cron next
  luzia cron next standup -n 10

Exit codes:
  0    shown
  2    usage
  66   no such schedule";

const RUN_HELP: &str = "\
Examples:
  luzia cron run standup

Notes:
  Prints the id of the task. The slots make their tasks all the same. The task
  is queued like any other; --overlap counts it as the former task.

Exit codes:
  0    queued
  66   no such schedule
  75   others change schedules; try again";

const RM_HELP: &str = "\
Examples:
  luzia cron rm standup

Exit codes:
  0    removed
  66   no such schedule; nothing was changed
  75   others change schedules; try again";

/// `luzia cron`.
pub fn run(
    args: &CronArgs,
    app: &App,
    caller: &dyn Fn() -> Caller,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    console: &mut Console,
) -> anyhow::Result<()> {
    match args.verb.as_ref().unwrap_or(&CronVerb::List) {
        CronVerb::Add(args) => add(args, app, &caller(), read, console)?,
        CronVerb::List => list(app, console)?,
        CronVerb::Next { name, count } => next(name.as_deref(), *count, app, console)?,
        CronVerb::Run { name } => {
            let task = cron_run(app, name)?;
            print_task(&task, app, console).map_err(|error| after_accepting(app, task.id, error))?;
        }
        CronVerb::Rm { name } => {
            let name = cron_rm(app, name)?.name;
            let document = || json!({ "name": name.as_str(), "removed": true });
            console.tell("cron", &name, document, || format!("the schedule \"{name}\" is removed"))?;
        }
    }
    Ok(())
}

fn add(
    args: &ScheduleRequest,
    app: &App,
    caller: &Caller,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    console: &mut Console,
) -> anyhow::Result<()> {
    let new = ScheduleRequest { task: args.task.with_steps(read)?, ..args.clone() };
    let row = cron_add(app, &new, caller).map_err(super::queue::enqueue::refused_at_the_door)?;
    let name = &row.schedule.name;
    let first = row.schedule.next.map_or_else(|| "never".to_owned(), |at| said(app, at, &row.zone));
    console.tell("cron", name, || json_of(&row), || format!("\"{name}\" makes its first task at {first}"))?;
    // The schedule is stored, whether the dispatcher can be looked at or not.
    if !console.is_json() && app.inside.is_none() && !has_dispatcher(app).unwrap_or(true) {
        console.hint("nothing is running that starts tasks; `luzia daemon` makes them on time");
    }
    Ok(())
}

fn print_task(task: &Task, app: &App, console: &mut Console) -> Result<(), AppError> {
    let printed = if console.is_json() {
        console.document(&json::single("cron", running_json(app, task)?))
    } else {
        console.out(&format!("{}\n", task.id))
    };
    printed.map_err(|stop| AppError::new(Code::Output, stop.to_string()))
}

fn json_of(row: &ScheduleRow) -> Value {
    let schedule = &row.schedule;
    let local = |at: Timestamp| row.zone.text(at);
    json!({
        "name": schedule.name.as_str(),
        "expression": schedule.expression,
        "tz": schedule.zone,
        "next_at": json::maybe_time(schedule.next),
        "next_local": schedule.next.map(local),
        "last_slot": json::maybe_time(schedule.last.map(|made| made.slot)),
        "last_task": schedule.last.map(|made| made.task.to_string()),
        "last_status": row.last.as_ref().map(|task| task.status().word()),
        "last_skipped": json::maybe_time(schedule.skipped),
        "last_missed": json::maybe_time(schedule.missed),
        "missed": schedule.missed_count,
        "paused": row.pause.is_some(),
        "paused_until": json::maybe_time(row.pause.as_ref().and_then(|pause| pause.until)),
        "pause_reason": row.pause.as_ref().and_then(|pause| pause.reason.clone()),
        "overlap": schedule.overlap.word(),
        "fill_ms": schedule.fill_ms,
        "fill_once": schedule.fill_once,
        "created_at": json::time(schedule.created_at),
        "user": schedule.task.user.as_str(),
        "project": schedule.task.project.as_ref().map(|name| name.as_str()),
        "lanes": json::task_lanes(&schedule.task),
        "priority": schedule.task.priority.number(),
        "command": schedule.task.command,
        "cwd": schedule.task.cwd,
        "label": schedule.task.label,
        "built_in": false,
    })
}

/// The look for dead tasks, which is a part of each pass.
fn health_json(app: &App) -> Value {
    json!({
        "name": HEALTH,
        "expression": Value::Null,
        "next_at": Value::Null,
        "built_in": true,
        // The interval of a daemon, which makes a pass at least so often.
        "every_ms": config(app).poll_interval_ms,
        "has_dispatcher": has_dispatcher(app).ok(),
    })
}

fn list(app: &App, console: &mut Console) -> anyhow::Result<()> {
    let found = cron_list(app)?;
    for broken in &found.broken {
        console.say(&format!("warning: {broken}; its slots make no tasks"));
    }
    if console.is_json() {
        let all = found.rows.iter().map(json_of).chain([health_json(app)]);
        return Ok(console.items("cron", all)?);
    }
    let first = ["NAME", "NEXT", "LAST SLOT", "LAST TASK", "STATUS", "MISSED", "LINE"].map(Column::new);
    let wide = ["OVERLAP", "USER", "COMMAND"].map(Column::wide);
    let mut table = Table::new(&[&first[..], &wide].concat());
    for row in &found.rows {
        let schedule = &row.schedule;
        let local = |at: Option<Timestamp>, none: &str| at.map_or_else(|| none.to_owned(), |at| row.zone.text(at));
        let paused = row.pause.as_ref().map(|pause| match pause.until {
            Some(until) => format!("paused until {}", row.zone.text(until)),
            None => "paused".to_owned(),
        });
        let missed = schedule.missed.map(|last| format!("{}, last {}", schedule.missed_count, row.zone.text(last)));
        table.row([
            schedule.name.to_string(),
            paused.unwrap_or_else(|| local(schedule.next, "never")),
            local(schedule.last.map(|made| made.slot), ""),
            schedule.last.map(|made| made.task.to_string()).unwrap_or_default(),
            row.last.as_ref().map(|task| task.status().word().to_owned()).unwrap_or_default(),
            missed.unwrap_or_default(),
            schedule.expression.clone(),
            schedule.overlap.word().to_owned(),
            schedule.task.user.to_string(),
            schedule.task.command.iter().map(shell_word).collect::<Vec<_>>().join(" "),
        ]);
    }
    if console.format != OutputFormat::Name {
        if table.is_empty() {
            console.say("you have no schedule; `luzia cron add` makes one");
        }
        let often = format_duration(config(app).poll_interval_ms);
        let next = match has_dispatcher(app) {
            Ok(false) => "with the next pass; no daemon makes one".to_owned(),
            Ok(true) | Err(_) => format!("with each pass, every {often}"),
        };
        let row = [HEALTH, &next, "", "", "", "", "built in", "", "", "look for tasks that died"];
        table.row(row.map(str::to_owned));
    }
    Ok(console.table(&table)?)
}

fn next(name: Option<&str>, count: usize, app: &App, console: &mut Console) -> anyhow::Result<()> {
    if count == 0 || count > MOST_TOLD {
        let message = format!("-n is a whole number from 1 to {MOST_TOLD}, not {count}");
        return Err(AppError::usage(message).hint("luzia cron next shows 5").into());
    }
    let slots = cron_next(app, name, count)?;
    if console.is_json() {
        let item = |(row, at): &(ScheduleRow, Timestamp)| json!({ "name": row.schedule.name.as_str(), "slot": json::time(*at), "local": row.zone.text(*at) });
        return Ok(console.items("cron", slots.iter().map(item))?);
    }
    let mut table = Table::of(&["NAME", "SLOT", "IN"]);
    for (row, at) in &slots {
        let left = at.saturating_ms_since(console.now);
        table.row([row.schedule.name.to_string(), row.zone.text(*at), format_duration(left)]);
    }
    Ok(console.table(&table)?)
}
