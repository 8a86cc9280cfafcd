//! Rules of lanes beyond their limits, as a claim meets them in the guard: slots of `global` that are kept for other lanes, and
//! rates of grants.

mod rate;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use rate::parse as parse_grants;

use crate::model::{LaneName, Timestamp, loan};
use crate::os::Entry;
use crate::store::{Denial, LaneNeed, LockIndex, Result, Spool, layout, slots_in};

impl Spool {
    /// The rule that keeps a lane from a request that would get a slot of it by the lane's limit. `used` holders stay beside
    /// it, and it takes `wanted` slots. The caller is in the guard.
    pub(crate) fn beyond_limit(
        &self,
        need: &LaneNeed,
        used: u32,
        wanted: u32,
        locks: &[Entry],
    ) -> Result<Option<Denial>> {
        if !need.kept.is_empty() {
            let kept = self.kept_slots(&need.kept, &|stem| slots_in(locks, stem))?;
            if used.saturating_add(wanted).saturating_add(kept) > need.limit {
                return Ok(Some(Denial::Kept));
            }
        }
        let until = need.rate.map_or(Ok(None), |rate| self.granted_again(&need.lane, rate))?;
        Ok(until.map(|until| Denial::Limited { lane: need.lane.clone(), until }))
    }

    /// Number of slots of `global` that are kept: of each lane, the part of its reserve that its tasks do not hold. Only tasks
    /// count, because a `luzia lock` of such a lane takes no slot of `global`.
    fn kept_slots(&self, kept: &[(LaneName, u32)], slots: &dyn Fn(&str) -> Vec<u32>) -> Result<u32> {
        let mut all: u32 = 0;
        for (lane, reserve) in kept {
            let stem = lane.stem();
            let mut of_tasks = Vec::new();
            for slot in slots(&stem) {
                let task = self.task_in_lock_file(&layout::lock_file(&stem, slot))?;
                of_tasks.extend(task.map(|_| slot));
            }
            all = all.saturating_add(reserve.saturating_sub(loan::holders(of_tasks.into_iter())));
        }
        Ok(all)
    }

    /// Like `kept_slots`, by an index of the locks, for a look.
    pub fn kept_in(&self, locks: &LockIndex, kept: &[(LaneName, u32)]) -> Result<u32> {
        self.kept_slots(kept, &|stem| locks.slots(stem).collect())
    }

    /// The moment from which a lane may be granted again by its rate; `None` when it may now.
    pub fn granted_again(&self, lane: &LaneName, rate: crate::model::config::Rate) -> Result<Option<Timestamp>> {
        let grants = self.granted_lately(lane, rate)?;
        Ok(rate.next(&grants, self.host.clock.now()))
    }
}
