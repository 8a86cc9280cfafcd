//! One claim: the request of a pass for a task and its lanes, and the effect of each answer on the pass. All tasks that a pass
//! tries are asked for here: borrowers, those that make room, those that go on after a wait, and the heads of queues.

use super::trying::Seen;
use super::{Hand, recover_one, start_supervisor};
use crate::app::admission::lenders_of;
use crate::app::breaks::broken_event;
use crate::app::capacity::AGAIN_MS;
use crate::app::lifecycle::Pass;
use crate::app::wait_warnings::warn_at_claim;
use crate::app::waits::resting::LOOK_AGAIN;
use crate::app::{App, AppError};
use crate::model::{LaneName, LockKind, Task, TaskId, Timestamp, Who};
use crate::policy::line::has_turn;
use crate::policy::staleness::judge;
use crate::policy::wait_warning::began;
use crate::store::{Claim, Claimed, Denial, Event, Head, Judges, LockView, NotNow, Place, Request, StoreError};
use serde_json::json;
use std::cell::RefCell;

/// Number of requests for one task in a pass, when dead tasks hold its lanes or another process looks at it.
const MOST_TRIES: u32 = 8;

/// The state that a pass changes while it starts tasks.
pub(super) struct Starts<'a, 'hand> {
    pub pass: &'a mut Pass,
    pub hand: &'a mut Hand<'hand>,
    pub seen: RefCell<Seen>,
}

/// The place of the record of a task that a pass asks for.
pub(super) enum At<'a> {
    Queue(&'a Head),
    Wait(TaskId),
}

/// A task that a pass asks for.
pub(super) struct Attempt<'a> {
    pub at: At<'a>,
    /// The tasks that must still lend the task their lanes. `None` if it asks for slots of its own.
    pub lenders: Option<&'a [Task]>,
    /// Admission, asked under the lock of the task.
    pub admit: &'a dyn Fn(&Task) -> bool,
}

/// The answer to a claim.
pub(super) enum Answer {
    Claimed(Box<Claimed>),
    /// A dead task was recovered, a damaged record set aside, or another process looked at the task for an instant.
    Again,
    /// Another process has the task.
    Lost,
    /// Admission refused the task, or the line of a lane did.
    Refused(Box<Task>),
    Held(Box<Task>, Box<LockView>),
    /// A lane grants no slot now. The pass has noted the moment of the next try.
    Closed(LaneName),
    /// Another process was stopped in the guard of a lane.
    Guarded(LaneName),
    /// The rest of `global` is kept for lanes with reserves.
    Kept,
    Blocked,
}

impl Attempt<'_> {
    /// Asks until the answer is not [`Answer::Again`].
    pub(super) fn claim(&self, app: &App, pass: &mut Pass) -> Result<Answer, AppError> {
        for _ in 0..MOST_TRIES {
            match self.claim_once(app, pass)? {
                Answer::Again => {}
                answer => return Ok(answer),
            }
        }
        Ok(Answer::Blocked)
    }

    pub(super) fn claim_once(&self, app: &App, pass: &mut Pass) -> Result<Answer, AppError> {
        Ok(match self.ask(app) {
            // The other lanes still get their turn.
            Err(StoreError::GuardBusy { lane, .. }) => {
                app.store.note(&Event::new("guard_busy").in_lane(&lane));
                Answer::Guarded(lane)
            }
            Err(error) => return Err(error.into()),
            Ok(Claim::Claimed(claimed)) => Answer::Claimed(claimed),
            Ok(Claim::Lost) => self.lost(app)?,
            // The first of the line is called, or will be.
            Ok(Claim::Refused(task) | Claim::Denied(task, Denial::Behind(_))) => Answer::Refused(task),
            Ok(Claim::Denied(task, Denial::Held(view))) => Answer::Held(task, view),
            Ok(Claim::Denied(_, Denial::Limited { lane, until })) => {
                pass.comes_again(until);
                Answer::Closed(lane)
            }
            Ok(Claim::Denied(_, Denial::NotNow(NotNow::Narrow(_)))) => Answer::Blocked,
            Ok(Claim::Denied(_, Denial::NotNow(why))) => {
                pass.comes_again(app.host.now().plus_ms(AGAIN_MS));
                Answer::Closed(why.lane().clone())
            }
            Ok(Claim::Denied(_, Denial::Kept)) => Answer::Kept,
            Ok(Claim::Denied(_, Denial::NoGrant(lane))) => Answer::Guarded(lane),
            // A supervisor that must kill first makes a pass itself.
            Ok(Claim::Denied(_, Denial::NeedsRecovery(dead)))
                if pass.recovered.contains(&dead) || !recover_one(app, dead, pass)? =>
            {
                Answer::Blocked
            }
            Ok(Claim::Denied(_, Denial::NeedsRecovery(dead))) => {
                pass.recovered.push(dead);
                Answer::Again
            }
            Ok(Claim::Newer(error)) => {
                self.leave(app, &error, pass)?;
                Answer::Blocked
            }
            Ok(Claim::SetAside(error)) => {
                pass.set_aside.push(error.to_string());
                Answer::Again
            }
        })
    }

    fn ask(&self, app: &App) -> Result<Claim, StoreError> {
        // A wait that has ended meanwhile lends nothing.
        let admit = |task: &Task| self.lenders.is_none_or(|lenders| is_lent(app, task, lenders)) && (self.admit)(task);
        let lenders: Vec<TaskId> = self.lenders.into_iter().flatten().map(|task| task.id).collect();
        let request = |task: &Task| Request { lenders: lenders.clone(), ..request(app, task) };
        match self.at {
            At::Queue(head) => app.store.claim(head, &admit, &request, Judges { lock: judge, turn: has_turn }),
            At::Wait(id) => app.store.claim_waiting(id, &admit, &request, judge),
        }
    }

    fn lost(&self, app: &App) -> Result<Answer, AppError> {
        let At::Wait(id) = self.at else { return Ok(Answer::Lost) };
        if !matches!(app.store.find(id)?, Some((Place::Waiting, _))) {
            return Ok(Answer::Lost);
        }
        // The process that looks at the task starts nothing, and no other pass may follow this one.
        app.host.sleep(LOOK_AGAIN);
        Ok(Answer::Again)
    }

    /// Leaves a record of a newer luzia alone, with the tasks behind it.
    fn leave(&self, app: &App, error: &StoreError, pass: &mut Pass) -> Result<(), AppError> {
        let (id, blocked) = match self.at {
            At::Queue(head) => (head.id, app.store.tier_depth(head.priority.tier(), &head.queue)?),
            At::Wait(id) => (id, 1),
        };
        pass.leave(id, error.to_string(), blocked);
        Ok(())
    }
}

