//! The queue on a virtual clock: arrivals, passes by `policy::schedule`, and ends. Dispatch decides by files; this module
//! decides by numbers, with the same functions.

use super::load::{Job, Load, Random};
use super::report::Book;
use crate::model::sorted::sort_by_key;
use crate::model::{LaneName, Name, Priority, QueueName, TaskId, Tier, Timestamp};
use crate::policy::backfill::{Booking, Slots, Wanted, bookings as bookings_of, may_pass};
use crate::policy::beyond::{MOST_TRIED, may_pass as may_go_beyond};
use crate::policy::fair::{Ledger, Payer};
use crate::policy::schedule::{FEW_QUEUES, LaneHead, Round};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::sync::Arc;

/// The start and the end of a job; `None` if it did not start or end.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Times {
    /// The earliest time at which the job could have started: it had arrived, and all jobs that it comes after were over.
    pub ready: Option<Timestamp>,
    /// The time of the job's start.
    pub start: Option<Timestamp>,
    /// The time of the job's end.
    pub end: Option<Timestamp>,
}

/// Whether a job could start in a pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// The job could start.
    Free,
    /// A capacity lane is full for the job.
    Full,
    /// Another task comes first, or a key lane is taken.
    Behind,
}

/// Tasks in the order of their turns: priority, the first task of the group, the own number.
type Places = BTreeSet<(Priority, (TaskId, TaskId), usize)>;

/// The tasks of one queue, by tier.
struct Line {
    name: Arc<str>,
    user: usize,
    user_lane: Option<usize>,
    waiting: [Places; 3],
}

/// One run over a load.
pub struct World<'a> {
    load: &'a Load,
    names: Vec<Name>,
    ledger: Ledger,
    now: Timestamp,
    used: Vec<u32>,
    /// For each lane, number of slots in use by tasks.
    by_tasks: Vec<u32>,
    /// Times of the recent grants of each lane with a rate.
    granted: Vec<Vec<Timestamp>>,
    /// The earliest time at which a lane is free again that its rate blocked in the last pass.
    again: Cell<Option<Timestamp>>,
    key_lanes: Vec<bool>,
    lines: Vec<Line>,
    by_name: HashMap<Arc<str>, usize>,
    /// The jobs that wait in a key lane other than a user's, by lane and tier.
    firsts: BTreeMap<(usize, usize), Places>,
    running: BinaryHeap<Reverse<(Timestamp, usize)>>,
    /// Running jobs whose end is not known.
    endless: Vec<usize>,
    /// Jobs that have not arrived, the next one last.
    coming: Vec<(Timestamp, usize)>,
    /// For each job, number of unfinished jobs that it comes after.
    open: Vec<usize>,
    followers: Vec<Vec<usize>>,
    /// The times of each job.
    pub times: Vec<Times>,
    /// Number of heads that were looked at: the cost of a run.
    pub looks: u64,
    /// The least number of observed lengths from which a length was drawn.
    pub samples: usize,
    book: Book,
}

impl<'a> World<'a> {
    /// A world at a moment, with the running jobs already in their places.
    pub fn new(load: &'a Load, ledger: Ledger, now: Timestamp, random: &mut Random) -> Self {
        let count = load.jobs.len();
        let mut world = Self {
            load,
            names: load.users.iter().map(|user| user.name.clone()).collect(),
            ledger,
            now,
            used: vec![0; load.lanes.len()],
            by_tasks: vec![0; load.lanes.len()],
            granted: load.lanes.iter().map(|lane| lane.rate.clone().map(|(_, at)| at).unwrap_or_default()).collect(),
            again: Cell::new(None),
            key_lanes: load.lanes.iter().map(|lane| lane.name.is_key_lane() && !lane.name.is_user()).collect(),
            lines: Vec::new(),
            by_name: HashMap::new(),
            firsts: BTreeMap::new(),
            running: BinaryHeap::new(),
            endless: Vec::new(),
            coming: Vec::new(),
            open: load.jobs.iter().map(|job| job.after.len()).collect(),
            followers: vec![Vec::new(); count],
            times: vec![Times::default(); count],
            looks: 0,
            samples: usize::MAX,
            book: Book::default(),
        };
        for (at, job) in load.jobs.iter().enumerate() {
            job.after.iter().for_each(|before| world.followers[*before].push(at));
            match job.since {
                Some(since) => world.begin(at, since, random),
                None => world.coming.push((job.ready, at)),
            }
        }
        sort_by_key(&mut world.coming, |(ready, at)| Reverse((*ready, *at)));
        world
    }

