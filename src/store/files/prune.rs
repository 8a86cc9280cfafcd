//! Removal of finished tasks that are no longer kept, and the search of finished tasks by their purpose.
//!
//! The caller decides which tasks go. All that belongs to them goes as well: the record, the directory in the default conductor
//! directory with the logs (`prune_day`), and the events of a day once no record of it is left (`prune_events`). `last_ended`
//! finds a finished task by its key or its goal. It reads the records of the days in question, so a finished task leaves no index
//! behind that would have to be kept in step.

use crate::model::sorted::sort_by_key;
use crate::model::task::FIRST_GRANTED;
use crate::model::{Task, TaskId, Timestamp};
use crate::os::{FileKind, Vfs};
use crate::store::{Add, Part, Place, Result, Segment, Spool, StoreError, layout};

/// Number of digits of the moment in `spool/pruned`, so that a shorter moment never leaves an end of a longer one behind.
const DIGITS: usize = 20;

/// Number of segments of events that are removed at one time: each is read once more, which takes a tenth of a second.
const MOST_SEGMENTS: usize = 4;

impl Spool {
    /// The next time to look for tasks to remove; `None` when no process has set it yet.
    pub fn prune_due(&self) -> Result<Option<Timestamp>> {
        let Some(bytes) = self.read_known(layout::PRUNED)? else { return Ok(None) };
        Ok(std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok()).map(Timestamp))
    }

    /// Sets the next time to look. Unsynced: it only spares work.
    pub fn set_prune_due(&self, at: Timestamp) -> Result<()> {
        let text = format!("{:0DIGITS$}\n", at.0.max(0));
        loop {
            let mut file = self.open_or_make(layout::PRUNED)?;
            if self.is_alone(file.as_mut(), layout::PRUNED)? {
                return file.write_at_start(text.as_bytes()).map_err(StoreError::io("write", layout::PRUNED));
            }
        }
    }

    /// The days on which tasks ended, each with the number of its records; by names only.
    pub fn done_days(&self) -> Result<Vec<(String, u64)>> {
        let mut days = Vec::new();
        for day in self.folders(layout::DONE)? {
            let count = self.records(&layout::done_day(&day))?.len();
            days.push((day, crate::store::files::disk::publish::number(count)));
        }
        Ok(days)
    }

    /// Removes the `count` finished tasks of a day with the lowest numbers; returns those that are gone. A task that other
    /// tasks still wait for, or whose lock another process holds, is left for another time.
    pub fn prune_day(&self, day: &str, count: u64) -> Result<Vec<TaskId>> {
        let folder = layout::done_day(day);
        let mut ids = self.records(&folder)?;
        ids.sort_unstable();
        ids.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        let mut gone = Vec::new();
        for id in ids {
            if self.prune_task(day, id)? {
                gone.push(id);
            }
        }
        self.remove_dir(&folder)?;
        Ok(gone)
    }

    /// Removes a finished granted task whose end its scheduler knows, so that it can be assigned to this host again. False if it
    /// is not over here.
    pub fn forget_posted(&self, id: TaskId) -> Result<bool> {
        for (day, _) in self.done_days()? {
            if self.meta(&layout::done(&day, id))?.is_some() {
                return self.prune_task(&day, id);
            }
        }
        Ok(false)
    }

    /// Removes one finished task. Commit point: the unlink of its record; a crash before it leaves a record without logs, and
    /// the next pruning goes on.
    fn prune_task(&self, day: &str, id: TaskId) -> Result<bool> {
        let is_waited_for = self.meta(&layout::after(id))?.is_some();
        if is_waited_for || self.is_unposted(id)? || self.meta(&layout::run_dir(id))?.is_some() {
            return Ok(false);
        }
        let Some(lock) = self.run_dir.take_supervisor_lock(id)? else { return Ok(false) };
        let path = layout::done(day, id);
        // A retry meanwhile has left traces, or has moved the record.
        let is_open = self.meta(&layout::result(id))?.is_some() || self.started(id)?.is_some();
        let task = if is_open { None } else { self.read_record(Place::Done, &path, id).unwrap_or(None) };
        if let Some(task) = &task {
            self.remove_conductor_dir(task)?;
            self.remove_steps(id)?;
            self.unlink(&path)?;
            if id >= FIRST_GRANTED {
                self.unlink(&layout::posted(id))?;
            }
        }
        if !is_open {
            self.remove_run_dir(id)?;
        }
        drop(lock);
        Ok(task.is_some())
    }

    /// Removes the outward directory of a task if luzia made it for itself; a configured one is never touched.
    fn remove_conductor_dir(&self, task: &Task) -> Result<()> {
        let own = self.run_dir.default_conductor(task.project.as_ref().map(|project| project.as_str()));
        if task.conductor_configured || task.conductor_dir != own {
            return Ok(());
        }
        let Some(files) = self.vfs.open_root(&own, false).map_err(StoreError::io("open", &own))? else { return Ok(()) };
        for place in ["done", "active"] {
            remove_tree(files.as_ref(), format!("{place}/{}", task.id))?;
        }
        Ok(())
    }

    /// Removes the events of every day before `first_kept` and of each day in `days`. Then it removes the oldest segments until
    /// the rest is at most `most_bytes` large. One call removes a few segments. `add` counts the removed events.
    pub fn prune_events(&self, first_kept: &str, days: &[String], most_bytes: u64, add: &Add<'_>) -> Result<()> {
        let (mut gone, mut kept): (Vec<Segment>, Vec<Segment>) = self
            .event_segments()?
            .into_iter()
            .partition(|segment| segment.day.as_str() < first_kept || days.contains(&segment.day));
        let today = self.host.clock.now().day();
        let newest = self.newest_segment(&today)?;
        // The first segment of a day goes last: while it is there and full, writers go on to the newest one.
        sort_by_key(&mut kept, |segment| (segment.day.clone(), segment.number == 1, segment.number));
        let mut sizes = Vec::new();
        for segment in kept {
            let size = self.meta(&segment.path())?.map_or(0, |meta| meta.size);
            sizes.push((segment, size));
        }
        let mut total: u64 = sizes.iter().map(|(_, size)| *size).sum();
        for (segment, size) in sizes {
            let is_in_use = segment == newest || segment == Segment::first(&today);
            if total > most_bytes && !is_in_use {
                gone.push(segment);
                total -= size;
            }
        }
        gone.truncate(MOST_SEGMENTS);
        self.remove_segments(&gone, add)
    }
}

