//! The end of locks: release by grant or holder, release of all locks of a task, adoption by its supervisor, and the removal
//! of stale ones. Each lock goes in one transaction under its guard, after a comparison with the one that is meant.

use crate::model::lane::split_slot_stem;
use crate::model::{Grant, Judge, LaneName, LockKind, LockRecord, Sidecar, Task, TaskId, Verdict, loan};
use crate::os::Entry;
use crate::store::files::locks::acquire::broken;
use crate::store::{
    Break, FreedBy, Guards, Hold, Limits, LockView, Release, Released, Result, Spool, StoreError, layout, slots_in,
};

/// Results of a clean-up, or of its dry run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cleanup {
    /// Locks that were removed.
    pub broken: Vec<Break>,
    /// Dead tasks that hold locks and must be recovered.
    pub to_recover: Vec<TaskId>,
    /// Sidecars and temporary files without a lock that were removed.
    pub debris: Vec<String>,
    /// Lanes whose sidecar was lost or damaged while their holder lives, and was rewritten.
    pub rebuilt: Vec<String>,
    /// Locks whose guard was busy.
    pub skipped: Vec<String>,
}

/// A slot that a task holds.
pub(crate) struct Held {
    pub(crate) slot: u32,
    pub(crate) lock_id: String,
    /// The record in its sidecar, when that is valid.
    pub(crate) record: Option<Box<LockRecord>>,
}

/// Result of giving back the lock of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GivenBack {
    /// The lock is removed.
    Free,
    /// A process that the command left behind keeps the lock.
    Kept,
    /// Another process had released the lock.
    Gone,
}

/// The caller of a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// A caller that can name the lock, and so speaks for its holder.
    Holder,
    /// Any caller.
    Anybody,
}

impl Spool {
    /// Releases a lock of `lane` when it is the one that is meant and no living process holds it. A holder may also give back
    /// its lease, which may watch a process that lives on. If a task took several slots, all of them go.
    pub fn release(&self, lane: &LaneName, which: &Release, by: By, timeout_ms: u64, judge: Judge) -> Result<Released> {
        if !self.has_locks_to_change()? {
            return Ok(Released::Free);
        }
        let stem = lane.stem();
        let mut guards = self.enter_guards(&[lane])?;
        let limits = Limits { timeout_ms, max_age_ms: None };
        let mut others = Vec::new();
        for slot in self.occupied_slots(&stem)? {
            let Some(view) = self.view(&stem, slot, limits, judge)? else { continue };
            if is_meant(&view, which) || self.is_named_by_file(&stem, &view, which)? {
                return self.release_seen(&mut guards, lane, view, by);
            }
            others.push(LockView { lane: Some(lane.clone()), ..view });
        }
        Ok(match others.into_iter().next() {
            None => Released::Free,
            Some(view) => Released::NotYours(Box::new(view)),
        })
    }

    /// Whether a lock whose sidecar is gone is the one that is meant, by the content of its lock file.
    fn is_named_by_file(&self, stem: &str, view: &LockView, which: &Release) -> Result<bool> {
        if view.record().is_some() {
            return Ok(false);
        }
        let Some(grant) = self.granted_by_file(stem, view.slot)? else { return Ok(false) };
        let holder = grant.lock_id.0.rsplit_once('_').map(|(holder, _)| holder);
        Ok(match which {
            Release::LockId(id) => grant.lock_id.0 == *id,
            Release::Holder(name) => holder == Some(name.as_str()),
            Release::Anybody => true,
        })
    }

    fn release_seen(&self, guards: &mut Guards<'_>, lane: &LaneName, view: LockView, by: By) -> Result<Released> {
        let view = LockView { lane: Some(lane.clone()), ..view };
        let is_lease = view.record().is_some_and(|record| matches!(record.kind, LockKind::Lease | LockKind::Session));
        let is_given_back = is_lease && by == By::Holder;
        match &view.verdict {
            Verdict::Live { why, .. } if why.is_living_process() && !is_given_back => {
                Ok(Released::Living(Box::new(view)))
            }
            Verdict::Refused { .. } => Ok(Released::Living(Box::new(view))),
            Verdict::Live { .. } | Verdict::Stale { .. } => {
                if let Some(task) = self.task_to_recover(&lane.stem(), &view)? {
                    return Ok(Released::NeedsRecovery(task));
                }
                self.tell_keeper(&view)?;
                self.free_lock(guards, lane, view.slot, FreedBy::Other)?;
                self.free_others_of(guards, lane, &view)?;
                Ok(Released::Removed(Break { why: None, ..broken(lane, &view) }))
            }
        }
    }

