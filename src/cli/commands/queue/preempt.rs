//! `--preempt` of `enqueue` and `run`: asks before the work of another caller makes room.

use crate::app::lifecycle::Accepted;
use crate::app::queue::enqueue::{Caller, enqueue};
use crate::app::queue::preempt::{Room, enqueue_preempting, room_question};
use crate::app::queue::terms::moments;
use crate::app::{App, AppError};
use crate::cli::args::PreemptOptions;
use crate::cli::input::{Consent, consent};
use crate::request::TaskRequest;

/// Accepts a request, and with `--preempt` makes room for it.
pub fn accept(
    app: &App,
    (new, options): (&TaskRequest, &PreemptOptions),
    caller: &Caller,
    consents: &Consent,
) -> Result<Accepted, AppError> {
    let Some(how) = options.preempt else { return enqueue(app, new, caller) };
    let grace_ms = moments::duration("preempt-grace", options.preempt_grace.as_deref())?;
    let asked = room_question(app, new, caller, how)?;
    let is_asked = asked.is_some();
    consent(consents.ask, asked, "luzia status")?;
    enqueue_preempting(app, new, caller, Room { how, grace_ms, others: is_asked || consents.yes })
}
