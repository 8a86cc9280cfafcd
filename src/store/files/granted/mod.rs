//! Tasks that another scheduler grants to this host: their grants, and the lease of the host.

pub(crate) mod lease;
pub(crate) mod seen;

use crate::model::task::FIRST_GRANTED;
use crate::model::{LaneName, Task, TaskId, Timer, Timestamp};
use crate::os::Meta;
use crate::store::files::disk::counter::{self, CounterFile, CounterLine};
use crate::store::files::disk::task_record::check_grants;
use crate::store::files::locks::bucket::bucket;
use crate::store::{Hold, Place, Result, Spool, StoreError, Told, encode_task, layout};

/// The answer to a granted task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// The task is accepted.
    New,
    /// This assignment was accepted before; the record is in this place.
    Known(Place),
    /// A task of that number belongs to another assignment.
    Other,
    /// Another process acts for a task of that number right now.
    Busy,
}

impl Spool {
    /// Accepts a granted task under its given number, durably when this returns. Its `supervisor.lock` keeps other processes
    /// away between the look for the number and the record. A repetition changes nothing. Commit point: as of `accept`.
    pub fn accept_granted(&self, task: &Task, told: Told) -> Result<Taken> {
        check_grants(task).map_err(|why| StoreError::corrupt(&task.id.to_string(), why))?;
        let token = |task: &Task| task.terms.granted.as_ref().map(|granted| granted.token);
        let Some(lock) = self.run_dir.take_supervisor_lock(task.id)? else {
            let known = self.find(task.id)?.filter(|(_, known)| token(known) == token(task));
            return known.map_or(Ok(Taken::Busy), |(place, _)| self.accepted_before(place));
        };
        let answer = match self.find(task.id) {
            Ok(Some((place, known))) if token(&known) == token(task) => self.accepted_before(place),
            Ok(Some(_)) => Ok(Taken::Other),
            Ok(None) => self.accept(std::slice::from_ref(task), Some(told)).map(|()| Taken::New),
            Err(error) => Err(error),
        };
        self.let_go(task.id, lock)?;
        answer
    }

    /// The answer for a task that was accepted before. The process that accepted it may have died before the sync of its folder.
    fn accepted_before(&self, place: Place) -> Result<Taken> {
        self.vfs.sync_everything().map_err(StoreError::io("sync", layout::SPOOL))?;
        Ok(Taken::Known(place))
    }

    /// The lanes of a task whose grants are used up: this host has given a fence as great as theirs since. A look without the
    /// guards; the claim looks again.
    pub fn used_grants(&self, task: &Task) -> Result<Vec<LaneName>> {
        let boot_id = self.host.clock.boot_id();
        let mut used = Vec::new();
        for grant in task.terms.granted.iter().flat_map(|granted| &granted.slots) {
            let path = layout::guard(bucket(&grant.lane));
            let Some(mut guard) = self.open(&path, crate::os::Open::ReadOnly)? else { continue };
            if let CounterFile::Line(line) = counter::read(guard.as_mut(), &path)?
                && grant.fence.0 <= line.last(&boot_id)
            {
                used.push(grant.lane.clone());
            }
        }
        used.dedup();
        Ok(used)
    }

    /// Gives numbers for the children of granted tasks: from `first` to `last`. Durable when this returns.
    pub fn give_numbers(&self, first: TaskId, last: u64) -> Result<()> {
        let path = layout::NUMBERS;
        let mut handle = self.locked_alone(path)?;
        let (next, boot_id) = (first.0.saturating_sub(1), self.host.clock.boot_id());
        let line = CounterLine { next, pending: last, reserved: last, boot_id };
        handle.write_at_start(&line.to_bytes()).map_err(StoreError::io("write", path))?;
        handle.sync_data().map_err(StoreError::io("sync", path))?;
        self.sync_dir(layout::SPOOL)
    }

    /// Takes one of the numbers that the scheduler gave to this host; `None` if none is left. A power cut may have lost the
    /// last one that was taken, so a block is good for one boot.
    pub fn take_number(&self) -> Result<Option<TaskId>> {
        let path = layout::NUMBERS;
        let mut handle = self.locked_alone(path)?;
        let CounterFile::Line(line) = counter::read(handle.as_mut(), path)? else { return Ok(None) };
        let next = line.last(&self.host.clock.boot_id()).saturating_add(1);
        if next > line.reserved {
            return Ok(None);
        }
        let taken = CounterLine { next, ..line };
        handle.write_at_start(&taken.to_bytes()).map_err(StoreError::io("write", path))?;
        Ok(Some(TaskId(next)))
    }

    /// The granted tasks in flight.
    pub fn granted_in_flight(&self) -> Result<Vec<TaskId>> {
        Ok(self.in_flight()?.into_iter().filter(|id| *id >= FIRST_GRANTED).collect())
    }

    /// Replaces the record of a granted task that waits without a process, and makes a pass look at it. The caller took the
    /// task by `take_waiting`. Commit point: the sync of `waiting`.
    pub fn change_resting(&self, task: &Task, lock: Hold) -> Result<()> {
        let (tmp, path) = (layout::tmp(task.id, self.host.me.pid), layout::waiting(task.id));
        self.put_durably(&tmp, &path, &encode_task(task)?)?;
        self.set_timer(&Timer::of(task.id, self.host.now()))?;
        self.stay_waiting(task.id, lock)?;
        self.ring();
        Ok(())
    }

    /// The moment since which the database of several hosts does not answer. The first call notes it.
    pub fn store_away_since(&self) -> Result<Timestamp> {
        let noted = |meta: Option<Meta>| meta.map(|meta| meta.modified);
        if let Some(since) = noted(self.meta(layout::AWAY)?) {
            return Ok(since);
        }
        drop(self.open_or_make(layout::AWAY)?);
        Ok(noted(self.meta(layout::AWAY)?).unwrap_or_else(|| self.host.now()))
    }

    /// Notes that the database of several hosts has answered.
    pub fn store_answers(&self) -> Result<()> {
        self.unlink(layout::AWAY).map(drop)
    }

    /// Marks a finished granted task durably: its scheduler knows its end, so pruning may remove it.
    pub fn mark_posted(&self, id: TaskId) -> Result<()> {
        self.touch(&layout::posted(id), layout::POSTED)?;
        self.sync_dir(layout::POSTED)?;
        self.sync_dir(layout::SPOOL)
    }

    /// Whether a finished task must be kept because its scheduler does not know its end yet.
    pub(crate) fn is_unposted(&self, id: TaskId) -> Result<bool> {
        Ok(id >= FIRST_GRANTED && self.meta(&layout::posted(id))?.is_none())
    }

    /// The finished granted tasks whose ends their scheduler does not know, the first one first.
    pub fn unposted(&self) -> Result<Vec<TaskId>> {
        let mut found = Vec::new();
        for day in self.folders(layout::DONE)? {
            for id in self.records(&layout::done_day(&day))? {
                if self.is_unposted(id)? {
                    found.push(id);
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}