    /// Like `new`, with a book of the slot time of each user.
    #[must_use]
    pub fn with_book(mut self) -> Self {
        self.book = Book::new(self.load, self.now);
        self
    }

    /// The book, once the run is over.
    pub fn into_book(self) -> (Vec<Times>, Book, Timestamp) {
        (self.times, self.book, self.now)
    }

    /// Runs until no event is left, until `is_over`, or for about so many looks; returns false in the last case.
    pub fn run(&mut self, most_looks: u64, random: &mut Random, is_over: &dyn Fn(&[Times]) -> bool) -> bool {
        loop {
            while let Some((_, at)) = self.coming.pop_if(|(ready, _)| *ready <= self.now) {
                self.arrive(at);
            }
            self.pass(random);
            if is_over(&self.times) {
                return true;
            }
            if self.looks > most_looks {
                return false;
            }
            let end = self.running.peek().map(|Reverse((end, _))| *end);
            let next = self.coming.last().map(|(ready, _)| *ready);
            let again = self.again.get();
            let Some(moment) = end.into_iter().chain(next).chain(again).min() else { return true };
            self.book.pass_time(self.load, moment);
            self.now = moment.max(self.now);
            while let Some(Reverse((end, at))) = self.running.pop() {
                if end > self.now {
                    self.running.push(Reverse((end, at)));
                    break;
                }
                self.finish(at);
            }
        }
    }

    /// Adds an arriving job. A job that comes after others waits for their ends.
    fn arrive(&mut self, at: usize) {
        self.times[at].ready = Some(self.load.jobs[at].ready);
        if self.open[at] == 0 {
            self.enter(at);
        }
    }

    fn enter(&mut self, at: usize) {
        let job = &self.load.jobs[at];
        self.times[at].ready = Some(self.now.max(job.ready));
        let line = match self.by_name.get(&job.queue) {
            Some(line) => *line,
            None => {
                let user_lane = job.takes_user_lane.then(|| LaneName::user(&self.names[job.user]));
                let find = |name: &LaneName| {
                    job.lanes.iter().map(|(lane, _)| *lane).find(|at| self.load.lanes[*at].name == *name)
                };
                self.lines.push(Line {
                    name: Arc::clone(&job.queue),
                    user: job.user,
                    user_lane: user_lane.as_ref().and_then(find),
                    waiting: Default::default(),
                });
                self.by_name.insert(Arc::clone(&job.queue), self.lines.len() - 1);
                self.lines.len() - 1
            }
        };
        let (tier, place) = place_of(job, at);
        self.lines[line].waiting[tier].insert(place);
        for (lane, _) in job.lanes.iter().filter(|(lane, _)| self.key_lanes[*lane]) {
            self.firsts.entry((*lane, tier)).or_default().insert(place);
        }
        self.book.came(job.user);
    }

    /// One pass, as `app::pass` makes it.
    fn pass(&mut self, random: &mut Random) {
        self.again.set(None);
        if self.used[0] >= self.load.lanes[0].limit {
            return;
        }
        let heads = self.heads();
        if heads.is_empty() {
            return;
        }
        self.looks += heads.len() as u64;
        let mut ledger = std::mem::take(&mut self.ledger);
        let mut round = Round::new(&mut ledger, self.load.tier_shares, heads, self.now);
        let (mut bookings, mut blocked) = (BTreeMap::new(), BTreeSet::new());
        while self.used[0] < self.load.lanes[0].limit {
            let Some(candidate) = round.next() else { break };
            let line = self.by_name[&candidate.queue];
            if self.lines[line].waiting[candidate.tier.index()].is_empty() {
                continue;
            }
            let Some(at) = self.first_free(line, candidate.tier, &mut bookings) else {
                blocked.insert(self.lines[line].user);
                continue;
            };
            let again = LaneHead::again(&candidate);
            self.leave(line, at);
            round.started(candidate, self.load.jobs[at].weights);
            self.book.granted(self.load.jobs[at].user);
            self.begin(at, self.now, random);
            self.count_grant(at);
            let has_room = self.lines[line].user_lane.is_none_or(|lane| self.load.lanes[lane].limit > 1);
            if !again.takes_user_lane || has_room {
                // Offers it also if the queue is empty, because other queues of the user may continue.
                round.offer(again);
            }
        }
        self.ledger = ledger;
        self.book.passed(&blocked);
    }

