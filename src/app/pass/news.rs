//! Reports of a daemon: every start, end and failure, whichever process supervises (`run`, `dispatch`, another daemon).

use crate::app::pass::daemon::Log;
use crate::app::{App, AppError};
use crate::policy::analytics::record::Record;
use crate::store::EventReader;

/// The kinds of events that are reported.
const TOLD: [&str; 6] = ["alert", "finished", "recovered", "requeued", "started", "withdrawn"];

/// The events that are written from now on.
pub(super) struct News(EventReader);

impl News {
    /// From now on.
    pub(super) fn begin(app: &App) -> Result<Self, AppError> {
        Ok(Self(app.store.follow_events()?))
    }

    /// Reports the events since the last call.
    pub(super) fn tell(&mut self, app: &App, log: &mut dyn Log) -> Result<(), AppError> {
        app.store.read_on(&mut self.0, &mut |event| {
            // Events are parsed for their names first: most are of other kinds.
            let Some(record) = Record::of(event.at, &event.line) else { return true };
            // A task with a finished step is queued again, too.
            let is_failure =
                record.kind != "requeued" || record.number("failures").is_some_and(|failures| failures > 0);
            if TOLD.contains(&record.kind.as_str()) && is_failure {
                log.news(&record);
            }
            true
        })?;
        Ok(())
    }
}
