//! Tasks that have lost their supervisor and whose processes cannot be seen from here, and the processes that can recover them.

use crate::app::lifecycle::report::Unseen;
use crate::app::{App, AppError, Code};
use crate::model::{Task, TaskId};
use crate::policy::recovery::needs_witness;
use crate::policy::witness::{Blind, witness};
use crate::store::Found;
use crate::supervise::seen;

/// The reason why this process cannot tell whether the processes of a task are dead; `None` if it need not, or can.
pub(crate) fn blindness(app: &App, id: TaskId, found: &Found) -> Result<Option<Blind>, AppError> {
    if !needs_witness(seen(found)) {
        return Ok(None);
    }
    blindness_by(app, id, found.task.as_ref())
}

/// Like `blindness`, for a task that was started and has lost its supervisor.
pub(crate) fn blindness_of(app: &App, task: &Task) -> Result<Option<Blind>, AppError> {
    blindness_by(app, task.id, Some(task))
}

fn blindness_by(app: &App, id: TaskId, task: Option<&Task>) -> Result<Option<Blind>, AppError> {
    let witness = witness(&app.host.outlook(app.store.origin_of(id, task)?));
    if witness.blindness().is_none() {
        return Ok(None);
    }
    let group = app.store.started(id)?.flatten().and_then(|started| started.group);
    Ok(witness.with_group(group.map(|group| app.host.look_at_group(&group))).blindness())
}

/// The error of a task that cannot be recovered from here: the process that can recover it, and the way to see it.
pub(crate) fn unseen(task: &Unseen) -> AppError {
    let hint = match task.why {
        Blind::UnknownPids => "its lanes stay held, and its record stays; nothing was changed",
        Blind::ForeignProc | Blind::OtherPids | Blind::OtherUsers => {
            "its lanes stay held, and its record stays, until somebody who sees its processes makes a pass"
        }
    };
    AppError::new(Code::NotSeenFromHere, task.text()).hint(hint).next(format!("luzia explain {}", task.task))
}
