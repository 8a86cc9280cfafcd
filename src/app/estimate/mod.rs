//! Forecasts: estimates of starts, the score of past estimates, and `simulate`.
//! Nothing here changes a task or a lane. `estimate_start` estimates the start of a task, `expected_lock` the grant of a lock,
//! and `estimate_scores` gives the quality of past estimates. `simulate_plan` runs a described load, and `simulate_queue` the
//! present queue; both show the effect of changed limits and weights.

mod queue;

use crate::app::{App, AppError, Obstacle, config_reload};
use crate::model::sorted::map_of;
use crate::model::time::format_duration;
use crate::model::{Config, LaneName, Task, TaskId, Timestamp};
use crate::policy::analytics::record::Record;
use crate::policy::fair::Ledger;
pub use crate::policy::simulate::estimate::Estimate;
use crate::policy::simulate::estimate::{Holding, estimate, estimate_lock};
use crate::policy::simulate::history::{History, OF_LOCKS, expect};
pub use crate::policy::simulate::load::Length as RunLength;
use crate::policy::simulate::load::{Length, Load, Random};
pub use crate::policy::simulate::plan::{Change, Gap, MOST_TASKS, Plan, Stream, To};
pub use crate::policy::simulate::report::{Report, UserReport};
pub use crate::policy::simulate::score::LaneScore;
use crate::policy::simulate::score::Score;
use crate::policy::simulate::simulate;
use crate::store::LockView;
pub(crate) use queue::longest;
use queue::{Queue, follow_rules, queue_as_it_is};
use std::collections::BTreeMap;

/// The limits of the effort for an estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Largest number of waiting tasks: with more there is no estimate.
    tasks: usize,
    /// Number of heads that may be looked at, over all runs.
    looks: u64,
    /// Number of bytes of the newest events that are read for durations.
    pub(crate) event_bytes: u64,
}

/// For a line that is printed while a caller waits: a few milliseconds.
pub const QUICK: Effort = Effort { tasks: 200, looks: 6_000, event_bytes: 128 * 1024 };
/// For an answer about one task: some tenths of a second at most.
pub const THOROUGH: Effort = Effort { tasks: 5_000, looks: 500_000, event_bytes: 8 * 1024 * 1024 };

/// Largest number of past estimates that are scored.
const MOST_SCORED: u64 = 500;

/// The expected start of a task, over the queue of all users. `None` if too little is known, or the effort does not suffice.
/// Changes nothing.
pub fn estimate_start(app: &App, task: &Task, effort: Effort) -> Result<Option<Estimate>, AppError> {
    let queue = expected_queue(app, Some(task), effort)?;
    Ok(queue.and_then(|queue| start_in(&queue, app, task, effort)))
}

/// As [`expected`], for tasks of one queue, each with its first reason to wait.
pub fn expected_starts<'a>(
    app: &App,
    tasks: impl Iterator<Item = (&'a Task, &'a Obstacle)>,
    effort: Effort,
) -> Result<BTreeMap<TaskId, Estimate>, AppError> {
    let Some(queue) = expected_queue(app, None, effort)? else { return Ok(BTreeMap::new()) };
    let ending = tasks.filter(|(_, obstacle)| !is_open(obstacle));
    Ok(map_of(ending.filter_map(|(task, _)| Some((task.id, start_in(&queue, app, task, effort)?)))))
}

/// The queue of all users with what is expected of it. `None` if the effort does not suffice.
fn expected_queue(app: &App, extra: Option<&Task>, effort: Effort) -> Result<Option<Queue>, AppError> {
    if app.is_absent || !app.store.has_layout()? {
        return Ok(None);
    }
    // Counting names costs a fraction of reading records.
    let most = u64::try_from(effort.tasks).unwrap_or(u64::MAX);
    if app.store.has_more_waiting_than(most, &|_| true)? {
        return Ok(None);
    }
    let history = history(app, effort.event_bytes)?;
    let Some(mut queue) = queue_as_it_is(app, &config_reload::config(app), &history, effort.tasks, extra)? else {
        return Ok(None);
    };
    expect(&mut queue.load, &history, &config_reload::config(app), app.host.now());
    follow_rules(app, &mut queue.load, &config_reload::config(app));
    Ok(Some(queue))
}

fn start_in(queue: &Queue, app: &App, task: &Task, effort: Effort) -> Option<Estimate> {
    let target = queue.places.get(&task.id)?;
    estimate(&queue.load, &queue.ledger, app.host.now(), *target, effort.looks, task.id.0)
}

