//! The one wait for a file lock that other processes hold for an instant. It backs off with jitter, has a limit, and its
//! error names the file and the holder.

use crate::os::{Handle, Open};
use crate::store::{Disk, Hold, Result, StoreError};
use std::time::Duration;

/// Time for which a command tries to lock a file before it reports that the file is busy, in milliseconds.
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

    /// Like `lock_soon`, with a limit in milliseconds.
    pub(crate) fn lock_within(&self, handle: &mut dyn Handle, path: &str, shared: bool, ms: u64) -> Result<()> {
        let mut back_off = BackOff::new(self, FILE_WAIT_MS.min(ms), 20_000);
        while !handle.try_lock(shared).map_err(StoreError::io("lock", path))? {
            if !back_off.pause(self) {
                return Err(self.file_busy(path));
            }
        }
        Ok(())
    }

    /// Opens a file, makes it if it is missing, and locks it as `lock_soon` does.
    pub(crate) fn locked(&self, path: &str, shared: bool) -> Result<Box<dyn Handle>> {
        let mut handle = self.open_or_make(path)?;
        self.lock_soon(handle.as_mut(), path, shared)?;
        Ok(handle)
    }

    /// Like `locked`, for a file that its last holder removes: the lock of a removed file excludes no process.
    pub(crate) fn locked_by_name(&self, path: &str, shared: bool) -> Result<Box<dyn Handle>> {
        loop {
            let handle = self.locked(path, shared)?;
            if has_name(handle.as_ref(), path)? {
                return Ok(handle);
            }
        }
    }

    /// Like `locked`, for a file that is written to: it has no second name, under which the bytes would appear as well.
    pub(crate) fn locked_alone(&self, path: &str) -> Result<Box<dyn Handle>> {
        loop {
            let mut handle = self.locked(path, false)?;
            if self.is_alone(handle.as_mut(), path)? {
                return Ok(handle);
            }
        }
    }

    /// Opens a file, makes it if it is missing, and locks it without waiting; `None` while another process has the lock.
    pub(crate) fn try_locked(&self, path: &str) -> Result<Option<Box<dyn Handle>>> {
        let mut handle = self.open_or_make(path)?;
        Ok(handle.try_lock(false).map_err(StoreError::io("lock", path))?.then_some(handle))
    }

    /// Like `try_locked`, for a file that its last holder removes.
    pub(crate) fn try_locked_by_name(&self, path: &str) -> Result<Option<Box<dyn Handle>>> {
        loop {
            let handle = self.try_locked(path)?;
            if handle.as_ref().map_or(Ok(true), |handle| has_name(handle.as_ref(), path))? {
                return Ok(handle);
            }
        }
    }

    /// Takes over the kernel lock with which this process was started; `None` when it is the lock of another file.
    pub(crate) fn inherit(&self, path: &str, become_it: &'static str) -> Result<Option<Hold>> {
        self.host.procs.become_supervisor().map_err(StoreError::io(become_it, path))?;
        let mut lock = self.host.procs.inherited_lock().map_err(StoreError::io("take over", path))?;
        let mine = lock.meta().map_err(StoreError::io("look at", path))?;
        let is_it = self.meta(path)?.is_some_and(|meta| meta.ident == mine.ident);
        Ok((is_it && lock.try_lock(false).map_err(StoreError::io("lock", path))?).then(|| Hold::of(lock)))
    }

    /// Whether a process holds the kernel lock of a file. The lock is taken for an instant: shared, so that two lookers do not
    /// disturb each other, or exclusive, if its holders share it.
    pub(crate) fn is_held(&self, path: &str, shared: bool) -> Result<bool> {
        // Opened for reading only, so that it works on a read-only file system as well.
        let Some(mut handle) = self.open(path, Open::ReadOnly)? else { return Ok(false) };
        is_held_by_others(handle.as_mut(), path, shared)
    }

    /// The error for a file that stayed locked.
    pub(crate) fn file_busy(&self, path: &str) -> StoreError {
        StoreError::FileBusy { thing: path.into(), holder: self.lock_holder(path) }
    }

    /// The process that holds the kernel lock of a file, when it is known.
    pub(crate) fn lock_holder(&self, path: &str) -> Option<u32> {
        self.host.procs.lock_holder(self.vfs.meta(path).ok().flatten()?.ident)
    }
}

/// Whether another process holds the kernel lock of an open file. The lock is taken for an instant.
pub(crate) fn is_held_by_others(handle: &mut dyn Handle, path: &str, shared: bool) -> Result<bool> {
    let is_free = handle.try_lock(shared).map_err(StoreError::io("lock", path))?;
    if is_free {
        handle.unlock().map_err(StoreError::io("unlock", path))?;
    }
    Ok(!is_free)
}

fn has_name(handle: &dyn Handle, path: &str) -> Result<bool> {
    Ok(handle.meta().map_err(StoreError::io("look at", path))?.links > 0)
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
