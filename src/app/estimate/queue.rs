//! The present queue, for a simulation: waiting tasks, running tasks, and other holders of lanes.

use crate::app::admission::turns::weights_of;
use crate::app::admission::unfinished_before;
use crate::app::{App, AppError, config_reload};
use crate::model::sorted::{map_of, sort_by_key};
use crate::model::{Config, LaneName, LockKind, Priority, Status, Task, TaskId, Timestamp};
use crate::policy::fair::Ledger;
use crate::policy::hold::pause_of;
use crate::policy::simulate::history::History;
use crate::policy::simulate::load::{Job, Length, Load};
use crate::store::{LockIndex, LockView};
use std::collections::{BTreeMap, BTreeSet};

/// The queue at a moment.
pub(super) struct Queue {
    /// The queue's tasks and lanes.
    pub load: Load,
    /// The slot time that was used so far.
    pub ledger: Ledger,
    /// The place of each task in the load.
    pub places: BTreeMap<TaskId, usize>,
}

/// A load in the making, by rules that need not be those in force.
struct Builder<'a> {
    app: &'a App,
    config: &'a Config,
    history: &'a History,
    now: Timestamp,
    queue: Queue,
}

/// The present queue; `None` if more than `most` tasks wait. `extra` is one more task, queued or not. Tasks whose start
/// is unknown are left out: paused tasks, and tasks that come after them.
pub(super) fn queue_as_it_is(
    app: &App,
    config: &Config,
    history: &History,
    most: usize,
    extra: Option<&Task>,
) -> Result<Option<Queue>, AppError> {
    let load = Load::empty(config.slots_max, config.tier_shares);
    let ledger = app.store.ledger()?.as_deref().and_then(Ledger::from_text).unwrap_or_default();
    let queue = Queue { load, ledger, places: BTreeMap::new() };
    let mut builder = Builder { app, config, history, now: app.host.now(), queue };
    builder.add_running();
    let mut waiting = Vec::new();
    for task in app.store.pending_tasks(None)?.take(most.saturating_add(1)) {
        // `doctor` reports a damaged record.
        waiting.extend(task.ok().filter(|task| task.status() == Status::Pending));
    }
    if waiting.len() > most {
        return Ok(None);
    }
    if let Some(extra) = extra.filter(|extra| waiting.iter().all(|task| task.id != extra.id)) {
        waiting.push(extra.clone());
    }
    builder.add_waiting(waiting);
    builder.add_other_holders()?;
    Ok(Some(builder.queue))
}

/// Adds rates, with the present grants, and reserves. Damaged records of grants count as empty.
pub(super) fn follow_rules(app: &App, load: &mut Load, config: &Config) {
    load.follow_rules(config, &|lane, rate| app.store.granted_lately(lane, rate).unwrap_or_default());
}

