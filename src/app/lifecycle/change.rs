//! Changes of tasks that have not started.

use crate::app::error::although;
use crate::app::{App, AppError, Code};
use crate::model::{Status, Task, TaskId};
use crate::store::{Event, Removed};

/// Changes a task that has not started, durably, and returns it as it is then.
pub(crate) fn change_waiting(
    app: &App,
    id: TaskId,
    event: &'static str,
    change: impl FnOnce(&Task) -> Result<Task, AppError>,
) -> Result<Task, AppError> {
    let status = app.existing(id)?.status();
    if status != Status::Pending {
        return Err(not_waiting(id, status));
    }
    let (task, lock) = match app.store.take_pending(id)? {
        Removed::Taken(task, lock) => (task, lock),
        Removed::NotPending => return Err(not_waiting(id, app.existing(id)?.status())),
        Removed::Busy => {
            let message = format!("{id} starts or ends right now");
            return Err(AppError::new(Code::TaskBusy, message)
                .hint("nothing was changed; try again")
                .next(format!("luzia show {id}")));
        }
    };
    let changed = match change(&task) {
        Ok(changed) => changed,
        Err(error) => {
            app.store.withdraw_ending(id, lock)?;
            return Err(error);
        }
    };
    let mut stands = false;
    let mut note = || {
        stands = true;
        app.store.note(&Event::of(event, &changed).in_lane_of(&changed));
    };
    match app.store.change_pending(&task, changed.clone(), lock, &mut note) {
        Ok(()) => Ok(changed),
        Err(error) if stands => Err(although(&format!("{id} is changed"), error.into())),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn not_waiting(id: TaskId, status: Status) -> AppError {
    let message = format!("{id} is {status}, and only a task that has not started can be changed");
    AppError::new(Code::TaskNotPending, message).hint("nothing was changed").next(format!("luzia show {id}"))
}
