//! The schedules: whether each is valid, and whether a process will look at its next slot.

use crate::app::cron::local_zone;
use crate::app::doctor::{Finding, Found};
use crate::app::{App, AppError};
use crate::model::calendar::{Schedule, Zone};
use crate::model::{ScheduleKey, Timer, Timestamp};
use crate::store::StoreError;

/// Time for which the slot of a schedule may be due before that is reported, in milliseconds: an hour.
const LATE_MS: i64 = 3_600_000;

/// Period over which the databases of time zones are compared, in milliseconds: two years.
const ZONES_AHEAD_MS: i64 = 2 * 365 * 86_400_000;

pub(super) fn schedules(app: &App) -> Found {
    let (mut found, now) = (Vec::new(), app.host.now());
    for schedule in app.store.schedules()? {
        match schedule {
            Ok(schedule) => found.extend(late(&schedule, now)),
            Err(error @ StoreError::Corrupt { .. }) => {
                let hint = "its slots make no tasks; luzia sets it aside at the next one; add it again";
                found.push(Finding::problem(error.to_string(), hint));
            }
            Err(error) => found.push(Finding::error(&error.into())),
        }
    }
    for (schedule, at) in untimed(app)? {
        let message = format!("nothing looks at the slot {at} of the schedule \"{}\"", schedule.name);
        found.push(Finding::problem(message, "luzia doctor --fix sets its timer again"));
    }
    Ok(found)
}

/// The zones of schedules and of this host whose rules differ between the host's database and luzia's own. Other hosts, and
/// sandboxes without the database, read a time in such a zone in another way.
pub(super) fn zones(app: &App) -> Found {
    let now = app.host.now();
    let mut zones = vec![local_zone(app)];
    zones.extend(app.store.schedules()?.into_iter().flatten().filter_map(|schedule| Zone::parse(&schedule.zone).ok()));
    zones.sort_by(|a, b| a.name().cmp(b.name()));
    zones.dedup_by(|a, b| a.name() == b.name());
    let differs = |zone: &Zone| {
        let at = zone.differs_at(now, now.plus_ms(ZONES_AHEAD_MS))?;
        let message = format!("the host's time zone database and luzia's own differ for {} from {at} on", zone.name());
        Some(Finding::warn(message, "luzia goes by the host's; bring tzdata or luzia up to date"))
    };
    Ok(zones.iter().filter_map(differs).collect())
}

fn late(schedule: &Schedule, now: Timestamp) -> Option<Finding> {
    let next = schedule.next.filter(|next| now.ms_since(*next) > LATE_MS)?;
    let message = format!("the schedule \"{}\" has been due since {next}", schedule.name);
    Some(Finding::warn(message, "nobody makes a pass: luzia dispatch, or a luzia daemon"))
}

/// The schedules whose next slot has no timer, with that slot.
pub(super) fn untimed(app: &App) -> Result<Vec<(Schedule, Timestamp)>, AppError> {
    let mut found = Vec::new();
    for schedule in app.store.schedules()?.into_iter().flatten() {
        let Some(next) = schedule.next else { continue };
        let key = ScheduleKey::of(&schedule.name);
        // A pass may just have made the slot: it is looked at again.
        if app.store.has_timer(&Timer::of(&key, next))?
            || app.store.schedule_at(&key).ok().flatten() != Some(schedule.clone())
        {
            continue;
        }
        if !app.store.has_timer(&Timer::of(&key, next))? {
            found.push((schedule, next));
        }
    }
    Ok(found)
}
