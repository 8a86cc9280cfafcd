//! A lock in JSON and in words, for the commands that list, check, release and clean up.

use crate::app::check_project::Checked;
use crate::app::query::details::evidence_of;
use crate::app::{App, Break, LineWaiter, Loans, LockView, lock_state};
use crate::cli::output::console::Console;
use crate::model::time::format_duration;
use crate::model::{TaskId, Timestamp};
use serde_json::{Value, json};

/// Number of waiters of a lane that are named.
const MOST_WAITERS: usize = 5;

/// The name of the holder of a broken lock.
pub fn holder(lock: &Break) -> &str {
    lock.holder.as_deref().unwrap_or("an unknown holder")
}

/// A broken lock as JSON.
pub fn break_json(lock: &Break) -> Value {
    json!({
        "lane": lock.lane.to_string(),
        "slot": lock.slot,
        "lock_id": lock.lock_id,
        "holder": lock.holder,
        "why": lock.why.map(crate::model::evidence::Reason::text),
        "age_ms": lock.age_ms,
    })
}

/// The number of `task_<n>`, or the name given to `acquire` (S0.3).
pub fn execution_id(holder: &str) -> Value {
    TaskId::parse(holder).map_or_else(|| holder.into(), |id| id.0.into())
}

/// One lock as JSON: the members of S3.28, and those of S0.27 beside them.
pub fn lock_json(view: &LockView) -> Value {
    let record = view.record();
    let lane = view.lane.as_ref();
    let time = |at: Option<crate::model::Timestamp>| at.map(|at| at.to_string());
    let refreshed = record.and_then(|record| record.refreshed_at.or(record.acquired_at));
    let who = record.map(|record| record.who.clone()).unwrap_or_default();
    let loans = record.map(Loans::of).unwrap_or_default();
    json!({
        "user": lane.filter(|lane| lane.is_user()).map(|lane| lane.key().as_str()),
        "lane": view.lane_name(),
        "slot": view.slot,
        "lock_id": record.and_then(|record| record.lock_id.as_deref()),
        "task_id": record.and_then(|record| record.task_id.as_deref()),
        "fence": record.and_then(|record| record.fence).map(|fence| fence.0),
        "value": record.and_then(|record| record.value.as_deref()),
        "cpus": record.and_then(|record| record.cpus),
        "kind": record.map(|record| record.kind.word()),
        "acquired_at": time(record.and_then(|record| record.acquired_at)),
        "refreshed_at": time(refreshed),
        "expires_at": time(record.and_then(|record| record.expires_at)),
        "acquired_by_pid": record.and_then(|record| record.pid),
        "state": lock_state(&view.verdict),
        "evidence": view.verdict.why().text(),
        "age_ms": view.age_ms,
        "held_ms": view.held_ms,
        "threadId": lane.filter(|lane| lane.kind() == "thread").map(|lane| lane.key().as_str()),
        "activeExecutionId": view.holder().map(execution_id),
        "executionLockedAt": time(refreshed),
        "lockMinutes": view.age_ms / 60_000,
        "holder": view.holder(),
        "owner": view.holder(),
        "shown": view.shown(),
        "agent": who.agent,
        "session": who.session,
        "command": who.command,
        "label": who.label,
        "lender": loans.lender,
        "borrowers": loans.borrowers,
    })
}

/// Like [`lock_json`], with the processes that keep the lock file open after the end of a command, and the waiters.
pub fn lock_seen_json(app: &App, view: &LockView, waiters: &[LineWaiter]) -> Value {
    let mut value = lock_json(view);
    value["evidence"] = evidence_of(app, view).into();
    if app.fleet.is_some() {
        value["host"] = view.record().and_then(|record| record.host.as_deref()).into();
    }
    value["waiters"] = waiters.iter().map(waiter_json).collect();
    value
}

/// A waiter of a lane, as JSON.
pub fn waiter_json(waiter: &LineWaiter) -> Value {
    let LineWaiter { position, pid, since, agent, label } = waiter;
    json!({ "position": position, "pid": pid, "since": since.to_string(), "agent": agent, "label": label })
}

/// The waiters of a lane, in words.
pub fn waiters_text(waiters: &[LineWaiter], now: Timestamp) -> Option<String> {
    let text = |waiter: &LineWaiter| {
        let label = waiter.label.as_ref().map(|label| format!(" [{label}]")).unwrap_or_default();
        let agent = waiter.agent.as_ref().map(|agent| format!(" of {agent}")).unwrap_or_default();
        let waited = now.saturating_ms_since(waiter.since);
        format!("process {}{label}{agent} for {}", waiter.pid, format_duration(waited))
    };
    let named: Vec<String> = waiters.iter().take(MOST_WAITERS).map(text).collect();
    let more = waiters.len().saturating_sub(MOST_WAITERS);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    let (count, verb) = (waiters.len(), if waiters.len() == 1 { "waits" } else { "wait" });
    (count > 0).then(|| format!("{count} {verb} in its line: {}{rest}", named.join(", ")))
}

/// Reports which claims of a project were refused, and why.
pub fn refusals(checked: &[Checked], console: &mut Console) {
    for claim in checked {
        if let Some(why) = &claim.refused {
            console.say(&format!("refused: {}/{}: {why}", claim.project, claim.dir));
        }
    }
}
