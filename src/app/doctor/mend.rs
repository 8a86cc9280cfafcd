//! The repairs that are safe at any time: folders, modes, recovery, stale locks, debris, lost hints. Changes the content
//! of no record, and removes no record, no set-aside file, no lock that may be alive, and nothing that luzia did not make.

use crate::app::doctor::checks_host::wrong_modes;
use crate::app::doctor::checks_queue::{Waker, unwoken};
use crate::app::doctor::checks_waiting::{untimed, unwatched};
use crate::app::locks::cleanup::cleanup_stale;
use crate::app::{App, AppError};
use crate::model::{ScheduleKey, Timer};

/// Results of a repair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mended {
    /// A sentence for each repair that was made.
    pub done: Vec<String>,
    /// A sentence for each repair that failed.
    pub failed: Vec<String>,
}

impl Mended {
    fn keep<T, E: Into<AppError>>(&mut self, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.failed.push(error.into().to_string())).ok()
    }
}

/// Makes every safe repair. Does nothing in a directory that belongs to another account, or that is not safe to use even with
/// its mode set right.
pub fn mend(app: &App, forces_file_system: bool) -> Mended {
    let mut mended = Mended::default();
    let root = mended.keep(app.store.root_meta());
    let Some(Some(root)) = root else { return mended };
    if root.uid != app.host.owner() {
        mended.failed.push("the state directory belongs to another account; nothing was changed".to_owned());
        return mended;
    }
    if mended.keep(app.store.has_layout()).is_none() {
        return mended;
    }
    mend_modes(app, &mut mended);
    let safe = app.store.check_safety(forces_file_system, false);
    if mended.keep(safe).is_none() || !app.store.has_layout().unwrap_or(false) {
        return mended;
    }
    mend_copy(app, &mut mended);
    let made = mended.keep(app.store.make_folders()).unwrap_or_default();
    mended.done.extend(made.iter().map(|folder| format!("\"{folder}\" was made again")));
    mend_locks(app, &mut mended);
    let result = mend_parked(app, &mut mended);
    mended.keep(result);
    let result = mend_schedules(app, &mut mended);
    mended.keep(result);
    let left = mended.keep(app.run_dir.left_groups()).unwrap_or_default();
    for (name, group) in left {
        app.host.remove_group(&group);
        mended.done.push(format!("the control group \"{name}\" was removed"));
    }
    mended
}

/// Makes a copy a directory of its own, unless its original is still there, which `doctor` names.
fn mend_copy(app: &App, mended: &mut Mended) {
    let Some(original) = app.store.copied_from() else { return };
    let parted = app.store.part_from_original();
    if mended.keep(parted) == Some(true) {
        mended.done.push(format!("the copy of \"{original}\" is a state directory of its own now"));
    }
}

fn mend_modes(app: &App, mended: &mut Mended) {
    for (moded, wanted) in mended.keep(wrong_modes(app)).unwrap_or_default() {
        let changed = app.store.set_mode(&moded.path, wanted);
        if mended.keep(changed).is_some() {
            mended.done.push(format!("\"{}\" has mode {wanted:04o} now, it had {:04o}", moded.path, moded.mode));
        }
    }
}

fn mend_locks(app: &App, mended: &mut Mended) {
    let Some(cleaned) = mended.keep(cleanup_stale(app, None, false)) else { return };
    mended.done.extend(cleaned.recovered.iter().map(|id| format!("{id} was recovered")));
    mended.done.extend(cleaned.closed.iter().map(|id| format!("the outward directory of {id} was closed")));
    for lock in &cleaned.locks.broken {
        let holder = lock.holder.as_deref().unwrap_or("an unknown holder");
        mended.done.push(format!("the stale lock of lane \"{}\" was removed, {holder} had it", lock.lane));
    }
    let rebuilt = cleaned.locks.rebuilt.iter();
    mended.done.extend(rebuilt.map(|lane| format!("the sidecar of lane \"{lane}\" was written anew")));
    for failed in &cleaned.failed {
        mended.failed.push(format!("the conductor directory \"{}\": {}", failed.path, failed.why));
    }
    mended.done.extend(cleaned.locks.debris.iter().map(|name| format!("\"{}\" was removed", path_of(name))));
}

fn mend_parked(app: &App, mended: &mut Mended) -> Result<(), AppError> {
    for (id, missing) in unwoken(app)? {
        for waker in missing {
            match waker {
                Waker::Timer(at) => app.store.set_timer(&Timer::of(id, at))?,
                Waker::After(other) => app.store.mark_after(id, other)?,
            }
        }
        mended.done.push(format!("{id} will wake again"));
    }
    for (task, timers) in unwatched(app)? {
        for at in timers {
            app.store.set_timer(&Timer::of(task.id, at))?;
        }
        mended.done.push(format!("{} will be looked at again", task.id));
    }
    app.store.ring();
    Ok(())
}

fn mend_schedules(app: &App, mended: &mut Mended) -> Result<(), AppError> {
    for (schedule, at) in untimed(app)? {
        app.store.set_timer(&Timer::of(&ScheduleKey::of(&schedule.name), at))?;
        mended.done.push(format!("the schedule \"{}\" will make its tasks again", schedule.name));
    }
    Ok(())
}

/// The path of something that was removed: debris beside locks has a name only.
fn path_of(name: &str) -> String {
    if name.contains('/') { name.to_owned() } else { format!("locks/{name}") }
}
