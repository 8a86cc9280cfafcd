//! The memory of the holder of the duty between its passes: the waiting tasks, the tasks of hosts, and the lanes in use.
//!
//! A pass costs as much as the work that could start now, and not as much as all queues. `Memory` has the first tasks of each
//! queue with work (`Line`), the lanes that are held or have rules (`Lane`), and the queues that could start a task. A pass keeps
//! the order of one round over all queues that could start a task. Users that the ledger does not know have used nothing, so they
//! come before all others of their tier, by priority and number. A round is offered as many of these users' tasks as it may need;
//! it is made anew with more before it could miss one. It is offered all queues of users that the ledger knows.

mod pass;
#[cfg(test)]
mod tests;

pub(super) use pass::Terms;

use super::tasks::id_of;
use crate::model::{Name, Priority, Tier};
use crate::policy::fair::Ledger;
use crate::policy::outcome::mixed;
use crate::policy::schedule::LaneHead;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Number of tasks of a queue that are remembered, beyond which the last ones are left to the database.
const MOST_REMEMBERED: usize = 256;

/// The name of a queue.
type Queue = Arc<str>;
/// The place of a task in its queue: its priority, the first task of its group or itself, and its number.
type Turn = (Priority, i64, i64);

/// A host that takes tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Room {
    pub name: String,
    pub labels: Vec<String>,
    pub session: String,
    pub free: i32,
}

impl Room {
    /// Whether it has room for a task with a place: its name, one of its labels, or the empty text for any host.
    pub(super) fn takes(&self, place: &str) -> bool {
        let is_meant = place.is_empty() || self.name == place || self.labels.iter().any(|label| label == place);
        is_meant && self.free > 0
    }

    /// The rank of it, a host by its number, for a task: the most free slots, and of equals the number of the task decides.
    pub(super) fn rank(&self, host: i32, task: i64) -> (i32, u64) {
        (self.free, mixed(task.unsigned_abs(), host.unsigned_abs()))
    }
}

/// The hosts that take tasks, by number.
pub(super) type Rooms = BTreeMap<i32, Room>;

/// A waiting task as the database has it.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub id: i64,
    /// The first task of its group, or itself.
    pub turn: i64,
    pub user: Name,
    /// The name or a label of a host, or empty for any.
    pub place: String,
    pub tier: Tier,
    pub priority: Priority,
    pub lanes: Vec<i64>,
    /// Numbers of slots of the lanes, where one is above 1.
    pub counts: Option<Vec<i32>>,
    pub takes_user_lane: bool,
    /// Hosts that have declined it.
    pub refused: Vec<i32>,
}

/// A lane that is held or has rules. Any other has one free slot.
#[derive(Clone, Copy, Debug)]
struct Lane {
    used: i64,
    capacity: i64,
    /// The end of its pause, or the moment at which its rate allows a grant, by the boot clock; 0 for none.
    shut_until_ms: u64,
}

/// A lane that nobody holds and that has no rules.
const PLAIN: Lane = Lane { used: 0, capacity: 1, shut_until_ms: 0 };

/// A task that is to be granted its lanes on a host.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub task: i64,
    pub host: i32,
    pub session: String,
}

/// A task in a queue.
struct Entry {
    counts: Option<Vec<i32>>,
    refused: Vec<i32>,
}

/// A queue: the tasks of a user for one place, of one tier and one set of lanes.
struct Line {
    user: Name,
    place: String,
    tier: Tier,
    lanes: Vec<i64>,
    takes_user_lane: bool,
    tasks: BTreeMap<Turn, Entry>,
    /// Whether the database has further tasks of it, which come later.
    has_more: bool,
    /// Its place among those that could start a task, and whether the ledger knows its user.
    ready: Option<(Turn, bool)>,
}

/// The memory.
#[derive(Default)]
pub(super) struct Memory {
    lines: HashMap<Queue, Line>,
    /// The queues of the waiting tasks that are remembered.
    waiting: HashMap<i64, (Queue, Turn)>,
    /// The slots of the tasks that hosts have.
    active: HashMap<i64, Vec<(i64, i64)>>,
    lanes: HashMap<i64, Lane>,
    /// The queues that take a lane, and those of a user.
    takers: HashMap<i64, HashSet<Queue>>,
    users: HashMap<Name, HashSet<Queue>>,
    paused_users: HashMap<Name, u64>,
    /// The weights of users that have one in the database.
    weights: HashMap<Name, u32>,
    /// The queues that could start a task: by place and tier those of users that the ledger does not know, and by place the others.
    fresh: BTreeMap<(String, usize), BTreeSet<(Turn, Queue)>>,
    known: BTreeMap<String, BTreeSet<Queue>>,
    /// The lanes of which a task wants several slots.
    wide: HashSet<i64>,
    /// The queues whose next tasks only the database knows.
    hungry: BTreeSet<Queue>,
    /// While a round has the ledger: the queues to look at afterwards.
    later: Option<HashSet<Queue>>,
    pub ledger: Ledger,
}