/// Whether a reason to wait does not end by itself.
fn is_open(obstacle: &Obstacle) -> bool {
    let is_endless = matches!(obstacle, Obstacle::Paused { pause } if pause.until.is_none());
    is_endless
        || matches!(obstacle, Obstacle::OtherContext { .. } | Obstacle::NewerRecord { .. } | Obstacle::Cycle { .. })
}

/// Like `estimate_start`, for a task with reasons to wait: `None` without a reason, or with a reason that does not end by
/// itself.
pub fn expected(app: &App, task: &Task, reasons: &[Obstacle], effort: Effort) -> Result<Option<Estimate>, AppError> {
    if app.fleet.is_some() || reasons.is_empty() || reasons.iter().any(is_open) {
        return Ok(None);
    }
    estimate_start(app, task, effort)
}

/// The moment at which `lock` or `acquire` is expected to get a lane, behind so many others in its line. An error here does
/// not fail the verb.
pub(crate) fn expected_lock(app: &App, lane: &LaneName, ahead: u64) -> Option<Estimate> {
    let history = history_of_lane(app, lane, QUICK.event_bytes).ok()?;
    let now = app.host.now();
    let holders: Vec<Holding> = app
        .holders(lane)
        .ok()?
        .iter()
        .filter(|view| !view.verdict.is_stale())
        .map(|view| holding(app, view, lane, &history, now))
        .collect();
    let lengths = history.lengths(None, std::slice::from_ref(lane));
    estimate_lock(&holders, config_reload::config(app).limit(lane), ahead, &lengths, now)
}

fn holding(app: &App, view: &LockView, lane: &LaneName, history: &History, now: Timestamp) -> Holding {
    let record = view.record();
    let since = record.and_then(|record| record.acquired_at).unwrap_or(now);
    let task = view.holder().and_then(TaskId::parse).and_then(|id| app.find(id).ok().flatten());
    let work = task.map(|(_, task)| task.work());
    Holding { since, length: history.lengths(work.as_deref(), std::slice::from_ref(lane)) }
}

/// The durations of work in the newest events.
pub(crate) fn history(app: &App, bytes: u64) -> Result<History, AppError> {
    let mut history = History::default();
    app.store.recent_events(bytes, &mut |event| {
        if let Some(record) = Record::of(event.at, &event.line) {
            history.take(&record);
        }
        true
    })?;
    Ok(history)
}

/// Like [`history`], for one lane and the work of its holders. Many processes may wait for one lane, and each asks: the lines of
/// other events are not parsed.
fn history_of_lane(app: &App, lane: &LaneName, bytes: u64) -> Result<History, AppError> {
    let mut history = History::default();
    let named = serde_json::Value::from(lane.to_string()).to_string();
    app.store.recent_unparsed(bytes, &mut |line| {
        if line.is_of("finished") {
            let record = line.event().and_then(|event| Record::of(event.at, &event.line));
            record.iter().for_each(|record| history.take(record));
        } else if OF_LOCKS.into_iter().any(|kind| line.is_of(kind)) && line.text().contains(&named) {
            history.take_lock(line.text());
        }
    })?;
    Ok(history)
}

/// The quality of the estimates for tasks that were accepted since a moment, by lane. The queue of each moment is replayed
/// with what was known then.
pub fn estimate_scores(app: &App, since: Timestamp) -> Result<BTreeMap<String, LaneScore>, AppError> {
    if app.is_absent {
        return Ok(BTreeMap::new());
    }
    // The newest tasks count; earlier ones only serve to learn.
    let mut begin: Vec<Timestamp> = Vec::new();
    let config = config_reload::config(app);
    app.store.visit_events(since, &mut |event| {
        if event.line.get("event").and_then(serde_json::Value::as_str) == Some("enqueued") {
            begin.push(event.at);
        }
        true
    })?;
    let skipped = begin.len().saturating_sub(usize::try_from(MOST_SCORED).unwrap_or(usize::MAX));
    let since = begin.get(skipped).copied().unwrap_or(since);
    let mut score = Score::new(since, &config, MOST_SCORED);
    app.store.visit_events(Timestamp::FIRST, &mut |event| {
        if let Some(record) = Record::of(event.at, &event.line) {
            score.take(&record);
        }
        true
    })?;
    Ok(score.finish())
}

/// A time that is not exact: `about 4m`.
pub fn about(ms: u64) -> String {
    format!("about {}", rough(ms))
}

/// A length in the largest unit of which the length has a few.
pub fn rough(ms: u64) -> String {
    let unit = match ms {
        0..90_000 => 1000,
        90_000..5_400_000 => 60_000,
        _ => 1_800_000,
    };
    format_duration((ms.saturating_add(unit / 2) / unit).max(1) * unit)
}

