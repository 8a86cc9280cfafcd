//! Calls and turns in the line of a lane: the actions when a lane is freed. The turn alternates between the line and the
//! tasks of the queue; files in the folder of the line record the next one.

use crate::model::LaneName;
use crate::model::lock::loan::is_loan;
use crate::os::Open;
use crate::store::files::locks::line::Line;
use crate::store::{Guards, Result, Spool, StoreError, layout};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Marks in a line that a task of the queue wants the lane after the next one of the line.
pub(crate) const TASKS_WAIT: &str = "tasks-wait";
/// Marks that a task has given the lane to the line: its supervisor looks for a next task meanwhile, in vain.
pub(crate) const TASKS_NEXT: &str = "tasks-next";
/// Marks that it is the turn of the tasks, since the file's last change.
pub(crate) const TASKS_TURN: &str = "tasks-turn";

/// The two kinds of debt.
const SURE: u8 = 1;
const PERHAPS: u8 = 2;

/// Whether this process has given a lane back to tasks that wait, or may wait, so that it owes a pass.
pub(crate) type Debt = Arc<AtomicU8>;

/// A pass that this process owes to the tasks of the queue, because the turn is theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owed {
    /// A task waits for certain.
    ForSure,
    /// A task may wait.
    Perhaps,
}

/// The process that has freed a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FreedBy {
    /// A task of the queue: the line is next, and then a task if one waits.
    Task,
    /// A waiter of the line that takes a slot and leaves others free: the next waiter has the turn.
    Line,
    /// Any other process: a task is next, if one waits.
    Other,
}

impl Spool {
    pub(crate) fn mark(&self, path: &str) -> Result<()> {
        let mut file = self.vfs.open(path, Open::Truncate(0o600)).map_err(StoreError::io("create", path))?;
        // The write sets the time of the last change also if the file existed and was empty.
        file.as_mut().map_or(Ok(()), |file| file.write_all(b"1\n")).map_err(StoreError::io("write", path))
    }

    pub(crate) fn unmark(&self, line: &Line, name: &str, is_there: bool) -> Result<()> {
        if is_there {
            self.unlink(&line.path(name))?;
        }
        Ok(())
    }

    /// Removes a lock and calls the line of its lane, which a loan that ends does not free. The caller is in the guard and
    /// has judged the lock.
    pub(crate) fn free_lock(&self, guards: &mut Guards<'_>, lane: &LaneName, slot: u32, by: FreedBy) -> Result<()> {
        let is_returned = is_loan(slot) && self.return_loan(guards, lane, slot);
        let stem = lane.stem();
        self.remove_lock(&stem, slot)?;
        if !is_returned {
            self.call_line(&stem, by);
        }
        Ok(())
    }

    /// Calls the line of a lane, if it has one: the lane is free. The caller is in the guard. An error is ignored: the
    /// lane is free, and the first waiter of the line asks again without a call.
    pub(crate) fn call_line(&self, stem: &str, by: FreedBy) {
        self.call_first(&layout::line(stem), by);
    }

    pub(crate) fn call_first(&self, folder: &str, by: FreedBy) {
        let Ok(Some(entries)) = self.vfs.list(folder) else { return };
        let line = Line::of(folder, &entries);
        if by == FreedBy::Other && (line.has_waiting_tasks || line.may_have_tasks) {
            self.owes_pass.store(if line.has_waiting_tasks { SURE } else { PERHAPS }, Ordering::Relaxed);
            let _ = self.unmark(&line, TASKS_WAIT, line.has_waiting_tasks);
            let _ = self.unmark(&line, TASKS_NEXT, line.may_have_tasks);
            if !line.tickets.is_empty() {
                let _ = self.mark(&line.path(TASKS_TURN));
                return;
            }
        }
        for ticket in &line.tickets {
            let path = line.path(&ticket.name);
            match self.vfs.call_pipe(&path) {
                Ok(true) => {
                    if by == FreedBy::Task && !line.may_have_tasks {
                        let _ = self.mark(&line.path(TASKS_NEXT));
                    }
                    return;
                }
                Ok(false) => drop(self.vfs.unlink(&path)),
                Err(_) => {}
            }
        }
        let _ = self.unmark(&line, TASKS_TURN, line.is_tasks_turn);
        let _ = self.unmark(&line, TASKS_NEXT, line.may_have_tasks);
        let _ = self.vfs.remove_dir(folder);
    }

    /// Wakes the first of the line of a lane, so that it looks again: the rules of the lane have changed. Nothing is removed,
    /// because the caller is not in the guard.
    pub fn call_waiters(&self, lane: &LaneName) {
        let folder = layout::line(&lane.stem());
        let Ok(Some(entries)) = self.vfs.list(&folder) else { return };
        let line = Line::of(&folder, &entries);
        line.tickets.iter().any(|ticket| matches!(self.vfs.call_pipe(&line.path(&ticket.name)), Ok(true)));
    }

    /// The pass that this process owes since it has given a lane back; a second call gives `None`.
    pub fn owes_pass(&self) -> Option<Owed> {
        match self.owes_pass.swap(0, Ordering::Relaxed) {
            SURE => Some(Owed::ForSure),
            PERHAPS => Some(Owed::Perhaps),
            _ => None,
        }
    }

    /// Ends the turn of the tasks in a lane that none of them has taken, and calls the line.
    pub fn end_tasks_turn(&self, lane: &LaneName) -> Result<()> {
        let _guards = self.enter_guards(&[lane])?;
        let folder = layout::line(&lane.stem());
        let line = self.read_line(&folder)?;
        if line.is_tasks_turn {
            self.unmark(&line, TASKS_TURN, true)?;
            self.call_first(&folder, FreedBy::Other);
        }
        Ok(())
    }
}
