//! The shares within a user: its agent sessions, or else its projects, and the sets of lanes of each.
//!
//! Tasks without a known session or project are one share. A share is a line of the ledger like a user's, under a name that no
//! user has: `<user>U+E000<share>` and `<user>U+E000<share>U+E000<lanes>`. A group of tasks that has begun is
//! `<user>U+E000<share>U+E000g<first task>`. Versions that know only users read these lines as users without tasks, and keep them.

use super::{Ledger, NOMINAL_MS, Usage, over_weight};
use crate::model::queue::QueueName;
use crate::model::{Config, LaneName, Name, Tier, Timestamp};
use std::ops::Bound::{Excluded, Unbounded};

/// The separator of the parts of the name of a share. It is a private character, so no user name contains it.
const MARK: char = '\u{e000}';
/// The lanes of the tasks that take the lane of their user. A digest has 16 digits, so no digest has this text.
const ORDINARY: &str = "u";
/// The share of tasks without a known session or project.
const NAMELESS: &str = "-";

/// The weights of one task at each level, and the number of slots that it pays for; 0 counts as 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// Weight of the task's user.
    pub user: u32,
    /// Weight of the task's session or project among those of the user.
    pub share: u32,
    /// Weight of the task's lanes among those of the session or project.
    pub lanes: u32,
    /// Number of slots of a lane that the task takes: it pays for each of them.
    pub slots: u32,
}

impl Weights {
    /// The weights of a user and of the greatest of some lanes, for one slot.
    pub fn of(config: &Config, user: &Name, lanes: &[LaneName]) -> Self {
        let lanes = lanes.iter().map(|lane| config.lane_weight(lane)).max();
        Self { lanes: lanes.unwrap_or(1), ..Self::from(config.weight(user)) }
    }
}

impl From<u32> for Weights {
    /// The weight of a user whose sessions and lanes are equal.
    fn from(user: u32) -> Self {
        Self { user, share: 1, lanes: 1, slots: 1 }
    }
}

/// The payer of a task's slot time: its user, and the share and the lanes that its queue names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payer {
    /// The user.
    pub user: Name,
    /// The name of the queue.
    pub queue: String,
    /// The weights.
    pub weights: Weights,
    /// Whether the user has work in further shares. If not, tasks without a session in the lane of the user are charged as a
    /// share only while the ledger knows a share of the user: most users never have any.
    pub has_shares: bool,
}

/// The names of the shares of a queue in the ledger: its session or project, its lanes within that, and its group. A name is
/// `None` if there is no group, or if the name would be too long.
pub(crate) fn share_names(user: &Name, queue: &str) -> [Option<Name>; 3] {
    let read = QueueName::parse(queue);
    let share = read.as_ref().and_then(|read| read.share).unwrap_or(NAMELESS);
    let lanes = read.as_ref().and_then(|read| read.lanes).unwrap_or(ORDINARY);
    let group = read.as_ref().and_then(|read| read.group);
    let name = |text: String| Name::new(&text).ok();
    [
        name(format!("{user}{MARK}{share}")),
        name(format!("{user}{MARK}{share}{MARK}{lanes}")),
        group.and_then(|first| name(format!("{user}{MARK}{share}{MARK}g{}", first.0))),
    ]
}

/// Whether the tasks of a queue have a session or a project, or do not take the lane of their user. If a user has only other
/// queues, nothing is divided.
pub(crate) fn has_own_share(queue: &str) -> bool {
    QueueName::parse(queue).is_some_and(|name| name.share.is_some() || name.lanes.is_some())
}

impl Ledger {
    /// Charges a grant at each level, as [`Ledger::charge_grant`].
    pub fn granted(&mut self, tier: Tier, payer: &Payer, now: Timestamp) {
        self.charge_grant(tier, &payer.user, payer.weights, now);
        self.charge_shares(payer, NOMINAL_MS, Some(self.grants));
    }

    /// Charges the end of a run at each level, as [`Ledger::charge_end`].
    pub fn ended(&mut self, payer: &Payer, ran_ms: u64, now: Timestamp) {
        self.charge_end(&payer.user, ran_ms, payer.weights, now);
        if Self::charges_end(ran_ms) {
            self.charge_shares(payer, ran_ms - NOMINAL_MS, None);
        }
    }

    fn charge_shares(&mut self, payer: &Payer, ms: u64, grant: Option<u64>) {
        if !has_own_share(&payer.queue) && !payer.has_shares && !self.knows_shares(&payer.user) {
            return;
        }
        let weights = [payer.weights.share, payer.weights.lanes, 1];
        for (name, weight) in share_names(&payer.user, &payer.queue).into_iter().zip(weights) {
            let Some(name) = name else { continue };
            let usage = self.users.entry(name).or_default();
            usage.used_us = usage.used_us.saturating_add(over_weight(ms, payer.weights.slots, weight));
            usage.last_grant = grant.unwrap_or(usage.last_grant);
        }
        self.forget_beyond_limit();
    }

    /// Whether the ledger has shares of a user.
    fn knows_shares(&self, user: &Name) -> bool {
        let Ok(first) = Name::new(&format!("{user}{MARK}")) else { return false };
        let next = self.users.range((Excluded(&first), Unbounded)).next();
        next.is_some_and(|(name, _)| name.as_str().starts_with(first.as_str()))
    }

    /// The part of the ledger that concerns some users and their shares.
    pub fn of_users<'a>(&self, users: impl Iterator<Item = &'a Name>) -> Self {
        let mut some = Self {
            credits: self.credits,
            places: self.places,
            grants: self.grants,
            decayed_to: self.decayed_to,
            users: std::collections::BTreeMap::new(),
        };
        for user in users {
            some.users.extend(self.users.get_key_value(user).map(|(name, usage)| (name.clone(), *usage)));
            let Ok(first) = Name::new(&format!("{user}{MARK}")) else { continue };
            let shares = self.users.range((Excluded(&first), Unbounded));
            let shares = shares.take_while(|(name, _)| name.as_str().starts_with(first.as_str()));
            some.users.extend(shares.map(|(name, usage)| (name.clone(), *usage)));
        }
        some
    }

    /// Ledger data of a share: use and latest grant.
    pub(crate) fn share_usage(&self, name: Option<&Name>) -> Usage {
        name.map_or_else(Usage::default, |name| self.usage(name))
    }
}
