//! Durable requests to the supervisor of a running task: to cancel it, or to pause it.

use crate::model::TaskId;
use crate::model::time::MAX_DURATION_MS;
use crate::store::{Result, Spool, StoreError, json_object, layout};
use serde::{Deserialize, Serialize};

const CANCEL: &str = "cancel.json";

/// A durable request to cancel a running task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CancelRequest {
    /// The requester.
    pub by: String,
    /// Its reason.
    #[serde(default)]
    pub reason: Option<String>,
    /// The time between SIGTERM and SIGKILL, in milliseconds; the task's own when absent.
    #[serde(default)]
    pub grace_ms: Option<u64>,
    /// Whether it is queued again and not cancelled: it makes room for another task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requeue: bool,
}

impl CancelRequest {
    /// A request with a reason, by the grace of the task.
    pub fn by(by: &str, reason: &str) -> Self {
        Self { by: by.to_owned(), reason: Some(reason.to_owned()), grace_ms: None, requeue: false }
    }
}

/// Reads `cancel.json`. An invalid file is still a request, and no request asks for more grace than any task has.
pub(crate) fn decode_cancel(bytes: &[u8]) -> CancelRequest {
    let unread = CancelRequest { by: "unknown".into(), reason: None, grace_ms: None, requeue: false };
    let request: CancelRequest = json_object::read(bytes).unwrap_or(unread);
    CancelRequest { grace_ms: request.grace_ms.map(|ms| ms.min(MAX_DURATION_MS)), ..request }
}

impl Spool {
    /// Writes a request to cancel durably. False when the task no longer has `run/<id>/`.
    pub fn request_cancel(&self, id: TaskId, request: &CancelRequest) -> Result<bool> {
        self.put_request(id, CANCEL, request)
    }

    /// Writes a request to a supervisor durably: a file of `run/<id>/`, by its rename. False when the task has no such folder.
    pub(super) fn put_request(&self, id: TaskId, name: &str, request: &impl Serialize) -> Result<bool> {
        let bytes = serde_json::to_vec(request).map_err(|error| StoreError::corrupt(name, error.to_string()))?;
        if self.meta(&layout::run_dir(id))?.is_none() {
            return Ok(false);
        }
        let path = layout::run_file(id, name);
        let tmp = layout::tmp(id, self.host.me.pid);
        self.stage(&tmp, &bytes)?;
        if !self.rename(&tmp, &path)? {
            self.unlink(&tmp)?;
            return Ok(false);
        }
        // The folder's own name was never synced: a start does not need it.
        Ok(self.sync_if_there(&layout::run_dir(id))? && self.sync_dir(layout::RUN).map(|()| true)?)
    }

    /// The request to cancel a task, if there is one. An invalid file is still a request.
    pub fn cancel_request(&self, id: TaskId) -> Result<Option<CancelRequest>> {
        match self.read(&layout::run_file(id, CANCEL)) {
            Ok(bytes) => Ok(bytes.map(|bytes| decode_cancel(&bytes))),
            Err(StoreError::Corrupt { .. }) => Ok(Some(decode_cancel(b""))),
            Err(error) => Err(error),
        }
    }
}
