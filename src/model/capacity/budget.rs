//! Number of processors that the holders of a lane use together.

use std::fmt;

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
}
