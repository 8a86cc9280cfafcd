//! The finished steps of a task: `step.<name>.json`, published once and never replaced.

use crate::model::TaskId;
use crate::os::{Handle, Open};
use crate::store::FileStore;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::layout;
use crate::store::files::disk::publish::Publication;
use crate::store::files::steps::encode;
use crate::store::hold::Hold;
use serde::{Deserialize, Serialize};

/// A finished step.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct StepRecord {
    /// Its name.
    pub name: String,
    /// Its place among the finished steps of the task, from 1.
    pub number: u64,
    /// The exit code of its command, 128+N for signal N.
    pub exit_code: u8,
    /// The beginning of its standard output, in base 16 where it is not UTF-8.
    pub stdout: String,
    /// Whether `stdout` is in base 16.
    pub is_hex: bool,
    /// How many bytes it wrote.
    pub stdout_bytes: u64,
    /// The start of the task in which it ran, from 1.
    pub start: u64,
    /// How often it was tried.
    pub tries: u32,
    /// When it ended.
    pub ended_at: String,
    /// How long its last try took, in milliseconds.
    pub ran_ms: u64,
}

impl StepRecord {
    /// What is kept of its standard output.
    pub fn output(&self) -> Vec<u8> {
        if !self.is_hex {
            return self.stdout.clone().into_bytes();
        }
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        self.stdout.as_bytes().chunks(2).filter_map(byte).collect()
    }

    /// Keeps the beginning of its standard output.
    pub fn keep_output(&mut self, bytes: &[u8]) {
        self.is_hex = std::str::from_utf8(bytes).is_err();
        self.stdout = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
    }
}

fn record(name: &str) -> String {
    format!("step.{name}.json")
}

impl FileStore {
    /// A finished step of a task.
    pub fn step(&self, id: TaskId, name: &str) -> Result<Option<StepRecord>> {
        self.read_memory(id, &layout::step_file(id, &record(name)))
    }

    /// The finished steps of a task, in their order.
    pub fn steps_done(&self, id: TaskId) -> Result<Vec<StepRecord>> {
        let mut steps = Vec::new();
        for entry in self.list(&layout::steps(id))? {
            let name = entry.name.strip_prefix("step.").and_then(|rest| rest.strip_suffix(".json"));
            if let Some(name) = name {
                steps.extend(self.step(id, name)?);
            }
        }
        steps.sort_by_key(|step: &StepRecord| step.number);
        Ok(steps)
    }

    /// Takes the lock under which a step runs; `None` when it runs already. The command inherits it, so that a step whose
    /// luzia was killed is not run beside itself.
    pub fn lock_step(&self, id: TaskId, name: &str) -> Result<Option<Hold>> {
        drop(self.lock_steps(id)?);
        let path = layout::step_file(id, &format!("step.{name}.lock"));
        let mut lock = self.open_or_make(&path)?;
        Ok(lock.try_lock(false).map_err(StoreError::io("lock", &path))?.then(|| Hold::of(lock)))
    }

    /// The file to which a step writes its standard output, empty.
    pub fn step_output(&self, id: TaskId, name: &str) -> Result<Box<dyn Handle>> {
        let path = layout::step_file(id, &format!("step.{name}.out"));
        self.open(&path, Open::Truncate(0o600))?.ok_or_else(|| StoreError::io("create", &path)(crate::os::absent()))
    }

    /// Removes that file.
    pub fn drop_step_output(&self, id: TaskId, name: &str) -> Result<()> {
        self.unlink(&layout::step_file(id, &format!("step.{name}.out"))).map(drop)
    }

    /// Records a finished step durably; false when it was recorded before. Commit point: the publication of its name.
    pub fn record_step(&self, id: TaskId, mut step: StepRecord) -> Result<bool> {
        let _locked = self.lock_steps(id)?;
        step.number = self.steps_done(id)?.last().map_or(1, |last| last.number + 1);
        let path = layout::step_file(id, &record(&step.name));
        let tmp = format!("{path}.tmp");
        self.stage(&tmp, &encode(&path, &step)?)?;
        let placed = self.publish(&tmp, &path, &[layout::STEPS.to_owned(), layout::steps(id)])?;
        if placed == Publication::Taken {
            self.unlink(&tmp)?;
            return Ok(false);
        }
        self.sync_steps(id)?;
        Ok(true)
    }
}
