//! Timers that are due fire at whichever command comes first, not only at a pass (S1.51): a task that is due comes to its
//! lane, and one that had to start by now ends. Nothing is started by it: that is for dispatchers.

use crate::app::pass::Pass;
use crate::app::{App, AppError};

impl App {
    /// Lets timers fire that are due. A command that asks for something else does not fail because of them: what cannot be
    /// done now, as in a state directory that cannot be written, is left to the next pass. Gives what is wrong with records
    /// that were set aside.
    pub fn fire_timers(&self) -> Vec<String> {
        let mut pass = Pass::default();
        let _ = self.fire_due_timers(&mut pass);
        pass.set_aside
    }

    fn fire_due_timers(&self, pass: &mut Pass) -> Result<(), AppError> {
        if !self.store.is_timer_due()? || !self.store.has_layout()? {
            return Ok(());
        }
        // Inside a task its own supervisor makes the pass.
        match &self.inside {
            Some(inside) if self.wake_supervisor(inside.task)? => Ok(()),
            _ => self.wake_parked(pass).map(drop),
        }
    }
}
