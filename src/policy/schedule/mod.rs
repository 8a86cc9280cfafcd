//! The one scheduling decision: the order in which the waiting users are tried (contract, section 7).
//!
//! Pure: no file, no clock. It does not know locks, limits or pauses. The caller offers the users that seem runnable, tries
//! them in the order given here, and reports the ones that started.
//!
//! # Between tiers
//!
//! Smooth weighted round robin. At a grant, every tier that has runnable work earns its share in credits, and the tier that was
//! granted pays the sum of these shares. The tier with the most credits is tried first. Credits are kept in the [`Ledger`],
//! also while a tier has no work. So neither a clock nor coming and going changes the grants of a tier.
//!
//! **Bound.** Let W be the sum of the three shares and w the share of tier T. No credit ever reaches W or -W. So while T has
//! runnable work at every grant, fewer than 2·W/w grants of other tiers come between two grants of T, whatever the other tiers
//! do. For the shares 16, 4, 1 the exact numbers are 2, 8 and 31. While all three tiers have runnable work, every W grants in a
//! row hold w of T, give or take one.
//!
//! # Between users of a tier
//!
//! The user with the least decayed slot time over weight comes first ([`super::fair`]); equals take turns by their latest
//! grant. Users without an entry in the ledger are equal. Among these, priority decides, then the age of the task if the caller
//! knows it, and otherwise a rotation over the hashes of the names. The use of a waiting user never counts as more than
//! [`CAP_US`] (60 slot-seconds over weight) above the least of the users that wait with it; the excess is forgiven.
//!
//! **Bound (P6).** Let user u have runnable work in a tier from one of its charges to its next grant. Let x be any other user
//! of this tier, of weight w, that runs at most k tasks at once (1 where users take turns), none for longer than L. Then x is
//! granted in the meantime
//!
//! - tasks that use no more than **60 s · w + k · L** of slot time, and
//! - no more than **60 · w + 1** tasks; only one if nothing is left of what u used.
//!
//! Neither bound depends on the number of x's waiting tasks. While u waits, the lead of u over x in use never grows: it is 60 s
//! at most, every charge of x lowers it by the run time of x over w, decay lowers it, and x goes before u only while it is at
//! least zero. A task of several slots is charged for each of them. The k · L is the time that x runs without a charge so far.
//! Rounding adds at most a microsecond over weight for each second that u waits. A second grant of x may come when the ledger
//! has forgotten x, after three hours, or when it has more than [`super::fair::MAX_USERS`] users.
//!
//! A stream of ever new users does not starve u either, if the caller knows the age of tasks. After three hours, 60 s of use
//! have decayed to nothing, and then u comes before all later users of its priority.
//!
//! Both bounds together: between two grants of u there are fewer than (2·W/w + 1) · (1 + Σ (60·w_x + 1)) grants in all.
//!
//! # Tasks that go on after a wait
//!
//! These tasks need their lanes again ([`Resumed`]). They count as work of their tier, and pay for it. Within the tier, the
//! first of them comes before all new work of its priority and of lesser ones, whatever its user has used. New work of a better
//! priority goes before it, while the user of that work has used no more than its own. So the bound of users holds for it as well.
//!
//! # Within a user
//!
//! The user's share is divided again between agent sessions, or else projects, by the same rule. The least decayed slot time
//! over weight comes first, and equals take turns by their latest grant. The use of a share never counts as more than
//! [`CAP_US`] above the least of those that wait beside it. Tasks without a known session or project are one share. So sessions
//! take turns in the lane of their user, and a task there is eligible if it is the first one of its session. Tasks of one
//! session go by priority. Tasks of one priority are divided in the same way between the sets of lanes that they name (the lane
//! of the user is one), and then go by age. A group of tasks that has begun goes on before other shares (`--group`), unless
//! these have work of a better priority.
//!
//! **Bound.** So the bound of users holds for shares as well, counted in the tasks of the one user. While a share waits,
//! another one of weight w is granted no more than **60 · w + 1** tasks, which use **60 s · w + k · L** at most, and the rest
//! of one group, which is **15** tasks at most.

