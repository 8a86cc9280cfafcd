//! A task whose command is started once per step, until a step calls `luzia finish` (`--stepwise`).

use super::Status;
use crate::model::record;
use serde::{Deserialize, Serialize};

/// The most steps of a task that names no limit.
pub const MOST_STEPS: u32 = 1000;
/// The most steps that a task may be given.
pub const MOST_STEPS_EVER: u32 = 1_000_000;
/// The most steps that one claim may be given.
pub const MOST_PER_RUN: u32 = 10_000;

/// Progress of a stepwise task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stepwise {
    /// The number of the step that runs or comes next, from 0.
    pub step: u32,
    /// Greatest number of steps.
    #[serde(rename = "max_steps")]
    pub most: u32,
    /// Greatest number of steps of one claim.
    #[serde(rename = "steps_per_run", default = "one")]
    pub per_run: u32,
    /// One command for each step (`--steps`); empty if every step runs the command of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Vec<String>>,
    /// The names of these steps, each empty for a step without a name; the list is empty if no step has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The highest number of its mail that was reported to a step.
    #[serde(default)]
    pub seen_mail: u64,
    /// Results of the last run of its command.
    #[serde(default, deserialize_with = "record::object", skip_serializing_if = "Option::is_none")]
    pub last: Option<LastRun>,
}

fn one() -> u32 {
    1
}

/// Results of one run of a stepwise command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LastRun {
    /// Whether the newest record of that run was made by `luzia step`.
    #[serde(rename = "tool", default)]
    pub is_tool: bool,
    /// The exit code, 128+N for signal N.
    pub exit_code: i32,
    /// The end of its standard output; for a `luzia step`, the beginning.
    pub result: String,
    /// Number of bytes of the output that `result` leaves out.
    #[serde(default, skip_serializing_if = "record::is_default")]
    pub left_out: u64,
}

/// The end of a task in its own words (`luzia finish`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finish {
    /// `Completed` or `Failed`.
    pub status: Status,
    /// One sentence for people.
    pub summary: Option<String>,
    /// The data that it hands on, as JSON text.
    pub data: Option<String>,
}
