//! Schedules: one file each in `spool/schedules`, which is replaced under the lock of `spool/schedules.lock`. Each schedule has
//! a timer among those of tasks, so that a pass notices a slot by the look that it makes anyway.
//!
//! A slot makes exactly one task. Its record is staged beside the schedule. Then the schedule names that task and its next slot,
//! durably (commit point). Then the staged record is renamed into the queue. A rename happens once. After a crash the next
//! holder of the lock finds the remains: a staged record that its schedule names is put into the queue, any other is removed.
//! The timer of the slot goes last, so that a pass looks again.

pub(crate) mod record;

use crate::model::calendar::Schedule;
use crate::model::{ScheduleKey, Task, TaskId, Timer};
use crate::os::Handle;
use crate::store::files::queue::accept::withdrawn;
use crate::store::{Result, Spool, StoreError, Told, decode_task, encode_task, file_name, layout};
use record::{decode_schedule, encode_schedule};

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

    /// Like `enter_schedules`, without waiting; `None` while another process has it.
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
