//! Turns among the tasks of one user: the queues that take turns with a task, and the tasks that start before it. The weights of
//! tasks in fair share.

use crate::app::admission::is_near;
use crate::app::config_reload::config;
use crate::app::{App, AppError};
use crate::model::{Config, LaneName, Name, QueueName, Task, TaskId, Tier, Turn};
use crate::policy::fair::{Ledger, Payer, Weights};
use crate::policy::schedule::turns::{Order, Side, Turns};
use crate::store::QueueIndex;
use std::collections::BTreeMap;

/// Largest number of tasks ahead of another one that is counted; of a longer queue the answer is "or more".
pub const MOST_AHEAD: u64 = 10_000;

/// The queues of a user, each with the turns of its first tasks in their order.
pub(crate) type Queues = BTreeMap<String, Vec<Turn>>;

/// The queues that take turns with a task: its own, and, if it takes its user's lane, the others in that lane that this
/// process could start.
pub(crate) fn queues_of(app: &App, task: &Task) -> Result<Queues, AppError> {
    queues_among(app, &app.store.queue_index()?, task)
}

/// Like `queues_of`, with a given index of queues.
pub(crate) fn queues_among(app: &App, index: &QueueIndex, task: &Task) -> Result<Queues, AppError> {
    let own = task.queue();
    let takes_turns = |queue: &str| {
        let takes_user_lane = QueueName::parse(queue).is_some_and(|name| name.takes_user_lane());
        queue == own || task.takes_user_lane && takes_user_lane && is_near(app, queue).unwrap_or(false)
    };
    Ok(app.store.first_pending(index, &task.user, MOST_AHEAD, &takes_turns)?)
}

/// The first task of a user's lane in a tier, over the queues that this process could start.
pub(crate) fn first_of_user(app: &App, user: &Name, tier: Tier) -> Result<Option<TaskId>, AppError> {
    let counts = |queue: &str| {
        QueueName::parse(queue).is_some_and(|name| name.takes_user_lane()) && is_near(app, queue).unwrap_or(false)
    };
    let queues = app.store.first_pending(&app.store.queue_index()?, user, 1, &counts)?;
    let sides = sides(app, &queues, tier)?;
    let first = Turns::new(&ledger(app, &sides)?, user, &sides).next();
    Ok(first.map(|(_, (_, (_, id)))| id))
}

