//! `set`, `get`, `beat` and `finish`: the variables of a task, its signs of progress, and the end that it states itself.

use crate::app::steps::{not_running, start_of, unfinished};
use crate::app::{App, AppError, Code};
use crate::model::name::shortened;
use crate::model::task::Finish;
use crate::model::{Status, TaskId};
use crate::policy::steps::names::{MOST_BYTES, MOST_NAME_BYTES, MOST_NOTE_BYTES, MOST_VALUE_BYTES, is_var_name};
use crate::store::{Beat, Document, Event, Vars, var_text};
use serde_json::{Value, json};

/// Reads `K=V` arguments. With `as_json` a value must be valid JSON.
pub fn assignments(words: &[String], as_json: bool) -> Result<Vec<(String, Value)>, AppError> {
    words.iter().map(|word| assignment(word, as_json)).collect()
}

fn assignment(word: &str, as_json: bool) -> Result<(String, Value), AppError> {
    let Some((name, text)) = word.split_once('=') else {
        return Err(AppError::usage(format!("\"{}\" is not NAME=VALUE; nothing was changed", shortened(word)))
            .hint("name and value are one word: luzia set page=3"));
    };
    var_name(name)?;
    let value = if as_json {
        serde_json::from_str(text).map_err(|error| {
            AppError::usage(format!("the value of \"{name}\" is not JSON: {error}; nothing was changed"))
                .hint("a JSON string has quotes: 'name=\"text\"'; without --json-value every value is a string")
        })?
    } else {
        Value::String(text.to_owned())
    };
    let text = var_text(&value);
    if text.len() > MOST_VALUE_BYTES {
        return Err(AppError::usage(format!(
            "the value of \"{name}\" has {} bytes, and {MOST_VALUE_BYTES} are the most; nothing was changed",
            text.len()
        ))
        .hint("keep large values in a file, and its path in the variable"));
    }
    if text.contains('\0') {
        return Err(AppError::usage(format!("the value of \"{name}\" holds a NUL byte; nothing was changed"))
            .hint("an environment variable cannot hold one"));
    }
    Ok((name.to_owned(), value))
}

/// Refuses a text that cannot be the name of a variable.
pub fn var_name(name: &str) -> Result<(), AppError> {
    if is_var_name(name) {
        return Ok(());
    }
    Err(AppError::usage(format!("\"{}\" is not the name of a variable; nothing was changed", shortened(name))).hint(format!(
        "a letter or _, then letters, digits and _, {MOST_NAME_BYTES} at most; the command finds it as LUZIA_VAR_<name>"
    )))
}

/// Sets variables of a task, all or none, and removes others.
pub fn set_vars(app: &App, id: TaskId, new: &[(String, Value)], gone: &[String]) -> Result<Document<Vars>, AppError> {
    let task = unfinished(app, id)?;
    fits(&new.iter().cloned().collect(), 0)?;
    let read = app.store.change_vars(id, |vars| {
        // The task may have ended while this process waited for the lock.
        unfinished(app, id)?;
        let before = size_of(vars);
        for name in gone {
            vars.remove(name);
        }
        vars.extend(new.iter().cloned());
        fits(vars, before)
    })?;
    let names: Vec<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
    app.store.note(&Event::of("vars_set", &task).with(json!({ "set": names, "unset": gone })));
    Ok(read)
}

/// The variables of a task.
pub fn vars_of(app: &App, id: TaskId) -> Result<Document<Vars>, AppError> {
    app.store.vars(id).map_err(|error| damaged(id, error))
}

fn damaged(id: TaskId, error: crate::store::StoreError) -> AppError {
    match error {
        crate::store::StoreError::Corrupt { thing, why } => AppError::new(
            Code::VarsCorrupt,
            format!("the variables of {id} cannot be read, nor can those before the last change: \"{thing}\": {why}"),
        )
        .hint(format!("`luzia set --task {id} NAME=VALUE` sets the damaged file aside and begins without variables")),
        other => other.into(),
    }
}

