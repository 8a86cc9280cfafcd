//! Schedules: one file each, `spool/schedules/<name>.json`, which is replaced under the lock of `spool/schedules.lock`.
//!
//! Each schedule has a timer among those of tasks, so that a pass notices a slot by the look that it makes anyway. A slot makes
//! exactly one task (`ScheduleBook::make`). Its record is staged beside the schedule. Then the schedule names that task and its
//! next slot, durably (commit point). Then the staged record is renamed into the queue. A rename happens once. After a crash the
//! next holder of the lock finds the remains (`ScheduleBook::settle`): a staged record that its schedule names is put into the
//! queue, any other is removed. The timer of the slot goes last, so that a pass looks again. `encode_schedule` writes a schedule
//! as JSON. Its member `task` is the record of the task that each slot makes, without the members that only an existing task has.

use crate::model::calendar::{Pattern, Schedule, Zone};
use crate::model::{ScheduleKey, Task, TaskId, Timer};
use crate::os::Handle;
use crate::store::files::disk::task_record::{encode_line, newer_or_corrupt, settled};
use crate::store::files::queue::accept::withdrawn;
use crate::store::{
    FORMAT_VERSION, Result, Spool, StoreError, Told, decode_task, encode_task, file_name, json_object, layout,
};
use serde::de::Error as _;
use serde_json::{Map, Value, json};

/// The right to change schedules: the lock of `spool/schedules`. Dropping it gives it back.
pub struct ScheduleBook<'a> {
    store: &'a Spool,
    lock: Box<dyn Handle>,
}

impl Spool {
    /// Every schedule, by name; an error in the place of a damaged one.
    pub fn schedules(&self) -> Result<Vec<Result<Schedule>>> {
        let mut stems: Vec<String> = self
            .list(layout::SCHEDULES)?
            .iter()
            .filter_map(|entry| entry.name.strip_suffix(".json").map(str::to_owned))
            .collect();
        stems.sort_unstable();
        let keys = stems.iter().filter_map(|stem| ScheduleKey::read(stem));
        Ok(keys.filter_map(|key| self.schedule_at(&key).transpose()).collect())
    }

    /// A schedule by its key.
    pub fn schedule_at(&self, key: &ScheduleKey) -> Result<Option<Schedule>> {
        let path = layout::schedule(key);
        let Some(bytes) = self.read(&path)? else { return Ok(None) };
        let schedule = decode_schedule(&path, &bytes)?;
        if ScheduleKey::of(&schedule.name) == *key {
            Ok(Some(schedule))
        } else {
            Err(StoreError::corrupt(&path, format!("it is the schedule \"{}\"", schedule.name)))
        }
    }

    /// Takes the right to change schedules, and waits for it a little.
    pub fn enter_schedules(&self) -> Result<ScheduleBook<'_>> {
        Ok(ScheduleBook { store: self, lock: self.locked(layout::SCHEDULES_LOCK, false)? })
    }

    /// Like `enter_schedules`, without waiting; `None` while another process changes schedules.
    pub fn try_schedules(&self) -> Result<Option<ScheduleBook<'_>>> {
        Ok(self.try_locked(layout::SCHEDULES_LOCK)?.map(|lock| ScheduleBook { store: self, lock }))
    }
}

