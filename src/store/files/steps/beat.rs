//! The last sign of progress of a task: `beat.json`. It informs only, so it is not synced, and one that does not read is
//! none.

use crate::model::{TaskId, Timestamp};
use crate::os::Open;
use crate::store::FileStore;
use crate::store::error::Result;
use crate::store::files::disk::layout;
use crate::store::files::steps::{decode, encode};
use serde::{Deserialize, Serialize};

const NAME: &str = "beat.json";

#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Debug)]
pub(crate) struct BeatFile {
    pub(crate) at: String,
    pub(crate) note: Option<String>,
}

/// A sign of progress.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beat {
    /// When it was given.
    pub at: Timestamp,
    /// What the task does, in its own words.
    pub note: Option<String>,
}

impl FileStore {
    /// Notes that a task makes progress.
    pub fn note_beat(&self, id: TaskId, note: Option<String>) -> Result<Beat> {
        let _locked = self.lock_steps(id)?;
        let path = layout::step_file(id, NAME);
        let at = self.host.now();
        let bytes = encode(&path, &BeatFile { at: at.to_string(), note: note.clone() })?;
        let tmp = format!("{path}.tmp");
        drop(self.write_whole(&tmp, Open::Truncate(0o600), &bytes)?);
        self.replace_by(&tmp, &path)?;
        Ok(Beat { at, note })
    }

    /// The last sign of progress of a task.
    pub fn last_beat(&self, id: TaskId) -> Result<Option<Beat>> {
        let path = layout::step_file(id, NAME);
        let Some(bytes) = self.read(&path).unwrap_or(None) else { return Ok(None) };
        let read = decode::<BeatFile>(&path, &bytes).ok();
        Ok(read.and_then(|file| Some(Beat { at: Timestamp::parse(&file.at)?, note: file.note })))
    }
}