/// Number of tasks of the same user that start before a pending one, [`MOST_AHEAD`] at most.
pub fn position(app: &App, task: &Task) -> Result<u64, AppError> {
    if let Some(fleet) = &app.fleet {
        return Ok(fleet.ahead(task.id)?.min(MOST_AHEAD));
    }
    let known = Known::with(app, task, queues_of(app, task)?)?;
    let Some((at, number)) = known.find(task) else { return Ok(0) };
    let count = known.ahead(at, number).fold(0_usize, |sum, (_, turns)| sum.saturating_add(turns.len()));
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

/// The order in which the tasks of one tier start, in the queues that take turns.
pub(crate) struct Known {
    queues: Queues,
    tier: Tier,
    sides: Vec<Side>,
    /// The place of the own queue among the queues; `None` if it has no work in the tier.
    own: Option<usize>,
    order: Order,
}

impl Known {
    /// Looks at the queues of a user that take turns with the queue `own`.
    pub fn of(app: &App, user: &Name, own: &str, queues: Queues, tier: Tier) -> Result<Self, AppError> {
        let sides = sides(app, &queues, tier)?;
        let order = Order::of(Turns::new(&ledger(app, &sides)?, user, &sides), MOST_AHEAD);
        let own = sides.iter().position(|side| side.queue == own);
        Ok(Self { queues, tier, sides, own, order })
    }

    /// Like `of`, for a task that may not be queued, or that is behind those that are looked at.
    pub fn with(app: &App, task: &Task, mut queues: Queues) -> Result<Self, AppError> {
        let (queue, turn) = (task.queue(), task.turn());
        let own = queues.entry(queue.clone()).or_default();
        if let Err(at) = own.binary_search(&turn) {
            own.insert(at, turn);
        }
        Self::of(app, &task.user, &queue, queues, task.priority.tier())
    }

    /// The queue `own` and the number there of one of its tasks; `None` if the task is not among the known ones.
    pub fn find(&self, task: &Task) -> Option<(usize, usize)> {
        let at = self.own?;
        Some((at, self.sides[at].turns.binary_search(&task.turn()).ok()?))
    }

    /// The first task of the queue `own`.
    pub fn first(&self) -> Option<Turn> {
        self.sides[self.own?].turns.first().copied()
    }

    /// The tasks that start before the task of the queue `own` with this number, by queue and tier: those of its queue first. A
    /// better tier counts as a whole.
    pub fn ahead(&self, own: usize, number: usize) -> impl Iterator<Item = (&str, &[Turn])> {
        let counts = self.order.before(own, number);
        let before = move |at: usize| (self.sides[at].queue.as_str(), &self.sides[at].turns[..counts[at]]);
        let all = std::iter::once(own).chain((0..self.sides.len()).filter(move |at| *at != own)).map(before);
        let better = Tier::ALL.into_iter().take_while(|tier| *tier != self.tier);
        all.chain(
            better
                .flat_map(|tier| self.queues.iter().map(move |(queue, turns)| (queue.as_str(), of_tier(turns, tier)))),
        )
    }
}

/// The turns of one tier among those of a queue.
fn of_tier(turns: &[Turn], tier: Tier) -> &[Turn] {
    let begin = turns.partition_point(|(priority, _)| priority.tier().index() < tier.index());
    let end = turns.partition_point(|(priority, _)| priority.tier().index() <= tier.index());
    &turns[begin..end]
}

/// The queues with work in a tier.
fn sides(app: &App, queues: &Queues, tier: Tier) -> Result<Vec<Side>, AppError> {
    // Sessions are equal; a project weighs what its rule says, and only a record names it.
    let has_weights =
        config(app).lanes.iter().any(|(lane, rule)| lane.starts_with("project:") && rule.weight.is_some());
    let mut sides = Vec::new();
    for (queue, turns) in queues {
        let turns = of_tier(turns, tier).to_vec();
        if !turns.is_empty() {
            let task = if has_weights { app.store.any_of_queue(queue)? } else { None };
            let weight = task.map_or(1, |task| current_weights(app, &task).share);
            sides.push(Side { queue: queue.clone(), weight, turns });
        }
    }
    Ok(sides)
}

/// The slot time that users have used; empty if no two queues take turns.
fn ledger(app: &App, sides: &[Side]) -> Result<Ledger, AppError> {
    let text = if sides.len() > 1 { app.store.ledger()? } else { None };
    Ok(text.as_deref().and_then(Ledger::from_text).unwrap_or_default())
}

/// Like [`weights_of`], by the rules in force.
pub(crate) fn current_weights(app: &App, task: &Task) -> Weights {
    weights_of(task, &config(app))
}

/// The payer of a task: the one whose slot time it uses.
pub(crate) fn payer_of(app: &App, task: &Task) -> Payer {
    Payer { user: task.user.clone(), queue: task.queue(), weights: current_weights(app, task), has_shares: false }
}

/// The weights of a task in fair share: that of its user, that of its project among those of the user, and the greatest of
/// its lanes; and the number of its slots.
pub(crate) fn weights_of(task: &Task, config: &Config) -> Weights {
    let project = task.project.as_ref().filter(|_| task.agent.as_ref().is_none_or(|agent| agent.session.is_none()));
    let project = project.and_then(|project| LaneName::new("project", project.clone()).ok());
    Weights {
        share: project.map_or(1, |project| config.lane_weight(&project)),
        slots: task.lanes.iter().map(|lane| task.slots_of(lane)).max().unwrap_or(1),
        ..Weights::of(config, &task.user, &task.lanes)
    }
}
