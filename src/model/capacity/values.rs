//! Slots with names: the value of each slot of a lane (`--values`, `--range`).

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Greatest number of values of a lane.
pub const MOST_VALUES: usize = 1000;
/// The longest value, in bytes.
pub const LONGEST_VALUE: usize = 200;

/// The values of the slots of a lane, in the order of the slots. There is at least one value, and no two are equal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum SlotValues {
    /// Texts, e.g. serial numbers of emulators.
    List(Vec<String>),
    /// The TCP ports from the first to the last. luzia tries a port with bind(2) before it grants the port.
    Ports(u16, u16),
}

/// Slot values in the form of the configuration: a list of texts, or a range of ports.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    List(Vec<String>),
    Ports(String),
}

impl TryFrom<Written> for SlotValues {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::List(values) => Self::list(values),
            Written::Ports(range) => Self::ports(&range),
        }
    }
}

impl From<SlotValues> for Written {
    fn from(values: SlotValues) -> Self {
        match values {
            SlotValues::List(values) => Self::List(values),
            SlotValues::Ports(..) => Self::Ports(values.to_string()),
        }
    }
}

impl SlotValues {
    /// Parses the values of `--values`; an error names their fault.
    pub fn list(values: Vec<String>) -> Result<Self, String> {
        if values.is_empty() {
            return Err("a lane with values has at least one".to_owned());
        }
        if values.len() > MOST_VALUES {
            return Err(format!("{} values are more than {MOST_VALUES}", values.len()));
        }
        let mut seen = BTreeSet::new();
        for value in &values {
            if value.is_empty() || value.trim() != value {
                return Err(format!("{value:?} is empty, or begins or ends with a space"));
            }
            if value.len() > LONGEST_VALUE || value.contains(',') || value.chars().any(char::is_control) {
                return Err(format!(
                    "{:?} is longer than {LONGEST_VALUE} bytes, or holds a comma or a control character",
                    value.chars().take(80).collect::<String>()
                ));
            }
            if !seen.insert(value) {
                return Err(format!("{value:?} is given twice, and each slot needs a value of its own"));
            }
        }
        Ok(Self::List(values))
    }

    /// Parses the ports of `--range`, e.g. `4000-4099`; an error names their fault.
    pub fn ports(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u16>().ok().filter(|number| is_number && *number > 0)
        };
        let ends = text.split_once('-').and_then(|(first, last)| Some((number(first)?, number(last)?)));
        let Some((first, last)) = ends else {
            return Err(format!("{text:?} is not a range of ports from 1 to 65535, e.g. 4000-4099"));
        };
        if first > last {
            return Err(format!("the range {first}-{last} is reversed"));
        }
        let count = usize::from(last - first) + 1;
        if count > MOST_VALUES {
            return Err(format!("a range of {count} ports is more than {MOST_VALUES}"));
        }
        Ok(Self::Ports(first, last))
    }

    /// Number of slots.
    pub fn count(&self) -> u32 {
        match self {
            Self::List(values) => u32::try_from(values.len()).unwrap_or(u32::MAX),
            Self::Ports(first, last) => u32::from(last.saturating_sub(*first)) + 1,
        }
    }

    /// The value of a slot, from 0.
    pub fn get(&self, slot: u32) -> Option<String> {
        match self {
            Self::List(values) => values.get(usize::try_from(slot).ok()?).cloned(),
            Self::Ports(first, _) => (slot < self.count()).then(|| (u32::from(*first) + slot).to_string()),
        }
    }

    /// All values, in the order of the slots.
    pub fn all(&self) -> Vec<String> {
        (0..self.count()).filter_map(|slot| self.get(slot)).collect()
    }

    /// The port number of a value, in a lane of ports.
    pub fn port(&self, value: &str) -> Option<u16> {
        match self {
            Self::List(_) => None,
            Self::Ports(..) => value.parse().ok(),
        }
    }

    /// The ports that two lanes would both give away.
    pub fn overlap(&self, other: &Self) -> Option<(u16, u16)> {
        let (Self::Ports(first, last), Self::Ports(from, to)) = (self, other) else { return None };
        let both = (*first.max(from), *last.min(to));
        (both.0 <= both.1).then_some(both)
    }
}

/// Values that no holder has, although a process uses them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occupied {
    /// The first of the occupied values.
    pub value: String,
    /// The process that uses the value, if that process can be seen.
    pub pid: Option<u32>,
    /// Number of such values.
    pub count: u32,
}

/// The choice for a new holder of a lane with values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    /// A slot and its value.
    Slot(u32, String),
    /// Nothing: every value without a holder is in use.
    Occupied(Occupied),
    /// Nothing: the holders have all values.
    Full,
}

impl SlotValues {
    /// Chooses the slot of a new holder. Other holders have the slots `taken`, each with the value in its sidecar. A value gets
    /// the slot of its position. If a holder already has that slot, because the values were changed, the value gets a slot
    /// behind all positions. If the value of a holder is not known, the holder counts as one of the value of its position.
    /// `user_of` returns the foreign user of a value.
    pub fn choose(
        &self,
        taken: &[(u32, Option<String>)],
        user_of: &mut dyn FnMut(&str) -> Option<Option<u32>>,
    ) -> Choice {
        let value_of = |(slot, value): &(u32, Option<String>)| value.clone().or_else(|| self.get(*slot));
        let held: BTreeSet<String> = taken.iter().filter_map(value_of).collect();
        let slots: BTreeSet<u32> = taken.iter().map(|(slot, _)| *slot).collect();
        let mut occupied: Option<Occupied> = None;
        for (slot, value) in (0..self.count()).filter_map(|slot| Some((slot, self.get(slot)?))) {
            if held.contains(&value) {
                continue;
            }
            match user_of(&value) {
                None => {
                    let behind = || (self.count()..).find(|slot| !slots.contains(slot)).unwrap_or(u32::MAX);
                    return Choice::Slot(if slots.contains(&slot) { behind() } else { slot }, value);
                }
                Some(pid) => match &mut occupied {
                    Some(known) => known.count += 1,
                    None => occupied = Some(Occupied { value, pid, count: 1 }),
                },
            }
        }
        occupied.map_or(Choice::Full, Choice::Occupied)
    }
}