use super::fair::{CAP_US, Ledger, Payer, Usage, Weights, has_own_share, place_of, share_names};
use crate::model::{Name, Priority, TaskId, Tier, Timestamp};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::ops::DerefMut;
use std::sync::Arc;
use window::Cut;

pub use resumed::Resumed;

mod resumed;
pub mod turns;
pub mod window;

/// Greatest number of queues with work for which the ages of heads are looked up, so that users without an earlier grant go by
/// age (S3.12).
pub const FEW_QUEUES: usize = 32;

/// A user that has work in a tier, with the data that the caller has before it opens the task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneHead {
    /// The user.
    pub user: Name,
    /// The queue of that user; a user may have several.
    pub queue: Arc<str>,
    /// Whether the head's tasks take the lane of the user: then the user's queues take turns.
    pub takes_user_lane: bool,
    /// The tier of the work.
    pub tier: Tier,
    /// The best priority with work in this tier.
    pub priority: Priority,
    /// The sequence of the task at the head. It decides between users that the ledger does not know, so the caller sets it for
    /// all of these users or for none.
    pub sequence: Option<u64>,
    /// The sequence of the task at the head, if the user has several queues: it decides between these. `u64::MAX` if it is not
    /// known.
    pub turn: u64,
}

impl LaneHead {
    /// The queue of a candidate again, after one of its tasks was started. Its next task is not looked up before its turn.
    pub fn again(candidate: &Candidate) -> Self {
        Self {
            user: candidate.user.clone(),
            queue: Arc::clone(&candidate.queue),
            takes_user_lane: candidate.takes_user_lane,
            tier: candidate.tier,
            priority: candidate.priority,
            sequence: None,
            turn: u64::MAX,
        }
    }
}

/// The user to try next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The user.
    pub user: Name,
    /// The queue to try.
    pub queue: Arc<str>,
    /// Whether the candidate's tasks take the lane of the user.
    pub takes_user_lane: bool,
    /// The tier in which the candidate is tried.
    pub tier: Tier,
    /// The priority at which the candidate's head waits.
    pub priority: Priority,
    /// The sequence of the candidate's head, if it is known.
    pub sequence: Option<u64>,
    /// The task that continues after a wait; `None` for new work.
    pub resumed: Option<TaskId>,
}

/// The order of one pass. `next` returns candidates until the end. The caller reports a candidate that could start with
/// `started` before it calls `next` again. A candidate without that report counts as blocked for the rest of the pass.
pub struct Round<L> {
    ledger: L,
    shares: [i64; 3],
    now: Timestamp,
    queues: [BinaryHeap<Reverse<Entry>>; 3],
    /// Tasks that continue after a wait, the first one last.
    resumed: [Vec<Resumed>; 3],
    started: HashSet<Name>,
    /// The users whose share is divided.
    shared: HashSet<Name>,
    ranks: Ranks,
    /// For each tier of which not all heads were offered: the end of its order that is known.
    cuts: [Option<Cut>; 3],
}

/// A head with its rank. The order of the members is the order of the users, and then the order within a user.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    used: Usage,
    /// The best priority of the user, and the sequence of the user's oldest head of that priority.
    rank: (Priority, u64),
    distance: u64,
    user: Name,
    /// False for a group that has begun, unless work of a better priority stops it.
    is_no_rest: bool,
    session: Usage,
    priority: Priority,
    lanes: Usage,
    turn: u64,
    queue: Arc<str>,
    takes_user_lane: bool,
    sequence: u64,
    shares: [Option<Name>; 3],
}

/// For each user whose share is divided, and each tier: the best priority, and the sequence of the oldest head of that priority.
type Ranks = BTreeMap<(Name, usize), (Priority, u64)>;

