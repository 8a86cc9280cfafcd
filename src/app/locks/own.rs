//! Lanes that the caller keeps until it is over or gives them back: those of the task or `luzia lock` around it, and those of
//! its session. A wait for such a lane would never end.

use super::reentrancy::is_around;
use crate::app::config_reload::config;
use crate::app::locks::session::{agent_key, is_of};
use crate::app::query::cycles::deadlock;
use crate::app::{App, AppError, lane_word};
use crate::model::lock::loan;
use crate::model::{LaneName, LockKind};
use crate::store::LockView;

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
    let message = format!("lane \"{lane}\" is held by the session in which this runs, and would wait for itself");
    deadlock(message)
        .hint(format!(
            "run the command directly under that lease, or give it back first: luzia release {lane_word} --session"
        ))
        .next(format!("luzia explain {lane_word}"))
}
