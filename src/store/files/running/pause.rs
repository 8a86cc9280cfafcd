//! `run/<id>/pause.json`: a request to pause a running task. `pause` writes it durably. The supervisor stops the task's
//! processes, confirms that by the permission bits of the file, and removes it when the pause is over. `resume` gives it an
//! end in the past. It goes with the run.

use crate::model::control::TaskHold;
use crate::model::{TaskId, Timestamp};
use crate::store::{Result, Spool, StoreError, json_object, layout};

const PAUSE: &str = "pause.json";
/// The bits of the file while the task is paused for exactly its content.
const IN_EFFECT: u32 = 0o700;

/// A pause of a running task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunPause {
    /// Its start, end and reason, and its requester.
    pub hold: TaskHold,
    /// Whether the task's processes are stopped for it.
    pub is_in_effect: bool,
}

/// Reads `pause.json`. An invalid file is a pause without details: the task does not go on by itself, and `resume` ends the
/// pause.
pub(crate) fn decode_pause(bytes: &[u8]) -> TaskHold {
    let unread = TaskHold { since: Timestamp(0), until: None, reason: None, by: None, start_left_ms: None };
    json_object::read(bytes).unwrap_or(unread)
}

impl Spool {
    /// Asks the supervisor of a task to stop its processes, or, with an end in the past, to let them go on. Commit point is
    /// the sync of `run/<id>/`. False when the task no longer has such a folder.
    pub fn request_pause(&self, id: TaskId, asked: &TaskHold) -> Result<bool> {
        self.put_request(id, PAUSE, asked)
    }

    /// The pause that is requested of the supervisor of a task, if any.
    pub fn run_pause(&self, id: TaskId) -> Result<Option<RunPause>> {
        let path = layout::run_file(id, PAUSE);
        let bytes = match self.read(&path) {
            Err(StoreError::Corrupt { .. }) => Some(Vec::new()),
            read => read?,
        };
        let Some(bytes) = bytes else { return Ok(None) };
        // The content is read before the bits: set bits belong to this content or to a later one.
        let Some(meta) = self.meta(&path)? else { return Ok(None) };
        Ok(Some(RunPause { hold: decode_pause(&bytes), is_in_effect: meta.mode == IN_EFFECT }))
    }

    /// Confirms that the task is paused as requested. The caller holds the task's `supervisor.lock`.
    pub fn show_pause(&self, id: TaskId) -> Result<()> {
        let path = layout::run_file(id, PAUSE);
        self.vfs.set_mode(&path, IN_EFFECT).map_err(StoreError::io("set the mode of", &path))
    }

    /// Removes the request when the pause is over. The caller holds the task's `supervisor.lock`.
    pub fn end_pause(&self, id: TaskId) -> Result<()> {
        self.unlink(&layout::run_file(id, PAUSE)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_reads_back_and_a_damaged_one_is_a_pause_without_an_end() {
        let hold = TaskHold {
            since: Timestamp(1000),
            until: Some(Timestamp(2000)),
            reason: Some("lunch".into()),
            by: Some("root".into()),
            start_left_ms: None,
        };
        assert_eq!(decode_pause(&serde_json::to_vec(&hold).expect("text")), hold);
        assert!(hold.stands(Timestamp(1999)) && !hold.stands(Timestamp(2000)));
        for wrong in ["", "{}", "[1]", "{\"since\":\"never\"}", "{\"since\":"] {
            assert_eq!(decode_pause(wrong.as_bytes()).until, None, "{wrong}");
        }
    }
}
