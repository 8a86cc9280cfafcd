//! The hint of heads: while very many lanes have work, a pass tries the first ones that a listing found, and the lanes that were
//! announced since. It lists all lanes if these leave a slot (`docs/decisions/449-a-hint-of-heads.md`).

use super::candidates::{heads_among, number_of, unseen_head};
use super::claim::Starts;
use super::{Tally, ready, start_round};
use crate::app::config_reload::config;
use crate::app::{App, AppError};
use crate::model::queue::{FirstHead, Lanes};
use crate::model::{LaneName, Priority};
use crate::policy::fair::Ledger;
use crate::policy::schedule::window::{Noted, Offered};
use crate::policy::schedule::{LaneHead, Round};
use crate::store::{Heads, LockIndex};

/// The age from which a process writes a new hint, in milliseconds, while it has no task to start. One that has just listed all
/// lanes writes it sooner.
const RENEWED_MS: i64 = 3000;
const RENEWED_AFTER_LISTING_MS: i64 = 1000;

/// Tries the heads of the hint. True if they left no slot.
pub(super) fn start_from(
    app: &App,
    heads: &Heads,
    locks: &LockIndex,
    tally: &mut Tally,
    starts: &mut Starts,
) -> Result<bool, AppError> {
    for most in app.store.heads_sizes().looks {
        let view = heads.view(most);
        let (free, _) = heads_among(app, &view.lanes, false, locks, &tally.ledger)?;
        let mut offered: [Offered; 3] = Default::default();
        for (offered, last) in offered.iter_mut().zip(view.last) {
            *offered = offered_up_to(app, heads, last)?;
        }
        if !start_round(app, tally, (free, ready(starts)), &offered, starts)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn offered_up_to(app: &App, heads: &Heads, last: Option<Option<FirstHead>>) -> Result<Offered, AppError> {
    let Some(last) = last else { return Ok(Offered::All) };
    let Some(head) = last else { return Ok(Offered::UpTo(None)) };
    let lane = app.store.pending_lane_name(&head.queue)?;
    let noted = |lane: LaneName| Noted { user: lane.key().clone(), head, decayed_to: heads.decayed_to() };
    Ok(Offered::UpTo(lane.map(noted)))
}

/// Strikes the lanes of which this pass has started a task. One that has further work, and comes before the heads that are not
/// in the hint still, is announced again.
pub(super) fn strike(app: &App, mut heads: Heads, tally: &Tally) -> Result<(), AppError> {
    for (tier, payer) in &tally.grants {
        heads.strike(*tier, &payer.queue);
        let offered = offered_up_to(app, &heads, heads.last(*tier))?;
        let comes_first = |priority: Priority| match &offered {
            Offered::All => true,
            Offered::UpTo(None) => false,
            Offered::UpTo(Some(last)) => last.follows(&tally.ledger, *tier, (&payer.user, priority)),
        };
        if tier.priorities().next().is_some_and(comes_first)
            && let Some(head) = app.store.head(*tier, &payer.queue)?
            && comes_first(head.priority)
        {
            heads.announce(head.priority, &payer.queue);
        }
    }
    heads.save();
    Ok(())
}

/// Whether a process that has looked at the hint, and perhaps has listed all lanes, writes a new one.
pub(super) fn must_renew(app: &App, heads: Option<&Heads>, has_listed: bool) -> bool {
    let age = heads.and_then(|heads| heads.age_ms(app.host.now()));
    age.is_none_or(|age| age >= if has_listed { RENEWED_AFTER_LISTING_MS } else { RENEWED_MS })
}

/// Writes the hint, unless another process does. Removes it if few lanes have work.
pub(super) fn renew(app: &App) -> Result<(), AppError> {
    let sizes = app.store.heads_sizes();
    let Some(writer) = app.store.write_heads() else { return Ok(()) };
    let made = app.host.now();
    let lanes = app.store.lanes_with_work()?;
    if number_of(&lanes) < sizes.lanes {
        app.store.drop_heads();
        return Ok(());
    }
    let mut ledger = app.store.ledger()?.as_deref().and_then(Ledger::from_text).unwrap_or_default();
    let round = Round::new(&mut ledger, config(app).tier_shares, all_heads(app, &lanes)?, made);
    let first = round.into_first(sizes.kept);
    Ok(app.store.finish_heads(writer, (made, ledger.decayed_to), &first)?)
}

/// The heads of all lanes, also of those that cannot start now or not from here.
fn all_heads(app: &App, lanes: &Lanes) -> Result<Vec<LaneHead>, AppError> {
    let mut heads = Vec::new();
    for (tier, lanes) in lanes {
        for (queue, priority) in lanes {
            let Some(lane) = app.store.pending_lane_name(queue)? else { continue };
            heads.push(unseen_head(&lane, queue, *tier, *priority));
        }
    }
    Ok(heads)
}
