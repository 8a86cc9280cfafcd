//! The priority of a task, and the class of priorities that gets a share of the grants.

use crate::model::record::words;
use serde::{Deserialize, Serialize};

/// 0 (first) to 9 (last).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Priority(u8);

impl Default for Priority {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Priority {
    /// The priority of a task that names none.
    pub const DEFAULT: Self = Self(5);

    /// A priority from 0 to 9.
    pub fn new(number: u8) -> Option<Self> {
        (number <= 9).then_some(Self(number))
    }

    /// 0 to 9.
    pub fn number(self) -> u8 {
        self.0
    }

    /// 0–3 high, 4–6 normal, 7–9 low.
    pub fn tier(self) -> Tier {
        match self.0 {
            0..=3 => Tier::High,
            4..=6 => Tier::Normal,
            _ => Tier::Low,
        }
    }
}

impl TryFrom<u8> for Priority {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        Self::new(number).ok_or("its priority is not one of 0 to 9")
    }
}

impl From<Priority> for u8 {
    fn from(priority: Priority) -> Self {
        priority.0
    }
}

/// A class of priorities that gets a share of the grants (`tier_shares`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tier {
    /// Priorities 0 to 3.
    High,
    /// Priorities 4 to 6.
    Normal,
    /// Priorities 7 to 9.
    Low,
}

words!(Tier { High = "high", Normal = "normal", Low = "low" });

impl Tier {
    /// The place of the tier in arrays, high to low.
    pub fn index(self) -> usize {
        match self {
            Self::High => 0,
            Self::Normal => 1,
            Self::Low => 2,
        }
    }

    /// The priorities of this tier, first to last.
    pub fn priorities(self) -> impl Iterator<Item = Priority> {
        let range = match self {
            Self::High => 0..=3,
            Self::Normal => 4..=6,
            Self::Low => 7..=9,
        };
        range.map(Priority)
    }
}