impl ScheduleBook<'_> {
    /// The tasks of a schedule that are staged.
    fn staged(&self, key: &ScheduleKey) -> Result<Vec<TaskId>> {
        let id = |name: &str| {
            let (of, id) = name.strip_suffix(".task")?.rsplit_once('.')?;
            file_name::task(id).filter(|_| of == key.as_str())
        };
        Ok(self.store.list(layout::SCHEDULES)?.iter().filter_map(|entry| id(&entry.name)).collect())
    }

    /// Puts a staged task into the queue, durably at both ends: a record that came back to the staging place would be put
    /// there again.
    fn place(&self, task: &Task, staged: &str) -> Result<()> {
        self.store.place(task, staged, true)?;
        self.store.sync_dir(layout::SCHEDULES)?;
        self.store.ring();
        Ok(())
    }

    /// Finishes the task that a killed process began to make for a schedule. Returns the task that it puts into the queue.
    pub fn settle(&self, key: &ScheduleKey) -> Result<Option<TaskId>> {
        let mut placed = None;
        for id in self.staged(key)? {
            let path = layout::staged_slot(key, id);
            let named = self.store.schedule_at(key)?.and_then(|schedule| schedule.last);
            if named.is_none_or(|made| made.task != id) || self.store.place_of(id)?.is_some() {
                self.store.unlink(&path)?;
                continue;
            }
            let Some(bytes) = self.store.read(&path)? else { continue };
            match decode_task(&path, &bytes, None) {
                Ok(task) => {
                    self.place(&task, &path)?;
                    placed = Some(id);
                }
                Err(wrong @ StoreError::Corrupt { .. }) => self.store.set_aside(&wrong)?,
                Err(other) => return Err(other),
            }
        }
        Ok(placed)
    }

    /// Writes a schedule durably. Commit point is the sync of the folder.
    pub fn write(&self, schedule: &Schedule) -> Result<()> {
        let bytes = encode_schedule(schedule)?;
        if self.store.make_dir(layout::SCHEDULES)? {
            self.store.sync_dir(layout::SPOOL)?;
        }
        self.store.put(layout::SCHEDULE_TMP, &layout::schedule(&ScheduleKey::of(&schedule.name)), &bytes)?;
        self.store.sync_dir(layout::SCHEDULES).map_err(StoreError::unsure)
    }

    /// Removes a schedule durably. Its timer is cleared when it fires, should that fail here.
    pub fn remove(&self, schedule: &Schedule) -> Result<()> {
        let key = ScheduleKey::of(&schedule.name);
        self.store.unlink(&layout::schedule(&key))?;
        self.store.sync_dir(layout::SCHEDULES).map_err(StoreError::unsure)?;
        if let Some(at) = schedule.next {
            let _ = self.store.clear_timer(&Timer::of(&key, at));
        }
        Ok(())
    }

    /// Makes a task for a slot. `schedule` is the schedule as it is then, and names the task.
    pub fn make(&self, schedule: &Schedule, task: &Task, told: Told) -> Result<()> {
        let key = ScheduleKey::of(&schedule.name);
        let staged = layout::staged_slot(&key, task.id);
        self.store.stage(&staged, &encode_task(task)?)?;
        // A schedule that names a task whose record a power cut took would lose the slot: without an ordered journal, the name of
        // the later file may be on the disk alone.
        self.store.sync_dir(layout::SCHEDULES)?;
        // The event is written before the task is certain, as for each accepted task: afterwards no process would know
        // whether the event was written.
        self.store.tell(std::slice::from_ref(task), Some(told));
        if let Err(error) = self.write(schedule) {
            // The next process that looks finishes a task that may exist.
            if !matches!(error, StoreError::Unsure(_)) && self.store.unlink(&staged).unwrap_or(false) {
                self.store.note(&withdrawn(task, &error));
            }
            return Err(error);
        }
        self.place(task, &staged)
    }
}

impl Drop for ScheduleBook<'_> {
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

/// The members of a task record that a schedule does not have: each slot gives its own.
const OF_A_TASK: [&str; 4] = ["v", "id", "status", "created_at"];

/// A schedule as it is written.
pub(crate) fn encode_schedule(schedule: &Schedule) -> Result<Vec<u8>> {
    let bad = |error: serde_json::Error| StoreError::corrupt("schedule", error.to_string());
    let mut members = serde_json::to_value(schedule).map_err(bad)?;
    if let Some(Value::Object(task)) = members.get_mut("task") {
        task.retain(|name, _| !OF_A_TASK.contains(&name.as_str()));
    }
    encode_line("schedule", &members)
}

