//! The members of a task record that few tasks have ([`Terms`]).

use crate::model::task::terms::MOST_SLOTS;
use crate::model::task::{Group, OnInterrupt, Terms};
use crate::model::time::MAX_DURATION_MS;
use crate::model::{Name, TaskId};
use serde::{Deserialize, Serialize};

/// They stand among the other members of the record.
#[derive(Serialize, Deserialize, Default)]
pub(crate) struct TermsFile {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after_any: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after_failed: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed_dependency: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group_first: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject_changed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backoff_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_backoff_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_interrupt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_finish: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_sample_ppm: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reuses: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slot_count: Option<u32>,
}

pub(crate) fn encode_terms(terms: &Terms) -> TermsFile {
    let ids = |ids: &[TaskId]| ids.iter().map(TaskId::to_string).collect();
    TermsFile {
        after_any: ids(&terms.after_any),
        after_failed: ids(&terms.after_failed),
        failed_dependency: terms.failed_dependency.map(|id| id.to_string()),
        group: terms.group.as_ref().map(|group| group.name.to_string()),
        group_first: terms.group.as_ref().map(|group| group.first.to_string()),
        subject: terms.subject.clone(),
        stable: terms.is_stable,
        subject_changed: terms.subject_changed,
        backoff_ms: terms.backoff_ms,
        max_backoff_ms: terms.most_backoff_ms,
        on_interrupt: (terms.on_interrupt != OnInterrupt::default()).then(|| terms.on_interrupt.word().to_owned()),
        on_finish: terms.on_finish.clone(),
        log_sample_ppm: terms.log_sample,
        reuses: terms.reuses.map(|id| id.to_string()),
        slot_count: terms.slot_count,
    }
}

/// `id` is the task of the record.
pub(crate) fn decode_terms(file: TermsFile, id: TaskId) -> Result<Terms, String> {
    let task_id = |text: &String| TaskId::parse(text).ok_or_else(|| format!("\"{text}\" is not a task id"));
    let task_ids = |texts: &[String]| texts.iter().map(task_id).collect::<Result<Vec<TaskId>, String>>();
    let terms = Terms {
        after_any: task_ids(&file.after_any)?,
        after_failed: task_ids(&file.after_failed)?,
        // What does not read is a note that is lost, and no reason to set the task aside.
        failed_dependency: file.failed_dependency.as_deref().and_then(TaskId::parse),
        group: group_of(file.group, file.group_first, id),
        subject: file.subject,
        is_stable: file.stable,
        subject_changed: file.subject_changed,
        backoff_ms: file.backoff_ms,
        most_backoff_ms: file.max_backoff_ms,
        on_interrupt: match file.on_interrupt {
            Some(word) => {
                OnInterrupt::parse(&word).ok_or_else(|| format!("\"{word}\" says nothing of interruptions"))?
            }
            None => OnInterrupt::default(),
        },
        on_finish: file.on_finish,
        log_sample: file.log_sample_ppm,
        reuses: file.reuses.as_deref().and_then(TaskId::parse),
        slot_count: file.slot_count.filter(|count| *count != 1),
    };
    if terms.slot_count.is_some_and(|count| count == 0 || count > MOST_SLOTS) {
        return Err(format!("its number of slots is not one of 1 to {MOST_SLOTS}"));
    }
    let longest = terms.backoff_ms.max(terms.most_backoff_ms).unwrap_or(0);
    if longest > MAX_DURATION_MS {
        return Err("a pause between its attempts is longer than 100 years".to_owned());
    }
    if terms.on_finish.as_deref().is_some_and(|line| line.contains('\0')) {
        return Err("its last command holds NUL".to_owned());
    }
    Ok(terms)
}

/// A group begins with its first task, so none of its tasks is older.
fn group_of(name: Option<String>, first: Option<String>, id: TaskId) -> Option<Group> {
    let first = TaskId::parse(&first?).filter(|first| *first <= id)?;
    Some(Group { name: Name::new(&name?).ok()?, first })
}
