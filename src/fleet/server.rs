//! The connection to the database: one for each process that needs it, made with the first statement.

use super::tasks::word_of;
use super::{Given, SCHEMA, Target, errors, sql};
use crate::app::{AppError, Code};
use crate::model::task::Word;
use crate::os::Host;
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Error, Row, Statement};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

/// The pauses before a lost connection or a refused transaction is tried again.
const PAUSES_MS: [u64; 4] = [20, 100, 400, 1500];

/// The longest time for which a verb that waits asks a server that is away again, in milliseconds. A restart takes less.
pub(super) const PATIENCE_MS: u64 = 10_000;
/// The pause before a server that is away is asked again, in milliseconds.
const AWAY_MS: u64 = 200;

/// The longest time in which a listener that hears nothing does not look around.
const QUIET: Duration = Duration::from_secs(1);

/// The database of several hosts, as one process uses it.
pub struct Database {
    pub(super) target: Target,
    pub(super) host: Host,
    /// The name of this host in the store.
    pub(super) name: String,
    /// The program of this process.
    pub(super) program: String,
    connection: RefCell<Option<Connection>>,
    /// The time for which a server that is away is asked again, in milliseconds.
    pub(super) patience_ms: Cell<u64>,
}

/// A connection with the statements that it has prepared: from its second use on, a statement is one round trip.
pub(super) struct Connection {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
}

impl Connection {
    pub(super) fn query(&mut self, sql: &'static str, given: &[&Given]) -> Result<Vec<Row>, Error> {
        self.run(sql, |client, statement| client.query(statement, given))
    }

    pub(super) fn query_one(&mut self, sql: &'static str, given: &[&Given]) -> Result<Row, Error> {
        self.run(sql, |client, statement| client.query_one(statement, given))
    }

    pub(super) fn query_opt(&mut self, sql: &'static str, given: &[&Given]) -> Result<Option<Row>, Error> {
        self.run(sql, |client, statement| client.query_opt(statement, given))
    }

    /// Calls `act` with each row as it comes.
    pub(super) fn each(&mut self, sql: &'static str, given: &[&Given], act: &mut dyn FnMut(&Row)) -> Result<(), Error> {
        self.run(sql, |client, statement| {
            let mut rows = client.query_raw(statement, given.iter().copied())?;
            while let Some(row) = rows.next()? {
                act(&row);
            }
            Ok(())
        })
    }

    pub(super) fn execute(&mut self, sql: &'static str, given: &[&Given]) -> Result<u64, Error> {
        self.run(sql, |client, statement| client.execute(statement, given))
    }

    pub(super) fn batch_execute(&mut self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql)
    }

    fn run<T>(
        &mut self,
        sql: &'static str,
        act: impl FnOnce(&mut Client, &Statement) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let known = self.prepared.get(sql).cloned();
        let statement = known.map_or_else(|| self.client.prepare(sql), Ok)?;
        let done = act(&mut self.client, &statement);
        // After an error it is prepared anew: a restored database may have another function of that name.
        match done.is_ok() {
            true => drop(self.prepared.insert(sql, statement)),
            false => drop(self.prepared.remove(sql)),
        }
        done
    }
}

impl Database {
    /// The database of a target. Connects with the first statement.
    pub fn new(target: Target, host: Host, name: String, program: String) -> Self {
        Self { target, host, name, program, connection: RefCell::default(), patience_ms: Cell::default() }
    }

    /// Makes a connection, whatever is in the database.
    pub(super) fn connect(&self) -> Result<Client, AppError> {
        self.target.connect()
    }

    /// Does something with the connection. After a lost reply it is done again over a new connection, so it must change nothing
    /// when it is repeated: each change names a request, a session or a token.
    pub(super) fn with<T>(&self, act: impl FnMut(&mut Connection) -> Result<T, Error>) -> Result<T, AppError> {
        self.ask(act)?.map_err(|error| self.refused(&error))
    }