/// Reads a schedule.
pub(crate) fn decode_schedule(path: &str, bytes: &[u8]) -> Result<Schedule> {
    let read = json_object::read(bytes).and_then(whole).and_then(serde_json::from_value);
    let mut schedule: Schedule = read.map_err(|error| newer_or_corrupt(path, bytes, &error))?;
    let corrupt = |why: String| StoreError::corrupt(path, why);
    let zone = Zone::parse(&schedule.zone).map_err(|error| corrupt(error.to_string()))?;
    Pattern::parse(&schedule.expression, zone).map_err(|error| corrupt(error.to_string()))?;
    schedule.task = settled(schedule.task).map_err(|why| corrupt(format!("its task: {why}")))?;
    let task = &schedule.task;
    let is_fresh = task.schedule.is_none() && task.due_at.is_none() && task.hold.is_none() && task.start_by.is_none();
    let has_ties = task.group.is_some()
        || task.terms.subject.is_some()
        || task.terms.reuses.is_some()
        || !task.terms.earlier.is_empty();
    let is_new = !has_ties
        && task.last_start.is_none()
        && task.outcome().is_none()
        && task.after.is_empty()
        && task.key.is_none();
    if is_fresh && is_new {
        Ok(schedule)
    } else {
        Err(corrupt("its task has moments, a key or a state of its own".to_owned()))
    }
}

/// A schedule whose task has the members of a task that has not started.
fn whole(mut members: Map<String, Value>) -> serde_json::Result<Value> {
    let created_at = members.get("created_at").cloned().unwrap_or_default();
    let values = [json!(FORMAT_VERSION), json!("task_1"), json!("pending"), created_at];
    if let Some(Value::Object(task)) = members.get_mut("task") {
        for (member, value) in OF_A_TASK.into_iter().zip(values) {
            if task.insert(member.to_owned(), value).is_some() {
                return Err(serde_json::Error::custom(format!("its task has \"{member}\"")));
            }
        }
    }
    Ok(Value::Object(members))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::calendar::{Made, Overlap};
    use crate::model::record::{Extra, Version};
    use crate::model::{Name, Task, TaskId, Timestamp};
    use crate::store::tests_support::task;

    pub(crate) fn schedule(name: &str) -> Schedule {
        let mut task = Task { id: TaskId(1), key: None, due_at: None, start_by: None, hold: None, ..task(1) };
        (task.after, task.comes_after) = Default::default();
        (task.last_start, task.schedule) = Default::default();
        task.created_at = Timestamp(1000);
        Schedule {
            v: Version,
            name: Name::new(name).expect("a name"),
            expression: "0 9 * * mon-fri".into(),
            zone: "Europe/Berlin".into(),
            overlap: Overlap::Queue,
            fill_ms: Some(5000),
            fill_once: false,
            start_within_ms: Some(60_000),
            hold: true,
            created_at: Timestamp(1000),
            next: Some(Timestamp(9000)),
            last: Some(Made { slot: Timestamp(8000), task: TaskId(7) }),
            skipped: Some(Timestamp(7000)),
            missed: Some(Timestamp(6000)),
            missed_count: 3,
            task,
            extra: serde_json::from_str("{\"later\":[1]}").expect("members"),
        }
    }

    #[test]
    fn a_schedule_reads_back_with_what_this_version_does_not_know() {
        let full = schedule("stand.up/ä");
        let bare = Schedule {
            next: None,
            last: None,
            skipped: None,
            fill_ms: None,
            fill_once: true,
            missed: None,
            missed_count: 0,
            extra: Extra::default(),
            ..full.clone()
        };
        for schedule in [full, bare] {
            let bytes = encode_schedule(&schedule).expect("text");
            assert_eq!(decode_schedule("s", &bytes).expect("it reads"), schedule);
        }
    }

    #[test]
    fn damage_and_newer_versions_are_told_apart() {
        let whole = String::from_utf8(encode_schedule(&schedule("s")).expect("text")).expect("UTF-8");
        for (from, to) in [
            ("Europe/Berlin", "Europe/Nowhere"),
            ("0 9 * * mon-fri", "0 9 * * nonday"),
            ("\"queue\"", "\"maybe\""),
            ("\"last_task\":\"task_7\",", ""),
            ("\"task_7\"", "\"seven\""),
            ("\"task\":{", "\"task\":{\"id\":\"task_3\","),
            ("\"task\":{", "\"task\":{\"key\":\"k\","),
            ("\"v\":1", "\"v\":0"),
        ] {
            let wrong = whole.replacen(from, to, 1);
            assert_ne!(wrong, whole, "{from}");
            let found = decode_schedule("s", wrong.as_bytes());
            assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{to}: {found:?}");
        }
        assert!(matches!(decode_schedule("s", b"{\"v\":2}"), Err(StoreError::Newer { version: 2, .. })));
    }
}