/// Removes a folder with all its content, without following a link. A command may have left anything there.
pub(crate) fn remove_tree(files: &dyn Vfs, top: String) -> Result<()> {
    let mut folders = vec![top];
    while let Some(folder) = folders.last().cloned() {
        let entries = files.list(&folder).map_err(StoreError::io("list", &folder))?.unwrap_or_default();
        let depth = folders.len();
        for entry in entries {
            let path = format!("{folder}/{}", entry.name);
            match entry.kind {
                FileKind::Dir => folders.push(path),
                _ => drop(files.unlink(&path).map_err(StoreError::io("remove", &path))?),
            }
        }
        if folders.len() == depth {
            let is_gone = files.remove_dir(&folder).map_err(StoreError::io("remove", &folder))?;
            let is_left = !is_gone && files.meta(&folder).map_err(StoreError::io("look at", &folder))?.is_some();
            if is_left {
                // Another process writes there; left for another time.
                return Ok(());
            }
            folders.pop();
        }
    }
    Ok(())
}

impl Spool {
    /// The task that ended last, among those that `counts` and that ended at `since` or later. `text` is a part of its record,
    /// in JSON spelling: only such records are parsed whole. Costs a read for each task that ended since; a damaged record is
    /// passed over.
    pub fn last_ended(&self, text: &str, since: Timestamp, counts: &dyn Fn(&Task) -> bool) -> Result<Option<Task>> {
        let ended = |task: &Task| task.outcome().map(|outcome| outcome.completed_at);
        let first = since.day();
        let mut days = self.folders_if_any(layout::DONE)?;
        days.retain(|day| *day >= first);
        days.sort_unstable();
        for day in days.iter().rev() {
            let mut last: Option<Task> = None;
            for id in self.records(&layout::done_day(day))? {
                let path = layout::done(day, id);
                let bytes = match self.read(&path) {
                    Ok(Some(bytes)) if std::str::from_utf8(&bytes).is_ok_and(|record| record.contains(text)) => bytes,
                    Ok(_) | Err(StoreError::Corrupt { .. }) => continue,
                    Err(error) => return Err(error),
                };
                let Ok((task, _)) = self.read_named(Part::Whole, Place::Done, &path, &bytes, id) else { continue };
                let is_later = last.as_ref().is_none_or(|last| ended(last) < ended(&task));
                if is_later && ended(&task).is_some_and(|at| at >= since) && counts(&task) {
                    last = Some(task);
                }
            }
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }
}
