//! Leases of a store. A task of a host keeps the lanes of a lease; a variable of that task says how long. It changes under the lock of
//! the variables, so a lease that was extended is not over, and one that is over is not extended.

use crate::app::{App, AppError};
use crate::model::TaskId;
use serde_json::{Value, json};

/// The variable with the term of a lease. It is absent until the caller of `acquire` knows that it has the lease.
const LEASE: &str = "lease";

/// The term of a lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// The moment of the boot clock at which it ends, in milliseconds; 0 once it is over.
    pub end_ms: u64,
    /// Its time to live, in milliseconds.
    pub ttl_ms: u64,
}

impl Term {
    fn of(value: &Value) -> Option<Self> {
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        Some(Self { end_ms: number("end_ms")?, ttl_ms: number("ttl_ms")? })
    }

    fn is_over(self, app: &App) -> bool {
        self.end_ms <= app.host.boot_ms()
    }
}

/// Changes the term of the lease that a task keeps; returns the term after it.
fn change(app: &App, id: TaskId, new: impl FnOnce(Option<Term>) -> Option<Term>) -> Result<Option<Term>, AppError> {
    let read = app.store.change_vars::<AppError>(id, |vars| {
        if let Some(Term { end_ms, ttl_ms }) = new(vars.get(LEASE).and_then(Term::of)) {
            vars.insert(LEASE.to_owned(), json!({ "end_ms": end_ms, "ttl_ms": ttl_ms }));
        }
        Ok(())
    })?;
    Ok(read.value.get(LEASE).and_then(Term::of))
}

fn from_now(app: &App, ttl_ms: u64) -> Term {
    Term { end_ms: app.host.boot_ms().saturating_add(ttl_ms), ttl_ms }
}

/// Begins the term of a lease.
pub(crate) fn begin(app: &App, id: TaskId, ttl_ms: u64) -> Result<(), AppError> {
    change(app, id, |_| Some(from_now(app, ttl_ms))).map(drop)
}

/// Extends a lease that a task of this host keeps, by its own time to live or another one. `None` if it is over.
pub(crate) fn extend(app: &App, id: TaskId, ttl_ms: Option<u64>) -> Result<Option<Term>, AppError> {
    let extended = change(app, id, |term| {
        let term = term.filter(|term| !term.is_over(app))?;
        Some(from_now(app, ttl_ms.unwrap_or(term.ttl_ms)))
    })?;
    let lives = app.run_dir.is_tree_locked(id)?;
    Ok(extended.filter(|term| lives && !term.is_over(app)))
}

/// Ends the lease that a task of this host keeps.
pub(crate) fn finish(app: &App, id: TaskId) -> Result<(), AppError> {
    change(app, id, |term| Some(Term { end_ms: 0, ..term? })).map(drop)
}

/// Extends the lease that a task keeps, if it keeps one, once less than half of it is left.
pub(crate) fn extend_in_time(app: &App, id: TaskId) -> Result<(), AppError> {
    let Some(term) = app.store.vars(id)?.value.get(LEASE).and_then(Term::of) else { return Ok(()) };
    let left_ms = term.end_ms.saturating_sub(app.host.boot_ms());
    if left_ms < term.ttl_ms / 2 {
        extend(app, id, None)?;
    }
    Ok(())
}

/// The term of a lease; `None` if none has begun. One that has run out is over from now on.
pub(crate) fn term(app: &App, id: TaskId) -> Result<Option<Term>, AppError> {
    change(app, id, |term| Some(Term { end_ms: 0, ..term.filter(|term| term.is_over(app))? }))
}
