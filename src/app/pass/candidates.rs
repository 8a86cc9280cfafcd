//! The queues with work that a pass looks at, as candidates for `policy::schedule`; the hint of heads; and the bookings of tasks
//! that wait for several slots.
//! `heads` gives the candidates. While very many lanes have work, a pass tries the hint first (`start_from`): the first lanes
//! that a listing found, and the lanes that were announced since. It lists all lanes if these leave a slot
//! (`docs/decisions/449-a-hint-of-heads.md`). `Bookings` gives the starts that a task waiting for several slots prevents
//! (`policy::backfill`), by the present locks and events.

use super::claim::Starts;
use super::{Tally, ready, start_round};
use crate::app::admission::{Firsts, is_near, lenders_of, situation_queued};
use crate::app::capacity::{limited_until, occupied};
use crate::app::config_reload::{config, control};
use crate::app::estimate::{QUICK, longest};
use crate::app::waits::as_seen;
use crate::app::{App, AppError, estimate};
use crate::model::lock::loan::is_loan;
use crate::model::queue::{FirstHead, Lanes};
use crate::model::{LaneName, LockKind, Priority, QueueName, Status, Task, TaskId, Tier, Timestamp};
use crate::policy::admission::{Booked, Situation, first_obstacle};
use crate::policy::backfill::{Booking, Slots, Wanted, bookings, may_pass};
use crate::policy::fair::Ledger;
use crate::policy::hold::holds_user;
use crate::policy::schedule::window::{Noted, Offered};
use crate::policy::schedule::{FEW_QUEUES, LaneHead, Round};
use crate::policy::simulate::history::History;
use crate::store::{Heads, LockIndex, LockView, Place};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::Duration;

/// The age from which a process writes a new hint, in milliseconds, while it has no task to start. One that has just listed all
/// lanes writes it sooner.
const RENEWED_MS: i64 = 3000;
const RENEWED_AFTER_LISTING_MS: i64 = 1000;

