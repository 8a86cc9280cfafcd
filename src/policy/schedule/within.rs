//! Shares within a user, checked by simulation: sessions and their lanes, the ordinary tasks of the user, slots and time.

use super::cases::{SHARES, head, name};
use super::*;
use crate::policy::fair::Weights;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A pretend queue of one user: of a session and a set of lanes, or of the ordinary tasks.
#[derive(Clone, Debug)]
struct Line {
    /// `None` for the ordinary tasks, which take turns.
    session: Option<u64>,
    lanes: u64,
    at_once: usize,
    tasks: u64,
    ms: u64,
    arrival: i64,
}

impl Line {
    fn queue(&self) -> String {
        match self.session {
            None => "user_alice".to_owned(),
            Some(session) => format!("user_alice~n{:016x}~s{session:016x}", self.lanes),
        }
    }

    /// The two levels at which it is somebody: its session, and itself in it.
    fn levels(&self) -> [(Option<u64>, Option<u64>); 2] {
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
    /// How many tasks of another share at its level each share saw granted since it was charged last.
    overtaken: BTreeMap<(Share, Share), u64>,
    order: Vec<usize>,
}

type Share = (Option<u64>, Option<u64>);

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
        line.tasks > 0
            && line.arrival <= self.now
            && self.running.iter().filter(|run| run.1 == at).count() < line.at_once
    }

    fn head_of(&self, at: usize) -> LaneHead {
        let line = &self.lines[at];
        LaneHead {
            queue: line.queue().into(),
            takes_user_lane: line.session.is_none(),
            turn: at as u64,
            ..head("alice", Tier::Normal)
        }
    }

    fn forget(&mut self, share: Share) {
        self.overtaken.retain(|(waiting, _), _| *waiting != share);
    }

    fn pass(&mut self) {
        let ready: Vec<usize> = (0..self.lines.len()).filter(|at| self.can_run(*at)).collect();
        let waiting: BTreeSet<Share> = ready.iter().flat_map(|at| self.lines[*at].levels()).collect();
        self.overtaken.retain(|(share, _), _| waiting.contains(share));
        let heads = ready.iter().map(|at| self.head_of(*at)).collect();
        let mut ledger = std::mem::take(&mut self.ledger);
        let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(self.now));
        while self.running.len() < self.slots {
            let Some(candidate) = round.next() else { break };
            let at = self.lines.iter().position(|line| *line.queue() == *candidate.queue).expect("it was offered");
            let weights = Weights { share: self.weight(self.lines[at].session), ..Weights::from(1) };
            round.started(candidate, weights);
            self.start(at, &waiting);
            if self.can_run(at) {
                round.offer(self.head_of(at));
            }
        }
        self.ledger = ledger;
    }

    fn start(&mut self, at: usize, waiting: &BTreeSet<Share>) {
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
    Line { session, lanes, at_once: if session.is_some() { 9 } else { 1 }, tasks, ms, arrival: 0 }
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let ms = prop_oneof![1..20u64, 500..3000u64, 20_000..300_000u64];
    let line = (
        0..4u64,
        0..3u64,
        1..4usize,
        prop_oneof![1..30u64, Just(1_000_000)],
        ms,
        prop_oneof![Just(0i64), 0..600_000i64],
    );
    let line = line.prop_map(|(session, lanes, at_once, tasks, ms, arrival)| {
        let session = session.checked_sub(1);
        let (lanes, at_once) = if session.is_some() { (lanes, at_once) } else { (0, 1) };
        Line { session, lanes, at_once, tasks, ms, arrival }
    });
    proptest::collection::vec(line, 2..7).prop_map(|mut lines| {
        let mut seen = BTreeSet::new();
        lines.retain(|line| seen.insert((line.session, line.lanes)));
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
                let most = 60 * u64::from(weight) + 1;
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
        let late = Line { arrival: 10_000_000, ..plain(Some(1), 0, 1, 5) };
        let mut desk = Desk::new(&[plain(Some(0), 0, 100_000, ms), late], &[1, 1], 1);
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
    let heads = vec![of(format!("user_a~n{:016x}", 2), 5), of(busy.queue.clone(), 4)];
    let first = Round::new(&mut ledger, SHARES, heads, Timestamp(0)).next().expect("a candidate");
    assert_eq!(*first.queue, *busy.queue);
    assert_eq!(Ledger::from_text(&ledger.to_text()), Some(ledger), "shares are lines as those of users");
}