/// Largest number of waiting tasks of the present queue that are simulated.
const MOST_WAITING: usize = 100_000;
/// Number of bytes of the newest events that are read for durations.
const EVENT_BYTES: u64 = 32 * 1024 * 1024;
/// Assumed run time of a task whose kind has no history, in milliseconds.
pub const ASSUMED_MS: u64 = 60_000;

/// The outcome with the present rules, and with the changes.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// With the present rules, from the first moment on.
    pub now: Report,
    /// With the changes.
    pub then: Option<Report>,
    /// Number of tasks that were assumed to run for [`ASSUMED_MS`], because their kind has no history.
    pub assumed: u64,
    /// The begin; reports count from there.
    pub begin: Timestamp,
}

/// Runs a described load, and again with changes.
pub fn simulate_plan(plan: &Plan, changes: &[Change], seed: u64) -> Outcome {
    let of = |plan: &Plan| {
        let mut random = Random::new(seed);
        let load = plan.load(&mut random);
        simulate(&load, Ledger::default(), Timestamp(0), &mut random)
    };
    let mut changed = plan.clone();
    changes.iter().for_each(|change| change.apply(&mut changed.config));
    let then = (!changes.is_empty()).then(|| of(&changed));
    Outcome { now: of(plan), then, assumed: 0, begin: Timestamp(0) }
}

/// Runs the present queue, and again with changes. Lengths are drawn once from those that were seen.
pub fn simulate_queue(app: &App, changes: &[Change], seed: u64) -> Result<Outcome, AppError> {
    let begin = app.host.now();
    let nothing = || simulate(&Load::empty(1, [1; 3]), Ledger::default(), begin, &mut Random::new(seed));
    if app.is_absent || !app.store.has_layout()? {
        let then = (!changes.is_empty()).then(nothing);
        return Ok(Outcome { now: nothing(), then, assumed: 0, begin });
    }
    let history = history(app, EVENT_BYTES)?;
    let mut assumed = 0;
    let mut of = |config: &Config| -> Result<Report, AppError> {
        let Some(mut queue) = queue_as_it_is(app, config, &history, MOST_WAITING, None)? else {
            let message = format!("more than {MOST_WAITING} tasks wait, which are too many to simulate");
            return Err(AppError::usage(message).hint("describe the load in a file: luzia simulate --help"));
        };
        follow_rules(app, &mut queue.load, config);
        let mut random = Random::new(seed);
        assumed = 0;
        for job in &mut queue.load.jobs {
            let ran = job.since.map_or(0, |since| begin.saturating_ms_since(since));
            let drawn = job.length.draw(ran, &mut random);
            assumed += u64::from(drawn.is_none() && job.is_task);
            job.length = Length::Fixed(drawn.unwrap_or(ran.saturating_add(ASSUMED_MS)));
        }
        Ok(simulate(&queue.load, queue.ledger, begin, &mut random))
    };
    let mut changed = Config::clone(&config_reload::config(app));
    changes.iter().for_each(|change| change.apply(&mut changed));
    let then = if changes.is_empty() { None } else { Some(of(&changed)?) };
    let now = of(&config_reload::config(app))?;
    Ok(Outcome { now, then, assumed, begin })
}

#[cfg(test)]
mod tests {
    use super::about;
    use crate::store::tests_support::task;

    #[test]
    fn a_rough_time_has_one_unit() {
        let said = [0, 1499, 89_000, 90_000, 240_000, 5_399_000, 5_400_000, 7_000_000].map(about);
        let wanted = ["1s", "1s", "1m29s", "2m", "4m", "1h30m", "1h30m", "2h"].map(|text| format!("about {text}"));
        assert_eq!(said, wanted);
    }

    #[test]
    fn work_is_the_first_two_words_and_the_directory() {
        let of = |words: &[&str], cwd: &str| {
            let mut one = task(1);
            one.command = words.iter().map(|word| (*word).to_owned()).collect();
            one.cwd = cwd.to_owned();
            one.work()
        };
        assert_eq!(of(&["make", "test", "-j8"], "/a"), of(&["make", "test"], "/a"));
        assert_eq!(of(&["sh", "-c", "make test && true"], "/a"), of(&["make", "test"], "/a"));
        assert_ne!(of(&["make", "test"], "/a"), of(&["make", "test"], "/b"));
        assert_ne!(of(&["make", "test"], "/a"), of(&["make", "lint"], "/a"));
    }
}
