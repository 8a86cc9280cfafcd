//! A schedule as JSON: `spool/schedules/<name>.json`. Its member `task` is the record of the task that each slot makes, without
//! the members that only an existing task has.

use crate::model::calendar::{Pattern, Schedule, Zone};
use crate::store::files::disk::task_record::{encode_line, newer_or_corrupt, settled};
use crate::store::{FORMAT_VERSION, Result, StoreError, json_object};
use serde::de::Error as _;
use serde_json::{Map, Value, json};

/// The members of a task record that a schedule does not have: each slot gives its own.
const OF_A_TASK: [&str; 4] = ["v", "id", "status", "created_at"];

/// A schedule as it is written.
pub(crate) fn encode_schedule(schedule: &Schedule) -> Result<Vec<u8>> {
    let bad = |error: serde_json::Error| StoreError::corrupt("schedule", error.to_string());
    let mut members = serde_json::to_value(schedule).map_err(bad)?;
    if let Some(Value::Object(task)) = members.get_mut("task") {
        task.retain(|name, _| !OF_A_TASK.contains(&name.as_str()));
    }
    encode_line("schedule", &members)
}

/// Reads a schedule.
pub(crate) fn decode_schedule(path: &str, bytes: &[u8]) -> Result<Schedule> {
    let read = json_object::read(bytes).and_then(whole).and_then(serde_json::from_value);
    let mut schedule: Schedule = read.map_err(|error| newer_or_corrupt(path, bytes, &error))?;
    let corrupt = |why: String| StoreError::corrupt(path, why);
    let zone = Zone::parse(&schedule.zone).map_err(|error| corrupt(error.to_string()))?;
    Pattern::parse(&schedule.expression, zone).map_err(|error| corrupt(error.to_string()))?;
    schedule.task = settled(schedule.task).map_err(|why| corrupt(format!("its task: {why}")))?;
    let task = &schedule.task;
    let is_fresh = task.schedule.is_none() && task.due_at.is_none() && task.hold.is_none() && task.start_by.is_none();
    let has_ties = task.group.is_some()
        || task.terms.subject.is_some()
        || task.terms.reuses.is_some()
        || !task.terms.earlier.is_empty();
    let is_new = !has_ties
        && task.last_start.is_none()
        && task.outcome().is_none()
        && task.after.is_empty()
        && task.key.is_none();
    if is_fresh && is_new {
        Ok(schedule)
    } else {
        Err(corrupt("its task has moments, a key or a state of its own".to_owned()))
    }
}

/// A schedule whose task has the members of a task that has not started.
fn whole(mut members: Map<String, Value>) -> serde_json::Result<Value> {
    let created_at = members.get("created_at").cloned().unwrap_or_default();
    let values = [json!(FORMAT_VERSION), json!("task_1"), json!("pending"), created_at];
    if let Some(Value::Object(task)) = members.get_mut("task") {
        for (member, value) in OF_A_TASK.into_iter().zip(values) {
            if task.insert(member.to_owned(), value).is_some() {
                return Err(serde_json::Error::custom(format!("its task has \"{member}\"")));
            }
        }
    }
    Ok(Value::Object(members))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::calendar::{Made, Overlap};
    use crate::model::record::{Extra, Version};
    use crate::model::{Name, Task, TaskId, Timestamp};
    use crate::store::tests_support::task;

    pub(crate) fn schedule(name: &str) -> Schedule {
        let mut task = Task { id: TaskId(1), key: None, due_at: None, start_by: None, hold: None, ..task(1) };
        (task.after, task.comes_after) = Default::default();
        (task.last_start, task.schedule) = Default::default();
        task.created_at = Timestamp(1000);
        Schedule {
            v: Version,
            name: Name::new(name).expect("a name"),
            expression: "0 9 * * mon-fri".into(),
            zone: "Europe/Berlin".into(),
            overlap: Overlap::Queue,
            fill_ms: Some(5000),
            fill_once: false,
            start_within_ms: Some(60_000),
            hold: true,
            created_at: Timestamp(1000),
            next: Some(Timestamp(9000)),
            last: Some(Made { slot: Timestamp(8000), task: TaskId(7) }),
            skipped: Some(Timestamp(7000)),
            missed: Some(Timestamp(6000)),
            missed_count: 3,
            task,
            extra: serde_json::from_str("{\"later\":[1]}").expect("members"),
        }
    }

    #[test]
    fn a_schedule_reads_back_with_what_this_version_does_not_know() {
        let full = schedule("stand.up/ä");
        let bare = Schedule {
            next: None,
            last: None,
            skipped: None,
            fill_ms: None,
            fill_once: true,
            missed: None,
            missed_count: 0,
            extra: Extra::default(),
            ..full.clone()
        };
        for schedule in [full, bare] {
            let bytes = encode_schedule(&schedule).expect("text");
            assert_eq!(decode_schedule("s", &bytes).expect("it reads"), schedule);
        }
    }

    #[test]
    fn damage_and_newer_versions_are_told_apart() {
        let whole = String::from_utf8(encode_schedule(&schedule("s")).expect("text")).expect("UTF-8");
        for (from, to) in [
            ("Europe/Berlin", "Europe/Nowhere"),
            ("0 9 * * mon-fri", "0 9 * * nonday"),
            ("\"queue\"", "\"maybe\""),
            ("\"last_task\":\"task_7\",", ""),
            ("\"task_7\"", "\"seven\""),
            ("\"task\":{", "\"task\":{\"id\":\"task_3\","),
            ("\"task\":{", "\"task\":{\"key\":\"k\","),
            ("\"v\":1", "\"v\":0"),
        ] {
            let wrong = whole.replacen(from, to, 1);
            assert_ne!(wrong, whole, "{from}");
            let found = decode_schedule("s", wrong.as_bytes());
            assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{to}: {found:?}");
        }
        assert!(matches!(decode_schedule("s", b"{\"v\":2}"), Err(StoreError::Newer { version: 2, .. })));
    }
}
