//! Hints beside the records, for luzia and for people.
//!
//! The hints for luzia are the order of tasks in their further key lanes (`mark_order`), timers (`set_timer`), dependents
//! (`mark_after`) and keys (`KeySlot`). A hint without its record means nothing and goes away; a record never depends on one to
//! be found.
//!
//! The hints for people are one line each; a torn line is passed over. No promise rests on such a hint, so nothing of it is
//! synced. `remember_users` writes `spool/users`: the users for whom luzia has queued a task or held the lane, in the encoding of
//! file names: luzia proposes them for a mistyped name. `remember_places` writes `spool/places`: the directories behind lanes
//! with a name of digits, e.g. the repository of `git:0123456789abcdef`, which lists of locks show. A line has the lane, a tab,
//! and the path as JSON.

use crate::model::queue::digest;
use crate::model::sorted::{map_of, sort};
use crate::model::{Alarm, LaneName, Name, QueueName, ScheduleKey, Task, TaskId, Tier, Timer, Timestamp, Turn};
use crate::os::{Entry, Handle, Meta, Open};
use crate::store::{MAX_RECORD_BYTES, Place, Result, Spool, StoreError, file_name, layout};
use std::collections::{BTreeMap, BTreeSet};

/// Age at which a hint whose record never appeared counts as left by a crash, in milliseconds.
const ORPHAN_HINT_MS: i64 = 60_000;

/// The timers that a pass looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Timers {
    /// Timers of tasks that are due.
    pub due: Vec<(TaskId, Timestamp)>,
    /// Timers of schedules that are due.
    pub schedules: Vec<(ScheduleKey, Timestamp)>,
    /// The moment of the next timer.
    pub next: Option<Timestamp>,
    /// Some of the tasks whose timers come next.
    pub later: Vec<TaskId>,
}

/// Number of tasks whose timers come next that are reported.
const MOST_LATER: usize = 3;
/// Number of hours behind that of the next timer in which they are looked for.
const MOST_FURTHER: usize = 4;

impl Spool {
    fn order_marker(task: &Task, lane: &LaneName) -> String {
        let queue = task.queue();
        format!("{}/{}", layout::order(lane), file_name::order_name(task.priority, task.id, &queue))
    }

    /// Marks a task's place in its further key lanes, before its record appears in `pending`.
    pub(crate) fn mark_order(&self, task: &Task) -> Result<()> {
        for lane in task.lanes.iter().filter(|lane| lane.is_key_lane()) {
            let folder = layout::order(lane);
            self.touch(&Self::order_marker(task, lane), &folder)?;
        }
        Ok(())
    }

    /// Removes the marks of a task that no longer waits for its turn.
    pub(crate) fn unmark_order(&self, task: &Task) -> Result<()> {
        for lane in task.lanes.iter().filter(|lane| lane.is_key_lane()) {
            self.unlink(&Self::order_marker(task, lane))?;
            self.remove_dir(&layout::order(lane))?;
        }
        Ok(())
    }

