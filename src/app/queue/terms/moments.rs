//! Durations and moments of a request: when a task is due, and by when it must have started.

use crate::app::cron::local_zone;
use crate::app::{App, AppError};
use crate::model::Timestamp;
use crate::model::calendar::{SpokenError, Zone, past, spoken, spoken_duration};
use crate::model::control::TaskHold;
use crate::model::task::DueBoot;
use crate::model::time::{format_duration, parse_duration};
use crate::request::TaskRequest;

/// Reads the duration of an option, in milliseconds.
pub fn duration(option: &str, text: Option<&str>) -> Result<Option<u64>, AppError> {
    text.map(|text| parse_duration(text).map_err(|error| AppError::usage(format!("--{option}: {error}")))).transpose()
}

pub(crate) fn positive(option: &str, text: Option<&str>) -> Result<Option<u64>, AppError> {
    match duration(option, text)? {
        Some(0) => Err(AppError::usage(format!("--{option} must be longer than 0"))),
        other => Ok(other),
    }
}

pub(crate) fn plus(at: Timestamp, ms: u64) -> Timestamp {
    at.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX))
}

/// The moment at which a task is due: `--in` or `--at`.
pub(crate) fn due_of(app: &App, new: &TaskRequest, now: Timestamp) -> Result<Option<Timestamp>, AppError> {
    if new.delay.is_some() && new.at.is_some() {
        return Err(AppError::usage("a task is due \"in\" a time or \"at\" a time, not both"));
    }
    if let Some(text) = new.delay.as_deref() {
        let ms = spoken_duration(text).map_or_else(|| duration("in", Some(text)), |ms| Ok(Some(ms)))?;
        return Ok(ms.map(|ms| plus(now, ms)));
    }
    moment(app, new.at.as_deref(), now)
}

/// The end of a delay (`--in`) by the boot clock; `None` for another time.
pub(crate) fn due_by_boot_clock(app: &App, new: &TaskRequest) -> Result<Option<DueBoot>, AppError> {
    let due = due_of(app, new, app.host.now())?.filter(|_| new.delay.is_some());
    Ok(due.map(|at| app.host.by_boot_clock(at)))
}

/// Reads a moment as people say it, by the clock of this host.
pub fn moment(app: &App, text: Option<&str>, now: Timestamp) -> Result<Option<Timestamp>, AppError> {
    let Some(text) = text else { return Ok(None) };
    // A moment that names its zone needs no zone of this host.
    if let Some(at) = Timestamp::parse(text) {
        return Ok(Some(at));
    }
    let zone = local_zone(app);
    spoken(text, now, &zone).map(Some).map_err(|error| match error {
        SpokenError::Unread(_) => AppError::usage(error.to_string()).hint(format!(
            "write \"8:00\", \"tomorrow\", \"tomorrow 8:00\", \"fri 18:30\", \"2026-12-24 18:00\", or a time with its zone, as \
                 2026-12-24T18:00:00+01:00; the zone here is {}",
            zone.name()
        )),
        SpokenError::Passed(_) => {
            let here = zone.text(now);
            AppError::usage(error.to_string()).hint(format!("it is {here}; write \"tomorrow\" for the next one"))
        }
    })
}

/// Reads a past moment, for `--since` and `--until`, by the clock of this host.
pub fn past_moment(app: &App, option: &str, text: Option<&str>) -> Result<Option<Timestamp>, AppError> {
    let Some(text) = text else { return Ok(None) };
    past(text, app.host.now(), &local_zone(app)).map(Some).map_err(|error| {
        AppError::usage(format!("--{option}: {error}")).hint(
            "write \"2h\", \"yesterday\", \"today 8:00\", \"8:00\", \"2026-11-20\", or a time with its zone, as \
                 2026-11-20T18:00:00+01:00",
        )
    })
}

/// A moment for people: with its zone, and the time until then.
pub fn said(app: &App, at: Timestamp, zone: &Zone) -> String {
    let text = zone.text(at);
    match u64::try_from(at.ms_since(app.host.now())) {
        Ok(ms) if ms > 0 => format!("{text}, in {}", format_duration(ms)),
        _ => text,
    }
}

/// The hold of `enqueue --hold`. The time of `--start-within` begins when it ends.
pub(crate) fn held_from_now(now: Timestamp, start_within_ms: Option<u64>) -> TaskHold {
    TaskHold { since: now, until: None, reason: None, by: None, start_left_ms: start_within_ms }
}
