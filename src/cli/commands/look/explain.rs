//! `luzia explain`: the reason why a task, a user or a lane waits.

mod all;

use crate::app::config_reload::control;
use crate::app::estimate::{THOROUGH, expected};
use crate::app::names::{is_known, places};
use crate::app::query::explain::{LaneWhy, Supervisor, TaskWhy, Why, explain};
use crate::app::steps::child::open_children;
use crate::app::steps::words::unset_places;
use crate::app::steps::{OpenWait, WaitKind};
use crate::app::waits::{is_resume_ready, open_wait, wait_why};
use crate::app::{App, AppError, lane_word, shell_word};
use crate::cli::args::{Instead, number};
use crate::cli::estimate::{estimate_json, estimate_text};
use crate::cli::output::capacity::bars_members;
use crate::cli::output::console::Console;
use crate::cli::output::escape::escape_lines;
use crate::cli::output::lock::{waiter_json, waiters_text};
use crate::cli::output::{json, messages};
use crate::model::control::Preempt;
use crate::model::time::format_duration;
use crate::model::{Status, Target, Task, Timestamp};
use clap::Args;
use serde_json::{Value, json};

/// Number of awaited children that are named.
const MOST_CHILDREN: usize = 5;

/// Say why a task, a user or a lane is waiting, and what would change it. Without an argument: every task and every caller that
/// waits, a line each.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = EXPLAIN_HELP)]
pub struct ExplainArgs {
    /// A task, a user or a lane, e.g. `task_12`, `alice` or `thread:7`; `last` is the newest task
    #[arg(value_name = "TASK|USER|LANE")]
    pub target: Option<String>,

    /// Without an argument: only the first N tasks, by default 20
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        value_parser = number::<usize>,
        allow_hyphen_values = true,
        conflicts_with_all = ["target", "user", "lane"]
    )]
    pub limit: Option<usize>,

    /// The options that take its place.
    #[command(flatten)]
    pub instead: Instead,
}

const EXPLAIN_HELP: &str = "\
Examples:
  luzia explain
  luzia explain task_12
  luzia explain alice
  luzia explain thread:7 --json

Exit codes:
  0    explained
  2    usage
  66   no such task";

/// `luzia explain`.
pub fn run(args: &ExplainArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    if args.target.is_none() && args.instead.is_empty() {
        return all::run(args.limit.unwrap_or(all::MOST_TASKS), app, console);
    }
    let target = match args.target.as_deref() {
        Some("last") => Target::Task(app.task_id("last")?),
        target => app.target(&args.instead.text(target))?,
    };
    match explain(app, &target)? {
        Why::Task(why) => explain_task(&why, app, console)?,
        Why::Lane(why) => explain_lane(&why, app, console)?,
    }
    Ok(())
}

