//! `simulate`: a described load, or the present queue, and the effect of changed limits and weights on it.

use super::queue::{follow_rules, queue_as_it_is};
use crate::app::{App, AppError, config_reload, estimate};
use crate::model::{Config, Timestamp};
use crate::policy::fair::Ledger;
pub use crate::policy::simulate::load::Length as RunLength;
use crate::policy::simulate::load::{Length, Load, Random};
pub use crate::policy::simulate::plan::{Change, Gap, MOST_TASKS, Plan, Stream, To};
pub use crate::policy::simulate::report::{Report, UserReport};
use crate::policy::simulate::simulate;

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
    let history = estimate::history(app, EVENT_BYTES)?;
    let mut assumed = 0;
    let mut of = |config: &Config| -> Result<Report, AppError> {
        let Some(mut queue) = queue_as_it_is(app, config, &history, MOST_WAITING, None)? else {
            let message = format!("more than {MOST_WAITING} tasks wait, and so many are not simulated");
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
