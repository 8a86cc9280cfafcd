//! `luzia check`: whether a lane is free.

use crate::app::fleet::refuse_local;
use crate::app::locks::acquire::{Checked, check};
use crate::app::query::explain::holder_of;
use crate::app::query::lanes::{lanes_meant, named_lanes};
use crate::app::query::list;
use crate::app::{App, AppError, LockView};
use crate::cli::args::named;
use crate::cli::exit::Exit;
use crate::cli::output::capacity::bars_members;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::lock::{execution_id, lock_seen_json, waiter_json, waiters_text};
use crate::cli::output::{json, messages};
use crate::model::LaneName;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// `luzia check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CHECK_HELP)]
pub struct CheckArgs {
    /// The user or lane, e.g. `alice` or `thread:7`
    #[arg(value_name = "USER|LANE", required_unless_present_any = ["user", "lane"])]
    pub target: Option<String>,

    /// The user, instead of the argument
    #[arg(short, long, value_name = "NAME", conflicts_with = "target")]
    pub user: Option<String>,

    /// Lanes; a pattern such as `thread:*` stands for the lanes of that beginning that are in use or have a rule
    #[arg(short, long, value_name = "LANE|PATTERN", conflicts_with_all = ["target", "user"])]
    pub lane: Vec<String>,
}

impl CheckArgs {
    pub(crate) fn text(&self) -> String {
        named(self.target.as_deref(), self.user.as_deref())
    }
}

const CHECK_HELP: &str = "\
Examples:
  luzia check alice && echo free
  luzia check thread:7 --json
  luzia check -l 'thread:*'

Exit codes:
  0    free or stale: the next acquire would get it; of several lanes, all are
  2    usage
  75   one is held or paused, or its gate, its rate or a process that is
       not of luzia keeps it from a grant now";

/// `luzia check`.
pub fn run(args: &CheckArgs, app: &App, console: &mut Console) -> Answer {
    if args.lane.is_empty() {
        let checked = check(app, &app.lane(&args.text())?)?;
        if console.is_json() {
            console.document(&json::single("check", checked_json(app, &checked)?))?;
        } else {
            tell(app, &checked, console)?;
        }
        return Ok(code(checked.is_free()));
    }
    if app.fleet.is_some() {
        refuse_local([(args.lane.iter().any(|lane| lane.ends_with('*')), "a pattern of lanes")])?;
    }
    let mut lanes = Vec::new();
    for text in &args.lane {
        lanes.extend(lanes_meant(app, &named_lanes(app, text)?)?);
    }
    let lanes: BTreeSet<LaneName> = lanes.into_iter().collect();
    let checked = lanes.iter().map(|lane| check(app, lane)).collect::<Result<Vec<_>, _>>()?;
    let is_free = checked.iter().all(Checked::is_free);
    if console.is_json() {
        let items = checked.iter().map(|one| checked_json(app, one)).collect::<Result<Vec<_>, _>>()?;
        // For one lane, the members of a `check` of that lane are beside its item.
        let mut value = items.first().filter(|_| items.len() == 1).cloned().unwrap_or_else(|| json!({}));
        (value["free"], value["items"]) = (is_free.into(), items.into());
        console.document(&json::single("check", value))?;
    } else if args.lane.len() == 1 && checked.len() == 1 {
        checked.iter().try_for_each(|one| tell(app, one, console))?;
    } else {
        for one in &checked {
            console.out(&format!("{}\t{}\n", one.lane, if one.is_free() { "free" } else { "busy" }))?;
        }
    }
    Ok(code(is_free))
}

fn code(is_free: bool) -> u8 {
    if is_free { Exit::Done.code() } else { Exit::Busy.code() }
}

fn checked_json(app: &App, checked: &Checked) -> Result<Value, AppError> {
    let (is_free, first) = (checked.is_free(), checked.living().next());
    let waiters = if is_free { Vec::new() } else { list::waiters(app, &checked.lane)? };
    let record = first.and_then(LockView::record);
    let execution = first.and_then(LockView::holder).map(execution_id);
    let mut value = json!({
        "lane": checked.lane.to_string(),
        "free": is_free,
        "limit": if checked.limit == u32::MAX { Value::Null } else { checked.limit.into() },
        "activeExecutionId": execution,
        "executionLockedAt": record.and_then(|record| record.refreshed_at.or(record.acquired_at)).map(|at| at.to_string()),
        "waiters": waiters.iter().map(waiter_json).collect::<Vec<_>>(),
        "locks": checked.holders.iter().map(|view| lock_seen_json(app, view, &waiters)).collect::<Vec<_>>(),
    });
    value.as_object_mut().into_iter().for_each(|members| members.extend(bars_members(&checked.lane, &checked.bars)));
    Ok(value)
}

fn tell(app: &App, checked: &Checked, console: &mut Console) -> Result<(), AppError> {
    let is_free = checked.is_free();
    let held = format!(": {} of {} slots held", checked.living().count(), checked.limit);
    let slots = Some(held).filter(|_| (2..u32::MAX).contains(&checked.limit));
    match (is_free, slots) {
        (true, slots) => console.say(&format!("lane \"{}\" is free{}", checked.lane, slots.unwrap_or_default())),
        (false, Some(slots)) if !checked.has_room() => {
            console.say(&format!("lane \"{}\" is full{slots}", checked.lane))
        }
        (false, _) => {}
    }
    checked.bars.texts(&checked.lane, console.now).iter().for_each(|text| console.say(text));
    for view in checked.living().filter(|_| !checked.has_room()) {
        let holder = holder_of(app, view);
        console.say(&format!("lane \"{}\" is held by {}", checked.lane, messages::holder_text(&holder, console.now)));
    }
    let waiters = if is_free { Vec::new() } else { list::waiters(app, &checked.lane)? };
    if let Some(text) = waiters_text(&waiters, console.now) {
        console.say(&text);
    }
    Ok(())
}
