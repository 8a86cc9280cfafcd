//! Hosts in the database as places of tasks: draining, and tasks that a host gives back because it cannot start them.

use super::agent::lease::Session;
use super::tasks::number_of;
use super::{Database, Given, sql};
use crate::app::AppError;
use crate::app::fleet::places::FleetPlaces;
use crate::model::TaskId;
use crate::model::task::Word;

/// Time after which hosts that have declined a task are asked again, once all have, in milliseconds.
const AGAIN_MS: i64 = 30_000;

impl FleetPlaces for Database {
    fn host_of(&self, id: TaskId) -> Result<Option<String>, AppError> {
        Ok(self.with(|client| client.query_one(sql::HOST_OF, &[&number_of(id)]))?.get(0))
    }

    fn drain(&self, host: &str, is_draining: bool) -> Result<Option<bool>, AppError> {
        Ok(self.with(|client| client.query_opt(sql::DRAIN, &[&host, &is_draining]))?.map(|row| row.get(0)))
    }
}

/// Gives back a task that this host cannot start. No attempt is spent. `None` for a task whose end was asked for.
pub(super) fn decline(
    database: &Database,
    session: Session,
    id: TaskId,
    token: Word,
) -> Result<Option<bool>, AppError> {
    let (word, token, id) = (session.word.to_string(), token.to_string(), number_of(id));
    let given = [&session.host as &Given, &word, &id, &token, &AGAIN_MS];
    Ok(database.with(|client| client.query_one(sql::DECLINE, &given))?.get(0))
}
