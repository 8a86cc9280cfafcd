//! `--slots`: several slots of each capacity lane of a task, all of them or none.

use crate::app::admission::lenders::lenders_if_waited;
use crate::app::config_reload::{config, follow_control};
use crate::app::{App, AppError, Code, Kind, lane_word};
use crate::model::task::terms::MOST_SLOTS;
use crate::model::{LaneName, Task};
use crate::policy::admission::narrow;

/// Number of slots that a request asks for, if that is more than one.
pub(crate) fn count_of(asked: Option<u32>) -> Result<Option<u32>, AppError> {
    match asked {
        Some(count) if count == 0 || count > MOST_SLOTS => {
            let message = format!("--slots {count}: the range is 1 to {MOST_SLOTS}");
            Err(AppError::new(Code::BadSlots, message).hint("without --slots a task takes one slot"))
        }
        other => Ok(other.filter(|count| *count > 1)),
    }
}

/// Refuses a task of several slots that could not have them by the rules of now.
pub(crate) fn check_slots(app: &App, task: &Task) -> Result<(), AppError> {
    let Some(count) = task.terms.slot_count else { return Ok(()) };
    if !task.lanes.iter().any(LaneName::is_capacity_lane) {
        return Err(AppError::new(Code::BadSlots, format!("--slots {count} names no lane that has slots"))
            .with_kind(Kind::No)
            .hint("name the lane as well, as in -l build --slots 2; a user, a thread or a session has one place"));
    }
    follow_control(app)?;
    if let Some(narrow) = narrow(task, |lane| config(app).limit(lane)).into_iter().next() {
        let lane = &narrow.lane;
        let message = format!("--slots {count}: lane \"{lane}\" has {}", narrow.max);
        return Err(AppError::new(Code::TooFewSlots, message)
            .hint("ask for fewer slots, or set the limit of the lane first")
            .next(format!("luzia lanes show {}", lane_word(lane))));
    }
    let lenders = if task.waited_for { lenders_if_waited(app, task)? } else { Vec::new() };
    for lane in task.lanes.iter().filter(|lane| task.slots_of(lane) > 1) {
        // Missing slots could be held by others whose children wait for the slots of this parent.
        let lent = lenders.iter().filter(|lender| lender.lanes.contains(lane)).map(|lender| lender.slots_of(lane));
        if let Some(lent) = lent.max().filter(|lent| *lent < task.slots_of(lane)) {
            let message = format!("--slots {count}: the task borrows lane \"{lane}\", of which its parent has {lent}");
            return Err(AppError::new(Code::TooFewSlots, message)
                .hint("ask for so many slots for the parent, or for fewer here"));
        }
    }
    Ok(())
}
