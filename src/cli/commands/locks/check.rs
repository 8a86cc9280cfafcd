//! `luzia check`: whether a lane is free.

use crate::app::locks::acquire::check;
use crate::app::look::explain::holder_of;
use crate::app::look::list;
use crate::app::{App, LockView};
use crate::cli::args::Target;
use crate::cli::exit::Exit;
use crate::cli::output::capacity::bars_members;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::lock::{execution_id, lock_seen_json, waiter_json, waiters_text};
use crate::cli::output::{json, messages};
use clap::Args;
use serde_json::{Value, json};

/// `luzia check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CHECK_HELP)]
pub struct CheckArgs {
    /// What to act on.
    #[command(flatten)]
    pub target: Target,
}

const CHECK_HELP: &str = "\
Examples:
  luzia check alice && echo free
  luzia check thread:7 --json

Exit codes:
  0    free or stale: the next acquire would get it
  2    usage
  75   held, paused, or kept by its gate, its rate or strangers now
  others as in luzia-exit-codes(7)";

/// `luzia check`.
pub fn run(args: &CheckArgs, app: &App, console: &mut Console) -> Answer {
    let checked = check(app, &app.lane(&args.target.text())?)?;
    let (is_free, first) = (checked.is_free(), checked.living().next());
    let waiters = if is_free { Vec::new() } else { list::waiters(app, &checked.lane)? };
    if console.is_json() {
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
        value
            .as_object_mut()
            .into_iter()
            .for_each(|members| members.extend(bars_members(&checked.lane, &checked.bars)));
        console.document(&json::single("check", value))?;
    } else {
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
            console.say(&format!(
                "lane \"{}\" is held by {}",
                checked.lane,
                messages::holder_text(&holder, console.now)
            ));
        }
        if let Some(text) = waiters_text(&waiters, console.now) {
            console.say(&text);
        }
    }
    Ok(if is_free { Exit::Done.code() } else { Exit::Busy.code() })
}
