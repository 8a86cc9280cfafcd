//! Guards: 256 permanent files. Their kernel locks cover every change of a lane's lock files, and they store the fences of
//! its lanes (`locks.md`). No process waits, executes or runs foreign code while it is in a guard.

use crate::model::{Fence, LaneName};
use crate::os::{Handle, Meta, Open, Published};
use crate::store::files::disk::counter::{self, CounterFile, CounterLine};
use crate::store::files::disk::lock_retry::{BackOff, FILE_WAIT_MS};
use crate::store::{Result, Spool, StoreError, layout};

/// The longest pause between two tries to enter a guard, in microseconds.
const PAUSE_MOST_US: u64 = 3000;

/// The guards of one or several lanes, held until dropped.
pub struct Guards<'a> {
    store: &'a Spool,
    held: Vec<(u8, Guard)>,
}

/// A guard that was entered.
struct Guard {
    handle: Box<dyn Handle>,
    /// Set where the file could be opened for reading only: the error of a change.
    denied: Option<StoreError>,
}

/// The guard of a lane: a hash of its name, so that it never changes.
pub fn bucket(lane: &LaneName) -> u8 {
    bucket_of_stem(&lane.stem())
}

/// Like `bucket`, by the stem of its lock files.
pub(crate) fn bucket_of_stem(lane_stem: &str) -> u8 {
    let [first, ..] = crc32fast::hash(lane_stem.as_bytes()).to_be_bytes();
    first
}

impl Spool {
    /// Enters the guards of all `lanes`: the first with patience, the further ones without waiting; all or none.
    pub(crate) fn enter_guards(&self, lanes: &[&LaneName]) -> Result<Guards<'_>> {
        self.enter_guards_within(lanes, FILE_WAIT_MS)
    }

    /// Like `enter_guards`, with a patience in milliseconds.
    pub(crate) fn enter_guards_within(&self, lanes: &[&LaneName], patience_ms: u64) -> Result<Guards<'_>> {
        let mut back_off = BackOff::new(self, patience_ms, PAUSE_MOST_US);
        loop {
            if let Some(guards) = self.try_guards(lanes)? {
                return Ok(guards);
            }
            if !back_off.pause(self) {
                return Err(self.guard_busy(lanes[0]));
            }
        }
    }

    /// Enters the guards of all `lanes` without waiting; `None` when one of them is busy.
    pub(crate) fn try_guards(&self, lanes: &[&LaneName]) -> Result<Option<Guards<'_>>> {
        let mut buckets: Vec<u8> = lanes.iter().map(|lane| bucket(lane)).collect();
        buckets.sort_unstable();
        buckets.dedup();
        self.try_buckets(&buckets)
    }

    /// Enters guards by their numbers, in order, without waiting; `None` when one of them is busy.
    pub(crate) fn try_buckets(&self, buckets: &[u8]) -> Result<Option<Guards<'_>>> {
        // Also without a bucket to enter: leaving lets the signals through again.
        self.host.procs.hold_stop_signals(true);
        let mut guards = Guards { store: self, held: Vec::with_capacity(buckets.len()) };
        for bucket in buckets {
            match self.try_guard(*bucket)? {
                Some(guard) => guards.held.push((*bucket, guard)),
                None => return Ok(None),
            }
        }
        Ok(Some(guards))
    }

    /// Enters the guard of a lane for a look only, and makes none. If it does not exist, luzia has never held the lane, and
    /// no change has to be kept out.
    pub(crate) fn enter_to_look(&self, lane: &LaneName) -> Result<Guards<'_>> {
        self.enter_guards(&self.guarded(lane)?)
    }

    /// The lane itself when its guard exists, nothing otherwise.
    pub(crate) fn guarded<'a>(&self, lane: &'a LaneName) -> Result<Vec<&'a LaneName>> {
        Ok(if self.meta(&layout::guard(bucket(lane)))?.is_some() { vec![lane] } else { Vec::new() })
    }

    fn try_guard(&self, bucket: u8) -> Result<Option<Guard>> {
        let path = layout::guard(bucket);
        loop {
            let (mut handle, denied) = match self.open_or_make(&path) {
                // A process that may only read changes nothing; its lock keeps writers out while it looks.
                Err(error) if error.is_denied() => match self.open(&path, Open::ReadOnly)? {
                    Some(handle) => (handle, Some(error)),
                    None => return Err(error),
                },
                other => (other?, None),
            };
            if !handle.try_lock(false).map_err(StoreError::io("lock", &path))? {
                return Ok(None);
            }
            let meta = handle.meta().map_err(StoreError::io("look at", &path))?;
            match meta.links {
                1 => return Ok(Some(Guard { handle, denied })),
                // A guard that was removed by hand before this process locked it guards nothing.
                0 => {}
                _ => self.renew_guard(bucket, handle.as_mut(), &meta)?,
            }
        }
    }

    /// Puts a new file in the place of a guard that has other names as well: a write would appear under them, and two guards of
    /// one file would be one kernel lock. The fences continue past every fence that the old file, the clock and the locks show.
    /// The caller holds the kernel lock of the old file.
    fn renew_guard(&self, bucket: u8, handle: &mut dyn Handle, old: &Meta) -> Result<()> {
        let path = layout::guard(bucket);
        if self.meta(&path)?.is_none_or(|found| found.ident != old.ident) {
            return Ok(());
        }
        let given = match counter::read(handle, &path)? {
            CounterFile::Line(line) => line.next.max(line.pending).max(line.reserved),
            CounterFile::Empty | CounterFile::Damaged => 0,
        };
        let last = given.max(self.highest_fence(bucket)?).max(self.clock_fence());
        let boot_id = self.host.clock.boot_id();
        let line = CounterLine { next: last, pending: last, reserved: last, boot_id };
        let tmp = format!("{path}.tmp");
        self.stage(&tmp, &line.to_bytes())?;
        // Under its new name the old file keeps several names, so that a process that has it open does not take it for the
        // guard.
        let wrong = StoreError::corrupt(&path, format!("it has {} names", old.links));
        if self.set_aside(&wrong).is_err() {
            self.rename(&path, &format!("{path}.aside"))?;
        }
        // Another process may have made one meanwhile, and be in it.
        if self.vfs.publish(&tmp, &path).map_err(StoreError::io("publish", &path))? != Published::Done {
            self.unlink(&tmp)?;
        }
        self.sync_dir(layout::GUARDS)
    }

    /// The least fence when there is no trace of earlier ones.
    fn clock_fence(&self) -> u64 {
        u64::try_from(self.host.clock.now().0).unwrap_or(0).saturating_mul(1000)
    }

    fn guard_busy(&self, lane: &LaneName) -> StoreError {
        StoreError::GuardBusy { lane: lane.clone(), holder: self.lock_holder(&layout::guard(bucket(lane))) }
    }
}

