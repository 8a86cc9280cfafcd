//! The hidden verb `supervise`: owns one task to its end, then makes one pass for whoever waited.

use super::dispatch::Pass;
use super::{App, AppError};
use crate::model::TaskId;
use crate::policy::fair::Ledger;
use crate::store::Event;
use crate::supervise::{Finished, Surroundings, recover, run};

impl App {
    /// Supervises a task that a dispatcher claimed and handed over, or recovers one that nobody supervises.
    pub fn supervise(&self, id: TaskId, is_recovery: bool) -> Result<(), AppError> {
        let Some(lock) = self.store.take_over(id)? else {
            return Err(AppError::usage(
                "supervise is started by luzia itself, with the task's lock as standard input",
            ));
        };
        let begin = self.store.boot_ms();
        let user = self.store.find(id)?.map(|(_, task)| task.user);
        let finished = if is_recovery {
            let found = self.store.look_abandoned(id, lock)?;
            recover(&self.store, id, found, &[])?
        } else {
            let mut pass = || self.pass().map(|pass| pass.supervisors).unwrap_or_default();
            run(&mut Surroundings { store: &self.store, pass: &mut pass }, id, lock)?
        };
        if let Some(Finished { dependents, .. }) = &finished {
            self.wake_dependents(dependents)?;
        }
        if let Some(user) = user {
            let ran_ms = self.store.boot_ms().saturating_sub(begin);
            let (weight, now) = (self.config.weight(&user), self.store.now());
            self.store.update_ledger(&mut |text| {
                let mut ledger = text.and_then(Ledger::from_text).unwrap_or_default();
                ledger.charge_end(&user, ran_ms, weight, now);
                Some(ledger.to_text())
            })?;
        }
        self.last_pass();
        Ok(())
    }

    /// The pass of a supervisor that has just finished. There is nobody to tell of an error but the events.
    fn last_pass(&self) {
        match self.pass() {
            Ok(Pass { .. }) => {}
            Err(error) => self.store.note(&Event::new("pass_failed").saying(error.to_string())),
        }
    }
}
