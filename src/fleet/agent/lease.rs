//! The lease of a host in the database. Its renewal comes before all else that the agent does: between any two pieces of work the agent
//! looks whether it is due.

use super::met::Met;
use crate::app::granted::{end_lease, renew_lease, start_watcher};
use crate::app::{App, AppError, Code};
use crate::fleet::{Database, sql};
use crate::model::task::Word;
use crate::policy::lease::lasts_ms;

/// Longest time between two renewals of the lease, in milliseconds.
pub(in crate::fleet) const RENEW_MS: u64 = 10_000;

/// The session of a host that has joined.
#[derive(Clone, Copy)]
pub(in crate::fleet) struct Session {
    pub host: i32,
    pub word: Word,
}

/// The lease of this host.
pub(super) struct Lease<'a> {
    pub database: &'a Database,
    pub length_ms: u64,
    pub word: Option<Word>,
    pub session: Option<Session>,
    /// The boot clock before the last renewal was sent.
    pub renewed_ms: u64,
    /// Whether the database did not answer the last renewal.
    has_failed: bool,
    /// The last that this host has seen of the database.
    pub met: Met,
    /// Number of further tasks of which the database knows.
    pub free: Option<u32>,
    /// Whether the database was told of a start or an end since the last renewal.
    pub is_behind: bool,
    /// A renewal that came too late for tasks, until it is told.
    late: Option<AppError>,
}

impl<'a> Lease<'a> {
    pub(super) fn new(database: &'a Database, length_ms: u64) -> Self {
        let (met, word, session, free, late) = (Met::default(), None, None, None, None);
        Self { database, length_ms, word, session, renewed_ms: 0, has_failed: false, met, free, is_behind: false, late }
    }

    /// Time between two renewals, in milliseconds.
    pub(super) fn pause_ms(&self) -> u64 {
        RENEW_MS.min(self.length_ms / 6)
    }

    /// Time until a renewal is due, in milliseconds.
    pub(super) fn rest_ms(&self, app: &App) -> u64 {
        self.pause_ms().saturating_sub(app.host.boot_ms().saturating_sub(self.renewed_ms))
    }

    /// Whether a renewal is due.
    pub(super) fn is_due(&self, app: &App) -> bool {
        self.rest_ms(app) == 0
    }

    /// Renews the lease between two pieces of work, if that is due. After a failure only a round of the agent tries again, because what
    /// this host does itself waits for no database.
    pub(super) fn keep(&mut self, app: &App, free: impl FnOnce() -> Result<u32, AppError>) -> Result<(), AppError> {
        match self.session {
            Some(session) if !self.has_failed && self.is_due(app) => self.renew(app, session, free()?),
            _ => Ok(()),
        }
    }

    /// Renews the lease. A refused renewal ends it now: the supervisors kill their granted tasks at once.
    pub(super) fn renew(&mut self, app: &App, session: Session, free: u32) -> Result<(), AppError> {
        let sent_ms = app.host.boot_ms();
        self.has_failed = true;
        let (word, room) = (session.word.to_string(), i32::try_from(free).unwrap_or(i32::MAX));
        let row = self.database.with(|client| client.query_opt(sql::RENEW, &[&session.host, &word, &room]))?;
        (self.has_failed, self.is_behind) = (false, false);
        let Some(row) = row else {
            (self.session, self.word, self.free) = (None, None, None);
            // An older database has forgotten the session, which refuses nothing.
            self.met.meet(app, self.database)?;
            return end_lease(app, session.word);
        };
        if !self.met.beat(app, row.get(0))? {
            self.session = None;
            return self.met.meet(app, self.database);
        }
        renew_lease(app, session.word, sent_ms, self.length_ms)?;
        self.note_late(sent_ms, app.host.boot_ms());
        if self.free.is_none_or(|before| before < free) {
            self.database.hint(&[]);
        }
        (self.renewed_ms, self.free) = (sent_ms, Some(free));
        start_watcher(app)
    }

    /// Notes a renewal that came when tasks had been told to end.
    fn note_late(&mut self, sent_ms: u64, now_ms: u64) {
        let (after_ms, most_ms) = (now_ms.saturating_sub(self.renewed_ms), lasts_ms(self.length_ms));
        if after_ms >= most_ms {
            let answer_ms = now_ms.saturating_sub(sent_ms);
            let message = format!(
                "the lease of this host was renewed {after_ms} ms after the last time, of which the database took {answer_ms} ms; \
                 tasks end after {most_ms} ms without a renewal"
            );
            let hint = "tasks that have ended for this are interrupted; a longer lease (`luzia daemon --lease`) outlasts a busy host";
            self.late = Some(AppError::new(Code::LeaseLate, message).hint(hint));
        }
    }

    /// The renewal that came too late, once.
    pub(super) fn take_late(&mut self) -> Option<AppError> {
        self.late.take()
    }
}
