//! The lock protocol of `locks.md`: acquire, adopt, refresh and release, each one transaction under the lane's guard.
//! Commit points: acquire is the O_EXCL open of `.lock`, release and break are its unlink, refresh is the rename of
//! `.json`. The sidecar comes before the lock and goes after it, so that a visible lock is always described.

use crate::model::evidence::{Judge, Sidecar, Verdict};
use crate::model::lock::Grant;
use crate::model::lock::loan::{self, Lent};
use crate::model::{Fence, LaneName, LockId, LockKind, LockRecord, TaskId, Timestamp};
use crate::os::{Entry, Handle, Open};
use crate::store::FileStore;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::layout;
use crate::store::files::disk::lock_retry::FILE_WAIT_MS;
use crate::store::files::locks::bucket::Guards;
use crate::store::files::locks::line::InLine;
use crate::store::files::locks::list::{Limits, LockView, slots_in};
use crate::store::files::locks::request::{Acquired, Break, LaneNeed, NotNow, Request};
use crate::store::files::locks::sidecar;
use crate::store::hold::Hold;
use std::collections::BTreeSet;

/// What is to be done in one lane of a request.
struct Choice {
    slot: u32,
    /// The slot from which the lane is borrowed.
    lender: Option<u32>,
    /// What the slot stands for, where it has a name.
    value: Option<String>,
    breaks: Vec<Break>,
    fence_seen: u64,
}

enum Chosen {
    Take(Choice),
    Refresh(u32, Box<LockRecord>),
    Held(Box<LockView>),
    NotNow(NotNow),
    NeedsRecovery(TaskId),
}

impl FileStore {
    /// Takes all lanes of a request, or none, without a look at the line.
    pub fn acquire(&self, request: &Request, judge: Judge) -> Result<Acquired> {
        self.acquire_by(request, judge, None)
    }

    /// Takes all lanes of a request, or none, when it is their asker's turn. One that waits gets a place in the line of the
    /// first lane that it cannot have, in the same hold of the guard, so it misses no call; with the grant it leaves that.
    pub fn acquire_in_line(&self, request: &Request, judge: Judge, in_line: &mut InLine<'_>) -> Result<Acquired> {
        self.acquire_by(request, judge, Some(in_line))
    }

    fn acquire_by(&self, request: &Request, judge: Judge, mut in_line: Option<&mut InLine<'_>>) -> Result<Acquired> {
        let lanes: Vec<&LaneName> = request.needs.iter().map(|need| &need.lane).collect();
        let patience_ms = in_line.as_ref().map_or(FILE_WAIT_MS, |in_line| in_line.patience_ms());
        let mut guards = self.enter_guards_within(&lanes, patience_ms)?;
        let locks = self.list(layout::LOCKS)?;
        let mut choices = Vec::with_capacity(request.needs.len());
        for need in &request.needs {
            match self.choose_slot(need, &locks, request, judge)? {
                Chosen::Take(choice) => choices.push(choice),
                Chosen::Held(view) => {
                    in_line.into_iter().for_each(|line| self.stand(&need.lane.stem(), line, Some(&view)));
                    return Ok(Acquired::Held(view));
                }
                Chosen::NotNow(why) => {
                    in_line.into_iter().for_each(|line| self.stand(&need.lane.stem(), line, None));
                    return Ok(Acquired::NotNow(why));
                }
                Chosen::NeedsRecovery(task) => return Ok(Acquired::NeedsRecovery(task)),
                Chosen::Refresh(slot, record) => {
                    return self.refresh_lease(need, slot, *record, request).map(Acquired::Refreshed);
                }
            }
        }
        for (need, choice) in request.needs.iter().zip(&choices).filter(|(_, choice)| choice.lender.is_none()) {
            // A lane that is lent never gets free for those who wait in its line, and a loan is no grant of its own.
            let stem = need.lane.stem();
            let is_broken = |slot: &u32| choice.breaks.iter().any(|lock| lock.slot == *slot);
            let used = loan::holders(slots_in(&locks, &stem).into_iter().filter(|slot| !is_broken(slot)));
            if let Some(answer) = self.beyond_limit(need, used, 1, &locks)? {
                in_line.into_iter().for_each(|in_line| self.stand(&stem, in_line, None));
                return Ok(answer);
            }
            if let Some(in_line) = in_line.as_mut()
                && !self.has_turn(&stem, &locks, in_line)?
            {
                self.stand(&stem, in_line, None);
                return Ok(Acquired::Behind);
            }
        }
        let Some(in_line) = in_line.as_mut() else { return self.take_all(request, choices, &mut guards, judge) };
        let answer = self.take_all(request, choices, &mut guards, judge)?;
        if matches!(answer, Acquired::Granted { .. }) {
            self.leave_with_lane(in_line, request.needs.iter().map(|need| need.limit).max().unwrap_or(1));
        }
        Ok(answer)
    }

