//! Timers: the moments at which a pass looks at something.

use super::name::Name;
use super::task::TaskId;
use super::time::Timestamp;

/// A schedule's key in places where its name may be too long: the encoded name, or the digest of a long one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ScheduleKey(String);

impl ScheduleKey {
    /// The key of a schedule of this name.
    pub fn of(name: &Name) -> Self {
        Self(name.encoded())
    }

    /// A key as it was read; a schedule with this key may not exist.
    pub fn read(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The object of a timer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Alarm {
    /// A task: it is due, its time to start has run out, or its wait has run out.
    Task(TaskId),
    /// A schedule: a slot has come.
    Schedule(ScheduleKey),
}

impl From<TaskId> for Alarm {
    fn from(id: TaskId) -> Self {
        Self::Task(id)
    }
}

impl From<&ScheduleKey> for Alarm {
    fn from(key: &ScheduleKey) -> Self {
        Self::Schedule(key.clone())
    }
}

/// A timer: at `at` a pass looks at its object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timer {
    /// The time at which it fires.
    pub at: Timestamp,
    /// Its object.
    pub alarm: Alarm,
}

impl Timer {
    /// A timer for a task or a schedule.
    pub fn of(alarm: impl Into<Alarm>, at: Timestamp) -> Self {
        Self { at, alarm: alarm.into() }
    }

    /// The task of the timer, if it is for a task.
    pub fn task(&self) -> Option<TaskId> {
        match &self.alarm {
            Alarm::Task(id) => Some(*id),
            Alarm::Schedule(_) => None,
        }
    }
}