    /// The first task of a tier in a key lane that tasks of several users may share.
    pub fn first_in(&self, lane: &LaneName, tier: Tier) -> Result<Option<Turn>> {
        let folder = layout::order(lane);
        let entries = self.list(&folder)?;
        let mark = |entry: &'_ Entry| {
            let (priority, id, queue) = file_name::order(&entry.name)?;
            let turn: Turn = (priority, QueueName::place_in(queue, id));
            (priority.tier() == tier).then(|| (turn, queue.to_owned(), entry.name.to_string()))
        };
        let mut marks: Vec<(Turn, String, String)> = entries.iter().filter_map(mark).collect();
        sort(&mut marks);
        for (turn, queue, name) in marks {
            let mark = format!("{folder}/{name}");
            let (priority, (_, id)) = turn;
            if self.pending_path(priority, &queue, id)?.is_some() || !self.is_orphan_hint(&mark)? {
                return Ok(Some(turn));
            }
            self.unlink(&mark)?;
        }
        Ok(None)
    }

    /// Number of tasks that wait for their turn in such a lane, by their marks.
    pub fn waiting_in(&self, lane: &LaneName) -> Result<u64> {
        let marks =
            self.list(&layout::order(lane))?.iter().filter(|entry| file_name::order(&entry.name).is_some()).count();
        Ok(u64::try_from(marks).unwrap_or(u64::MAX))
    }

    /// Whether a hint is so old that its record would have appeared long ago.
    fn is_orphan_hint(&self, path: &str) -> Result<bool> {
        let age = |meta: Meta| self.host.clock.now().ms_since(meta.modified);
        Ok(self.meta(path)?.map(age).is_none_or(|age| !(0..ORPHAN_HINT_MS).contains(&age)))
    }

    /// Sets a timer.
    pub fn set_timer(&self, timer: &Timer) -> Result<()> {
        let folder = layout::timer_hour(timer.at);
        self.touch(&layout::timer(timer), &folder)?;
        self.sync_mark(&folder, layout::TIMERS)
    }

    /// Removes a timer that fired or is no longer needed.
    pub fn clear_timer(&self, timer: &Timer) -> Result<()> {
        self.unlink(&layout::timer(timer))?;
        self.remove_dir(&layout::timer_hour(timer.at))?;
        Ok(())
    }

    /// Whether a timer is set.
    pub fn has_timer(&self, timer: &Timer) -> Result<bool> {
        Ok(self.meta(&layout::timer(timer))?.is_some())
    }

    /// Whether a timer is due, by one look if none is set.
    pub fn is_timer_due(&self) -> Result<bool> {
        self.timers(self.host.clock.now()).map(|found| !found.due.is_empty() || !found.schedules.is_empty())
    }

    /// The timers that are due, and the moment of the next one.
    pub fn timers(&self, now: Timestamp) -> Result<Timers> {
        let (mut timers, mut further) = (Timers::default(), 0);
        let mut hours: Vec<u64> =
            self.folders_if_any(layout::TIMERS)?.iter().filter_map(|name| file_name::number(name)).collect();
        hours.sort_unstable();
        for hour in hours {
            let entries = self.list(&format!("{}/{hour}", layout::TIMERS))?;
            let mut found: Vec<Timer> = entries.iter().filter_map(|entry| file_name::timer(&entry.name)).collect();
            sort(&mut found);
            let coming = found.iter().filter(|timer| timer.at > now);
            timers.next = timers.next.or(coming.clone().map(|timer| timer.at).next());
            timers.later.extend(coming.filter_map(Timer::task).take(MOST_LATER - timers.later.len()));
            for Timer { at, alarm } in found.into_iter().filter(|timer| timer.at <= now) {
                match alarm {
                    Alarm::Task(id) => timers.due.push((id, at)),
                    Alarm::Schedule(key) => timers.schedules.push((key, at)),
                }
            }
            if timers.next.is_some() {
                further += 1;
                if timers.later.len() >= MOST_LATER || further > MOST_FURTHER || self.is_nobody_parked()? {
                    break;
                }
            }
        }
        Ok(timers)
    }

    /// Whether no task is parked, by one look. Some file systems do not count the folders of a folder, and say 1.
    fn is_nobody_parked(&self) -> Result<bool> {
        Ok(self.meta(layout::PARKED)?.is_none_or(|meta| meta.links == 2))
    }

    /// Marks that `id` waits for the end of `dependency`.
    pub fn mark_after(&self, id: TaskId, dependency: TaskId) -> Result<()> {
        let folder = layout::after(dependency);
        self.touch(&layout::after_mark(id, dependency), &folder)?;
        self.sync_mark(&folder, layout::AFTER)
    }

    /// Makes a mark durable. Another process may have acted on it already, and have removed it and its folder.
    fn sync_mark(&self, folder: &str, above: &str) -> Result<()> {
        self.sync_if_there(folder)?;
        self.sync_dir(above)
    }

    /// Removes the mark that `id` waits for the end of `dependency`.
    pub fn clear_after(&self, id: TaskId, dependency: TaskId) -> Result<()> {
        let folder = layout::after(dependency);
        self.unlink(&layout::after_mark(id, dependency))?;
        self.remove_dir(&folder)?;
        Ok(())
    }

    /// Every task that other tasks wait for, with those tasks.
    pub fn dependencies(&self) -> Result<Vec<(TaskId, Vec<TaskId>)>> {
        let mut all = Vec::new();
        for name in self.folders_if_any(layout::AFTER)? {
            let Some(dependency) = file_name::task(&name) else { continue };
            all.push((dependency, self.tasks_in(&layout::after(dependency))?));
        }
        Ok(all)
    }

    /// Enters the transaction of a key: its file, locked. Dropping it leaves.
    pub fn enter_key(&self, key: &str) -> Result<KeySlot<'_>> {
        self.enter_slot(format!("{}/{}", layout::KEYS, crate::model::name::encode(key)))
    }

    /// Like `enter_key`, for a group of tasks that differ in the session only: its file has a name that no key has. Its
    /// holders are the tasks of the group, the last one first.
    pub fn enter_group(&self, task: &Task, group: &Name) -> Result<KeySlot<'_>> {
        let alone = Task { group: None, share: None, ..task.clone() };
        let digest = digest(&format!("{}\n{}\n{group}", task.priority.number(), alone.queue()));
        self.enter_slot(format!("{}/=g{digest}", layout::KEYS))
    }

    fn enter_slot(&self, path: String) -> Result<KeySlot<'_>> {
        let handle = self.locked_alone(&path)?;
        Ok(KeySlot { store: self, path, handle })
    }

    /// Like `enter_slot`, for a key file that exists, without waiting; `None` when it is gone or another process is in it.
    pub(crate) fn try_key(&self, path: &str) -> Result<Option<KeySlot<'_>>> {
        let Some(mut handle) = self.open(path, Open::Existing)? else { return Ok(None) };
        let is_mine =
            handle.try_lock(false).map_err(StoreError::io("lock", path))? && self.is_alone(handle.as_mut(), path)?;
        Ok(is_mine.then(|| KeySlot { store: self, path: path.to_owned(), handle }))
    }

    /// Takes a task off the holders of its key; a key without holders is forgotten. A key that an enqueuer keeps locked is
    /// left as it is: the task is finished, so it holds nothing, and `cleanup-stale` removes the key.
    pub(crate) fn drop_key(&self, task: &Task) -> Result<()> {
        if let Some(group) = &task.group {
            self.drop_group(task, &group.name)?;
        }
        let Some(key) = &task.key else { return Ok(()) };
        let mut slot = match self.enter_key(key) {
            Err(StoreError::FileBusy { .. }) => return Ok(()),
            other => other?,
        };
        let mut holders = slot.holders()?;
        let known = holders.len();
        holders.retain(|id| *id != task.id);
        match holders.len() {
            0 => self.unlink(&slot.path).map(drop),
            left if left < known => slot.assign(&holders),
            _ => Ok(()),
        }
    }

    /// Forgets a group whose last task is finished.
    fn drop_group(&self, task: &Task, group: &Name) -> Result<()> {
        let mut slot = match self.enter_group(task, group) {
            Err(StoreError::FileBusy { .. }) => return Ok(()),
            other => other?,
        };
        // A file without holders was made by `enter_group` above.
        let last = slot.holders()?.first().copied();
        if last.is_none_or(|last| last == task.id) { self.unlink(&slot.path).map(drop) } else { Ok(()) }
    }

    /// Marks a pending task whose `wait_warning` is reported; false when it is already marked. The mark is made before the
    /// event is written. So only one of many passes reports it, and a kill in between loses the event and never doubles it.
    /// Commit point is the making of the file. It needs no sync: after a power cut a wait is reported again.
    pub fn mark_warned(&self, id: TaskId) -> Result<bool> {
        self.make_dir(layout::WARNED)?;
        Ok(self.open(&layout::warned(id), Open::CreateNew(0o600))?.is_some())
    }

    /// Removes the mark of a reported wait, because the wait is over; true when there was one.
    pub fn forget_warned(&self, id: TaskId) -> Result<bool> {
        self.unlink(&layout::warned(id))
    }

    /// The marks of tasks that no longer wait for their turn, e.g. of cancelled ones.
    pub(crate) fn unused_warned(&self) -> Result<Vec<String>> {
        let mut unused = Vec::new();
        for id in self.tasks_in(layout::WARNED)? {
            if !matches!(self.place_of(id)?, Some(Place::Pending | Place::Parked)) {
                unused.push(layout::warned(id));
            }
        }
        Ok(unused)
    }

    pub(crate) fn touch(&self, path: &str, folder: &str) -> Result<()> {
        loop {
            self.make_dir(folder)?;
            match self.vfs.open(path, Open::Truncate(0o600)) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("create", path)(error)),
            }
        }
    }
}

