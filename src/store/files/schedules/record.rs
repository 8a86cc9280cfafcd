//! A schedule as JSON: `spool/schedules/<name>.json`. Its member `task` is the record of the task that each slot makes, without
//! what only a task has that was made.

use crate::model::calendar::{Made, Overlap, Pattern, Schedule, Zone};
use crate::model::{Name, Task, TaskId, Timestamp};
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::control_record::time;
use crate::store::files::disk::json_object;
use crate::store::files::disk::task_record::newer_or_corrupt;
use crate::store::{FORMAT_VERSION, MAX_RECORD_BYTES, decode_task, encode_task};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The members of a task record that a schedule does not have: each slot gives its own.
const OF_A_TASK: [&str; 4] = ["v", "id", "status", "created_at"];

#[derive(Serialize, Deserialize)]
struct ScheduleFile {
    v: u64,
    name: String,
    expression: String,
    tz: String,
    overlap: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fill_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start_within_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hold: bool,
    created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_slot: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_task: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skipped: Option<String>,
    task: Map<String, Value>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

fn text(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

/// A schedule as it is written.
pub(crate) fn encode_schedule(schedule: &Schedule) -> Result<Vec<u8>> {
    let bad = |error: serde_json::Error| StoreError::corrupt("schedule", error.to_string());
    let mut task: Map<String, Value> = serde_json::from_slice(&encode_task(&schedule.task)?).map_err(bad)?;
    for member in OF_A_TASK {
        task.shift_remove(member);
    }
    let file = ScheduleFile {
        v: FORMAT_VERSION,
        name: schedule.name.to_string(),
        expression: schedule.expression.clone(),
        tz: schedule.zone.clone(),
        overlap: schedule.overlap.word().to_owned(),
        fill_ms: schedule.fill_ms,
        start_within_ms: schedule.start_within_ms,
        hold: schedule.hold,
        created_at: schedule.created_at.to_string(),
        next: text(schedule.next),
        last_slot: text(schedule.last.map(|made| made.slot)),
        last_task: schedule.last.map(|made| made.task.to_string()),
        skipped: text(schedule.skipped),
        task,
        extra: schedule.extra.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
    };
    let mut bytes = serde_json::to_vec(&file).map_err(bad)?;
    bytes.push(b'\n');
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_RECORD_BYTES {
        return Err(StoreError::TooLarge { bytes: bytes.len() });
    }
    Ok(bytes)
}

/// Reads a schedule.
pub(crate) fn decode_schedule(path: &str, bytes: &[u8]) -> Result<Schedule> {
    let read = json_object::text(bytes).and_then(serde_json::from_str);
    let file: ScheduleFile = read.map_err(|error| newer_or_corrupt(path, bytes, &error))?;
    match file.v {
        FORMAT_VERSION => {}
        0 => return Err(StoreError::corrupt(path, "there was no version 0")),
        version => return Err(StoreError::Newer { thing: path.into(), version }),
    }
    let task = template(path, file.task, &file.created_at)?;
    let corrupt = |why: String| StoreError::corrupt(path, why);
    let moment = |text: &Option<String>| text.as_deref().map(time).transpose().map_err(corrupt);
    let zone = Zone::parse(&file.tz).map_err(|error| corrupt(error.to_string()))?;
    Pattern::parse(&file.expression, zone).map_err(|error| corrupt(error.to_string()))?;
    let last = match (moment(&file.last_slot)?, &file.last_task) {
        (Some(slot), Some(task)) => {
            let task = TaskId::parse(task).ok_or_else(|| corrupt(format!("\"{task}\" is not a task id")))?;
            Some(Made { slot, task })
        }
        (None, None) => None,
        _ => return Err(corrupt("it names a last slot or a last task, and not both".to_owned())),
    };
    Ok(Schedule {
        name: Name::new(&file.name).map_err(|error| corrupt(error.to_string()))?,
        overlap: Overlap::parse(&file.overlap)
            .ok_or_else(|| corrupt(format!("\"{}\" is no rule for slots that overlap", file.overlap)))?,
        fill_ms: file.fill_ms,
        start_within_ms: file.start_within_ms,
        hold: file.hold,
        created_at: time(&file.created_at).map_err(corrupt)?,
        next: moment(&file.next)?,
        last,
        skipped: moment(&file.skipped)?,
        task,
        expression: file.expression,
        zone: file.tz,
        extra: (!file.extra.is_empty()).then(|| Value::Object(file.extra).to_string()),
    })
}

/// The task of a schedule, as the record of a task that has not started.
fn template(path: &str, mut members: Map<String, Value>, created_at: &str) -> Result<Task> {
    let values = [json!(FORMAT_VERSION), json!("task_1"), json!("pending"), json!(created_at)];
    for (member, value) in OF_A_TASK.into_iter().zip(values) {
        if members.insert(member.to_owned(), value).is_some() {
            return Err(StoreError::corrupt(path, format!("its task has \"{member}\"")));
        }
    }
    let wrong = |error: StoreError| match error {
        StoreError::Corrupt { why, .. } => StoreError::corrupt(path, format!("its task: {why}")),
        other => other,
    };
    let bytes = serde_json::to_vec(&members).map_err(|error| StoreError::corrupt(path, error.to_string()))?;
    let task = decode_task(path, &bytes, None).map_err(wrong)?;
    let is_fresh = task.schedule.is_none() && task.due_at.is_none() && task.hold.is_none() && task.start_by.is_none();
    let has_ties = task.group.is_some() || task.terms.subject.is_some() || task.terms.reuses.is_some();
    let is_new = !has_ties
        && task.last_start.is_none()
        && task.outcome().is_none()
        && task.after.is_empty()
        && task.key.is_none();
    if is_fresh && is_new {
        Ok(task)
    } else {
        Err(StoreError::corrupt(path, "its task has moments, a key or a state of its own"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::store::tests_support::task;

    pub(crate) fn schedule(name: &str) -> Schedule {
        let mut task = Task { id: TaskId(1), key: None, due_at: None, start_by: None, hold: None, ..task(1) };
        (task.after, task.comes_after) = Default::default();
        (task.last_start, task.schedule) = Default::default();
        task.created_at = Timestamp(1000);
        Schedule {
            name: Name::new(name).expect("a name"),
            expression: "0 9 * * mon-fri".into(),
            zone: "Europe/Berlin".into(),
            overlap: Overlap::Queue,
            fill_ms: Some(5000),
            start_within_ms: Some(60_000),
            hold: true,
            created_at: Timestamp(1000),
            next: Some(Timestamp(9000)),
            last: Some(Made { slot: Timestamp(8000), task: TaskId(7) }),
            skipped: Some(Timestamp(7000)),
            task,
            extra: Some("{\"later\":[1]}".into()),
        }
    }

    #[test]
    fn a_schedule_reads_back_with_what_this_version_does_not_know() {
        let full = schedule("stand.up/ä");
        let bare = Schedule { next: None, last: None, skipped: None, fill_ms: None, extra: None, ..full.clone() };
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
