//! The second name of a lock file, `.<slot>.held`. A person or an age-based cleaner may remove a `.lock` while its holder lives.
//! luzia gives each lock file its second name right after its first, under the guard, and removes the second name before the
//! first. So a second name without the lock file proves that another program removed the lock file. luzia then links the very
//! file to its name again, with its kernel locks, its lock id and its fence. That is safe at any moment and without the guard,
//! because link(2) replaces nothing. If every name of a lock is gone, its living holder makes the lock anew.

use crate::model::lane::split_slot_stem;
use crate::model::{Grant, LaneName, LockKind, LockRecord, Sidecar};
use crate::os::{Handle, Meta, Open};
use crate::store::files::locks::refresh::is_of;
use crate::store::{Event, Hold, Result, Spool, StoreError, layout};

/// Age at which a refresh makes a lock file young again, in milliseconds: cleaners go by age.
const OLD_MS: i64 = 3_600_000;

/// The occupied slot that a name in the folder of locks means: the name of a lock file, or its second one.
pub(crate) fn slot_of_name(name: &str) -> Option<(&str, u32)> {
    let second = || name.strip_prefix('.')?.strip_suffix(".held");
    split_slot_stem(name.strip_suffix(".lock").or_else(second)?)
}

impl Spool {
    /// Gives a new lock file its second name. If the file system has no room or no second names, the lock goes without. The
    /// caller is in the guard; an error means that the lock file was removed meanwhile.
    pub(crate) fn name_twice(&self, lock_path: &str) -> Result<()> {
        let Some(second) = layout::second_name(lock_path) else { return Ok(()) };
        match self.vfs.link(lock_path, &second) {
            Ok(false) => Err(StoreError::io("keep", lock_path)(crate::os::absent())),
            Ok(true) | Err(_) => Ok(()),
        }
    }

    /// Looks at a lock file, and gives it its name again if another program removed it. The second name proves the lock from
    /// then on, since the other program may still be at work.
    pub(crate) fn lock_meta(&self, lock_path: &str) -> Result<Option<Meta>> {
        match self.meta(lock_path)? {
            None => self.put_back(lock_path)?.map_or(Ok(None), |second| self.meta(&second)),
            found => Ok(found),
        }
    }

    /// Opens a lock file, after the look of [`Spool::lock_meta`].
    pub(crate) fn open_lock(&self, lock_path: &str, how: Open) -> Result<Option<Box<dyn Handle>>> {
        match self.open(lock_path, how)? {
            None => self.put_back(lock_path)?.map_or(Ok(None), |second| self.open(&second, how)),
            found => Ok(found),
        }
    }

    /// Whether an open lock file has a name beside its own two: a write would appear under it as well.
    pub(crate) fn has_foreign_name(&self, file: &dyn Handle, lock_path: &str) -> Result<bool> {
        let mine = file.meta().map_err(StoreError::io("look at", lock_path))?;
        let second = layout::second_name(lock_path).map(|path| self.meta(&path)).transpose()?.flatten();
        let own = if second.is_some_and(|second| second.ident == mine.ident) { 2 } else { 1 };
        Ok(mine.links > own)
    }

    /// Gives a lock file its name again by its second name. Returns the second name, if it exists.
    fn put_back(&self, lock_path: &str) -> Result<Option<String>> {
        let Some(second) = layout::second_name(lock_path) else { return Ok(None) };
        if !self.vfs.link(&second, lock_path).map_err(StoreError::io("put back", lock_path))? {
            return Ok(None);
        }
        self.note_again(lock_path);
        Ok(Some(second))
    }

    fn note_again(&self, lock_path: &str) {
        let name = lock_path.rsplit('/').next().and_then(slot_of_name);
        let event = Event::new("lock_file_put_back").with(serde_json::json!({ "file": lock_path }));
        let lane = name.and_then(|(stem, _)| LaneName::from_stem(stem));
        self.note(&lane.map_or(event.clone(), |lane| event.in_lane(&lane)));
    }