/// A key whose meaning only this process may change now: a file of `spool/keys`, locked.
pub struct KeySlot<'a> {
    store: &'a Spool,
    path: String,
    handle: Box<dyn Handle>,
}

impl KeySlot<'_> {
    /// The tasks that were accepted with this key, the last one first; they may be finished, or never have been accepted
    /// whole.
    pub fn holders(&mut self) -> Result<Vec<TaskId>> {
        let bytes = self.handle.read_all(MAX_RECORD_BYTES).map_err(StoreError::io("read", &self.path))?;
        Ok(String::from_utf8_lossy(&bytes).split_whitespace().filter_map(TaskId::parse).collect())
    }

    /// Gives the key to tasks, durably, before the record of a new one appears.
    pub fn assign(&mut self, ids: &[TaskId]) -> Result<()> {
        self.note(ids)?;
        self.handle.sync_data().map_err(StoreError::io("sync", &self.path))?;
        self.store.sync_dir(layout::KEYS)
    }

    /// Like `assign`, for an entry that a power cut may lose.
    pub fn note(&mut self, ids: &[TaskId]) -> Result<()> {
        let names: Vec<String> = ids.iter().map(TaskId::to_string).collect();
        // A line that is longer than the one before covers the old content.
        let before = self.handle.meta().map_err(StoreError::io("look at", &self.path))?.size;
        let width = usize::try_from(before).unwrap_or(0).saturating_sub(1).max(40);
        let line = format!("{:<width$}\n", names.join(" "));
        self.handle.write_at_start(line.as_bytes()).map_err(StoreError::io("write", &self.path))
    }
}

