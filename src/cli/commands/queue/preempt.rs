//! `--preempt` of `enqueue` and `run`: whose work is asked about before it makes room.

use crate::app::pass::preempt::Room;
use crate::app::queue::enqueue::{Accepted, Caller, NewTask};
use crate::app::{App, AppError};
use crate::cli::args::PreemptOptions;
use crate::cli::input::{Consent, consent};
use crate::cli::task_request;

/// Accepts a request, and with `--preempt` makes room for it.
pub fn accept(
    app: &App,
    (new, options): (&NewTask, &PreemptOptions),
    caller: &Caller,
    consents: &Consent,
) -> Result<Accepted, AppError> {
    let Some(how) = options.preempt else { return app.enqueue(new, caller) };
    let grace_ms = task_request::duration("preempt-grace", options.preempt_grace.as_deref())?;
    let asked = app.room_question(new, caller, how)?;
    let is_asked = asked.is_some();
    consent(consents.ask, asked, "luzia status")?;
    app.enqueue_preempting(new, caller, Room { how, grace_ms, others: is_asked || consents.yes })
}