    /// The lock files that other programs removed and that still have a second name, by their paths.
    pub fn removed_lock_files(&self) -> Result<Vec<String>> {
        let names = self.list(layout::LOCKS)?;
        let is_there = |stem: &str| names.iter().any(|entry| entry.name.strip_suffix(".lock") == Some(stem));
        let second = |name: &str| name.strip_prefix('.')?.strip_suffix(".held").map(str::to_owned);
        let mut removed: Vec<String> = names.iter().filter_map(|entry| second(&entry.name)).collect();
        removed.retain(|stem| !is_there(stem));
        removed.sort_unstable();
        Ok(removed.into_iter().map(|stem| format!("{}/{stem}.lock", layout::LOCKS)).collect())
    }

    /// Sets the time of the last change of a lock file that has got old.
    pub(crate) fn freshen(&self, lock_path: &str, lock: &Meta) {
        if self.host.clock.now().ms_since(lock.modified) < OLD_MS {
            return;
        }
        let write = || -> Option<()> {
            let mut file = self.open_lock(lock_path, Open::Existing).ok()??;
            let text = file.read_part(0, 4096).ok()?;
            file.write_at_start(&text).ok()
        };
        let _ = write();
    }

    /// Whether the lock file of a living holder or its sidecar is gone. The look takes no guard, so it is no proof.
    pub fn has_lost_file(&self, grant: &Grant) -> bool {
        let stem = grant.lane.stem();
        let paths = [layout::lock_file(&stem, grant.slot), layout::sidecar(&stem, grant.slot)];
        paths.iter().any(|path| matches!(self.meta(path), Ok(None)))
    }

    /// Makes the lock of a living holder anew after every name of it was removed, with its lock id and its fence. `None` if
    /// there is nothing to do, or the slot has another holder now. The caller is the holder: a task's supervisor, or `luzia
    /// lock`, whose locks no other process removes while it lives.
    pub fn make_lock_again(
        &self,
        kind: LockKind,
        holder: &str,
        grant: &Grant,
        timeout_ms: u64,
    ) -> Result<Option<Hold>> {
        let (stem, slot) = (grant.lane.stem(), grant.slot);
        let Some(_guards) = self.try_guards(&[&grant.lane])? else { return Ok(None) };
        if self.lock_meta(&layout::lock_file(&stem, slot))?.is_some() {
            return Ok(None);
        }
        let mut record = match self.read_sidecar(&layout::sidecar(&stem, slot))? {
            Sidecar::Whole(record) if is_of(&record, kind, holder, grant) => *record,
            Sidecar::Missing | Sidecar::Corrupt => self.lost_record(kind, holder, grant),
            Sidecar::Whole(_) | Sidecar::Newer => return Ok(None),
        };
        self.renew(&mut record, self.host.clock.now(), timeout_ms);
        self.make_file_again(grant, &record)
    }

    /// Writes a sidecar and the lock file beside it. The caller is in the guard, and there is no lock file.
    pub(crate) fn make_file_again(&self, grant: &Grant, record: &LockRecord) -> Result<Option<Hold>> {
        let path = layout::lock_file(&grant.lane.stem(), grant.slot);
        self.write_sidecar(&grant.lane, grant.slot, record, false)?;
        let Some(mut file) = self.create(&path, 0o644)? else { return Ok(None) };
        let text = format!("{} {}\n", grant.lock_id, record.fence.unwrap_or(grant.fence));
        file.write_all(text.as_bytes()).map_err(StoreError::io("write", &path))?;
        let is_shared = record.kind == LockKind::Session;
        if matches!(record.kind, LockKind::Process | LockKind::Session) {
            file.try_lock(is_shared).map_err(StoreError::io("lock", &path))?;
        }
        self.name_twice(&path)?;
        self.note_again(&path);
        Ok(Some(Hold::of(file)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_name_tells_its_slot_and_nothing_else_hidden_does() {
        assert_eq!(slot_of_name("lane_build@2.lock"), Some(("lane_build", 2)));
        assert_eq!(slot_of_name(".lane_build@2.held"), Some(("lane_build", 2)));
        assert_eq!(layout::second_name("locks/lane_a.lock").as_deref(), Some("locks/.lane_a.held"));
        for other in [".lane_build.json.tmp", "lane_build.held", ".lane_build.line", ".guard", "lane_build.json"] {
            assert_eq!(slot_of_name(other), None, "{other}");
        }
    }
}
