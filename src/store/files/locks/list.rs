//! A look at locks: gathers the evidence for the judge under a lane's guard, and lists every lock with its verdict. Changes
//! nothing.

use crate::model::evidence::{Evidence, HolderHost, KernelLock};
use crate::model::lane::is_user_stem;
use crate::model::sorted::{sort, sort_by, sort_by_key};
use crate::model::{Fence, Judge, LaneName, LockKind, LockRecord, Reason, Sidecar, TaskId, Timestamp, Verdict, loan};
use crate::os::{Entry, FileKind, Open};
use crate::store::files::disk::lock_retry::is_held_by_others;
use crate::store::files::locks::bucket::{bucket, bucket_of_stem};
use crate::store::files::locks::second::slot_of_name;
use crate::store::files::locks::sidecar;
use crate::store::{Guards, Result, Spool, StoreError, layout};

/// One lock as it was found, with the verdict on its holder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockView {
    /// The lane; `None` for a hashed name whose sidecar does not name it.
    pub lane: Option<LaneName>,
    /// The name of the lock file, without the ending.
    pub(in crate::store) stem: String,
    /// The slot of the lock.
    pub slot: u32,
    /// Content of the sidecar.
    pub sidecar: Sidecar,
    /// Whether the holder lives.
    pub verdict: Verdict,
    /// Milliseconds since the last refresh.
    pub age_ms: u64,
    /// Milliseconds since the grant.
    pub held_ms: u64,
}

impl LockView {
    /// A hold in a store of several hosts, as its record says. `age_ms` counts from the last renewal of the lease of its
    /// host, `held_ms` from the grant.
    pub fn shared(record: LockRecord, slot: u32, is_silent: bool, age_ms: u64, held_ms: u64) -> Self {
        let why = if is_silent { Reason::HostSilent } else { Reason::HostLives };
        let (lane, sidecar) = (record.lane.clone(), Sidecar::Whole(Box::new(record)));
        let verdict = Verdict::Live { why, overdue: is_silent };
        Self {
            stem: lane.as_ref().map(LaneName::stem).unwrap_or_default(),
            lane,
            slot,
            sidecar,
            verdict,
            age_ms,
            held_ms,
        }
    }

    /// The record, when the sidecar is valid.
    pub fn record(&self) -> Option<&LockRecord> {
        self.sidecar.record()
    }

    /// The task that holds the lock; `None` for leases and `luzia lock`.
    pub fn task(&self) -> Option<TaskId> {
        let record = self.record().filter(|record| record.kind == LockKind::Task)?;
        TaskId::parse(record.task_id.as_deref()?)
    }

    /// `task_<n>` or the name given to `acquire`, when it is known.
    pub fn holder(&self) -> Option<&str> {
        self.record()?.task_id.as_deref()
    }

    /// The holder in words for people, when it is known.
    pub fn shown(&self) -> Option<String> {
        self.record()?.shown()
    }

    /// The id of the grant, when it is known.
    pub fn lock_id(&self) -> Option<&str> {
        self.record()?.lock_id.as_deref()
    }

    /// The fence of the grant, when it is known.
    pub fn fence(&self) -> Option<Fence> {
        self.record()?.fence
    }

    /// The path of the lock file in the state directory.
    pub fn path(&self) -> String {
        format!("{}/{}.lock", layout::LOCKS, self.stem)
    }

    /// The name of the lane for people, even when it is only known by its file.
    pub fn lane_name(&self) -> String {
        self.lane.as_ref().map_or_else(|| self.stem.clone(), LaneName::to_string)
    }
}

/// The derived state of a lock: `held`, `stale`, `orphan`, `overdue` or `refused`. Never stored.
pub fn lock_state(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Live { why: Reason::CommandLives, .. } => "orphan",
        Verdict::Live { overdue: true, .. } => "overdue",
        Verdict::Live { .. } => "held",
        Verdict::Stale { .. } => "stale",
        Verdict::Refused { .. } => "refused",
    }
}

/// Number of locks that are judged under one hold of a guard when all are listed.
const JUDGED_AT_ONCE: usize = 8;

/// The limits of time by which locks are judged.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub timeout_ms: u64,
    pub max_age_ms: Option<u64>,
}

/// The occupied slots of all lanes at one moment, in order. It is for a caller that looks at many lanes, because each look by
/// itself lists all locks.
#[derive(Debug, Default)]
pub struct LockIndex(Vec<(String, u32)>);

impl LockIndex {
    /// Number of occupied slots.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The lanes that have a lock, as far as the names of their files show them.
    pub fn lanes(&self) -> impl Iterator<Item = LaneName> {
        self.0.chunk_by(|one, next| one.0 == next.0).filter_map(|slots| LaneName::from_stem(&slots[0].0))
    }

