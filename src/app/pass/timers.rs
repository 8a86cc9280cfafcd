//! Timers that are due fire at whichever command comes first, not only at a pass (S1.51): a task that is due comes to its
//! lane, and one that had to start by now ends. Nothing is started by it: that is for dispatchers.

use super::wake::wake_parked;
use crate::app::lifecycle::report::Pass;
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError};

/// Lets timers fire that are due. A command that asks for something else does not fail because of them: what cannot be
/// done now, as in a state directory that cannot be written, is left to the next pass. Gives what is wrong with records
/// that were set aside.
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