    fn heads(&self) -> Vec<LaneHead> {
        let (mut heads, mut queues) = (Vec::new(), 0);
        for line in &self.lines {
            let before = heads.len();
            for (tier, waiting) in Tier::ALL.into_iter().zip(&line.waiting) {
                // A group takes its turn at the place of its first task.
                let Some((priority, (place, _), _)) = waiting.first() else { continue };
                heads.push(LaneHead {
                    user: self.names[line.user].clone(),
                    queue: Arc::clone(&line.name),
                    takes_user_lane: line.user_lane.is_some(),
                    tier,
                    priority: *priority,
                    sequence: Some(place.0),
                    turn: place.0,
                });
            }
            // Jobs that wait for the lane of their user count among the queues, but are not tried.
            queues += heads.len() - before;
            if line.user_lane.is_some_and(|lane| self.used[lane] >= self.load.lanes[lane].limit) {
                heads.truncate(before);
            }
        }
        if queues > FEW_QUEUES {
            heads.iter_mut().for_each(|head| head.sequence = None);
        }
        heads
    }

    /// The task of a queue that starts now: the first one, or one of the user's tasks that may pass it (`policy::beyond`).
    fn first_free(&self, line: usize, tier: Tier, bookings: &mut BTreeMap<usize, Booking>) -> Option<usize> {
        let mut passed = Vec::new();
        for (_, (_, id), at) in self.lines[line].waiting[tier.index()].iter().take(MOST_TRIED + 1) {
            if !may_go_beyond(&passed, *id) {
                return None;
            }
            match self.fit(*at, bookings) {
                Fit::Free => return Some(*at),
                Fit::Full if self.lines[line].user_lane.is_some() => passed.push(*id),
                Fit::Full | Fit::Behind => return None,
            }
        }
        None
    }

    /// Whether a job is first in its key lanes, its slots are free, and it does not delay a booked start.
    fn fit(&self, at: usize, bookings: &mut BTreeMap<usize, Booking>) -> Fit {
        let job = &self.load.jobs[at];
        let tier = job.priority.tier().index();
        let is_first = |lane: &usize| {
            self.firsts.get(&(*lane, tier)).and_then(BTreeSet::first).is_none_or(|(.., first)| *first == at)
        };
        if !job.lanes.iter().map(|(lane, _)| lane).filter(|lane| self.key_lanes[**lane]).all(is_first) {
            return Fit::Behind;
        }
        let (mut fit, mut is_limited) = (Fit::Free, false);
        for (lane, count) in &job.lanes {
            let limit = self.load.lanes[*lane].limit;
            let limited = self.limited_until(*lane);
            is_limited |= limited.is_some();
            let held_back =
                bookings.get(lane).is_some_and(|booking| !may_pass(*booking, job.id, self.now, job.most_ms));
            if held_back || limited.is_some() || self.used[*lane].saturating_add(*count) > limit {
                let is_key_lane = self.load.lanes[*lane].name.is_key_lane();
                fit = if is_key_lane || fit == Fit::Behind { Fit::Behind } else { Fit::Full };
            }
        }
        if fit == Fit::Full && !is_limited {
            self.book(at, bookings);
        }
        // Kept slots block only a task that would have all its lanes.
        if fit == Fit::Free && self.is_kept(at) { Fit::Behind } else { fit }
    }

    /// The time at which a lane with a used-up rate may be granted again; a pass then runs again.
    fn limited_until(&self, lane: usize) -> Option<Timestamp> {
        let (rate, _) = self.load.lanes[lane].rate.as_ref()?;
        let until = rate.next(&self.granted[lane], self.now)?;
        self.again.set(Some(self.again.get().map_or(until, |again| again.min(until))));
        Some(until)
    }

    /// Whether the free slots of `global` are kept for tasks of lanes that a job does not take.
    fn is_kept(&self, at: usize) -> bool {
        let own = &self.load.jobs[at].lanes;
        let others = self
            .load
            .lanes
            .iter()
            .enumerate()
            .filter(|(lane, spec)| spec.reserve > 0 && own.iter().all(|(of_job, _)| of_job != lane));
        let kept =
            others.map(|(lane, spec)| spec.reserve.saturating_sub(self.by_tasks[lane])).fold(0, u32::saturating_add);
        kept > 0 && self.used[0].saturating_add(1).saturating_add(kept) > self.load.lanes[0].limit
    }

