//! `--preempt pause`: who holds a slot stands still as by `pause --yield`, and goes on when the task that needed the slot has started
//! and slots are free again. Who was paused for a task is told by the reason of the pause, so nothing else is to be remembered.

use crate::app::{App, AppError};
use crate::model::control::{How, Preempt, TaskHold};
use crate::model::lock::loan;
use crate::model::{LaneName, LockRecord, TaskId};
use crate::policy::still::may_be_given_up;
use crate::store::{LockView, PauseRequest};

/// The reason of a pause that makes room for a task.
pub(super) fn reason(task: TaskId) -> String {
    format!("preempted by {task}")
}

impl App {
    /// Whether a holder keeps its slot of a lane while it is paused: by what the lane gives, or because it could not stand still before.
    pub(super) fn keeps_paused(&self, id: TaskId, lane: &LaneName, view: &LockView) -> Result<bool, AppError> {
        let may = |record: &LockRecord| may_be_given_up(lane, record.value.is_some(), record.cpus.is_some());
        if !view.record().is_some_and(may) || loan::is_loan(view.slot) {
            return Ok(true);
        }
        let given = self.run_dir.given_up(id)?;
        Ok(given.is_some_and(|given| given.refused.is_some() || given.kept.contains(lane)))
    }

    /// Asks a holder to stand still and to give its slots up. A pause that stands already is left alone.
    pub(super) fn pause_for(&self, id: TaskId, wish: &Preempt) -> Result<(), AppError> {
        let hold = TaskHold {
            since: self.host.now(),
            until: None,
            reason: Some(reason(wish.task)),
            by: Some(wish.by.clone()),
            start_left_ms: None,
        };
        let request = PauseRequest { hold, yields: true };
        if self.store.run_pause(id)?.is_some() || !self.store.request_pause(id, &request)? {
            return Ok(());
        }
        self.tell_preempted(id, wish)
    }

    /// Lets those go on that were paused for a task: each waits in the lines of its lanes.
    pub(super) fn let_paused_go_on(&self, wish: &Preempt) -> Result<(), AppError> {
        if wish.how != How::Pause {
            return Ok(());
        }
        let (reason, now) = (reason(wish.task), self.host.now());
        for holder in self.store.started_tasks().filter_map(Result::ok) {
            let Some(pause) = self.store.run_pause(holder.id)? else { continue };
            if pause.yields && pause.stands(now) && pause.hold.reason.as_deref() == Some(reason.as_str()) {
                let hold = TaskHold { until: Some(now), ..pause.hold };
                self.store.request_pause(holder.id, &PauseRequest { hold, yields: false })?;
                self.wake_supervisor(holder.id)?;
            }
        }
        Ok(())
    }
}
