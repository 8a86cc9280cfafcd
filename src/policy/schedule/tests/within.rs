//! Shares within a user, checked by simulation: sessions in named lanes and in the lane of the user, groups, slots and time.

use super::cases::{SHARES, head, name};
use crate::policy::fair::Weights;
use crate::policy::schedule::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A pretend queue of one user.
#[derive(Clone, Debug)]
struct Line {
    /// `None` for tasks of no session.
    session: Option<u64>,
    /// `None` for tasks in the lane of the user, which run one at a time.
    lanes: Option<u64>,
    /// The first task of the group that the tasks are.
    group: Option<u64>,
    at_once: usize,
    tasks: u64,
    ms: u64,
    arrival: i64,
}

impl Line {
    fn queue(&self) -> String {
        let lanes = self.lanes.map_or_else(String::new, |lanes| format!("~n{lanes:016x}"));
        let session = self.session.map_or_else(String::new, |session| format!("~s{session:016x}"));
        let group = self.group.map_or_else(String::new, |first| format!("~g{first}"));
        format!("user_alice{lanes}{session}{group}")
    }

    /// The two shares of the line: that of its session, and that of its set of lanes in the session.
    fn levels(&self) -> [Share; 2] {
        [(self.session, None), (self.session, Some(self.lanes))]
    }
}

struct Desk {
    lines: Vec<Line>,
    /// The weight of each session.
    weights: Vec<u32>,
    slots: usize,
    now: i64,
    ledger: Ledger,
    running: BTreeSet<(i64, usize, u64)>,
    /// Number of grants to other shares of its level that each share saw since it was charged last.
    overtaken: BTreeMap<(Share, Share), u64>,
    order: Vec<usize>,
}

type Share = (Option<u64>, Option<Option<u64>>);

impl Desk {
    fn new(lines: &[Line], weights: &[u32], slots: usize) -> Self {
        Self {
            lines: lines.to_vec(),
            weights: weights.to_vec(),
            slots,
            now: 0,
            ledger: Ledger::default(),
            running: BTreeSet::new(),
            overtaken: BTreeMap::new(),
            order: Vec::new(),
        }
    }

    fn weight(&self, session: Option<u64>) -> u32 {
        session.and_then(|session| self.weights.get(usize::try_from(session).ok()?).copied()).unwrap_or(1)
    }

    fn can_run(&self, at: usize) -> bool {
        let line = &self.lines[at];
        let beside = |other: usize| other == at || line.lanes.is_none() && self.lines[other].lanes.is_none();
        self.waits(at) && self.running.iter().filter(|run| beside(run.1)).count() < line.at_once
    }

    fn waits(&self, at: usize) -> bool {
        self.lines[at].tasks > 0 && self.lines[at].arrival <= self.now
    }

    fn shares(&self, counts: impl Fn(usize) -> bool) -> BTreeSet<Share> {
        (0..self.lines.len()).filter(|at| counts(*at)).flat_map(|at| self.lines[at].levels()).collect()
    }

    fn head_of(&self, at: usize) -> LaneHead {
        let line = &self.lines[at];
        LaneHead {
            queue: line.queue().into(),
            takes_user_lane: line.lanes.is_none(),
            turn: at as u64,
            ..head("alice", Tier::Normal)
        }
    }

    fn forget(&mut self, share: Share) {
        self.overtaken.retain(|(waiting, _), _| *waiting != share);
    }

