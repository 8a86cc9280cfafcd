//! The claim of a task whose wait is over. The lanes that it kept become locks of a task again, the others are taken, all or
//! none, and its record moves from `waiting` to `running`. Commit point: that rename. Before it, the task still waits, and
//! recovery gives back the lanes that a dead claim has taken.

use crate::model::{Grant, Judge, Task, TaskId, Timer};
use crate::store::files::queue::claim::Taken;
use crate::store::{Claim, Claimed, Denial, Hold, Place, Request, Result, Spool, StoreError, layout};

impl Spool {
    /// Claims a task in `waiting`: takes its `supervisor.lock`, asks `admit`, takes the lanes that it did not keep, moves its
    /// record. It waits in no line: it goes ahead of new work, and never over a limit.
    pub fn claim_waiting(
        &self,
        id: TaskId,
        admit: &dyn Fn(&Task) -> bool,
        request: &dyn Fn(&Task) -> Request,
        judge: Judge,
    ) -> Result<Claim> {
        let Some(lock) = self.run_dir.take_supervisor_lock(id)? else { return Ok(Claim::Lost) };
        let task = match self.find(id) {
            Ok(Some((Place::Waiting, task))) if self.is_at_rest(id)? => task,
            Ok(Some((Place::Waiting, task))) => return Ok(Claim::Denied(Box::new(task), Denial::NeedsRecovery(id))),
            Ok(_) => return self.not_claimed(id, lock, Claim::Lost),
            Err(error @ StoreError::Newer { .. }) => return self.not_claimed(id, lock, Claim::Newer(error)),
            Err(error) => return Err(error),
        };
        if !admit(&task) {
            return self.not_claimed(id, lock, Claim::Refused(Box::new(task)));
        }
        let kept = self.kept_by(&task)?;
        let (taken, broken) = match self.take_missing(&task, &kept, request(&task), judge) {
            Ok(Ok(taken)) => taken,
            Ok(Err(claim)) => return self.not_claimed(id, lock, claim),
            Err(error) => {
                self.let_go(id, lock)?;
                return Err(error);
            }
        };
        let moved = self.end_keeping(id, &kept).and_then(|is_whole| {
            let moved = is_whole && self.rename(&layout::waiting(id), &layout::running(id))?;
            if moved {
                // If a power cut brought a copy back in `waiting`, that copy would count once the other one is gone.
                self.sync_dir(layout::RUNNING)?;
                self.sync_dir(layout::WAITING)?;
            }
            Ok(moved)
        });
        if !matches!(moved, Ok(true)) {
            // If its record has already moved, recovery takes the claim back.
            if self.meta(&layout::waiting(id))?.is_some() {
                self.take_back(&task, &taken)?;
                self.let_go(id, lock)?;
            }
            moved?;
            return Ok(Claim::Lost);
        }
        if let Some(wait) = task.wait() {
            self.clear_timer(&Timer::of(id, wait.until))?;
        }
        let mut all: Vec<Grant> = kept.into_iter().chain(taken).collect();
        let lanes = task.all_lanes();
        all.sort_by_key(|grant| lanes.iter().position(|lane| *lane == grant.lane));
        Ok(Claim::Claimed(Box::new(Claimed { task, lock, grants: all, broken })))
    }

    /// Takes the lanes that a task did not keep; returns a refusal as a claim.
    fn take_missing(
        &self,
        task: &Task,
        kept: &[Grant],
        mut request: Request,
        judge: Judge,
    ) -> Result<std::result::Result<Taken, Claim>> {
        for need in &mut request.needs {
            let own = kept.iter().filter(|grant| grant.lane == need.lane).count();
            need.count = need.count.saturating_sub(u32::try_from(own).unwrap_or(u32::MAX));
        }
        request.needs.retain(|need| need.count > 0);
        if request.needs.is_empty() {
            return Ok(Ok((Vec::new(), Vec::new())));
        }
        Ok(Claim::by(self.acquire(&request, judge)?, task))
    }

    /// Gives back the lanes that a claim has taken, and keeps those that the task kept before. The caller holds
    /// `supervisor.lock`.
    fn take_back(&self, task: &Task, taken: &[Grant]) -> Result<()> {
        let lanes: Vec<_> = taken.iter().map(|grant| grant.lane.clone()).collect();
        self.release_task(task.id, &lanes, taken)?;
        if let Some(wait) = task.wait() {
            self.keep_for_wait(task, wait)?;
        }
        Ok(())
    }

    fn not_claimed(&self, id: TaskId, lock: Hold, claim: Claim) -> Result<Claim> {
        self.let_go(id, lock)?;
        Ok(claim)
    }
}
