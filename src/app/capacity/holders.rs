//! The slots of a lane with names, and their holders.

use crate::app::config_reload::config;
use crate::app::{App, AppError};
use crate::model::LaneName;
use crate::model::capacity::{Choice, Occupied};
use crate::model::lock::loan;
use crate::store::LockView;

/// One value of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedSlot {
    /// The value that the slot stands for.
    pub value: String,
    /// The slot that its holder has.
    pub slot: Option<u32>,
    /// Its holder.
    pub holder: Option<String>,
    /// Whether it was removed from the values, and goes with its holder.
    pub is_drained: bool,
    /// Whether a stranger uses it; with the process, where that can be seen.
    pub user: Option<Option<u32>>,
}

/// The bar of a lane with room, if strangers use every value that no holder has.
pub(crate) fn occupied(app: &App, lane: &LaneName, views: &[LockView]) -> Option<Occupied> {
    let values = config(app).values(lane)?;
    match app.host.choose_value(&values, &taken(views)) {
        Choice::Occupied(occupied) => Some(occupied),
        Choice::Slot(..) | Choice::Full => None,
    }
}

/// The values of a lane, and the removed values that holders still have. Empty for a lane without values.
pub fn named_slots(app: &App, lane: &LaneName) -> Result<Vec<NamedSlot>, AppError> {
    let Some(values) = config(app).values(lane) else { return Ok(Vec::new()) };
    let views = app.holders(lane)?;
    let held = views.iter().filter(|view| !view.verdict.is_stale());
    let value_of = |view: &LockView| {
        let recorded = view.record().and_then(|record| record.value.clone());
        recorded.or_else(|| values.get(loan::root(view.slot)))
    };
    let held: Vec<(Option<String>, &LockView)> = held.map(|view| (value_of(view), view)).collect();
    let row = |value: &str, is_drained| {
        let of = held.iter().find(|(known, _)| known.as_deref() == Some(value)).map(|(_, view)| view);
        NamedSlot {
            value: value.to_owned(),
            slot: of.map(|view| view.slot),
            holder: of.and_then(|view| view.shown().or_else(|| view.holder().map(str::to_owned))),
            is_drained,
            user: match (of, values.port(value)) {
                (None, Some(port)) => app.host.user_of_port(port),
                _ => None,
            },
        }
    };
    let all = values.all();
    let gone =
        held.iter().filter_map(|(value, _)| value.as_deref()).filter(|value| !all.iter().any(|one| one == value));
    let rows = all.iter().map(|value| row(value, false)).chain(gone.map(|value| row(value, true)));
    Ok(rows.collect())
}

/// The slots of living holders with their values, as the store counts them.
fn taken(views: &[LockView]) -> Vec<(u32, Option<String>)> {
    let living = views.iter().filter(|view| !view.verdict.is_stale());
    living.map(|view| (loan::root(view.slot), view.record().and_then(|record| record.value.clone()))).collect()
}