    fn take_all(&self, request: &Request, choices: Vec<Choice>, guards: &mut Guards, judge: Judge) -> Result<Acquired> {
        let (mut grants, mut broken, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for (need, choice) in request.needs.iter().zip(choices) {
            let slot = choice.slot;
            match self.take_slot(need, choice, request, guards, &mut broken) {
                Ok(Some((grant, file))) => {
                    grants.push(grant);
                    files.extend(file);
                }
                Ok(None) => {
                    // Another program created the file between our look and our open: honour it.
                    self.give_back(guards, &grants)?;
                    let limits = Limits { timeout_ms: need.timeout_ms, max_age_ms: None };
                    if let Some(view) = self.view(&need.lane.stem(), slot, limits, judge)? {
                        return Ok(Acquired::Held(Box::new(view)));
                    }
                    return Err(StoreError::io("create", &layout::lock_file(&need.lane.stem(), slot))(
                        std::io::ErrorKind::AlreadyExists.into(),
                    ));
                }
                Err(error) => {
                    self.give_back(guards, &grants)?;
                    return Err(error);
                }
            }
        }
        if let Err(error) = self.count_grants(&request.needs, &grants, |grant| loan::is_loan(grant.slot)) {
            self.give_back(guards, &grants)?;
            return Err(error);
        }
        Ok(Acquired::Granted { grants, broken, files })
    }

    fn give_back(&self, guards: &mut Guards<'_>, grants: &[Grant]) -> Result<()> {
        for grant in grants.iter().rev() {
            self.return_loan(guards, &grant.lane, grant.slot);
            self.remove_lock(&grant.lane.stem(), grant.slot)?;
        }
        Ok(())
    }

    /// Decides under the guard what to do in one lane: take a free slot, break stale ones, refresh one's own, or give up.
    fn choose_slot(&self, need: &LaneNeed, locks: &[Entry], request: &Request, judge: Judge) -> Result<Chosen> {
        let stem = need.lane.stem();
        let occupied = slots_in(locks, &stem);
        let has_room = loan::holders(occupied.iter().copied()) < need.limit;
        let roots = occupied.iter().copied().map(loan::root).collect();
        let mut choice =
            Choice { slot: loan::free_slot(&roots), lender: None, value: None, breaks: Vec::new(), fence_seen: 0 };
        let need_not_look = match request.kind {
            _ if need.values.is_some() || need.is_shut => false,
            LockKind::Process => has_room,
            LockKind::Task => {
                let is_plain = has_room && request.lenders.is_empty();
                is_plain && self.holds_other_tasks_only(&stem, &occupied, &request.holder)
            }
            _ => false,
        };
        if need_not_look {
            return Ok(Chosen::Take(choice));
        }
        let limits = Limits { timeout_ms: need.timeout_ms, max_age_ms: None };
        let (mut living, mut dead, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        for slot in occupied {
            let Some(view) = self.view(&stem, slot, limits, judge)? else { continue };
            choice.fence_seen = choice.fence_seen.max(view.record().and_then(|r| r.fence).map_or(0, |fence| fence.0));
            let standing = self.standing(&stem, &view, request)?;
            if !matches!(standing, Standing::Breakable) {
                taken.push((loan::root(slot), view.record().and_then(|record| record.value.clone())));
            }
            match standing {
                Standing::Own(record) => return Ok(Chosen::Refresh(slot, record)),
                Standing::Breakable => choice.breaks.push(broken(&need.lane, &view)),
                Standing::Dead(task) => dead.push((slot, task)),
                Standing::Living => living.push(view),
            }
        }
        Ok(match choose_among(need, request, choice, living, &dead) {
            Chosen::Take(choice) if choice.lender.is_none() => match self.name_slot(need, &taken, choice.slot) {
                Ok((slot, value)) => Chosen::Take(Choice { slot, value, ..choice }),
                Err(why) => Chosen::NotNow(why),
            },
            chosen => chosen,
        })
    }

    /// Whether all slots are held by other tasks than a holder, as their lock files say: then nothing is left there of a dead
    /// claim of its own, and whichever of the tasks is dead, a pass meets it without its lock.
    fn holds_other_tasks_only(&self, stem: &str, slots: &[u32], holder: &str) -> bool {
        slots.iter().all(|slot| {
            let named = self.task_in_lock_file(&layout::lock_file(stem, *slot));
            matches!(named, Ok(Some(task)) if task.to_string() != holder)
        })
    }

    /// How an existing lock stands towards a request.
    fn standing(&self, stem: &str, view: &LockView, request: &Request) -> Result<Standing> {
        if request.kind == LockKind::Task && self.is_debris_of(stem, view, &request.holder)? {
            return Ok(Standing::Breakable);
        }
        let record = view.record();
        let same_holder = record.is_some_and(|record| record.task_id.as_deref() == Some(request.holder.as_str()));
        let kind = record.map(|record| record.kind);
        Ok(match &view.verdict {
            Verdict::Live { .. } => match record {
                Some(record) if request.kind == LockKind::Lease && kind == Some(LockKind::Lease) && same_holder => {
                    Standing::Own(Box::new(record.clone()))
                }
                Some(record) if is_of_session(record, request) => Standing::Own(Box::new(record.clone())),
                _ => Standing::Living,
            },
            Verdict::Refused { .. } => Standing::Living,
            Verdict::Stale { .. } => match self.task_to_recover(record) {
                Some(task) => Standing::Dead(task),
                None => Standing::Breakable,
            },
        })
    }

    /// Whether a lock is left from a dead claim of the very task that claims now: only who holds its supervisor.lock
    /// takes lanes for it. A power cut may have left the lock without a sidecar that reads; then the lock file says it,
    /// for the judge would take the claimant's own supervisor.lock for the life of the holder.
    fn is_debris_of(&self, stem: &str, view: &LockView, holder: &str) -> Result<bool> {
        match &view.sidecar {
            Sidecar::Whole(record) => Ok(record.kind == LockKind::Task && record.task_id.as_deref() == Some(holder)),
            Sidecar::Missing | Sidecar::Corrupt => {
                let named = self.task_in_lock_file(&layout::lock_file(stem, view.slot))?;
                Ok(named.is_some()
                    && named == TaskId::parse(holder)
                    && !matches!(view.verdict, Verdict::Refused { .. }))
            }
            Sidecar::Newer => Ok(false),
        }
    }

    /// The dead task whose locks must go the way of the recovery table; `None` once nothing of it is left to recover.
    pub(crate) fn task_to_recover(&self, record: Option<&LockRecord>) -> Option<TaskId> {
        let record = record.filter(|record| matches!(record.kind, LockKind::Task | LockKind::Wait))?;
        let task = record.task_id.as_deref().and_then(TaskId::parse)?;
        let exists = |path: &str| self.vfs.meta(path).ok().flatten().is_some();
        (exists(&layout::running(task)) || exists(&layout::run_dir(task))).then_some(task)
    }

    /// Takes one slot: breaks what is stale, takes a fence, publishes the sidecar, then the lock. `None`: the file exists.
    fn take_slot(
        &self,
        need: &LaneNeed,
        choice: Choice,
        request: &Request,
        guards: &mut Guards,
        broken: &mut Vec<Break>,
    ) -> Result<Option<Taken>> {
        let stem = need.lane.stem();
        let last_id = choice.breaks.iter().find(|lock| lock.slot == choice.slot).and_then(|lock| lock.lock_id.clone());
        for stale in &choice.breaks {
            self.return_loan(guards, &need.lane, stale.slot);
            self.remove_lock(&stem, stale.slot)?;
        }
        broken.extend(choice.breaks);
        let fence = guards.next_fence(&need.lane, choice.fence_seen)?;
        let now = self.host.clock.now();
        let mut lock_id = format!("{}_{}", request.holder, now.unix_seconds());
        if last_id.as_deref() == Some(lock_id.as_str()) {
            lock_id = format!("{}_{}", request.holder, now.unix_seconds() + 1);
        }
        let mut record = self.new_record(need, request, &lock_id, fence, now);
        record.value = choice.value;
        record.cpus = (need.shares_cpus && matches!(request.kind, LockKind::Task | LockKind::Process)).then_some(1);
        if let Some(lender) = choice.lender {
            self.borrow_from(&need.lane, lender, &mut record);
        }
        let path = layout::lock_file(&stem, choice.slot);
        self.write_sidecar(&need.lane, choice.slot, &record, request.durable)?;
        let opened = self.vfs.open(&path, Open::CreateNew(0o644));
        let Some(mut file) = self.undo_sidecar(&stem, choice.slot, opened, &path)? else { return Ok(None) };
        if let Err(error) = self.fill_lock(file.as_mut(), &path, &lock_id, fence, request) {
            self.remove_lock(&stem, choice.slot)?;
            return Err(error);
        }
        let (lane, slot, value, has_share) = (need.lane.clone(), choice.slot, record.value, record.cpus.is_some());
        let grant = Grant { lane, slot, lock_id: LockId(lock_id), fence, value, has_share };
        if let Some(lender) = choice.lender {
            self.note_borrower(&grant, &request.holder, lender);
        }
        let is_kept_open = matches!(request.kind, LockKind::Process | LockKind::Session);
        Ok(Some((grant, is_kept_open.then(|| Hold::of(file)))))
    }

    /// Passes on what the open of `.lock` gave, after removing the sidecar when it gave nothing.
    fn undo_sidecar(
        &self,
        stem: &str,
        slot: u32,
        opened: std::io::Result<Option<Box<dyn Handle>>>,
        path: &str,
    ) -> Result<Option<Box<dyn Handle>>> {
        match opened {
            Ok(Some(file)) => Ok(Some(file)),
            other => {
                self.unlink(&layout::sidecar(stem, slot))?;
                other.map_err(StoreError::io("create", path))
            }
        }
    }

    fn fill_lock(
        &self,
        file: &mut dyn Handle,
        path: &str,
        lock_id: &str,
        fence: Fence,
        request: &Request,
    ) -> Result<()> {
        file.write_all(format!("{lock_id} {fence}\n").as_bytes()).map_err(StoreError::io("write", path))?;
        let is_locked = match request.kind {
            LockKind::Process => file.try_lock(false),
            // Shared, so that the keeper of the session can take it before the acquirer lets go.
            LockKind::Session => file.try_lock(true),
            LockKind::Task | LockKind::Lease | LockKind::Wait | LockKind::Foreign => Ok(true),
        };
        if !is_locked.map_err(StoreError::io("lock", path))? {
            return Err(StoreError::io("lock", path)(std::io::ErrorKind::WouldBlock.into()));
        }
        if request.durable {
            file.sync_all().map_err(StoreError::io("sync", path))?;
            self.sync_dir(layout::LOCKS)?;
        }
        Ok(())
    }

    fn new_record(
        &self,
        need: &LaneNeed,
        request: &Request,
        lock_id: &str,
        fence: Fence,
        now: Timestamp,
    ) -> LockRecord {
        let life = i64::try_from(request.ttl_ms.unwrap_or(need.timeout_ms)).unwrap_or(i64::MAX);
        let origin = self.host.procs.origin();
        LockRecord {
            lane: Some(need.lane.clone()),
            lock_id: Some(lock_id.to_owned()),
            task_id: Some(request.holder.clone()),
            fence: Some(fence),
            acquired_at: Some(now),
            refreshed_at: Some(now),
            expires_at: Some(now.plus_ms(life)),
            refreshed_boot_ms: Some(self.host.clock.boot_ms()),
            ttl_ms: request.ttl_ms,
            pid: Some(request.process.pid),
            pid_start: Some(request.process.start),
            boot_id: Some(self.host.clock.boot_id()),
            host: Some(self.host.procs.host()),
            pid_namespace: origin.pid_namespace,
            pid_namespace_init: origin.init_start,
            user_namespace: origin.user_namespace,
            command: None,
            pid_watched: request.pid_watched,
            is_supervised: false,
            value: None,
            cpus: None,
            kind: request.kind,
            who: request.who.clone(),
            extra: None,
        }
    }

    pub(crate) fn write_sidecar(&self, lane: &LaneName, slot: u32, record: &LockRecord, durable: bool) -> Result<()> {
        let stem = lane.stem();
        let tmp = layout::sidecar_tmp(&stem, slot);
        let bytes = sidecar::encode(lane, record);
        let mut file = self.write_whole(&tmp, Open::Truncate(0o644), &bytes)?;
        if durable {
            file.sync_data().map_err(StoreError::io("sync", &tmp))?;
        }
        drop(file);
        self.replace_by(&tmp, &layout::sidecar(&stem, slot))
    }

    /// Removes a lock and then its sidecar. The caller is in the guard and has judged it.
    pub(crate) fn remove_lock(&self, stem: &str, slot: u32) -> Result<()> {
        self.unlink(&layout::lock_file(stem, slot))?;
        // The lane is free. A sidecar without its lock holds nothing, and the next acquirer or cleaner removes it.
        let _ = self.unlink(&layout::sidecar(stem, slot));
        Ok(())
    }

    /// Refreshes the lease of a holder if it still has the lock id that is meant; `None` when it was lost.
    pub fn refresh(&self, request: &Request, lock_id: &str, judge: Judge) -> Result<Option<Grant>> {
        let Some(need) = request.needs.first() else { return Ok(None) };
        let stem = need.lane.stem();
        let _guards = self.enter_guards(&[&need.lane])?;
        let limits = Limits { timeout_ms: need.timeout_ms, max_age_ms: None };
        for slot in self.occupied_slots(&stem)? {
            let Some(view) = self.view(&stem, slot, limits, judge)? else { continue };
            let Some(record) = view.record() else { continue };
            if record.lock_id.as_deref() == Some(lock_id) && matches!(view.verdict, Verdict::Live { .. }) {
                return self.refresh_lease(need, slot, record.clone(), request).map(Some);
            }
        }
        Ok(None)
    }

    fn refresh_lease(&self, need: &LaneNeed, slot: u32, mut record: LockRecord, request: &Request) -> Result<Grant> {
        let now = self.host.clock.now();
        record.ttl_ms = request.ttl_ms.or(record.ttl_ms);
        let life = i64::try_from(record.ttl_ms.unwrap_or(need.timeout_ms)).unwrap_or(i64::MAX);
        record.refreshed_at = Some(now);
        record.refreshed_boot_ms = Some(self.host.clock.boot_ms());
        record.boot_id = Some(self.host.clock.boot_id());
        record.expires_at = Some(now.plus_ms(life));
        if request.pid_watched {
            (record.pid, record.pid_start) = (Some(request.process.pid), Some(request.process.start));
            record.pid_watched = true;
            record.set_origin(self.host.own_origin());
        }
        self.write_sidecar(&need.lane, slot, &record, request.durable)?;
        Ok(Grant {
            lane: need.lane.clone(),
            slot,
            lock_id: LockId(record.lock_id.unwrap_or_default()),
            fence: record.fence.unwrap_or(Fence(0)),
            has_share: record.cpus.is_some(),
            value: record.value,
        })
    }
}

/// A lock that was taken; with its open file for kind `process`.
type Taken = (Grant, Option<Hold>);

enum Standing {
    Own(Box<LockRecord>),
    Living,
    Breakable,
    Dead(TaskId),
}

/// Whether a lock is a lease of the very session that asks.
fn is_of_session(record: &LockRecord, request: &Request) -> bool {
    let are_leases = request.kind == LockKind::Session && record.kind == LockKind::Session;
    are_leases && request.who.session.is_some() && record.who.session == request.who.session
}

/// Chooses between a loan, a free slot and giving up, when all holders of a lane are judged. `dead` are tasks whose command
/// may still live: each counts as a holder until it is recovered.
fn choose_among(
    need: &LaneNeed,
    request: &Request,
    mut choice: Choice,
    mut living: Vec<LockView>,
    dead: &[(u32, TaskId)],
) -> Chosen {
    let lent = match request.lenders.as_slice() {
        [] => Lent::No,
        lenders => {
            let holder = |view: &LockView| (view.slot, view.holder().and_then(TaskId::parse));
            loan::lent(living.iter().map(holder).chain(dead.iter().map(|(slot, task)| (*slot, Some(*task)))), lenders)
        }
    };
    if let Lent::By(slot) | Lent::Taken(slot) = lent {
        if let Some((_, task)) = dead.iter().find(|(at, _)| *at == slot) {
            return Chosen::NeedsRecovery(*task);
        }
        if let (Lent::By(lender), Some(above)) = (lent, loan::above(slot)) {
            (choice.slot, choice.lender) = (above, Some(lender));
            return Chosen::Take(choice);
        }
        living.retain(|view| view.slot == slot);
        return living.pop().map_or(Chosen::Take(choice), |view| Chosen::Held(Box::new(view)));
    }
    let lived: BTreeSet<u32> = living.iter().map(|view| loan::root(view.slot)).collect();
    let count = |roots: &BTreeSet<u32>| u32::try_from(roots.len()).unwrap_or(u32::MAX);
    if count(&lived) >= need.limit && !living.is_empty() {
        return Chosen::Held(Box::new(living.swap_remove(0)));
    }
    let occupied: BTreeSet<u32> = lived.into_iter().chain(dead.iter().map(|(slot, _)| loan::root(*slot))).collect();
    if let Some((_, task)) = dead.first().filter(|_| count(&occupied) >= need.limit) {
        return Chosen::NeedsRecovery(*task);
    }
    let again = choice.breaks.iter().map(|lock| loan::root(lock.slot)).find(|root| !occupied.contains(root));
    choice.slot = again.unwrap_or_else(|| loan::free_slot(&occupied));
    Chosen::Take(choice)
}

/// A lock as what ended, by the verdict on its holder.
pub fn broken(lane: &LaneName, view: &LockView) -> Break {
    let (why, age_ms) = match &view.verdict {
        Verdict::Stale { why, age_ms } => (Some(*why), *age_ms),
        Verdict::Live { .. } | Verdict::Refused { .. } => (None, view.age_ms),
    };
    Break {
        lane: lane.clone(),
        slot: view.slot,
        lock_id: view.lock_id().map(str::to_owned),
        holder: view.holder().map(str::to_owned),
        why,
        age_ms,
    }
}
