//! The queues with work that a pass looks at, as candidates for `policy::schedule`.

use crate::app::admission::reach::is_near;
use crate::app::config_reload::control;
use crate::app::{App, AppError, config_reload};
use crate::model::queue::Lanes;
use crate::model::{LaneName, Priority, QueueName, Tier};
use crate::policy::fair::Ledger;
use crate::policy::hold::holds_user;
use crate::policy::schedule::{FEW_QUEUES, LaneHead};
use crate::store::LockIndex;
use std::collections::BTreeMap;
use std::time::Duration;

/// Number of lanes.
pub(super) fn number_of(lanes: &Lanes) -> usize {
    lanes.values().map(BTreeMap::len).sum()
}

/// The head of a queue at which no look was taken.
pub(super) fn unseen_head(lane: &LaneName, queue: &str, tier: Tier, priority: Priority) -> LaneHead {
    LaneHead {
        user: lane.key().clone(),
        queue: queue.into(),
        takes_user_lane: QueueName::parse(queue).is_none_or(|name| name.takes_user_lane()),
        tier,
        priority,
        sequence: None,
        turn: u64::MAX,
    }
}

/// The heads of all lanes with work: those that look free, and those whose user's locks are all taken.
pub(crate) fn heads(
    app: &App,
    lanes: &Lanes,
    locks: &LockIndex,
    ledger: &Ledger,
) -> Result<(Vec<LaneHead>, Vec<LaneHead>), AppError> {
    heads_among(app, lanes, number_of(lanes) <= FEW_QUEUES, locks, ledger)
}

/// Like `heads`, for some lanes; `are_few` tells whether few lanes have work.
pub(super) fn heads_among(
    app: &App,
    lanes: &Lanes,
    are_few: bool,
    locks: &LockIndex,
    ledger: &Ledger,
) -> Result<(Vec<LaneHead>, Vec<LaneHead>), AppError> {
    let now = app.host.now();
    let (mut free, mut held) = (Vec::new(), Vec::new());
    for (tier, lanes) in lanes {
        for (stem, priority) in lanes {
            if !is_near(app, stem)? {
                continue;
            }
            let Some(lane) = app.store.pending_lane_name(stem)? else { continue };
            if holds_user(&control(app).holds, &lane, now) {
                continue;
            }
            let unseen = unseen_head(&lane, stem, *tier, *priority);
            let holders = locks.holders(&lane);
            let is_locked = unseen.takes_user_lane && holders >= config_reload::config(app).limit(&lane);
            let has_siblings = has_siblings(lanes, stem);
            let is_looked_up = !is_locked && (has_siblings || are_few && !ledger.knows(lane.key()));
            let head = if is_looked_up { app.store.head_from(*priority, stem)? } else { None };
            // A group takes its turn at the place of its first task.
            let place = head.as_ref().map(|head| QueueName::place_in(stem, head.id).0.0);
            let entry = LaneHead {
                priority: head.as_ref().map_or(*priority, |head| head.priority),
                sequence: place.filter(|_| !has_siblings || are_few),
                turn: place.unwrap_or(u64::MAX),
                ..unseen
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

/// Number of tries of a task of a group that another dispatcher tries, too, and the pause between two tries.
pub(super) const GROUP_TRIES: u32 = 10;
pub(super) const GROUP_PAUSE: Duration = Duration::from_millis(2);

/// A head with its place among those of its user, which is not looked up while the lane of the user is held.
pub(super) fn with_place(app: &App, head: &LaneHead) -> Result<LaneHead, AppError> {
    let first = app.store.head_from(head.priority, &head.queue)?;
    let place = first.map(|first| QueueName::place_in(&head.queue, first.id).0.0);
    Ok(LaneHead { turn: place.unwrap_or(head.turn), ..head.clone() })
}

/// Whether the user of a queue has another one in the same tier.
fn has_siblings(queues: &BTreeMap<String, Priority>, queue: &str) -> bool {
    let stem = queue.split('~').next().unwrap_or(queue);
    let marked = queues.range(format!("{stem}~")..format!("{stem}~~")).take(2).count();
    marked + usize::from(queues.contains_key(stem)) > 1
}
