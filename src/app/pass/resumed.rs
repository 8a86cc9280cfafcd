//! Waiting tasks in a pass: those whose timer rang are looked at, and those that have what they waited for are started again
//! before new work. One whose lanes are full waits on, and its timer stays due for the next pass (X16).

use crate::app::capacity::gates::AGAIN_MS;
use crate::app::pass::{Hand, Pass};
use crate::app::steps::waiting::{LOOK_AGAIN, Looked};
use crate::app::{App, AppError};
use crate::model::{LaneName, Priority, Task, TaskId, Timestamp};
use crate::policy::admission::{Situation, first_obstacle};
use crate::policy::hold::pause_of;
use crate::policy::staleness::judge;
use crate::store::{Claim, Event, Place, StoreError};

/// How often the start of one task is tried in a pass, when dead tasks hold its lanes or another process looks at it.
const MOST_TRIES: u32 = 8;

/// A task that is ready to go on: its priority, its number and its timers that rang.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Ready(Priority, TaskId, Vec<Timestamp>);

impl App {
    /// Looks at a waiting task whose timers rang. What must run a command gets a supervisor, where this pass may start one.
    pub(super) fn see_to_wait(&self, task: &Task, due: &[Timestamp], pass: &mut Pass) -> Result<(), AppError> {
        match self.look_at_wait(task.id, due, false)? {
            Looked::Waits | Looked::Over => {}
            Looked::Ready => pass.ready.push(Ready(task.priority, task.id, due.to_vec())),
            Looked::NeedsCommand(lock) if pass.may_start => {
                self.start_supervisor(&["supervise", "--recover"], task.id, lock, pass)?;
            }
            Looked::NeedsCommand(lock) => self.store.stay_waiting(task.id, lock)?,
        }
        Ok(())
    }

    /// Starts the tasks that are ready to go on, the first by priority and number first.
    pub(super) fn start_resumed(&self, pass: &mut Pass, hand: &mut Hand) -> Result<(), AppError> {
        let mut ready = std::mem::take(&mut pass.ready);
        ready.sort();
        for Ready(_, id, due) in ready {
            if !self.try_resumed(id, &due, pass, hand)? {
                break;
            }
        }
        Ok(())
    }

    /// False when no slot of the host is left.
    fn try_resumed(&self, id: TaskId, due: &[Timestamp], pass: &mut Pass, hand: &mut Hand) -> Result<bool, AppError> {
        let Some((Place::Waiting, task)) = self.store.find(id)? else { return Ok(true) };
        if !self.is_near(&task.queue())? {
            return Ok(true);
        }
        let lenders: Vec<TaskId> = self.lenders_of(&task)?.iter().map(|lender| lender.id).collect();
        let request = |task: &Task| crate::store::Request { lenders: lenders.clone(), ..self.request(task) };
        for _ in 0..MOST_TRIES {
            match self.store.claim_waiting(id, &|task| self.admits_resumed(task), &request, judge) {
                Err(StoreError::GuardBusy { lane, .. }) => {
                    self.store.note(&Event::new("guard_busy").in_lane(&lane));
                    return Ok(true);
                }
                Err(error) => return Err(error.into()),
                Ok(Claim::Claimed(claimed)) => {
                    for at in due {
                        self.store.clear_timer(id, *at)?;
                    }
                    self.note_resumed(&claimed.task);
                    self.hand_over(claimed, pass, hand)?;
                    return Ok(true);
                }
                Ok(Claim::NeedsRecovery(dead)) => {
                    if pass.recovered.contains(&dead) || !self.recover_one(dead, pass)? {
                        return Ok(true);
                    }
                    pass.recovered.push(dead);
                }
                Ok(Claim::Held(_, view)) => return Ok(!view.lane.as_ref().is_some_and(LaneName::is_global)),
                Ok(Claim::Limited { until, .. }) => {
                    pass.comes_again(until);
                    return Ok(true);
                }
                Ok(Claim::NotNow(_)) => {
                    pass.comes_again(self.store.now().plus_ms(AGAIN_MS));
                    return Ok(true);
                }
                Ok(Claim::Newer(error)) => {
                    pass.leave(id, error.to_string(), 1);
                    return Ok(true);
                }
                // Another process looks at it for an instant. It starts nothing, and nobody may come after this pass.
                Ok(Claim::Lost) if matches!(self.store.find(id)?, Some((Place::Waiting, _))) => {
                    self.store.sleep(LOOK_AGAIN);
                }
                Ok(Claim::Kept | Claim::Lost | Claim::Refused(_) | Claim::SetAside(_)) => return Ok(true),
            }
        }
        Ok(true)
    }

    /// Admission for a task that goes on: nobody comes before it in its lanes.
    fn admits_resumed(&self, task: &Task) -> bool {
        let now = self.store.now();
        let is_ready = self.store.waits(task.id).is_ok_and(|waits| waits.open.is_none() && !waits.is_failed());
        let situation = Situation {
            now,
            paused: pause_of(task, &self.control().holds, now),
            unfinished: Vec::new(),
            context: self.differences(task),
            newer: None,
            ahead: 0,
            first_in_lane: Vec::new(),
            // Of lanes that it kept none is granted; a gate of the others is looked at where they are asked for.
            shut: Vec::new(),
            booked: None,
            lanes: Vec::new(),
            has_dispatcher: true,
        };
        is_ready && first_obstacle(task, &situation).is_none()
    }

    /// Looks at tasks to which an event was sent, and starts those that have what they waited for. Only these: nothing else
    /// of the queue is started. What fails here is done by the next pass, because their timers stay due.
    pub(crate) fn resume_addressed(&self, ids: &[TaskId]) -> Result<(), AppError> {
        let mut waiting = Vec::new();
        for id in ids {
            match self.store.find(*id)? {
                Some((Place::Waiting, task)) => waiting.push(task),
                // Its supervisor is dead: when it is recovered its wait goes on.
                Some((Place::Running, _)) if self.inside.is_none() && !self.store.is_supervised(*id)? => {
                    self.recover_one(*id, &mut Pass::default())?;
                }
                _ => {}
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        if let Some(inside) = &self.inside
            && self.wake_supervisor(inside.task)?
        {
            return Ok(());
        }
        self.follow_config()?;
        self.store.hooks()?;
        let mut pass = Pass { may_start: true, ..Pass::default() };
        let due = self.store.timers(self.store.now())?.due;
        for task in waiting {
            let own: Vec<Timestamp> = due.iter().filter(|(id, _)| *id == task.id).map(|(_, at)| *at).collect();
            self.see_to_wait(&task, &own, &mut pass)?;
        }
        self.start_resumed(&mut pass, &mut Hand { is_free: false, is_fit: &|| false, claimed: None })?;
        self.store.reap();
        Ok(())
    }
}
