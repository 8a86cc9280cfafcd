//! Evidence whether the holder of a lock lives.

use crate::app::App;
use crate::model::LaneName;
use crate::model::evidence::Reason;
use crate::model::time::format_duration;
use crate::model::who::{MOST_BYTES, clean};
use crate::store::LockView;

/// Number of processes that are named among those that have a lock file open.
const MOST_USERS: usize = 3;

/// The processes that have a lock file open, in words.
pub(crate) fn users_text(app: &App, lane: &LaneName, slot: u32) -> String {
    let users = app.store.lock_file_users(lane, slot).unwrap_or_default();
    let name = |pid: u32| app.host.program_of(pid).and_then(|name| clean(&name, MOST_BYTES));
    let named: Vec<String> = users
        .iter()
        .take(MOST_USERS)
        .map(|user| match name(user.pid) {
            Some(name) => format!("process {} \"{name}\"", user.pid),
            None => format!("process {}", user.pid),
        })
        .collect();
    match (named.is_empty(), users.len() > MOST_USERS) {
        (true, _) => "a process that cannot be seen from here".to_owned(),
        (false, true) => format!("{} and others", named.join(", ")),
        (false, false) => named.join(" and "),
    }
}

/// The evidence whether a holder lives. For a command that has ended and left processes behind, it names those processes.
pub fn evidence_of(app: &App, view: &LockView) -> String {
    let why = view.verdict.why();
    let (Reason::LeftBehind, Some(lane)) = (why, &view.lane) else { return why.text().to_owned() };
    let ended = view.record().and_then(|record| record.ended);
    let ago = ended.map_or(0, |ended| app.host.now().saturating_ms_since(ended));
    let users = users_text(app, lane, view.slot);
    let have = if users.contains(" and ") { "have" } else { "has" };
    format!("its command ended {} ago; {users} {have} the lock file open", format_duration(ago))
}
