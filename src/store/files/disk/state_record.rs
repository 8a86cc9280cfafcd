//! The members `status`, `wait` and `outcome` of a task record, which tell its state together.

use crate::model::Status;
use crate::model::task::{EndState, Outcome, TaskState};
use crate::store::files::disk::hold_record::time;
use crate::store::files::disk::wait_record::{WaitFile, decode_wait};
use serde::{Deserialize, Serialize};

/// `outcome`.
#[derive(Serialize, Deserialize)]
pub(crate) struct OutcomeFile {
    status: String,
    completed_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancelled_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancel_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ran_ms: Option<u64>,
}

/// The state that the members of a record tell together.
pub(crate) fn state_of(word: &str, wait: Option<WaitFile>, outcome: Option<OutcomeFile>) -> Result<TaskState, String> {
    let status = Status::parse(word).ok_or_else(|| format!("\"{word}\" is not a state"))?;
    let (wait, outcome) = (wait.map(decode_wait).transpose()?, outcome.map(decode_outcome).transpose()?);
    match (status, outcome) {
        (Status::Pending, None) => Ok(TaskState::Pending),
        (Status::Running, None) => Ok(TaskState::Running { from: wait }),
        (Status::Waiting, None) => Ok(TaskState::Waiting(wait)),
        (_, Some(outcome)) if outcome.end.status() == status => Ok(TaskState::Over(outcome)),
        (_, Some(_)) if status.is_final() => Err("its state is not that of its outcome".to_owned()),
        _ => Err("its state and its outcome contradict each other".to_owned()),
    }
}

pub(crate) fn encode_outcome(outcome: &Outcome) -> OutcomeFile {
    OutcomeFile {
        status: outcome.end.status().word().to_owned(),
        completed_at: outcome.completed_at.to_string(),
        exit_code: outcome.exit_code,
        signal: outcome.signal,
        summary: outcome.summary.clone(),
        data: outcome.data.clone(),
        error: outcome.error.clone(),
        cancelled_by: outcome.cancelled_by.clone(),
        cancel_reason: outcome.cancel_reason.clone(),
        ran_ms: outcome.ran_ms,
    }
}

fn decode_outcome(file: OutcomeFile) -> Result<Outcome, String> {
    let end = Status::parse(&file.status).and_then(EndState::of);
    Ok(Outcome {
        end: end.ok_or_else(|| format!("\"{}\" is not a final state", file.status))?,
        completed_at: time(&file.completed_at)?,
        exit_code: file.exit_code,
        signal: file.signal,
        summary: file.summary,
        data: file.data,
        error: file.error,
        cancelled_by: file.cancelled_by,
        cancel_reason: file.cancel_reason,
        ran_ms: file.ran_ms,
    })
}
