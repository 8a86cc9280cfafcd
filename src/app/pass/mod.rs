//! One scheduling pass, the same for `dispatch`, `daemon`, `run` and a supervisor that has just finished.
//! `pass` recovers dead tasks and wakes those that are due. Then it starts tasks in the order of `policy::schedule` until no slot
//! or no runnable lane is left. Any number of passes may run at once; the claim decides. Now and then a pass removes finished
//! tasks that are kept no longer (`prune_some`), so that nothing grows for ever.

pub(crate) mod candidates;
mod claim;
pub mod daemon;
pub mod preempt;
pub(crate) mod recovery;
pub(crate) mod resumed;
pub mod supervise;
mod trying;
pub mod wake;

use super::breaks::end_overdue;
use super::config_reload::{config, control, follow_config};
use super::wait_warnings::warn_of_waits;
use crate::app::capacity::AGAIN_MS;
pub use crate::app::lifecycle::{Left, Pass};
use crate::app::pass::trying::{Tried, try_lane};
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError, config_reload};
use crate::model::queue::Lanes;
use crate::model::{LaneName, TaskId, Tier, Timestamp};
use crate::policy::analytics::record::Record;
use crate::policy::analytics::tally;
use crate::policy::fair::{Ledger, Payer};
use crate::policy::retention::{Day, first_kept, surplus};
use crate::policy::schedule::window::Offered;
use crate::policy::schedule::{LaneHead, Resumed, Round};
use crate::store::{Claimed, Event, Hold, LockIndex, ReadEvent};
use candidates::{number_of, with_place};
use claim::Starts;
use preempt::start_preempting;
use recovery::recover_dead;
pub(crate) use recovery::recover_one;
use resumed::{start_borrowers, start_resumed, try_resumed};
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeMap;
use wake::wake_parked;

/// Number of lanes that look locked and are tried in one pass, in case their holder is dead.
const LOCKED_LANES_TRIED: usize = 64;

/// All heads of all tiers.
const ALL: [Offered; 3] = [Offered::All, Offered::All, Offered::All];

/// The fair share of one pass: the ledger after its grants, and the charges.
struct Tally {
    ledger: Ledger,
    credits: [i64; 3],
    now: Timestamp,
    grants: Vec<(Tier, Payer)>,
    /// Number of further tasks that the host takes, as far as this pass knows: a process that frees a slot makes a pass of its
    /// own.
    slots: u32,
}

/// The hand of a supervisor that has finished: it holds one task of its own pass and goes on to it, which saves a process.
/// It is empty after a pass that started other supervisors.
pub(super) struct Hand<'a> {
    /// Whether this process can take a task.
    pub is_free: bool,
    /// Whether the supervisor is as good as a new one. Asked when the hand has a task.
    pub is_fit: &'a dyn Fn() -> bool,
    /// The task that this process took.
    pub claimed: Option<Box<Claimed>>,
    /// Called between any two pieces of the work of a pass.
    pub between: &'a mut dyn FnMut(),
}

/// Makes one pass. Inside a task this process starts nothing: it asks the task's own supervisor to make the pass.
pub fn pass(app: &App) -> Result<Pass, AppError> {
    pass_between(app, &mut || {})
}

/// As [`pass`]; `between` is called between any two pieces of its work.
pub(super) fn pass_between(app: &App, between: &mut dyn FnMut()) -> Result<Pass, AppError> {
    pass_with(app, &mut Hand { is_free: false, is_fit: &|| false, claimed: None, between })
}

/// Like `pass`, for a supervisor that may go on to one of the tasks. A task in its hand stays there after an error.
pub(super) fn pass_with(app: &App, hand: &mut Hand) -> Result<Pass, AppError> {
    if !app.store.has_layout()? {
        return Ok(Pass::default());
    }
    if let Some(inside) = &app.inside
        && wake_supervisor(app, inside.task)?
    {
        let next_due = app.store.timers(app.host.now())?.next;
        return Ok(Pass { next_due, ..Pass::default() });
    }
    let rules = follow_config(app);
    let has_rules = rules.is_ok();
    app.store.take_turn();
    let mut pass = Pass::default();
    let looked = look_and_start(app, rules, hand, &mut pass);
    app.store.end_turn();
    if pass.renews_heads {
        // The next passes list all lanes if this fails.
        let _ = candidates::renew(app);
    }
    if has_rules {
        prune_some(app);
    }
    app.host.reap();
    match looked {
        Ok(()) => Ok(pass),
        Err(error) => Err(pass.beside(error)),
    }
}