impl<L: DerefMut<Target = Ledger>> Round<L> {
    /// Begins a pass over the users that seem runnable; `shares` are those of high, normal and low, and 0 counts as 1. Lowers
    /// the use of users that lie too far above others. Costs O(n).
    pub fn new(mut ledger: L, shares: [u32; 3], heads: Vec<LaneHead>, now: Timestamp) -> Self {
        ledger.decay(now);
        let shares = shares.map(|share| i64::from(share.max(1)));
        let total: i64 = shares.iter().sum();
        for credit in &mut ledger.credits {
            // After a change of shares, or from a damaged file, a credit may lie outside the range that these shares can reach.
            *credit = (*credit).clamp(-total, total);
        }
        let mut ceilings = [u64::MAX; 3];
        for head in &heads {
            let ceiling = &mut ceilings[head.tier.index()];
            let used_us = ledger.usage(&head.user).used_us;
            *ceiling = (*ceiling).min(used_us.saturating_add(CAP_US));
        }
        for head in &heads {
            ledger.lower(&head.user, ceilings[head.tier.index()]);
        }
        let shared: HashSet<Name> =
            heads.iter().filter(|head| has_own_share(&head.queue)).map(|head| head.user.clone()).collect();
        let mut ranks = Ranks::new();
        if !shared.is_empty() {
            forgive_shares(&mut ledger, &heads, &shared);
            for head in heads.iter().filter(|head| shared.contains(&head.user)) {
                let own = (head.priority, head.sequence.unwrap_or(u64::MAX));
                let rank = ranks.entry((head.user.clone(), head.tier.index())).or_insert(own);
                *rank = own.min(*rank);
            }
        }
        let mut sorted: [Vec<Reverse<Entry>>; 3] = Default::default();
        for head in heads {
            sorted[head.tier.index()].push(Reverse(Entry::of(&ledger, head, &shared, &ranks)));
        }
        let (queues, resumed) = (sorted.map(BinaryHeap::from), Default::default());
        Self { ledger, shares, now, queues, resumed, started: HashSet::new(), shared, ranks, cuts: [None; 3] }
    }

    /// Adds a head during the pass, for a user that may run more than one task, after one was started.
    pub fn offer(&mut self, head: LaneHead) {
        if head.takes_user_lane {
            self.started.remove(&head.user);
        }
        if has_own_share(&head.queue) {
            self.shared.insert(head.user.clone());
        }
        let tier = head.tier.index();
        self.queues[tier].push(Reverse(Entry::of(&self.ledger, head, &self.shared, &self.ranks)));
    }

    /// Records that the candidate was granted its lanes: its tier pays, it is charged, and it is not returned again in this
    /// pass unless it is offered again. Returns the charge, for a ledger that another process wrote meanwhile.
    pub fn started(&mut self, candidate: Candidate, weights: impl Into<Weights>) -> Payer {
        let granted = candidate.tier.index();
        for tier in 0..self.queues.len() {
            if tier == granted || self.has_work(tier) {
                self.ledger.credits[tier] += self.shares[tier];
                self.ledger.credits[granted] -= self.shares[tier];
            }
        }
        let payer = Payer {
            has_shares: self.shared.contains(&candidate.user),
            user: candidate.user.clone(),
            queue: candidate.queue.to_string(),
            weights: weights.into(),
        };
        self.ledger.granted(candidate.tier, &payer, self.now);
        if candidate.takes_user_lane {
            self.started.insert(candidate.user);
        }
        self.drop_started();
        payer
    }

    /// The best entry of a tier by the present use of its user: in this pass, another queue of the user may have been granted a
    /// task.
    fn pop(&mut self, tier: Tier) -> Option<Entry> {
        loop {
            let Reverse(mut entry) = self.queues[tier.index()].pop()?;
            let used = self.ledger.usage(&entry.user);
            let [session, lanes] = [0, 1].map(|level| self.ledger.share_usage(entry.shares[level].as_ref()));
            if (entry.used, entry.session, entry.lanes) >= (used, session, lanes) {
                return Some(entry);
            }
            (entry.used, entry.session, entry.lanes) = (used, session, lanes);
            self.queues[tier.index()].push(Reverse(entry));
        }
    }

