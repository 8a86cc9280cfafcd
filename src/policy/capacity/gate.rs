//! Decides whether a gate is shut. A shut gate opens only below its second bound, so that it does not flutter. An unknown
//! reading shuts nothing: a lane must not stop because a kernel lacks a gauge.

use crate::model::capacity::gate::shown;
use crate::model::capacity::{Condition, Gate, Readings};

/// The reason that a gate is shut.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Busy {
    /// The conditions that hold, e.g. `load>1.5`.
    pub conditions: Vec<String>,
    /// The readings, e.g. `load 2.1`, in the same order.
    pub readings: Vec<String>,
}

impl Busy {
    /// The readings with their conditions, in words: `load 2.1 (load>1.5)`.
    pub fn text(&self) -> String {
        let pairs = self.readings.iter().zip(&self.conditions);
        pairs.map(|(reading, condition)| format!("{reading} ({condition})")).collect::<Vec<_>>().join(", ")
    }
}

/// The reason that a gate is shut by these readings; `None` while it is open. The first alternative that holds is the reason.
pub fn judge(gate: &Gate, readings: &Readings, was_shut: bool) -> Option<Busy> {
    let all = gate.alternatives().iter().find(|all| all.iter().all(|one| holds(one, readings, was_shut)))?;
    let reading = |one: &Condition| {
        let value = readings.of(one.gauge).map_or_else(|| "unknown".to_owned(), |read| shown(one.gauge, read));
        format!("{} {value}", one.gauge.word())
    };
    Some(Busy {
        conditions: all.iter().map(ToString::to_string).collect(),
        readings: all.iter().map(reading).collect(),
    })
}

fn holds(condition: &Condition, readings: &Readings, was_shut: bool) -> bool {
    let bound = if was_shut { condition.opens } else { condition.shuts };
    readings.of(condition.gauge).is_some_and(|read| if condition.is_above { read > bound } else { read < bound })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gate(text: &str) -> Gate {
        Gate::parse(text).expect("an expression")
    }

    fn readings(load: Option<u32>, memory: Option<u32>) -> Readings {
        Readings { load, memory, ..Readings::default() }
    }

    #[test]
    fn one_alternative_whose_conditions_all_hold_shuts_the_gate() {
        let shut = |text, load, memory| judge(&gate(text), &readings(Some(load), Some(memory)), false).is_some();
        assert!(shut("load>1.5 | mem<10%", 2000, 50_000));
        assert!(shut("load>1.5 | mem<10%", 1000, 9_999));
        assert!(!shut("load>1.5 | mem<10%", 1500, 10_000), "a bound itself is on the open side");
        assert!(!shut("load>1.5 & mem<10%", 2000, 50_000));
        assert!(shut("load>1.5 & mem<10%", 2000, 5_000));
    }

    #[test]
    fn it_says_what_was_read() {
        let busy = judge(&gate("psi.io>5 | load>1.5..1 & mem<10%"), &readings(Some(2100), Some(7250)), false);
        assert_eq!(busy.expect("shut").text(), "load 2.1 (load>1.5..1), mem 7.25% (mem<10%)");
    }

    #[test]
    fn a_gauge_that_cannot_be_read_shuts_nothing() {
        assert_eq!(judge(&gate("load>0 | mem<100%"), &Readings::default(), false), None);
        assert_eq!(judge(&gate("load>0 | mem<100%"), &Readings::default(), true), None);
    }

    proptest! {
        #[test]
        fn between_its_bounds_a_gate_stays_as_it_was(loads in proptest::collection::vec(0u32..3000, 1..40)) {
            let gate = gate("load>1.5..1.0");
            let mut is_shut = false;
            for load in loads {
                let now = judge(&gate, &readings(Some(load), None), is_shut).is_some();
                let wanted = if load > 1500 { true } else if load <= 1000 { false } else { is_shut };
                prop_assert_eq!(now, wanted, "{}", load);
                is_shut = now;
            }
        }
    }
}
