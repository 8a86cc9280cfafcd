//! Damaged files that were set aside: the former kind of each, and the remedy. Finished work is never queued again.

use crate::app::doctor::{Finding, Found};
use crate::app::{App, AppError};
use crate::model::TaskId;

pub(super) fn set_aside(app: &App) -> Found {
    let tell = |path: &String| {
        let (message, hint) = (format!("\"{path}\" is damaged and was set aside"), aside_hint(app, path)?);
        let hint = format!("{hint}; then move the file away");
        Ok(match is_lost(app, path)? {
            true => Finding::problem(message, hint),
            false => Finding::warn(message, hint),
        })
    };
    app.store.set_aside_records()?.iter().map(tell).collect()
}

/// Whether a file that was set aside is a task that was accepted and has not come to its end.
fn is_lost(app: &App, path: &str) -> Result<bool, AppError> {
    match Aside::of(path) {
        Aside::Queued(id) | Aside::Started(id) => Ok(app.store.find(id)?.is_none()),
        Aside::Over | Aside::Memory(_) => Ok(false),
        Aside::Other => Ok(true),
    }
}

/// The remedy for a file that was set aside.
pub(crate) fn aside_hint(app: &App, path: &str) -> Result<String, AppError> {
    Ok(match Aside::of(path) {
        Aside::Queued(id) | Aside::Started(id) if app.store.find(id)?.is_some() => {
            format!("another record of {id} stands, and nothing is to be queued again: luzia show {id}")
        }
        Aside::Queued(_) => "it was accepted and will not run: read it, and queue the work again".to_owned(),
        Aside::Started(id) => {
            format!("{id} had started: read the record, see how far its command came, and queue only what is missing")
        }
        Aside::Over => "the task was over: nothing is to be queued again".to_owned(),
        Aside::Memory(id) => {
            format!("what {id} remembers is that of before the damage; nothing is to be queued again: luzia show {id}")
        }
        Aside::Other => "read it".to_owned(),
    })
}

/// The former kind of a file that was set aside, by its name: that of its old path, with `_` between the folders.
enum Aside {
    Queued(TaskId),
    Started(TaskId),
    Over,
    /// The memory of a task.
    Memory(TaskId),
    Other,
}

impl Aside {
    fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let number = |text: &str| text.parse().ok().map(TaskId);
        let id = name.rsplit_once(".json").and_then(|(record, _)| number(record.rsplit('_').next()?));
        let kind = name.strip_prefix("spool_").and_then(|rest| rest.split('_').next());
        match (kind, id) {
            (Some("steps"), _) => {
                let id = name.strip_prefix("spool_steps_").and_then(|rest| number(rest.split('_').next()?));
                id.map_or(Self::Other, Self::Memory)
            }
            (Some("pending" | "parked"), Some(id)) => Self::Queued(id),
            (Some("running" | "waiting"), Some(id)) => Self::Started(id),
            (Some("done"), _) => Self::Over,
            _ => Self::Other,
        }
    }
}
