//! The tasks that have ended while a dispatcher drains, including those that others started.

use crate::app::{App, AppError};
use crate::model::{Task, TaskId};
use crate::store::EventReader;
use std::collections::BTreeSet;

/// The tasks that were over already, or were reported.
pub(super) struct Ends {
    seen: BTreeSet<TaskId>,
    /// The first day whose finished tasks are looked through.
    first_day: String,
    events: EventReader,
}

impl Ends {
    /// From now on.
    pub(super) fn begin(app: &App) -> Result<Self, AppError> {
        let first_day = app.host.now().day();
        let events = app.store.follow_events()?;
        Ok(Self { seen: app.store.done_since(&first_day)?.into_iter().collect(), first_day, events })
    }

    /// Reports the tasks whose ends are in the events. An event may be lost; [`Ends::finish`] reports the rest.
    pub(super) fn look(&mut self, app: &App, tell: &mut dyn FnMut(&Task)) -> Result<(), AppError> {
        let mut events = Vec::new();
        app.store.read_on(&mut self.events, &mut |event| {
            events.push(event);
            true
        })?;
        for event in events {
            let word = |member: &str| event.line.get(member).and_then(serde_json::Value::as_str);
            if matches!(word("event"), Some("finished" | "cancelled"))
                && let Some(id) = word("task").and_then(TaskId::parse)
            {
                self.tell(id, app, tell)?;
            }
        }
        Ok(())
    }

    /// Reports every task that has ended since, by the records.
    pub(super) fn finish(mut self, app: &App, tell: &mut dyn FnMut(&Task)) -> Result<(), AppError> {
        self.look(app, tell)?;
        for id in app.store.done_since(&self.first_day)? {
            self.tell(id, app, tell)?;
        }
        Ok(())
    }

    fn tell(&mut self, id: TaskId, app: &App, tell: &mut dyn FnMut(&Task)) -> Result<(), AppError> {
        if self.seen.contains(&id) {
            return Ok(());
        }
        // A record that was pruned, or is damaged, has no end to report.
        let found = app.find(id).ok().flatten();
        if let Some((_, task)) = found.filter(|(_, task)| task.status().is_final()) {
            self.seen.insert(id);
            tell(&task);
        }
        Ok(())
    }
}
