//! The model as JSON documents (contract, section 5). Keys are append-only within v1.
//!
//! Pure functions; must not print, and must not ask the time.

mod items;

pub use items::{Items, of_kind};

use crate::model::task::{EndState, Outcome, Stepwise};
use crate::model::who::is_unseen;
use crate::model::{LaneName, Task, Timestamp};
use serde_json::{Map, Value, json};

/// One document: `{"schema":"luzia.<schema>/v1", …members}`, in the order given.
pub fn document<'a>(schema: &str, members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let mut map = Map::new();
    map.insert("schema".into(), json!(format!("luzia.{schema}/v1")));
    for (key, value) in members {
        map.insert(key.into(), value);
    }
    Value::Object(map)
}

/// The document of one thing: the schema, then the thing's own members.
pub fn single(schema: &str, thing: Value) -> Value {
    with(document(schema, []), thing)
}

/// An object with further members, which come last and replace those of their names.
pub fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(members), Value::Object(more)) = (&mut object, more) {
        members.extend(more);
    }
    object
}

/// A document as one line, newline included. Control characters that JSON allows in strings (C1, DEL, bidirectional
/// controls) are escaped, so that the line is safe on a terminal too.
pub fn line(value: &Value) -> String {
    guarded(value.to_string())
}

/// A document indented for people, newline included.
pub fn pretty(value: &Value) -> String {
    guarded(serde_json::to_string_pretty(value).unwrap_or_default())
}

/// A moment: RFC 3339 in UTC with milliseconds.
pub fn time(at: Timestamp) -> Value {
    Value::String(at.to_string())
}

/// A moment that may be missing: null then.
pub fn maybe_time(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, time)
}

/// The lanes of a task as its JSON lists them: the user's first, then the others. `global`, which all tasks take, is left
/// out.
pub fn task_lanes(task: &Task) -> Vec<String> {
    let mut lanes: Vec<String> =
        task.takes_user_lane.then(|| LaneName::user(&task.user).to_string()).into_iter().collect();
    lanes.extend(task.lanes.iter().map(LaneName::to_string));
    lanes
}

/// All members of a task. The members of its end are present once it is over (S1.35–S1.38).
pub fn task(task: &Task) -> Value {
    let start = task.last_start.as_ref();
    let mut members = object(json!({
        "id": task.id.to_string(),
        "status": task.status().word(),
        "user": task.user.as_str(),
        "project": task.project.as_ref().map(|name| name.as_str()),
        "lanes": task_lanes(task),
        "priority": task.priority.number(),
        "tier": task.priority.tier().word(),
        "command": task.command,
        "label": task.label,
        "agent": task.agent.as_ref().map(|agent| agent.name.as_str()),
        "session": task.agent.as_ref().and_then(|agent| agent.session.as_deref()),
        "key": task.key,
        "goal": task.goal,
        "stepwise": task.stepwise.as_ref().map(stepwise),
        "schedule": task.schedule.as_ref().map(|of| of.schedule.as_str()),
        "slot": maybe_time(task.schedule.as_ref().map(|of| of.slot)),
        "cwd": task.cwd,
        "created_at": time(task.created_at),
        "due_at": maybe_time(task.due_at),
        "after": task.after.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "parent": task.parent.map(|parent| parent.to_string()),
        "can_inherit_lock": task.waited_for && !task.no_inherit,
        "comes_after": task.comes_after.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "timeout_ms": task.timeout_ms,
        "grace_ms": task.grace_ms,
        "start_by": maybe_time(task.start_by),
        "retries": task.retries,
        "attempt": task.attempt(),
        "starts": task.starts,
        "started_at": maybe_time(start.map(|start| start.at)),
        "lock_id": start.map(|start| start.lock_id.as_str()),
        "fence": start.map(|start| start.fence),
        "slots": start.map(|start| &start.slots),
        "conductor_dir": task.conductor_dir,
        "variables": {},
    }));
    super::task::terms::extend(&mut members, task);
    if let Some(outcome) = task.outcome() {
        members.extend(end(outcome, task.failed_action()));
    }
    Value::Object(members)
}

/// Progress of a stepwise task.
fn stepwise(stepwise: &Stepwise) -> Value {
    json!({
        "step": stepwise.step,
        "max_steps": stepwise.most,
        "steps_per_run": stepwise.per_run,
        "actions": stepwise.actions,
        "names": stepwise.names,
        "last": stepwise.last.as_ref().map(|last| json!({
            "kind": if last.is_tool { "tool" } else { "output" },
            "exit_code": last.exit_code,
            "result": last.result,
            "left_out": last.left_out,
        })),
    })
}

