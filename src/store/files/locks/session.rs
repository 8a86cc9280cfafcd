//! Session leases on disk. The acquirer holds the kernel lock of its lock file shared, and asks the keeper of the session by
//! a mark in `locks/.sessions/<session>/`. It lets go once the keeper holds that lock as well. So there is no instant at
//! which a lease in force has no kernel lock. The marks inform and prove nothing: `want-<lock>` asks the keeper to take a
//! lock, `held-<lock>` says that it has. Nothing here decides whether a session is over.

use crate::model::lane::{slot_stem, split_slot_stem};
use crate::model::name::encode;
use crate::model::{Grant, Identity, LaneName, LockKind, LockRecord, Sidecar, Timestamp};
use crate::os::{FileKind, Handle, Open};
use crate::store::{Break, Changes, Hold, LockView, Result, Spool, StoreError, layout};

const SESSIONS: &str = "locks/.sessions";
const KEEPER_LOCK: &str = "keeper.lock";
const WANTED: &str = "want-";
const HELD: &str = "held-";
/// Content of a lock file that luzia is about to remove.
const RELEASED: &[u8] = b"released\n";
/// Age at which remains of a dead keeper are removed, in milliseconds.
const YOUNG_MS: i64 = 600_000;

/// A lock that this process keeps for a session.
pub struct SessionLock {
    /// The grant.
    pub grant: Grant,
    record: LockRecord,
    slot_stem: String,
    file: Box<dyn Handle>,
}

impl SessionLock {
    /// The holder of the lock: the name in its lock id.
    pub fn holder(&self) -> &str {
        self.record.task_id.as_deref().unwrap_or_default()
    }

    /// The time at which the lock expires, if it has a time to live.
    pub fn ends_at(&self) -> Option<Timestamp> {
        self.record.expires_at.filter(|_| self.record.ttl_ms.is_some())
    }

    /// The name of the agent, if the lock has it.
    pub fn agent(&self) -> Option<&str> {
        self.record.who.agent.as_deref()
    }
}

/// Answer of a keeper to a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeeperAnswer {
    /// Nothing yet.
    Waiting,
    /// The keeper holds the lock.
    Holds,
    /// The lock no longer exists.
    Gone,
}

fn folder(key: &str) -> String {
    format!("{SESSIONS}/{}", encode(key))
}

fn keeper_lock(key: &str) -> String {
    format!("{}/{KEEPER_LOCK}", folder(key))
}

fn mark(key: &str, what: &str, slot_stem: &str) -> String {
    format!("{}/{what}{slot_stem}", folder(key))
}

impl Spool {
    /// Asks the keeper of a session to take a lock, or to look at it again.
    pub fn ask_keeper(&self, key: &str, lane: &LaneName, slot: u32) -> Result<()> {
        let path = mark(key, WANTED, &slot_stem(&lane.stem(), slot));
        self.make_dir(SESSIONS)?;
        // The last keeper removes the folder at any time.
        self.touch(&path, &folder(key))
    }

    /// The answer of the keeper to the last mark.
    pub fn keeper_answer(&self, key: &str, lane: &LaneName, slot: u32) -> Result<KeeperAnswer> {
        if self.meta(&mark(key, WANTED, &slot_stem(&lane.stem(), slot)))?.is_some() {
            return Ok(KeeperAnswer::Waiting);
        }
        let is_held = self.meta(&mark(key, HELD, &slot_stem(&lane.stem(), slot)))?.is_some();
        Ok(if is_held { KeeperAnswer::Holds } else { KeeperAnswer::Gone })
    }

    /// Whether sessions may have leases here.
    pub fn has_sessions(&self) -> Result<bool> {
        Ok(self.meta(SESSIONS)?.is_some())
    }

    /// Whether the keeper of a session says that it holds a lock.
    pub fn keeper_holds(&self, key: &str, lane: &LaneName, slot: u32) -> bool {
        self.meta(&mark(key, HELD, &slot_stem(&lane.stem(), slot))).is_ok_and(|meta| meta.is_some())
    }

    /// Takes a mark back, for an acquirer that gives up.
    pub fn unask_keeper(&self, key: &str, lane: &LaneName, slot: u32) -> Result<()> {
        self.unlink(&mark(key, WANTED, &slot_stem(&lane.stem(), slot))).map(drop)
    }

    /// Takes the lock of the keeper of a session, without waiting; `None` while a keeper lives.
    pub fn take_keeper_lock(&self, key: &str) -> Result<Option<Hold>> {
        let path = keeper_lock(key);
        loop {
            self.make_dir(SESSIONS)?;
            self.make_dir(&folder(key))?;
            // The last keeper removes the folder as well.
            match self.try_locked_by_name(&path) {
                Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                other => return other.map(|lock| lock.map(Hold::of)),
            }
        }
    }

