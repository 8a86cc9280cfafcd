//! `cleanup-stale`: removes locks that are proven stale, and brings dead tasks to their end.
//! `close_outward` closes, late, the outward directories in which an error kept the end of their task from being recorded.

use crate::app::breaks::broken_event;
use crate::app::check_project::{check_project, conductor_of};
use crate::app::config_reload::{conductor_path, config};
use crate::app::lifecycle::Pass;
use crate::app::pass::recover_one;
use crate::app::pass::recovery::await_recovery;
use crate::app::{App, AppError};
use crate::model::{Name, Task, TaskId};
use crate::policy::staleness::judge;
use crate::store::{Cleanup, Place};

/// Results of a clean-up, or of its dry run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cleaned {
    /// Results for locks.
    pub locks: Cleanup,
    /// Dead tasks that were recovered, or are being recovered by a supervisor of their own.
    pub recovered: Vec<TaskId>,
    /// Finished tasks whose outward directory was brought to its end late.
    pub closed: Vec<TaskId>,
    /// Claims of a project's `meta.json` that were refused, or that released a lock.
    pub projects: Vec<crate::app::check_project::Checked>,
    /// Conductor directories that could not be looked through because of an error. Everything else was done.
    pub failed: Vec<Failed>,
}

impl Cleaned {
    /// An error in the middle, with what was done before it.
    fn beside(&self, error: AppError) -> AppError {
        let lanes = self.locks.broken.iter().map(|lock| format!("lane \"{}\" was freed", lock.lane));
        let released = self.projects.iter().filter_map(|checked| checked.released.as_ref());
        let released = released.map(|lock| format!("lane \"{}\" was released", lock.lane));
        let recovered = self.recovered.iter().map(|id| format!("{id} was recovered"));
        let done: Vec<String> = lanes.chain(released).chain(recovered).collect();
        if done.is_empty() {
            return error;
        }
        error
            .reworded(|why| format!("{}, but the rest was not cleaned up: {why}", done.join(", ")))
            .hint("a further `luzia cleanup-stale` does the rest")
    }
}

/// Removes stale locks and recovers dead tasks; with `dry_run`, only reports. Checks every configured project too.
pub fn cleanup_stale(app: &App, max_age_ms: Option<u64>, dry_run: bool) -> Result<Cleaned, AppError> {
    let mut cleaned = Cleaned::default();
    match clean(app, max_age_ms, dry_run, &mut cleaned) {
        Err(error) if !dry_run => Err(cleaned.beside(error)),
        other => other.map(|()| cleaned),
    }
}

fn clean(app: &App, max_age_ms: Option<u64>, dry_run: bool, cleaned: &mut Cleaned) -> Result<(), AppError> {
    if !app.store.has_locks()? {
        return Ok(());
    }
    let mut pass = Pass::default();
    // Inside a task nothing is recovered.
    let dead = if app.inside.is_none() { app.store.unsupervised()? } else { Vec::new() };
    for id in dead {
        if dry_run || recover_one(app, id, &mut pass)? {
            cleaned.recovered.push(id);
        }
    }
    if !dry_run {
        await_recovery(app, &cleaned.recovered)?;
    }
    (cleaned.closed, cleaned.failed) = close_outward(app, dry_run)?;
    let timeout = |lane: &crate::model::LaneName| config(app).lock_timeout_ms(lane);
    let locks = app.store.clean_locks(&timeout, max_age_ms, dry_run, judge, &mut cleaned.locks);
    if !dry_run {
        for lock in &cleaned.locks.broken {
            app.store.note(&broken_event(lock));
        }
    }
    locks?;
    cleaned.locks.debris.extend(app.store.clean_spool(dry_run)?);
    for project in config(app).projects.keys() {
        match check_project(app, project, dry_run) {
            Ok(checked) => cleaned.projects.extend(checked),
            Err(error) => {
                let path = conductor_of(app, project)?;
                cleaned.failed.retain(|failed| failed.path != path);
                let (project, why) = (Some(project.clone()), error.to_string());
                cleaned.failed.push(Failed { project, path, why });
            }
        }
    }
    Ok(())
}

/// A conductor directory that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// The project of the directory; `None` for one whose tasks have no project of the configuration.
    pub project: Option<String>,
    /// The path of the directory.
    pub path: String,
    /// The fault of the directory.
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