    /// Removes users that were started in this pass from the heads of the queues, so that a queue is empty if no user in it can
    /// run.
    fn drop_started(&mut self) {
        for queue in &mut self.queues {
            while queue.peek().is_some_and(|Reverse(entry)| entry.takes_user_lane && self.started.contains(&entry.user))
            {
                queue.pop();
            }
        }
    }
}

impl<L: DerefMut<Target = Ledger>> Iterator for Round<L> {
    type Item = Candidate;

    /// The best user of the tier with the most credits; `None` if no user is left to try, or if one that was not offered may
    /// come first.
    fn next(&mut self) -> Option<Candidate> {
        let tier = Tier::ALL.into_iter().filter(|tier| self.has_work(tier.index())).max_by_key(|tier| {
            let at = tier.index();
            (self.ledger.credits[at] + self.shares[at], Reverse(at))
        })?;
        if self.is_cut(tier) {
            return None;
        }
        if let Some(candidate) = self.next_resumed(tier) {
            return Some(candidate);
        }
        let entry = self.pop(tier)?;
        self.drop_started();
        let sequence = Some(entry.sequence).filter(|sequence| *sequence != u64::MAX);
        Some(Candidate {
            user: entry.user,
            queue: entry.queue,
            takes_user_lane: entry.takes_user_lane,
            tier,
            priority: entry.priority,
            sequence,
            resumed: None,
        })
    }
}

impl Entry {
    fn of(ledger: &Ledger, head: LaneHead, shared: &HashSet<Name>, ranks: &Ranks) -> Self {
        let sequence = head.sequence.unwrap_or(u64::MAX);
        let is_shared = shared.contains(&head.user);
        let shares = if is_shared { share_names(&head.user, &head.queue) } else { Default::default() };
        let known = is_shared.then(|| ranks.get(&(head.user.clone(), head.tier.index()))).flatten();
        let rank = known.copied().unwrap_or((head.priority, sequence));
        let has_begun = shares[2].as_ref().is_some_and(|group| ledger.knows(group));
        Self {
            used: ledger.usage(&head.user),
            rank,
            distance: distance(ledger, head.tier, &head.user),
            user: head.user,
            is_no_rest: !has_begun || head.priority > rank.0,
            session: ledger.share_usage(shares[0].as_ref()),
            priority: head.priority,
            lanes: ledger.share_usage(shares[1].as_ref()),
            turn: head.turn,
            queue: head.queue,
            takes_user_lane: head.takes_user_lane,
            sequence,
            shares,
        }
    }
}

/// The distance of a user in the rotation: the place after the last served one comes first, and the last served place comes last.
fn distance(ledger: &Ledger, tier: Tier, user: &Name) -> u64 {
    place_of(user).wrapping_sub(ledger.places[tier.index()]).wrapping_sub(1)
}

/// Lowers the use of shares that lie too far above others of their user that wait in the same tier.
fn forgive_shares(ledger: &mut Ledger, heads: &[LaneHead], shared: &HashSet<Name>) {
    let heads = heads.iter().filter(|head| shared.contains(&head.user));
    let named: Vec<(usize, Name, [Option<Name>; 3])> =
        heads.map(|head| (head.tier.index(), head.user.clone(), share_names(&head.user, &head.queue))).collect();
    let mut ceilings: BTreeMap<(usize, &Name), u64> = BTreeMap::new();
    let levels = || {
        named.iter().flat_map(|(tier, user, [outer, inner, _])| {
            let within_user = outer.as_ref().map(|share| (*tier, user, share));
            let within_share = outer.as_ref().zip(inner.as_ref()).map(|(outer, inner)| (*tier, outer, inner));
            within_user.into_iter().chain(within_share)
        })
    };
    for (tier, above, share) in levels() {
        let ceiling = ceilings.entry((tier, above)).or_insert(u64::MAX);
        *ceiling = (*ceiling).min(ledger.usage(share).used_us.saturating_add(CAP_US));
    }
    for (tier, above, share) in levels() {
        ledger.lower(share, ceilings[&(tier, above)]);
    }
}

#[cfg(test)]
mod tests;
