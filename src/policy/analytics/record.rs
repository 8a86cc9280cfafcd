//! One event with its members by name, and the choice among events.

use crate::model::{TaskId, Timestamp};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// One event as it was read. An invalid member counts as absent.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// The time of the event.
    pub at: Timestamp,
    /// The time in milliseconds since boot; 0 if the event does not have it.
    pub boot_ms: u64,
    /// The kind of event, one word.
    pub kind: String,
    /// The process that wrote the event.
    pub pid: Option<u64>,
    /// The task of the event.
    pub task: Option<TaskId>,
    /// The task's user.
    pub user: Option<String>,
    /// The lane of the event.
    pub lane: Option<String>,
    /// The lanes that the task names beside its user's.
    pub lanes: Vec<String>,
    /// A sentence.
    pub message: Option<String>,
    /// Further members.
    pub data: Value,
}

impl Record {
    /// The event of a line of the log; `None` if the line names no kind.
    pub fn of(at: Timestamp, line: &Value) -> Option<Self> {
        let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            at,
            boot_ms: line.get("boot_ms").and_then(Value::as_u64).unwrap_or(0),
            kind: text("event")?,
            pid: line.get("pid").and_then(Value::as_u64),
            task: text("task").as_deref().and_then(TaskId::parse),
            user: text("user"),
            lane: text("lane"),
            lanes: texts(line.get("lanes")),
            message: text("message"),
            data: line.get("data").cloned().unwrap_or(Value::Null),
        })
    }

    /// A member of the data that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.data.get(name).and_then(Value::as_str)
    }

    /// A member of the data that is a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.data.get(name).and_then(Value::as_u64)
    }

    /// The lanes that the data lists, in their order, each once: a task may hold several slots of one lane.
    pub fn listed_lanes(&self) -> Vec<String> {
        let mut lanes = texts(self.data.get("lanes"));
        lanes.dedup();
        lanes
    }

    /// Whether the event concerns a lane.
    pub fn is_of_lane(&self, lane: &str) -> bool {
        self.lane.as_deref() == Some(lane)
            || self.lanes.iter().any(|one| one == lane)
            || self.listed_lanes().iter().any(|one| one == lane)
    }

    /// Whether the event concerns a user's task, or the user's lane.
    pub fn is_of_user(&self, user: &str) -> bool {
        let own = self.lane.as_deref().and_then(|lane| lane.strip_prefix("user:"));
        self.user.as_deref() == Some(user) || self.task.is_none() && own == Some(user)
    }

    /// The event as JSON for people and programs.
    pub fn json(&self) -> Value {
        let mut members = Map::new();
        members.insert("kind".into(), self.kind.as_str().into());
        members.insert("at".into(), self.at.to_string().into());
        members.insert("boot_ms".into(), self.boot_ms.into());
        let optional = [
            ("pid", self.pid.map(Value::from)),
            ("task", self.task.map(|task| task.to_string().into())),
            ("user", self.user.clone().map(Value::from)),
            ("lane", self.lane.clone().map(Value::from)),
            ("lanes", Some(json!(self.lanes)).filter(|_| !self.lanes.is_empty())),
            ("message", self.message.clone().map(Value::from)),
            ("data", Some(self.data.clone()).filter(|data| !data.is_null())),
        ];
        let present = optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        members.extend(present);
        Value::Object(members)
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The choice of events; an empty member matches all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Events of these tasks.
    pub tasks: BTreeSet<TaskId>,
    /// Events of this user's tasks and lane.
    pub user: Option<String>,
    /// Events in this lane, and events of the tasks that take it.
    pub lane: Option<String>,
    /// Events of these kinds.
    pub kinds: BTreeSet<String>,
}

impl Filter {
    /// Whether the filter lets an event through.
    pub fn lets(&self, record: &Record) -> bool {
        let is_task = self.tasks.is_empty() || record.task.is_some_and(|task| self.tasks.contains(&task));
        let is_lane = self.lane.as_ref().is_none_or(|lane| record.is_of_lane(lane));
        let is_kind = self.kinds.is_empty() || self.kinds.contains(&record.kind);
        is_task && is_lane && is_kind && self.user.as_ref().is_none_or(|user| record.is_of_user(user))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An event at a moment.
    pub(crate) fn record(at: i64, line: Value) -> Record {
        Record::of(Timestamp(at), &line).expect("a kind")
    }

    #[test]
    fn filters_choose_by_each_member_and_by_all_together() {
        let of = |task: &str, user: &str, lane: &str, kind: &str| {
            record(0, json!({ "event": kind, "task": task, "user": user, "lane": lane, "lanes": ["thread:7"] }))
        };
        let one = of("task_1", "alice", "user:alice", "started");
        let lock = record(0, json!({ "event": "lock_acquired", "lane": "user:alice" }));
        let wide = record(0, json!({ "event": "locked", "task": "task_2", "data": { "lanes": ["goal:x", "global"] } }));
        let filter = |task: u64, user: &str, lane: &str, kind: &str| Filter {
            tasks: (task > 0).then_some(TaskId(task)).into_iter().collect(),
            user: Some(user.to_owned()).filter(|user| !user.is_empty()),
            lane: Some(lane.to_owned()).filter(|lane| !lane.is_empty()),
            kinds: Some(kind.to_owned()).filter(|kind| !kind.is_empty()).into_iter().collect(),
        };
        for (chosen, lets) in [
            (filter(0, "", "", ""), [true, true, true]),
            (filter(1, "", "", ""), [true, false, false]),
            (filter(0, "alice", "", ""), [true, true, false]),
            (filter(0, "", "thread:7", ""), [true, false, false]),
            (filter(0, "", "user:alice", ""), [true, true, false]),
            (filter(0, "", "goal:x", ""), [false, false, true]),
            (filter(1, "alice", "thread:7", "started"), [true, false, false]),
            (filter(1, "alice", "thread:7", "ended"), [false, false, false]),
        ] {
            assert_eq!([&one, &lock, &wide].map(|record| chosen.lets(record)), lets, "{chosen:?}");
        }
    }

    #[test]
    fn an_event_in_json_has_its_kind_and_no_member_that_it_lacks() {
        let read = record(5, json!({ "event": "pruned", "boot_ms": 7, "v": 1 }));
        assert_eq!(read.json(), json!({ "kind": "pruned", "at": Timestamp(5).to_string(), "boot_ms": 7 }));
        assert_eq!(Record::of(Timestamp(5), &json!({ "kind": "x" })), None);
        assert_eq!(Record::of(Timestamp(5), &json!([1])), None);
    }
}