fn is_lent(app: &App, task: &Task, lenders: &[Task]) -> bool {
    lenders_of(app, task).is_ok_and(|now| now.iter().map(|task| task.id).eq(lenders.iter().map(|task| task.id)))
}

/// The lanes a task takes, as a request.
pub(super) fn request(app: &App, task: &Task) -> Request {
    let who = Who::of(task.agent.as_ref(), &task.command, task.label.as_deref());
    Request { who, ..app.request(app.needs_of(task), LockKind::Task, task.id.to_string()) }
}

/// Finds a supervisor for a claimed task: this process if it may go on, or a new one.
pub(super) fn hand_over(app: &App, claimed: Box<Claimed>, starts: &mut Starts) -> Result<(), AppError> {
    let Starts { pass, hand, .. } = starts;
    note_claim(app, &claimed);
    pass.started.push(claimed.task.id);
    if hand.is_free && hand.claimed.is_none() {
        hand.claimed = Some(claimed);
        return Ok(());
    }
    start_supervisor(app, &["supervise"], claimed.task.id, claimed.lock, pass)
}

/// Reports the steps from the look at the queue to the lanes (S3.24), and the locks that were removed for the claim.
fn note_claim(app: &App, claimed: &Claimed) {
    let Claimed { task, grants, broken, .. } = claimed;
    let lanes: Vec<String> = grants.iter().map(|grant| grant.lane.to_string()).collect();
    let fences: Vec<u64> = grants.iter().map(|grant| grant.fence.0).collect();
    let slots: Vec<u32> = grants.iter().map(|grant| grant.slot).collect();
    let waited_ms = wanted_since(app, task).map(|since| app.host.now().ms_since(since).max(0));
    let data = json!({ "lanes": lanes, "fences": fences, "slots": slots, "waited_ms": waited_ms });
    let of = |name| Event::of(name, task).in_lane_of(task);
    let steps = [of("polled"), of("selected"), of("locked").with(data)];
    let breaks = broken.iter().map(|lock| Event { task: Some(task.id), ..broken_event(lock) });
    app.store.note_all(&mut breaks.chain(steps));
    warn_at_claim(app, task);
}

/// The moment since which a claimed task could have started, for the measured waits for its lanes. The time in which it waited
/// for an event is no wait for lanes. `None` for a further step, whose moment is unknown.
fn wanted_since(app: &App, task: &Task) -> Option<Timestamp> {
    if task.wait().is_some() {
        let waits = app.store.waits(task.id).ok()?;
        return waits.done.last().and_then(|done| Timestamp::parse(&done.at));
    }
    began(task)
}