/// A queue as the database names it.
pub(super) struct Key {
    pub user: String,
    pub place: String,
    pub tier: i16,
    pub lanes: String,
}

impl Memory {
    pub(super) fn new(ledger: Ledger) -> Self {
        Self { ledger, ..Self::default() }
    }

    /// Remembers a waiting task. One that comes after those that are remembered is left to the database, if that has such.
    pub(super) fn wait(&mut self, task: Waiting) {
        self.forget(task.id);
        let queue: Queue = format!("{}\0{}\0{}\0{:?}", task.user, task.place, task.tier.index(), task.lanes).into();
        if !self.lines.contains_key(&queue) {
            for lane in &task.lanes {
                self.takers.entry(*lane).or_default().insert(queue.clone());
            }
            self.users.entry(task.user.clone()).or_default().insert(queue.clone());
        }
        let is_wide =
            |at: usize| task.counts.as_ref().and_then(|counts| counts.get(at)).is_some_and(|count| *count > 1);
        self.wide.extend(task.lanes.iter().enumerate().filter(|(at, _)| is_wide(*at)).map(|(_, lane)| *lane));
        let turn = (task.priority, task.turn, task.id);
        let line = self.lines.entry(queue.clone()).or_insert_with(|| Line {
            user: task.user,
            place: task.place,
            tier: task.tier,
            lanes: task.lanes,
            takes_user_lane: task.takes_user_lane,
            tasks: BTreeMap::new(),
            has_more: false,
            ready: None,
        });
        if line.has_more && line.tasks.last_key_value().is_none_or(|(last, _)| turn > *last) {
            return;
        }
        line.tasks.insert(turn, Entry { counts: task.counts, refused: task.refused });
        let is_first = line.tasks.first_key_value().is_some_and(|(first, _)| *first == turn);
        let beyond = if line.tasks.len() > MOST_REMEMBERED { line.tasks.pop_last() } else { None };
        self.waiting.insert(task.id, (queue.clone(), turn));
        if let Some(((_, _, last), _)) = beyond {
            line.has_more = true;
            self.waiting.remove(&last);
        }
        // A later task changes nothing of whether the queue could start its first one.
        if is_first {
            self.look_at(&queue);
        }
    }

    /// Remembers the task of a host with its slots.
    pub(super) fn hold(&mut self, id: i64, slots: Vec<(i64, i64)>) {
        if self.active.contains_key(&id) {
            return;
        }
        self.forget(id);
        for (lane, count) in &slots {
            self.use_lane(*lane, *count);
        }
        self.active.insert(id, slots);
    }

    /// Forgets a task: it is over, or it is remembered anew.
    pub(super) fn forget(&mut self, id: i64) {
        for (lane, count) in self.active.remove(&id).unwrap_or_default() {
            self.use_lane(lane, -count);
        }
        if let Some((queue, turn)) = self.waiting.remove(&id) {
            if let Some(line) = self.lines.get_mut(&queue) {
                line.tasks.remove(&turn);
            }
            self.look_at(&queue);
        }
    }

    /// Sets the rules of a lane, and the moment until which nothing is granted in it.
    pub(super) fn set_lane(&mut self, id: i64, capacity: i64, shut_until_ms: u64) {
        let lane = self.lanes.entry(id).or_insert(PLAIN);
        (lane.capacity, lane.shut_until_ms) = (capacity, shut_until_ms);
        let affected = self.takers.get(&id).cloned().unwrap_or_default();
        affected.iter().for_each(|queue| self.look_at(queue));
    }

    /// Sets the end of the pause of all tasks of a user, and the weight of the user.
    pub(super) fn set_user(&mut self, user: Name, paused_until_ms: u64, weight: Option<u32>) {
        match weight {
            None => drop(self.weights.remove(&user)),
            Some(weight) => drop(self.weights.insert(user.clone(), weight)),
        }
        let queues = self.users.get(&user).cloned().unwrap_or_default();
        match paused_until_ms {
            0 => drop(self.paused_users.remove(&user)),
            end => drop(self.paused_users.insert(user, end)),
        }
        queues.iter().for_each(|queue| self.look_at(queue));
    }

    /// Ends the pauses whose time has come. The end of the first that goes on.
    pub(super) fn end_pauses(&mut self, now_ms: u64) -> Option<u64> {
        let is_over = |end: u64| end > 0 && end <= now_ms;
        let lanes: Vec<i64> =
            self.lanes.iter().filter(|(_, lane)| is_over(lane.shut_until_ms)).map(|(id, _)| *id).collect();
        for id in lanes {
            let Some(lane) = self.lanes.get(&id).copied() else { continue };
            self.set_lane(id, lane.capacity, 0);
        }
        let users: Vec<Name> =
            self.paused_users.iter().filter(|(_, end)| is_over(**end)).map(|(user, _)| user.clone()).collect();
        for user in users {
            self.paused_users.remove(&user);
            let queues = self.users.get(&user).cloned().unwrap_or_default();
            queues.iter().for_each(|queue| self.look_at(queue));
        }
        let ends = self.lanes.values().map(|lane| lane.shut_until_ms).chain(self.paused_users.values().copied());
        ends.filter(|end| *end > 0 && *end < u64::MAX).min()
    }

