//! `luzia finish`: a task states its own end.

use crate::app::steps::{not_running, start_of, unfinished};
use crate::app::{App, AppError, Code};
use crate::model::task::Finish;
use crate::model::{Status, TaskId};
use crate::policy::steps::names::MOST_VALUE_BYTES;
use crate::store::Event;
use serde_json::{Value, json};

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
            format!("{id} has said already that it is {}; nothing was changed", said.status),
        )
        .hint("the task is over when its command ends")
        .next(format!("luzia show {id}"))),
    }
}
