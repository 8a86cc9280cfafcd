//! The turn of a dispatcher. The process that has the turn releases the lanes of a task that ended and claims the next ones,
//! without another dispatcher between the two. So each dispatcher finds the slot that it freed itself. Only the number of
//! processes of a queue depends on the turn: a process that does not get it in time goes on without it.

use crate::os::Handle;
use crate::store::files::disk::lock_retry::BackOff;
use crate::store::{Spool, layout};
use std::sync::{Arc, Mutex, PoisonError};

/// Time for which a process waits for its turn, in milliseconds. A process that was stopped in its turn delays others no
/// longer.
const PATIENCE_MS: u64 = 20;
const PAUSE_MOST_US: u64 = 800;

/// The turn of this process, while it has it.
pub(crate) type Turn = Arc<Mutex<Option<Box<dyn Handle>>>>;

impl Spool {
    /// Waits for the turn and takes it, unless this process already has it.
    pub fn take_turn(&self) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if turn.is_none() {
            *turn = self.wait_for_turn();
        }
    }

    /// Gives the turn up, if this process has it.
    pub fn end_turn(&self) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut turn) = turn {
            // An explicit unlock, because a process that was started meanwhile may have a copy of the descriptor for an
            // instant.
            let _ = turn.unlock();
        }
    }

    fn wait_for_turn(&self) -> Option<Box<dyn Handle>> {
        let mut turn = self.open_or_make(layout::TURN).ok()?;
        let mut back_off = BackOff::new(self, PATIENCE_MS, PAUSE_MOST_US);
        while !turn.try_lock(false).ok()? {
            if !back_off.pause(self) {
                return None;
            }
        }
        Some(turn)
    }
}
