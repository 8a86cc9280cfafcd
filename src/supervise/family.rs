//! Report of a child's end to its parent: one event in the parent's mailbox for each end (AGENT_COMPLETED, S1.22–S1.24).

use crate::model::{Status, Task, TaskId};
use crate::store::{Event, Mail, Place, Site, StoreError, Vars};
use serde_json::{Value, json};

/// The event of the end of a child.
pub const CHILD_ENDED: &str = "AGENT_COMPLETED";

/// The most bytes of a child's variables that its parent gets, as JSON.
const MOST_VARS_BYTES: usize = 64 * 1024;

/// Puts the end of a child into the mailbox of its parent, unless the parent is finished. A repetition after a crash adds
/// nothing.
pub fn tell_parent(site: &Site, child: &Task) -> Result<(), StoreError> {
    let (Some(parent), Some(outcome)) = (child.parent, child.outcome()) else { return Ok(()) };
    let is_open = |id: TaskId| matches!(site.store.find(id), Ok(Some((place, _))) if place != Place::Done);
    if !is_open(parent) {
        return Ok(());
    }
    let mut data = json!({
        "child": child.id.to_string(),
        "triggeredExecutionId": child.id.0,
        "childExecutionStatus": child.status().word(),
        "childExecutionSuccess": child.status() == Status::Completed,
        "exit_code": outcome.exit_code,
        "lastResponse": outcome.summary,
        "result_summary": outcome.summary,
        "result_data": outcome.data.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()),
        "ended_at": outcome.completed_at.to_string(),
    });
    // The parent may use the variables that a child set (S1.24); those that are too large for one event stay with the child.
    let vars = if site.store.has_steps(child.id)? {
        site.store.vars(child.id).map(|read| read.value).unwrap_or_default()
    } else {
        Vars::new()
    };
    if !vars.is_empty() {
        let vars = json!(vars);
        let is_little = vars.to_string().len() <= MOST_VARS_BYTES;
        data["variables"] = if is_little { vars } else { Value::Null };
    }
    let same_end = |mail: &Mail| {
        let is_same = |member: &str| mail.data.get(member) == data.get(member).filter(|value| **value != Value::Null);
        mail.event == CHILD_ENDED && is_same("child") && is_same("ended_at")
    };
    let mail = Mail { event: CHILD_ENDED.to_owned(), data: data.clone(), ..Mail::default() };
    if let Some(number) = site.store.deliver_once(parent, mail, &same_end)? {
        let what = json!({ "event": CHILD_ENDED, "number": number, "to": parent.to_string() });
        site.store.note(&Event::of("emitted", child).with(what));
    }
    Ok(())
}