    fn use_lane(&mut self, id: i64, more: i64) {
        let lane = self.lanes.entry(id).or_insert(PLAIN);
        let before = lane.used < lane.capacity;
        lane.used += more;
        let lane = *lane;
        // The number of free slots counts for a task of several.
        let is_same = before == (lane.used < lane.capacity) && !self.wide.contains(&id);
        if lane.used <= 0 && lane.capacity == 1 && lane.shut_until_ms == 0 {
            self.lanes.remove(&id);
        }
        if !is_same {
            let takers = self.takers.get(&id).cloned().unwrap_or_default();
            takers.iter().for_each(|queue| self.look_at(queue));
        }
    }

    /// Whether the lanes of a queue have room for a task.
    fn fits(&self, line: &Line, entry: &Entry) -> bool {
        line.lanes.iter().enumerate().all(|(at, id)| {
            let lane = self.lanes.get(id).copied().unwrap_or(PLAIN);
            let count = entry.counts.as_ref().and_then(|counts| counts.get(at)).map_or(1, |count| i64::from(*count));
            lane.shut_until_ms == 0 && lane.used + count <= lane.capacity
        })
    }

    /// Finds out anew whether a queue could start a task. Drops an empty one.
    fn look_at(&mut self, queue: &Queue) {
        let Some(line) = self.lines.get(queue) else { return };
        let head = line.tasks.first_key_value();
        if let Some(later) = &mut self.later {
            later.insert(queue.clone());
            if head.is_none() && line.has_more {
                self.hungry.insert(queue.clone());
            }
            return;
        }
        let is_ready =
            head.is_some_and(|(_, entry)| self.fits(line, entry)) && !self.paused_users.contains_key(&line.user);
        let ready = head.filter(|_| is_ready).map(|(turn, _)| (*turn, self.ledger.knows(&line.user)));
        let (is_empty, has_more) = (line.tasks.is_empty(), line.has_more);
        let (before, place, tier) = (line.ready, line.place.clone(), line.tier.index());
        if before != ready {
            match before {
                Some((_, true)) => drop(self.known.entry(place.clone()).or_default().remove(queue)),
                Some((turn, false)) => {
                    self.fresh.entry((place.clone(), tier)).or_default().remove(&(turn, queue.clone()));
                }
                None => {}
            }
            match ready {
                Some((_, true)) => drop(self.known.entry(place).or_default().insert(queue.clone())),
                Some((turn, false)) => drop(self.fresh.entry((place, tier)).or_default().insert((turn, queue.clone()))),
                None => {}
            }
            if let Some(line) = self.lines.get_mut(queue) {
                line.ready = ready;
            }
        }
        if is_empty && has_more {
            self.hungry.insert(queue.clone());
        } else if is_empty {
            self.drop_line(queue);
        }
    }

    fn drop_line(&mut self, queue: &Queue) {
        let Some(line) = self.lines.remove(queue) else { return };
        for lane in &line.lanes {
            if let Some(takers) = self.takers.get_mut(lane) {
                takers.remove(queue);
                if takers.is_empty() {
                    self.takers.remove(lane);
                }
            }
        }
        if let Some(queues) = self.users.get_mut(&line.user) {
            queues.remove(queue);
            if queues.is_empty() {
                self.users.remove(&line.user);
            }
        }
    }

    /// Notes that the database has further tasks of the queue of a task.
    pub(super) fn has_more(&mut self, id: i64) {
        if let Some(line) = self.waiting.get(&id).and_then(|(queue, _)| self.lines.get_mut(queue)) {
            line.has_more = true;
        }
    }

    /// The queues whose next tasks only the database knows. Each has none from now on, unless they are remembered.
    pub(super) fn take_hungry(&mut self) -> Vec<Key> {
        let hungry = std::mem::take(&mut self.hungry);
        let mut keys = Vec::with_capacity(hungry.len());
        for queue in hungry {
            let Some(line) = self.lines.get_mut(&queue).filter(|line| line.tasks.is_empty()) else { continue };
            line.has_more = false;
            let lanes: Vec<String> = line.lanes.iter().map(ToString::to_string).collect();
            let tier = i16::try_from(line.tier.index()).unwrap_or(0);
            let lanes = format!("{{{}}}", lanes.join(","));
            keys.push(Key { user: line.user.to_string(), place: line.place.clone(), tier, lanes });
            self.drop_line(&queue);
        }
        keys
    }

    fn head(&self, queue: &Queue) -> Option<LaneHead> {
        let line = self.lines.get(queue)?;
        let ((priority, turn, _), _) = line.tasks.first_key_value()?;
        let sequence = id_of(*turn).0;
        Some(LaneHead {
            user: line.user.clone(),
            queue: queue.clone(),
            takes_user_lane: line.takes_user_lane,
            tier: line.tier,
            priority: *priority,
            sequence: Some(sequence),
            turn: sequence,
        })
    }
}
