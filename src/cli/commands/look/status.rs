//! `luzia status`: the queue, the slots and the locks at a glance.

use crate::app::capacity::{full_name, pause_text};
use crate::app::query::list::all_waiters;
use crate::app::query::status::{Capacity, Overview, Recent};
use crate::app::query::{details, status};
use crate::app::queue::doors::no_exclusion;
use crate::app::sandboxes::{Elsewhere, named};
use crate::app::{App, AppError, LineWaiter, LockView, Obstacle};
use crate::cli::output::console::{Console, Stop};
use crate::cli::output::lane::Lanes;
use crate::cli::output::lock::{lock_json, waiter_json, waiters_text};
use crate::cli::output::table::Table;
use crate::cli::output::task::task_json;
use crate::cli::output::{brief, json};
use crate::model::config::SlotsFrom;
use crate::model::control::Hold;
use crate::model::sorted::sort_by_key;
use crate::model::{LaneName, Task, TaskId, Timestamp};
use clap::Args;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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
  2    usage";

/// `luzia status`.
pub fn run(args: &StatusArgs, app: &App, rule: &str, console: &mut Console) -> anyhow::Result<()> {
    if args.capacity {
        return Ok(capacity(&status::capacity(app)?, console)?);
    }
    if console.is_json() {
        console.document(&document(app, &status::overview(app, usize::MAX)?, rule, console)?)?;
    } else {
        text(app, &status::overview(app, MOST_LOCKS)?, rule, console)?;
    }
    Ok(())
}

/// Number of locks of users that the table shows. Each is judged by proof, and a person does not read a thousand at a glance.
const MOST_LOCKS: usize = 50;
/// Number of users that the table shows.
const MOST_USERS: usize = 10;

fn slots(capacity: &Capacity) -> Value {
    json!({ "max": capacity.max, "used": capacity.used, "available": capacity.max.saturating_sub(capacity.used) })
}

/// The source of the number of slots.
fn slots_source(capacity: &Capacity) -> Value {
    match capacity.from {
        SlotsFrom::Processors(0) => json!({ "source": "default" }),
        SlotsFrom::Processors(online) => json!({ "source": "default", "processors": online }),
        SlotsFrom::File => json!({ "source": "config" }),
        SlotsFrom::Set => json!({ "source": "set" }),
        SlotsFrom::Hosts(hosts) => json!({ "source": "hosts", "hosts": hosts }),
    }
}

fn slots_text(capacity: &Capacity) -> String {
    let from = match capacity.from {
        SlotsFrom::Processors(0) => "the default, as the number of processors is not known".to_owned(),
        SlotsFrom::Processors(online) => format!("the default with {online} processors online, at least 4"),
        SlotsFrom::File => "slots.max in the configuration".to_owned(),
        SlotsFrom::Set => "set by luzia lanes set global".to_owned(),
        SlotsFrom::Hosts(hosts) => format!("of {hosts} hosts: luzia hosts"),
    };
    format!("{} of {} used ({from})", capacity.used, capacity.max)
}

fn capacity(capacity: &Capacity, console: &mut Console) -> Result<(), Stop> {
    if console.is_json() {
        // Exactly these members, as S3.16 compares the whole document.
        let Capacity { by_project, by_user, .. } = capacity;
        return console.document(&json!({ "slots": slots(capacity), "by_project": by_project, "by_user": by_user }));
    }
    let mut table = Table::of(&["WHAT", "USED", "MAX"]);
    table.row(["slots".to_owned(), capacity.used.to_string(), capacity.max.to_string()]);
    for (name, count) in &capacity.by_user {
        table.row([format!("user {name}"), count.to_string(), String::new()]);
    }
    for (name, count) in &capacity.by_project {
        table.row([format!("project {name}"), count.to_string(), String::new()]);
    }
    console.table(&table)
}

