//! The member `wait` of a task record.

use crate::model::task::TaskWait;
use crate::model::{LaneName, LockId};
use crate::store::files::disk::hold_record::time;
use serde::{Deserialize, Serialize};

/// `wait`.
#[derive(Serialize, Deserialize)]
pub(crate) struct WaitFile {
    until: String,
    #[serde(default)]
    kept: Vec<KeptFile>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lends: bool,
}

#[derive(Serialize, Deserialize)]
struct KeptFile {
    lane: String,
    lock_id: String,
}

pub(crate) fn encode_wait(wait: &TaskWait) -> WaitFile {
    let kept = |(lane, lock_id): &(LaneName, LockId)| KeptFile { lane: lane.to_string(), lock_id: lock_id.0.clone() };
    WaitFile { until: wait.until.to_string(), kept: wait.kept.iter().map(kept).collect(), lends: wait.lends }
}

pub(crate) fn decode_wait(file: WaitFile) -> Result<TaskWait, String> {
    let kept = |kept: KeptFile| {
        let lane = LaneName::parse(&kept.lane).map_err(|error| format!("\"{}\" is no lane: {error}", kept.lane))?;
        Ok::<_, String>((lane, LockId(kept.lock_id)))
    };
    Ok(TaskWait {
        until: time(&file.until)?,
        kept: file.kept.into_iter().map(kept).collect::<Result<_, _>>()?,
        lends: file.lends,
    })
}
