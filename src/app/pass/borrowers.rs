//! Children that borrow: a task for whose end its parent waits starts in the lanes of the parent, before anything else of a
//! pass and without a slot of its own. Its parent lends them as long as somebody waits; else it is a task like any other.

use super::claim::{Answer, At, Attempt, Starts, hand_over};
use crate::app::admission::lenders::{is_lent_by, lenders_of, may_borrow};
use crate::app::admission::reach::may_start;
use crate::app::admission::situation::{situation_alone, unfinished_before};
use crate::app::admission::turns::turns_in_session;
use crate::app::capacity::gates;
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError};
use crate::model::{LaneName, Task, TaskId};
use crate::policy::admission::{Situation, first_obstacle};
use crate::store::{Event, Head, Lending, Place};
use std::collections::BTreeSet;

/// Begins the waits for those among some tasks that may borrow from their parents, and asks for a pass.
pub(crate) fn lend_to(app: &App, ids: impl Iterator<Item = TaskId>) -> Result<Vec<Lending>, AppError> {
    let (mut lendings, mut parents) = (Vec::new(), BTreeSet::new());
    for id in ids {
        let Some((_, task)) = app.find(id)? else { continue };
        if let Some(parent) = task.parent.filter(|_| may_borrow(app, &task)) {
            lendings.push(app.store.lend_to(id)?);
            parents.insert(parent);
        }
    }
    if !lendings.is_empty() {
        // Its loans end before this process does.
        app.host.procs.catch_ends();
    }
    parents.into_iter().try_for_each(|parent| wake_supervisor(app, parent).map(drop))?;
    Ok(lendings)
}

/// Like `lend_to`, for those children of a task that wait in the queue and that a filter means; `lent` are those for whom it is done already.
pub(crate) fn lend_to_children(
    app: &App,
    parent: TaskId,
    filter: &[(String, String)],
    mut lent: Vec<Lending>,
) -> Result<Vec<Lending>, AppError> {
    let is_wanted = |id: TaskId| filter.iter().all(|(name, value)| name != "child" || *value == id.to_string());
    let mut children = Vec::new();
    // A record that does not read is `doctor`'s to report.
    for task in app.store.pending_tasks(None)?.filter_map(Result::ok) {
        let is_new = lent.iter().all(|lending| lending.child() != task.id);
        let is_child = task.parent == Some(parent) && is_wanted(task.id);
        children.extend((is_child && is_new).then_some(task.id));
    }
    remind_lenders(app, &lent)?;
    lent.extend(lend_to(app, children.into_iter())?);
    Ok(lent)
}

/// Asks the supervisors of the parents of waiting children for a pass: what was asked before may have been lost.
pub(crate) fn remind_lenders(app: &App, lent: &[Lending]) -> Result<(), AppError> {
    let parents: BTreeSet<TaskId> = lent
        .iter()
        .filter_map(|lending| app.find(lending.child()).ok().flatten())
        .filter(|(place, _)| *place == Place::Pending)
        .filter_map(|(_, task)| task.parent)
        .collect();
    parents.into_iter().try_for_each(|parent| wake_supervisor(app, parent).map(drop))
}

/// Starts the children that can borrow their lanes.
pub(super) fn start_borrowers(app: &App, starts: &mut Starts) -> Result<(), AppError> {
    for id in app.store.lent_to()? {
        // A record that does not read is set aside by the pass over its queue.
        let Ok(Some((Place::Pending, task))) = app.store.find(id) else { continue };
        if !may_start(app, &task) {
            continue;
        }
        let lenders = lenders_of(app, &task)?;
        if !lenders.is_empty() && comes_first(app, &task, &lenders)? {
            try_borrower(app, &task, &lenders, starts)?;
        }
    }
    Ok(())
}

/// Whether no other task of its session comes before it: in a lane that is lent to it none does.
fn comes_first(app: &App, task: &Task, lenders: &[Task]) -> Result<bool, AppError> {
    let is_lent = is_lent_by(lenders);
    Ok(!task.takes_user_lane
        || is_lent(&LaneName::user(&task.user))
        || turns_in_session(app, task)?.first().is_none_or(|first| *first >= task.turn()))
}

fn try_borrower(app: &App, task: &Task, lenders: &[Task], starts: &mut Starts) -> Result<(), AppError> {
    let head = Head { queue: task.queue(), priority: task.priority, id: task.id };
    let admit = |task: &Task| admits_borrower(app, task, lenders);
    let attempt = Attempt { at: At::Queue(&head), lenders: Some(lenders), admit: &admit };
    let Answer::Claimed(claimed) = attempt.claim(app, starts.pass)? else { return Ok(()) };
    note_loans(app, &claimed, lenders);
    // The process that waits may have died before it could say so.
    wake_supervisor(app, lenders[0].id)?;
    hand_over(app, claimed, starts)
}

fn admits_borrower(app: &App, task: &Task, lenders: &[Task]) -> bool {
    let is_lent = is_lent_by(lenders);
    let Ok(mut first_in_lane) = super::Firsts::default().before(&app.store, task) else { return false };
    first_in_lane.retain(|(lane, _)| !is_lent(lane));
    let situation = Situation {
        unfinished: unfinished_before(app, task),
        first_in_lane,
        shut: gates::shut(app, task.all_lanes().iter().filter(|lane| !is_lent(lane)), true),
        ..situation_alone(app, task)
    };
    first_obstacle(task, &situation).is_none()
}

fn note_loans(app: &App, claimed: &crate::store::Claimed, lenders: &[Task]) {
    use crate::model::lock::loan::is_loan;
    let (id, parent) = (claimed.task.id, lenders[0].id);
    let mut notes = claimed.grants.iter().filter(|grant| is_loan(grant.slot)).map(|grant| {
        let data = serde_json::json!({ "from": parent.to_string(), "lock_id": grant.lock_id.0 });
        let event = Event::of("borrowed", &claimed.task).in_lane(&grant.lane).with(data);
        if grant.lane.kind() != "thread" {
            return event;
        }
        let thread = grant.lane.key();
        event.saying(format!(
            "[MessageService] Execution {} inheriting lock from parent {} on thread {thread}",
            id.0, parent.0
        ))
    });
    app.store.note_all(&mut notes);
}
