//! The one wait for a file lock that others hold for an instant. It backs off with jitter, has a limit, and its error names
//! the file and the holder.

use crate::os::Handle;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::publish::Disk;
use std::time::Duration;

/// How long a command tries to lock a file before it answers that the file is busy, in milliseconds.
pub const FILE_WAIT_MS: u64 = 5000;

/// A back-off between two tries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackOff {
    begin_ms: u64,
    limit_ms: u64,
    pause_us: u64,
    most_us: u64,
    seed: u64,
}

impl BackOff {
    /// A back-off that begins now. Pauses double up to `most_us` microseconds.
    pub(crate) fn new(disk: &Disk, limit_ms: u64, most_us: u64) -> Self {
        let seed = u64::from(disk.host.me.pid).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { begin_ms: disk.host.clock.boot_ms(), limit_ms, pause_us: 60, most_us, seed }
    }

    /// Sleeps before the next try. False, without sleeping, when the limit has passed.
    pub(crate) fn pause(&mut self, disk: &Disk) -> bool {
        if disk.host.clock.boot_ms().saturating_sub(self.begin_ms) >= self.limit_ms {
            return false;
        }
        disk.host.clock.sleep(Duration::from_micros(self.next_us()));
        true
    }

    /// The next pause: between a half and the whole of the present step.
    fn next_us(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        let half = self.pause_us / 2;
        let pause = half + self.seed % (half + 1);
        self.pause_us = (self.pause_us * 2).min(self.most_us);
        pause
    }
}

impl Disk {
    /// Locks an open file, and waits for it [`FILE_WAIT_MS`] at most.
    pub(crate) fn lock_soon(&self, handle: &mut dyn Handle, path: &str, shared: bool) -> Result<()> {
        self.lock_within(handle, path, shared, FILE_WAIT_MS)
    }

    /// Like `lock_soon`, and no longer than so many milliseconds.
    pub(crate) fn lock_within(&self, handle: &mut dyn Handle, path: &str, shared: bool, ms: u64) -> Result<()> {
        let mut back_off = BackOff::new(self, FILE_WAIT_MS.min(ms), 20_000);
        while !handle.try_lock(shared).map_err(StoreError::io("lock", path))? {
            if !back_off.pause(self) {
                return Err(self.file_busy(path));
            }
        }
        Ok(())
    }

    /// The error for a file that stayed locked.
    pub(crate) fn file_busy(&self, path: &str) -> StoreError {
        let meta = self.vfs.meta(path);
        let holder = meta.ok().flatten().and_then(|meta| self.host.procs.lock_holder(meta.ident));
        StoreError::FileBusy { thing: path.into(), holder }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_differ_between_processes_and_stay_below_the_largest_step() {
        let steps = |seed| {
            let mut back_off = BackOff { begin_ms: 0, limit_ms: 1, pause_us: 60, most_us: 3000, seed };
            std::array::from_fn::<u64, 40, _>(|_| back_off.next_us())
        };
        assert_ne!(steps(3), steps(5));
        assert!(steps(3).iter().all(|us| (30..=3000).contains(us)), "{:?}", steps(3));
        assert!(steps(3)[30..].iter().all(|us| *us >= 1500));
    }
}