    /// Releases the further slots of a task after one slot was released: its claim is dead, so the rest of it means nothing.
    fn free_others_of(&self, guards: &mut Guards<'_>, lane: &LaneName, released: &LockView) -> Result<()> {
        let is_of_task = released.record().is_some_and(|record| record.kind == LockKind::Task);
        let Some(task) = released.holder().and_then(TaskId::parse).filter(|_| is_of_task) else { return Ok(()) };
        let slots = self.occupied_slots(&lane.stem())?;
        for Held { slot, .. } in self.held_among(task, &lane.stem(), &slots)? {
            self.free_lock(guards, lane, slot, FreedBy::Other)?;
        }
        Ok(())
    }

    /// Releases a lock of kind `process` by the process that took it, when its command has ended. `file` is its open lock file,
    /// if the process still has it: it is closed without unlocking. If a process that the command left behind still holds the
    /// kernel lock, the lock stays until that process ends, unless it `closes` with the command.
    pub fn release_process(&self, grant: &Grant, file: Option<Hold>, closes: bool) -> Result<GivenBack> {
        let mut guards = self.enter_patiently(&grant.lane)?;
        drop(file);
        let stem = grant.lane.stem();
        let path = layout::lock_file(&stem, grant.slot);
        let is_ours = match self.read_sidecar(&layout::sidecar(&stem, grant.slot))? {
            Sidecar::Whole(record) => record.is_of(&grant.lock_id),
            // The sidecar was lost or damaged: the lock file itself names the grant.
            Sidecar::Missing | Sidecar::Corrupt => self.granted_by_file(&stem, grant.slot)?.as_ref() == Some(grant),
            Sidecar::Newer => false,
        };
        if !is_ours {
            return Ok(GivenBack::Gone);
        }
        if !closes && self.is_lock_file_held(&path)? {
            return Ok(GivenBack::Kept);
        }
        self.free_lock(&mut guards, &grant.lane, grant.slot, FreedBy::Other)?;
        Ok(GivenBack::Free)
    }

    /// Releases every lock that a task holds in `lanes`, in the reverse of the order given. `known` are the grants of its
    /// claim, as far as the caller knows them: a lane that still has all of these needs no further look. The caller holds the
    /// task's `supervisor.lock`, and the task's tree is dead. Idempotent.
    pub fn release_task(&self, task: TaskId, lanes: &[LaneName], known: &[Grant]) -> Result<Vec<Break>> {
        let (mut released, mut locks) = (Vec::new(), None);
        for lane in lanes.iter().rev() {
            let mut guards = self.enter_patiently(lane)?;
            for Held { slot, lock_id, .. } in self.slots_of(task, lane, known, &mut locks)? {
                self.free_lock(&mut guards, lane, slot, FreedBy::Task)?;
                released.push(Break::by_holder(lane, slot, lock_id, task.to_string()));
            }
        }
        Ok(released)
    }

    /// Gives up the slots of a lane that a waiting task holds, all or none. It gives up none if one of them is lent or borrowed:
    /// its other holder would be left without it. The caller holds the task's `supervisor.lock`.
    pub fn give_up_lane(&self, task: TaskId, lane: &LaneName, known: &[Grant]) -> Result<bool> {
        let mut guards = self.enter_patiently(lane)?;
        let held = self.slots_of(task, lane, known, &mut None)?;
        let occupied = self.occupied_slots(&lane.stem())?;
        let is_lent = |slot: u32| occupied.iter().any(|other| *other != slot && loan::root(*other) == loan::root(slot));
        if held.iter().any(|held| loan::is_loan(held.slot) || is_lent(held.slot)) {
            return Ok(false);
        }
        for Held { slot, .. } in held {
            self.free_lock(&mut guards, lane, slot, FreedBy::Task)?;
        }
        Ok(true)
    }

