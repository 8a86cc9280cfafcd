//! Capacity of a lane beyond its places: a value for each slot, a condition of the host, and a share of its processors.
//!
//! `Budget` is the number of processors that the holders of a lane use together. The methods of `LaneRule` and `Config` return
//! the rules of the configuration for the capacity of lanes.

pub mod gate;
pub mod values;

use crate::model::Config;
use crate::model::config::LaneRule;
use crate::model::lane::LaneName;
pub use gate::{Condition, Gate, Gauge, Readings};
use std::fmt;
pub use values::{Choice, Occupied, SlotValues};

/// The most processors that a budget may name.
pub const MOST_CPUS: u32 = 4096;

/// The CPU budget of a lane (`--cpu-budget`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    /// As many as the supervisor may use. Its CPU affinity and the quota of its control group limit the number.
    Auto,
    /// So many, from 1 to [`MOST_CPUS`].
    Cpus(u32),
}

impl Budget {
    /// Reads `auto` or a whole number from 1 to [`MOST_CPUS`].
    pub fn parse(text: &str) -> Option<Self> {
        if text == "auto" {
            return Some(Self::Auto);
        }
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let cpus: u32 = text.parse().ok().filter(|_| is_number)?;
        (1..=MOST_CPUS).contains(&cpus).then_some(Self::Cpus(cpus))
    }

    /// The number of processors, on a host where a process may use `available`.
    pub fn cpus(self, available: u32) -> u32 {
        match self {
            Self::Auto => available.clamp(1, MOST_CPUS),
            Self::Cpus(cpus) => cpus,
        }
    }
}

crate::model::record::as_text!(Budget, |text| Self::parse(text).ok_or_else(|| format!("\"{text}\" is not a budget")));

impl fmt::Display for Budget {
    /// Writes the form that [`Budget::parse`] parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpus(cpus) => write!(f, "{cpus}"),
        }
    }
}

/// The CPU budget of a lane, with the lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CpuRule {
    /// The lane.
    pub lane: LaneName,
    /// Number of processors that the lane's holders use together.
    pub budget: Budget,
    /// Whether the holders are bound to as many processors.
    pub is_bound: bool,
}

impl LaneRule {
    /// The values of the slots.
    pub fn slots(&self) -> Option<&SlotValues> {
        self.values.as_ref().or(self.range.as_ref())
    }

    /// The reason that this rule's capacity members are wrong for a lane or a pattern of this name.
    pub(crate) fn wrong_capacity_for(&self, name: &str) -> Option<String> {
        if self.values.is_some() && self.range.is_some() {
            return Some("a lane has values or a range of ports, and not both".to_owned());
        }
        let is_user = name.starts_with("user:");
        if self.slots().is_some() && (name.ends_with('*') || name == "global" || is_user) {
            return Some(format!("{name:?} cannot have values: only a lane that is neither global nor a user's can"));
        }
        None
    }
}

impl Config {
    /// The values of the slots of `lane`.
    pub fn values(&self, lane: &LaneName) -> Option<SlotValues> {
        self.rule(lane, |rule| rule.slots().cloned())
    }

    /// Number of values that `lane` gives away at once: all of them, or the number in its own rule.
    pub(crate) fn limit_of_values(&self, lane: &LaneName) -> Option<u32> {
        let count = self.rule(lane, |rule| rule.slots().map(SlotValues::count))?;
        let own = self.lanes.get(&lane.to_string()).and_then(|rule| rule.max);
        Some(own.map_or(count, |own| own.min(count)))
    }

    /// The condition of the host under which no place in `lane` is granted.
    pub fn hold_while(&self, lane: &LaneName) -> Option<Gate> {
        self.rule(lane, |rule| rule.hold_while.clone())
    }

    /// The CPU budget of `lane`.
    pub fn cpu_rule(&self, lane: &LaneName) -> Option<CpuRule> {
        let budget = self.rule(lane, |rule| rule.cpu_budget)?;
        let is_bound = self.rule(lane, |rule| rule.affinity).unwrap_or(false);
        Some(CpuRule { lane: lane.clone(), budget, is_bound })
    }
}

/// The variable in which a holder finds the value of its slot, e.g. `LUZIA_SLOT_EMU` for the lane `resource:emu`.
pub fn slot_variable(lane: &LaneName) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("{SLOT_PREFIX}{}", lane.key().as_str().chars().map(plain).collect::<String>())
}

/// Prefix of the names of variables with the value of a slot.
pub const SLOT_PREFIX: &str = "LUZIA_SLOT_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_auto_or_a_number_from_one() {
        for (text, budget) in [("auto", Budget::Auto), ("1", Budget::Cpus(1)), ("4096", Budget::Cpus(4096))] {
            assert_eq!(Budget::parse(text), Some(budget));
            assert_eq!(budget.to_string(), text);
        }
        for wrong in ["", "0", "-1", "+4", "4097", "4.5", "Auto", "4 "] {
            assert_eq!(Budget::parse(wrong), None, "{wrong}");
        }
        assert_eq!((Budget::Auto.cpus(6), Budget::Auto.cpus(0), Budget::Cpus(3).cpus(6)), (6, 1, 3));
    }

    #[test]
    fn a_variable_has_the_key_of_its_lane() {
        let of = |text: &str| slot_variable(&LaneName::parse(text).expect("a lane"));
        assert_eq!(of("resource:emu"), "LUZIA_SLOT_EMU");
        assert_eq!((of("port"), of("gpu:a-b.1")), ("LUZIA_SLOT_PORT".into(), "LUZIA_SLOT_A_B_1".into()));
    }

    #[test]
    fn a_lane_with_values_has_as_many_slots() {
        let mut config = Config::default();
        let ports = SlotValues::Ports(4000, 4009);
        let rule = LaneRule { range: Some(ports.clone()), ..LaneRule::default() };
        config.lanes.insert("port".into(), rule.clone());
        let lane = LaneName::parse("port").expect("a lane");
        assert_eq!((config.limit(&lane), config.values(&lane)), (10, Some(ports)));
        config.lanes.insert("port".into(), LaneRule { max: Some(3), ..rule.clone() });
        assert_eq!(config.limit(&lane), 3);
        config.lanes.insert("port".into(), LaneRule { max: Some(30), ..rule });
        assert_eq!(config.limit(&lane), 10);
    }

    #[test]
    fn a_rule_that_cannot_be_meant_says_why() {
        let values = SlotValues::list(vec!["a".into()]).ok();
        let with = |rule: LaneRule, name: &str| rule.wrong_for(name).is_some();
        let named = LaneRule { values: values.clone(), ..LaneRule::default() };
        for (name, is_wrong) in [("resource:emu", false), ("resource:*", true), ("global", true), ("user:alice", true)]
        {
            assert_eq!(with(named.clone(), name), is_wrong, "{name}");
        }
        assert!(with(LaneRule { range: values, ..named }, "resource:emu"));
    }
}