/// One variable of a task.
pub fn var_of(app: &App, id: TaskId, name: &str) -> Result<(Value, Option<String>), AppError> {
    let Document { value: mut vars, damage } = vars_of(app, id)?;
    let value = vars.remove(name).ok_or_else(|| {
        AppError::new(Code::NoVariable, format!("{id} has no variable \"{name}\""))
            .next(format!("luzia get --task {id}"))
    })?;
    Ok((value, damage))
}

/// Notes that a task makes progress.
pub fn beat(app: &App, id: TaskId, note: Option<String>) -> Result<Beat, AppError> {
    unfinished(app, id)?;
    if let Some(note) = note.as_deref().filter(|note| note.len() > MOST_NOTE_BYTES) {
        return Err(AppError::usage(format!(
            "the note has {} bytes, and {MOST_NOTE_BYTES} are the most; nothing was changed",
            note.len()
        )));
    }
    Ok(app.store.note_beat(id, note)?)
}

/// The bytes of names and values, but for values that only an event can bring: those come by files.
fn size_of(vars: &Vars) -> usize {
    let sizes = vars.iter().map(|(name, value)| (name.len(), var_text(value).len()));
    sizes.filter(|(_, value)| *value <= MOST_VALUE_BYTES).map(|(name, value)| name + value).sum()
}

/// Refuses variables that exceed the room in the environment of a command, unless they become less than they were.
fn fits(vars: &Vars, before: usize) -> Result<(), AppError> {
    let bytes = size_of(vars);
    if bytes <= MOST_BYTES || bytes < before {
        return Ok(());
    }
    Err(AppError::usage(format!(
        "all variables together would have {bytes} bytes, and {MOST_BYTES} are the most; nothing was changed"
    ))
    .hint("keep large values in a file, and its path in the variable"))
}

/// Reads the end that a task states.
pub fn finish_of(status: Status, summary: Option<&str>, data: Option<&str>) -> Result<Finish, AppError> {
    let size = |text: Option<&str>| text.map_or(0, str::len);
    for (option, given) in [("summary", summary), ("data", data)] {
        if size(given) > MOST_VALUE_BYTES {
            let message = format!(
                "--{option} has {} bytes, and {MOST_VALUE_BYTES} are the most; nothing was changed",
                size(given)
            );
            return Err(AppError::usage(message).hint("keep large results in a file, and its path in the data"));
        }
    }
    if let Some(text) = data
        && let Err(error) = serde_json::from_str::<Value>(text)
    {
        return Err(AppError::usage(format!("--data is not JSON: {error}; nothing was changed"))
            .hint("such as --data '{\"pages\": 3}'"));
    }
    Ok(Finish { status, summary: summary.map(str::to_owned), data: data.map(str::to_owned) })
}

/// Records the end that a task with a running command states. An earlier statement stays in force.
pub fn finish(app: &App, id: TaskId, finish: &Finish) -> Result<(), AppError> {
    let task = unfinished(app, id)?;
    const UNDONE: &str = "nothing was changed";
    let start = start_of(app, &task, UNDONE)?;
    let check = || {
        // The task may have ended while this process waited for the lock.
        let now = start_of(app, &unfinished(app, id)?, UNDONE)?;
        if now == start { Ok(()) } else { Err(not_running(id, UNDONE)) }
    };
    match app.store.record_finish(id, start, finish, check)? {
        None => {
            let data = json!({ "status": finish.status.word(), "summary": finish.summary });
            app.store.note(&Event::of("finish_said", &task).with(data));
            Ok(())
        }
        Some(said) if said == *finish => Ok(()),
        Some(said) => Err(AppError::new(
            Code::FinishSaid,
            format!("{id} has already recorded its end as {}; nothing was changed", said.status),
        )
        .hint("the task is over when its command ends")
        .next(format!("luzia show {id}"))),
    }
}