fn explain_task(why: &TaskWhy, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let (task, now) = (&why.task, console.now);
    if console.is_json() {
        let pid = why.supervisor.and_then(|supervisor| supervisor.pid).filter(|pid| *pid != 0);
        let supervisor = why.supervisor.map(|who| {
            let unseen = who.blind.map(|blind| blind.reason().text());
            json!({ "pid": pid, "alive": who.is_alive, "stopped": who.is_stopped, "unseen": unseen })
        });
        let preempt = |wish: Preempt| json!({ "how": wish.how.word(), "grace_ms": wish.grace_ms, "others": wish.others, "by": wish.by });
        let more = json!({
            "reasons": why.obstacles.iter().map(|o| messages::obstacle_json(o, task, now)).collect::<Vec<_>>(),
            "lanes_now": why.lanes.iter().map(lane_json).collect::<Vec<_>>(),
            "supervisor": supervisor,
            "wait": wait_json(app, task)?,
            "unset": unset_places(app, task),
            "preempt": preempt_of(app, task).map(preempt),
        });
        let mut value = json::with(json::task(task), more);
        if task.status() == Status::Pending {
            value["estimate"] = estimate_json(expected(app, task, &why.obstacles, THOROUGH)?.as_ref());
        }
        if let Some(pid) = pid {
            value["supervisor_pid"] = pid.into();
        }
        return Ok(console.document(&json::single("explain", value))?);
    }
    let mut text = String::new();
    match (task.status(), task.outcome(), why.supervisor) {
        (Status::Pending, ..) if why.obstacles.is_empty() => {
            text += &format!("{} waits for nothing: it starts at the next scheduling pass\n", task.id);
        }
        (Status::Pending, ..) => text += &format!("{} of user \"{}\" waits:\n", task.id, task.user),
        (_, Some(outcome), _) => {
            text +=
                &format!("{} is over: {} at {}, {}\n", task.id, task.status(), outcome.completed_at, outcome.summary);
        }
        (Status::Waiting, None, _) if is_resume_ready(app, task.id)? => {
            text += &format!("{} has what it waited for, and waits for its lanes:\n", task.id);
        }
        (_, None, Some(_)) if !why.obstacles.is_empty() => text += &format!("{} waits:\n", task.id),
        (status, None, Some(supervisor)) => text += &format!("{} is {status}; {}\n", task.id, supervised(supervisor)),
        (Status::Waiting, None, None) => text += &format!("{} waits for an event, and has no process\n", task.id),
        (status, None, None) => text += &format!("{} is {status}\n", task.id),
    }
    for obstacle in &why.obstacles {
        let (reason, next) = messages::obstacle_text(obstacle, task, now);
        text += &format!("  {reason} [{}]\n", obstacle.word());
        if let Some(next) = next {
            text += &format!("      try: {next}\n");
        }
        for note in messages::obstacle_notes(obstacle, task) {
            text += &format!("      {note}\n");
        }
    }
    if let Some(wish) = preempt_of(app, task) {
        text += &format!("  it makes room for itself (--preempt {})\n", wish.how.word());
    }
    if task.status() == Status::Pending && !why.obstacles.is_empty() && app.fleet.is_none() {
        let estimate = expected(app, task, &why.obstacles, THOROUGH)?;
        let said = estimate_text(estimate.as_ref(), &why.obstacles);
        text += &said.map_or_else(String::new, |said| format!("  {said}\n"));
    }
    text += &wait_text(app, task, now)?;
    text += &unset_text(app, task);
    Ok(console.out(&escape_lines(&text))?)
}

/// The variables of its command that have no value.
fn unset_text(app: &App, task: &Task) -> String {
    let mut text = String::new();
    for name in unset_places(app, task) {
        let set = format!("luzia set --task {} {name}=VALUE", task.id);
        text += &format!(
            "  \"{{{{{name}}}}}\" in its command has no value, and stays as it is written\n      try: {set}\n"
        );
    }
    text
}

/// The way in which a waiting task makes room for itself.
fn preempt_of(app: &App, task: &Task) -> Option<Preempt> {
    let is_its = |wish: &&Preempt| wish.task == task.id && task.status() == Status::Pending;
    control(app).preempts.iter().find(is_its).cloned()
}

/// The event for which a task waits, and the last events that did not match.
fn wait_text(app: &App, task: &Task, now: Timestamp) -> Result<String, AppError> {
    let (open, others) = match readable(wait_why(app, task.id))? {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(String::new()),
        Err(damage) => return Ok(format!("  {}\n", damage_text(task, &damage))),
    };
    let filter: String = open.filter.iter().map(|(name, value)| format!(" with {name}={value}")).collect();
    let mut text = match &open.output {
        Some(output) => format!(
            "  waits for {}, until {}\n      to see it: luzia logs -f task_{}\n",
            open.event, open.until, output.task
        ),
        None if open.kind == WaitKind::Agent.word() => {
            format!(
                "  waits for the end of a child{filter}, until {}\n{}",
                open.until,
                children_text(app, task, &open)?
            )
        }
        None if open.kind == WaitKind::Delay.word() => format!("  waits for a time, and goes on at {}\n", open.until),
        None => format!(
            "  waits for {} {}{filter}, until {}\n      to make it come: {}\n",
            open.expect,
            open.event,
            open.until,
            emit_line(task, &open)
        ),
    };
    if Timestamp::parse(&open.until).is_some_and(|until| until <= now) {
        let who = if task.wait().is_some() {
            "the next scheduling pass acts on it (luzia dispatch, or a daemon)"
        } else {
            "the process that waits acts on it, unless it is stopped"
        };
        text += &format!("      overdue, its time has run out: {who}\n");
    }
    for mail in others {
        let thread = mail.thread.map_or_else(String::new, |thread| format!(" of thread {thread}"));
        text += &format!("  event {} did not match: {}{thread} {}\n", mail.number, mail.event, mail.data);
    }
    Ok(text)
}

