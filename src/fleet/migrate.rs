//! `store migrate` and `store status`: the tables of luzia in the database, and the state of its server.

use super::{Database, SCHEMA, errors, sql};
use crate::app::fleet::{Migration, StoreHealth, StoreState};
use crate::app::{AppError, Code};
use postgres::{Client, Error, GenericClient};

/// The statements that make the tables of this version.
pub(super) const SCRIPT: &str = include_str!("schema.sql");

/// The oldest server that has what the statements use: PostgreSQL 14.
const OLDEST_SERVER: i32 = 140_000;

/// Brings the tables to this version, all in one transaction. `dry_run` reads only.
pub(super) fn migrate(database: &Database, dry_run: bool) -> Result<Migration, AppError> {
    let mut client = database.connect()?;
    server_version(database, &mut client)?;
    let failed = |error: Error| errors::of(&error, &database.target);
    let mut change = client.transaction().map_err(failed)?;
    change.batch_execute(sql::MIGRATE_LOCK).map_err(failed)?;
    let from = found_version(&mut change).map_err(failed)?;
    if let Some(found) = from.filter(|found| *found != SCHEMA) {
        // Version 1 is the first one: no older tables exist.
        return Err(errors::other_version(&database.target, found));
    }
    let migration = Migration { from, to: SCHEMA };
    if migration.is_needed() && !dry_run {
        change.batch_execute(SCRIPT).map_err(failed)?;
        change.commit().map_err(failed)?;
    }
    Ok(migration)
}

/// Accepts the database as it is, in a new epoch.
pub(super) fn recover(database: &Database) -> Result<(), AppError> {
    database.with(|client| client.execute(sql::RECOVER, &[])).map(drop)
}

/// The state of the database.
pub(super) fn state(database: &Database) -> Result<StoreState, AppError> {
    let server = server_version(database, &mut database.connect()?)?;
    let row = database.with(|client| client.query_one(sql::STATE, &[]))?;
    let count = |at: usize| row.get::<_, i64>(at).unsigned_abs();
    let number = |at: usize| usize::try_from(count(at)).unwrap_or(usize::MAX);
    Ok(StoreState {
        server,
        schema: SCHEMA,
        hosts: number(0),
        living_hosts: number(1),
        queued: count(2),
        active: count(3),
        duty: row.get(4),
    })
}

/// The health of the server.
pub(super) fn health(database: &Database) -> Result<StoreHealth, AppError> {
    let is_synchronous = database.with(|client| client.query_one(sql::KEEPS, &[]))?.get(0);
    Ok(StoreHealth { is_synchronous, are_hints_heard: database.hears_itself()? })
}

/// The version of the server, which must be one that has all that the statements use.
fn server_version(database: &Database, client: &mut Client) -> Result<String, AppError> {
    let row = client.query_one(sql::SERVER, &[]).map_err(|error| errors::of(&error, &database.target))?;
    let (name, number): (String, i32) = (row.get(0), row.get(1));
    if number < OLDEST_SERVER {
        let message = format!("the server of the store {} is PostgreSQL {name}", database.target);
        return Err(AppError::new(Code::StoreSchema, message).hint("luzia needs PostgreSQL 14 or later"));
    }
    Ok(name)
}

/// The version of the tables; `None` without tables.
fn found_version(client: &mut impl GenericClient) -> Result<Option<i32>, Error> {
    if !client.query_one(sql::HAS_SCHEMA, &[])?.get::<_, bool>(0) {
        return Ok(None);
    }
    Ok(Some(client.query_one(sql::FOUND_VERSION, &[])?.get(0)))
}
