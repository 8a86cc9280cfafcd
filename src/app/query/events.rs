//! `events`: the event log, the oldest first; `-f` follows later events, across segments and days.

use crate::app::{App, AppError};
use crate::model::{TaskId, Timestamp};
pub use crate::policy::analytics::record::{Filter, Record};
pub use crate::policy::analytics::trace::Tracer;
pub use crate::store::{KINDS, is_kind};
use std::collections::BTreeMap;
use std::time::Duration;

/// Sleep of a follower between two looks. A look costs an open, a read and a close.
const LOOK: Duration = Duration::from_millis(200);
/// An event of a task may be older than the task by the time that two processes need for one change.
const BEFORE_TASK_MS: i64 = 60_000;

/// The events that are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// By their content.
    pub filter: Filter,
    /// Only of tasks that the caller requested; the name is that of the caller's account.
    pub mine: Option<String>,
    /// Not before this moment.
    pub since: Option<Timestamp>,
    /// Follow later events, until every named task is over.
    pub follow: bool,
}

/// The receiver of events.
pub type Sink<'a> = dyn FnMut(&Record) -> bool + 'a;

/// The name of this host.
pub fn host(app: &App) -> String {
    app.host.name()
}

/// Gives events to `sink`, which returns whether to continue. Returns the number of events.
pub fn events(app: &App, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<u64, AppError> {
    if app.is_absent && !wanted.follow {
        return Ok(0);
    }
    let since = wanted.since.unwrap_or(first_event_of(app, &wanted.filter)?);
    let mut reader = app.store.events_from(since)?;
    let (mut owners, mut count, mut stopped) = (BTreeMap::new(), 0, false);
    loop {
        // Checked before the log is read, so that the log then has all events of a finished task.
        let is_over = wanted.follow && are_over(app, &wanted.filter)?;
        app.store.read_on(&mut reader, &mut |event| {
            let Some(record) = Record::of(event.at, &event.line).filter(|_| event.at >= since) else { return true };
            if !wanted.filter.lets(&record) || !is_mine(app, &record, wanted, &mut owners) {
                return true;
            }
            count += 1;
            stopped = !sink(&record);
            !stopped
        })?;
        if stopped || is_over || !wanted.follow {
            return Ok(count);
        }
        app.host.sleep(LOOK);
    }
}

/// The moment before which there is no event of the tasks that are named.
fn first_event_of(app: &App, filter: &Filter) -> Result<Timestamp, AppError> {
    let mut first = None;
    for id in &filter.tasks {
        let Some((_, task)) = app.find(*id)? else { return Ok(Timestamp::FIRST) };
        first = Some(first.map_or(task.created_at, |first: Timestamp| first.min(task.created_at)));
    }
    Ok(first.map_or(Timestamp::FIRST, |first| first.plus_ms(-BEFORE_TASK_MS)))
}

/// Whether tasks are named, and all of them are over.
fn are_over(app: &App, filter: &Filter) -> Result<bool, AppError> {
    for id in &filter.tasks {
        if app.find(*id)?.is_some_and(|(_, task)| !task.status().is_final()) {
            return Ok(false);
        }
    }
    Ok(!filter.tasks.is_empty())
}

/// Whether an event belongs to a task that this caller requested: in its session, inside its task, or, if neither is known,
/// by its account's user.
fn is_mine(app: &App, record: &Record, wanted: &Wanted, owners: &mut BTreeMap<TaskId, bool>) -> bool {
    let Some(account) = &wanted.mine else { return true };
    let Some(id) = record.task else { return app.agent.is_none() && record.is_of_user(account) };
    *owners.entry(id).or_insert_with(|| is_my_task(app, id, record, account))
}

fn is_my_task(app: &App, id: TaskId, record: &Record, account: &str) -> bool {
    let task = app.find(id).ok().flatten().map(|(_, task)| task);
    if let Some(inside) = &app.inside {
        return inside.task == id || task.is_some_and(|task| task.parent == Some(inside.task));
    }
    match app.agent.as_ref().and_then(|agent| agent.session.as_ref()) {
        Some(session) => task.and_then(|task| task.agent).and_then(|agent| agent.session).as_ref() == Some(session),
        None => record.is_of_user(account),
    }
}