    /// Becomes the keeper of a session with the lock that this process was started with; `None` if that lock is of another
    /// file. The leases of a dead keeper are over: their marks are removed.
    pub fn become_keeper(&self, key: &str) -> Result<Option<Hold>> {
        let Some(lock) = self.inherit(&keeper_lock(key), "become the keeper of")? else { return Ok(None) };
        for slot_stem in self.marks(key, HELD)? {
            self.unlink(&mark(key, HELD, &slot_stem))?;
        }
        Ok(Some(lock))
    }

    fn marks(&self, key: &str, what: &str) -> Result<Vec<String>> {
        let names = self.list(&folder(key))?;
        Ok(names.iter().filter_map(|entry| entry.name.strip_prefix(what).map(str::to_owned)).collect())
    }

    /// Watches for marks, and for the end of a process.
    pub fn session_changes(&self, key: &str, process: &Identity) -> Result<Changes> {
        let mut changes = self.changes(&[&folder(key)]);
        let end = self.host.procs.end_of(process).map_err(StoreError::io("watch the process of", &folder(key)))?;
        changes.heed(end);
        Ok(changes)
    }

    /// Watches for the answer of a keeper.
    pub fn keeper_changes(&self, key: &str) -> Changes {
        self.changes(&[&folder(key)])
    }

