//! `wait`: blocks until tasks are over. Waits on file events, and looks again from time to time where there are none.

use crate::app::{App, AppError, Code, Kind};
use crate::model::config::Contexts;
use crate::model::{Status, Task, TaskId};
use crate::store::Place;
use std::time::Duration;

/// How often a waiter asks the parent of a child for a pass, in milliseconds.
const REMIND_MS: u64 = 5000;
/// How long a waiter sleeps at most between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

impl App {
    /// Waits until all of the tasks are over and gives them, or with `any` gives the one that was over first. `on_change`
    /// hears of every change of state.
    pub fn wait(
        &self,
        ids: &[TaskId],
        any: bool,
        timeout_ms: Option<u64>,
        on_change: &mut dyn FnMut(&Task),
    ) -> Result<Vec<Task>, AppError> {
        for id in ids {
            self.existing(*id)?;
        }
        let mut lent = self.lend_to(ids.iter().copied())?;
        let begin = self.host.boot_ms();
        let mut reminded_ms = begin;
        let mut last: Vec<Option<Status>> = vec![None; ids.len()];
        let mut changes = self.store.watch();
        loop {
            self.heed_signals(&mut lent)?;
            let _ = self.fire_timers();
            let mut over = Vec::new();
            for (id, last) in ids.iter().zip(&mut last) {
                if last.is_some_and(Status::is_final) && !any {
                    over.push(self.existing(*id)?);
                    continue;
                }
                let task = self.existing(*id)?;
                if last.replace(task.status()) != Some(task.status()) {
                    on_change(&task);
                }
                if task.status().is_final() {
                    over.push(task);
                }
            }
            if any && !over.is_empty() {
                over.sort_by_key(|task| task.outcome().map(|outcome| outcome.completed_at));
                over.truncate(1);
                self.end_loans(lent, true, timeout_ms.map(|limit| begin.saturating_add(limit)))?;
                return Ok(over);
            }
            if over.len() == ids.len() {
                self.end_loans(lent, true, timeout_ms.map(|limit| begin.saturating_add(limit)))?;
                return Ok(over);
            }
            let passed = self.host.boot_ms().saturating_sub(begin);
            let left = timeout_ms.map_or(u64::MAX, |limit| limit.saturating_sub(passed));
            if left == 0 {
                let open: Vec<String> =
                    ids.iter().filter(|id| over.iter().all(|task| task.id != **id)).map(TaskId::to_string).collect();
                let has_lent = !lent.is_empty();
                self.end_loans(lent, false, None)?;
                let hint = if has_lent { "what ran in the lanes of this task was ended" } else { "the tasks go on" };
                return Err(AppError::new(
                    Kind::Busy,
                    Code::WaitTimedOut,
                    format!("not over yet: {}", open.join(", ")),
                )
                .hint(hint)
                .next(format!("luzia explain {}", open.first().map_or("", String::as_str))));
            }
            // Who runs this task ends after us, and nobody else may be there to start what we wait for.
            if let Some(inside) = self.inside.as_ref().filter(|_| last.contains(&Some(Status::Pending))) {
                self.wake_supervisor(inside.task)?;
            }
            if !lent.is_empty() && self.host.boot_ms().saturating_sub(reminded_ms) >= REMIND_MS {
                reminded_ms = self.host.boot_ms();
                self.remind_lenders(&lent)?;
            }
            changes.wait(LONGEST_PAUSE.min(Duration::from_millis(left)));
        }
    }

    /// Whether a daemon, a drain or a waiting `run` is at work that would start what this process may start.
    pub fn has_waiting_dispatcher(&self) -> Result<bool, AppError> {
        match self.config().contexts {
            Contexts::Any => Ok(self.store.has_dispatcher(None)?),
            Contexts::Same => Ok(self.store.has_dispatcher(Some(self.own_context().0.id()))?),
        }
    }

    /// Whether anything would start pending tasks: a daemon, a `run`, or a running task whose supervisor makes a pass.
    pub fn has_dispatcher(&self) -> Result<bool, AppError> {
        if self.has_waiting_dispatcher()? {
            return Ok(true);
        }
        for id in self.store.in_flight()? {
            // A record that does not read is `doctor`'s to report; nobody else's question fails because of it.
            let runs =
                matches!(self.store.find(id), Ok(Some((Place::Running, task))) if self.differences(&task).is_empty());
            if runs && self.run_dir.is_supervised(id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