    /// Releases every lock that a task holds, in any lane, for a task whose record is damaged. The caller holds the task's
    /// `supervisor.lock`, and the task's tree is dead. Idempotent.
    pub fn release_all_of(&self, task: TaskId) -> Result<()> {
        for (stem, slot) in self.lock_stems()? {
            if self.task_in_lock_file(&layout::lock_file(&stem, slot)).ok().flatten() != Some(task) {
                continue;
            }
            let Some(lane) = self.lane_of_stem(&stem, slot)? else { continue };
            let mut guards = self.enter_patiently(&lane)?;
            if self.held_in(task, &stem, slot)?.is_some() {
                self.free_lock(&mut guards, &lane, slot, FreedBy::Task)?;
            }
        }
        Ok(())
    }

    /// Writes this process into every sidecar of a task, and returns the task's grants. The caller holds `supervisor.lock`.
    pub fn adopt(&self, task: TaskId, lanes: &[LaneName]) -> Result<Vec<Grant>> {
        let (mut grants, mut locks) = (Vec::with_capacity(lanes.len()), None);
        for lane in lanes {
            let _guards = self.enter_patiently(lane)?;
            for Held { slot, record, .. } in self.slots_of(task, lane, &[], &mut locks)? {
                let Some(mut record) = record else { continue };
                record.set_process(&self.host.me, self.host.own_origin());
                record.is_supervised = true;
                self.write_sidecar(lane, slot, &record, false)?;
                grants.push(record.grant(lane, slot));
            }
        }
        Ok(grants)
    }

