//! The clocks of the host, as a trait.

use crate::model::Timestamp;
use std::fs::File;
use std::io;
use std::time::Duration;

/// The time: wall clock, boot clock, and the identity of this boot.
pub trait Clock: Send + Sync {
    /// The wall clock.
    fn now(&self) -> Timestamp;
    /// Milliseconds since boot, suspended time included (CLOCK_BOOTTIME).
    fn boot_ms(&self) -> u64;
    /// The identity of this boot (`/proc/sys/kernel/random/boot_id`).
    fn boot_id(&self) -> String;
    /// Waits.
    fn sleep(&self, time: Duration);
    /// A descriptor that becomes readable at a moment of the boot clock, in milliseconds; `None` where time is simulated.
    fn timer(&self, _boot_ms: u64) -> io::Result<Option<File>> {
        Ok(None)
    }
    /// Waits, and ends the wait when a timer becomes readable.
    fn sleep_beside(&self, time: Duration, _timer: &File) {
        self.sleep(time);
    }
}
