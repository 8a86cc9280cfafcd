//! The rule of a lane or of a pattern of lanes. A new member has a field here and a row in `store::config::keys`. The
//! configuration, `control.json` and `lanes set` parse the member by that row, and the tables of `lanes` show it.

use super::Config;
use crate::model::capacity::{Budget, Gate, SlotValues};
use crate::model::lane::LaneName;
use crate::model::time::{Timestamp, format_duration, parse_duration};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The settings of a lane or a pattern of lanes. The next pattern sets a member that is absent here, then the default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LaneRule {
    /// Greatest number of holders at once.
    pub max: Option<u32>,
    /// The user's weight in fair share, for user lanes.
    pub weight: Option<u32>,
    /// Whether a task keeps the lane while it waits for an event.
    pub hold: Option<Keeps>,
    /// Time after which a lease of this lane is stale, in milliseconds.
    pub lock_timeout_ms: Option<u64>,
    /// Time after which a wait for the lane is reported as `wait_warning`, in milliseconds (S4.8).
    pub warn_after_ms: Option<u64>,
    /// The command to run at that time, by `/bin/sh -c`, once for each wait (S4.8).
    pub on_wait: Option<String>,
    /// Greatest rate of grants of the lane (S1.13).
    pub rate: Option<Rate>,
    /// Number of slots of `global` that are kept for tasks of this lane.
    pub reserve: Option<u32>,
    /// The action on a living holder past its limit (S3.F4).
    pub on_overdue: Option<OnOverdue>,
    /// The values of the slots. The lane then has as many slots as values.
    pub values: Option<SlotValues>,
    /// The TCP ports of the slots. The lane then has as many slots as ports.
    pub range: Option<SlotValues>,
    /// The condition of the host under which no place in the lane is granted.
    pub hold_while: Option<Gate>,
    /// Number of processors that the holders use together.
    pub cpu_budget: Option<Budget>,
    /// Whether commands in the lane are bound to as many processors as its budget.
    pub affinity: Option<bool>,
}

/// Whether a task keeps a lane while it waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keeps {
    /// The task keeps the lane.
    Keep,
    /// Others may take the lane meanwhile.
    Release,
}

/// The action on a living holder that is past its limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnOverdue {
    /// luzia shows the holder and does nothing else.
    Report,
    /// luzia ends a task through its supervisor.
    Terminate,
}

/// At most so many grants within any period of so many milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Number of grants.
    pub grants: u32,
    /// Length of the period, in milliseconds.
    pub window_ms: u64,
}

/// The most grants that a rate may name: luzia remembers so many moments for each lane.
pub const MOST_GRANTS: u32 = 10_000;
/// The longest window of a rate: 31 days, in milliseconds.
pub const LONGEST_WINDOW_MS: u64 = 31 * 24 * 3600 * 1000;
/// The default of `warn_after`: two seconds (X29).
pub const WARN_AFTER_MS: u64 = 2000;

impl Keeps {
    /// The word in the configuration.
    pub fn word(self) -> &'static str {
        if self == Self::Keep { "keep" } else { "release" }
    }
}

impl OnOverdue {
    /// The word in the configuration.
    pub fn word(self) -> &'static str {
        if self == Self::Report { "report" } else { "terminate" }
    }
}

impl Rate {
    /// Parses `10/1m`: a number of grants and a duration. The duration may be a unit alone, as in `10/s`.
    pub fn parse(text: &str) -> Option<Self> {
        let (grants, window) = text.split_once('/')?;
        let is_number = !grants.is_empty() && grants.bytes().all(|byte| byte.is_ascii_digit());
        let grants: u32 = grants.parse().ok().filter(|_| is_number)?;
        let is_unit = window.starts_with(|c: char| c.is_ascii_lowercase());
        let window_ms = parse_duration(&if is_unit { format!("1{window}") } else { window.to_owned() }).ok()?;
        let is_meant = (1..=MOST_GRANTS).contains(&grants) && (1..=LONGEST_WINDOW_MS).contains(&window_ms);
        is_meant.then_some(Self { grants, window_ms })
    }

