//! `luzia logs --steps`.

use super::{LogsArgs, since};
use crate::app::App;
use crate::app::look::course::{ActionLine, actions};
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::escape::escape_controls;
use crate::cli::output::json;
use crate::model::TaskId;
use serde_json::json;

/// Prints the actions of tasks, one task after another.
pub(super) fn print(ids: &[TaskId], args: &LogsArgs, app: &App, console: &mut Console) -> Answer {
    let since = args.since.as_deref().map(|text| since(text, console.now)).transpose()?;
    let is_wanted = |line: &ActionLine| {
        since.is_none_or(|since| line.at >= since)
            && args.grep.as_ref().is_none_or(|pattern| line.text().contains(pattern.as_str()))
    };
    let mut items = Vec::new();
    for id in ids {
        for line in actions(app, *id)?.into_iter().filter(is_wanted) {
            if console.is_json() {
                items.push(json!({ "task": id.to_string(), "at": json::time(line.at), "action": line.number,
                    "name": line.name, "state": line.word(), "text": line.text() }));
                continue;
            }
            let task = if ids.len() > 1 { format!("{id} | ") } else { String::new() };
            console.out(&format!("{task}{}\n", escape_controls(&line.text())))?;
        }
    }
    if console.is_json() {
        console.items("logs", items)?;
    }
    Ok(Exit::Done.code())
}
