//! Decisions in each lane of a request, made under the guards before anything is taken: take free slots, break stale ones,
//! borrow, refresh one's own, or give up. If a lane is wanted several times, one look chooses all of its slots, or none.

use crate::model::lock::loan::Lent;
use crate::model::lock::{Claimant, Met, Standing};
use crate::model::sorted::sort_by_key;
use crate::model::task::GrantedSlot;
use crate::model::{Fence, Judge, LockKind, LockRecord, Sidecar, TaskId, loan};
use crate::os::Entry;
use crate::store::files::locks::acquire::broken;
use crate::store::{
    Break, Denial, Guards, LaneNeed, Limits, LockView, NotNow, Request, Result, Spool, layout, slots_in,
};
use std::collections::BTreeSet;

/// One slot that is to be taken.
#[derive(Default)]
pub(crate) struct Choice {
    pub(crate) slot: u32,
    /// The slot from which the lane is borrowed.
    pub(crate) lender: Option<u32>,
    /// The value of the slot, if it has a name.
    pub(crate) value: Option<String>,
    /// Locks of the lane that are broken before the slot is taken: the first slot of a lane has all of them.
    pub(crate) breaks: Vec<Break>,
    /// Whether the slot is the first one of its lane in the request, which has the share of processors.
    pub(crate) is_first: bool,
    pub(crate) fence_seen: u64,
    /// The fence of the grant of the slot, if another scheduler has granted it.
    pub(crate) granted: Option<Fence>,
}

pub(crate) enum Chosen {
    /// The wanted number of slots, in their order.
    Take(Vec<Choice>),
    Refresh(u32, Box<LockRecord>),
    Denied(Denial),
}

/// The holders of a lane, as they were judged.
#[derive(Default)]
struct Seen {
    living: Vec<LockView>,
    /// Tasks whose command may still live: each counts as a holder until it is recovered.
    dead: Vec<(u32, TaskId)>,
    /// The slots of living holders and of these tasks, with their values.
    taken: Vec<(u32, Option<String>)>,
    breaks: Vec<Break>,
    fence: u64,
}

