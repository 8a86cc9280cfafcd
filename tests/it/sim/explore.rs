//! Many runs of one scenario: over seeds, or over every list of choices within its limits (stateless model checking,
//! depth first).
//!
//! A scenario is a function that sets up a fresh machine. The first failure stops the search and is repeated with its
//! trace. `SIM_SEED=n` repeats one seed of every `seeds`; `SIM_ROUNDS=n` multiplies their number, `SIM_FROM=n` begins with
//! another one, and either makes them say how many there were.

use super::choice::next_list;
use super::{Choice, Sim};
use std::fmt;
use std::ops::Range;

/// What happened in one run.
#[derive(Debug)]
pub struct Report {
    /// The seed or the list of choices.
    pub origin: String,
    /// What was decided.
    pub schedule: Vec<Choice>,
    /// How many operations were made.
    pub steps: u64,
    /// How many processes were killed.
    pub kills: u32,
    /// How many power cuts there were.
    pub cuts: u32,
    /// What went wrong.
    pub violations: Vec<String>,
    /// What happened, when it was recorded.
    pub trace: Vec<String>,
}

impl Report {
    /// The run as a list for `Sim::replay`, without the quiet end.
    pub fn choices(&self) -> Vec<u16> {
        let mut list: Vec<u16> = self.schedule.iter().map(|choice| choice.taken).collect();
        while list.last() == Some(&0) {
            list.pop();
        }
        list
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.trace {
            writeln!(f, "{line}")?;
        }
        for what in &self.violations {
            writeln!(f, "violation: {what}")?;
        }
        write!(f, "{} as choices={:?}", self.origin, self.choices())
    }
}

/// What happened in many runs.
#[derive(Debug, Default)]
pub struct Explored {
    /// How many runs there were.
    pub runs: u64,
    /// Operations in all of them.
    pub steps: u64,
    /// Kills in all of them.
    pub kills: u64,
    /// Power cuts in all of them.
    pub cuts: u64,
    /// Whether every list of choices was tried.
    pub is_complete: bool,
    /// The first failure, with its trace.
    pub failure: Option<Report>,
}

impl Explored {
    fn count(&mut self, report: &Report) {
        self.runs += 1;
        self.steps += report.steps;
        self.kills += u64::from(report.kills);
        self.cuts += u64::from(report.cuts);
    }

    /// Fails the test when a run failed.
    pub fn expect_clean(self) -> Self {
        if let Some(report) = &self.failure {
            panic!("after {} runs:\n{report}", self.runs);
        }
        self
    }

    /// Fails the test when no run failed: for what must be found.
    pub fn expect_failure(self, with: &str) -> Report {
        let report = self.failure.unwrap_or_else(|| panic!("nothing found in {} runs", self.runs));
        assert!(report.violations.iter().any(|what| what.contains(with)), "not about \"{with}\":\n{report}");
        report
    }
}

/// Tries every list of choices within the limits that the scenario sets, at most `most` of them.
pub fn explore(most: u64, scenario: impl Fn(&mut Sim)) -> Explored {
    let mut all = Explored::default();
    let mut next = Some(Vec::new());
    while let Some(list) = next {
        if all.runs == most {
            return all;
        }
        let mut sim = Sim::replay(&list);
        scenario(&mut sim);
        let report = sim.run();
        all.count(&report);
        if !report.violations.is_empty() {
            let again = Sim::replay(&report.choices());
            all.failure = Some(repeat(again, &scenario));
            return all;
        }
        next = next_list(&report.schedule);
    }
    all.is_complete = true;
    all
}

/// Tries many seeds.
pub fn seeds(range: Range<u64>, scenario: impl Fn(&mut Sim)) -> Explored {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let (seed, rounds, from) = (number("SIM_SEED"), number("SIM_ROUNDS"), number("SIM_FROM"));
    let start = from.unwrap_or(range.start);
    let range = match seed {
        Some(seed) => seed..seed + 1,
        None => start..start + (range.end - range.start) * rounds.unwrap_or(1),
    };
    let mut all = Explored::default();
    for seed in range {
        let mut sim = Sim::new(seed);
        scenario(&mut sim);
        let report = sim.run();
        all.count(&report);
        if !report.violations.is_empty() {
            all.failure = Some(repeat(Sim::new(seed), &scenario));
            return all;
        }
    }
    if rounds.or(from).is_some() {
        let Explored { runs, steps, kills, cuts, .. } = all;
        println!("schedules: {runs}, operations: {steps}, kills: {kills}, power cuts: {cuts}");
    }
    all
}

fn repeat(mut sim: Sim, scenario: impl Fn(&mut Sim)) -> Report {
    sim.traced();
    scenario(&mut sim);
    let mut report = sim.run();
    if report.violations.is_empty() {
        let what = "the failure did not come again: the scenario has chance of its own";
        report.violations.push(what.into());
    }
    report
}
