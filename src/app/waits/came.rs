//! The meaning of an event for a wait, and the end of the time of a wait.
//! `is_meant` tells whether an event matches a wait, and `vars_of` gives the variables that the task gets from it. `late_begins`
//! and `late_ended` note the begin and the end of the command for the end of the time (`--timeout-do`). The command runs at most
//! once: its begin is durable before it starts, and its end is durable after. A process that holds the wait and finds a begin
//! without an end reports that (`tell_lost`, decision 301).

use crate::app::{App, AppError};
use crate::model::sorted::sort_by_key;
use crate::model::{Task, TaskId};
use crate::policy::steps::members::row;
use crate::policy::steps::names::{MOST_KEPT_BYTES, is_var_name};
use crate::policy::steps::waits::{OnTimeout, Phase, Wait, WaitKind};
use crate::store::{Event, LateCommand, Mail, OpenWait, OutputEnd, StoreError, Vars, Waits, var_text};
use serde_json::{Value, json};

/// The most bytes of the results of children in one variable; what marks the others as left out comes on top.
const MOST_RESULTS_BYTES: usize = 1024 * 1024;

/// A wait that is open, as its table sees it.
pub(crate) fn as_wait(open: &OpenWait) -> Wait {
    Wait {
        phase: Phase::Waiting,
        got: 0,
        expect: open.expect.max(1),
        timeouts: open.timeouts,
        on_timeout: OnTimeout::parse(&open.on_timeout),
        is_delay: WaitKind::parse(&open.kind) == Some(WaitKind::Delay),
    }
}

/// Whether an event is one that a wait is for (S1.17, S1.19).
pub(crate) fn is_meant(mail: &Mail, open: &OpenWait) -> bool {
    let value = |name: &str| match name {
        "thread" if mail.thread.is_some() => mail.thread.clone(),
        "user" if mail.user.is_some() => mail.user.clone(),
        name => mail.data.get(name).map(var_text),
    };
    mail.event == open.event && open.filter.iter().all(|(name, wanted)| value(name).as_ref() == Some(wanted))
}

/// Whether a filter of a wait for children means a child.
pub(crate) fn means_child(filter: &[(String, String)], child: TaskId) -> bool {
    filter.iter().all(|(name, value)| name != "child" || *value == child.to_string())
}

/// Whether an event reports the end of a child.
pub(crate) fn is_end_of(mail: &Mail, child: TaskId) -> bool {
    mail.data.get("child").and_then(Value::as_str) == Some(&*child.to_string())
}

/// The text of an answer.
pub fn answer_of(mail: &Mail) -> Value {
    let named = row(WaitKind::Response).members.iter().find_map(|name| mail.data.get(*name));
    named.unwrap_or(&mail.data).clone()
}

/// The variables that are set when a wait is over (S1.21–S1.28): for a wait for output, the line that matched.
pub(crate) fn vars_of(kind: WaitKind, got: &[Mail], seen: Option<&OutputEnd>) -> Vec<(String, Value)> {
    let line = seen.and_then(|seen| seen.line.as_ref()).map(|line| ("lastOutput".to_owned(), json!(line)));
    resumed_vars(kind, got).into_iter().chain(line).collect()
}

/// Sets the variables of received events for a task.
pub(crate) fn take_in_vars(app: &App, task: &Task, new: Vec<(String, Value)>) -> Result<(), AppError> {
    let mut left_out = Vec::new();
    app.store.change_vars::<AppError>(task.id, |vars| {
        left_out = take_in(vars, new);
        Ok(())
    })?;
    if !left_out.is_empty() {
        let said = format!("too large for a variable, and only printed by `luzia await`: {}", left_out.join(", "));
        app.store.note(&Event::of("vars_left_out", task).saying(said).with(json!({ "names": left_out })));
    }
    Ok(())
}

/// Adds the variables of received events. Variables that are too large are left out, with the values that they had before, so
/// that no event keeps a task from going on. Returns their names.
pub(crate) fn take_in(vars: &mut Vars, new: Vec<(String, Value)>) -> Vec<String> {
    let mut fresh: Vec<String> = new.iter().map(|(name, _)| name.clone()).collect();
    vars.extend(new);
    let size = |vars: &Vars, name: &String| vars.get(name).map_or(0, |value| name.len() + value.to_string().len());
    let mut all: usize = vars.keys().map(|name| size(vars, name)).sum();
    sort_by_key(&mut fresh, |name| size(vars, name));
    let mut left_out = Vec::new();
    while all > MOST_KEPT_BYTES
        && let Some(name) = fresh.pop()
    {
        all -= size(vars, &name);
        if vars.remove(&name).is_some() {
            left_out.push(name);
        }
    }
    left_out
}

fn resumed_vars(kind: WaitKind, got: &[Mail]) -> Vec<(String, Value)> {
    let Some(last) = got.last() else { return Vec::new() };
    let member = |name: &str| last.data.get(name).cloned();
    let named = |names: &[&str]| {
        names.iter().filter_map(|name| Some(((*name).to_owned(), member(name)?))).collect::<Vec<(String, Value)>>()
    };
    match kind {
        WaitKind::Response => vec![("lastResponse".to_owned(), answer_of(last))],
        WaitKind::Agent => {
            let own = named(&["triggeredExecutionId", "childExecutionStatus", "childExecutionSuccess"]);
            // The children's variables come first, the newest last, so that the variables about the children themselves are kept.
            // The last message of a person is that of the task, or that of the child that got one.
            let of =
                |mail: &Mail| mail.data.get("variables").and_then(|vars| vars.as_object().cloned()).unwrap_or_default();
            let of_children = got.iter().flat_map(of).filter(|(name, _)| is_var_name(name));
            of_children.chain(own).chain([("childResults".to_owned(), results_of(got))]).collect()
        }
        WaitKind::Document => {
            let url = |mail: &Mail| mail.data.get("url").cloned().unwrap_or_else(|| mail.data.clone());
            vec![("documentUrls".to_owned(), got.iter().map(url).collect())]
        }
        WaitKind::Signature => {
            let at = member("signedAt").unwrap_or_else(|| json!(last.at));
            [named(&["signedDocumentUrl"]), vec![("signedAt".to_owned(), at)]].concat()
        }
        WaitKind::Test => named(row(kind).members),
        // No event ends it.
        WaitKind::Output => Vec::new(),
        WaitKind::Event | WaitKind::Delay => vec![("lastEvent".to_owned(), last.data.clone())],
    }
}

/// The results of the children, by their ids. A result that does not fit into a variable is marked as left out, and `luzia show`
/// has it.
fn results_of(got: &[Mail]) -> Value {
    let (mut results, mut left) = (serde_json::Map::new(), MOST_RESULTS_BYTES);
    for mail in got {
        let member = |name: &str| mail.data.get(name).cloned().unwrap_or(Value::Null);
        let status = member("childExecutionStatus");
        let whole = json!({ "status": status, "exit_code": member("exit_code"), "summary": member("result_summary"),
            "data": member("result_data") });
        let size = whole.to_string().len();
        let fits = size <= left;
        left -= if fits { size } else { 0 };
        let child = member("child").as_str().map_or_else(String::new, str::to_owned);
        results.insert(child, if fits { whole } else { json!({ "status": status, "left_out": true }) });
    }
    Value::Object(results)
}

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