/// The children for whose ends a task waits, each with the reason why it waits itself.
fn children_text(app: &App, task: &Task, open: &OpenWait) -> Result<String, AppError> {
    let children = open_children(app, task.id, &open.filter)?;
    if children.is_empty() {
        return Ok(
            "      no such child is unfinished: this wait ends with its time, or with a child that is queued now\n"
                .into(),
        );
    }
    let mut text = String::new();
    for child in children.iter().take(MOST_CHILDREN) {
        let wait = if child.status() == Status::Waiting { open_wait(app, child.id)? } else { None };
        text += &match wait.filter(|wait| WaitKind::parse(&wait.kind).is_some_and(WaitKind::is_sent)) {
            Some(wait) => {
                let line = emit_line(child, &wait);
                format!("      {} waits for {} until {}: {line}\n", child.id, wait.event, wait.until)
            }
            None => format!("      {} is {}: luzia explain {}\n", child.id, child.status(), child.id),
        };
    }
    if children.len() > MOST_CHILDREN {
        text += &format!("      and {} more: luzia tree {}\n", children.len() - MOST_CHILDREN, task.id);
    }
    Ok(text)
}

fn children_json(app: &App, task: &Task, open: &OpenWait) -> Result<Value, AppError> {
    if open.kind != WaitKind::Agent.word() {
        return Ok(json!([]));
    }
    let of = |child: &Task| {
        let wait = if child.status() == Status::Waiting { open_wait(app, child.id)? } else { None };
        let wait = wait.map(|wait| json!({ "kind": wait.kind, "event": wait.event, "until": wait.until }));
        Ok::<_, AppError>(json!({ "id": child.id.to_string(), "status": child.status().word(), "wait": wait }))
    };
    open_children(app, task.id, &open.filter)?.iter().map(of).collect()
}

/// The command that sends the event a task waits for.
fn emit_line(task: &Task, open: &OpenWait) -> String {
    let line = format!("luzia emit {} --task {}", open.event, task.id);
    if open.filter.is_empty() {
        return line;
    }
    let data: serde_json::Map<String, Value> =
        open.filter.iter().map(|(name, wanted)| (name.clone(), wanted.clone().into())).collect();
    format!("{line} --data {}", shell_word(Value::Object(data)))
}

/// Separates damage, which is shown, from errors.
fn readable<T>(found: Result<T, AppError>) -> Result<Result<T, AppError>, AppError> {
    match found {
        Err(error) if !error.is_damage() => Err(error),
        found => Ok(found),
    }
}

/// Reports that the wait of a task is damaged, and the remedy (S1.50).
fn damage_text(task: &Task, error: &AppError) -> String {
    format!(
        "the record of its wait cannot be read: {}\n      an event, or the end of its time, makes it fail; then \
         `luzia retry {} --from-start` begins it anew",
        error.message(),
        task.id
    )
}

fn wait_json(app: &App, task: &Task) -> Result<Value, AppError> {
    let (open, others) = match readable(wait_why(app, task.id))? {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Value::Null),
        Err(damage) => return Ok(json!({ "damage": damage.message() })),
    };
    let other = |mail: &crate::app::steps::Mail| json!({ "number": mail.number, "event": mail.event, "thread": mail.thread, "data": mail.data, "at": mail.at });
    let children = children_json(app, task, &open)?;
    let filter: serde_json::Map<String, Value> =
        open.filter.into_iter().map(|(name, wanted)| (name, wanted.into())).collect();
    Ok(json!({ "kind": open.kind, "event": open.event, "since": open.since, "until": open.until,
        "expect": open.expect, "match": filter, "children": children,
        "others": others.iter().map(other).collect::<Vec<_>>() }))
}