    fn pass(&mut self) {
        let ready: Vec<usize> = (0..self.lines.len()).filter(|at| self.can_run(*at)).collect();
        let waiting = self.shares(|at| self.waits(at));
        self.overtaken.retain(|(share, _), _| waiting.contains(share));
        let heads = ready.iter().map(|at| self.head_of(*at)).collect();
        let mut ledger = std::mem::take(&mut self.ledger);
        let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(self.now));
        while self.running.len() < self.slots {
            let Some(candidate) = round.next() else { break };
            let at = self.lines.iter().position(|line| *line.queue() == *candidate.queue).expect("it was offered");
            let weights = Weights { share: self.weight(self.lines[at].session), ..Weights::from(1) };
            round.started(candidate, weights);
            self.start(at);
            if self.lines[at].lanes.is_some() && self.can_run(at) {
                round.offer(self.head_of(at));
            }
        }
        self.ledger = ledger;
    }

    fn start(&mut self, at: usize) {
        let waiting = self.shares(|at| self.can_run(at));
        self.lines[at].tasks -= 1;
        let ms = self.lines[at].ms;
        self.running.insert((self.now + i64::try_from(ms).expect("short"), at, self.order.len() as u64));
        self.order.push(at);
        for (level, own) in self.lines[at].levels().into_iter().enumerate() {
            let beside =
                |other: &Share| level == 0 && other.1.is_none() || level == 1 && other.0 == own.0 && other.1.is_some();
            for other in waiting.iter().filter(|other| **other != own && beside(other)) {
                *self.overtaken.entry((*other, own)).or_default() += 1;
            }
            self.forget(own);
        }
    }

    fn step(&mut self) -> bool {
        self.pass();
        let Some(end) = self.running.first().map(|run| run.0) else {
            self.now += 1000;
            return self.lines.iter().any(|line| line.tasks > 0);
        };
        self.now = end.min(self.now + 1000);
        while let Some(run) = self.running.first().copied().filter(|run| run.0 <= self.now) {
            self.running.remove(&run);
            let line = self.lines[run.1].clone();
            let weights = Weights { share: self.weight(line.session), ..Weights::from(1) };
            let payer = Payer { user: name("alice"), queue: line.queue(), weights, has_shares: false };
            self.ledger.ended(&payer, line.ms, Timestamp(self.now));
            line.levels().into_iter().for_each(|share| self.forget(share));
        }
        true
    }
}

fn plain(session: Option<u64>, lanes: u64, tasks: u64, ms: u64) -> Line {
    let (lanes, at_once) = if session.is_some() { (Some(lanes), 9) } else { (None, 1) };
    Line { session, lanes, group: None, at_once, tasks, ms, arrival: 0 }
}

