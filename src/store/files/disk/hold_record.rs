//! Holds as JSON: the member `hold` of a task record, and the list `holds` of `spool/control.json`.

use crate::model::control::{Control, Held, Hold, How, Preempt, TaskHold};
use crate::model::time::MAX_DURATION_MS;
use crate::model::{TaskId, Timestamp};
use crate::store::FORMAT_VERSION;
use crate::store::config::{rules_from_json, rules_to_json};
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::json_object;
use crate::store::files::disk::task_record::newer_or_corrupt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A hold as it is written.
#[derive(Serialize, Deserialize)]
pub(crate) struct HoldFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    since: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start_left_ms: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct ControlFile {
    v: u64,
    #[serde(default)]
    lanes: Value,
    #[serde(default)]
    holds: Vec<HoldFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    preempts: Vec<PreemptFile>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct PreemptFile {
    task: String,
    how: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grace_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    others: bool,
    by: String,
}

fn encode_preempt(preempt: &Preempt) -> PreemptFile {
    let Preempt { task, how, grace_ms, others, by } = preempt.clone();
    PreemptFile { task: task.to_string(), how: how.word().to_owned(), grace_ms, others, by }
}

fn decode_preempt(file: PreemptFile) -> std::result::Result<Preempt, String> {
    let task = TaskId::parse(&file.task).ok_or_else(|| format!("\"{}\" is not a task", file.task))?;
    let how = How::parse(&file.how).ok_or_else(|| format!("\"{}\" is not a way to preempt", file.how))?;
    let grace_ms = file.grace_ms.map(|ms| ms.min(MAX_DURATION_MS));
    Ok(Preempt { task, how, grace_ms, others: file.others, by: file.by })
}

/// A moment of a record.
pub(crate) fn time(text: &str) -> std::result::Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| format!("\"{text}\" is not a time"))
}

/// The hold of a task as it is written.
pub(crate) fn encode_task_hold(hold: &TaskHold) -> HoldFile {
    HoldFile {
        what: None,
        since: hold.since.to_string(),
        until: hold.until.map(|at| at.to_string()),
        reason: hold.reason.clone(),
        by: hold.by.clone(),
        start_left_ms: hold.start_left_ms,
    }
}

/// The hold of a task as it was read.
pub(crate) fn decode_task_hold(file: HoldFile) -> std::result::Result<TaskHold, String> {
    Ok(TaskHold {
        since: time(&file.since)?,
        until: file.until.as_deref().map(time).transpose()?,
        reason: file.reason,
        by: file.by,
        start_left_ms: file.start_left_ms,
    })
}

/// What was set at run time, as `spool/control.json` holds it. `extra` are members that this version does not know.
pub(crate) fn encode_control(control: &Control, extra: Option<Map<String, Value>>) -> Result<Vec<u8>> {
    let holds = control.holds.iter().map(|hold| HoldFile {
        what: Some(hold.held.text()),
        since: hold.since.to_string(),
        until: hold.until.map(|at| at.to_string()),
        reason: hold.reason.clone(),
        by: hold.by.clone(),
        start_left_ms: None,
    });
    let file = ControlFile {
        v: FORMAT_VERSION,
        lanes: rules_to_json(&control.lanes),
        holds: holds.collect(),
        preempts: control.preempts.iter().map(encode_preempt).collect(),
        extra: extra.unwrap_or_default(),
    };
    let mut bytes =
        serde_json::to_vec_pretty(&file).map_err(|error| StoreError::corrupt("control.json", error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads `spool/control.json`, with the members that this version does not know.
pub(crate) fn decode_control(path: &str, bytes: &[u8]) -> Result<(Control, Map<String, Value>)> {
    let read = json_object::text(bytes).and_then(serde_json::from_str);
    let file: ControlFile = read.map_err(|error| newer_or_corrupt(path, bytes, &error))?;
    match file.v {
        FORMAT_VERSION => {}
        0 => return Err(StoreError::corrupt(path, "there was no version 0")),
        version => return Err(StoreError::Newer { thing: path.into(), version }),
    }
    let hold = |file: HoldFile| {
        let what = file.what.ok_or("a hold names nothing")?;
        let held = Held::parse(&what).ok_or_else(|| format!("\"{what}\" is not a lane"))?;
        let until = file.until.as_deref().map(time).transpose()?;
        Ok(Hold { held, since: time(&file.since)?, until, reason: file.reason, by: file.by })
    };
    let holds: std::result::Result<Vec<Hold>, String> = file.holds.into_iter().map(hold).collect();
    let lanes = rules_from_json(&file.lanes).map_err(|why| StoreError::corrupt(path, why))?;
    // Earlier versions could pause the holders. Such a wish is dropped: its task waits for its turn.
    let wishes = file.preempts.into_iter().filter(|wish| wish.how != "pause");
    let preempts: std::result::Result<Vec<Preempt>, String> = wishes.map(decode_preempt).collect();
    let holds = holds.map_err(|why| StoreError::corrupt(path, why))?;
    let preempts = preempts.map_err(|why| StoreError::corrupt(path, why))?;
    Ok((Control { lanes, holds, preempts }, file.extra))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::LaneRule;

    #[test]
    fn what_was_set_reads_back_and_keeps_foreign_members() {
        let mut control = Control::default();
        let rule = LaneRule { max: Some(3), lock_timeout_ms: Some(1500), ..LaneRule::default() };
        control.lanes.insert("session:*".into(), rule);
        control.holds.push(Hold {
            held: Held::All,
            since: Timestamp(1000),
            until: Some(Timestamp(2000)),
            reason: Some("upgrade".into()),
            by: Some("root".into()),
        });
        let preempt = |how, grace_ms, others| Preempt { task: TaskId(7), how, grace_ms, others, by: "me".into() };
        control.preempts = vec![preempt(How::End, None, true), preempt(How::Requeue, Some(9), false)];
        let text = String::from_utf8(encode_control(&control, None).expect("text")).expect("UTF-8");
        let text = text.replacen('{', "{\"later\":[1],", 1);
        let (read, extra) = decode_control("c", text.as_bytes()).expect("it reads");
        assert_eq!((&read, extra.len()), (&control, 1));
        let again = encode_control(&read, Some(extra)).expect("text");
        assert!(String::from_utf8_lossy(&again).contains("\"later\""));
    }

    #[test]
    fn a_wish_of_an_earlier_version_to_pause_the_holders_is_dropped() {
        let text =
            r#"{"v":1,"preempts":[{"task":"task_3","how":"pause","by":"b"},{"task":"task_4","how":"end","by":"b"}]}"#;
        let (read, _) = decode_control("c", text.as_bytes()).expect("it reads");
        assert_eq!(read.preempts.iter().map(|wish| wish.task).collect::<Vec<_>>(), [TaskId(4)]);
    }

    #[test]
    fn damage_and_newer_versions_are_told_apart() {
        for wrong in [
            "",
            "{}",
            "{\"v\":1,\"holds\":[{}]}",
            "{\"v\":1,\"preempts\":[{\"task\":\"x\",\"how\":\"end\",\"by\":\"b\"}]}",
            "{\"v\":1,\"lanes\":{\"Bad:x\":{}}}",
            "{\"v\":0}",
        ] {
            let found = decode_control("c", wrong.as_bytes());
            assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{wrong}: {found:?}");
        }
        assert!(matches!(decode_control("c", b"{\"v\":2}"), Err(StoreError::Newer { version: 2, .. })));
    }
}
