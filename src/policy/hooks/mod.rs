//! The valid events of hooks, and the hooks for an event.

use super::analytics::record::Record;
use crate::model::Task;
use crate::model::control::Hook;
use serde_json::{Value, json};

/// Runs in the context of a task, before its command; if it fails, the task fails.
pub const BEFORE: &str = "before";
/// Runs in the context of a task, when the end of its command is recorded and its lanes are still held.
pub const AFTER: &str = "after";

/// The events of hooks: the name, the kind of event in the log, the required final state of the task, and a description.
pub const EVENTS: [(&str, &str, Option<&str>, &str); 16] = [
    (AFTER, "", None, "in each task, when its command has ended and its lanes are still held"),
    (
        "alert",
        "alert",
        None,
        "a task has failed three times or more, or a command of --timeout-do may not have run to its end",
    ),
    (BEFORE, "", None, "in each task, before its command; where it fails, the task fails"),
    ("lock.broken", "lock_broken", None, "a lock was removed whose holder was dead"),
    ("lock.waiting", "lock_waiting", None, "a `lock` or an `acquire` waits for a lane"),
    ("paused", "paused", None, "a task, a lane, a user or the host was paused"),
    ("task.cancelled", "finished", Some("cancelled"), "a task was cancelled"),
    ("task.completed", "finished", Some("completed"), "a task ended with 0"),
    ("task.enqueued", "enqueued", None, "a task was accepted"),
    ("task.failed", "finished", Some("failed"), "a task ended with another code, or could not run"),
    ("task.finished", "finished", None, "a task is over, however it ended"),
    ("task.recovered", "recovered", None, "a task whose supervisor had died was recovered"),
    ("task.requeued", "requeued", None, "a task is queued again after an attempt"),
    ("task.timeout", "finished", Some("timeout"), "a time limit ended a task"),
    ("task.waiting", "waiting", None, "a task waits for an event"),
    ("wait.warning", "wait_warning", None, "a task or a lock has waited for as long as its lane says"),
];

/// The canonical name of an event. `task.` may be left out.
pub fn event_name(word: &str) -> Option<&'static str> {
    EVENTS.iter().map(|(name, ..)| *name).find(|name| *name == word || name.strip_prefix("task.") == Some(word))
}

/// Whether a hook is for an event of the log.
pub fn fires(hook: &Hook, record: &Record) -> bool {
    let Some((_, kind, status, _)) = EVENTS.iter().find(|(name, ..)| *name == hook.event) else { return false };
    let is_event = *kind == record.kind && status.is_none_or(|status| record.text("status") == Some(status));
    let is_user = hook.user.as_ref().is_none_or(|user| record.is_of_user(user));
    is_event && is_user && hook.lane.as_ref().is_none_or(|lane| record.is_of_lane(lane))
}

/// Whether a hook runs in a task, for `before` or `after`.
pub fn runs_in(hook: &Hook, event: &str, task: &Task) -> bool {
    let is_user = hook.user.as_ref().is_none_or(|user| task.user.as_str() == user);
    let has_lane = |lane: &String| task.all_lanes().iter().any(|one| one.to_string() == *lane);
    hook.event == event && is_user && hook.lane.as_ref().is_none_or(has_lane)
}

/// The standard input of a hook for an event of the log.
pub fn payload(hook: &Hook, record: &Record) -> Value {
    let mut whole = json!({ "schema": "luzia.hook/v1", "event": hook.event, "hook": hook.name });
    if let (Value::Object(whole), Value::Object(members)) = (&mut whole, record.json()) {
        whole.extend(members);
    }
    whole
}

/// The standard input of `before` and `after`.
pub fn task_payload(hook: &Hook, task: &Task, more: Value) -> Value {
    json!({
        "schema": "luzia.hook/v1",
        "event": hook.event,
        "hook": hook.name,
        "task": task.id.to_string(),
        "user": task.user.as_str(),
        "lanes": task.all_lanes().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "data": more,
    })
}

#[cfg(test)]
mod tests {
    use super::super::analytics::record::tests::record;
    use super::*;
    use crate::model::Timestamp;
    use crate::model::control::Action;

    fn hook(event: &str, user: Option<&str>, lane: Option<&str>) -> Hook {
        Hook {
            name: "h".into(),
            event: event.into(),
            action: Action::Url("https://example.org/?a=1".into()),
            user: user.map(str::to_owned),
            lane: lane.map(str::to_owned),
            timeout_ms: 2500,
            cwd: "/".into(),
            added_at: Timestamp(0),
            by: None,
        }
    }

    #[test]
    fn a_hook_fires_for_its_event_its_user_and_its_lane() {
        let line = json!({ "event": "finished", "user": "a", "lane": "user:a", "lanes": ["build"],
            "data": { "status": "failed" } });
        let end = record(0, line);
        for (hook, fired) in [
            (hook("task.failed", None, None), true),
            (hook("task.finished", None, None), true),
            (hook("task.completed", None, None), false),
            (hook("alert", None, None), false),
            (hook("before", None, None), false),
            (hook("task.failed", Some("a"), Some("build")), true),
            (hook("task.failed", Some("b"), None), false),
            (hook("task.failed", None, Some("other")), false),
        ] {
            assert_eq!(fires(&hook, &end), fired, "{hook:?}");
        }
        let told = payload(&hook("task.failed", None, None), &end);
        assert_eq!((&told["event"], &told["kind"]), (&"task.failed".into(), &"finished".into()));
    }

    #[test]
    fn names_are_sorted_and_short_forms_mean_tasks() {
        assert!(EVENTS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!((event_name("completed"), event_name("before")), (Some("task.completed"), Some("before")));
        assert_eq!((event_name("waiting"), event_name("lock.waiting")), (Some("task.waiting"), Some("lock.waiting")));
        assert_eq!((event_name("task.nonsense"), event_name("")), (None, None));
    }

    #[test]
    fn a_url_is_posted_by_curl_within_its_time() {
        let argv = hook("alert", None, None).argv();
        let at = argv.iter().position(|word| word == "--max-time").expect("a limit");
        assert_eq!((argv[0].as_str(), argv[at + 1].as_str()), ("curl", "3"));
        assert_eq!(argv.last().map(String::as_str), Some("https://example.org/?a=1"));
    }
}
