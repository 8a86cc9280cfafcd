//! One pass over what is remembered, in the order of `policy`.

use super::{Entry, Line, Memory, Proposal, Queue, Room, Rooms, Turn};
use crate::model::{Name, Timestamp};
use crate::policy::fair::Ledger;
use crate::policy::schedule::{Candidate, LaneHead, Round};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// Number of proposals in one transaction.
const BATCH: usize = 64;
/// Number of heads beyond the free slots that the first round of a pass is offered of one place and tier.
const BEYOND: usize = if cfg!(test) { 2 } else { 16 };
/// Number of free slots for which the first round of a pass is offered heads: the first grants do not wait until all are in order.
const FIRST: usize = if cfg!(test) { 4 } else { 16 * BATCH };

/// The heads that a round is offered.
#[derive(Default)]
struct Offer {
    heads: Vec<LaneHead>,
    /// By place and tier of which not all heads are offered: the number of those that are, and that the round may still give.
    left: BTreeMap<(String, usize), usize>,
    counted: HashSet<Queue>,
}

impl Offer {
    /// Counts a head that the round has given, or gives no more.
    fn gave(&mut self, queue: &Queue, line: &Line) {
        if self.counted.remove(queue)
            && let Some(left) = self.left.get_mut(&(line.place.clone(), line.tier.index()))
        {
            *left = left.saturating_sub(1);
        }
    }

    /// Whether a head that was not offered may come next.
    fn is_short(&self) -> bool {
        self.left.values().any(|left| *left <= 1)
    }
}

impl Memory {
    /// The heads that a round is offered: those of known users, and at most so many of each place and tier of the others.
    fn offered(&mut self, rooms: &Rooms, most: usize) -> Offer {
        let has_room = |place: &str| rooms.values().any(|room| room.takes(place));
        let known: Vec<Queue> = self
            .known
            .iter()
            .filter(|(place, _)| has_room(place))
            .flat_map(|(_, queues)| queues.iter().cloned())
            .collect();
        let mut offer = Offer::default();
        for queue in known {
            // Users whose use has decayed to nothing are as those without any.
            self.look_at(&queue);
            if self.lines.get(&queue).is_some_and(|line| matches!(line.ready, Some((_, true)))) {
                offer.heads.extend(self.head(&queue));
            }
        }
        for ((place, tier), queues) in self.fresh.iter().filter(|((place, _), _)| has_room(place)) {
            let first: Vec<&Queue> = queues.iter().take(most).map(|(_, queue)| queue).collect();
            if first.len() < queues.len() {
                offer.left.insert((place.clone(), *tier), first.len());
                offer.counted.extend(first.iter().map(|queue| Arc::clone(queue)));
            }
            offer.heads.extend(first.into_iter().filter_map(|queue| self.head(queue)));
        }
        offer
    }
}

/// The settings of a pass.
pub(in crate::fleet) struct Terms<'a> {
    pub(in crate::fleet) shares: [u32; 3],
    pub(in crate::fleet) now: Timestamp,
    pub(in crate::fleet) weight: &'a dyn Fn(&Name) -> u32,
}

/// Proposes a batch: for each proposal whether it was granted, or nothing for one that is no more the holder of the duty.
pub(in crate::fleet) type Propose<'a, E> = dyn FnMut(&[Proposal]) -> Result<Option<Vec<bool>>, E> + 'a;

/// A proposal with what is undone if it is refused.
struct Taken {
    proposal: Proposal,
    queue: Queue,
    turn: Turn,
    entry: Entry,
}