    /// As [`Self::with`], with the refusal of the server as it came.
    pub(super) fn ask<T>(
        &self,
        mut act: impl FnMut(&mut Connection) -> Result<T, Error>,
    ) -> Result<Result<T, Error>, AppError> {
        let (begin_ms, mut pauses) = (self.host.boot_ms(), PAUSES_MS.into_iter());
        let is_patient = || self.host.boot_ms().saturating_sub(begin_ms) < self.patience_ms.get();
        loop {
            let pause_ms = match self.once(&mut act) {
                Ok(Err(error)) if errors::is_passing(&error) => {
                    *self.connection.borrow_mut() = None;
                    match pauses.next() {
                        Some(pause_ms) => pause_ms,
                        None => return Ok(Err(error)),
                    }
                }
                Err(error) if error.code() == Code::StoreAway && is_patient() => AWAY_MS,
                done => return done,
            };
            self.host.sleep(Duration::from_millis(pause_ms));
        }
    }

    /// The error of a refusal.
    pub(super) fn refused(&self, error: &Error) -> AppError {
        errors::of(error, &self.target)
    }

    fn once<T>(&self, act: &mut impl FnMut(&mut Connection) -> Result<T, Error>) -> Result<Result<T, Error>, AppError> {
        let mut connection = self.connection.borrow_mut();
        if connection.is_none() {
            // Only a verb that waits asks a server that is away again: what runs needs no verb.
            let mut new = Connection { client: self.target.connect()?, prepared: HashMap::new() };
            match new.query_one(sql::VERSION, &[]) {
                Ok(row) if row.get::<_, i32>(0) == SCHEMA => *connection = Some(new),
                Ok(row) => return Err(errors::other_version(&self.target, row.get(0))),
                Err(error) => return Err(self.refused(&error)),
            }
        }
        match connection.as_mut() {
            Some(connection) => Ok(act(connection)),
            None => Err(errors::absent(&self.target)),
        }
    }

    /// Tells the agents of some hosts that there is something for them; of none, the agent with the duty. A hint that is lost costs a
    /// second.
    pub(super) fn hint(&self, hosts: &[i32]) {
        if let Some(connection) = self.connection.borrow_mut().as_mut() {
            let _ = connection.execute(sql::HINT, &[&hosts]);
        }
    }

    /// Calls `heard` after each hint for a host, and else once a second with false. Ends when that says so, or with the connection.
    pub(super) fn listen(&self, host: i32, heard: &mut dyn FnMut(bool) -> bool) -> Result<(), AppError> {
        let mut client = self.connect()?;
        let failed = |error: Error| self.refused(&error);
        client.batch_execute(sql::LISTEN).map_err(failed)?;
        // Nobody told of changes before this moment.
        let mut goes_on = heard(true);
        while goes_on {
            let is_hint = hinted(&mut client, host).map_err(failed)?;
            goes_on = heard(is_hint) && !client.is_closed();
        }
        Ok(())
    }

    /// Whether a hint arrives. No host has the number that it names.
    pub(super) fn hears_itself(&self) -> Result<bool, AppError> {
        let mut client = self.connect()?;
        let failed = |error: Error| self.refused(&error);
        client.batch_execute(sql::LISTEN).map_err(failed)?;
        self.hint(&[-1]);
        let heard = client.notifications().timeout_iter(QUIET).next().map_err(failed)?;
        Ok(heard.is_some())
    }

    /// A random word, which the server draws.
    pub(super) fn word(&self) -> Result<Word, AppError> {
        Ok(word_of(self.with(|client| client.query_one(sql::WORD, &[]))?.get(0)))
    }
}

/// Waits for a hint, a second at most; whether one is for a host. Several hints are one.
fn hinted(client: &mut Client, host: i32) -> Result<bool, Error> {
    let mut hints = client.notifications();
    let Some(first) = hints.timeout_iter(QUIET).next()? else { return Ok(false) };
    let mut is_meant = is_for(first.payload(), host);
    while let Some(next) = hints.iter().next()? {
        is_meant |= is_for(next.payload(), host);
    }
    Ok(is_meant)
}

/// Whether a hint is for a host. One that names none is for all.
fn is_for(payload: &str, host: i32) -> bool {
    payload.is_empty() || payload.split(',').any(|word| word.parse() == Ok(host))
}

#[cfg(test)]
mod tests {
    use super::is_for;

    #[test]
    fn a_hint_is_for_the_hosts_that_it_names_or_for_all() {
        assert_eq!(
            ["", "7", "3,7", "17", "3", "x"].map(|payload| is_for(payload, 7)),
            [true, true, true, false, false, false]
        );
    }
}