/// Recovers dead tasks, and starts others. If `rules` is an error, no task is started.
fn look_and_start(app: &App, rules: Result<(), AppError>, hand: &mut Hand, pass: &mut Pass) -> Result<(), AppError> {
    recover_dead(app, pass, hand.between)?;
    rules?;
    // Damaged hooks may include one on which a task depends.
    app.store.hooks()?;
    pass.may_start = true;
    pass.next_due = wake_parked(app, pass)?;
    (hand.between)();
    let now = app.host.now();
    let ends = control(app).standing(now).filter_map(|hold| hold.until).min();
    pass.next_due = pass.next_due.into_iter().chain(ends).min();
    start_tasks(app, pass, hand)?;
    (hand.between)();
    warn_of_waits(app, pass)?;
    // A supervisor that has started other supervisors always has children, so ECHILD does not prove that its task's tree is dead.
    let must_pass_on = |_: &mut Box<Claimed>| !pass.supervisors.is_empty() || !(hand.is_fit)();
    if let Some(claimed) = hand.claimed.take_if(must_pass_on) {
        start_supervisor(app, &["supervise"], claimed.task.id, claimed.lock, pass)?;
    }
    Ok(())
}

fn start_tasks(app: &App, pass: &mut Pass, hand: &mut Hand) -> Result<(), AppError> {
    let starts = &mut Starts { pass, hand, seen: RefCell::default() };
    start_preempting(app, starts)?;
    let locks = app.store.lock_index()?;
    let mut slots = config(app).slots_max.saturating_sub(locks.holders(&LaneName::global()));
    let hint = if slots > 0 { app.store.heads() } else { None };
    let is_known = hint.as_ref().is_some_and(|hint| hint.age_ms(app.host.now()).is_some());
    // Without a slot, all that counts is whether there is work.
    let lanes = if is_known || slots == 0 { None } else { Some(app.store.lanes_with_work()?) };
    let has_work =
        is_known || lanes.as_ref().map_or_else(|| app.store.has_lanes(), |lanes| Ok(number_of(lanes) > 0))?;
    if !has_work {
        return start_resumed(app, starts);
    }
    start_borrowers(app, starts)?;
    if slots == 0 {
        if !has_stale_holder(app, &locks, &LaneName::global())? {
            // A task that has kept its slot needs no other.
            return start_resumed(app, starts);
        }
        slots = config(app).slots_max;
    }
    let before = app.store.ledger()?;
    let ledger = before.as_deref().and_then(Ledger::from_text).unwrap_or_default();
    let mut tally = Tally { credits: ledger.credits, ledger, now: app.host.now(), grants: Vec::new(), slots };
    let known = hint.as_ref().filter(|_| is_known);
    let is_filled = known.map_or(Ok(false), |hint| candidates::start_from(app, hint, &locks, &mut tally, starts))?;
    let mut has_many = hint.is_some();
    if !is_filled {
        let lanes = lanes.map_or_else(|| app.store.lanes_with_work(), Ok)?;
        has_many |= number_of(&lanes) >= app.store.heads_sizes().lanes;
        start_listed(app, &lanes, &locks, &mut tally, starts)?;
    }
    let is_idle = !is_filled || starts.hand.claimed.is_none();
    starts.pass.renews_heads = has_many && is_idle && candidates::must_renew(app, hint.as_ref(), !is_filled);
    if starts.seen.borrow().tries_again {
        starts.pass.comes_again(tally.now.plus_ms(AGAIN_MS));
    }
    charge(app, &tally, before.as_deref())?;
    hint.map_or(Ok(()), |hint| candidates::strike(app, hint, &tally))
}