    /// The occupied slots of a lane, in order.
    pub(crate) fn slots(&self, lane_stem: &str) -> impl Iterator<Item = u32> {
        let first = self.0.partition_point(|(stem, _)| stem.as_str() < lane_stem);
        self.0[first..].iter().take_while(move |(stem, _)| stem == lane_stem).map(|(_, slot)| *slot)
    }

    /// Number of holders of a lane: lenders and their borrowers count as one.
    pub fn holders(&self, lane: &LaneName) -> u32 {
        loan::holders(self.slots(&lane.stem()))
    }
}

/// The slots of a lane in a listing of all locks, in order.
pub(crate) fn slots_in(locks: &[Entry], lane_stem: &str) -> Vec<u32> {
    let stems = locks.iter().filter_map(|entry| slot_of_name(&entry.name));
    let mut slots: Vec<u32> = stems.filter(|(stem, _)| *stem == lane_stem).map(|(_, slot)| slot).collect();
    sort(&mut slots);
    slots.dedup();
    slots
}

impl Spool {
    /// Whether the first place of a lane has a lock, dead or alive. The look takes no guard, so it is no proof.
    pub fn is_taken(&self, lane: &LaneName) -> bool {
        self.vfs.meta(&layout::lock_file(&lane.stem(), 0)).is_ok_and(|meta| meta.is_some())
    }

    /// The slots of a lane that are occupied, in order. The caller is in the lane's guard.
    pub(crate) fn occupied_slots(&self, lane_stem: &str) -> Result<Vec<u32>> {
        Ok(slots_in(&self.list(layout::LOCKS)?, lane_stem))
    }

    /// The highest fence among the locks of all lanes of a guard; 0 without locks. The caller is in the guard.
    pub(crate) fn highest_fence(&self, guard: u8) -> Result<u64> {
        let mut highest = 0;
        for (stem, slot) in self.lock_stems()?.into_iter().filter(|(stem, _)| bucket_of_stem(stem) == guard) {
            let sidecar = self.read_sidecar(&layout::sidecar(&stem, slot))?;
            highest = highest.max(sidecar.record().and_then(|record| record.fence).map_or(0, |fence| fence.0));
        }
        Ok(highest)
    }

    /// The whole evidence on one lock; `None` when its `.lock` does not exist. The caller is in the guard.
    pub(crate) fn evidence(&self, lane_stem: &str, slot: u32, limits: Limits) -> Result<Option<Evidence>> {
        let lock_path = layout::lock_file(lane_stem, slot);
        let Some(lock) = self.lock_meta(&lock_path)? else { return Ok(None) };
        let sidecar_path = layout::sidecar(lane_stem, slot);
        let sidecar_meta = self.meta(&sidecar_path)?;
        let is_regular = lock.kind == FileKind::File;
        let sidecar = match &sidecar_meta {
            Some(meta) if meta.kind == FileKind::File => self.read_sidecar(&sidecar_path)?,
            Some(_) => Sidecar::Corrupt,
            None => Sidecar::Missing,
        };
        let kernel_lock = if is_regular { self.kernel_lock(&lock_path, &sidecar)? } else { KernelLock::Free };
        let (outlook, process, command) = match sidecar.record() {
            Some(record) if kernel_lock == KernelLock::Free => self.host.look_at_holder(record),
            _ => (None, None, None),
        };
        let set = sidecar.record().and_then(|record| record.set.as_deref());
        Ok(Some(Evidence {
            is_incomplete: set.map_or(Ok(false), |set| self.is_incomplete(set))?,
            is_regular,
            is_own: lock.uid == self.host.uid,
            lock_modified: lock.modified,
            sidecar_modified: sidecar_meta.map(|meta| meta.modified),
            // The files of one state directory belong to one host.
            host: HolderHost::Here,
            // After the kernel lock: a supervisor gives that up when its task is in `waiting`.
            is_waiting: is_regular
                && kernel_lock == KernelLock::Free
                && self.is_kept_by_wait(lane_stem, &lock_path, &sidecar)?,
            kernel_lock,
            process,
            command,
            outlook,
            sidecar,
            now: self.host.clock.now(),
            boot_ms: self.host.clock.boot_ms(),
            boot_id: self.host.clock.boot_id(),
            timeout_ms: limits.timeout_ms,
            max_age_ms: limits.max_age_ms,
        }))
    }

