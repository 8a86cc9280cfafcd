//! `cleanup-stale`: removes locks that are proven stale, and brings dead tasks to their end.

use crate::app::breaks::broken_event;
use crate::app::check_project::{check_project, conductor_of};
use crate::app::config_reload::config;
use crate::app::lifecycle::report::{Pass, Unseen};
use crate::app::locks::close_conductor::{Failed, close_outward};
use crate::app::pass::unseen::{blindness, unseen};
use crate::app::pass::{recover_found, recover_one};
use crate::app::{App, AppError, lane_word, pass};
use crate::model::TaskId;
use crate::policy::staleness::judge;
use crate::policy::witness::Blind;
use crate::store::Cleanup;
use crate::supervise::seen;

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

/// Waits until the supervisors that recover these tasks have ended, so that their lanes are free afterwards. A command that
/// does not die is waited for as long as its grace, no longer.
pub(crate) fn await_recovery(app: &App, ids: &[TaskId]) -> Result<(), AppError> {
    let begin = app.host.boot_ms();
    for id in ids {
        let grace_ms = app.find(*id)?.map_or(0, |(_, task)| task.grace_ms);
        while app.run_dir.is_supervised(*id)?
            && !runs_again(app, *id)?
            && app.host.boot_ms().saturating_sub(begin) < grace_ms + 10_000
        {
            app.host.sleep(std::time::Duration::from_millis(5));
        }
    }
    Ok(())
}

/// Whether the supervisor that started a task lives. The supervisor of a task to be recovered is dead, and the process that
/// recovers the task records no start.
fn runs_again(app: &App, id: TaskId) -> Result<bool, AppError> {
    let started = app.store.started(id)?.flatten();
    Ok(started.is_some_and(|started| {
        let who = started.supervisor;
        who.boot_id == app.host.identity().boot_id && app.host.probe(who.pid).proves_life_of(who.start)
    }))
}

/// Recovers one dead task and waits for it, so that its lanes can be had.
pub(crate) fn recover_now(app: &App, id: TaskId) -> Result<(), AppError> {
    let Some(found) = app.store.find_abandoned(id)? else { return await_recovery(app, &[id]) };
    if let Some(why) = blindness(app, id, &found)? {
        // No pass will ever see processes with unknown ids: only a person can tell whether they live.
        let task = found.task.as_ref().filter(|_| why == Blind::UnknownPids);
        let lane = task.and_then(|task| task.all_lanes().first().map(lane_word));
        let force = lane.map(|lane| format!("luzia release {lane} --force"));
        return Err(unseen(&Unseen { task: id, why }).overriding(force));
    }
    let must_kill = crate::policy::recovery::needs_supervisor(seen(&found));
    drop(found);
    let mut pass = Pass::default();
    if app.inside.is_some() && must_kill {
        // Inside a task nothing is started; its own supervisor makes the pass that recovers.
        pass::pass(app)?;
    } else {
        recover_one(app, id, &mut pass)?;
    }
    await_recovery(app, &[id])
}

/// Recovers a dead task on the word of the person who releases its lane by force: its processes cannot be seen from here. A
/// task whose `tree.lock` is held certainly lives, so the word does not count.
pub(crate) fn recover_by_force(app: &App, id: TaskId) -> Result<(), AppError> {
    let Some(found) = app.store.find_abandoned(id)? else { return await_recovery(app, &[id]) };
    match blindness(app, id, &found)? {
        Some(why) if found.is_tree_locked => return Err(unseen(&Unseen { task: id, why })),
        Some(_) if app.inside.is_none() => {}
        Some(_) | None => {
            drop(found);
            return recover_now(app, id);
        }
    }
    recover_found(app, id, found, &mut Pass::default())?;
    await_recovery(app, &[id])
}