/// Tries the lanes of a listing: those that look free, and some that look locked.
fn start_listed(
    app: &App,
    lanes: &Lanes,
    locks: &LockIndex,
    tally: &mut Tally,
    starts: &mut Starts,
) -> Result<(), AppError> {
    let (free, held) = candidates::heads(app, lanes, locks, &tally.ledger)?;
    let has_slot = start_round(app, tally, (free, ready(starts)), &ALL, starts)?;
    if has_slot && !held.is_empty() {
        // A lane that looks locked may be held by a dead process or a lease that ran out; a few are tried each time.
        let offset = usize::try_from(app.host.boot_ms()).unwrap_or(0) % held.len();
        let mut some: Vec<LaneHead> = Vec::new();
        for head in held.iter().cycle().skip(offset).take(LOCKED_LANES_TRIED.min(held.len())) {
            if has_stale_holder(app, locks, &LaneName::user(&head.user))? {
                some.push(with_place(app, head)?);
            }
        }
        start_round(app, tally, (some, Vec::new()), &ALL, starts)?;
    }
    Ok(())
}

/// Whether the holder of a lane is proven dead, or is a lease that ran out.
fn has_stale_holder(app: &App, locks: &LockIndex, lane: &LaneName) -> Result<bool, AppError> {
    let holders = app.holders_in(locks, lane)?;
    holders.iter().try_for_each(|view| end_overdue(app, view))?;
    Ok(holders.iter().any(|view| view.verdict.is_stale()))
}

/// Writes the grants of this pass into the ledger. If another pass wrote meanwhile, its changes stay and these are added.
fn charge(app: &App, tally: &Tally, before: Option<&str>) -> Result<(), AppError> {
    if tally.grants.is_empty() {
        return Ok(());
    }
    app.store.update_ledger(&mut |text| {
        if text == before {
            return Some(tally.ledger.to_text());
        }
        let mut ledger = text.and_then(Ledger::from_text).unwrap_or_default();
        for (at, credit) in ledger.credits.iter_mut().enumerate() {
            *credit = credit.saturating_add(tally.ledger.credits[at].saturating_sub(tally.credits[at]));
        }
        for (tier, payer) in &tally.grants {
            ledger.granted(*tier, payer, tally.now);
        }
        Some(ledger.to_text())
    })?;
    Ok(())
}

/// The tasks that go on after a wait.
fn ready(starts: &Starts) -> Vec<Resumed> {
    starts.pass.ready.iter().map(|ready| ready.task.clone()).collect()
}

/// Tries lanes, and tasks that go on after a wait, in the order of the schedule. `offered` tells whether these are all
/// heads of a tier. False if no slot is left.
fn start_round(
    app: &App,
    tally: &mut Tally,
    (heads, resumed): (Vec<LaneHead>, Vec<Resumed>),
    offered: &[Offered; 3],
    starts: &mut Starts,
) -> Result<bool, AppError> {
    let round = Round::new(&mut tally.ledger, config(app).tier_shares, heads, tally.now);
    let mut round = round.with_resumed(resumed).over(offered);
    while let Some(candidate) = round.next() {
        (starts.hand.between)();
        let tried = match candidate.resumed {
            Some(id) => try_resumed(app, id, starts)?,
            None => try_lane(app, &candidate, starts)?,
        };
        match tried {
            Tried::Blocked => {}
            Tried::NoSlot => return Ok(false),
            Tried::Started(weights) => {
                tally.slots = tally.slots.saturating_sub(1);
                tally.grants.push((candidate.tier, round.started(candidate.clone(), weights)));
                let is_new = candidate.resumed.is_none();
                if is_new && (!candidate.takes_user_lane || config(app).limit(&LaneName::user(&candidate.user)) > 1) {
                    round.offer(LaneHead::again(&candidate));
                }
                if tally.slots == 0 {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// If no process can be made, the lock goes with its descriptor, and the next pass takes the claim back.
fn start_supervisor(app: &App, verb: &[&str], id: TaskId, lock: Hold, pass: &mut Pass) -> Result<(), AppError> {
    let verb = verb.iter().map(|word| (*word).to_owned());
    let args: Vec<String> = app.same_place.iter().cloned().chain(verb).chain([id.to_string()]).collect();
    pass.supervisors.push(app.run_dir.launch_supervisor(&args, lock)?);
    Ok(())
}

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