    /// Whether a supervisor took over any lock of a task that was claimed. The caller holds `supervisor.lock`.
    pub fn was_adopted(&self, task: &Task) -> Result<bool> {
        let mut locks = None;
        for lane in task.all_lanes() {
            let held = self.slots_of(task.id, &lane, &[], &mut locks)?;
            if held.iter().any(|held| held.record.as_ref().is_some_and(|record| record.is_supervised)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Enters the guard of a lane. A process that has run a command, or supervises one, never gives up on a busy guard.
    pub(crate) fn enter_patiently(&self, lane: &LaneName) -> Result<Guards<'_>> {
        loop {
            match self.enter_guards(&[lane]) {
                Err(StoreError::GuardBusy { .. }) => {}
                other => return other,
            }
        }
    }

    /// The slots of `lane` that a task holds. If the task still holds all of the `known` grants, these are their slots.
    /// Otherwise a listing of all `locks` gives them; it is made at its first use. The listing may be older than the guard,
    /// in which the caller is: no other process takes locks for the task.
    pub(crate) fn slots_of(
        &self,
        task: TaskId,
        lane: &LaneName,
        known: &[Grant],
        locks: &mut Option<Vec<Entry>>,
    ) -> Result<Vec<Held>> {
        let stem = lane.stem();
        let granted: Vec<u32> = known.iter().filter(|grant| grant.lane == *lane).map(|grant| grant.slot).collect();
        let held = self.held_among(task, &stem, &granted)?;
        if !held.is_empty() && held.len() == granted.len() {
            return Ok(held);
        }
        let locks = match locks {
            Some(locks) => locks,
            None => locks.insert(self.list(layout::LOCKS)?),
        };
        self.held_among(task, &stem, &slots_in(locks, &stem))
    }

    fn held_among(&self, task: TaskId, stem: &str, slots: &[u32]) -> Result<Vec<Held>> {
        let mut held = Vec::with_capacity(slots.len());
        for slot in slots {
            held.extend(self.held_in(task, stem, *slot)?);
        }
        Ok(held)
    }

    /// A slot, when a task holds it. Only the process that holds a task's `supervisor.lock` takes locks for the task, so each
    /// lock of the task belongs to this claim or to a dead one.
    fn held_in(&self, task: TaskId, stem: &str, slot: u32) -> Result<Option<Held>> {
        let Sidecar::Whole(record) = self.read_sidecar(&layout::sidecar(stem, slot))? else {
            // The lock file itself names the grant.
            let named = self.named_in_lock_file(&layout::lock_file(stem, slot)).ok().flatten();
            let named = named.filter(|(holder, _)| *holder == task);
            return Ok(named.map(|(_, lock_id)| Held { slot, lock_id, record: None }));
        };
        let is_held = record.task() == Some(task);
        let lock_id = record.lock_id.clone().unwrap_or_default();
        Ok(is_held.then_some(Held { slot, lock_id, record: Some(record) }))
    }

    /// Removes every lock that is proven stale, and files that have no lock. With `dry_run`, only lists them. After an error,
    /// `done` has the results until then.
    pub fn clean_locks(
        &self,
        timeout_ms: &dyn Fn(&LaneName) -> u64,
        max_age_ms: Option<u64>,
        dry_run: bool,
        judge: Judge,
        done: &mut Cleanup,
    ) -> Result<()> {
        if !(if dry_run { self.has_locks()? } else { self.has_locks_to_change()? }) {
            return Ok(());
        }
        for (stem, slot) in self.lock_stems()? {
            let Some(lane) = self.lane_of_stem(&stem, slot)? else { continue };
            let limits = Limits { timeout_ms: timeout_ms(&lane), max_age_ms };
            let Some(mut guards) = self.guards_to_clean(&lane, dry_run)? else {
                done.skipped.push(lane.to_string());
                continue;
            };
            let Some(view) = self.view(&stem, slot, limits, judge)? else { continue };
            let Verdict::Stale { .. } = view.verdict else {
                let is_rebuilt = self.rebuild(&lane, &view, limits.timeout_ms, dry_run)?;
                done.rebuilt.extend(is_rebuilt.then(|| lane.to_string()));
                continue;
            };
            if let Some(task) = self.task_to_recover(&stem, &view)? {
                done.to_recover.push(task);
                continue;
            }
            if !dry_run {
                self.free_lock(&mut guards, &lane, slot, FreedBy::Other)?;
            }
            done.broken.push(broken(&lane, &view));
        }
        done.to_recover.sort_unstable();
        done.to_recover.dedup();
        self.clean_debris(dry_run, done)?;
        self.clean_sets(dry_run, &mut done.debris)?;
        self.clean_sessions(dry_run, &mut done.debris)
    }

    /// Enters the guard of a lane without waiting; a dry run makes none.
    fn guards_to_clean(&self, lane: &LaneName, dry_run: bool) -> Result<Option<Guards<'_>>> {
        if dry_run { self.try_guards(&self.guarded(lane)?) } else { self.try_guards(&[lane]) }
    }

    /// Removes sidecars and temporary files that have no lock, each under its guard.
    fn clean_debris(&self, dry_run: bool, done: &mut Cleanup) -> Result<()> {
        for entry in self.list(layout::LOCKS)? {
            if let Some(stem) = entry.name.strip_prefix('.').and_then(|name| name.strip_suffix(".line")) {
                let Some(lane) = self.lane_of_stem(stem, 0)? else { continue };
                let Some(_guards) = self.guards_to_clean(&lane, dry_run)? else { continue };
                if self.clean_line(stem, dry_run)? {
                    done.debris.push(entry.name.into());
                }
                continue;
            }
            let hidden = entry.name.strip_prefix('.').and_then(|name| name.strip_suffix(".json.tmp"));
            let Some(slot_stem) = hidden.or_else(|| entry.name.strip_suffix(".json")) else { continue };
            let Some((stem, slot)) = split_slot_stem(slot_stem) else { continue };
            let Some(lane) = self.lane_of_stem(stem, slot)? else { continue };
            let Some(_guards) = self.guards_to_clean(&lane, dry_run)? else { continue };
            // While the guard is held, a temporary file belongs to no process, and a sidecar belongs to its lock.
            if hidden.is_none() && self.lock_meta(&layout::lock_file(stem, slot))?.is_some() {
                continue;
            }
            let path = format!("{}/{}", layout::LOCKS, entry.name);
            if dry_run || self.unlink(&path)? {
                done.debris.push(entry.name.into());
            }
        }
        Ok(())
    }
}

fn is_meant(view: &LockView, which: &Release) -> bool {
    match which {
        Release::Anybody => true,
        Release::LockId(id) => view.lock_id() == Some(id),
        Release::Holder(name) => view.record().is_some_and(|record| record.is_held_by(name)),
    }
}
