//! A round over the first heads only, when so many lanes have work that a pass does not list all of them.
//!
//! A listing of all heads notes the order of the first ones, and what each user had used. Only grants and ends of runs change the
//! order of two heads, and they only move the heads of their user back; decay keeps the order. So all heads that are not offered
//! come after the noted place of the last one that is, and a head that comes before that place comes before all of them.

use super::{Entry, Round, distance};
use crate::model::queue::{FirstHead, FirstHeads};
use crate::model::sorted::sort;
use crate::model::{Name, Priority, Tier, Timestamp};
use crate::policy::fair::{CAP_US, Ledger, Usage};
use std::cmp::Reverse;

/// The heads of a tier that are offered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Offered {
    /// All heads.
    #[default]
    All,
    /// The heads up to a noted place; `None` if other heads may come before all that are offered.
    UpTo(Option<Noted>),
}

/// The place of a head in a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Noted {
    /// The user of the head.
    pub user: Name,
    /// The head.
    pub head: FirstHead,
    /// The time up to which the use of the user was decayed.
    pub decayed_to: Timestamp,
}

/// The place of a head in the order of a tier, apart from the order within its user.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark(Usage, Priority, u64);

/// The end of the order that is known. `None` if nothing of it is known.
#[derive(Clone, Copy)]
pub(super) struct Cut(Option<Mark>);

impl Noted {
    /// The place by the ledger as it is now. What the user has used since does not count.
    fn mark(&self, ledger: &Ledger, tier: Tier) -> Mark {
        let FirstHead { priority, used, .. } = self.head;
        let noted_us = ledger.decayed_since(self.decayed_to, used.used_us);
        let used_us = ledger.usage(&self.user).used_us.min(noted_us);
        Mark(Usage { used_us, ..used }, priority, distance(ledger, tier, &self.user))
    }

    /// Whether a head of a user comes before all heads that follow this one in the listing.
    pub fn follows(&self, ledger: &Ledger, tier: Tier, (user, priority): (&Name, Priority)) -> bool {
        Mark(ledger.usage(user), priority, distance(ledger, tier, user)) <= self.mark(ledger, tier)
    }
}

impl<L: std::ops::DerefMut<Target = super::Ledger>> Round<L> {
    /// Lets the round end where heads that were not offered may come first.
    #[must_use]
    pub fn over(mut self, offered: &[Offered; 3]) -> Self {
        for tier in Tier::ALL {
            let at = tier.index();
            let Offered::UpTo(last) = &offered[at] else { continue };
            let mut mark = last.as_ref().map(|last| last.mark(&self.ledger, tier));
            // The use of users that lie too far above others counts as this. Whose turn it is among them is not known.
            let least_us = self.queues[at].iter().map(|Reverse(entry)| entry.used.used_us).min();
            let ceiling_us = least_us.map_or(u64::MAX, |least_us| least_us.saturating_add(CAP_US));
            if let Some(Mark(used, ..)) = mark.as_mut().filter(|Mark(used, ..)| used.used_us >= ceiling_us) {
                *used = Usage { used_us: ceiling_us, last_grant: 0 };
            }
            self.cuts[at] = Some(Cut(mark));
        }
        self
    }

    /// Whether a head of a tier that was not offered may come before those that were.
    pub(super) fn is_cut(&mut self, tier: Tier) -> bool {
        let Some(Cut(end)) = self.cuts[tier.index()] else { return false };
        let Some(entry) = self.pop(tier) else { return true };
        let is_beyond = Some(Mark(entry.used, entry.rank.0, entry.distance)) > end;
        self.queues[tier.index()].push(Reverse(entry));
        is_beyond
    }

