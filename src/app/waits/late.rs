//! The end of the time of a wait, and the command for it (`--timeout-do`). The command runs at most once: its begin is durable
//! before it starts, and its end is durable after. A process that holds the wait and finds a begin without an end reports that
//! (decision 301).

use crate::app::{App, AppError};
use crate::model::{Task, TaskId};
use crate::policy::steps::members::row;
use crate::policy::steps::waits::{Phase, Wait, WaitKind};
use crate::store::{Event, LateCommand, OpenWait, StoreError, Waits};
use serde_json::json;

/// Reports that the time of a wait has run out, and the effect: the task waits once more, or the wait is over.
pub(crate) fn note_late(app: &App, task: &Task, open: &OpenWait, after: Wait) {
    let means = match after.phase {
        Phase::Waiting => "retry",
        Phase::PassedOver => "continue",
        _ => "fail",
    };
    let data = json!({ "waited_for": open.kind, "event": open.event, "timeouts": after.timeouts, "means": means });
    app.store.note(&Event::of("wait_timeout", task).with(data));
}

/// Removes the variables of an earlier answer when the time of a wait has run out and its task goes on. So the task does not take
/// the old answer for a new one.
pub(crate) fn forget_answer(app: &App, id: TaskId, open: &OpenWait, after: Wait) -> Result<(), AppError> {
    let kind = WaitKind::parse(&open.kind).filter(|_| after.phase == Phase::PassedOver);
    let Some(kind) = kind.filter(|_| app.store.has_steps(id).is_ok_and(|has| has)) else { return Ok(()) };
    let old = row(kind).variables;
    if app.store.vars(id)?.value.keys().any(|name| old.contains(&name.as_str())) {
        app.store.change_vars::<AppError>(id, |vars| {
            vars.retain(|name, _| !old.contains(&name.as_str()));
            Ok(())
        })?;
    }
    Ok(())
}

/// Notes in the waits of a task that the command of a wait begins. The caller makes that durable, and then starts it.
pub(crate) fn late_begins(app: &App, waits: &mut Waits, position: usize) {
    let begun_at = app.host.now().to_string();
    waits.commands.push(LateCommand { position, begun_at, ..LateCommand::default() });
}

/// Notes the end of the command that began last. The caller makes that durable.
pub(crate) fn late_ended(waits: &mut Waits, how: String) {
    if let Some(command) = waits.commands.last_mut() {
        command.ended = Some(how);
    }
}

/// Reports each command without a known end as one that may not have run to its end. The caller holds the wait of the task, so
/// that no process runs such a command, and makes the report durable. Returns whether a command was reported.
pub(crate) fn tell_lost(app: &App, task: &Task, waits: &mut Waits) -> bool {
    let mut has_lost = false;
    for command in waits.commands.iter_mut().filter(|command| command.ended.is_none() && !command.is_lost) {
        (command.is_lost, has_lost) = (true, true);
        let said =
            format!("the command of --timeout-do of {} may not have run to its end; it is not run again", task.id);
        let data = json!({ "wait": command.position + 1, "begun_at": command.begun_at });
        app.store.note(&Event::of("alert", task).saying(said).with(data));
    }
    has_lost
}

/// The waits of a task for a look at them.
pub(crate) fn waits_shown(app: &App, id: TaskId) -> Result<Waits, StoreError> {
    match app.store.waits(id) {
        // A damaged `waits.json` ends the task at its next look. Until then the task is shown without its waits.
        Err(StoreError::Corrupt { .. }) => Ok(Waits::default()),
        read => read,
    }
}