impl Memory {
    /// One pass, in the order of `policy`. `propose` gives for each proposal of a batch whether it was granted, or nothing for one
    /// that is no more the holder of the duty; `refill` remembers the next tasks of queues. Returns the numbers of granted and of
    /// refused proposals, or nothing.
    pub(in crate::fleet) fn pass<E>(
        &mut self,
        rooms: &mut Rooms,
        terms: &Terms,
        propose: &mut Propose<'_, E>,
        refill: &mut dyn FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<Option<[usize; 2]>, E> {
        let (mut granted, mut refused) = (0, 0);
        let mut most = free(rooms).min(FIRST).saturating_add(BEYOND);
        loop {
            refill(self)?;
            if free(rooms) == 0 {
                break;
            }
            let offer = self.offered(rooms, most);
            if offer.heads.is_empty() {
                break;
            }
            let mut ledger = std::mem::take(&mut self.ledger);
            self.later = Some(HashSet::new());
            let round = self.round(&mut ledger, offer, rooms, terms, propose);
            let later = self.later.take().unwrap_or_default();
            self.ledger = ledger;
            let round = round?;
            let charged = round.users.iter().filter_map(|user| self.users.get(user)).flatten();
            let affected: HashSet<Queue> = later.into_iter().chain(charged.cloned()).collect();
            affected.iter().for_each(|queue| self.look_at(queue));
            let Some([new, not]) = round.answers else { return Ok(None) };
            (granted, refused) = (granted + new, refused + not);
            let is_over = !round.is_short && self.hungry.is_empty();
            if is_over || refused > 0 {
                break;
            }
            most = most.saturating_mul(if new == 0 || most < free(rooms) { 4 } else { 1 });
        }
        Ok(Some([granted, refused]))
    }

    /// One round of a pass.
    fn round<E>(
        &mut self,
        ledger: &mut Ledger,
        mut offer: Offer,
        rooms: &mut Rooms,
        terms: &Terms,
        propose: &mut Propose<'_, E>,
    ) -> Result<Ended, E> {
        let heads = std::mem::take(&mut offer.heads);
        let mut round = Round::new(ledger, terms.shares, heads, terms.now);
        let (mut ended, mut batch, mut sums) = (Ended::default(), Vec::new(), [0, 0]);
        while free(rooms) > 0 {
            ended.is_short = offer.is_short();
            if ended.is_short || !self.hungry.is_empty() {
                break;
            }
            let Some(candidate) = round.next() else { break };
            let Some(taken) = self.take(&candidate, &mut offer, rooms) else { continue };
            let again = self
                .head(&candidate.queue)
                .map(|head| LaneHead { priority: head.priority, ..LaneHead::again(&candidate) });
            let user = candidate.user.clone();
            if candidate.takes_user_lane {
                for queue in self.users.get(&user).into_iter().flatten() {
                    self.lines.get(queue).into_iter().for_each(|line| offer.gave(queue, line));
                }
            }
            ended.users.insert(user);
            let known = self.weights.get(&candidate.user).copied();
            let weight = known.unwrap_or_else(|| (terms.weight)(&candidate.user));
            round.started(candidate, weight);
            again.into_iter().for_each(|head| round.offer(head));
            batch.push(taken);
            if batch.len() == BATCH && !self.settle(&mut batch, rooms, &mut sums, propose)? {
                return Ok(ended);
            }
        }
        let is_held = batch.is_empty() || self.settle(&mut batch, rooms, &mut sums, propose)?;
        ended.answers = is_held.then_some(sums);
        Ok(ended)
    }

    /// Takes the first task of the queue of a candidate for the host with the most room, if its lanes have room.
    fn take(&mut self, candidate: &Candidate, offer: &mut Offer, rooms: &mut Rooms) -> Option<Taken> {
        let line = self.lines.get(&candidate.queue)?;
        offer.gave(&candidate.queue, line);
        let (turn, entry) = line.tasks.first_key_value()?;
        if !self.fits(line, entry) {
            return None;
        }
        let is_meant = |host: i32, room: &Room| room.takes(&line.place) && !entry.refused.contains(&host);
        let fit = rooms.iter_mut().filter(|(host, room)| is_meant(**host, room));
        let best = fit.max_by_key(|(host, room)| room.rank(**host, turn.1));
        let (host, room) = best?;
        room.free -= 1;
        let (turn, proposal) = (*turn, Proposal { task: turn.2, host: *host, session: room.session.clone() });
        let slots = line.lanes.iter().enumerate().map(|(at, lane)| {
            (*lane, entry.counts.as_ref().and_then(|counts| counts.get(at)).map_or(1, |count| i64::from(*count)))
        });
        let slots = slots.collect();
        let entry = Entry { counts: entry.counts.clone(), refused: entry.refused.clone() };
        self.hold(turn.2, slots);
        Some(Taken { proposal, queue: candidate.queue.clone(), turn, entry })
    }

    /// Proposes a batch. What was refused waits as before. False without the duty.
    fn settle<E>(
        &mut self,
        batch: &mut Vec<Taken>,
        rooms: &mut Rooms,
        sums: &mut [usize; 2],
        propose: &mut Propose<'_, E>,
    ) -> Result<bool, E> {
        let proposals: Vec<Proposal> = batch.iter().map(|taken| taken.proposal.clone()).collect();
        let Some(answers) = propose(&proposals)? else { return Ok(false) };
        for (taken, is_granted) in batch.drain(..).zip(answers) {
            sums[usize::from(!is_granted)] += 1;
            if is_granted {
                continue;
            }
            let id = taken.proposal.task;
            if let Some(room) = rooms.get_mut(&taken.proposal.host) {
                room.free += 1;
            }
            self.forget(id);
            if let Some(line) = self.lines.get_mut(&taken.queue) {
                line.tasks.insert(taken.turn, taken.entry);
                self.waiting.insert(id, (taken.queue.clone(), taken.turn));
                self.look_at(&taken.queue);
            }
        }
        Ok(true)
    }
}

/// The end of a round.
#[derive(Default)]
struct Ended {
    /// The numbers of granted and refused proposals; nothing without the duty.
    answers: Option<[usize; 2]>,
    /// Whether it was offered too few heads.
    is_short: bool,
    /// The users that it has charged.
    users: BTreeSet<Name>,
}

fn free(rooms: &Rooms) -> usize {
    rooms.values().map(|room| usize::try_from(room.free).unwrap_or(0)).sum()
}
