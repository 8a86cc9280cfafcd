//! `run/<id>/yield.json`: which lanes a paused task has given up, or why it gave up none. The supervisor writes it before the first lock
//! goes and removes it after the last one is there again, before it lets the task go on. So a tree beside which this file stands may
//! not run: recovery ends it without a signal that continues it. It needs no sync, because after a power cut the tree is dead.

use crate::model::{LaneName, TaskId, Timestamp};
use crate::os::Open;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::{json_object, layout};
use crate::store::run_dir::RunDir;
use serde::{Deserialize, Serialize};

const YIELD: &str = "yield.json";

/// What a supervisor says of the slots of a paused task.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GivenUp {
    /// Since when the pause stands for which it was asked.
    pub since: Option<Timestamp>,
    /// The lanes that were given up, or are about to be.
    pub lanes: Vec<LaneName>,
    /// Those that the task keeps.
    pub kept: Vec<LaneName>,
    /// Whether the task is to go on, and waits for its lanes.
    pub is_waiting: bool,
    /// Why nothing was given up.
    pub refused: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct GivenFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(default)]
    lanes: Vec<String>,
    #[serde(default)]
    kept: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    waits: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

pub(crate) fn encode_given(given: &GivenUp) -> serde_json::Result<Vec<u8>> {
    let names = |lanes: &[LaneName]| lanes.iter().map(ToString::to_string).collect();
    serde_json::to_vec(&GivenFile {
        since: given.since.map(|at| at.to_string()),
        lanes: names(&given.lanes),
        kept: names(&given.kept),
        waits: given.is_waiting,
        refused: given.refused.clone(),
    })
}

/// Reads `yield.json`. One that does not read may stand beside lanes that are given up.
pub(crate) fn decode_given(bytes: &[u8]) -> GivenUp {
    let Ok(file) = json_object::read::<GivenFile>(bytes) else { return GivenUp::default() };
    let lanes = |names: Vec<String>| names.iter().filter_map(|name| LaneName::parse(name).ok()).collect();
    GivenUp {
        since: file.since.as_deref().and_then(Timestamp::parse),
        lanes: lanes(file.lanes),
        kept: lanes(file.kept),
        is_waiting: file.waits,
        refused: file.refused,
    }
}

impl RunDir {
    /// What a paused task has given up; `None` where its supervisor refused to give anything up.
    pub fn yielded(&self, id: TaskId) -> Result<Option<GivenUp>> {
        Ok(self.given_up(id)?.filter(|given| given.refused.is_none()))
    }

    /// Says what a paused task gives up. The caller holds the task's `supervisor.lock`.
    pub fn note_given_up(&self, id: TaskId, given: &GivenUp) -> Result<()> {
        let bytes = encode_given(given).map_err(|error| StoreError::corrupt(YIELD, error.to_string()))?;
        let (tmp, path) = (layout::run_file(id, "yield.new"), layout::run_file(id, YIELD));
        self.write_whole(&tmp, Open::Truncate(0o600), &bytes)?;
        self.replace_by(&tmp, &path)
    }

    /// What the supervisor of a paused task says of its slots: what the task gave up, or why it gave up nothing.
    pub fn given_up(&self, id: TaskId) -> Result<Option<GivenUp>> {
        match self.read(&layout::run_file(id, YIELD)) {
            Ok(bytes) => Ok(bytes.map(|bytes| decode_given(&bytes))),
            Err(StoreError::Corrupt { .. }) => Ok(Some(GivenUp::default())),
            Err(error) => Err(error),
        }
    }

    /// Says that the task has all its lanes again, or has given none up. The caller holds the task's `supervisor.lock`.
    pub fn forget_given_up(&self, id: TaskId) -> Result<()> {
        self.unlink(&layout::run_file(id, YIELD)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_up_reads_back_and_damage_counts_as_given_up() {
        let lane = |name: &str| LaneName::parse(name).expect("a lane");
        let given = GivenUp {
            since: Some(Timestamp(1000)),
            lanes: vec![lane("build"), lane("global")],
            kept: vec![lane("user:alice")],
            is_waiting: true,
            refused: None,
        };
        assert_eq!(decode_given(&encode_given(&given).expect("text")), given);
        for wrong in ["", "[]", "{\"lanes\":7}"] {
            assert_eq!(decode_given(wrong.as_bytes()), GivenUp::default(), "{wrong}");
        }
    }
}
