//! Retention: a pass now and then removes finished tasks that are kept no longer, so that nothing grows for ever.

use crate::app::{App, AppError, config_reload};
use crate::policy::analytics::record::Record;
use crate::policy::analytics::tally;
use crate::policy::retention::{Day, first_kept, surplus};
use crate::store::{Event, ReadEvent};
use serde_json::json;
use std::collections::BTreeMap;

/// Most tasks that one pass removes; some 20 operations each.
const MOST: u64 = 256;
/// Most lanes whose grants one pass forgets.
const MOST_RATES: usize = 256;
/// Largest size of the events, in bytes.
const MOST_EVENT_BYTES: u64 = 256 * 1024 * 1024;
/// Time until a pass looks again after nothing was left to remove, in milliseconds. A look lists finished tasks.
const PAUSE_MS: i64 = 60_000;
/// Time until the next look when something was left, so that a long drain removes as fast as it adds.
const SHORT_PAUSE_MS: i64 = 250;

/// Removes finished tasks and events whose retention is over, up to a limit, if a look is due. An error becomes an event and does
/// not stop the pass, because no waiting task depends on the removal.
pub(crate) fn prune_some(app: &App) {
    if let Err(error) = prune_if_due(app) {
        app.store.note(&Event::new("prune_failed").saying(error.to_string()));
    }
}

fn prune_if_due(app: &App) -> Result<(), AppError> {
    let now = app.host.now();
    match app.store.prune_due()? {
        // A moment further off than any that is ever set comes from a clock that has jumped.
        Some(due) if due > now && due.ms_since(now) <= PAUSE_MS => return Ok(()),
        Some(_) => {}
        None => return Ok(app.store.set_prune_due(now.plus_ms(PAUSE_MS))?),
    }
    // Recorded first, so that other processes that pass meanwhile do not look as well.
    app.store.set_prune_due(now.plus_ms(PAUSE_MS))?;
    let days = app.store.done_days()?.into_iter().map(|(name, tasks)| Day { name, tasks }).collect();
    let cuts = surplus(days, &config_reload::config(app), now, MOST);
    let (mut gone, mut whole) = (0, Vec::new());
    for cut in cuts {
        let removed = app.store.prune_day(&cut.day, cut.tasks)?;
        gone += removed.len();
        if cut.is_whole && cut.day != now.day() {
            whole.push(cut.day);
        }
    }
    let config = config_reload::config(app);
    let window_ms = |lane: &crate::model::LaneName| config.rate(lane).map(|rate| rate.window_ms);
    app.store.prune_rates(MOST_RATES, &window_ms)?;
    app.store.prune_events(&first_kept(&config_reload::config(app), now), &whole, MOST_EVENT_BYTES, &counted)?;
    if gone > 0 {
        app.store.note(&Event::new("pruned").with(json!({ "tasks": gone })));
        app.store.set_prune_due(now.plus_ms(SHORT_PAUSE_MS))?;
    }
    Ok(())
}

/// Counts an event for the tally.
pub(crate) fn counted(counts: &mut BTreeMap<String, u64>, event: ReadEvent) {
    if let Some(record) = Record::of(event.at, &event.line) {
        tally::add(counts, &record);
    }
}
