//! `edit`: changes a task that has not started. It keeps its number, so it keeps its place among those of its priority.

use crate::app::queue::enqueue::{NewTask, priority_of};
use crate::app::queue::terms::slots::count_of;
use crate::app::steps::places::check_places;
use crate::app::{App, AppError};
use crate::model::{LaneName, Task, TaskId};

/// What is to change; what is `None` stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edit {
    /// `--priority`.
    pub priority: Option<u8>,
    /// `--in`.
    pub delay: Option<String>,
    /// `--at`.
    pub at: Option<String>,
    /// `--lane`: the named lanes in place of those it has; its user's lane stays.
    pub lanes: Vec<String>,
    /// `--slots`: how many slots it takes of each capacity lane.
    pub slots: Option<u32>,
    /// `--label`; an empty one takes the note away.
    pub label: Option<String>,
    /// The command in place of the one it has.
    pub command: Vec<String>,
    /// `--no-check`.
    pub no_check: bool,
}

impl Edit {
    /// Refuses a change of nothing.
    pub fn check(&self) -> Result<(), AppError> {
        if *self != (Self { no_check: self.no_check, ..Self::default() }) {
            return Ok(());
        }
        Err(AppError::usage("nothing is to be changed")
            .hint("name what changes: --priority, --in, --at, --lane, --slots, --label, or a command behind --")
            .next("luzia edit --help"))
    }
}

impl App {
    /// Changes a task that has not started.
    pub fn edit(&self, id: TaskId, edit: &Edit) -> Result<Task, AppError> {
        edit.check()?;
        self.change_waiting(id, "edited", |task| self.edited(task, edit))
    }

    fn edited(&self, task: &Task, edit: &Edit) -> Result<Task, AppError> {
        let mut new = task.clone();
        if edit.priority.is_some() {
            new.priority = priority_of(edit.priority)?;
        }
        let moment = NewTask { delay: edit.delay.clone(), at: edit.at.clone(), ..NewTask::default() };
        if edit.delay.is_some() || edit.at.is_some() {
            new.due_at = self.due_of(&moment, self.host.now())?;
        }
        if !edit.lanes.is_empty() {
            new.lanes = self.lanes_instead(task, &edit.lanes)?;
        }
        if edit.slots.is_some() {
            new.terms.slot_count = count_of(edit.slots)?;
            self.refuse_room_for_several(&new)?;
        }
        if edit.slots.is_some() || !edit.lanes.is_empty() {
            self.check_slots(&new)?;
        }
        if let Some(label) = &edit.label {
            new.label = Some(label.clone()).filter(|label| !label.is_empty());
        }
        if !edit.command.is_empty() {
            new.command.clone_from(&edit.command);
            new.stdin = None;
            check_places(&new)?;
            let request = NewTask { no_check: edit.no_check, command: edit.command.clone(), ..NewTask::default() };
            self.check_command(&request, &new)?;
        }
        Ok(new)
    }

    fn lanes_instead(&self, task: &Task, texts: &[String]) -> Result<Vec<LaneName>, AppError> {
        let own = LaneName::user(&task.user);
        let mut lanes = Vec::new();
        for text in texts {
            let lane = self.lane_option(text, Some(&task.cwd))?;
            if lane.is_user() && lane != own {
                let message =
                    format!("{} is a task of \"{}\", and \"{lane}\" is another user's lane", task.id, task.user);
                return Err(AppError::usage(message).hint("queue a task for that user; nothing was changed"));
            }
            lanes.push(lane);
        }
        lanes.retain(|lane| *lane != own && !lane.is_global());
        lanes.sort();
        lanes.dedup();
        if lanes.is_empty() && !task.takes_user_lane {
            return Err(
                AppError::usage("a task without its user's lane needs another lane").hint("nothing was changed")
            );
        }
        Ok(lanes)
    }
}