    /// One lock with its verdict. The caller is in the guard.
    pub(crate) fn view(&self, lane_stem: &str, slot: u32, limits: Limits, judge: Judge) -> Result<Option<LockView>> {
        let Some(evidence) = self.evidence(lane_stem, slot, limits)? else { return Ok(None) };
        let verdict = judge(&evidence);
        let recorded = evidence.sidecar.record().and_then(|record| record.lane.clone());
        let acquired = evidence.sidecar.record().and_then(|record| record.acquired_at);
        let refreshed = evidence.sidecar.record().and_then(|record| record.refreshed_at).or(acquired);
        let since = |at: Option<Timestamp>| evidence.now.saturating_ms_since(at.unwrap_or(evidence.lock_modified));
        let (age_ms, held_ms) = (since(refreshed), since(acquired.or(refreshed)));
        Ok(Some(LockView {
            // The file's name excludes other holders; a sidecar that names another lane is not believed.
            lane: LaneName::from_stem(lane_stem).or(recorded.filter(|lane| lane.stem() == lane_stem)),
            stem: crate::model::lane::slot_stem(lane_stem, slot),
            slot,
            sidecar: evidence.sidecar,
            verdict,
            age_ms,
            held_ms,
        }))
    }

    /// Every holder of a lane, judged under its guard.
    pub fn holders(&self, lane: &LaneName, timeout_ms: u64, judge: Judge) -> Result<Vec<LockView>> {
        if !self.has_locks()? {
            return Ok(Vec::new());
        }
        let mut guards = self.enter_to_look(lane)?;
        let mut slots = self.occupied_slots(&lane.stem())?;
        if guards.is_empty() && !slots.is_empty() {
            // The guard was made, and the lane was taken, since the look for the guard.
            guards = self.enter_to_look(lane)?;
            slots = self.occupied_slots(&lane.stem())?;
        }
        self.views(lane, slots, guards, timeout_ms, judge)
    }

    /// The holders of a lane among those that an index knows. A later holder is not seen.
    pub fn holders_in(
        &self,
        index: &LockIndex,
        lane: &LaneName,
        timeout_ms: u64,
        judge: Judge,
    ) -> Result<Vec<LockView>> {
        let slots: Vec<u32> = index.slots(&lane.stem()).collect();
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        let guards = self.enter_to_look(lane)?;
        self.views(lane, slots, guards, timeout_ms, judge)
    }

    /// The slots of all lanes that are occupied right now, by one listing.
    pub fn lock_index(&self) -> Result<LockIndex> {
        self.lock_stems().map(LockIndex)
    }

    fn views(
        &self,
        lane: &LaneName,
        slots: Vec<u32>,
        guards: Guards<'_>,
        timeout_ms: u64,
        judge: Judge,
    ) -> Result<Vec<LockView>> {
        let stem = lane.stem();
        let limits = Limits { timeout_ms, max_age_ms: None };
        let views: Result<Vec<_>> = slots.into_iter().map(|slot| self.view(&stem, slot, limits, judge)).collect();
        let mut views: Vec<LockView> = views?.into_iter().flatten().collect();
        drop(guards);
        for view in &mut views {
            view.lane.get_or_insert_with(|| lane.clone());
        }
        Ok(views)
    }

    /// Every lock, ordered by the time of its last refresh (S0.27).
    pub fn all_locks(&self, timeout_ms: &dyn Fn(&LaneName) -> u64, judge: Judge) -> Result<Vec<LockView>> {
        self.judge_each(self.lock_stems()?, timeout_ms, judge)
    }

    /// The locks of all lanes but global, `most` of them at most, the first by name, in the same order; and the number of locks
    /// that were not looked at.
    pub fn shown_locks(
        &self,
        most: usize,
        timeout_ms: &dyn Fn(&LaneName) -> u64,
        judge: Judge,
    ) -> Result<(Vec<LockView>, usize)> {
        let mut stems = self.lock_stems()?;
        let global = LaneName::global().stem();
        stems.retain(|(stem, _)| *stem != global);
        // Users first.
        sort_by_key(&mut stems, |(stem, _)| !is_user_stem(stem));
        let unseen = stems.len().saturating_sub(most);
        stems.truncate(most);
        Ok((self.judge_each(stems, timeout_ms, judge)?, unseen))
    }

    /// Locks by their stems and slots, each judged under its lane's guard, ordered by the time of their last refresh.
    fn judge_each(
        &self,
        stems: Vec<(String, u32)>,
        timeout_ms: impl Fn(&LaneName) -> u64,
        judge: Judge,
    ) -> Result<Vec<LockView>> {
        let (mut views, mut known) = (Vec::new(), Vec::new());
        for (stem, slot) in stems {
            match self.lane_of_stem(&stem, slot)? {
                Some(lane) => known.push((bucket(&lane), lane, slot)),
                None => views.push(LockView {
                    lane: None,
                    stem: crate::model::lane::slot_stem(&stem, slot),
                    slot,
                    sidecar: Sidecar::Missing,
                    verdict: Verdict::Refused { why: Reason::NotProvenDead },
                    age_ms: 0,
                    held_ms: 0,
                }),
            }
        }
        // Lanes that share a guard are looked at together, but few at a time, so that no process waits long for the guard.
        sort_by_key(&mut known, |(bucket, ..)| *bucket);
        for some in known.chunk_by(|one, next| one.0 == next.0).flat_map(|group| group.chunks(JUDGED_AT_ONCE)) {
            let _guards = self.enter_to_look(&some[0].1)?;
            for (_, lane, slot) in some {
                let limits = Limits { timeout_ms: timeout_ms(lane), max_age_ms: None };
                let view = self.view(&lane.stem(), *slot, limits, judge)?;
                views.extend(view.map(|view| LockView { lane: Some(lane.clone()), ..view }));
            }
        }
        let locked_at = |view: &LockView| view.record().and_then(|record| record.refreshed_at.or(record.acquired_at));
        sort_by(&mut views, |one, other| (locked_at(one), &one.stem).cmp(&(locked_at(other), &other.stem)));
        Ok(views)
    }

