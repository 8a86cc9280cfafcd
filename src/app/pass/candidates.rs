//! The queues with work that a pass looks at, as candidates for `policy::schedule`.

use crate::app::{App, AppError};
use crate::model::{Priority, QueueName, Tier};
use crate::policy::fair::Ledger;
use crate::policy::schedule::{Candidate, LaneHead};
use crate::store::LockIndex;
use std::collections::BTreeMap;

/// Up to how many queues with work the ages of heads are looked up, so that users who are equal for want of any earlier
/// grant go by age (S3.12).
const FEW_LANES: usize = 32;

impl App {
    /// The heads of all lanes with work: those that look free, and those whose user's locks are all taken.
    pub(crate) fn heads(
        &self,
        lanes: &BTreeMap<Tier, BTreeMap<String, Priority>>,
        locks: &LockIndex,
        ledger: &Ledger,
    ) -> Result<(Vec<LaneHead>, Vec<LaneHead>), AppError> {
        let total: usize = lanes.values().map(BTreeMap::len).sum();
        let (mut free, mut held) = (Vec::new(), Vec::new());
        for (tier, lanes) in lanes {
            for (stem, priority) in lanes {
                if !self.is_near(stem)? {
                    continue;
                }
                let Some(lane) = self.store.pending_lane_name(stem)? else { continue };
                let takes_user_lane = QueueName::parse(stem).is_none_or(|name| name.takes_user_lane());
                let holders = u32::try_from(locks.slots(&lane.stem()).count()).unwrap_or(u32::MAX);
                let is_locked = takes_user_lane && holders >= self.config().limit(&lane);
                let has_siblings = has_siblings(lanes, stem);
                let is_looked_up = !is_locked && (has_siblings || total <= FEW_LANES && !ledger.knows(lane.key()));
                let head = if is_looked_up { self.store.head_from(*priority, stem)? } else { None };
                let entry = LaneHead {
                    user: lane.key().clone(),
                    queue: stem.as_str().into(),
                    takes_user_lane,
                    tier: *tier,
                    priority: head.as_ref().map_or(*priority, |head| head.priority),
                    sequence: head.as_ref().map(|head| head.id.0).filter(|_| !has_siblings || total <= FEW_LANES),
                    turn: head.as_ref().map_or(u64::MAX, |head| head.id.0),
                };
                match (is_locked, is_looked_up && head.is_none()) {
                    (_, true) => {}
                    (true, false) => held.push(entry),
                    (false, false) => free.push(entry),
                }
            }
        }
        Ok((free, held))
    }
}

/// Whether the user of a queue has another one in the same tier.
fn has_siblings(queues: &BTreeMap<String, Priority>, queue: &str) -> bool {
    let stem = queue.split('~').next().unwrap_or(queue);
    let marked = queues.range(format!("{stem}~")..format!("{stem}~~")).take(2).count();
    marked + usize::from(queues.contains_key(stem)) > 1
}

/// The queue of a candidate again, after one of its tasks was started.
pub(crate) fn head_of(candidate: &Candidate) -> LaneHead {
    LaneHead {
        user: candidate.user.clone(),
        queue: candidate.queue.clone(),
        takes_user_lane: candidate.takes_user_lane,
        tier: candidate.tier,
        priority: candidate.priority,
        sequence: None,
        turn: u64::MAX,
    }
}
