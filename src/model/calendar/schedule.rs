//! A schedule: a cron line, and the task that luzia makes at each of its moments.

use crate::model::control::TaskHold;
use crate::model::record::{Extra, Version, as_word, is_default, words};
use crate::model::{LaneName, Name, Task, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

/// The rule for a slot while the former task of its schedule is not over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overlap {
    /// The slot makes no task.
    #[default]
    Skip,
    /// The slot makes a task, which waits for its turn like any other.
    Queue,
}

words!(Overlap { Skip = "skip", Queue = "queue" });

as_word!(Overlap, Self::word, Self::parse, "is no rule for slots that overlap");

/// The last task that a schedule made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    /// The moment for which the task was made: a slot, or the time of a `cron run`.
    pub slot: Timestamp,
    /// The task.
    pub task: TaskId,
}

/// The last task of a schedule, in the form of its record.
mod last {
    use super::{Made, TaskId, Timestamp};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Members {
        #[serde(skip_serializing_if = "Option::is_none")]
        last_slot: Option<Timestamp>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_task: Option<TaskId>,
    }

    pub(super) fn serialize<S: Serializer>(made: &Option<Made>, to: S) -> Result<S::Ok, S::Error> {
        Members { last_slot: made.map(|made| made.slot), last_task: made.map(|made| made.task) }.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Made>, D::Error> {
        match Members::deserialize(from)? {
            Members { last_slot: Some(slot), last_task: Some(task) } => Ok(Some(Made { slot, task })),
            Members { last_slot: None, last_task: None } => Ok(None),
            _ => Err(D::Error::custom("it names a last slot or a last task, and not both")),
        }
    }
}

/// The schedule of a task, in the record of the task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlotOf {
    /// The schedule.
    pub schedule: Name,
    /// The moment for which the task was made.
    pub slot: Timestamp,
}

/// A schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// The version of its record.
    pub v: Version,
    /// Its name.
    pub name: Name,
    /// The cron line as it was given.
    pub expression: String,
    /// The name of its time zone.
    #[serde(rename = "tz")]
    pub zone: String,
    /// The rule for a slot while the former task is not over.
    pub overlap: Overlap,
    /// The time within which every missed slot is made; without it, only the last one is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_ms: Option<u64>,
    /// Whether the last missed slot is made however long ago it was. `fill_ms` is `None` then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fill_once: bool,
    /// `--start-within` of each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_within_ms: Option<u64>,
    /// Whether each task is queued paused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hold: bool,
    /// The time at which it was added.
    pub created_at: Timestamp,
    /// The first slot that no pass has dealt with; `None` if there is no further slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
    /// The last task that it made.
    #[serde(flatten, with = "last")]
    pub last: Option<Made>,
    /// The last slot that made no task because the former task was not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Timestamp>,
    /// The last slot that was missed because no pass ran in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<Timestamp>,
    /// Number of slots that were missed so far.
    #[serde(default, skip_serializing_if = "is_default")]
    pub missed_count: u64,
    /// The task that each slot makes, without its number, its moments and its slot.
    pub task: Task,
    /// Members of the record that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Schedule {
    /// The name under which it is paused and resumed. The name has the form of a lane's name, although `cron` is no kind of lane.
    pub fn pause_name(name: &Name) -> LaneName {
        LaneName::new(LaneName::SCHEDULE, name.clone()).expect("the kind is a word")
    }

    /// The task of a slot.
    pub fn task_for(&self, id: TaskId, slot: Timestamp, now: Timestamp) -> Task {
        let ms = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        Task {
            id,
            created_at: now,
            hold: self.hold.then_some(TaskHold {
                since: now,
                until: None,
                reason: None,
                by: None,
                start_left_ms: self.start_within_ms,
            }),
            start_by: self.start_within_ms.filter(|_| !self.hold).map(|within| now.plus_ms(ms(within))),
            schedule: Some(SlotOf { schedule: self.name.clone(), slot }),
            ..self.task.clone()
        }
    }
}