    /// The earliest moment of the next grant; `None` if the lane may be granted now. `grants` are the moments of earlier
    /// grants, oldest first. A moment more than a window in the future was written before the clock was set back, and is ignored.
    pub fn next(self, grants: &[Timestamp], now: Timestamp) -> Option<Timestamp> {
        let window = i64::try_from(self.window_ms).unwrap_or(i64::MAX);
        let counts = |at: &&Timestamp| now.ms_since(**at) < window && at.ms_since(now) <= window;
        let mut counted: Vec<Timestamp> = grants.iter().filter(counts).copied().collect();
        counted.sort_unstable();
        let oldest = counted.len().checked_sub(usize::try_from(self.grants).unwrap_or(usize::MAX))?;
        counted.get(oldest).map(|at| at.plus_ms(window))
    }
}

crate::model::record::as_text!(Rate, |text| Self::parse(text).ok_or_else(|| format!("\"{text}\" is not a rate")));

impl fmt::Display for Rate {
    /// Writes the form that [`Rate::parse`] parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = format_duration(self.window_ms);
        let window = if parse_duration(&short) == Ok(self.window_ms) { short } else { format!("{}ms", self.window_ms) };
        write!(f, "{}/{window}", self.grants)
    }
}

impl LaneRule {
    /// This rule, with the members of another rule for those that it lacks.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        // Values and a range are two spellings of one member.
        let has_slots = self.values.is_some() || self.range.is_some();
        let (other_values, other_range) =
            if has_slots { (None, None) } else { (other.values.clone(), other.range.clone()) };
        // Lists every member by its name, so that a new one is not forgotten here.
        Self {
            max: self.max.or(other.max),
            weight: self.weight.or(other.weight),
            hold: self.hold.or(other.hold),
            lock_timeout_ms: self.lock_timeout_ms.or(other.lock_timeout_ms),
            warn_after_ms: self.warn_after_ms.or(other.warn_after_ms),
            on_wait: self.on_wait.or_else(|| other.on_wait.clone()),
            rate: self.rate.or(other.rate),
            reserve: self.reserve.or(other.reserve),
            on_overdue: self.on_overdue.or(other.on_overdue),
            values: self.values.or(other_values),
            range: self.range.or(other_range),
            hold_while: self.hold_while.or_else(|| other.hold_while.clone()),
            cpu_budget: self.cpu_budget.or(other.cpu_budget),
            affinity: self.affinity.or(other.affinity),
        }
    }

    /// The reason that this rule is wrong for a lane or a pattern of this name.
    pub fn wrong_for(&self, name: &str) -> Option<String> {
        let is_of_one = name != "global" && !name.ends_with('*');
        let has_reserve = self.reserve.is_some_and(|reserve| reserve > 0);
        if has_reserve && !is_of_one {
            return Some(format!("a reserve is for one lane other than global, not for {name:?}"));
        }
        self.wrong_capacity_for(name)
    }
}

impl Config {
    /// The rule in force for `lane`, with the defaults. A member is `None` if it has no value and no default.
    pub fn rule_in_force(&self, lane: &LaneName) -> LaneRule {
        let set = self.rules_of(lane).fold(LaneRule::default(), LaneRule::or);
        LaneRule {
            max: Some(self.limit(lane)).filter(|max| *max < u32::MAX),
            weight: lane.is_user().then(|| self.lane_weight(lane)),
            hold: Some(self.keeps(lane)),
            lock_timeout_ms: Some(self.lock_timeout_ms(lane)),
            warn_after_ms: Some(self.warn_after_ms(lane)),
            on_overdue: Some(self.on_overdue(lane)),
            reserve: set.reserve.filter(|reserve| *reserve > 0),
            affinity: set.affinity.filter(|_| set.cpu_budget.is_some()),
            ..set
        }
    }

    /// Whether a task keeps `lane` while it waits. The default is to keep users, threads and sessions (contract, section 7).
    pub fn keeps(&self, lane: &LaneName) -> Keeps {
        let default = if lane.is_key_lane() { Keeps::Keep } else { Keeps::Release };
        self.rule(lane, |rule| rule.hold).unwrap_or(default)
    }

