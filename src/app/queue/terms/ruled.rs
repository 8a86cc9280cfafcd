//! The lanes that a task takes because there is a rule for its project or its goal (S2.F2, S3.F1).

use crate::app::lifecycle::change::change_waiting;
use crate::app::queue::enqueue::name;
use crate::app::{App, AppError, config_reload};
use crate::model::{LaneName, Name, Task};

/// The kinds of lanes that a task takes by a rule alone.
const RULED: [&str; 2] = ["project", "goal"];

/// Number of waiting tasks that get a lane when a rule is set.
const MOST_CHANGED: usize = 10_000;

/// Whether a lane or a pattern is of projects or goals.
pub fn is_ruled(lane: &str) -> bool {
    lane.split_once(':').is_some_and(|(kind, _)| RULED.contains(&kind))
}

/// Adds the lanes `project:NAME` and `goal:NAME` to those that a task names, if there is a rule for such a lane.
pub(crate) fn with_ruled_lanes(
    app: &App,
    mut lanes: Vec<LaneName>,
    project: Option<&Name>,
    goal: Option<&str>,
) -> Result<Vec<LaneName>, AppError> {
    if project.is_some() || goal.is_some() {
        config_reload::follow_control(app)?;
    }
    let config = config_reload::config(app);
    for (kind, key) in RULED.into_iter().zip([project.map(Name::as_str), goal]) {
        let Some(key) = key else { continue };
        let means = |rule: &str| rule.strip_suffix('*').map_or(rule == key, |head| key.starts_with(head));
        if config.lanes.keys().filter_map(|rule| rule.strip_prefix(kind)?.strip_prefix(':')).any(means) {
            let lane = LaneName::new(kind, name(kind, key)?).map_err(|error| AppError::usage(error.to_string()))?;
            lanes.push(lane);
        }
    }
    lanes.sort();
    lanes.dedup();
    Ok(lanes)
}

/// Puts waiting tasks into the lanes of their projects and goals; returns their number. One that starts meanwhile goes on
/// without.
pub fn give_ruled_lanes(app: &App) -> Result<usize, AppError> {
    if !app.store.has_layout()? {
        return Ok(0);
    }
    let with = |task: &Task| with_ruled_lanes(app, task.lanes.clone(), task.project.as_ref(), task.goal.as_deref());
    // `doctor` reports a damaged record.
    let waiting = app.store.pending_tasks(None)?.flatten();
    let lacks: Vec<Task> =
        waiting.filter(|task| with(task).is_ok_and(|lanes| lanes != task.lanes)).take(MOST_CHANGED).collect();
    let changed = |task: &Task| Ok(Task { lanes: with(task)?, ..task.clone() });
    Ok(lacks.iter().filter(|task| change_waiting(app, task.id, "edited", changed).is_ok()).count())
}
