//! Terms that few tasks have, as JSON. A task without such a term has no member for it.

use crate::app::steps::OpenWait;
use crate::model::task::{OnInterrupt, Outcome, Terms};
use crate::model::time::format_duration;
use crate::model::{Task, TaskId, Timestamp};
use serde_json::{Map, Value, json};

/// Adds the members of a task's terms.
pub fn extend(members: &mut Map<String, Value>, task: &Task) {
    let Terms { subject, is_stable, subject_changed, on_finish, log_sample, .. } = &task.terms;
    let terms = &task.terms;
    let ids = |ids: &[TaskId]| (!ids.is_empty()).then(|| ids.iter().map(TaskId::to_string).collect::<Vec<_>>().into());
    let failed = terms.failed_dependency;
    let is_unusual = |on_interrupt: &OnInterrupt| *on_interrupt != OnInterrupt::default();
    let own = [
        ("after_any", ids(&terms.after_any)),
        ("after_failed", ids(&terms.after_failed)),
        ("reason", failed.map(|_| "DependencyFailed".into())),
        ("reason_detail", failed.map(|before| dependency_failed(task, before))),
        ("group", task.group.as_ref().map(|group| group.name.as_str().into())),
        ("group_first", task.group.as_ref().map(|group| group.first.to_string().into())),
        ("subject", subject.as_deref().map(Value::from)),
        ("stable", is_stable.then(|| true.into())),
        ("subject_changed", subject_changed.map(Value::from)),
        ("backoff_ms", terms.backoff_ms.map(Value::from)),
        ("max_backoff_ms", terms.most_backoff_ms.map(Value::from)),
        ("on_interrupt", Some(&terms.on_interrupt).filter(|one| is_unusual(one)).map(|one| one.word().into())),
        ("earlier", (!terms.earlier.is_empty()).then(|| terms.earlier.iter().map(earlier_end).collect())),
        ("on_finish", on_finish.as_deref().map(Value::from)),
        ("warn_after_ms", terms.warn_after_ms.map(Value::from)),
        ("on_wait", terms.on_wait.as_deref().map(Value::from)),
        ("log_sample", log_sample.map(|share| json!(f64::from(share) / 1_000_000.0))),
        ("slot_count", terms.slot_count.map(Value::from)),
        ("reuses", terms.reuses.map(|id| id.to_string().into())),
    ];
    members.extend(own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    members.insert("parentExecutionId".to_owned(), json!(task.parent.map(|parent| parent.0)));
    members.insert("canInheritLock".to_owned(), json!(task.waited_for && !task.no_inherit));
}

/// The end of a task before it was retried.
fn earlier_end(outcome: &Outcome) -> Value {
    json!({
        "status": outcome.end.status().word(),
        "completed_at": outcome.completed_at.to_string(),
        "result_summary": outcome.summary,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "ran_ms": outcome.ran_ms,
    })
}

/// Members of the request that a queued item keeps, in the words of its source (S0.22).
pub fn context(task: &Task) -> Value {
    let key_of = |kind: &str| task.lanes.iter().find(|lane| lane.kind() == kind).map(|lane| lane.key().to_string());
    // A session is `session:<channel>:<user>`.
    let of_session = || key_of("session").map(|key| key.split(':').next().unwrap_or_default().to_owned());
    let message = task.terms.message.clone().or_else(|| task.stdin.clone());
    json!({
        "executionId": task.id.0,
        "threadId": key_of("thread"),
        "message": message.unwrap_or_else(|| task.command.join(" ")),
        "channel": task.terms.channel.clone().or_else(of_session),
    })
}

/// Adds the members of a wait, also under the names of the rows S1.18 and S1.43.
pub fn extend_waiting(members: &mut Map<String, Value>, open: OpenWait, task: &Task, now: Timestamp) {
    let wanted = |name: &str| open.filter.iter().find(|(member, _)| member == name).map(|(_, wanted)| wanted.clone());
    let own_thread = || task.lanes.iter().find(|lane| lane.kind() == "thread").map(|lane| lane.key().to_string());
    let thread = wanted("thread").or_else(own_thread);
    let filter: Map<String, Value> =
        open.filter.iter().map(|(name, wanted)| (name.clone(), wanted.as_str().into())).collect();
    let mut data = filter.clone();
    // The members of the source of the row.
    data.extend([
        ("threadId".to_owned(), thread.map_or(Value::Null, |id| id.parse::<u64>().map_or(id.into(), Value::from))),
        ("expectedFrom".to_owned(), json!(wanted("from"))),
        ("timeout".to_owned(), format_duration(open.time_ms).into()),
    ]);
    let since = Timestamp::parse(&open.since).map_or(0, |since| now.ms_since(since).max(0));
    #[expect(clippy::cast_precision_loss, reason = "hours for people")]
    let hours = (since as f64 / 36_000.0).round() / 100.0;
    let agent = task.agent.as_ref().map(|agent| agent.name.clone());
    let own = json!({
        "waiting_for": open.kind, "waitingFor": open.kind,
        "waiting_event": open.event,
        "waiting_since": open.since,
        "waiting_until": open.until, "waitingUntil": open.until,
        "waiting_data": filter, "waitingData": data,
        "waiting_timeouts": open.timeouts,
        "waiting_hours": hours,
        "agentId": agent.unwrap_or_else(|| task.user.to_string()),
    });
    if let Value::Object(own) = own {
        members.extend(own);
    }
}

fn dependency_failed(task: &Task, before: TaskId) -> Value {
    json!({
        "reason": "DependencyFailed",
        "task": before.to_string(),
        "wanted": task.wanted(before).option(),
        "next": [format!("luzia show {before}")],
    })
}