/// Number of tries of a task of a group that another dispatcher tries, too, and the pause between two tries.
pub(super) const GROUP_TRIES: u32 = 10;
pub(super) const GROUP_PAUSE: Duration = Duration::from_millis(2);

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
fn heads_among(
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
            let is_locked = unseen.takes_user_lane && holders >= config(app).limit(&lane);
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

/// Whether the user of a queue has another one in the same tier.
fn has_siblings(queues: &BTreeMap<String, Priority>, queue: &str) -> bool {
    let stem = queue.split('~').next().unwrap_or(queue);
    let marked = queues.range(format!("{stem}~")..format!("{stem}~~")).take(2).count();
    marked + usize::from(queues.contains_key(stem)) > 1
}

/// The head of a queue at which no look was taken.
fn unseen_head(lane: &LaneName, queue: &str, tier: Tier, priority: Priority) -> LaneHead {
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

/// Number of lanes.
pub(super) fn number_of(lanes: &Lanes) -> usize {
    lanes.values().map(BTreeMap::len).sum()
}

/// A head with its place among those of its user, which is not looked up while the lane of the user is held.
pub(super) fn with_place(app: &App, head: &LaneHead) -> Result<LaneHead, AppError> {
    let first = app.store.head_from(head.priority, &head.queue)?;
    let place = first.map(|first| QueueName::place_in(&head.queue, first.id).0.0);
    Ok(LaneHead { turn: place.unwrap_or(head.turn), ..head.clone() })
}

/// Tries the heads of the hint. True if they left no slot.
pub(super) fn start_from(
    app: &App,
    heads: &Heads,
    locks: &LockIndex,
    tally: &mut Tally,
    starts: &mut Starts,
) -> Result<bool, AppError> {
    for most in app.store.heads_sizes().looks {
        let view = heads.view(most);
        let (free, _) = heads_among(app, &view.lanes, false, locks, &tally.ledger)?;
        let mut offered: [Offered; 3] = Default::default();
        for (offered, last) in offered.iter_mut().zip(view.last) {
            *offered = offered_up_to(app, heads, last)?;
        }
        if !start_round(app, tally, (free, ready(starts)), &offered, starts)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn offered_up_to(app: &App, heads: &Heads, last: Option<Option<FirstHead>>) -> Result<Offered, AppError> {
    let Some(last) = last else { return Ok(Offered::All) };
    let Some(head) = last else { return Ok(Offered::UpTo(None)) };
    let lane = app.store.pending_lane_name(&head.queue)?;
    let noted = |lane: LaneName| Noted { user: lane.key().clone(), head, decayed_to: heads.decayed_to() };
    Ok(Offered::UpTo(lane.map(noted)))
}

/// Strikes the lanes of which this pass has started a task. One that has further work, and comes before the heads that are not
/// in the hint still, is announced again.
pub(super) fn strike(app: &App, mut heads: Heads, tally: &Tally) -> Result<(), AppError> {
    for (tier, payer) in &tally.grants {
        heads.strike(*tier, &payer.queue);
        let offered = offered_up_to(app, &heads, heads.last(*tier))?;
        let comes_first = |priority: Priority| match &offered {
            Offered::All => true,
            Offered::UpTo(None) => false,
            Offered::UpTo(Some(last)) => last.follows(&tally.ledger, *tier, (&payer.user, priority)),
        };
        if tier.priorities().next().is_some_and(comes_first)
            && let Some(head) = app.store.head(*tier, &payer.queue)?
            && comes_first(head.priority)
        {
            heads.announce(head.priority, &payer.queue);
        }
    }
    heads.save();
    Ok(())
}

/// Whether a process that has looked at the hint, and perhaps has listed all lanes, writes a new one.
pub(super) fn must_renew(app: &App, heads: Option<&Heads>, has_listed: bool) -> bool {
    let age = heads.and_then(|heads| heads.age_ms(app.host.now()));
    age.is_none_or(|age| age >= if has_listed { RENEWED_AFTER_LISTING_MS } else { RENEWED_MS })
}

/// Writes the hint, unless another process does. Removes it if few lanes have work.
pub(super) fn renew(app: &App) -> Result<(), AppError> {
    let sizes = app.store.heads_sizes();
    let Some(writer) = app.store.write_heads() else { return Ok(()) };
    let made = app.host.now();
    let lanes = app.store.lanes_with_work()?;
    if number_of(&lanes) < sizes.lanes {
        app.store.drop_heads();
        return Ok(());
    }
    let mut ledger = app.store.ledger()?.as_deref().and_then(Ledger::from_text).unwrap_or_default();
    let round = Round::new(&mut ledger, config(app).tier_shares, all_heads(app, &lanes)?, made);
    let first = round.into_first(sizes.kept);
    Ok(app.store.finish_heads(writer, (made, ledger.decayed_to), &first)?)
}

/// The heads of all lanes, also of those that cannot start now or not from here.
fn all_heads(app: &App, lanes: &Lanes) -> Result<Vec<LaneHead>, AppError> {
    let mut heads = Vec::new();
    for (tier, lanes) in lanes {
        for (queue, priority) in lanes {
            let Some(lane) = app.store.pending_lane_name(queue)? else { continue };
            heads.push(unseen_head(&lane, queue, *tier, *priority));
        }
    }
    Ok(heads)
}

/// The first tasks that wait for several slots, by each lane of theirs, in one pass or one look at its order.
#[derive(Default)]
pub(crate) struct Bookings {
    by_lane: BTreeMap<LaneName, Booking>,
    history: OnceCell<History>,
}

impl Bookings {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_lane.is_empty()
    }

    /// The first task of a lane that the start of a task would keep from its own.
    pub(crate) fn against(&self, app: &App, task: &Task) -> Option<Booked> {
        let (now, mut most) = (app.host.now(), None);
        let booked = |lane: &LaneName| {
            let by = *self.by_lane.get(lane)?;
            let most = *most.get_or_insert_with(|| self.longest(app, task));
            (by.first != task.id && !may_pass(by, task.id, now, most)).then(|| Booked { lane: lane.clone(), by })
        };
        task.lanes.iter().find_map(booked)
    }

    /// Books the start of a task that waits for a capacity lane, if it wants several slots and comes first in its lanes.
    pub(crate) fn book(&mut self, app: &App, task: &Task) -> Result<(), AppError> {
        if !wants_several(task) || task.lanes.iter().any(|lane| self.by_lane.contains_key(lane)) {
            return Ok(());
        }
        let Some(wanted) = self.wanted(app, task)? else { return Ok(()) };
        let (lanes, slots): (Vec<LaneName>, Vec<Wanted>) = wanted.into_iter().unzip();
        self.by_lane.extend(lanes.into_iter().zip(bookings(task.id, &slots, app.host.now())));
        Ok(())
    }

    /// The slots that a task wants; `None` if it waits for something else as well.
    fn wanted(&self, app: &App, task: &Task) -> Result<Option<Vec<(LaneName, Wanted)>>, AppError> {
        if !lenders_of(app, task)?.is_empty() || !waits_for_lanes_only(app, task)? {
            return Ok(None);
        }
        let (locks, mut wanted) = (app.store.lock_index()?, Vec::new());
        for lane in task.all_lanes() {
            let limit = config(app).limit(&lane);
            if !lane.is_capacity_lane() {
                if locks.holders(&lane) >= limit {
                    return Ok(None);
                }
                continue;
            }
            let views = app.holders_in(&locks, &lane)?;
            if limited_until(app, &lane)?.is_some() || occupied(app, &lane, &views).is_some() {
                return Ok(None);
            }
            let counts = |view: &&LockView| !is_loan(view.slot) && !view.verdict.is_stale();
            let of = |view: &LockView| Slots { count: 1, until: self.expected_end(app, &lane, view) };
            let holders = views.iter().filter(counts).map(of).collect();
            wanted.push((lane.clone(), Wanted { count: task.slots_of(&lane), limit, holders }));
        }
        Ok(Some(wanted))
    }

    /// Latest expected end of a holder of a lane.
    fn expected_end(&self, app: &App, lane: &LaneName, view: &LockView) -> Option<Timestamp> {
        let record = view.record()?;
        let held_since = record.acquired_at?;
        if record.kind != LockKind::Task {
            let length = self.history(app).lengths(None, std::slice::from_ref(lane));
            let most = longest(&length, None).and_then(|ms| i64::try_from(ms).ok()).map(|ms| held_since.plus_ms(ms));
            let expires = record.expires_at.filter(|_| record.kind == LockKind::Lease);
            return most.into_iter().chain(expires).min();
        }
        let (place, task) = app.store.find(view.holder().and_then(TaskId::parse)?).ok().flatten()?;
        let stands_still = matches!(app.store.run_pause(task.id), Ok(Some(_)));
        if place != Place::Running || stands_still || as_seen(app, task.clone()).status() != Status::Running {
            return None;
        }
        let since = task.last_start.as_ref().map_or(held_since, |start| start.at);
        self.longest(app, &task).and_then(|ms| i64::try_from(ms).ok()).map(|ms| since.plus_ms(ms))
    }

    /// Longest expected run of a task.
    fn longest(&self, app: &App, task: &Task) -> Option<u64> {
        longest(&self.history(app).lengths_of(task), task.timeout_ms)
    }

    /// Damaged events keep no task from its start.
    fn history(&self, app: &App) -> &History {
        self.history.get_or_init(|| estimate::history(app, QUICK.event_bytes).unwrap_or_default())
    }
}

/// Whether a task takes several slots of capacity lanes, so that it may wait for one while others take the rest.
pub(crate) fn wants_several(task: &Task) -> bool {
    task.lanes.iter().filter(|lane| lane.is_capacity_lane()).map(|lane| task.slots_of(lane)).sum::<u32>() > 1
}

/// Whether only missing room in its lanes keeps a task from starting.
fn waits_for_lanes_only(app: &App, task: &Task) -> Result<bool, AppError> {
    let first_in_lane = Firsts::default().before(&app.store, task)?;
    let situation = Situation { first_in_lane, ..situation_queued(app, task) };
    Ok(first_obstacle(task, &situation).is_none())
}
