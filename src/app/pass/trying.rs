//! Trying one queue: its first task is admitted and claimed, or the reason against that is found. If the first task waits for a
//! capacity lane, a few behind it that may not need that lane are tried (`docs/decisions/273-past-a-full-lane.md`).

use super::claim::{Answer, At, Attempt, Starts, hand_over};
use crate::app::admission::turns::current_weights;
use crate::app::admission::{Firsts, situation_queued};
use crate::app::breaks::end_overdue;
use crate::app::config_reload::{config, control};
use crate::app::pass::candidates::{Bookings, GROUP_PAUSE, GROUP_TRIES, wants_several};
use crate::app::{App, AppError};
use crate::model::{LaneName, QueueName, Task, TaskId};
use crate::policy::admission::{Obstacle, Situation, first_obstacle};
use crate::policy::beyond::{MOST_TRIED, may_pass};
use crate::policy::fair::Weights;
use crate::policy::schedule::Candidate;
use crate::store::{Head, LockView, Place};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Number of heads of one lane that may turn out damaged in one pass.
const MOST_SET_ASIDE: usize = 1000;

/// Facts that a pass has seen about lanes that several users share. If such a lane keeps one task from starting, the pass
/// does not try the others: the process that changes the lane makes a pass, or wakes a process that does.
#[derive(Default)]
pub(super) struct Seen {
    /// The full lanes, each with the number of slots that it cannot give.
    full: BTreeMap<LaneName, u32>,
    firsts: Firsts,
    /// The tasks whose starts are booked, and their lanes.
    bookings: Bookings,
    /// Whether the rest of `global` is kept for the lanes that have reserves.
    is_kept: bool,
    /// Whether a task waits for an idle host, which no event reports.
    pub(super) tries_again: bool,
}

/// The result of trying one lane.
pub(super) enum Tried {
    /// The task has started, with its weights in fair share.
    Started(Weights),
    Blocked,
    NoSlot,
}

/// The result of trying one task.
enum Step {
    /// The queue is finished.
    Done(Tried),
    /// Another task may be the first one now.
    Again,
    /// Another dispatcher had the task.
    Lost,
    /// The task waits for a capacity lane, which tasks behind it may not need. Has the task if it may wait for several
    /// slots.
    Beyond(Option<Box<Task>>),
}

/// Whether a task may start, before its lanes are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Admission {
    Yes,
    No,
    /// A capacity lane keeps the task from its start.
    Beyond,
}

pub(super) fn try_lane(app: &App, candidate: &Candidate, starts: &mut Starts) -> Result<Tried, AppError> {
    let stem = candidate.queue.to_string();
    // The sequence of a group is that of its first task.
    let is_group = QueueName::parse(&stem).is_some_and(|name| name.group.is_some());
    let mut group_tries = if is_group { GROUP_TRIES } else { 0 };
    let mut known = candidate.sequence.filter(|_| !is_group).map(|sequence| Head {
        queue: stem.clone(),
        priority: candidate.priority,
        id: TaskId(sequence),
    });
    for _ in 0..MOST_SET_ASIDE {
        let was_known = known.is_some();
        let head = match known.take() {
            Some(head) => head,
            None => match app.store.head_from(candidate.priority, &stem)? {
                Some(head) => head,
                None => return Ok(Tried::Blocked),
            },
        };
        match try_task(app, &head, starts)? {
            // Another dispatcher tries it; the tasks of a group do not fall behind others because of that.
            Step::Lost if group_tries > 0 => {
                group_tries -= 1;
                app.host.sleep(GROUP_PAUSE);
            }
            Step::Lost if !was_known => return Ok(Tried::Blocked),
            // Another pass granted it, so this one does not know any more which session of the user is next.
            Step::Lost if candidate.takes_user_lane && has_started(app, head.id)? => return Ok(Tried::Blocked),
            Step::Again | Step::Lost => {}
            Step::Done(tried) => return Ok(tried),
            Step::Beyond(task) => {
                book(app, task, &starts.seen)?;
                return try_beyond(app, &head, candidate, starts);
            }
        }
    }
    Ok(Tried::Blocked)
}

fn has_started(app: &App, id: TaskId) -> Result<bool, AppError> {
    let found = app.store.find(id)?;
    Ok(found.is_some_and(|(place, task)| place == Place::Running || place == Place::Done && task.starts > 0))
}

/// Tries tasks behind the first one of a queue that waits for a capacity lane. All tasks of a queue without its user's lane have
/// the same lanes, so the others need no look there.
fn try_beyond(app: &App, first: &Head, candidate: &Candidate, starts: &mut Starts) -> Result<Tried, AppError> {
    if !candidate.takes_user_lane {
        return Ok(Tried::Blocked);
    }
    let mut passed = vec![first.id];
    let heads = app.store.first_in_tier(first.priority, &first.queue, MOST_TRIED + 1)?;
    for head in heads.iter().filter(|head| (head.priority, head.id) > (first.priority, first.id)) {
        if !may_pass(&passed, head.id) {
            break;
        }
        match try_task(app, head, starts)? {
            Step::Done(tried) => return Ok(tried),
            Step::Again | Step::Lost => {}
            Step::Beyond(task) => {
                book(app, task, &starts.seen)?;
                passed.push(head.id);
            }
        }
    }
    Ok(Tried::Blocked)
}

