//! The grants of a task that another scheduler has assigned to this host (`docs/decisions/450-a-granted-task.md`).

use crate::model::lane::LaneName;
use crate::model::lock::Fence;
use crate::model::record::as_text;
use crate::model::task::{Task, TaskId};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The lowest number of a task of another scheduler. This host gives lower numbers only.
pub const FIRST_GRANTED: TaskId = TaskId(1 << 40);

/// The greatest fence of a grant: greater ones would leave this host without fences of its own.
pub const MOST_FENCE: Fence = Fence(1 << 62);

/// A random word of 128 bits, written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Word(pub u128);

impl Word {
    /// Parses a word, in the one spelling of 32 small digits.
    pub fn parse(text: &str) -> Option<Self> {
        let word = u128::from_str_radix(text, 16).ok().map(Self)?;
        (word.to_string() == text).then_some(word)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

as_text!(Word, |text| Word::parse(text).ok_or_else(|| format!("\"{text}\" is not a word of 32 digits")));

/// The lease of the host: the time until which the other scheduler counts on the tasks that it has granted to this host. A lease
/// of another boot or of another session holds nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLease {
    /// The number of the boot.
    pub boot: u128,
    /// The session of the host with the scheduler.
    pub session: Word,
    /// The end of the lease by the boot clock, in milliseconds since boot; 0 for a lease that the scheduler has refused to
    /// renew.
    pub end_ms: u64,
    /// The whole length of the lease, in milliseconds.
    pub length_ms: u64,
}

/// One slot of a lane that the scheduler has given to a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GrantedSlot {
    /// The lane.
    pub lane: LaneName,
    /// The slot of the lane, from 0.
    pub slot: u32,
    /// The token of the grant, which is good for one claim.
    pub fence: Fence,
    /// The value of the slot, if the scheduler gives the slots names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The grants of a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Granted {
    /// The session of the host to which the task was assigned.
    pub session: Word,
    /// The name of this assignment.
    pub token: Word,
    /// The granted slots. A lane without one is taken as a local task takes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<GrantedSlot>,
    /// Whether the end of the host's lease ended the task.
    #[serde(rename = "cut_off", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut_off: bool,
}

impl Granted {
    /// The assignment of a child: it ends with the same lease, and borrows its lanes or takes them as a local task does.
    pub fn of_child(&self) -> Self {
        Self { slots: Vec::new(), is_cut_off: false, ..self.clone() }
    }
}

/// The member `v` of a task record. The version of a granted task is 2, so that earlier versions of luzia, which do not know
/// its grants, leave it alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TaskVersion {
    /// A task without grants.
    #[default]
    Plain,
    /// A granted task.
    Granted,
}

impl TaskVersion {
    /// The number of the version of a granted task.
    pub const GRANTED: u64 = 2;
}

impl Serialize for TaskVersion {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(if *self == Self::Plain { 1 } else { Self::GRANTED })
    }
}

impl<'de> Deserialize<'de> for TaskVersion {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u64::deserialize(from)? {
            1 => Ok(Self::Plain),
            Self::GRANTED => Ok(Self::Granted),
            0 => Err(D::Error::custom("there was no version 0")),
            _ => Err(D::Error::custom("it is of a newer version")),
        }
    }
}

impl Task {
    /// The task with grants.
    pub fn with_grants(mut self, granted: Granted) -> Self {
        (self.v, self.terms.granted) = (TaskVersion::Granted, Some(granted));
        self
    }

    /// The granted slots of one lane of the task.
    pub fn granted_in<'a>(&'a self, lane: &'a LaneName) -> impl Iterator<Item = &'a GrantedSlot> {
        self.terms.granted.iter().flat_map(|granted| &granted.slots).filter(move |slot| slot.lane == *lane)
    }
}