    /// Time after which a wait for `lane` is reported, in milliseconds.
    pub fn warn_after_ms(&self, lane: &LaneName) -> u64 {
        self.rule(lane, |rule| rule.warn_after_ms).unwrap_or(WARN_AFTER_MS)
    }

    /// Whether a wait for `lane` is reported while it lasts, because a rule has a time or a command for that.
    pub fn warns_in_time(&self, lane: &LaneName) -> bool {
        self.rule(lane, |rule| (rule.warn_after_ms.is_some() || rule.on_wait.is_some()).then_some(())).is_some()
    }

    /// Whether any rule has a time or a command for the report of a wait.
    pub fn has_wait_rules(&self) -> bool {
        self.lanes.values().any(|rule| rule.warn_after_ms.is_some() || rule.on_wait.is_some())
    }

    /// The command to run when a wait for `lane` is reported.
    pub fn on_wait(&self, lane: &LaneName) -> Option<String> {
        self.rule(lane, |rule| rule.on_wait.clone())
    }

    /// Greatest rate of grants of `lane`.
    pub fn rate(&self, lane: &LaneName) -> Option<Rate> {
        self.rule(lane, |rule| rule.rate)
    }

    /// The action on a living holder of `lane` that is past its limit.
    pub fn on_overdue(&self, lane: &LaneName) -> OnOverdue {
        self.rule(lane, |rule| rule.on_overdue).unwrap_or(OnOverdue::Report)
    }

    /// Number of slots of `global` that are kept for tasks of `lane`.
    pub fn reserve(&self, lane: &LaneName) -> u32 {
        self.rule(lane, |rule| rule.reserve).unwrap_or(0)
    }

    /// The lanes with a reserve, and the number of slots of `global` that each reserves.
    pub fn reserves(&self) -> impl Iterator<Item = (LaneName, u32)> + '_ {
        let of = |(name, rule): (&String, &LaneRule)| {
            let reserve = rule.reserve.filter(|reserve| *reserve > 0 && !name.ends_with('*'))?;
            Some((LaneName::parse(name).ok()?, reserve))
        };
        self.lanes.iter().filter_map(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rate_reads_what_it_writes_and_refuses_what_cannot_be_meant() {
        for (text, written) in
            [("10/1m", "10/1m"), ("3/s", "3/1s"), ("1/90s", "1/1m30s"), ("2/1500ms", "2/1500ms"), ("5/60", "5/1m")]
        {
            let rate = Rate::parse(text).expect(text);
            assert_eq!((rate.to_string().as_str(), Rate::parse(&rate.to_string())), (written, Some(rate)));
        }
        for text in ["", "/", "1", "1/", "/1m", "0/1m", "1/0", "+1/1m", "1/1m/1m", "10001/1m", "1/32d", "-1/s", "1/ s"]
        {
            assert_eq!(Rate::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_reserve_is_of_one_lane() {
        let rule = LaneRule { reserve: Some(1), ..LaneRule::default() };
        let wrong = |name: &str| rule.wrong_for(name).is_some();
        assert_eq!([wrong("build"), wrong("global"), wrong("session:*")], [false, true, true]);
    }

    proptest! {
        /// Grants as often as the rule allows: no stretch of a window holds more grants than the rate, and a lane that may
        /// not be granted may be at the moment that was named.
        #[test]
        fn no_window_holds_more_grants_than_the_rate(grants in 1..5u32, window_ms in 1..60u64, steps in prop::collection::vec(0..40i64, 1..80)) {
            let rate = Rate { grants, window_ms };
            let (mut now, mut given) = (Timestamp(1_000_000), Vec::new());
            for step in steps {
                now = now.plus_ms(step);
                match rate.next(&given, now) {
                    None => given.push(now),
                    Some(at) => {
                        prop_assert!(at > now && at <= now.plus_ms(window_ms as i64));
                        prop_assert_eq!(rate.next(&given, at), None);
                    }
                }
            }
            for first in &given {
                let within = given.iter().filter(|at| **at >= *first && at.ms_since(*first) < window_ms as i64).count();
                prop_assert!(within <= grants as usize);
            }
        }
    }
}
