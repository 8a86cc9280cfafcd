//! Reports of removed stale locks, and the end of overdue tasks.
//! `broken_event` and `stale_line` report a lock that was removed because it was stale. `end_overdue` is the rule
//! `on_overdue: terminate`: if a task holds a lane past its limit while others wait for the lane, the task is asked to end
//! (S3.F4). Its supervisor ends it, so a living process never loses a lock by age (P4).

use super::config_reload::config;
use crate::app::lifecycle::request_end;
use crate::app::{App, AppError, Code};
use crate::model::LockKind;
use crate::model::config::OnOverdue;
use crate::model::evidence::Verdict;
use crate::store::{Break, CancelRequest, Event, LockView};
use serde_json::json;
use std::time::Duration;

/// The event of a broken lock, with the log line of S0.32 for a thread.
pub fn broken_event(lock: &Break) -> Event {
    let data = json!({
        "lock_id": lock.lock_id,
        "holder": lock.holder,
        "why": lock.why.map(crate::model::evidence::Reason::text),
        "age_ms": lock.age_ms,
    });
    Event { message: stale_line(lock), ..Event::new("lock_broken").for_lock(&lock.lane).with(data) }
}

/// `[MessageService] Lock on thread 123 is stale (650000ms), clearing...` for a thread's lane (S0.32).
pub fn stale_line(lock: &Break) -> Option<String> {
    let is_stale_thread = lock.lane.kind() == "thread" && lock.why.is_some();
    is_stale_thread.then(|| {
        format!("[MessageService] Lock on thread {} is stale ({}ms), clearing...", lock.lane.key(), lock.age_ms)
    })
}

/// A lock by the rule of its lane. If the rule is `terminate`, a living holder is overdue when the lock timeout has passed
/// since the grant, however often it has refreshed the lock.
pub(super) fn by_rule(app: &App, mut view: LockView) -> LockView {
    let left = until_overdue(app, &view);
    if let Verdict::Live { overdue, .. } = &mut view.verdict {
        *overdue |= left == Some(Duration::ZERO);
    }
    view
}

/// The time until `on_overdue: terminate` makes a holder overdue. `None` if its lane has another rule.
pub(super) fn until_overdue(app: &App, view: &LockView) -> Option<Duration> {
    let config = config(app);
    let record = view.record().filter(|record| matches!(record.kind, LockKind::Task | LockKind::Process))?;
    let lane = view.lane.as_ref().filter(|lane| config.on_overdue(lane) == OnOverdue::Terminate)?;
    let held_ms = app.host.now().saturating_ms_since(record.acquired_at?);
    Some(Duration::from_millis(config.lock_timeout_ms(lane).saturating_sub(held_ms)))
}

/// Asks a holder to end if it is a task, is overdue, and the rule of its lane says so. An earlier request is left alone.
pub(super) fn end_overdue(app: &App, view: &LockView) -> Result<(), AppError> {
    let view = by_rule(app, view.clone());
    let is_overdue = matches!(view.verdict, Verdict::Live { overdue: true, .. });
    let Some(lane) =
        view.lane.as_ref().filter(|lane| is_overdue && config(app).on_overdue(lane) == OnOverdue::Terminate)
    else {
        return Ok(());
    };
    let Some(id) = view.task() else { return Ok(()) };
    if app.store.cancel_request(id)?.is_some() {
        return Ok(());
    }
    match request_end(app, id, &CancelRequest::by("luzia", &format!("it held \"{lane}\" past its limit"))) {
        // The task ended by itself meanwhile.
        Err(error) if error.code() == Code::TaskOver || error.code() == Code::TaskNotFound => Ok(()),
        other => other.map(drop),
    }
}