    fn count_grant(&mut self, at: usize) {
        for (lane, _) in &self.load.jobs[at].lanes {
            let Some((rate, _)) = &self.load.lanes[*lane].rate else { continue };
            let (granted, most) = (&mut self.granted[*lane], usize::try_from(rate.grants).unwrap_or(usize::MAX));
            granted.push(self.now);
            if granted.len() / 2 > most {
                granted.drain(..granted.len() - most);
            }
        }
    }

    /// Keeps the computed start of a job that waits for several slots, unless another one comes first in one of its lanes.
    fn book(&self, at: usize, bookings: &mut BTreeMap<usize, Booking>) {
        let job = &self.load.jobs[at];
        let lanes = job.lanes.iter().filter(|(lane, _)| self.load.lanes[*lane].name.is_capacity_lane());
        let lanes: Vec<(usize, u32)> = lanes.copied().collect();
        if lanes.iter().any(|(lane, _)| bookings.contains_key(lane)) {
            return;
        }
        let wanted: Vec<Wanted> = lanes
            .iter()
            .map(|(lane, count)| Wanted {
                count: *count,
                limit: self.load.lanes[*lane].limit,
                holders: if lanes.len() > 1 || *count > 1 { self.holders(*lane) } else { Vec::new() },
            })
            .collect();
        let booked = bookings_of(job.id, &wanted, self.now);
        bookings.extend(lanes.into_iter().map(|(lane, _)| lane).zip(booked));
    }

    /// The holders of slots of a lane, and the expected end of each.
    fn holders(&self, lane: usize) -> Vec<Slots> {
        let running = self.running.iter().map(|Reverse((_, at))| *at).chain(self.endless.iter().copied());
        let of = |at: usize| {
            let job = &self.load.jobs[at];
            let count = job.lanes.iter().find(|(held, _)| *held == lane)?.1;
            let most = job.most_ms.and_then(|ms| i64::try_from(ms).ok());
            let until = self.times[at].start.zip(most).map(|(start, most)| start.plus_ms(most));
            Some(Slots { count, until })
        };
        running.filter_map(of).collect()
    }

    fn leave(&mut self, line: usize, at: usize) {
        let job = &self.load.jobs[at];
        let (tier, place) = place_of(job, at);
        self.lines[line].waiting[tier].remove(&place);
        for (lane, _) in job.lanes.iter().filter(|(lane, _)| self.key_lanes[*lane]) {
            if let Some(places) = self.firsts.get_mut(&(*lane, tier)) {
                places.remove(&place);
            }
        }
    }

    fn begin(&mut self, at: usize, since: Timestamp, random: &mut Random) {
        let job = &self.load.jobs[at];
        for (lane, count) in &job.lanes {
            self.used[*lane] = self.used[*lane].saturating_add(*count);
            self.by_tasks[*lane] = self.by_tasks[*lane].saturating_add(if job.is_task { *count } else { 0 });
        }
        self.times[at].start = Some(since);
        let ran = self.now.saturating_ms_since(since);
        match job.length.draw(ran, random).and_then(|ms| i64::try_from(ms).ok()) {
            Some(ms) => self.running.push(Reverse((since.plus_ms(ms).max(self.now), at))),
            None => self.endless.push(at),
        }
    }

    fn finish(&mut self, at: usize) {
        let load = self.load;
        let job = &load.jobs[at];
        for (lane, count) in &job.lanes {
            self.used[*lane] = self.used[*lane].saturating_sub(*count);
            self.by_tasks[*lane] = self.by_tasks[*lane].saturating_sub(if job.is_task { *count } else { 0 });
        }
        // A job that lasts longer than the run decides nothing.
        self.samples = self.samples.min(job.length.samples().unwrap_or(usize::MAX));
        let start = self.times[at].start.unwrap_or(self.now);
        self.times[at].end = Some(self.now);
        if !job.is_task {
            return;
        }
        let user = self.names[job.user].clone();
        let payer = Payer { user, queue: job.queue.to_string(), weights: job.weights, has_shares: false };
        self.ledger.ended(&payer, self.now.saturating_ms_since(start), self.now);
        self.book.ended(job.user);
        for next in std::mem::take(&mut self.followers[at]) {
            self.open[next] = self.open[next].saturating_sub(1);
            if self.open[next] == 0 && self.times[next].ready.is_some() {
                self.enter(next);
            }
        }
    }
}

/// The tier of a waiting job, and its place there.
fn place_of(job: &Job, at: usize) -> (usize, (Priority, (TaskId, TaskId), usize)) {
    (job.priority.tier().index(), (job.priority, QueueName::place_in(&job.queue, job.id), at))
}
