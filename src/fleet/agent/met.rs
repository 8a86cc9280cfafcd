//! The last that this host has seen of the database: one that has less is older than its hosts.

use crate::app::{App, AppError, Code};
use crate::fleet::tasks::word_of;
use crate::fleet::{Database, sql};
use crate::store::StoreSeen;

/// The last that this host has seen of the database.
#[derive(Default)]
pub(super) struct Met(StoreSeen);

impl Met {
    /// Refuses a database that is older than what this host has seen of it. What runs goes on as long as its lease allows.
    pub(super) fn meet(&mut self, app: &App, database: &Database) -> Result<(), AppError> {
        let seen = app.store.store_seen()?;
        let host = crc32fast::hash(database.name.as_bytes());
        let seen = if host == seen.host { seen } else { StoreSeen { host, beat: 0, ..seen } };
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (epoch, beat, task) = (seen.epoch.to_string(), number(seen.beat), number(seen.task));
        let row = database.with(|client| client.query_one(sql::MEET, &[&database.name, &epoch, &beat, &task]))?;
        if row.get(1) {
            let message = format!("the store {} is older than what this host has seen of it", database.target);
            return Err(AppError::new(Code::StoreOlder, message)
                .hint("it was restored, or has lost commits; luzia-fleet(7) says when `luzia store recover` is right")
                .next("luzia store status"));
        }
        let epoch = word_of(row.get(0));
        self.0 = if epoch == seen.epoch { seen } else { StoreSeen { epoch, beat: 0, ..seen } };
        Ok(())
    }

    /// Notes the beat that a renewal has made. False for one that an older database makes, which this host is to meet again.
    pub(super) fn beat(&mut self, app: &App, beat: i64) -> Result<bool, AppError> {
        let (beat, last) = (beat.unsigned_abs(), self.0.beat);
        // Repeated renewals must not lead an older database up to the last beat.
        self.saw(app, StoreSeen { beat: beat.max(last.saturating_add(1)), ..self.0 })?;
        Ok(beat > last)
    }

    /// Notes the number of a task.
    pub(super) fn number(&mut self, app: &App, number: u64) -> Result<(), AppError> {
        self.saw(app, StoreSeen { task: self.0.task.max(number), ..self.0 })
    }

    fn saw(&mut self, app: &App, seen: StoreSeen) -> Result<(), AppError> {
        if seen != self.0 {
            app.store.keep_store_seen(&seen)?;
            self.0 = seen;
        }
        Ok(())
    }
}