/// The members of a task that is over, also in the spelling of the rows S1.35–S1.38, which stays within v1.
fn end(outcome: &Outcome, step: u32) -> Map<String, Value> {
    let completed_at = time(outcome.completed_at);
    let mut members = object(json!({
        "completed_at": completed_at,
        "completedAt": completed_at,
        "result_type": outcome.result_type(),
        "resultType": outcome.result_type(),
        "result_summary": outcome.summary,
        "resultSummary": outcome.summary,
        "result_data": outcome.data.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()),
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "ran_ms": outcome.ran_ms,
    }));
    let of_status = match outcome.end {
        // A task without steps is one step, of index 0.
        EndState::Failed => json!({
            "error_message": outcome.error,
            "errorMessage": outcome.error,
            "failed_action_id": step,
            "failedActionId": step,
        }),
        EndState::Cancelled => json!({
            "cancelled_by": outcome.cancelled_by,
            "cancel_reason": outcome.cancel_reason,
            "cancelledBy": outcome.cancelled_by,
            "cancelReason": outcome.cancel_reason,
        }),
        EndState::Timeout | EndState::Completed => json!({}),
    };
    members.extend(object(of_status));
    members
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Escapes within JSON text. Raw control characters of this kind are only in strings there.
fn guarded(mut text: String) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
        text.push('\n');
        return text;
    }
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if is_unseen(c) && c != '\n' {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::task::Start;
    use crate::model::task::TaskState;
    use crate::model::{Name, TaskId};

    fn name(text: &str) -> Name {
        Name::new(text).expect("a name")
    }

    fn example() -> Task {
        let command = vec!["echo".into(), "a\u{202e}\u{9b}\n".into()];
        Task {
            lanes: vec![LaneName::parse("thread:7").expect("a lane")],
            env: vec![(b"SECRET".to_vec(), b"x".to_vec())].into(),
            conductor_dir: "/c".into(),
            after: vec![TaskId(3)],
            comes_after: vec![TaskId(2), TaskId(3)],
            timeout_ms: Some(1000),
            retries: 2,
            ..Task::plain(TaskId(12), name("alice"), command, Timestamp(1_768_005_905_120))
        }
    }

    fn ended(end: EndState) -> Value {
        let mut over = example();
        over.failures = u32::from(end == EndState::Failed);
        over.last_start = Some(Start {
            at: over.created_at,
            lock_id: "task_12_1768005905".into(),
            fence: 4,
            slots: Default::default(),
        });
        over.state = TaskState::Over(Outcome {
            end,
            completed_at: Timestamp(1_768_005_906_000),
            exit_code: Some(1),
            signal: None,
            summary: "exited with 1".into(),
            data: None,
            error: Some("exited with 1".into()),
            cancelled_by: Some("user".into()),
            cancel_reason: Some("why".into()),
            ran_ms: Some(5),
            step: None,
        });
        task(&over)
    }

    #[test]
    fn a_task_has_the_members_of_the_contract() {
        let value = task(&example());
        assert_eq!(value["id"], "task_12");
        assert_eq!(value["status"], "pending");
        assert_eq!(value["lanes"], json!(["user:alice", "thread:7"]));
        assert_eq!(value["tier"], "normal");
        assert_eq!(value["after"], json!(["task_3"]));
        assert_eq!(value["comes_after"], json!(["task_2", "task_3"]));
        assert_eq!(value["created_at"], "2026-01-10T00:45:05.120Z");
        assert_eq!(value["attempt"], 1);
        assert!(value.get("project").is_some_and(Value::is_null));
        assert!(value.get("completedAt").is_none());
        assert!(!value.to_string().contains("SECRET"), "the environment stays private");
    }

    #[test]
    fn the_end_of_a_task_has_the_members_of_its_state() {
        for (end, result, keys) in [
            (EndState::Completed, "success", &["result_summary", "resultSummary", "variables"][..]),
            (EndState::Failed, "failure", &["error_message", "errorMessage", "failed_action_id", "failedActionId"]),
            (EndState::Timeout, "timeout", &["result_summary", "resultSummary"]),
            (EndState::Cancelled, "cancelled", &["cancelled_by", "cancelledBy", "cancel_reason", "cancelReason"]),
        ] {
            let value = ended(end);
            assert_eq!(value["resultType"], result);
            assert_eq!(value["result_type"], result);
            assert_eq!(value["completedAt"], "2026-01-10T00:45:06.000Z");
            assert_eq!(value["attempt"], 1);
            for key in keys {
                assert!(value.get(key).is_some_and(|found| !found.is_null()), "{end:?} {key}");
            }
        }
        assert!(ended(EndState::Completed).get("cancelledBy").is_none());
    }

    #[test]
    fn a_line_is_json_and_safe_on_a_terminal() {
        let text = line(&single("show", task(&example())));
        assert!(text.starts_with("{\"schema\":\"luzia.show/v1\",\"id\":\"task_12\","), "{text}");
        assert!(text.contains("a\\u202e\\u009b\\n") && text.ends_with("}\n"), "{text}");
        assert_eq!(text.lines().count(), 1);
        for text in [text, pretty(&task(&example()))] {
            let back: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(back["command"][1], "a\u{202e}\u{9b}\n");
        }
        let empty = document("list", [("items", json!([]))]);
        assert_eq!(line(&empty), "{\"schema\":\"luzia.list/v1\",\"items\":[]}\n");
    }

    #[test]
    fn a_list_in_pages_has_the_text_of_the_whole() {
        for count in [0, 1, 5] {
            let all: Vec<Value> = (0..count).map(|at| json!({ "id": at, "text": "a\nb", "none": [] })).collect();
            for page in [1, 2, 9] {
                let (mut document, mut lines) = (Items::document("list"), Items::lines("list"));
                let (mut whole, mut each) = (String::new(), String::new());
                for item in &all {
                    document.push(item);
                    lines.push(item);
                    if document.waiting() == page {
                        whole += &document.page();
                        each += &lines.page();
                    }
                }
                assert_eq!(
                    whole + &document.end(),
                    pretty(&super::document("list", [("items", json!(all))])),
                    "{count} by {page}"
                );
                let wanted: String = all.iter().map(|item| line(&of_kind("list", item))).collect();
                assert_eq!(each + &lines.end(), wanted, "{count} by {page}");
                assert!(wanted.lines().all(|line| line.starts_with("{\"kind\":\"task\",")), "{wanted}");
            }
        }
    }
}
