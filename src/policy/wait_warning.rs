//! Decides when a wait for lanes is reported as too long (S4.8). Pure.
//!
//! A wait is reported once, by the rule of one of the lanes that are waited for. Lanes with a command (`on_wait`) come first,
//! because the command is a request for a report. Among equals, the lane whose time is over first counts.

use crate::model::{Config, LaneName, Task, Timestamp};

/// The rule by which a wait is reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitRule {
    /// The lane of the rule.
    pub lane: LaneName,
    /// Time after which a wait is reported, in milliseconds.
    pub after_ms: u64,
    /// Whether a rule of this lane was written, so that the wait is reported while it lasts. By the default of two seconds
    /// (X29) it is reported at its end, which costs nothing while hundreds wait.
    pub is_explicit: bool,
}

/// The rule by which a wait for lanes is reported; `None` if the task waits for no lane.
pub fn rule_of(config: &Config, lanes: &[LaneName]) -> Option<WaitRule> {
    let of_lane = |lane: &LaneName| {
        let (after_ms, has_command) = (config.warn_after_ms(lane), config.on_wait(lane).is_some());
        let is_explicit = config.warns_in_time(lane);
        ((!has_command, !is_explicit, after_ms), WaitRule { lane: lane.clone(), after_ms, is_explicit })
    };
    lanes.iter().map(of_lane).min_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, rule)| rule)
}

/// The time at which a task began to wait for its lanes; `None` after a `retry`, because its time is not known.
pub fn began(task: &Task) -> Option<Timestamp> {
    match (&task.last_start, task.due_at) {
        (None, _) => Some(task.due_since()),
        (Some(last), Some(due)) if due > last.at => Some(due),
        (Some(_), _) => None,
    }
}

/// The moment from which the wait of a task is reported.
pub fn told_from(task: &Task, rule: &WaitRule) -> Option<Timestamp> {
    let after = i64::try_from(rule.after_ms).unwrap_or(i64::MAX);
    began(task).map(|began| began.plus_ms(after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::{LaneRule, WARN_AFTER_MS};
    use proptest::prelude::*;

    fn lane(name: &str) -> LaneName {
        LaneName::parse(name).expect("a lane")
    }

    #[test]
    fn a_lane_with_a_command_tells_before_others_and_a_written_rule_before_the_default() {
        let mut config = Config::default();
        let rule = |warn_after_ms, on_wait: Option<&str>| LaneRule {
            warn_after_ms,
            on_wait: on_wait.map(str::to_owned),
            ..LaneRule::default()
        };
        config.lanes.insert("build".into(), rule(Some(9000), None));
        config.lanes.insert("deploy".into(), rule(None, Some("true")));
        let told = |names: &[&str]| {
            let lanes: Vec<LaneName> = names.iter().map(|name| lane(name)).collect();
            rule_of(&config, &lanes).map(|rule| (rule.lane.to_string(), rule.after_ms, rule.is_explicit))
        };
        assert_eq!(told(&["user:a"]), Some(("user:a".into(), WARN_AFTER_MS, false)));
        assert_eq!(told(&["user:a", "build"]), Some((lane("build").to_string(), 9000, true)));
        assert_eq!(told(&["build", "deploy"]), Some((lane("deploy").to_string(), WARN_AFTER_MS, true)));
        assert_eq!(told(&[]), None);
    }

    proptest! {
        /// The order in which lanes are named changes nothing, and no lane with the same claims has a shorter time.
        #[test]
        fn the_rule_does_not_depend_on_the_order_of_lanes(times in prop::collection::vec((1..5u64, any::<bool>()), 1..6), turn in 0..6usize) {
            let mut config = Config::default();
            let mut lanes = Vec::new();
            for (at, (ms, has_command)) in times.iter().enumerate() {
                let name = format!("resource:{at}");
                let on_wait = has_command.then(|| "true".to_owned());
                config.lanes.insert(name.clone(), LaneRule { warn_after_ms: Some(*ms), on_wait, ..LaneRule::default() });
                lanes.push(lane(&name));
            }
            let rule = rule_of(&config, &lanes).expect("a rule");
            let turns = turn % lanes.len();
            lanes.rotate_left(turns);
            let other = rule_of(&config, &lanes).expect("a rule");
            prop_assert_eq!(rule.after_ms, other.after_ms);
            let tells = |at: &usize| times[*at].1 || times.iter().all(|(_, has_command)| !has_command);
            let least = (0..times.len()).filter(tells).map(|at| times[at].0).min();
            prop_assert_eq!(Some(rule.after_ms), least);
        }
    }
}
