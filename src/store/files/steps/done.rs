//! The steps of a task that have ended: `step.<name>.json` for a step that is done, published once and never replaced, and
//! `failed.<name>.json` for the last try of a step that is not.

use crate::model::TaskId;
use crate::model::name::{from_hex, hex};
use crate::model::sorted::sort_by_key;
use crate::os::{Handle, Open};
use crate::store::files::disk::publish::Publication;
use crate::store::files::steps::encode;
use crate::store::{Hold, Result, Spool, StoreError, layout};
use serde::{Deserialize, Serialize};

/// A step that has ended.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct StepRecord {
    /// The name of the step.
    pub name: String,
    /// The place of the step among the steps of the task, from 1. A step that failed keeps it.
    pub number: u64,
    /// The exit code of the step's command, 128+N for signal N.
    pub exit_code: u8,
    /// The beginning of the step's standard output, in base 16 if that is not UTF-8.
    pub stdout: String,
    /// Whether `stdout` is in base 16.
    pub is_hex: bool,
    /// Number of bytes that the step wrote.
    pub stdout_bytes: u64,
    /// The start of the task in which the step ran, from 1.
    pub start: u64,
    /// Number of the step's tries.
    pub tries: u32,
    /// The time at which the step ended.
    pub ended_at: String,
    /// Duration of the step's last try, in milliseconds.
    pub ran_ms: u64,
}

impl StepRecord {
    /// The kept part of the step's standard output.
    pub fn output(&self) -> Vec<u8> {
        if !self.is_hex {
            return self.stdout.clone().into_bytes();
        }
        from_hex(&self.stdout).unwrap_or_default()
    }

    /// Keeps the beginning of its standard output.
    pub fn keep_output(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes);
        (self.is_hex, self.stdout) = (text.is_err(), text.map_or_else(|_| hex(bytes), str::to_owned));
    }
}

const DONE: &str = "step.";
const FAILED: &str = "failed.";

fn path_of(id: TaskId, kind: &str, name: &str) -> String {
    layout::step_file(id, &format!("{kind}{name}.json"))
}

impl Spool {
    /// A finished step of a task.
    pub fn step(&self, id: TaskId, name: &str) -> Result<Option<StepRecord>> {
        self.read_memory(id, &path_of(id, DONE, name))
    }

    /// The finished steps of a task, in their order. A damaged record stops its own step, and no other one.
    pub fn steps_done(&self, id: TaskId) -> Result<Vec<StepRecord>> {
        self.steps_of(id, DONE)
    }

    /// The steps of a task whose last try failed, in their order.
    pub fn steps_failed(&self, id: TaskId) -> Result<Vec<StepRecord>> {
        let mut failed = self.steps_of(id, FAILED)?;
        // A kill may have left the record of a try before the last one.
        failed.retain(|step| !matches!(self.step(id, &step.name), Ok(Some(_))));
        Ok(failed)
    }

    /// The step of a task that was done last.
    pub fn last_step(&self, id: TaskId) -> Result<Option<StepRecord>> {
        Ok(self.steps_done(id)?.into_iter().max_by(|a, b| a.ended_at.cmp(&b.ended_at)))
    }

    fn steps_of(&self, id: TaskId, kind: &str) -> Result<Vec<StepRecord>> {
        let mut steps = Vec::new();
        for entry in self.list(&layout::steps(id))? {
            let name = entry.name.strip_prefix(kind).and_then(|rest| rest.strip_suffix(".json"));
            match name.map(|name| self.read_memory(id, &path_of(id, kind, name))) {
                Some(Err(StoreError::Corrupt { .. })) | None => {}
                Some(read) => steps.extend(read?),
            }
        }
        sort_by_key(&mut steps, |step: &StepRecord| step.number);
        Ok(steps)
    }

    /// The number of a step: that of its last try, else the next one.
    fn number_of(&self, id: TaskId, name: &str) -> Result<u64> {
        let mut steps = self.steps_of(id, FAILED)?;
        if let Some(known) = steps.iter().find(|step| step.name == name) {
            return Ok(known.number);
        }
        steps.extend(self.steps_done(id)?);
        Ok(steps.iter().map(|step| step.number).max().unwrap_or(0) + 1)
    }

    /// Takes the lock under which a step runs; `None` when it already runs. The command inherits the lock, so that a step
    /// whose luzia was killed does not run twice at once.
    pub fn lock_step(&self, id: TaskId, name: &str) -> Result<Option<Hold>> {
        drop(self.lock_steps(id)?);
        Ok(self.try_locked(&layout::step_file(id, &format!("step.{name}.lock")))?.map(Hold::of))
    }

    /// The file to which a step writes its standard output, empty.
    pub fn step_output(&self, id: TaskId, name: &str) -> Result<Box<dyn Handle>> {
        let path = layout::step_file(id, &format!("step.{name}.out"));
        self.open(&path, Open::Truncate(0o600))?.ok_or_else(|| StoreError::io("create", &path)(crate::os::absent()))
    }

    /// Removes the file to which a step writes its standard output.
    pub fn drop_step_output(&self, id: TaskId, name: &str) -> Result<()> {
        self.unlink(&layout::step_file(id, &format!("step.{name}.out"))).map(drop)
    }

    /// Records a finished step durably; false when it was recorded before. Commit point: the publication of its name.
    pub fn record_step(&self, id: TaskId, mut step: StepRecord) -> Result<bool> {
        let _locked = self.lock_steps(id)?;
        step.number = self.number_of(id, &step.name)?;
        let path = path_of(id, DONE, &step.name);
        let tmp = format!("{path}.tmp");
        self.stage(&tmp, &encode(&path, &step)?)?;
        let placed = self.publish(&tmp, &path, &[layout::STEPS.to_owned(), layout::steps(id)])?;
        if placed == Publication::Taken {
            self.unlink(&tmp)?;
            return Ok(false);
        }
        self.unlink(&path_of(id, FAILED, &step.name))?;
        self.sync_steps(id)?;
        Ok(true)
    }

    /// Records a try that failed. Nothing depends on the record: the step is done again.
    pub fn record_failed_step(&self, id: TaskId, mut step: StepRecord) -> Result<()> {
        let _locked = self.lock_steps(id)?;
        step.number = self.number_of(id, &step.name)?;
        let path = path_of(id, FAILED, &step.name);
        self.put(&format!("{path}.tmp"), &path, &encode(&path, &step)?)
    }
}