fn supervised(supervisor: Supervisor) -> String {
    if let Some(blind) = supervisor.blind {
        return format!("it has lost its supervisor; {}", blind.reason().text());
    }
    match (supervisor.pid, supervisor.is_alive) {
        (Some(pid), true) if supervisor.is_stopped => {
            format!("its supervisor, process {pid}, is stopped: nobody watches it\n      try: kill -CONT {pid}")
        }
        (Some(pid), true) => format!("its supervisor, process {pid}, is alive (supervisor.lock is held)"),
        (Some(0), false) => {
            "it ran in the state directory of which this one is a copy; the next pass records that it was \
                             interrupted here"
                .to_owned()
        }
        (Some(pid), false) => format!("its supervisor, process {pid}, is dead; the next pass recovers the task"),
        (None, true) => "its command has not started yet".to_owned(),
        (None, false) => {
            "nobody supervises it and its command was not started; the next pass queues it again".to_owned()
        }
    }
}

fn lane_json(lane: &crate::app::LaneNow) -> Value {
    json!({
        "lane": lane.lane.to_string(),
        "limit": if lane.limit == u32::MAX { Value::Null } else { lane.limit.into() },
        "holders": lane.holders.iter().map(messages::holder_json).collect::<Vec<_>>(),
    })
}

fn explain_lane(why: &LaneWhy, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let now = console.now;
    let first = why.first.map(|id| app.existing(id)).transpose()?;
    let path = places(app).remove(&why.lane.lane.to_string());
    let is_idle = why.lane.holders.is_empty() && why.pending == 0 && why.waiters.is_empty();
    let is_known = !is_idle || is_known(app, &why.lane.lane)?;
    if console.is_json() {
        let of_first = first
            .iter()
            .flat_map(|task| why.obstacles.iter().map(|obstacle| messages::obstacle_json(obstacle, task, now)));
        let reasons = why.ring.iter().map(|ring| messages::ring_json(ring)).chain(of_first);
        let value = json::with(lane_json(&why.lane), json!({ "path": path, "known": is_known }));
        let value = json::with(value, bars_members(&why.lane.lane, &why.bars).into_iter().collect());
        let more = json!({
            "pending": why.pending,
            "waiters": why.waiters.iter().map(waiter_json).collect::<Vec<_>>(),
            "first": why.first.map(|id| id.to_string()),
            "reasons": reasons.collect::<Vec<_>>(),
        });
        let value = json::with(value, more);
        return Ok(console.document(&json::single("explain", value))?);
    }
    let lane = &why.lane.lane;
    let mut text = path.map(|path| format!("lane \"{lane}\" is of {}\n", shell_word(path))).unwrap_or_default();
    if why.lane.holders.is_empty() && why.bars.is_none() {
        let unknown = match lane.is_user() {
            _ if is_known => String::new(),
            true => format!("; luzia knows no user and no lane \"{}\"", lane.key()),
            false => "; luzia knows no such lane".to_owned(),
        };
        text += &format!("lane \"{lane}\" is free{unknown}\n");
    }
    why.bars.texts(lane, now).iter().for_each(|bar| text += &format!("{bar}\n"));
    for holder in &why.lane.holders {
        text += &format!("lane \"{lane}\" is held by {}\n", messages::holder_text(holder, now));
        if let Some(expires) = messages::lease_end(holder).filter(|at| *at > now) {
            let left = expires.saturating_ms_since(now);
            text += &format!("  the lease ends in {}: expires_at {expires}\n", format_duration(left));
        }
        text += &format!("  try: {}\n", messages::next_command(holder));
        if let Some(note) = messages::force_note(&lane_word(lane), holder) {
            text += &format!("  {note}\n");
        }
        if let Some(note) = messages::lease_note(&lane_word(lane), holder) {
            text += &format!("  {note}\n");
        }
    }
    if let Some(waiters) = waiters_text(&why.waiters, now) {
        text += &format!("{waiters}\n");
    }
    if why.pending > 0 {
        text += &format!("{} pending", why.pending);
        if let Some(task) = &first {
            text += &format!(", first {}", task.id);
        }
        text += "\n";
    }
    if let Some(ring) = &why.ring {
        text += &format!("  {} [Cycle]\n", messages::ring_sentence(ring));
    }
    for (task, obstacle) in first.iter().flat_map(|task| why.obstacles.iter().map(move |obstacle| (task, obstacle))) {
        let (reason, _) = messages::obstacle_text(obstacle, task, now);
        text += &format!("  {reason} [{}]\n", obstacle.word());
    }
    Ok(console.out(&escape_lines(&text))?)
}