impl fmt::Display for SlotValues {
    /// The values separated by commas, or the range.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(values) => f.write_str(&values.join(",")),
            Self::Ports(first, last) => write!(f, "{first}-{last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(text: &str) -> Result<SlotValues, String> {
        SlotValues::list(text.split(',').map(str::to_owned).collect())
    }

    #[test]
    fn values_stand_in_their_order_and_none_is_empty_or_twice() {
        let values = list("emulator-5556,emulator-5558").expect("values");
        assert_eq!((values.count(), values.get(1).as_deref(), values.get(2)), (2, Some("emulator-5558"), None));
        for wrong in ["", "a,", "a,,b", "a,b,a", " a", "a\n", &"x".repeat(201)] {
            assert!(list(wrong).is_err(), "{wrong:?}");
        }
        assert!(SlotValues::list(Vec::new()).is_err());
        assert!(SlotValues::list((0..1001).map(|at| at.to_string()).collect()).is_err());
    }

    #[test]
    fn a_range_is_of_ports_and_goes_upwards() {
        let ports = SlotValues::ports("4000-4002").expect("ports");
        assert_eq!(ports.all(), ["4000", "4001", "4002"]);
        assert_eq!((ports.port("4001"), list("4001").expect("values").port("4001")), (Some(4001), None));
        assert_eq!(SlotValues::ports("7-7").map(|one| one.count()), Ok(1));
        for wrong in ["", "4000", "4000-", "-4", "0-3", "4-70000", "5-4", "a-b", "+4-5", "4 - 5", "1-2000", "4-5-6"] {
            assert!(SlotValues::ports(wrong).is_err(), "{wrong}");
        }
    }

    fn abc() -> SlotValues {
        list("a,b,c").expect("values")
    }

    fn choice(taken: &[(u32, Option<&str>)], used: &[&str]) -> Choice {
        let taken: Vec<_> = taken.iter().map(|(slot, value)| (*slot, value.map(str::to_owned))).collect();
        abc().choose(&taken, &mut |value| used.contains(&value).then_some(Some(7)))
    }

    #[test]
    fn a_value_stands_in_the_slot_of_its_position() {
        let slot = |slot, value: &str| Choice::Slot(slot, value.to_owned());
        assert_eq!(choice(&[], &[]), slot(0, "a"));
        assert_eq!(choice(&[(0, Some("a"))], &[]), slot(1, "b"));
        assert_eq!(choice(&[(0, None), (2, Some("c"))], &[]), slot(1, "b"), "an unknown value is that of its position");
        // The values were z,a,b before: slot 0 drains, and a is held in slot 1.
        assert_eq!(choice(&[(0, Some("z")), (1, Some("a"))], &[]), slot(3, "b"));
        assert_eq!(choice(&[(0, Some("z"))], &[]), slot(3, "a"));
        assert_eq!(choice(&[(0, Some("a")), (1, Some("b")), (2, Some("c"))], &[]), Choice::Full);
    }

    #[test]
    fn a_value_that_a_stranger_uses_is_skipped() {
        assert_eq!(choice(&[], &["a"]), Choice::Slot(1, "b".into()));
        let occupied = Occupied { value: "a".into(), pid: Some(7), count: 2 };
        assert_eq!(choice(&[(1, Some("b"))], &["a", "c"]), Choice::Occupied(occupied));
    }

    proptest! {
        #[test]
        fn no_value_is_held_twice_whatever_changes(steps in proptest::collection::vec((0u8..4, 0usize..8), 1..60)) {
            let all = ["a,b,c", "b,c,d,e", "c", "e,a"].map(|text| list(text).expect("values"));
            let (mut values, mut held): (&SlotValues, Vec<(u32, Option<String>)>) = (&all[0], Vec::new());
            for (what, at) in steps {
                match what {
                    0 => values = &all[at % all.len()],
                    1 if !held.is_empty() => drop(held.remove(at % held.len())),
                    _ => {
                        let full = held.len() >= usize::try_from(values.count()).expect("few");
                        if full {
                            continue;
                        }
                        // As long as there are fewer holders than values, one of the values is free.
                        let Choice::Slot(slot, value) = values.choose(&held, &mut |_| None) else {
                            return Err(TestCaseError::fail(format!("{held:?} of {values}")));
                        };
                        prop_assert!(held.iter().all(|(other, had)| *other != slot && had.as_ref() != Some(&value)));
                        prop_assert!(values.all().contains(&value));
                        held.push((slot, Some(value)));
                    }
                }
            }
        }

        #[test]
        fn two_ranges_overlap_exactly_where_they_share_a_port(a in 1u16..60, b in 0u16..20, c in 1u16..60, d in 0u16..20) {
            let (one, two) = (SlotValues::Ports(a, a + b), SlotValues::Ports(c, c + d));
            let shared: Vec<String> = one.all().into_iter().filter(|port| two.all().contains(port)).collect();
            let found = one.overlap(&two);
            prop_assert_eq!(found.map(|(first, last)| SlotValues::Ports(first, last).all()).unwrap_or_default(), shared);
        }
    }
}