/// A session in the lane of the user.
fn own_lane(session: u64, tasks: u64, ms: u64) -> Line {
    Line { lanes: None, at_once: 1, ..plain(Some(session), 0, tasks, ms) }
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let ms = prop_oneof![1..20u64, 500..3000u64, 20_000..300_000u64];
    let line = (
        0..4u64,
        0..4u64,
        proptest::option::weighted(0.2, 1..3u64),
        1..4usize,
        prop_oneof![1..30u64, Just(1_000_000)],
        ms,
        prop_oneof![Just(0i64), 0..600_000i64],
    );
    let line = line.prop_map(|(session, lanes, group, at_once, tasks, ms, arrival)| {
        let lanes = lanes.checked_sub(1);
        let at_once = if lanes.is_some() { at_once } else { 1 };
        let tasks = if group.is_some() { tasks.min(16) } else { tasks };
        Line { session: session.checked_sub(1), lanes, group, at_once, tasks, ms, arrival }
    });
    proptest::collection::vec(line, 2..7).prop_map(|mut lines| {
        let mut seen = BTreeSet::new();
        lines.retain(|line| seen.insert((line.session, line.lanes, line.group)));
        lines
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_session_and_no_lane_overtakes_a_waiting_one_by_more_than_the_bound(
        lines in lines(),
        weights in proptest::collection::vec(prop_oneof![3 => Just(1u32), 1 => 2..4u32], 3),
        slots in 1..6usize,
    ) {
        let mut desk = Desk::new(&lines, &weights, slots);
        while desk.order.len() < 500 && desk.step() {
            for ((waiting, other), grants) in &desk.overtaken {
                let weight = if other.1.is_none() { desk.weight(other.0) } else { 1 };
                // Groups that have begun go on.
                let groups = lines.iter().filter(|line| line.group.is_some() && line.levels().contains(other));
                let most = 60 * u64::from(weight) + 1 + 15 * groups.count() as u64;
                prop_assert!(*grants <= most, "{waiting:?} waits, {other:?} got {grants} of {most}");
            }
        }
    }

    #[test]
    fn equal_sessions_get_equal_time_however_many_lanes_they_use(a in 1000..20_000u64, b in 1000..20_000u64) {
        let lines =
            [plain(Some(0), 0, 100_000, a), plain(Some(1), 1, 100_000, b), plain(Some(1), 2, 100_000, b)];
        let mut desk = Desk::new(&lines, &[1, 1], 1);
        while desk.order.len() < 300 {
            desk.step();
        }
        let time = |session: u64| desk.order.iter().map(|at| &lines[*at]).filter(|line| line.session == Some(session)).map(|line| line.ms).sum::<u64>();
        prop_assert!(time(0).abs_diff(time(1)) <= 4 * (a + b), "{} {}", time(0), time(1));
    }
}

#[test]
fn a_session_with_one_task_is_next_but_one_beside_one_with_a_hundred_thousand() {
    for ms in [1, 1000, 3_600_000] {
        let of = [|session, tasks, ms| plain(Some(session), 0, tasks, ms), own_lane];
        for (busy, late) in of.map(|line| (line(0, 100_000, ms), line(1, 1, 5))) {
            let mut desk = Desk::new(&[busy, Line { arrival: 10_000_000, ..late }], &[1, 1], 1);
            let mut before = None;
            while desk.lines[1].tasks > 0 {
                if desk.now >= 10_000_000 {
                    before.get_or_insert(desk.order.len());
                }
                desk.step();
            }
            assert!(desk.order.len() - before.expect("it came") <= 2, "{ms}");
        }
    }
}

#[test]
fn sessions_in_the_lane_of_their_user_and_tasks_of_none_take_turns() {
    let none = Line { session: None, ..own_lane(0, 30, 10) };
    let mut desk = Desk::new(&[own_lane(0, 1000, 10), own_lane(1, 20, 10), none], &[1, 1], 4);
    while desk.order.len() < 60 {
        desk.step();
    }
    let rounds: Vec<BTreeSet<usize>> = desk.order.chunks(3).map(|round| round.iter().copied().collect()).collect();
    assert!(rounds.iter().all(|round| round.len() == 3), "{:?}", desk.order);
}

#[test]
fn ordinary_tasks_and_tasks_in_named_lanes_of_one_user_take_turns() {
    let lines = [plain(None, 0, 1000, 10), plain(Some(0), 0, 1000, 10)];
    let mut desk = Desk::new(&lines, &[1], 1);
    while desk.order.len() < 100 {
        desk.step();
    }
    let ordinary = desk.order.iter().filter(|at| **at == 0).count();
    assert_eq!(ordinary, 50);
    assert!(desk.order.windows(2).all(|two| two[0] != two[1]), "{:?}", desk.order);
}

#[test]
fn a_session_of_weight_three_gets_three_grants_of_four() {
    let lines = [plain(Some(0), 0, 1000, 10), plain(Some(1), 0, 1000, 10)];
    let mut desk = Desk::new(&lines, &[3, 1], 1);
    while desk.order.len() < 100 {
        desk.step();
    }
    assert_eq!(desk.order.iter().filter(|at| **at == 0).count(), 75);
}

#[test]
fn a_user_without_shares_has_one_line_in_the_ledger_and_priority_goes_before_shares() {
    let mut desk = Desk::new(&[plain(None, 0, 10, 5000)], &[], 1);
    while desk.step() {}
    assert_eq!(desk.ledger.to_text().lines().count(), 3, "{}", desk.ledger.to_text());
    let mut ledger = Ledger::default();
    let busy = Payer { user: name("a"), queue: format!("user_a~n{:016x}", 1), weights: 1.into(), has_shares: true };
    ledger.ended(&busy, 30_000, Timestamp(0));
    let of = |queue: String, number: u8| LaneHead {
        queue: queue.into(),
        takes_user_lane: false,
        priority: Priority::new(number).expect("a priority"),
        ..head("a", Tier::Normal)
    };
    // Of one session: sessions go by their shares.
    let heads = vec![of(format!("user_a~n{:016x}", 2), 5), of(busy.queue.clone(), 4)];
    let first = Round::new(&mut ledger, SHARES, heads, Timestamp(0)).next().expect("a candidate");
    assert_eq!(*first.queue, *busy.queue);
    assert_eq!(Ledger::from_text(&ledger.to_text()), Some(ledger), "shares are lines as those of users");
}