fn document(app: &App, overview: &Overview, rule: &str, console: &Console) -> Result<Value, AppError> {
    let active = |task: &Task| task_json(app, task, details::standstill(app, task)?, None, console);
    let tasks = overview.active.iter().map(active).collect::<Result<Vec<_>, _>>()?;
    let oldest = |(id, since): (TaskId, Timestamp)| json!({ "task": id.to_string(), "since": json::time(since), "waited_ms": console.now.ms_since(since).max(0) });
    let names = |ids: &[TaskId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let Elsewhere { lives, ended, unseen } = &overview.elsewhere.0;
    let [high, normal, low] = overview.counts.pending;
    let of_user = |view: &&LockView| view.lane.as_ref().is_none_or(LaneName::is_user);
    let details: Vec<Value> = overview.locks.iter().filter(of_user).map(lock_json).collect();
    let lane_locks: Vec<Value> = overview.locks.iter().filter(|view| !of_user(view)).map(lock_json).collect();
    let living =
        overview.locks.iter().filter(of_user).filter(|view| crate::app::lock_state(&view.verdict) != "stale").count();
    let mut more = json!({
        "pending": { "high": high, "normal": normal, "low": low, "total": high + normal + low, "parked": overview.counts.parked },
        "active": {
            "slots_used": overview.capacity.used,
            "slots_max": overview.capacity.max,
            "slots_from": slots_source(&overview.capacity),
            "by_project": overview.capacity.by_project,
            "by_user": overview.capacity.by_user,
        },
        "user_locks": { "active": living, "details": details },
        "lane_locks": lane_locks,
        "waiters": waiters_json(app)?,
        "by_user": overview.capacity.by_user,
        "users": users_json(overview),
        "oldest_wait": overview.oldest.map(oldest),
        "last_hour": {
            "completed": overview.recent.completed,
            "failed": overview.recent.failed,
            "cancelled": overview.recent.cancelled,
        },
        "tasks": tasks,
        "paused": overview.pauses.iter().map(hold_json).collect::<Vec<_>>(),
        "set_aside": overview.set_aside,
        "has_dispatcher": overview.has_dispatcher,
        "other_sandboxes": { "lives": names(lives), "ended": names(ended), "unseen": names(unseen) },
        "needs_pass": overview.front.needs_pass.map(|id| id.to_string()),
        "user_exclusion": no_exclusion(app).is_none(),
        "state_dir": app.store_path(),
        "state_dir_rule": rule,
    });
    if let Some(fleet) = &app.fleet {
        more["store"] = fleet.name().into();
    }
    Ok(json::single("status", more))
}

/// Users with waiting or running tasks, and the number of each; the user with the most comes first.
fn users(overview: &Overview) -> Vec<(&str, u64, u64)> {
    let running = &overview.capacity.by_user;
    let names: BTreeSet<&str> = overview.counts.users.keys().chain(running.keys()).map(String::as_str).collect();
    let count = |of: &BTreeMap<String, u64>, name: &str| of.get(name).copied().unwrap_or(0);
    let mut users: Vec<_> =
        names.into_iter().map(|name| (name, count(&overview.counts.users, name), count(running, name))).collect();
    sort_by_key(&mut users, |(name, pending, active)| (std::cmp::Reverse(pending + active), *name));
    users
}

fn users_json(overview: &Overview) -> Value {
    let user =
        |(name, pending, active): (&str, u64, u64)| json!({ "user": name, "pending": pending, "active": active });
    users(overview).into_iter().map(user).collect()
}

/// The tasks that wait in other sandboxes, in words.
fn elsewhere_rows(elsewhere: &Elsewhere) -> Vec<String> {
    let rows = [
        (&elsewhere.ended, "queued in sandboxes that have ended; luzia attach --here TASK runs one here"),
        (
            &elsewhere.unseen,
            "queued in sandboxes that cannot be seen from here; if one has ended: luzia attach --here TASK",
        ),
        (&elsewhere.lives, "queued in sandboxes that live; a pass there starts them"),
    ];
    let row = |(ids, what): (&Vec<TaskId>, &str)| (!ids.is_empty()).then(|| format!("{}: {what}", named(ids)));
    rows.into_iter().filter_map(row).collect()
}

/// The callers that wait for lanes with `lock` or `acquire`.
pub(super) fn waiters_json(app: &App) -> Result<Value, AppError> {
    let with_lane = |lane: &str, waiter: &LineWaiter| {
        let mut value = waiter_json(waiter);
        value["lane"] = lane.into();
        value
    };
    let waiting = all_waiters(app)?;
    Ok(waiting.iter().flat_map(|(lane, all)| all.iter().map(move |waiter| with_lane(lane, waiter))).collect())
}

fn hold_json(hold: &Hold) -> Value {
    json!({
        "what": hold.held.text(),
        "since": hold.since.to_string(),
        "until": hold.until.map(|until| until.to_string()),
        "reason": hold.reason,
        "by": hold.by,
    })
}

/// The reason why a claimed task does nothing, for the line about it.
fn standstill(app: &App, task: &Task, console: &Console) -> Result<String, AppError> {
    Ok(details::standstill(app, task)?.map_or_else(String::new, |why| match why {
        Obstacle::Paused { pause } => format!(" ({})", pause_text(&pause, &task.id.to_string(), console.now)),
        shortage => format!(" ({})", shortage.word()),
    }))
}

/// Reports the first task of the queue, and the process that would start it.
fn tell_front(overview: &Overview, total: u64, console: &mut Console) {
    if let Some((id, reason)) = overview.front.first {
        console.say(&format!("first in the queue: {id} ({reason})"));
    }
    if total > 0 && !overview.has_dispatcher && !overview.elsewhere.1 && !overview.front.is_paused {
        console.hint(
            "tasks wait, and nothing is running that starts them; `luzia dispatch` or `luzia daemon` starts them",
        );
    } else if let Some(id) = overview.front.needs_pass {
        console.hint(&format!("{id} could start, but nothing is running that starts it; luzia dispatch does"));
    }
}

/// The locks, and the waiters of lanes.
fn lock_lines(app: &App, overview: &Overview, console: &Console, lines: &mut Table) -> Result<(), AppError> {
    let lanes = Lanes::of_out(app, console);
    for view in &overview.locks {
        let state = crate::app::lock_state(&view.verdict);
        let holder = view.shown().unwrap_or_else(|| "unknown".to_owned());
        lines.row([format!("lock {}", lanes.shown(&view.lane_name())), format!("{state}, {holder}")]);
    }
    if overview.unseen_locks > 0 {
        let more = format!("{} not shown here; luzia list-locks shows all", overview.unseen_locks);
        lines.row(["more locks".to_owned(), more]);
    }
    for (lane, waiters) in all_waiters(app)? {
        lines.row([format!("line of {}", lanes.shown(&lane)), waiters_text(&waiters, console.now).unwrap_or_default()]);
    }
    Ok(())
}

fn text(app: &App, overview: &Overview, rule: &str, console: &mut Console) -> anyhow::Result<()> {
    if let Some(warning) = no_exclusion(app) {
        console.say(&format!("warning: {warning}"));
    }
    let [high, normal, low] = overview.counts.pending;
    let total = high + normal + low;
    let mut lines = Table::of(&["WHAT", "NOW"]);
    lines.row(["pending".to_owned(), format!("{total} ({high} high, {normal} normal, {low} low)")]);
    if overview.counts.parked > 0 {
        lines.row(["parked".to_owned(), format!("{} (not due, or after others)", overview.counts.parked)]);
    }
    for hold in &overview.pauses {
        let held = hold.held.text();
        let what = if held == "*" { "every task".to_owned() } else { full_name(&held) };
        let until = hold.until.map(|until| format!(" until {until}")).unwrap_or_default();
        let why = hold.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        lines.row(["paused".to_owned(), format!("{what}{until}{why}")]);
    }
    if let Some((id, since)) = overview.oldest {
        let waited = brief::length(console.now.ms_since(since));
        lines.row(["oldest wait".to_owned(), format!("{waited}, {id}: luzia explain {id}")]);
    }
    let Recent { completed, failed, cancelled } = overview.recent;
    if completed + failed + cancelled > 0 {
        let text = format!("{completed} completed, {failed} failed, {cancelled} cancelled");
        lines.row(["last hour".to_owned(), text]);
    }
    let all = users(overview);
    for (name, pending, active) in all.iter().take(MOST_USERS) {
        lines.row([format!("user {name}"), format!("{pending} pending, {active} active")]);
    }
    if all.len() > MOST_USERS {
        let more = format!("{}; luzia status --json has all", all.len() - MOST_USERS);
        lines.row(["more users".to_owned(), more]);
    }
    let capacity = &overview.capacity;
    lines.row(["slots".to_owned(), slots_text(capacity)]);
    for task in &overview.active {
        let waits = standstill(app, task, console)?;
        let ran =
            brief::ran_ms(task, console.now).map(|ran| format!(" for {}", brief::length(ran))).unwrap_or_default();
        let now = format!("{} {}{ran}{waits}: {}", task.user, task.status(), brief::command(&task.command));
        lines.row([task.id.to_string(), now]);
    }
    lock_lines(app, overview, console, &mut lines)?;
    elsewhere_rows(&overview.elsewhere.0).into_iter().for_each(|text| lines.row(["other sandboxes".to_owned(), text]));
    if overview.set_aside > 0 {
        lines.row(["set aside".to_owned(), format!("{} damaged records; luzia doctor names them", overview.set_aside)]);
    }
    if let Some(fleet) = &app.fleet {
        lines.row(["store".to_owned(), fleet.name()]);
    }
    lines.row(["state directory".to_owned(), format!("{} ({rule})", app.store_path())]);
    console.table(&lines)?;
    tell_front(overview, total, console);
    Ok(())
}