impl Builder<'_> {
    /// Adds the running tasks. A child that borrows holds what its parent holds.
    fn add_running(&mut self) {
        let running: Vec<Task> = self.app.store.started_tasks().filter_map(Result::ok).collect();
        let running: Vec<Task> = running.into_iter().filter(|task| !task.status().is_final()).collect();
        let lenders: BTreeMap<TaskId, BTreeSet<LaneName>> =
            map_of(running.iter().map(|task| (task.id, task.all_lanes().into_iter().collect())));
        for task in &running {
            let parent = task.parent.filter(|_| task.waited_for && !task.no_inherit);
            let lent = parent.and_then(|parent| lenders.get(&parent));
            let lanes = task.all_lanes().into_iter().filter(|lane| lent.is_none_or(|lent| !lent.contains(lane)));
            let lanes: Vec<LaneName> = lanes.collect();
            let since = task.last_start.as_ref().map_or(self.now, |start| start.at);
            let mut job = self.job(task, &lanes);
            job.since = Some(since.min(self.now));
            if task.status() == Status::Waiting {
                job.length = Length::Unknown;
            }
            self.push(task.id, job);
        }
    }

    fn add_waiting(&mut self, mut waiting: Vec<Task>) {
        sort_by_key(&mut waiting, |task| task.id);
        let control = config_reload::control(self.app);
        let mut after = Vec::new();
        for task in &waiting {
            let pause = pause_of(task, &control.holds, self.now);
            let own_hold = task.hold.as_ref().filter(|_| task.is_held(self.now));
            let is_endless = pause.as_ref().is_some_and(|pause| pause.until.is_none())
                || own_hold.is_some_and(|hold| hold.until.is_none());
            if is_endless {
                continue;
            }
            let until = [pause.and_then(|pause| pause.until), own_hold.and_then(|hold| hold.until), task.due_at];
            let mut job = self.job(task, &task.all_lanes());
            job.ready = until.into_iter().flatten().chain([self.now]).max().unwrap_or(self.now);
            self.push(task.id, job);
            let unfinished = unfinished_before(self.app, task);
            if !unfinished.is_empty() {
                after.push((task.id, unfinished));
            }
        }
        for (id, unfinished) in after {
            let places: Option<Vec<usize>> = unfinished.iter().map(|id| self.queue.places.get(id).copied()).collect();
            let Some(place) = self.queue.places.get(&id).copied() else { continue };
            match places {
                Some(places) => self.queue.load.jobs[place].after = places,
                // A task that it comes after has no end in sight: it comes after itself, so it never starts.
                None => self.queue.load.jobs[place].after = vec![place],
            }
        }
    }

    fn push(&mut self, id: TaskId, job: Job) {
        self.queue.load.jobs.push(job);
        self.queue.places.insert(id, self.queue.load.jobs.len() - 1);
    }

    fn job(&mut self, task: &Task, lanes: &[LaneName]) -> Job {
        let length = limited(self.history.lengths_of(task), task.timeout_ms);
        let most_ms = longest(&length, task.timeout_ms);
        let (config, load) = (self.config, &mut self.queue.load);
        Job {
            id: task.id,
            is_task: true,
            user: load.user(&task.user, || config.weight(&task.user)),
            queue: task.queue().into(),
            takes_user_lane: task.takes_user_lane,
            weights: weights_of(task, config),
            priority: task.priority,
            lanes: lanes.iter().map(|lane| (load.lane(lane, || config.limit(lane)), task.slots_of(lane))).collect(),
            ready: self.now,
            after: Vec::new(),
            since: None,
            length,
            most_ms,
        }
    }

    /// Adds the holders by `lock` or `acquire`. Only lanes that a task takes are looked at.
    fn add_other_holders(&mut self) -> Result<(), AppError> {
        let locks: LockIndex = self.app.store.lock_index()?;
        for at in 0..self.queue.load.lanes.len() {
            let lane = self.queue.load.lanes[at].name.clone();
            if lane.is_global() || locks.holders(&lane) == 0 {
                continue;
            }
            for view in self.app.holders_in(&locks, &lane)? {
                if let Some(job) = self.other(at, &lane, &view) {
                    self.queue.load.jobs.push(job);
                }
            }
        }
        Ok(())
    }

    fn other(&mut self, at: usize, lane: &LaneName, view: &LockView) -> Option<Job> {
        let record = view.record();
        let is_task = record.is_some_and(|record| record.kind == LockKind::Task);
        let known = view.holder().and_then(TaskId::parse).is_some_and(|id| self.queue.places.contains_key(&id));
        if is_task || known || view.verdict.is_stale() {
            return None;
        }
        let since = record.and_then(|record| record.acquired_at).unwrap_or(self.now).min(self.now);
        let expires = record.filter(|record| record.kind == LockKind::Lease).and_then(|record| record.expires_at);
        let left = expires.and_then(|at| u64::try_from(at.ms_since(since)).ok());
        let length = self.history.lengths(None, std::slice::from_ref(lane));
        let most_ms = longest(&length, left);
        let user = self.queue.load.jobs.first().map_or(0, |job| job.user);
        Some(Job {
            id: TaskId(0),
            is_task: false,
            user,
            queue: "".into(),
            takes_user_lane: false,
            weights: 1.into(),
            priority: Priority::DEFAULT,
            lanes: vec![(at, 1)],
            ready: self.now,
            after: Vec::new(),
            since: Some(since),
            length: match (length, left) {
                (Length::Unknown, Some(left)) => Length::Fixed(left),
                (length, left) => limited(length, left),
            },
            most_ms,
        })
    }
}

/// Longest expected run: a time that nine of ten of its kind did not exceed, and at most its limit.
pub(crate) fn longest(length: &Length, limit: Option<u64>) -> Option<u64> {
    let most = length.p90();
    most.into_iter().chain(limit).min()
}

/// Lengths that a limit cuts off.
fn limited(length: Length, limit: Option<u64>) -> Length {
    match (length, limit) {
        (Length::Seen(lengths), Some(limit)) => {
            Length::Seen(lengths.iter().map(|length| (*length).min(limit)).collect())
        }
        (length, _) => length,
    }
}
