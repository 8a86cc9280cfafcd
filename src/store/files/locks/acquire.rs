//! The lock protocol of `locks.md`: acquire, adopt, refresh and release, each one transaction under the lane's guard.
//! Commit points: acquire is the O_EXCL open of `.lock`, release and break are its unlink, refresh is the rename of
//! `.json`. The sidecar comes before the lock and goes after it, so that a visible lock is always described.

use crate::model::sorted::sort_by_key;
use crate::model::{Fence, Grant, Identity, Judge, LaneName, LockKind, LockRecord, Origin, Timestamp, Verdict, loan};
use crate::os::{Entry, FileKind, Handle, Open};
use crate::store::files::disk::lock_retry::FILE_WAIT_MS;
use crate::store::files::locks::choice::{Choice, Chosen};
use crate::store::files::locks::line::patience_ms;
use crate::store::files::locks::sidecar;
use crate::store::{
    Acquired, Break, Denial, FreedBy, Guards, Hold, InLine, LaneNeed, Limits, LockView, Request, Result, Spool,
    StoreError, layout, slots_in,
};

/// Actions in the lanes of a request, by their places in it.
struct Plan {
    takes: Vec<(usize, Vec<Choice>)>,
    refreshes: Vec<(usize, u32, Box<LockRecord>)>,
}

/// Fields that the locks of one request share.
struct Ids {
    lock_id: String,
    /// The mark of leases that are not complete yet.
    set: Option<String>,
}

impl Spool {
    /// Takes all lanes of a request, or none, without a look at the line.
    pub fn acquire(&self, request: &Request, judge: Judge) -> Result<Acquired> {
        self.acquire_by(request, judge, None)
    }

    /// Takes all lanes of a request, or none, when it is the asker's turn. A waiting asker gets a place in the line of a lane
    /// that it cannot have. It gets the place in the same hold of the guard, so it misses no call; with the grant it leaves
    /// the place.
    pub fn acquire_in_line(&self, request: &Request, judge: Judge, in_line: &mut InLine<'_>) -> Result<Acquired> {
        let answer = self.acquire_by(request, judge, Some(in_line));
        // Outside of the guards, because the next one of a line now enters them.
        in_line.left = None;
        answer
    }

    fn acquire_by(&self, request: &Request, judge: Judge, mut in_line: Option<&mut InLine<'_>>) -> Result<Acquired> {
        let lanes: Vec<&LaneName> = request.needs.iter().map(|need| &need.lane).collect();
        let patience_ms = in_line.as_ref().map_or(FILE_WAIT_MS, |in_line| patience_ms(in_line));
        let mut guards = self.enter_guards_within(&lanes, patience_ms)?;
        let locks = self.list(layout::LOCKS)?;
        // The asker keeps its place in the line of a lane as long as that lane keeps it waiting.
        let mut order: Vec<usize> = (0..lanes.len()).collect();
        sort_by_key(&mut order, |at| !in_line.as_ref().is_some_and(|in_line| in_line.stands_in(lanes[*at])));
        let mut plan = Plan { takes: Vec::with_capacity(lanes.len()), refreshes: Vec::new() };
        for at in order {
            let need = &request.needs[at];
            match self.choose_slots(need, &locks, request, (judge, &mut guards))? {
                Chosen::Take(slots) => plan.takes.push((at, slots)),
                Chosen::Refresh(slot, record) => plan.refreshes.push((at, slot, record)),
                Chosen::Denied(denial) => {
                    match &denial {
                        Denial::NeedsRecovery(_) | Denial::NoGrant(_) => {}
                        Denial::Held(view) => self.stand_for(need, request, &locks, in_line, Some(view)),
                        Denial::NotNow(_) | Denial::Limited { .. } | Denial::Kept | Denial::Behind(_) => {
                            self.stand_for(need, request, &locks, in_line, None);
                        }
                    }
                    return Ok(Acquired::Denied(denial));
                }
            }
        }
        for (at, slots) in &plan.takes {
            let need = &request.needs[*at];
            let wanted = slots.iter().filter(|choice| choice.lender.is_none()).count();
            if wanted == 0 {
                // A lent lane never becomes free for the waiters in its line, and a loan is no grant of its own.
                continue;
            }
            let stem = need.lane.stem();
            let is_broken = |slot: &u32| slots.iter().flat_map(|choice| &choice.breaks).any(|lock| lock.slot == *slot);
            let used = loan::holders(slots_in(&locks, &stem).into_iter().filter(|slot| !is_broken(slot)));
            if let Some(denial) = self.beyond_limit(need, used, u32::try_from(wanted).unwrap_or(u32::MAX), &locks)? {
                self.stand_for(need, request, &locks, in_line, None);
                return Ok(Acquired::Denied(denial));
            }
            if let Some(in_line) = in_line.as_mut()
                && !self.has_turn(&stem, &locks, in_line)?
            {
                self.stand_for(need, request, &locks, Some(in_line), None);
                return Ok(Acquired::Denied(Denial::Behind(need.lane.clone())));
            }
        }
        sort_by_key(&mut plan.takes, |(at, _)| *at);
        let answer = self.carry_out(request, plan, &mut guards, judge)?;
        if let (Some(in_line), Acquired::Granted { .. }) = (in_line, &answer) {
            self.leave_with_lane(in_line, request.needs.iter().map(|need| need.limit).max().unwrap_or(1));
        }
        Ok(answer)
    }