    /// Takes every lock that a mark asks for, and answers. The caller is the keeper.
    pub fn take_wanted(&self, key: &str, held: &mut Vec<SessionLock>) -> Result<()> {
        for slot_stem in self.marks(key, WANTED)? {
            held.retain(|lock| lock.slot_stem != slot_stem || self.is_surely_in_force(lock));
            // The lock may have another time to live now.
            let again = self.hold_for_session(key, &slot_stem, held.iter().any(|lock| lock.slot_stem == slot_stem))?;
            let (wanted, is_held) = (mark(key, WANTED, &slot_stem), mark(key, HELD, &slot_stem));
            match again {
                Some(lock) => {
                    held.retain(|other| other.slot_stem != slot_stem);
                    held.push(lock);
                    self.rename(&wanted, &is_held)?;
                }
                None => {
                    held.retain(|other| other.slot_stem != slot_stem);
                    self.unlink(&is_held)?;
                    self.unlink(&wanted)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the kernel lock of a lease of a session, shared with the acquirer. If no process holds the lock, its acquirer
    /// died, and the lock is left to the judge.
    fn hold_for_session(&self, key: &str, slot_stem: &str, is_mine: bool) -> Result<Option<SessionLock>> {
        let Some((stem, slot)) = split_slot_stem(slot_stem) else { return Ok(None) };
        let Some(lane) = self.lane_of_stem(stem, slot)? else { return Ok(None) };
        let _guards = self.enter_patiently(&lane)?;
        let Sidecar::Whole(record) = self.read_sidecar(&layout::sidecar(stem, slot))? else { return Ok(None) };
        if record.kind != LockKind::Session || record.who.session.as_deref() != Some(key) {
            return Ok(None);
        }
        let path = layout::lock_file(stem, slot);
        let Some(mut file) = self.open_lock(&path, Open::ReadOnly)? else { return Ok(None) };
        let lock = |file: &mut dyn Handle, shared| file.try_lock(shared).map_err(StoreError::io("lock", &path));
        if !is_mine && lock(file.as_mut(), false)? {
            return Ok(None);
        }
        if !lock(file.as_mut(), true)? {
            return Ok(None);
        }
        let grant = record.grant(&lane, slot);
        Ok(Some(SessionLock { grant, record: *record, slot_stem: slot_stem.to_owned(), file }))
    }

    /// Whether the lock file is still the one that is kept. An error proves nothing: its keeper goes on to keep it. If another
    /// program removed every name of a lock, the lock is made anew.
    pub fn is_in_force(&self, lock: &mut SessionLock) -> bool {
        let is_there = self.finds_lock(lock).unwrap_or(true);
        is_there || self.has_again(lock).unwrap_or(true)
    }

    /// Writes into the lock file of a session, which its keeper has open, that luzia removes it. The caller is in the guard.
    pub(crate) fn tell_keeper(&self, view: &LockView) -> Result<()> {
        if view.record().is_some_and(|record| record.kind == LockKind::Session) {
            self.open_lock(&view.path(), Open::Existing)?
                .map_or(Ok(()), |mut file| file.write_at_start(RELEASED))
                .map_err(StoreError::io("write", &view.path()))?;
        }
        Ok(())
    }

    /// Makes a lock anew that was not released; false if it was released, or its slot has another holder now.
    fn has_again(&self, lock: &mut SessionLock) -> Result<bool> {
        let _guards = self.enter_patiently(&lock.grant.lane)?;
        if self.finds_lock(lock)? {
            return Ok(true);
        }
        let path = layout::lock_file(&lock.grant.lane.stem(), lock.grant.slot);
        let is_released = lock.file.read_part(0, RELEASED.len()).map_err(StoreError::io("read", &path))? == RELEASED;
        if is_released || self.meta(&path)?.is_some() || !self.reads_own(lock)? {
            return Ok(false);
        }
        let Some(again) = self.make_file_again(&lock.grant, &lock.record)? else { return Ok(false) };
        lock.file = again.into_descriptor();
        Ok(true)
    }

    /// Whether the lock file is proven to be the one that is kept.
    fn is_surely_in_force(&self, lock: &SessionLock) -> bool {
        self.finds_lock(lock).unwrap_or(false)
    }

    fn finds_lock(&self, lock: &SessionLock) -> Result<bool> {
        let path = layout::lock_file(&lock.grant.lane.stem(), lock.grant.slot);
        let own = lock.file.meta().map_err(StoreError::io("look at", &path))?;
        Ok(self.lock_meta(&path)?.is_some_and(|found| found.ident == own.ident))
    }

    /// Refreshes the times of a lease that has no time to live, and rewrites its sidecar if that was lost.
    pub fn refresh_session_lock(&self, lock: &mut SessionLock, timeout_ms: u64) -> Result<()> {
        let _guards = self.enter_patiently(&lock.grant.lane)?;
        if !self.is_surely_in_force(lock) || !self.reads_own(lock)? {
            return Ok(());
        }
        if lock.record.ttl_ms.is_none() {
            self.renew(&mut lock.record, self.host.clock.now(), timeout_ms);
        }
        self.write_sidecar(&lock.grant.lane, lock.grant.slot, &lock.record, false)
    }

    /// Reads the record of a lock as its sidecar has it; false if the sidecar is of another lock.
    fn reads_own(&self, lock: &mut SessionLock) -> Result<bool> {
        match self.read_sidecar(&layout::sidecar(&lock.grant.lane.stem(), lock.grant.slot))? {
            Sidecar::Whole(record) if record.lock_id == lock.record.lock_id => lock.record = *record,
            Sidecar::Missing | Sidecar::Corrupt => {}
            Sidecar::Whole(_) | Sidecar::Newer => return Ok(false),
        }
        Ok(true)
    }

    /// Ends a lease of a session; `None` if it was over.
    pub fn end_session_lock(&self, key: &str, lock: SessionLock) -> Result<Option<Break>> {
        let _guards = self.enter_patiently(&lock.grant.lane)?;
        let is_in_force = self.is_surely_in_force(&lock);
        if is_in_force {
            self.remove_lock(&lock.grant.lane.stem(), lock.grant.slot)?;
        }
        self.unlink(&mark(key, HELD, &lock.slot_stem))?;
        let holder = lock.holder().to_owned();
        let SessionLock { grant: Grant { lane, slot, lock_id, .. }, .. } = lock;
        Ok(is_in_force.then(|| Break::by_holder(&lane, slot, lock_id.0, holder)))
    }

    /// Forgets a lease that another process ended.
    pub fn forget_session_lock(&self, key: &str, lock: &SessionLock) -> Result<()> {
        self.unlink(&mark(key, HELD, &lock.slot_stem)).map(drop)
    }

    /// Leaves a session without leases: false if a mark came meanwhile. On success the keeper ends, and its lock with it.
    pub fn leave_session(&self, key: &str) -> Result<bool> {
        if !self.marks(key, WANTED)?.is_empty() {
            return Ok(false);
        }
        self.unlink(&keeper_lock(key))?;
        // A later mark keeps the folder; its maker sees that no keeper lives.
        let path = folder(key);
        self.vfs.remove_dir(&path).map_err(StoreError::io("remove the folder", &path))?;
        Ok(true)
    }

    /// Removes remains of killed keepers and acquirers in the folders of sessions. Only old marks go: an acquirer that has just
    /// made one is about to look for a keeper.
    pub(crate) fn clean_sessions(&self, dry_run: bool, removed: &mut Vec<String>) -> Result<()> {
        for session in self.list(SESSIONS)?.into_iter().filter(|entry| entry.kind == FileKind::Dir) {
            let folder = format!("{SESSIONS}/{}", session.name);
            let files: Vec<String> =
                self.list(&folder)?.iter().map(|entry| format!("{folder}/{}", entry.name)).collect();
            let now = self.host.clock.now();
            let is_young = |path: &String| {
                let modified = self.meta(path).ok().flatten().map(|meta| meta.modified);
                modified.is_some_and(|at| now.ms_since(at) < YOUNG_MS)
            };
            if files.iter().any(is_young) {
                continue;
            }
            let path = format!("{folder}/{KEEPER_LOCK}");
            let mut lock = self.open(&path, Open::Existing)?;
            if let Some(lock) = &mut lock
                && !lock.try_lock(false).map_err(StoreError::io("lock", &path))?
            {
                continue;
            }
            removed.push(folder.strip_prefix("locks/").unwrap_or(&folder).to_owned());
            if !dry_run {
                files.iter().try_for_each(|path| self.unlink(path).map(drop))?;
                self.vfs.remove_dir(&folder).map_err(StoreError::io("remove the folder", &folder))?;
            }
        }
        Ok(())
    }
}
