//! Outward directories in which an error kept the end of their task from being recorded: closed late, by `cleanup-stale`.

use crate::app::config_reload::{conductor_path, config};
use crate::app::{App, AppError};
use crate::model::{Name, Task, TaskId};
use crate::store::Place;

/// A conductor directory that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// Its project; `None` for one whose tasks have no project of the configuration.
    pub project: Option<String>,
    /// Its path.
    pub path: String,
    /// Its fault.
    pub why: String,
}

/// Closes the directories in `active/` that finished tasks have left; returns the ids of these tasks. An error of a conductor
/// directory never delays the end of a task, so the directory is closed here. One that cannot be used is reported.
pub(crate) fn close_outward(app: &App, dry_run: bool) -> Result<(Vec<TaskId>, Vec<Failed>), AppError> {
    let (mut closed, mut failed) = (Vec::new(), Vec::new());
    for path in conductors(app)? {
        let opened = app.run_dir.conductor(&path, false);
        let listed = opened.and_then(|conductor| match conductor {
            Some(conductor) => conductor.active_ids().map(|ids| Some((conductor, ids))),
            None => Ok(None),
        });
        let (conductor, ids) = match listed {
            Ok(Some(listed)) => listed,
            Ok(None) => continue,
            Err(error) => {
                failed.push(Failed { project: None, path, why: error.to_string() });
                continue;
            }
        };
        for id in ids {
            if dry_run {
                let found = app.store.find(id)?;
                let is_late = |(place, task): &(Place, Task)| *place == Place::Done && task.conductor_dir == path;
                closed.extend(found.is_some_and(|found| is_late(&found)).then_some(id));
                continue;
            }
            // Under the lock of the task, so that no process retries it meanwhile.
            let Some((task, lock)) = app.store.take_finished(id)? else { continue };
            if task.conductor_dir == path {
                closed.extend(conductor.close_late(&task).is_ok().then_some(id));
            }
            app.store.discard_leftovers(id, Some(&task), lock)?;
        }
    }
    Ok((closed, failed))
}

/// The path of every conductor directory that tasks may have: those below the state directory, and those of the configuration. If
/// the state directory is a copy, those of the configuration belong to its original and are left out.
pub(crate) fn conductors(app: &App) -> Result<Vec<String>, AppError> {
    let mut paths = app.run_dir.default_conductors()?;
    if app.store.copied_from().is_some() {
        return Ok(paths);
    }
    for (project, settings) in &config(app).projects {
        let user = settings.user.as_ref().map_or("", Name::as_str);
        let own = settings.conductor_dir.iter();
        paths.extend(own.map(|template| conductor_path(template, project.as_str(), user)));
    }
    paths.sort_unstable();
    paths.dedup();
    Ok(paths)
}
