//! The last sign of progress of a task: `beat.json`. It informs only, so it is not synced, and an invalid one counts as none.

use crate::model::{TaskId, Timestamp};
use crate::store::files::steps::{decode, encode};
use crate::store::{Result, Spool, layout};
use serde::{Deserialize, Serialize};

const NAME: &str = "beat.json";

/// A sign of progress.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Beat {
    /// The time at which it was given.
    pub at: Timestamp,
    /// Present activity of the task, in its own words.
    pub note: Option<String>,
}

impl Spool {
    /// Notes that a task makes progress.
    pub fn note_beat(&self, id: TaskId, note: Option<String>) -> Result<Beat> {
        let _locked = self.lock_steps(id)?;
        let path = layout::step_file(id, NAME);
        let beat = Beat { at: self.host.now(), note };
        let bytes = encode(&path, &beat)?;
        self.replace(&format!("{path}.tmp"), &path, &bytes)?;
        Ok(beat)
    }

    /// The last sign of progress of a task.
    pub fn last_beat(&self, id: TaskId) -> Result<Option<Beat>> {
        let path = layout::step_file(id, NAME);
        let Some(bytes) = self.read(&path).unwrap_or(None) else { return Ok(None) };
        Ok(decode(&path, &bytes).ok())
    }
}