impl Spool {
    /// Decides what to do in one lane.
    pub(crate) fn choose_slots(
        &self,
        need: &LaneNeed,
        locks: &[Entry],
        request: &Request,
        (judge, guards): (Judge, &mut Guards<'_>),
    ) -> Result<Chosen> {
        let stem = need.lane.stem();
        let occupied = slots_in(locks, &stem);
        let has_room = loan::holders(occupied.iter().copied()).saturating_add(need.count) <= need.limit;
        let need_not_look = match request.kind {
            _ if need.values.is_some() || need.is_shut || !need.granted.is_empty() => false,
            LockKind::Process => has_room,
            LockKind::Task => {
                let is_plain = has_room && request.lenders.is_empty();
                is_plain && self.holds_other_tasks_only(&stem, &occupied, &request.holder)
            }
            _ => false,
        };
        if need_not_look {
            let mut roots: BTreeSet<u32> = occupied.iter().copied().map(loan::root).collect();
            let free = (0..need.count).map(|_| Choice { slot: free_slot(&mut roots), ..Choice::default() });
            return Ok(take(free.collect(), &mut Seen::default()));
        }
        let limits = Limits { timeout_ms: need.timeout_ms, max_age_ms: None };
        let mut seen = Seen::default();
        for slot in occupied {
            let Some(view) = self.view(&stem, slot, limits, judge)? else { continue };
            seen.fence = seen.fence.max(view.record().and_then(|r| r.fence).map_or(0, |fence| fence.0));
            let standing = self.standing(&stem, &view, request)?;
            if !matches!(standing, Standing::Breakable) {
                seen.taken.push((loan::root(slot), view.record().and_then(|record| record.value.clone())));
            }
            match (standing, view.record()) {
                (Standing::Own, Some(record)) => return Ok(Chosen::Refresh(slot, Box::new(record.clone()))),
                (Standing::Breakable, _) => seen.breaks.push(broken(&need.lane, &view)),
                (Standing::Dead(task), _) => seen.dead.push((slot, task)),
                (Standing::Living | Standing::Own, _) => seen.living.push(view),
            }
        }
        if !need.granted.is_empty() {
            let last = guards.last_fence(&need.lane)?.max(seen.fence);
            if need.granted.iter().any(|grant| grant.fence.0 <= last) {
                return Ok(Chosen::Denied(Denial::NoGrant(need.lane.clone())));
            }
        }
        Ok(self.choose_among(need, request, &mut seen).map_or_else(Chosen::Denied, |chosen| take(chosen, &mut seen)))
    }

    /// The granted slots of a lane, or the reason why they are not free. Other holders on this host count against its limit.
    fn choose_granted(&self, need: &LaneNeed, seen: &mut Seen) -> std::result::Result<Vec<Choice>, Denial> {
        let is_granted = |slot: u32| need.granted.iter().any(|grant| grant.slot == loan::root(slot));
        if let Some((_, task)) = seen.dead.iter().find(|(slot, _)| is_granted(*slot)) {
            return Err(Denial::NeedsRecovery(*task));
        }
        if let Some(view) = seen.living.iter().find(|view| is_granted(view.slot)) {
            let slot = view.slot;
            return Err(held_at(need, seen, slot));
        }
        let has_room = self.choose_free(need, seen, need.count)?;
        let value = |slot: u32| need.values.as_ref().and_then(|values| values.get(slot));
        let granted = has_room.into_iter().zip(&need.granted);
        let of = |(free, grant): (Choice, &GrantedSlot)| Choice {
            slot: grant.slot,
            value: grant.value.clone().or_else(|| value(grant.slot)),
            granted: Some(grant.fence),
            ..free
        };
        Ok(granted.map(of).collect())
    }

    /// Chooses between loans, free slots and giving up.
    fn choose_among(
        &self,
        need: &LaneNeed,
        request: &Request,
        seen: &mut Seen,
    ) -> std::result::Result<Vec<Choice>, Denial> {
        if !need.granted.is_empty() {
            return self.choose_granted(need, seen);
        }
        let mut loans: Vec<Choice> = Vec::new();
        while count(loans.len()) < need.count {
            match next_loan(request, seen, &loans) {
                Lent::By(lender) => {
                    if let Some((_, task)) = seen.dead.iter().find(|(at, _)| *at == lender) {
                        return Err(Denial::NeedsRecovery(*task));
                    }
                    let Some(slot) = loan::above(lender) else { return Err(held_at(need, seen, lender)) };
                    loans.push(Choice { slot, lender: Some(lender), ..Choice::default() });
                }
                Lent::Taken(slot) if loans.is_empty() => {
                    if let Some((_, task)) = seen.dead.iter().find(|(at, _)| *at == slot) {
                        return Err(Denial::NeedsRecovery(*task));
                    }
                    return Err(held_at(need, seen, slot));
                }
                Lent::Taken(_) | Lent::No => break,
            }
        }
        let wanted = need.count.saturating_sub(count(loans.len()));
        loans.extend(self.choose_free(need, seen, wanted)?);
        Ok(loans)
    }

    /// The wanted number of free slots, or the reason why there are fewer.
    fn choose_free(&self, need: &LaneNeed, seen: &mut Seen, wanted: u32) -> std::result::Result<Vec<Choice>, Denial> {
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let lived: BTreeSet<u32> = seen.living.iter().map(|view| loan::root(view.slot)).collect();
        if count(lived.len()).saturating_add(wanted) > need.limit && !seen.living.is_empty() {
            return Err(Denial::Held(Box::new(seen.living.swap_remove(0))));
        }
        let dead = seen.dead.iter().map(|(slot, _)| loan::root(*slot));
        let mut occupied: BTreeSet<u32> = lived.into_iter().chain(dead).collect();
        if count(occupied.len()).saturating_add(wanted) > need.limit {
            match seen.dead.first() {
                Some((_, task)) => return Err(Denial::NeedsRecovery(*task)),
                None if wanted > 1 => return Err(Denial::NotNow(NotNow::Narrow(need.lane.clone()))),
                None => {}
            }
        }
        let mut again: Vec<u32> = seen.breaks.iter().map(|lock| loan::root(lock.slot)).collect();
        again.retain(|root| !occupied.contains(root));
        let mut chosen = Vec::new();
        for _ in 0..wanted {
            let again = again.iter().copied().find(|root| occupied.insert(*root));
            let slot = again.unwrap_or_else(|| free_slot(&mut occupied));
            match self.name_slot(need, &seen.taken, slot) {
                Ok((slot, value)) => {
                    occupied.insert(slot);
                    seen.taken.push((slot, value.clone()));
                    chosen.push(Choice { slot, value, ..Choice::default() });
                }
                Err(why) => return Err(Denial::NotNow(why)),
            }
        }
        Ok(chosen)
    }

    /// Whether all slots are held by tasks other than a holder, as their lock files say. Then nothing of a dead claim of the
    /// holder is left there, and a pass meets each dead one of the tasks without its lock.
    fn holds_other_tasks_only(&self, stem: &str, slots: &[u32], holder: &str) -> bool {
        slots.iter().all(|slot| {
            let named = self.task_in_lock_file(&layout::lock_file(stem, *slot));
            matches!(named, Ok(Some(task)) if task.to_string() != holder)
        })
    }

    /// Status of an existing lock for a request, by the rule that the request brings along.
    fn standing(&self, stem: &str, view: &LockView, request: &Request) -> Result<Standing> {
        let is_unread = matches!(view.sidecar, Sidecar::Missing | Sidecar::Corrupt);
        let named = if is_unread && request.kind == LockKind::Task {
            self.task_in_lock_file(&layout::lock_file(stem, view.slot))?
        } else {
            None
        };
        let record = view.record();
        let is_stale = view.verdict.is_stale();
        let to_recover = if is_stale { self.task_to_recover(stem, view)? } else { None };
        let session = request.who.session.as_deref();
        let claimant = Claimant { holder: &request.holder, kind: request.kind, session };
        Ok((request.stands)(&claimant, &Met { verdict: &view.verdict, record, named, to_recover }))
    }

    /// The dead task whose locks must go the way of the recovery table; `None` once nothing of it is left to recover. A power
    /// cut may have taken the bytes of the sidecar, which a refresh does not sync; then the lock file names the task.
    pub(crate) fn task_to_recover(&self, stem: &str, view: &LockView) -> Result<Option<TaskId>> {
        let named = match view.record() {
            Some(record) => record.task(),
            None if matches!(view.sidecar, Sidecar::Missing | Sidecar::Corrupt) => {
                self.task_in_lock_file(&layout::lock_file(stem, view.slot))?
            }
            None => None,
        };
        let Some(task) = named else { return Ok(None) };
        // A power cut may leave only the result: `run` is not synced, and the record goes before the result has its place.
        for path in [layout::running(task), layout::result(task), layout::run_dir(task)] {
            if self.meta(&path)?.is_some() {
                return Ok(Some(task));
            }
        }
        Ok(None)
    }
}

/// A slot without a family; from now on it has one.
fn free_slot(roots: &mut BTreeSet<u32>) -> u32 {
    let slot = loan::free_slot(roots);
    roots.insert(slot);
    slot
}

/// Slots that are to be taken, in their order.
fn take(mut chosen: Vec<Choice>, seen: &mut Seen) -> Chosen {
    sort_by_key(&mut chosen, |choice| choice.slot);
    chosen.iter_mut().for_each(|choice| choice.fence_seen = seen.fence);
    if let Some(first) = chosen.first_mut() {
        (first.is_first, first.breaks) = (true, std::mem::take(&mut seen.breaks));
    }
    Chosen::Take(chosen)
}

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

/// The next loan that the lenders of a request can give beside some loans.
fn next_loan(request: &Request, seen: &Seen, loans: &[Choice]) -> Lent {
    if request.lenders.is_empty() {
        return Lent::No;
    }
    let living = seen.living.iter().map(|view| (view.slot, view.holder().and_then(TaskId::parse)));
    let dead = seen.dead.iter().map(|(slot, task)| (*slot, Some(*task)));
    let own = loans.iter().map(|loan| (loan.slot, None));
    loan::lent(living.chain(dead).chain(own), &request.lenders)
}

/// The lane is held by the holder of a slot.
fn held_at(need: &LaneNeed, seen: &mut Seen, slot: u32) -> Denial {
    let nobody = || Denial::NotNow(NotNow::Narrow(need.lane.clone()));
    let holder = seen.living.iter().rposition(|view| view.slot == slot).map(|at| seen.living.swap_remove(at));
    holder.map_or_else(nobody, |view| Denial::Held(Box::new(view)))
}