    /// The first heads of each tier in their order, at most so many, and whether others come after them. The heads of a user
    /// are not divided.
    pub fn into_first(self, most: usize) -> FirstHeads {
        self.queues.map(|queue| {
            let mut entries: Vec<Entry> = queue.into_iter().map(|Reverse(entry)| entry).collect();
            let has_more = entries.len() > most;
            if has_more {
                let (_, next, _) = entries.select_nth_unstable(most);
                let user = next.user.clone();
                entries.truncate(most);
                entries.retain(|entry| entry.user != user);
            }
            sort(&mut entries);
            let head = |Entry { priority, used, queue, .. }| FirstHead { priority, used, queue: queue.to_string() };
            (entries.into_iter().map(head).collect(), has_more)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::cases::{SHARES, head, name};
    use super::super::{Candidate, LaneHead};
    use super::*;
    use crate::model::Timestamp;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Number of heads of a tier that a pass looks at.
    const LOOKED_AT: usize = 3;
    const KEPT: usize = 9;
    const SLOTS: usize = 3;
    const OLD_MS: i64 = 10_000;
    /// The most that decay in steps rounds down in the age of a hint.
    const ROUNDED_US: u64 = 10;

    /// The event of a user, by its number.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Arrive(usize, u32),
        Cancel(usize),
        Grant,
        End(u64),
        Wait(i64),
    }

    /// A listing: the first heads of each tier, whether others follow, and what was struck and announced since.
    struct Hint {
        made: i64,
        decayed_to: Timestamp,
        tiers: [(Vec<(usize, Usage)>, bool); 3],
        struck: BTreeSet<usize>,
        announced: BTreeSet<usize>,
    }

    struct World {
        /// The priority of each user, and the number of its tasks.
        users: Vec<(u8, u32)>,
        ledger: Ledger,
        running: Vec<usize>,
        hint: Option<Hint>,
        now: i64,
        /// Number of grants by the hint, and of those by a listing.
        by_hint: usize,
        by_listing: usize,
    }

    fn user_name(user: usize) -> Name {
        name(&format!("u{user}"))
    }

    impl World {
        fn priority(&self, user: usize) -> Priority {
            Priority::new(self.users[user].0).expect("a priority")
        }

        fn head(&self, user: usize) -> LaneHead {
            let priority = self.priority(user);
            LaneHead { priority, ..head(&format!("u{user}"), priority.tier()) }
        }

        fn number(candidate: &Candidate) -> usize {
            candidate.user.as_str()[1..].parse().expect("a number")
        }

        fn can_start(&self, user: usize) -> bool {
            self.users[user].1 > 0 && !self.running.contains(&user)
        }

        fn heads(&self, users: impl IntoIterator<Item = usize>) -> Vec<LaneHead> {
            let users: BTreeSet<usize> = users.into_iter().filter(|user| self.can_start(*user)).collect();
            users.into_iter().map(|user| self.head(user)).collect()
        }

        /// The noted place of a listed head.
        fn noted(&self, hint: &Hint, (user, used): (usize, Usage)) -> Noted {
            let head = FirstHead { priority: self.priority(user), used, queue: String::new() };
            Noted { user: user_name(user), head, decayed_to: hint.decayed_to }
        }

        /// Lists all users with work, also those that run.
        fn list(&mut self) {
            let all =
                (0..self.users.len()).filter(|user| self.users[*user].1 > 0).map(|user| self.head(user)).collect();
            let mut ledger = self.ledger.clone();
            let first = Round::new(&mut ledger, SHARES, all, Timestamp(self.now)).into_first(KEPT);
            let number = |queue: &str| queue[1..].parse().expect("a number");
            let tiers = first.map(|(heads, has_more)| {
                (heads.iter().map(|head| (number(&head.queue), head.used)).collect(), has_more)
            });
            let (struck, announced) = Default::default();
            self.hint = Some(Hint { made: self.now, decayed_to: ledger.decayed_to, tiers, struck, announced });
        }

        /// The first candidate by the hint; `None` if a listing is needed.
        fn by_hint(&self) -> Option<(Candidate, Ledger)> {
            let hint = self.hint.as_ref().filter(|hint| self.now - hint.made < OLD_MS)?;
            let mut offered: [Offered; 3] = Default::default();
            let mut users: Vec<usize> = hint.announced.iter().copied().collect();
            for (at, (listed, has_more)) in hint.tiers.iter().enumerate() {
                let is_live = |(user, _): &(usize, Usage)| !hint.struck.contains(user);
                let live = (0..listed.len()).filter(|at| is_live(&listed[*at]));
                let end = live.clone().nth(LOOKED_AT).unwrap_or(listed.len());
                users.extend(live.take(LOOKED_AT).map(|at| listed[at].0));
                if *has_more || end < listed.len() {
                    offered[at] = Offered::UpTo(listed[..end].last().map(|last| self.noted(hint, *last)));
                }
            }
            let mut ledger = self.ledger.clone();
            let mut round = Round::new(&mut ledger, SHARES, self.heads(users), Timestamp(self.now)).over(&offered);
            let candidate = round.next()?;
            round.started(candidate.clone(), 1);
            Some((candidate, ledger))
        }

        /// One grant by the hint, or else by a listing. The hint chooses what a listing chooses, apart from the rotation of
        /// users without use.
        fn grant(&mut self) -> Result<(), TestCaseError> {
            let mut listed = self.ledger.clone();
            let all = self.heads(0..self.users.len());
            let Some(right) = Round::new(&mut listed, SHARES, all.clone(), Timestamp(self.now)).next() else {
                prop_assert_eq!(self.by_hint().map(|(chosen, _)| chosen), None);
                return Ok(());
            };
            let candidate = if let Some((chosen, ledger)) = self.by_hint() {
                let [used, right_used] = [&chosen, &right].map(|candidate| listed.usage(&candidate.user).used_us);
                // A rounded use may come before an equal one.
                let is_right = used.abs_diff(right_used) <= ROUNDED_US
                    && (used.max(right_used) > 0 || chosen.priority == right.priority);
                prop_assert!(is_right, "{right:?} {right_used} {chosen:?} {used}");
                self.by_hint += 1;
                self.ledger = ledger;
                chosen
            } else {
                self.list();
                self.by_listing += 1;
                Round::new(&mut self.ledger, SHARES, all, Timestamp(self.now)).started(right.clone(), 1);
                right
            };
            let (user, tier) = (Self::number(&candidate), candidate.tier);
            self.users[user].1 -= 1;
            self.running.push(user);
            let is_left = self.users[user].1 > 0;
            let (name, priority) = (user_name(user), self.priority(user));
            let Some(mut hint) = self.hint.take() else { return Ok(()) };
            hint.struck.insert(user);
            hint.announced.remove(&user);
            let (listed, has_more) = &hint.tiers[tier.index()];
            let last = listed.last().filter(|_| *has_more).map(|last| self.noted(&hint, *last));
            let comes_first = |last: &Noted| last.follows(&self.ledger, tier, (&name, priority));
            if is_left && last.as_ref().map_or(!*has_more, comes_first) {
                hint.announced.insert(user);
            }
            self.hint = Some(hint);
            Ok(())
        }

        fn go(&mut self, step: Step) -> Result<(), TestCaseError> {
            match step {
                Step::Arrive(user, tasks) => {
                    let user = user % self.users.len();
                    let is_new = self.users[user].1 == 0;
                    self.users[user].1 += tasks;
                    if let Some(hint) = self.hint.as_mut().filter(|_| is_new) {
                        hint.announced.insert(user);
                    }
                }
                Step::Cancel(user) => {
                    let user = user % self.users.len();
                    let listed =
                        |hint: &Hint| hint.tiers.iter().any(|(listed, _)| listed.iter().any(|(it, _)| *it == user));
                    if self.hint.as_ref().is_some_and(listed) {
                        self.users[user].1 = 0;
                    }
                }
                Step::Grant if self.running.len() < SLOTS => self.grant()?,
                Step::Grant => {}
                Step::End(ms) if !self.running.is_empty() => {
                    let user = self.running.remove(0);
                    self.ledger.charge_end(&user_name(user), ms, 1, Timestamp(self.now));
                }
                Step::End(_) => {}
                Step::Wait(ms) => self.now += ms,
            }
            Ok(())
        }
    }

    fn world(users: Vec<(u8, u32, u64)>) -> World {
        let mut ledger = Ledger::default();
        for (at, (.., used)) in users.iter().enumerate().filter(|(_, (.., used))| *used > 0) {
            ledger.charge_grant(Tier::Normal, &user_name(at), 1, Timestamp(0));
            ledger.charge_end(&user_name(at), *used, 1, Timestamp(0));
        }
        let users = users.into_iter().map(|(priority, tasks, _)| (priority, tasks)).collect();
        World { users, ledger, running: Vec::new(), hint: None, now: 0, by_hint: 0, by_listing: 0 }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            2 => (any::<usize>(), 1..4_u32).prop_map(|(user, tasks)| Step::Arrive(user, tasks)),
            1 => any::<usize>().prop_map(Step::Cancel),
            8 => Just(Step::Grant),
            6 => prop_oneof![Just(0), 0..90_000_u64].prop_map(Step::End),
            1 => (0..4000_i64).prop_map(Step::Wait),
        ];
        proptest::collection::vec(step, 0..200)
    }

    proptest! {
        #[test]
        fn the_hint_chooses_what_a_listing_chooses(
            users in proptest::collection::vec(
                (prop_oneof![6 => 4..7_u8, 1 => 0..10_u8], 0..4_u32, prop_oneof![Just(0), 1..100_000_u64]), 1..60),
            steps in steps(),
        ) {
            let mut world = world(users);
            for step in steps {
                world.go(step)?;
            }
        }
    }

    #[test]
    fn most_grants_need_no_listing() {
        let mut world = world(vec![(5, 1, 0); 200]);
        for _ in 0..180 {
            world.go(Step::Grant).expect("the right one");
            world.go(Step::End(10)).expect("an end");
        }
        assert_eq!(world.by_hint + world.by_listing, 180);
        // A listing has nine heads, and the grant before it is by the listing itself.
        assert!(world.by_hint >= 150, "{} of {}", world.by_hint, world.by_listing);
    }
}
