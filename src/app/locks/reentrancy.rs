//! Re-entrancy inside a task, or inside the command of `luzia lock`: a lane that is held already is not taken again, and a release
//! that would only give such a lane back does nothing (S4.16, X27). A wait for a lane that the caller keeps until it is over, or
//! that its session has leased, would never end.

use crate::app::config_reload::config;
use crate::app::processes::{agent_key, is_in_tree};
use crate::app::query::cycles::deadlock;
use crate::app::query::list;
use crate::app::{App, AppError, lane_word};
use crate::model::lock::{Grant, loan};
use crate::model::{LaneName, LockId, LockKind, LockRecord, TaskId};
use crate::store::{LockView, Release};

/// The task inside which this process runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inside {
    /// The task.
    pub task: TaskId,
    /// The user of the task.
    pub user: Option<String>,
    /// The project of the task.
    pub project: Option<String>,
}

/// The grant by which the task around this process holds a lane already.
pub(crate) fn reentrant(app: &App, lane: &LaneName) -> Result<Option<Grant>, AppError> {
    let Some(view) = around(app, lane)? else { return Ok(None) };
    let of = |record: &LockRecord| {
        let (lock_id, value) = (LockId(record.lock_id.clone()?), record.value.clone());
        Some(Grant {
            lane: lane.clone(),
            slot: view.slot,
            lock_id,
            fence: record.fence?,
            value,
            has_share: record.cpus.is_some(),
        })
    };
    Ok(view.record().and_then(of))
}

/// The lock of a lane inside which this process runs.
fn around(app: &App, lane: &LaneName) -> Result<Option<LockView>, AppError> {
    if !app.has_holder {
        return Ok(None);
    }
    for view in app.holders(lane)? {
        if is_around(app, &view)? {
            return Ok(Some(view));
        }
    }
    Ok(None)
}

/// Refuses the lane of a user to a process that runs inside the lock of another user: no process holds two (S3.36).
pub(crate) fn refuse_second_user(app: &App, wanted: &[LaneName]) -> Result<(), AppError> {
    let Some(second) = wanted.iter().find(|lane| lane.is_user()).filter(|_| app.has_holder) else { return Ok(()) };
    for view in list::locks(app)? {
        let first = view.lane.clone().filter(|lane| lane.is_user() && lane != second);
        if let Some(first) = first.filter(|_| is_around(app, &view).unwrap_or(false)) {
            let message = format!(
                "this process runs inside lane \"{first}\", so it cannot take lane \"{second}\" of a second user"
            );
            return Err(AppError::usage(message)
                .hint("nothing was changed; `luzia run -u NAME` runs a command as a task of another user"));
        }
    }
    Ok(())
}

/// The keeper of a lane, if a release would only give back what the task around this process holds: the counterpart of an
/// `acquire` that took nothing.
pub(crate) fn keeps(app: &App, lane: &LaneName, which: &Release) -> Result<Option<String>, AppError> {
    let Some(around) = around(app, lane)? else { return Ok(None) };
    let is_meant = match which {
        Release::LockId(id) => around.lock_id() == Some(id.as_str()),
        Release::Anybody => true,
        // A name that holds nothing is the one that was given to that `acquire`.
        Release::Holder(name) => {
            let of_name = app.holders(lane)?.into_iter().find(|view| view.holder() == Some(name.as_str()));
            of_name.is_none_or(|view| view.lock_id() == around.lock_id())
        }
    };
    Ok(around.holder().filter(|_| is_meant).map(str::to_owned))
}

/// Whether a lock belongs to the task, or to a `luzia lock`, inside which this process runs. Such a lock is not given back
/// before this process is over (P1). The environment alone is no proof of that.
pub(crate) fn is_around(app: &App, view: &LockView) -> Result<bool, AppError> {
    let Some(record) = view.record().filter(|_| !view.verdict.is_stale()) else {
        return Ok(false);
    };
    match record.kind {
        LockKind::Task => {
            let holder = record.task_id.as_deref().and_then(TaskId::parse);
            let own = app.inside.as_ref().map(|inside| inside.task).filter(|own| Some(*own) == holder);
            Ok(own.map(|own| is_in_tree(app, own)).transpose()?.unwrap_or(false))
        }
        LockKind::Process => match &view.lane {
            Some(lane) => Ok(app.store.has_inherited_lock(lane, view.slot)?),
            None => Ok(false),
        },
        LockKind::Session | LockKind::Lease | LockKind::Wait | LockKind::Foreign => Ok(false),
    }
}

