//! The hidden verb `supervise`: owns one task to its end, then makes one pass for the tasks that wait. Where that pass finds one
//! task to start, this process goes on to it instead of starting another one, as long as that would not do better.

use crate::app::pass::Hand;
use crate::app::{App, AppError};
use crate::model::{LaneName, Task, TaskId};
use crate::policy::fair::Ledger;
use crate::store::{Claimed, Event, Hold, Place};
use crate::supervise::{Finished, Surroundings, recover, run, run_claimed};
use std::cell::Cell;

/// After how many tasks a supervisor ends: what a process may use up in all its life, as its CPU time (setrlimit(2)), is
/// not to end the last of them. It also bounds what passes over very many lanes leave in its memory.
const MOST_TASKS: u32 = 100;

/// What this process has to do for a task whose lock it has.
enum Work {
    /// To run it, which a dispatcher has claimed.
    Run(TaskId, Hold),
    /// To run it, which this very process has claimed.
    GoOn(Box<Claimed>),
    /// To recover it, because nobody supervised it, or to run a command for the end of the time of its wait.
    Recover(TaskId, Hold),
}

impl App {
    /// Supervises a task that a dispatcher claimed and handed over, or recovers one that nobody supervises. `is_told_to_end`
    /// says whether somebody wants this process to end.
    pub fn supervise(
        &self,
        mut id: TaskId,
        is_recovery: bool,
        is_told_to_end: &mut dyn FnMut() -> bool,
    ) -> Result<(), AppError> {
        let Some(lock) = self.run_dir.take_over(id)? else {
            return Err(AppError::usage(
                "supervise is started by luzia itself, with the task's lock as standard input",
            ));
        };
        let mut count = 0;
        let has_supervisors = Cell::new(false);
        let mut work = if is_recovery { Work::Recover(id, lock) } else { Work::Run(id, lock) };
        loop {
            let may_go_on = self.see_to(work, &has_supervisors, is_told_to_end).inspect_err(|error| {
                self.store.note(&Event { task: Some(id), ..Event::new("supervisor_failed").saying(error.to_string()) });
            })?;
            count += 1;
            // A task that it took would wait for them.
            let due = self.due_hooks(&mut |_| {});
            let is_free =
                may_go_on && due.is_empty() && count < MOST_TASKS && !has_supervisors.get() && !is_told_to_end();
            let is_fit = || self.host.is_program_current();
            let mut hand = Hand { is_free, is_fit: &is_fit, claimed: None };
            if let Err(error) = self.pass_with(&mut hand) {
                // There is nobody to tell of it but the events.
                self.store.note(&Event::new("pass_failed").saying(error.to_string()));
            }
            // Those that fail stand among the events.
            self.run_due(&due, &mut |_| {});
            let Some(claimed) = hand.claimed else { return Ok(()) };
            self.run_dir.go_on_to(claimed.task.id, &claimed.lock)?;
            (id, work) = (claimed.task.id, Work::GoOn(claimed));
        }
    }

    /// Brings one task to its end, as far as it is this process's to do so; true when it did and was not told to end.
    fn see_to(
        &self,
        work: Work,
        has_supervisors: &Cell<bool>,
        is_told_to_end: &mut dyn FnMut() -> bool,
    ) -> Result<bool, AppError> {
        let begin = self.host.boot_ms();
        let mut pass = || {
            let supervisors = self.pass().map(|pass| pass.supervisors).unwrap_or_default();
            has_supervisors.set(has_supervisors.get() || !supervisors.is_empty());
            supervisors
        };
        let timeout_ms = |lane: &LaneName| self.config().lock_timeout_ms(lane);
        // The claim was made by another process, which knew the rules.
        let cpu_plan = |lane: &LaneName| self.follow_control().ok().and_then(|()| self.cpu_plan(lane));
        let site = self.site();
        let mut around = Surroundings {
            site: &site,
            timeout_ms: &timeout_ms,
            cpu_plan: &cpu_plan,
            config: self.config_path.as_deref(),
            subject: &|cwd| self.surroundings.subject(cwd).map_err(|error| error.to_string()),
            logs_max_bytes: self.config().logs_max_bytes,
            cgroups: self.config().cgroups,
            pass: &mut pass,
            loans: &|id, in_any_case| self.see_to_loans(id, in_any_case),
            told_to_end: is_told_to_end,
            is_told_to_end: false,
        };
        let ended = match work {
            Work::Run(id, lock) => run(&mut around, id, lock)?,
            Work::GoOn(claimed) => run_claimed(&mut around, *claimed)?,
            Work::Recover(id, lock) if self.store.waits_at_rest(id)? => {
                self.see_to_late_wait(id, lock)?;
                return Ok(!(around.told_to_end)());
            }
            Work::Recover(id, lock) => recover(&site, id, self.store.look_abandoned(id, lock)?, &[])?,
        };
        let is_told_to_end = around.is_told_to_end;
        let Some(Finished { id, task, dependents, .. }) = ended else { return Ok(false) };
        self.wake_dependents(id, &dependents)?;
        self.charge_end(&task, self.host.boot_ms().saturating_sub(begin))?;
        Ok(!is_told_to_end)
    }

    /// What the end of the time of a wait means, for a task whose lock was handed over. The pass that follows starts it again
    /// where it goes on.
    fn see_to_late_wait(&self, id: TaskId, lock: Hold) -> Result<(), AppError> {
        match self.store.find(id)? {
            Some((Place::Waiting, task)) => self.look_at_taken(&task, lock, &[], true).map(drop),
            _ => Ok(self.store.let_go(id, lock)?),
        }
    }

    fn charge_end(&self, task: &Task, ran_ms: u64) -> Result<(), AppError> {
        if !Ledger::charges_end(ran_ms) {
            return Ok(());
        }
        // By rules that do not read nobody is charged.
        if self.follow_config().is_err() {
            return Ok(());
        }
        let (payer, now) = (self.payer_of(task), self.host.now());
        self.store.update_ledger(&mut |text| {
            let mut ledger = text.and_then(Ledger::from_text).unwrap_or_default();
            ledger.ended(&payer, ran_ms, now);
            Some(ledger.to_text())
        })?;
        Ok(())
    }
}
