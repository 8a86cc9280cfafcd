//! The lanes that one request may take together, and their order: the lane of a user first, others by name, `global` last. All
//! requests take their lanes in this order, so no two of them wait for each other.

use crate::model::LaneName;
use crate::model::sorted::sort_by;
use std::fmt;

/// Greatest number of lanes of one request.
pub const MOST_LANES: usize = 64;

/// The reason that lanes cannot be taken together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// A lane is named more than once.
    Twice(LaneName),
    /// Two of the lanes are lanes of users.
    TwoUsers(LaneName, LaneName),
    /// There are more than [`MOST_LANES`].
    TooMany(usize),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(lane) => write!(f, "lane \"{lane}\" is named twice"),
            Self::TwoUsers(one, other) => {
                write!(f, "\"{one}\" and \"{other}\" are lanes of two users; one lane of a user is taken at most")
            }
            Self::TooMany(count) => write!(f, "{count} lanes are named; {MOST_LANES} are taken together at most"),
        }
    }
}

/// The lanes in the order in which they are taken.
pub fn lane_set(mut lanes: Vec<LaneName>) -> Result<Vec<LaneName>, Wrong> {
    if lanes.len() > MOST_LANES {
        return Err(Wrong::TooMany(lanes.len()));
    }
    sort_by(&mut lanes, |one, other| key(one).cmp(&key(other)));
    for (one, next) in lanes.iter().zip(lanes.iter().skip(1)) {
        if one == next {
            return Err(Wrong::Twice(one.clone()));
        }
        if one.is_user() && next.is_user() {
            return Err(Wrong::TwoUsers(one.clone(), next.clone()));
        }
    }
    Ok(lanes)
}

fn key(lane: &LaneName) -> (bool, bool, &LaneName) {
    (lane.is_global(), !lane.is_user(), lane)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lane(text: &str) -> LaneName {
        LaneName::parse(text).expect(text)
    }

    const NAMES: [&str; 7] = ["global", "user:bob", "alpha", "thread:7", "user:alice", "zeta", "session:s"];

    proptest! {
        #[test]
        fn the_order_is_that_of_a_task_and_not_that_of_the_words(picked in proptest::collection::vec(0..NAMES.len(), 0..6)) {
            let given: Vec<LaneName> = picked.iter().map(|at| lane(NAMES[*at])).collect();
            let has_twice = given.iter().enumerate().any(|(at, lane)| given[..at].contains(lane));
            let users = given.iter().filter(|lane| lane.is_user()).count();
            match lane_set(given.clone()) {
                Err(Wrong::Twice(_)) => prop_assert!(has_twice),
                Err(Wrong::TwoUsers(..)) => prop_assert!(users > 1),
                Err(Wrong::TooMany(_)) => prop_assert!(false),
                Ok(lanes) => {
                    prop_assert!(!has_twice && users <= 1);
                    let mut further: Vec<LaneName> =
                        given.iter().filter(|lane| !lane.is_user() && !lane.is_global()).cloned().collect();
                    further.sort();
                    let mut expected: Vec<LaneName> = given.iter().filter(|lane| lane.is_user()).cloned().collect();
                    expected.extend(further);
                    expected.extend(given.iter().filter(|lane| lane.is_global()).cloned());
                    prop_assert_eq!(lanes, expected);
                }
            }
        }
    }

    #[test]
    fn more_lanes_than_any_request_needs_are_refused() {
        let many = |count: usize| (0..count).map(|number| lane(&format!("l{number}"))).collect::<Vec<_>>();
        assert_eq!(lane_set(many(MOST_LANES)).map(|lanes| lanes.len()), Ok(MOST_LANES));
        assert_eq!(lane_set(many(MOST_LANES + 1)), Err(Wrong::TooMany(MOST_LANES + 1)));
    }
}