/// Holders that may keep lanes for the caller.
pub(crate) struct Own {
    /// A task or a `luzia lock` may be around this process.
    has_holder: bool,
    /// The key of the caller's session, where any session has leases.
    session: Option<String>,
}

/// Why a wait would wait for itself.
pub(crate) enum Stuck {
    /// Something around this process must be over first.
    Around(String),
    /// The session of the caller has leased a lane.
    Session(LaneName),
}

impl Stuck {
    /// The error of a wait that `would` be endless.
    pub fn error(self, would: &str, hint: &str) -> AppError {
        match self {
            Self::Around(why) => deadlock(format!("{why}{would}")).hint(hint),
            Self::Session(lane) => own_session(&lane),
        }
    }
}

/// Holders that may keep lanes for the caller; `None` if there are no such holders.
pub(crate) fn own(app: &App) -> Result<Option<Own>, AppError> {
    let session = if app.store.has_sessions()? { session_key_here(app) } else { None };
    let own = Own { has_holder: app.has_holder, session };
    Ok(Some(own).filter(|own| own.has_holder || own.session.is_some()))
}

/// The key of the caller's session: that of its agent, else that of the agent's process.
fn session_key_here(app: &App) -> Option<String> {
    let named = app.agent.as_ref().and_then(|agent| agent.session.clone());
    named.or_else(|| agent_key(app))
}

/// Why a lane will not have so many free slots before the caller is over or gives leases back; `None` where it may.
pub(crate) fn stuck_on(app: &App, own: &Own, lane: &LaneName, slots: u32) -> Result<Option<Stuck>, AppError> {
    let (mut kept, mut by_session, mut holder) = (Vec::new(), false, None);
    for view in app.holders(lane)? {
        let is_of_session = own.session.as_ref().is_some_and(|key| is_of(&view, key) && view.verdict.is_live());
        if is_of_session || own.has_holder && is_around(app, &view)? {
            by_session |= is_of_session;
            kept.push(view.slot);
            holder = holder.or_else(|| view.holder().map(str::to_owned));
        }
    }
    if kept.is_empty() || loan::holders(kept.into_iter()).saturating_add(slots) <= config(app).limit(lane) {
        return Ok(None);
    }
    let holder = holder.unwrap_or_else(|| "this command".to_owned());
    Ok(Some(match by_session {
        true => Stuck::Session(lane.clone()),
        false => Stuck::Around(format!("{holder} holds lane \"{lane}\"")),
    }))
}

/// Whether a lock is a lease of the session in which this process runs, and the lane has no room without it.
pub(crate) fn waits_for_own_session(app: &App, view: &LockView) -> Result<bool, AppError> {
    let is_lease = view.record().is_some_and(|record| record.kind == LockKind::Session);
    let (true, Some(lane)) = (is_lease, &view.lane) else { return Ok(false) };
    let own = Own { has_holder: false, session: session_key_here(app) };
    Ok(stuck_on(app, &own, lane, 1)?.is_some())
}

/// Whether a lock is a lease of the session in which this process runs.
pub(crate) fn is_of_own_session(app: &App, view: &LockView) -> bool {
    session_key_here(app).is_some_and(|key| is_of(view, &key))
}

/// A lane that the caller's own session has leased: a wait for it would last as long as the session.
pub(crate) fn own_session(lane: &LaneName) -> AppError {
    let lane_word = lane_word(lane);
    let message =
        format!("lane \"{lane}\" is held by the session in which this process runs, so the wait would never end");
    deadlock(message)
        .hint(format!(
            "run the command directly under that lease, or give it back first: luzia release {lane_word} --session"
        ))
        .next(format!("luzia explain {lane_word}"))
}

/// Whether a lock is a lease of the session with a key.
pub(crate) fn is_of(view: &LockView, key: &str) -> bool {
    let is_lease = |record: &&LockRecord| record.kind == LockKind::Session;
    view.record().filter(is_lease).is_some_and(|record| record.who.session.as_deref() == Some(key))
}