    /// The lane stems and slots of every lock file, in order.
    pub(crate) fn lock_stems(&self) -> Result<Vec<(String, u32)>> {
        let mut stems: Vec<(String, u32)> = self
            .list(layout::LOCKS)?
            .iter()
            .filter_map(|entry| slot_of_name(&entry.name))
            .map(|(stem, slot)| (stem.to_owned(), slot))
            .collect();
        sort(&mut stems);
        stems.dedup();
        Ok(stems)
    }

    /// The lane of a lock file: by its name, or, for a hashed name, by its sidecar.
    pub(crate) fn lane_of_stem(&self, stem: &str, slot: u32) -> Result<Option<LaneName>> {
        if let Some(lane) = LaneName::from_stem(stem) {
            return Ok(Some(lane));
        }
        let sidecar = self.read_sidecar(&layout::sidecar(stem, slot))?;
        let lane = sidecar.record().and_then(|record| record.lane.clone());
        Ok(lane.filter(|lane| lane.stem() == stem))
    }

    pub(crate) fn read_sidecar(&self, path: &str) -> Result<Sidecar> {
        let mut handle = match self.vfs.open(path, Open::ReadOnly) {
            Ok(Some(handle)) => handle,
            Ok(None) => return Ok(Sidecar::Missing),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => return Ok(Sidecar::Corrupt),
            Err(error) => return Err(StoreError::io("open", path)(error)),
        };
        match handle.read_all(sidecar::MAX_SIDECAR_BYTES) {
            Ok(bytes) => Ok(self.parsed.sidecar(bytes, self.host.root())),
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Ok(Sidecar::Corrupt),
            Err(error) => Err(StoreError::io("read", path)(error)),
        }
    }

    /// The kernel lock that proves the holder's life. It is also looked at when the sidecar is damaged, because the lock file
    /// itself names the grant.
    fn kernel_lock(&self, lock_path: &str, sidecar: &Sidecar) -> Result<KernelLock> {
        let (task, may_hold_file) = match sidecar.record() {
            Some(record) => (record.task(), matches!(record.kind, LockKind::Process | LockKind::Session)),
            None => (self.task_in_lock_file(lock_path)?, true),
        };
        if let Some(task) = task {
            if self.run_dir.is_supervised(task)? {
                return Ok(KernelLock::Supervisor);
            }
            if self.run_dir.is_tree_locked(task)? {
                return Ok(KernelLock::Tree);
            }
        }
        if may_hold_file && self.is_lock_file_held(lock_path)? {
            return Ok(KernelLock::LockFile);
        }
        Ok(KernelLock::Free)
    }

    /// The task that the content of a lock file, `<lock_id> <fence>`, names.
    pub(crate) fn task_in_lock_file(&self, lock_path: &str) -> Result<Option<TaskId>> {
        Ok(self.named_in_lock_file(lock_path)?.map(|(task, _)| task))
    }

    /// Like `task_in_lock_file`, with the lock id.
    pub(crate) fn named_in_lock_file(&self, lock_path: &str) -> Result<Option<(TaskId, String)>> {
        let Some(mut handle) = self.open_lock(lock_path, Open::ReadOnly)? else { return Ok(None) };
        let bytes = handle.read_part(0, 4096).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lock_id = text.split(' ').next().unwrap_or_default();
        let holder = lock_id.rsplit_once('_').map(|(holder, _)| holder).filter(|holder| holder.starts_with("task_"));
        Ok(holder.and_then(TaskId::parse).map(|task| (task, lock_id.to_owned())))
    }

    /// Whether any process holds the kernel lock of a lock file, also a shared one, as for a session. The caller is in the
    /// guard, so that no two lookers and no acquirer disturb each other.
    pub(crate) fn is_lock_file_held(&self, path: &str) -> Result<bool> {
        let Some(mut handle) = self.open_lock(path, Open::ReadOnly)? else { return Ok(false) };
        is_held_by_others(handle.as_mut(), path, false)
    }
}