impl Drop for KeySlot<'_> {
    fn drop(&mut self) {
        let _ = self.handle.unlock();
    }
}

/// The largest file of hints, in bytes: some ten thousand names, or some thousand places.
const MOST_BYTES: u64 = 256 * 1024;
/// The longest name that is kept; a person does not type a longer one by hand.
const LONGEST_NAME: usize = 100;
/// The longest line of a place that is kept.
const LONGEST_PLACE: usize = 4096;

impl Spool {
    /// The users that were remembered.
    pub fn known_users(&self) -> Result<Vec<Name>> {
        Ok(self.hints(layout::USERS)?.lines().filter_map(Name::decoded).collect())
    }

    /// Remembers users, unless the file is full.
    pub fn remember_users(&self, users: &BTreeSet<Name>) -> Result<()> {
        let names = users.iter().map(Name::encoded).filter(|name| name.len() <= LONGEST_NAME);
        self.append_hints(layout::USERS, &names.flat_map(|name| [name, "\n".to_owned()]).collect::<String>())
    }

    /// The places that were remembered, by the text of their lanes. A place that was renamed has its last path.
    pub fn known_places(&self) -> Result<BTreeMap<String, String>> {
        let place = |line: &str| {
            let (lane, path) = line.split_once('\t')?;
            Some((lane.to_owned(), serde_json::from_str(path).ok()?))
        };
        Ok(map_of(self.hints(layout::PLACES)?.lines().filter_map(place)))
    }

    /// Remembers places, unless the file is full.
    pub fn remember_places(&self, places: &BTreeMap<LaneName, String>) -> Result<()> {
        let known = self.known_places()?;
        let new = places.iter().filter(|(lane, path)| known.get(&lane.to_string()) != Some(path));
        let lines = new.map(|(lane, path)| format!("{lane}\t{}\n", serde_json::Value::from(path.as_str())));
        self.append_hints(layout::PLACES, &lines.filter(|line| line.len() <= LONGEST_PLACE).collect::<String>())
    }

    fn hints(&self, path: &str) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.read(path)?.unwrap_or_default()).into_owned())
    }

    /// Appends lines in one call, so that the lines of two writers do not mix.
    fn append_hints(&self, path: &str, lines: &str) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let Some(mut file) = self.open(path, Open::Append(0o600))? else { return Ok(()) };
        let meta = file.meta().map_err(StoreError::io("look at", path))?;
        if meta.size >= MOST_BYTES || meta.links > 1 {
            return Ok(());
        }
        file.write_all(lines.as_bytes()).map_err(StoreError::io("write", path))
    }
}
