//! Children that borrow: a task for whose end its parent waits starts in the lanes of the parent, before anything else of a pass
//! and without a slot of its own. The parent lends its lanes as long as a process waits for the child. After that the child is a
//! task like any other.

use super::claim::{Answer, At, Attempt, Starts, hand_over};
use crate::app::admission::firsts::Firsts;
use crate::app::admission::lenders::{is_lent_by, lenders_of};
use crate::app::admission::reach::may_start;
use crate::app::admission::situation::{situation_alone, unfinished_before};
use crate::app::admission::turns::turns_in_session;
use crate::app::capacity::gates;
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError};
use crate::model::{LaneName, Task};
use crate::policy::admission::{Situation, first_obstacle};
use crate::store::{Event, Head, Place};

/// Starts the children that can borrow their lanes.
pub(super) fn start_borrowers(app: &App, starts: &mut Starts) -> Result<(), AppError> {
    for id in app.store.lent_to()? {
        // The pass over its queue sets a damaged record aside.
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

/// Whether no task of its session comes before a child. True if it takes no user lane, or borrows it.
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
    // The process that waits may have died before it could report that.
    wake_supervisor(app, lenders[0].id)?;
    hand_over(app, claimed, starts)
}

fn admits_borrower(app: &App, task: &Task, lenders: &[Task]) -> bool {
    let is_lent = is_lent_by(lenders);
    let Ok(mut first_in_lane) = Firsts::default().before(&app.store, task) else { return false };
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
