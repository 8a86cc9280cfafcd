//! `on_overdue: terminate`: a task that holds a lane past its limit while others wait for it is asked to end (S3.F4). It is its
//! supervisor that ends it, so a living process never loses a lock by age (P4).

use super::config_reload::config;
use super::queue::cancel::request_end;
use crate::app::{App, AppError, Code};
use crate::model::config::OnOverdue;
use crate::model::evidence::Verdict;
use crate::store::LockView;

/// Asks a holder to end where it is a task, is overdue, and the rule of its lane says so. A request that stands already is left
/// alone.
pub(super) fn end_overdue(app: &App, view: &LockView) -> Result<(), AppError> {
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
    match request_end(app, id, "luzia", Some(&format!("it held \"{lane}\" past its limit")), None) {
        // It ended by itself meanwhile.
        Err(error) if error.0.code == Code::TaskOver || error.0.code == Code::TaskNotFound => Ok(()),
        other => other.map(drop),
    }
}
