//! Remains of a killed enqueuer in the spool: temporary files, and hints and keys of a task that was never accepted. They are
//! harmless; they are removed so that they do not accumulate.

use crate::model::calendar::Schedule;
use crate::model::{Alarm, TaskId, Timer};
use crate::os::FileKind;
use crate::store::{Place, Result, Spool, file_name, layout};

/// Minimum age for removal, in milliseconds: younger files may belong to an enqueuer that is at work.
const YOUNG_MS: i64 = 3_600_000;

impl Spool {
    /// Removes files that killed enqueuers left more than an hour ago; returns the paths. With `dry_run`, only lists them.
    pub fn clean_spool(&self, dry_run: bool) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut staged = Vec::new();
        for entry in self.list(layout::TMP)? {
            let path = format!("{}/{}", layout::TMP, entry.name);
            if entry.kind != FileKind::Dir {
                found.push((path, None));
            } else if file_name::is_staged(&entry.name) && self.is_old(&path)? {
                let records = self.list(&path)?.into_iter().filter(|entry| entry.kind != FileKind::Dir);
                found.extend(records.map(|entry| (format!("{path}/{}", entry.name), Some(path.clone()))));
                staged.push(path);
            }
        }
        for lane in self.list(layout::ORDER)? {
            let folder = format!("{}/{}", layout::ORDER, lane.name);
            for entry in self.list(&folder)? {
                if !self.is_marker_used(&entry.name)? {
                    found.push((format!("{folder}/{}", entry.name), Some(folder.clone())));
                }
            }
        }
        for (dependency, waiting) in self.dependencies()? {
            let folder = layout::after(dependency);
            for id in waiting {
                if self.meta(&layout::parked(id))?.is_none() {
                    found.push((format!("{folder}/{}", id.0), Some(folder.clone())));
                }
            }
        }
        found.extend(self.unused_warned()?.into_iter().map(|path| (path, None)));
        found.extend(self.dead_job_servers(&|_| true)?.into_iter().map(|path| (path, None)));
        found.extend(self.unused_timers()?.into_iter().map(|(path, folder)| (path, Some(folder))));
        let mut removed = Vec::new();
        for (path, folder) in found {
            if !self.is_old(&path)? {
                continue;
            }
            if !dry_run {
                self.unlink(&path)?;
                folder.map(|folder| self.remove_dir(&folder)).transpose()?;
            }
            removed.push(path);
        }
        if !dry_run {
            for folder in staged {
                self.remove_dir(&folder)?;
            }
            // A power cut may leave an empty folder of hints or parked tasks; a folder in use is not empty.
            for root in [layout::ORDER, layout::AFTER, layout::TIMERS, layout::PARKED] {
                for folder in self.list(root)? {
                    self.remove_dir(&format!("{root}/{}", folder.name))?;
                }
            }
        }
        removed.extend(self.clean_keys(dry_run)?);
        Ok(removed)
    }

    fn is_old(&self, path: &str) -> Result<bool> {
        Ok(self.meta(path)?.is_some_and(|meta| self.host.clock.now().ms_since(meta.modified) > YOUNG_MS))
    }

    fn is_timer_used(&self, timer: &Timer) -> Result<bool> {
        let is_next = |found: Option<Schedule>| found.is_some_and(|schedule| schedule.next == Some(timer.at));
        match &timer.alarm {
            // A timer of a damaged schedule may be needed.
            Alarm::Schedule(key) => Ok(self.schedule_at(key).map_or(true, is_next)),
            Alarm::Task(id) => self.is_unfinished(*id),
        }
    }

    /// Timers of tasks that are missing or finished, and of slots that no schedule waits for, each with its folder. A timer far
    /// ahead would otherwise stay until then. Only old timers are looked up, because a look-up costs a look at every lane.
    fn unused_timers(&self) -> Result<Vec<(String, String)>> {
        let mut unused = Vec::new();
        for hour in self.folders(layout::TIMERS)? {
            let folder = format!("{}/{hour}", layout::TIMERS);
            for entry in self.list(&folder)? {
                let path = format!("{folder}/{}", entry.name);
                let Some(timer) = file_name::timer(&entry.name) else { continue };
                if self.is_old(&path)? && !self.is_timer_used(&timer)? {
                    unused.push((path, folder.clone()));
                }
            }
        }
        Ok(unused)
    }

    /// Whether a task exists and is not finished. Looks twice, because a look may miss a record that moves.
    pub fn is_unfinished(&self, id: TaskId) -> Result<bool> {
        let mut place = self.place_of(id)?;
        if place.is_none() {
            place = self.place_of(id)?;
        }
        Ok(place.is_some_and(|place| place != Place::Done))
    }

    /// Whether a mark of order belongs to a task that waits for its turn. A foreign name counts as used.
    fn is_marker_used(&self, name: &str) -> Result<bool> {
        let Some((priority, id, user)) = file_name::order(name) else { return Ok(true) };
        Ok(self.pending_path(priority, user, id)?.is_some())
    }

    /// Keys that mean no unfinished task. An enqueuer holds a key until its task is accepted, so age does not matter.
    fn clean_keys(&self, dry_run: bool) -> Result<Vec<String>> {
        let mut removed = Vec::new();
        for entry in self.list(layout::KEYS)? {
            let path = format!("{}/{}", layout::KEYS, entry.name);
            let Some(mut slot) = self.try_key(&path)? else { continue };
            let mut is_in_use = false;
            for id in slot.holders()? {
                is_in_use |= self.locate(id)?.is_some_and(|(place, _)| place != Place::Done);
            }
            if !is_in_use {
                if !dry_run {
                    self.unlink(&path)?;
                }
                removed.push(path);
            }
        }
        Ok(removed)
    }
}