    /// Puts a request into the line of a lane that keeps it from being granted. If the asker leaves another line whose lane
    /// has room, the next one there is called, as if the lane had been taken and given back. The caller is in all guards.
    fn stand_for(
        &self,
        need: &LaneNeed,
        request: &Request,
        locks: &[Entry],
        in_line: Option<&mut InLine<'_>>,
        holder: Option<&LockView>,
    ) {
        let Some(in_line) = in_line else { return };
        let left = request.needs.iter().find(|other| other.lane != need.lane && in_line.stands_in(&other.lane));
        self.stand(&need.lane.stem(), in_line, holder);
        if let Some(left) = left {
            let stem = left.lane.stem();
            if loan::holders(slots_in(locks, &stem).into_iter()) < left.limit {
                self.call_line(&stem, FreedBy::Other);
            }
        }
    }

    /// Takes the planned slots, then refreshes the locks that the holder has: a failure leaves a lease refreshed, and nothing
    /// taken.
    fn carry_out(&self, request: &Request, plan: Plan, guards: &mut Guards, judge: Judge) -> Result<Acquired> {
        let refresh = |(at, slot, record): (usize, u32, Box<LockRecord>)| {
            self.refresh_lease(&request.needs[at], slot, *record, request)
        };
        if plan.takes.is_empty() {
            return plan.refreshes.into_iter().map(refresh).collect::<Result<_>>().map(Acquired::Refreshed);
        }
        let mut answer = self.take_all(request, plan.takes, guards, judge)?;
        if let Acquired::Granted { grants, refreshed, .. } = &mut answer
            && !plan.refreshes.is_empty()
        {
            match plan.refreshes.into_iter().map(refresh).collect::<Result<Vec<_>>>() {
                Ok(again) => {
                    refreshed.extend(again.iter().map(|grant| grant.lane.clone()));
                    grants.extend(again);
                    sort_by_key(grants, |grant| request.needs.iter().position(|need| need.lane == grant.lane));
                }
                Err(error) => {
                    self.give_back(guards, grants)?;
                    return Err(error);
                }
            }
        }
        Ok(answer)
    }

    fn take_all(
        &self,
        request: &Request,
        takes: Vec<(usize, Vec<Choice>)>,
        guards: &mut Guards,
        judge: Judge,
    ) -> Result<Acquired> {
        let lock_id = self.new_lock_id(&request.holder, &takes);
        let set = self.begin_set(request, &lock_id, takes.len())?;
        let ids = Ids { lock_id, set };
        // After an error some locks may remain that could not be given back: then the mark stays, and they hold nothing.
        let answer = self.take_each(request, takes, &ids, guards, judge)?;
        if let Some(set) = &ids.set
            && let Err(error) = self.end_set(request, set)
        {
            if let Acquired::Granted { grants, .. } = &answer {
                self.give_back(guards, grants)?;
            }
            return Err(error);
        }
        Ok(answer)
    }