impl Guards<'_> {
    /// Whether no guard was entered.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The last fence that this host may have given in the guard of a lane. The clock counts for a damaged guard only: the
    /// scheduler gave a grant before its claim, so a new guard must not be past it.
    pub(crate) fn last_fence(&mut self, lane: &LaneName) -> Result<u64> {
        let (wanted, store) = (bucket(lane), self.store);
        let path = layout::guard(wanted);
        Ok(match counter::read(self.guard_of(wanted).handle.as_mut(), &path)? {
            CounterFile::Line(line) => line.last(&store.host.clock.boot_id()),
            CounterFile::Empty => store.highest_fence(wanted)?,
            // It is mended, so that a later grant is past it.
            CounterFile::Damaged => self.next_fence(lane, 0)?.0,
        })
    }

    /// Takes the fence of a grant, so that every later fence of this host is greater. The caller has compared the fence with
    /// [`Self::last_fence`]. A lane of the same guard may have taken a greater one since, for the same task.
    pub(crate) fn take_granted(&mut self, lane: &LaneName, fence: Fence) -> Result<Fence> {
        let (wanted, store) = (bucket(lane), self.store);
        let last = self.last_fence(lane)?;
        if fence.0 > last {
            let settle = || store.sync_dir(layout::GUARDS);
            let (path, boot_id) = (layout::guard(wanted), store.host.clock.boot_id());
            counter::take(self.writable(wanted)?, &path, &boot_id, fence.0 - last, |_| Ok(last), settle)?;
        }
        Ok(fence)
    }

    fn guard_of(&mut self, wanted: u8) -> &mut Guard {
        let held = self.held.iter_mut().find_map(|(bucket, guard)| (*bucket == wanted).then_some(guard));
        held.expect("the guard of the lane was entered")
    }

    /// The file of a guard, for a change of it.
    fn writable(&mut self, wanted: u8) -> Result<&mut dyn Handle> {
        let guard = self.guard_of(wanted);
        match guard.denied.take() {
            Some(error) => Err(error),
            None => Ok(guard.handle.as_mut()),
        }
    }

    /// Takes the next fence of a lane. A new or damaged guard continues past the clock, past every visible fence of its
    /// lanes, and past `seen`, of locks that were removed just now.
    pub(crate) fn next_fence(&mut self, lane: &LaneName, seen: u64) -> Result<Fence> {
        let wanted = bucket(lane);
        let store = self.store;
        let path = layout::guard(wanted);
        let fallback = |_: &CounterFile| Ok(store.highest_fence(wanted)?.max(store.clock_fence()).max(seen));
        let settle = || store.sync_dir(layout::GUARDS);
        counter::take(self.writable(wanted)?, &path, &store.host.clock.boot_id(), 1, fallback, settle).map(Fence)
    }
}

impl Drop for Guards<'_> {
    fn drop(&mut self) {
        // An explicit unlock first: a child forked meanwhile may share the description, and closing would not be enough.
        for (_, guard) in self.held.iter_mut().rev() {
            let _ = guard.handle.unlock();
        }
        self.held.clear();
        self.store.host.procs.hold_stop_signals(false);
    }
}
