//! Timers that are due fire at the next command, not only at a pass (S1.51). A task that is due comes to its lane, and one that
//! had to start by now ends. Timers start nothing: that is for dispatchers.

use super::wake::wake_parked;
use crate::app::lifecycle::report::Pass;
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError};

/// Lets due timers fire. A command that asks for something else does not fail because of them. The next pass does what cannot be
/// done now, e.g. in a state directory that cannot be written. Returns the faults of records that were set aside.
pub fn fire_timers(app: &App) -> Vec<String> {
    let mut pass = Pass::default();
    let _ = fire_due_timers(app, &mut pass);
    pass.set_aside
}

fn fire_due_timers(app: &App, pass: &mut Pass) -> Result<(), AppError> {
    if !app.store.is_timer_due()? || !app.store.has_layout()? {
        return Ok(());
    }
    // Inside a task its own supervisor makes the pass.
    match &app.inside {
        Some(inside) if wake_supervisor(app, inside.task)? => Ok(()),
        _ => wake_parked(app, pass).map(drop),
    }
}
