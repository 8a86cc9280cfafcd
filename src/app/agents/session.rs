//! Sessions of agents: the keys of a session, and the owner of a lock.

use crate::app::App;
use crate::app::processes::agent_key;
use crate::model::{HookCall, LockKind, LockRecord};
use crate::policy::agent::session_key;
use crate::policy::hook::Owner;

/// The keys of the session of a call. The agent gives one to its hook, with and without its subagent. The environment gives
/// another one, and the process of the agent is the last. A command of an agent that gives it no variable has the last one only.
pub(super) fn session_keys(app: &App, call: &HookCall) -> Vec<String> {
    let of_environment = app.agent.as_ref().and_then(|agent| agent.session.clone());
    let of_subagent = call.session.as_ref().map(|session| session_key(session, call.subagent.as_deref()));
    let mut keys: Vec<String> = Vec::new();
    for key in [of_subagent, call.session.clone(), of_environment, agent_key(app)].into_iter().flatten() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// The owner of a lock, from the view of the session with these keys.
pub(super) fn lock_owner(app: &App, record: Option<&LockRecord>, keys: &[String], call: &HookCall) -> Owner {
    let Some(record) = record else { return Owner::Unknown };
    match &record.who.session {
        Some(session) if keys.contains(session) => return Owner::Mine,
        // A subagent works for its session.
        Some(session) if call.subagent.is_none() && is_below_session(session, call) => return Owner::Mine,
        Some(_) => return Owner::Other,
        None => {}
    }
    // The agent runs below the command that holds the lane.
    if app.host.is_below(record) {
        return Owner::Mine;
    }
    match record.kind {
        LockKind::Task | LockKind::Process | LockKind::Session => Owner::Other,
        LockKind::Lease | LockKind::Wait | LockKind::Foreign => Owner::Unknown,
    }
}

/// Whether a key is that of a subagent of the session of a call.
fn is_below_session(key: &str, call: &HookCall) -> bool {
    let above = call.session.as_ref().and_then(|session| key.strip_prefix(session.as_str()));
    above.is_some_and(|rest| rest.starts_with('/'))
}
