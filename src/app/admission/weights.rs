//! The weights of tasks in fair share.

use crate::app::App;
use crate::app::config_reload::config;
use crate::model::{Config, LaneName, Task};
use crate::policy::fair::{Payer, Weights};

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
