//! Whose turn it is among the tasks of one user: the queues that take turns with a task, and the tasks that start before it.

use crate::app::config_reload::config;
use crate::app::pass::candidates::current_weights;
use crate::app::pass::reach::is_near;
use crate::app::{App, AppError};
use crate::model::{Name, QueueName, Task, TaskId, Tier, Turn};
use crate::policy::fair::Ledger;
use crate::policy::schedule::turns::{Side, Turns};
use std::collections::BTreeMap;

/// How many tasks ahead of another one are counted; a queue that is longer says "or more".
pub const MOST_AHEAD: u64 = 10_000;

/// The queues of a user, each with the turns of its first tasks in their order.
pub(crate) type Queues = BTreeMap<String, Vec<Turn>>;

/// The queues that take turns with a task: its own, and where it takes its user's lane, the others there that this process could
/// start.
pub(crate) fn queues_of(app: &App, task: &Task) -> Result<Queues, AppError> {
    let own = task.queue();
    let takes_turns = |queue: &str| {
        let takes_user_lane = QueueName::parse(queue).is_some_and(|name| name.takes_user_lane());
        queue == own || task.takes_user_lane && takes_user_lane && is_near(app, queue).unwrap_or(false)
    };
    Ok(app.store.first_pending(&task.user, MOST_AHEAD, &takes_turns)?)
}

/// The first task of a user's lane in a tier, over the queues that this process could start.
pub(crate) fn first_of_user(app: &App, user: &Name, tier: Tier) -> Result<Option<TaskId>, AppError> {
    let counts = |queue: &str| {
        QueueName::parse(queue).is_some_and(|name| name.takes_user_lane()) && is_near(app, queue).unwrap_or(false)
    };
    let queues = app.store.first_pending(user, 1, &counts)?;
    let sides = sides(app, &queues, tier)?;
    let first = Turns::new(&ledger(app, &sides)?, user, &sides).next();
    Ok(first.map(|(_, (_, (_, id)))| id))
}

/// How many tasks of the same user start before a pending one, [`MOST_AHEAD`] at most.
pub fn position(app: &App, task: &Task) -> Result<u64, AppError> {
    let (own, others) = before(app, task, &queues_of(app, task)?, task.turn())?;
    let count = others.iter().fold(own.len(), |sum, turns| sum.saturating_add(turns.len()));
    Ok(u64::try_from(count).unwrap_or(u64::MAX).min(MOST_AHEAD))
}

/// The first tasks of the same session, else project, with which a task takes turns, in their order.
pub(crate) fn turns_in_session(app: &App, task: &Task) -> Result<Vec<Turn>, AppError> {
    let is_its = |queue: &str| QueueName::parse(queue).is_some_and(|name| name.share == task.share.as_deref());
    let queues = queues_of(app, task)?.into_iter().filter(|(queue, _)| is_its(queue));
    let mut turns: Vec<Turn> = queues.flat_map(|(_, turns)| turns).collect();
    turns.sort_unstable();
    Ok(turns)
}

/// Whether other sessions or projects have work that takes turns with a task.
pub(crate) fn has_other_sessions(app: &App, task: &Task) -> Result<bool, AppError> {
    let is_other = |queue: &String| QueueName::parse(queue).is_some_and(|name| name.share != task.share.as_deref());
    Ok(queues_of(app, task)?.keys().any(is_other))
}

/// The tasks that start before a task, if that had this turn in its queue: those of its tier in its own queue, and those of
/// every other queue and tier. A better tier counts as a whole.
pub(crate) fn before(
    app: &App,
    task: &Task,
    queues: &Queues,
    turn: Turn,
) -> Result<(Vec<Turn>, Vec<Vec<Turn>>), AppError> {
    let (tier, own) = (turn.0.tier(), task.queue());
    let mut sides = sides(app, queues, tier)?;
    let at = sides.iter().position(|side| side.queue == own).unwrap_or(sides.len());
    if at == sides.len() {
        let weight = current_weights(app, task).share;
        sides.push(Side { queue: own, weight, turns: Vec::new() });
    }
    let counts = Turns::new(&ledger(app, &sides)?, &task.user, &sides).before(at, turn, MOST_AHEAD);
    let mut started: Vec<Vec<Turn>> =
        sides.into_iter().zip(counts).map(|(side, count)| side.turns[..count].to_vec()).collect();
    let of_own = started.swap_remove(at);
    for turns in queues.values() {
        for better in Tier::ALL.into_iter().take_while(|other| *other != tier) {
            started.push(turns.iter().filter(|(priority, _)| priority.tier() == better).copied().collect());
        }
    }
    started.retain(|turns| !turns.is_empty());
    Ok((of_own, started))
}

/// The queues with work in a tier.
fn sides(app: &App, queues: &Queues, tier: Tier) -> Result<Vec<Side>, AppError> {
    // Sessions are equal; a project weighs what its rule says, and only a record names it.
    let has_weights =
        config(app).lanes.iter().any(|(lane, rule)| lane.starts_with("project:") && rule.weight.is_some());
    let mut sides = Vec::new();
    for (queue, turns) in queues {
        let turns: Vec<Turn> = turns.iter().filter(|(priority, _)| priority.tier() == tier).copied().collect();
        if !turns.is_empty() {
            let task = if has_weights { app.store.any_of_queue(queue)? } else { None };
            let weight = task.map_or(1, |task| current_weights(app, &task).share);
            sides.push(Side { queue: queue.clone(), weight, turns });
        }
    }
    Ok(sides)
}

/// What users have used; nothing where no two queues take turns.
fn ledger(app: &App, sides: &[Side]) -> Result<Ledger, AppError> {
    let text = if sides.len() > 1 { app.store.ledger()? } else { None };
    Ok(text.as_deref().and_then(Ledger::from_text).unwrap_or_default())
}