fn try_task(app: &App, head: &Head, starts: &mut Starts) -> Result<Step, AppError> {
    // A look at the record costs a fraction of a claim.
    let knows_some = starts.seen.borrow().knows_some() || control(app).standing(app.host.now()).next().is_some();
    if knows_some && let Some(task) = app.store.peek(head) {
        match admission(app, &task, &starts.seen) {
            Admission::Yes => {}
            Admission::No => return Ok(Step::Done(Tried::Blocked)),
            Admission::Beyond => return Ok(Step::beyond(Box::new(task))),
        }
    }
    let last = Cell::new(Admission::Yes);
    let admit = |task: &Task| {
        last.set(admission(app, task, &starts.seen));
        last.get() == Admission::Yes
    };
    let attempt = Attempt { at: At::Queue(head), lenders: None, admit: &admit };
    Ok(match attempt.claim_once(app, starts.pass)? {
        Answer::Claimed(claimed) => {
            starts.seen.borrow_mut().firsts.forget(&claimed.task);
            let weights = current_weights(app, &claimed.task);
            hand_over(app, claimed, starts)?;
            Step::Done(Tried::Started(weights))
        }
        Answer::Again => Step::Again,
        Answer::Lost => Step::Lost,
        Answer::Refused(task) if last.get() == Admission::Beyond => Step::beyond(task),
        Answer::Refused(_) => Step::Done(Tried::Blocked),
        Answer::Held(task, view) => blocked_by(app, task, *view, &starts.seen)?,
        Answer::Closed(lane) => starts.seen.borrow_mut().fills(lane, 1),
        Answer::Guarded(lane) if lane.is_global() => Step::Done(Tried::NoSlot),
        Answer::Kept => {
            starts.seen.borrow_mut().is_kept = true;
            Step::Done(Tried::Blocked)
        }
        Answer::Guarded(_) | Answer::Blocked => Step::Done(Tried::Blocked),
    })
}

/// Keeps the start of a task that waits for a capacity lane, if it waits for several slots.
fn book(app: &App, task: Option<Box<Task>>, seen: &RefCell<Seen>) -> Result<(), AppError> {
    task.map_or(Ok(()), |task| seen.borrow_mut().bookings.book(app, &task))
}

/// A holder keeps the lane; one that is overdue may be asked to end.
fn blocked_by(app: &App, task: Box<Task>, view: LockView, seen: &RefCell<Seen>) -> Result<Step, AppError> {
    end_overdue(app, &view)?;
    let fills = |lane: LaneName| {
        let wanted = task.slots_of(&lane);
        seen.borrow_mut().fills(lane, wanted)
    };
    Ok(match view.lane.map(fills) {
        Some(Step::Beyond(_)) => Step::beyond(task),
        other => other.unwrap_or(Step::Done(Tried::Blocked)),
    })
}

/// Admission, for the head of a lane whose locks will be asked for next.
fn admission(app: &App, task: &Task, seen: &RefCell<Seen>) -> Admission {
    let Seen { full, firsts, bookings, is_kept, tries_again } = &mut *seen.borrow_mut();
    let is_full = |lane: &&LaneName| full.get(*lane).is_some_and(|least| task.slots_of(lane) >= *least);
    if task.lanes.iter().any(|lane| is_full(&lane)) {
        // A task that waits for a key lane as well holds its queue.
        let waits_for_key = task.lanes.iter().filter(is_full).any(LaneName::is_key_lane)
            || !firsts.before(&app.store, task).is_ok_and(|before| before.is_empty());
        return if waits_for_key { Admission::No } else { Admission::Beyond };
    }
    let has_reserve = |lane: &LaneName| config(app).reserve(lane) > 0;
    if *is_kept && !task.all_lanes().iter().any(has_reserve) {
        return Admission::No;
    }
    let Ok(first_in_lane) = firsts.before(&app.store, task) else { return Admission::No };
    let booked = bookings.against(app, task);
    let situation = Situation { first_in_lane, booked, ..situation_queued(app, task) };
    let obstacle = first_obstacle(task, &situation);
    *tries_again |= matches!(obstacle, Some(Obstacle::HostBusy { .. }));
    match obstacle {
        None => Admission::Yes,
        Some(obstacle) if obstacle.is_of_capacity() => Admission::Beyond,
        Some(_) => Admission::No,
    }
}

impl Step {
    /// A task that waits for a capacity lane.
    fn beyond(task: Box<Task>) -> Self {
        Self::Beyond(Some(task).filter(|task| wants_several(task)))
    }
}

impl Seen {
    fn knows_some(&self) -> bool {
        !self.full.is_empty() || self.is_kept || !self.firsts.is_empty() || !self.bookings.is_empty()
    }

    /// Remembers a lane that cannot give so many slots in this pass.
    fn fills(&mut self, lane: LaneName, wanted: u32) -> Step {
        let step = match (lane.is_global(), lane.is_key_lane()) {
            (true, _) => Step::Done(Tried::NoSlot),
            (false, true) => Step::Done(Tried::Blocked),
            (false, false) => Step::Beyond(None),
        };
        if !lane.is_user() {
            self.full.entry(lane).and_modify(|least| *least = wanted.min(*least)).or_insert(wanted);
        }
        step
    }
}
