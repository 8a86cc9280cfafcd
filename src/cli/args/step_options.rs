//! The options of a task that takes several steps.

use super::number;
use crate::app::AppError;
use crate::app::queue::enqueue::NewTask;
use clap::{Args, ValueHint};

/// What `enqueue` and `run` take.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Steps")]
pub struct StepOptions {
    /// What the task is for; the command finds it as LUZIA_GOAL
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub goal: Option<String>,

    /// Start the command again and again, one step each time, until it calls `luzia finish`
    ///
    /// Between two steps the task is queued again and other work may run. The command finds LUZIA_STEP (from 0),
    /// LUZIA_LAST_KIND (none, output, tool or child), LUZIA_LAST_RESULT and LUZIA_LAST_EXIT. LUZIA_LAST_RESULT is the last 16 KiB
    /// of the output; LUZIA_LAST_RESULT_LEFT_OUT is the number of bytes before that. --retries counts for each step.
    #[arg(long)]
    pub stepwise: bool,

    /// The steps, a JSON file: one command or one wait a step; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["stepwise", "prompt", "shell", "command"])]
    pub steps: Option<String>,

    /// Take N steps before other work may run; by default 1
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub steps_per_run: Option<u32>,

    /// Let the task fail after N steps without `luzia finish`; by default 1000
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true, conflicts_with = "steps")]
    pub max_steps: Option<u32>,
}

impl StepOptions {
    /// Adds them to the request of a task. `read` reads a file.
    pub fn add_to(&self, new: &mut NewTask, read: &dyn Fn(&str) -> Result<String, AppError>) -> Result<(), AppError> {
        new.goal.clone_from(&self.goal);
        new.is_stepwise = self.stepwise;
        new.steps = self.steps.as_deref().map(read).transpose()?;
        new.steps_per_run = self.steps_per_run;
        new.max_steps = self.max_steps;
        Ok(())
    }
}
