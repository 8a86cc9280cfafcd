//! What tasks pay with in fair share.

use crate::app::App;
use crate::app::config_reload::config;
use crate::model::{Config, LaneName, Task};
use crate::policy::fair::{Payer, Weights};

/// As [`weights_of`], by the rules in force.
pub(crate) fn current_weights(app: &App, task: &Task) -> Weights {
    weights_of(task, &config(app))
}

/// Whose slot time a task uses.
pub(crate) fn payer_of(app: &App, task: &Task) -> Payer {
    Payer { user: task.user.clone(), queue: task.queue(), weights: current_weights(app, task), has_shares: false }
}

/// What a task pays with in fair share: the weight of its user, of its project among those of the user, and the greatest of its
/// lanes; and how many slots it takes.
pub(crate) fn weights_of(task: &Task, config: &Config) -> Weights {
    let project = task.project.as_ref().filter(|_| task.agent.as_ref().is_none_or(|agent| agent.session.is_none()));
    let project = project.and_then(|project| LaneName::new("project", project.clone()).ok());
    Weights {
        share: project.map_or(1, |project| config.lane_weight(&project)),
        slots: task.lanes.iter().map(|lane| task.slots_of(lane)).max().unwrap_or(1),
        ..Weights::of(config, &task.user, &task.lanes)
    }
}
