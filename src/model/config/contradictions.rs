//! Rules of lanes that contradict each other.

use super::{Config, LaneRule};
use crate::model::lane::LaneName;
use std::fmt;

/// A fault of rules that contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clash {
    /// A lane cannot have the rule at all.
    OwnRule,
    /// A lane keeps more slots of `global` than may hold it.
    ReserveBeyondLimit,
    /// Every task takes a slot of `global`, and the reserves of all lanes leave no slot for other lanes.
    NoSlotLeft,
    /// Two lanes give away the same port.
    SamePort,
    /// Holders are bound to the number of processors in a budget, but the lane has no budget.
    NoBudget,
}

impl Clash {
    /// Whether the contradiction can keep tasks from starting or let two of them collide. Otherwise a rule has no effect.
    pub fn is_harmful(self) -> bool {
        matches!(self, Self::NoSlotLeft | Self::SamePort)
    }
}

/// Rules that contradict each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// The fault.
    pub clash: Clash,
    /// The lanes of these rules.
    pub lanes: Vec<String>,
    why: String,
}

impl Contradiction {
    fn new(clash: Clash, lanes: &[&str], why: String) -> Self {
        Self { clash, lanes: lanes.iter().map(|lane| (*lane).to_owned()).collect(), why }
    }

    /// Whether both are the same fault of the same lanes. Their numbers may differ.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.clash, &self.lanes) == (other.clash, &other.lanes)
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Config {
    /// All contradictions, those of one lane first.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let own = self.lanes.iter().filter_map(|(name, rule)| {
            rule.wrong_for(name).map(|why| Contradiction::new(Clash::OwnRule, &[name], why))
        });
        let mut found: Vec<Contradiction> = own.collect();
        found.extend(self.reserves_beyond_limits());
        found.extend(self.reserves_of_all());
        found.extend(self.shared_ports());
        found.extend(self.lanes.iter().filter_map(|(name, rule)| self.no_budget(name, rule)));
        found
    }

    fn reserves_beyond_limits(&self) -> impl Iterator<Item = Contradiction> + '_ {
        self.reserves().filter_map(|(lane, reserve)| {
            let limit = self.limit(&lane);
            let why = format!("a reserve of {reserve} is more than the limit {limit} of \"{lane}\"");
            (reserve > limit).then(|| Contradiction::new(Clash::ReserveBeyondLimit, &[&lane.to_string()], why))
        })
    }

    fn reserves_of_all(&self) -> Option<Contradiction> {
        let total: u64 = self.reserves().map(|(_, reserve)| u64::from(reserve)).sum();
        let max = self.slots_max;
        let why = format!("reserves of {total} slots in all leave none of the {max} of \"global\" for other lanes");
        (total > 0 && total >= u64::from(max)).then(|| Contradiction::new(Clash::NoSlotLeft, &["global"], why))
    }

    fn shared_ports(&self) -> Vec<Contradiction> {
        let ranges: Vec<_> = self.lanes.iter().filter_map(|(name, rule)| Some((name, rule.range.as_ref()?))).collect();
        let mut found = Vec::new();
        for (at, (name, range)) in ranges.iter().enumerate() {
            for (other, known) in &ranges[..at] {
                let Some((from, to)) = known.overlap(range) else { continue };
                let why = format!("lanes {other:?} and {name:?} would both give away the ports {from}-{to}");
                found.push(Contradiction::new(Clash::SamePort, &[other, name], why));
            }
        }
        found
    }

    fn no_budget(&self, name: &str, rule: &LaneRule) -> Option<Contradiction> {
        // The budget of a pattern applies to each lane that matches it.
        let lane = LaneName::parse(&name.replace('*', "x")).ok()?;
        let is_without = rule.affinity == Some(true) && self.cpu_rule(&lane).is_none();
        let why = format!("affinity of {name:?} has no effect: it needs a CPU budget, and the lane has no budget");
        is_without.then(|| Contradiction::new(Clash::NoBudget, &[name], why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::capacity::{Budget, SlotValues};

    fn clashes(config: &Config) -> Vec<Clash> {
        config.contradictions().into_iter().map(|found| found.clash).collect()
    }

    #[test]
    fn reserves_are_within_their_lanes_and_leave_a_slot_for_others() {
        let mut config = Config { slots_max: 9, ..Config::default() };
        config.lanes.insert("build".into(), LaneRule { reserve: Some(3), max: Some(2), ..LaneRule::default() });
        let found = config.contradictions();
        assert_eq!((found.len(), found[0].clash), (1, Clash::ReserveBeyondLimit));
        assert!(found[0].to_string().contains("more than the limit 2"));
        let rule = LaneRule { reserve: Some(1), ..LaneRule::default() };
        let mut config = Config { slots_max: 2, ..Config::default() };
        config.lanes.insert("build".into(), rule.clone());
        assert_eq!(clashes(&config), []);
        config.lanes.insert("cron".into(), rule.clone());
        assert_eq!(clashes(&config), [Clash::NoSlotLeft]);
        config.lanes.insert("global".into(), rule);
        assert_eq!(clashes(&config)[0], Clash::OwnRule);
    }

    #[test]
    fn ranges_share_no_port() {
        let mut config = Config::default();
        let range = |from, to| LaneRule { range: Some(SlotValues::Ports(from, to)), ..LaneRule::default() };
        config.lanes.insert("port".into(), range(4000, 4009));
        assert_eq!(clashes(&config), []);
        config.lanes.insert("web".into(), range(4005, 4100));
        let found = config.contradictions();
        assert_eq!((found.len(), &found[0].lanes[..]), (1, &["port".to_owned(), "web".to_owned()][..]));
        assert!(found[0].to_string().contains("4005-4009"));
        config.lanes.insert("web".into(), range(4006, 4100));
        assert!(config.contradictions()[0].is_like(&found[0]));
        config.lanes.insert("zoo".into(), range(4009, 4009));
        assert_eq!(clashes(&config), [Clash::SamePort; 3]);
    }

    #[test]
    fn affinity_needs_a_budget_of_its_own_or_of_a_pattern() {
        let mut config = Config::default();
        config.lanes.insert("r:a".into(), LaneRule { affinity: Some(true), ..LaneRule::default() });
        assert_eq!(clashes(&config), [Clash::NoBudget]);
        config.lanes.insert("r:*".into(), LaneRule { cpu_budget: Some(Budget::Auto), ..LaneRule::default() });
        assert_eq!(clashes(&config), []);
    }
}
