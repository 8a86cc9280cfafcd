//! The claim: a dispatcher takes a pending task and its lanes. The commit point is the rename `pending` -> `running`.

use crate::model::lock::LineJudge;
use crate::model::{Grant, Judge, Task, TaskId};
use crate::store::{
    Acquired, Break, Denial, Head, Hold, InLine, Part, Request, Result, Spool, StoreError, encode_task, layout,
};

/// A task that this process may start.
pub struct Claimed {
    /// The task.
    pub task: Task,
    /// The `supervisor.lock` of the task, to be handed to the supervisor.
    pub lock: Hold,
    /// The lanes of the task.
    pub grants: Vec<Grant>,
    /// Stale locks that were broken on the way.
    pub broken: Vec<Break>,
}

/// The judges of a claim.
#[derive(Clone, Copy)]
pub struct Judges {
    /// Decides whether a holder still holds a lane.
    pub lock: Judge,
    /// Decides the turn in a lane that has a line.
    pub turn: LineJudge,
}

/// The answer to a claim.
pub enum Claim {
    /// The task is this process's to start.
    Claimed(Box<Claimed>),
    /// Another process has the task, or had it.
    Lost,
    /// The check of the caller refuses the start of the task now.
    Refused(Box<Task>),
    /// The task does not get its lanes, or it is itself the dead task that must be recovered first.
    Denied(Box<Task>, Denial),
    /// The record of the task is damaged; it was set aside.
    SetAside(StoreError),
    /// A newer luzia wrote the record of the task; it stays as it is, and the tasks behind it in its lane wait for that
    /// luzia.
    Newer(StoreError),
}

/// The lanes that a claim has taken, and the stale locks that were broken on the way.
pub(crate) type Taken = (Vec<Grant>, Vec<Break>);

impl Claim {
    /// The lanes that an answer grants to a task. Any other answer becomes the answer to the claim, as the error.
    pub(crate) fn by(answer: Acquired, task: &Task) -> std::result::Result<Taken, Self> {
        Err(match answer {
            Acquired::Granted { grants, broken, .. } => return Ok((grants, broken)),
            Acquired::Denied(denial) => Self::Denied(Box::new(task.clone()), denial),
            Acquired::Refreshed(_) => Self::Lost,
        })
    }
}

impl Spool {
    /// Claims the head of a lane: takes its `supervisor.lock`, asks `admit`, takes its lanes, moves its record. Commit point:
    /// the rename `pending` -> `running`, which needs no sync, because after a power cut the record is in its old place and
    /// every holder is dead.
    pub fn claim(
        &self,
        head: &Head,
        admit: &dyn Fn(&Task) -> bool,
        request: &dyn Fn(&Task) -> Request,
        judges: Judges,
    ) -> Result<Claim> {
        let Some(lock) = self.run_dir.take_supervisor_lock(head.id)? else { return Ok(Claim::Lost) };
        match self.claim_locked(head, lock, admit, request, judges)? {
            (claim, None) => Ok(claim),
            (claim, Some(lock)) => {
                // Nothing was claimed: the run folder goes again, so that an idle task leaves nothing behind.
                self.remove_run_dir(head.id)?;
                drop(lock);
                Ok(claim)
            }
        }
    }

    fn claim_locked(
        &self,
        head: &Head,
        lock: Hold,
        admit: &dyn Fn(&Task) -> bool,
        request: &dyn Fn(&Task) -> Request,
        judges: Judges,
    ) -> Result<(Claim, Option<Hold>)> {
        let id = head.id;
        let (path, read) = self.read_pending(Part::Whole, head.priority, &head.queue, id);
        let (task, names_user) = match read {
            Ok(Some(read)) => read,
            Ok(None) => return Ok((Claim::Lost, self.if_unused(id, lock)?)),
            Err(error @ StoreError::Corrupt { .. }) => {
                self.set_aside(&error)?;
                return Ok((Claim::SetAside(error), self.if_unused(id, lock)?));
            }
            Err(error @ StoreError::Newer { .. }) => return Ok((Claim::Newer(error), self.if_unused(id, lock)?)),
            Err(error) => return Err(error),
        };
        if self.read_result(id)?.is_some() || self.started(id)?.is_some() {
            return Ok((Claim::Denied(Box::new(task), Denial::NeedsRecovery(id)), None));
        }
        if !admit(&task) {
            return Ok((Claim::Refused(Box::new(task)), Some(lock)));
        }
        let sandbox = || task.sandbox.as_ref().map(|sandbox| sandbox.id().clone());
        let mut in_line = InLine::of_task(judges.turn, sandbox);
        let answer = self.acquire_in_line(&request(&task), judges.lock, &mut in_line)?;
        drop(in_line);
        let (grants, broken) = match Claim::by(answer, &task) {
            Ok(taken) => taken,
            Err(not) => return Ok((not, Some(lock))),
        };
        let named = if names_user { Ok(()) } else { self.name_user(&task, &path) };
        match named.and_then(|()| self.rename(&path, &layout::running(id))) {
            Ok(true) => {}
            lost => {
                self.release_task(id, &task.all_lanes(), &grants)?;
                lost?;
                return Ok((Claim::Lost, Some(lock)));
            }
        }
        self.unmark_order(&task)?;
        self.sweep_moved(&task, &path)?;
        Ok((Claim::Claimed(Box::new(Claimed { task, lock, grants, broken })), None))
    }

    /// Adds the user to a pending record that lacks it. The folder of the queue names the user, and the claim moves the record
    /// out of that folder. The caller holds the task's `supervisor.lock`.
    fn name_user(&self, task: &Task, path: &str) -> Result<()> {
        self.put(&layout::tmp(task.id, self.host.me.pid), path, &encode_task(task)?)
    }

    /// The lock itself when the run folder may be removed: it has nothing of the task that recovery would need.
    pub(super) fn if_unused(&self, id: TaskId, lock: Hold) -> Result<Option<Hold>> {
        let in_use = self.meta(&layout::running(id))?.is_some()
            || self.meta(&layout::result(id))?.is_some()
            || (self.meta(&layout::waiting(id))?.is_some() && !self.is_at_rest(id)?);
        Ok((!in_use).then_some(lock))
    }
}