    fn take_each(
        &self,
        request: &Request,
        takes: Vec<(usize, Vec<Choice>)>,
        ids: &Ids,
        guards: &mut Guards,
        judge: Judge,
    ) -> Result<Acquired> {
        let (mut grants, mut broken, mut files) = (Vec::new(), Vec::new(), Vec::new());
        let all = takes.into_iter().flat_map(|(at, slots)| slots.into_iter().map(move |choice| (at, choice)));
        for (at, choice) in all {
            let (need, slot) = (&request.needs[at], choice.slot);
            match self.take_slot(need, choice, request, ids, guards, &mut broken) {
                Ok(Some((grant, file))) => {
                    grants.push(grant);
                    files.extend(file);
                }
                Ok(None) => {
                    // Another program created the file between the look and the open: its lock is honoured.
                    self.give_back(guards, &grants)?;
                    let limits = Limits { timeout_ms: need.timeout_ms, max_age_ms: None };
                    if let Some(view) = self.view(&need.lane.stem(), slot, limits, judge)? {
                        return Ok(Acquired::Denied(Denial::Held(Box::new(view))));
                    }
                    return Err(StoreError::io("create", &layout::lock_file(&need.lane.stem(), slot))(
                        crate::os::taken(),
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
        Ok(Acquired::Granted { grants, refreshed: Vec::new(), broken, files })
    }

    /// The lock id for all locks of one request: it differs from the ids of the locks that the request breaks.
    fn new_lock_id(&self, holder: &str, takes: &[(usize, Vec<Choice>)]) -> String {
        let seconds = self.host.clock.now().unix_seconds();
        let breaks = || takes.iter().flat_map(|(_, slots)| slots).flat_map(|choice| &choice.breaks);
        let of = |more: i64| format!("{holder}_{}", seconds.saturating_add(more));
        let is_new = |id: &String| breaks().all(|lock| lock.lock_id.as_ref() != Some(id));
        (0..1000).map(of).find(is_new).unwrap_or_else(|| of(1000))
    }

    fn give_back(&self, guards: &mut Guards<'_>, grants: &[Grant]) -> Result<()> {
        for grant in grants.iter().rev() {
            self.return_loan(guards, &grant.lane, grant.slot);
            self.remove_lock(&grant.lane.stem(), grant.slot)?;
        }
        Ok(())
    }

    /// Takes one slot: breaks stale locks, takes a fence, publishes the sidecar, then the lock. `None`: the file exists.
    fn take_slot(
        &self,
        need: &LaneNeed,
        choice: Choice,
        request: &Request,
        ids: &Ids,
        guards: &mut Guards,
        broken: &mut Vec<Break>,
    ) -> Result<Option<Taken>> {
        let lock_id = ids.lock_id.as_str();
        let stem = need.lane.stem();
        for stale in &choice.breaks {
            self.return_loan(guards, &need.lane, stale.slot);
            self.remove_lock(&stem, stale.slot)?;
        }
        broken.extend(choice.breaks);
        let fence = match choice.granted {
            Some(fence) => guards.take_granted(&need.lane, fence)?,
            None => guards.next_fence(&need.lane, choice.fence_seen)?,
        };
        let now = self.host.clock.now();
        let mut record = self.new_record(need, request, lock_id, fence, now);
        record.value = choice.value;
        record.set.clone_from(&ids.set);
        let has_command = matches!(request.kind, LockKind::Task | LockKind::Process);
        record.cpus = (need.shares_cpus && choice.is_first && has_command).then_some(1);
        if let Some(lender) = choice.lender {
            self.borrow_from(&need.lane, lender, &mut record);
        }
        let path = layout::lock_file(&stem, choice.slot);
        self.write_sidecar(&need.lane, choice.slot, &record, request.durable)?;
        let opened = self.create(&path, 0o644);
        if !matches!(opened, Ok(Some(_))) {
            self.unlink(&layout::sidecar(&stem, choice.slot))?;
        }
        let Some(mut file) = opened? else { return Ok(None) };
        let filled = self.fill_lock(file.as_mut(), &path, lock_id, fence, request);
        if let Err(error) = filled.and_then(|()| self.name_twice(&path)) {
            // A lock that stayed would be held in the name of this process, which waits on.
            let remove = || self.remove_lock(&stem, choice.slot);
            remove().or_else(|_| remove()).or_else(|_| remove())?;
            return Err(error);
        }
        let grant = record.grant(&need.lane, choice.slot);
        if let Some(lender) = choice.lender {
            self.note_borrower(&grant, &request.holder, lender);
        }
        let is_kept_open = matches!(request.kind, LockKind::Process | LockKind::Session);
        Ok(Some((grant, is_kept_open.then(|| Hold::of(file)))))
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
        let (holder, origin) = (request.holder.clone(), self.host.own_origin());
        let mut record = LockRecord {
            lane: Some(need.lane.clone()),
            lock_id: Some(lock_id.to_owned()),
            fence: Some(fence),
            acquired_at: Some(now),
            ttl_ms: request.ttl_ms,
            pid_watched: request.pid_watched,
            who: request.who.clone(),
            ..self.record_of(request.kind, holder, &request.process, origin)
        };
        self.renew(&mut record, now, request.ttl_ms.unwrap_or(need.timeout_ms));
        record
    }

    /// Begins the record of a lock that a process holds.
    pub(crate) fn record_of(&self, kind: LockKind, holder: String, process: &Identity, origin: Origin) -> LockRecord {
        let host = Some(self.host.procs.host());
        let mut record = LockRecord { kind, task_id: Some(holder), host, ..LockRecord::default() };
        record.set_process(process, origin);
        record
    }

    /// Notes in a record that its holder lived at `now`, and that the lock expires `life_ms` later.
    pub(crate) fn renew(&self, record: &mut LockRecord, now: Timestamp, life_ms: u64) {
        record.refreshed_at = Some(now);
        record.refreshed_boot_ms = Some(self.host.clock.boot_ms());
        record.expires_at = Some(now.plus_ms(i64::try_from(life_ms).unwrap_or(i64::MAX)));
    }

    pub(crate) fn write_sidecar(&self, lane: &LaneName, slot: u32, record: &LockRecord, durable: bool) -> Result<()> {
        let stem = lane.stem();
        let (tmp, path) = (layout::sidecar_tmp(&stem, slot), layout::sidecar(&stem, slot));
        let bytes = sidecar::encode(lane, record, self.host.root());
        let write = || {
            let mut file = self.write_whole(&tmp, Open::Truncate(0o644), &bytes)?;
            if durable {
                file.sync_data().map_err(StoreError::io("sync", &tmp))?;
            }
            drop(file);
            self.replace_by(&tmp, &path)
        };
        write().or_else(|error| if self.set_folders_aside(&[&tmp, &path])? { write() } else { Err(error) })
    }

    /// Sets aside a folder in the place of one of luzia's files, since no file can replace it. False when nothing was set aside.
    fn set_folders_aside(&self, paths: &[&str]) -> Result<bool> {
        let mut is_any = false;
        for path in paths {
            if self.meta(path)?.is_some_and(|meta| meta.kind == FileKind::Dir) {
                self.set_aside(&StoreError::corrupt(path, "it is a directory, not a file"))?;
                is_any = true;
            }
        }
        Ok(is_any)
    }

    /// Removes a lock and then its sidecar. The caller is in the guard and has judged it.
    pub(crate) fn remove_lock(&self, stem: &str, slot: u32) -> Result<()> {
        let path = layout::lock_file(stem, slot);
        // The second name goes first, so that it exists without the lock file only if another program removed that.
        layout::second_name(&path).map_or(Ok(false), |second| self.unlink(&second))?;
        self.unlink(&path)?;
        // The lane is free. A sidecar without its lock holds nothing, and the next acquirer or cleaner removes it.
        let _ = self.unlink(&layout::sidecar(stem, slot));
        Ok(())
    }

    /// Refreshes the lease of a holder if it still has the given lock id; `None` when it was lost.
    pub fn refresh(&self, request: &Request, lock_id: &str, judge: Judge) -> Result<Option<Grant>> {
        let Some(need) = request.needs.first() else { return Ok(None) };
        let stem = need.lane.stem();
        let _guards = self.enter_guards(&[&need.lane])?;
        let limits = Limits { timeout_ms: need.timeout_ms, max_age_ms: None };
        for slot in self.occupied_slots(&stem)? {
            let Some(view) = self.view(&stem, slot, limits, judge)? else { continue };
            let Some(record) = view.record() else { continue };
            if record.lock_id.as_deref() == Some(lock_id) && view.verdict.is_live() {
                return self.refresh_lease(need, slot, record.clone(), request).map(Some);
            }
        }
        Ok(None)
    }

    fn refresh_lease(&self, need: &LaneNeed, slot: u32, mut record: LockRecord, request: &Request) -> Result<Grant> {
        record.ttl_ms = request.ttl_ms.or(record.ttl_ms);
        let life_ms = record.ttl_ms.unwrap_or(need.timeout_ms);
        self.renew(&mut record, self.host.clock.now(), life_ms);
        record.boot_id = Some(self.host.clock.boot_id());
        if request.pid_watched {
            record.pid_watched = true;
            record.set_process(&request.process, self.host.own_origin());
        }
        self.write_sidecar(&need.lane, slot, &record, request.durable)?;
        let path = layout::lock_file(&need.lane.stem(), slot);
        self.lock_meta(&path)?.iter().for_each(|lock| self.freshen(&path, lock));
        Ok(record.grant(&need.lane, slot))
    }
}

/// A lock that was taken; for kind `process`, with its open file.
type Taken = (Grant, Option<Hold>);

/// The record of a broken lock, by the verdict on its holder.
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
