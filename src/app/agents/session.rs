//! Sessions of agents: whose a lock is, and giving all leases of one back.
//!
//! This is the one place that knows how a sidecar names a session.

use crate::app::{App, AppError};
use crate::model::{LockKind, LockRecord};
use crate::policy::hook::Owner;
use serde_json::Value;

/// The session that a sidecar names.
pub fn session_of(record: &LockRecord) -> Option<String> {
    member(record, "session")
}

/// The agent that a sidecar names.
pub fn agent_of(record: &LockRecord) -> Option<String> {
    member(record, "agent")
}

fn member(record: &LockRecord, name: &str) -> Option<String> {
    let members: Value = serde_json::from_str(record.extra.as_deref()?).ok()?;
    members.get(name)?.as_str().map(str::to_owned)
}

impl App {
    /// Whose a lock is, seen from a session.
    pub(super) fn lock_owner(&self, record: Option<&LockRecord>, session: Option<&str>) -> Owner {
        let Some(record) = record else { return Owner::Unknown };
        match (session_of(record), session) {
            (Some(holder), Some(own)) if holder == own => Owner::Mine,
            (Some(_), _) => Owner::Other,
            // The agent runs below the command that holds the lane.
            (None, _) if self.store.is_below(record) => Owner::Mine,
            (None, _) => match record.kind {
                LockKind::Task | LockKind::Process => Owner::Other,
                LockKind::Lease | LockKind::Wait | LockKind::Foreign => Owner::Unknown,
            },
        }
    }

    /// Gives every lease of a session back; how many there were. A lease that somebody else gave back meanwhile is none.
    pub fn release_session(&self, session: &str) -> Result<usize, AppError> {
        let mut count = 0;
        for view in self.locks()? {
            let leased = view.record().filter(|record| record.kind == LockKind::Lease);
            if leased.and_then(session_of).as_deref() != Some(session) {
                continue;
            }
            if let (Some(lane), Some(id)) = (&view.lane, view.lock_id())
                && self.release(lane, None, Some(id), false)?.lock.is_some()
            {
                count += 1;
            }
        }
        Ok(count)
    }
}
