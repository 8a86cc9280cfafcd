//! Layout of the state directory: every path is made here. Does no I/O except for making folders.

use crate::model::lane::slot_stem;
use crate::model::sorted::sort_by;
use crate::model::{LaneName, Member, Priority, ScheduleKey, TaskId, Timer, Timestamp};
use crate::os::{FileKind, Meta, Open};
use crate::store::files::disk::stamp::Stamp;
use crate::store::{FORMAT_VERSION, Result, Spool, StoreError, file_name};

pub(crate) const LOCKS: &str = "locks";
pub(crate) const GUARDS: &str = "locks/.guard";
pub(crate) const SPOOL: &str = "spool";
pub(crate) const TMP: &str = "spool/tmp";
pub(crate) const PENDING: &str = "spool/pending";
pub(crate) const PARKED: &str = "spool/parked";
pub(crate) const TIMERS: &str = "spool/timers";
pub(crate) const AFTER: &str = "spool/after";
pub(crate) const LOANS: &str = "spool/loans";
pub(crate) const FOLLOWED: &str = "spool/followed";
pub(crate) const AWAITED: &str = "spool/awaited";
pub(crate) const WARNED: &str = "spool/warned";
pub(crate) const RATES: &str = "spool/rates";
pub(crate) const ORDER: &str = "spool/lanes";
pub(crate) const KEYS: &str = "spool/keys";
pub(crate) const RUNNING: &str = "spool/running";
pub(crate) const WAITING: &str = "spool/waiting";
pub(crate) const DONE: &str = "spool/done";
pub(crate) const CORRUPT: &str = "spool/corrupt";
pub(crate) const SEQUENCE: &str = "spool/sequence";
pub(crate) const FAIR: &str = "spool/fair";
pub(crate) const HEADS: &str = "spool/heads";
pub(crate) const WAKE: &str = "spool/wake";
pub(crate) const RESERVE: &str = "spool/reserve";
pub(crate) const TURN: &str = "spool/turn";
pub(crate) const DUTY: &str = "spool/duty";
pub(crate) const PRUNED: &str = "spool/pruned";
pub(crate) const USERS: &str = "spool/users";
pub(crate) const PLACES: &str = "spool/places";
pub(crate) const CONTROL: &str = "spool/control.json";
pub(crate) const CONTROL_LOCK: &str = "spool/control.lock";
pub(crate) const CONTROL_TMP: &str = "spool/tmp/control.json";
pub(crate) const SCHEDULES: &str = "spool/schedules";
pub(crate) const SCHEDULES_LOCK: &str = "spool/schedules.lock";
pub(crate) const SCHEDULE_TMP: &str = "spool/tmp/schedule.json";
pub(crate) const HOOKS: &str = "spool/hooks.json";
pub(crate) const HOOKS_LOCK: &str = "spool/hooks.lock";
pub(crate) const HOOKS_TMP: &str = "spool/tmp/hooks.json";
pub(crate) const TALLY: &str = "spool/tally.json";
pub(crate) const TALLY_LOCK: &str = "spool/tally.lock";
pub(crate) const TALLY_TMP: &str = "spool/tmp/tally.json";
pub(crate) const STEPS: &str = "spool/steps";
pub(crate) const RUN: &str = "run";
pub(crate) const EVENTS: &str = "events";
pub(crate) const CONDUCTOR: &str = "conductor";
pub(crate) const FORMAT: &str = "format";
/// The folder that mkfs makes in the root of a file system.
const LOST_AND_FOUND: &str = "lost+found";
/// A configuration that the owner of the directory keeps beside the state.
const CONFIG: &str = "config.json";
pub(crate) const DISPATCHERS: &str = "dispatchers.lock";
/// The lease of the host. Not in `spool`, whose changes wake dispatchers.
pub(crate) const LEASE: &str = "lease";
pub(crate) const LEASE_LOCK: &str = "lease.lock";
/// A file whose time is the moment since which the database of several hosts does not answer.
pub(crate) const AWAY: &str = "store.away";
/// The last that this host has seen of that database.
pub(crate) const SEEN: &str = "store.seen";
/// Held by the agent of the host.
pub(crate) const AGENT_LOCK: &str = "agent.lock";
pub(crate) const NUMBERS: &str = "spool/numbers";
pub(crate) const POSTED: &str = "spool/posted";

/// The files that luzia makes in the state directory itself, and those that its owner may have there.
const OWN_FILES: [&str; 9] = [FORMAT, DISPATCHERS, LEASE, LEASE_LOCK, AGENT_LOCK, AWAY, SEEN, LOST_AND_FOUND, CONFIG];

const HOUR_MS: i64 = 3_600_000;

const FOLDERS: [&str; 17] = [
    LOCKS, GUARDS, SPOOL, TMP, PENDING, PARKED, TIMERS, AFTER, ORDER, KEYS, RUNNING, WAITING, DONE, CORRUPT, RUN,
    EVENTS, CONDUCTOR,
];

/// Whether a path is one of the folders that every state directory has.
pub(crate) fn is_outer(path: &str) -> bool {
    FOLDERS.contains(&path)
}

/// The file whose kernel lock the dispatchers of a sandbox share.
pub(crate) fn dispatchers_of(sandbox: &crate::model::SandboxId) -> String {
    format!("spool/dispatchers.{sandbox}")
}

/// The file whose kernel lock elects one waiting `run` of a sandbox.
pub(crate) fn duty(sandbox: &crate::model::SandboxId) -> String {
    format!("{DUTY}.{sandbox}")
}

/// The folder of the `run`s of a sandbox that stand by.
pub(crate) fn standby(sandbox: &crate::model::SandboxId) -> String {
    format!("{DUTY}.{sandbox}.line")
}

pub(crate) fn guard(bucket: u8) -> String {
    format!("{GUARDS}/{bucket:02x}")
}

pub(crate) fn lock_file(lane_stem: &str, slot: u32) -> String {
    format!("{LOCKS}/{}.lock", slot_stem(lane_stem, slot))
}

/// The second name of a lock file, which other programs do not know. `None` for a path that is not a lock file.
pub(crate) fn second_name(lock_path: &str) -> Option<String> {
    let slot_stem = lock_path.strip_prefix(LOCKS)?.strip_prefix('/')?.strip_suffix(".lock")?;
    Some(format!("{LOCKS}/.{slot_stem}.held"))
}

pub(crate) fn sidecar(lane_stem: &str, slot: u32) -> String {
    format!("{LOCKS}/{}.json", slot_stem(lane_stem, slot))
}

pub(crate) fn sidecar_tmp(lane_stem: &str, slot: u32) -> String {
    format!("{LOCKS}/.{}.json.tmp", slot_stem(lane_stem, slot))
}

/// The record of the recent grants of a lane with a rate.
pub(crate) fn rate(lane_stem: &str) -> String {
    format!("{RATES}/{lane_stem}")
}

/// The temporary path of the record of a lane's recent grants. The guard of the bucket excludes other writers.
pub(crate) fn rate_tmp(bucket: u8) -> String {
    format!("{TMP}/rate.{bucket:02x}")
}

/// The name of the folder of a lane's line, in `locks`.
pub(crate) fn line_name(lane_stem: &str) -> String {
    format!(".{lane_stem}.line")
}

/// The folder of a lane's line.
pub(crate) fn line(lane_stem: &str) -> String {
    format!("{LOCKS}/{}", line_name(lane_stem))
}

/// The place of a hook among those that run at once.
pub(crate) fn hook_place(number: usize) -> String {
    format!("{SPOOL}/hook.{number}.lock")
}

/// The mark of a pending task whose long wait was reported.
pub(crate) fn warned(id: TaskId) -> String {
    format!("{WARNED}/{}", id.0)
}

/// The mark of a lane whose gate is shut.
pub(crate) fn gate(lane_stem: &str) -> String {
    format!("{LOCKS}/.{lane_stem}.shut")
}

/// The FIFO of the job server of one holder.
pub(crate) fn job_server(lane_stem: &str, slot: u32) -> String {
    format!("{LOCKS}/.{}.jobs", slot_stem(lane_stem, slot))
}

pub(crate) fn pending_tier(priority: Priority) -> String {
    format!("{PENDING}/{}", priority.number())
}

pub(crate) fn pending_lane(priority: Priority, lane_stem: &str) -> String {
    format!("{PENDING}/{}/{lane_stem}", priority.number())
}

/// The folder of a segment, in that of its lane.
pub(crate) fn segment_of_lane(lane: &str, segment: u64) -> String {
    format!("{lane}/{segment}")
}

/// The record of a task in a folder.
pub(crate) fn record_in(folder: &str, id: TaskId) -> String {
    format!("{folder}/{}.json", id.0)
}

/// Possible paths of the record of a pending task: in the folder of its lane, or in its segment there.
pub(crate) fn pending_paths(priority: Priority, lane_stem: &str, id: TaskId) -> [String; 2] {
    let lane = pending_lane(priority, lane_stem);
    [record_in(&lane, id), record_in(&segment_of_lane(&lane, segment(id)), id)]
}

pub(crate) fn parked(id: TaskId) -> String {
    record_in(&parked_segment(segment(id)), id)
}

/// The folder of a segment of parked tasks.
pub(crate) fn parked_segment(segment: u64) -> String {
    format!("{PARKED}/{segment}")
}

pub(crate) fn running(id: TaskId) -> String {
    record_in(RUNNING, id)
}

/// The recorded start of a running task: beside its record, so that one sync of the folder covers both.
pub(crate) fn started(id: TaskId) -> String {
    format!("{RUNNING}/{}.started.json", id.0)
}

/// The future record of a task whose end, or retry, is being carried out.
pub(crate) fn result(id: TaskId) -> String {
    format!("{RUNNING}/{}.result.json", id.0)
}

/// The folders above a path, the lowest first.
pub(crate) fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').map(|(at, _)| &path[..at])
}

/// The mark of a finished granted task whose end its scheduler knows.
pub(crate) fn posted(id: TaskId) -> String {
    format!("{POSTED}/{}", id.0)
}

pub(crate) fn waiting(id: TaskId) -> String {
    record_in(WAITING, id)
}

pub(crate) fn done_day(day: &str) -> String {
    format!("{DONE}/{day}")
}

pub(crate) fn done(day: &str, id: TaskId) -> String {
    record_in(&done_day(day), id)
}

pub(crate) fn run_dir(id: TaskId) -> String {
    format!("{RUN}/{}", id.0)
}

pub(crate) fn run_file(id: TaskId, name: &str) -> String {
    format!("{RUN}/{}/{name}", id.0)
}

/// The folder of the memory of a task between its starts.
pub(crate) fn steps(id: TaskId) -> String {
    format!("{STEPS}/{}", id.0)
}

pub(crate) fn step_file(id: TaskId, name: &str) -> String {
    format!("{STEPS}/{}/{name}", id.0)
}

/// The mailbox of a task.
pub(crate) fn mail(id: TaskId) -> String {
    format!("{STEPS}/{}/mail", id.0)
}

pub(crate) fn mail_file(id: TaskId, number: u64) -> String {
    format!("{STEPS}/{}/mail/{number}.json", id.0)
}

/// The folder of the timers of an hour.
pub(crate) fn timer_hour(at: Timestamp) -> String {
    format!("{TIMERS}/{}", at.0.max(0) / HOUR_MS)
}

pub(crate) fn timer(timer: &Timer) -> String {
    format!("{}/{}", timer_hour(timer.at), file_name::timer_name(timer))
}

pub(crate) fn schedule(key: &ScheduleKey) -> String {
    format!("{SCHEDULES}/{}.json", key.as_str())
}

/// The task that a slot of a schedule is about to make.
pub(crate) fn staged_slot(key: &ScheduleKey, id: TaskId) -> String {
    format!("{SCHEDULES}/{}.{}.task", key.as_str(), id.0)
}

/// The folder of the marks of the tasks that wait for a task.
pub(crate) fn after(dependency: TaskId) -> String {
    format!("{AFTER}/{}", dependency.0)
}

/// The lock that waiters for a child share.
pub(crate) fn loan(child: TaskId) -> String {
    format!("{LOANS}/{}", child.0)
}

/// The lock that waiters for a task of another request share.
pub(crate) fn followed(id: TaskId) -> String {
    format!("{FOLLOWED}/{}", id.0)
}

/// The file whose kernel lock proves that a task or a `luzia lock` waits for a task.
pub(crate) fn awaited(waiter: Member, id: TaskId) -> String {
    match waiter {
        Member::Task(waiter) => format!("{AWAITED}/{}-{}", waiter.0, id.0),
        Member::Lock(pid) => format!("{AWAITED}/p{pid}-{}", id.0),
    }
}

pub(crate) fn after_mark(id: TaskId, dependency: TaskId) -> String {
    format!("{}/{}", after(dependency), id.0)
}

/// The folder of the marks of order in a lane.
pub(crate) fn order(lane: &LaneName) -> String {
    format!("{ORDER}/{}", lane.stem())
}

/// The temporary path of a process that writes a task's record.
pub(crate) fn tmp(id: TaskId, pid: u32) -> String {
    format!("{TMP}/{}.{pid}", id.0)
}

/// Temporary path of a task's result; only the holder of its `supervisor.lock` writes it.
pub(crate) fn result_tmp(id: TaskId) -> String {
    format!("{TMP}/{}.result", id.0)
}

/// The temporary folder in which a process writes a whole folder of a lane, named by its first task.
pub(crate) fn staged_folder(first: TaskId, pid: u32) -> String {
    format!("{TMP}/{}", file_name::staged_name(first, pid))
}

/// The segment to which a task belongs; segments keep the listing of a deep lane short.
pub(crate) fn segment(id: TaskId) -> u64 {
    id.0 / 1000
}

/// The task to which a name in `running` belongs: its record, its start or its result.
pub(crate) fn id_in_flight(file_name: &str) -> Option<TaskId> {
    let number = |what| file_name.strip_suffix(what).and_then(file_name::task);
    [".json", ".started.json", ".result.json"].into_iter().find_map(number)
}

/// The id in the name of a record, in its one spelling.
pub(crate) fn id_in(file_name: &str) -> Option<TaskId> {
    file_name::task(file_name.strip_suffix(".json")?)
}

impl Spool {
    /// Makes the folders of a new state directory, and refuses a state directory that a newer luzia wrote.
    pub fn prepare(&self) -> Result<()> {
        if self.has_layout()? {
            self.renew_stamp();
            return Ok(());
        }
        self.refuse_foreign()?;
        self.make_missing()?;
        if let Some(mut wake) = self.open(WAKE, Open::Append(0o600))? {
            wake.write_all(b"").map_err(StoreError::io("write", WAKE))?;
        }
        // The folders come first: once the name exists, only `doctor` makes them again.
        self.sync_folders()?;
        self.write_format()
    }

    /// Makes the missing ones of the folders that every state directory has, durably, and returns them.
    pub fn make_folders(&self) -> Result<Vec<&'static str>> {
        let made = self.make_missing()?;
        if !made.is_empty() {
            self.sync_folders()?;
        }
        Ok(made)
    }

    fn make_missing(&self) -> Result<Vec<&'static str>> {
        let mut made = Vec::new();
        for folder in FOLDERS {
            let mode = if folder == LOCKS { 0o755 } else { 0o700 };
            if self.vfs.make_dir(folder, mode).map_err(StoreError::io("make the folder", folder))? {
                made.push(folder);
            }
        }
        Ok(made)
    }

    /// Makes the names of the folders durable.
    fn sync_folders(&self) -> Result<()> {
        [SPOOL, LOCKS, "."].into_iter().try_for_each(|folder| self.sync_dir(folder))
    }

    /// The folders that every state directory has and this one lacks.
    pub fn missing_folders(&self) -> Result<Vec<&'static str>> {
        let mut missing = Vec::new();
        for folder in FOLDERS {
            if self.meta(folder)?.is_none() {
                missing.push(folder);
            }
        }
        Ok(missing)
    }

    /// Whether the state directory has its folders. A newer format is an error, so that nothing of it is rewritten.
    pub fn has_layout(&self) -> Result<bool> {
        let Some(bytes) = self.read_known(FORMAT)? else { return Ok(false) };
        if self.format.get().is_some_and(|known| *known == bytes) {
            return Ok(true);
        }
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|error| StoreError::corrupt(FORMAT, error.to_string()))?;
        match value.get("v").and_then(serde_json::Value::as_u64) {
            Some(FORMAT_VERSION) => {
                self.stamp.get_or_init(|| Stamp::of(&value));
                self.format.get_or_init(|| bytes);
                Ok(true)
            }
            Some(version) if version > FORMAT_VERSION => Err(StoreError::Newer { thing: FORMAT.into(), version }),
            _ => Err(StoreError::corrupt(FORMAT, "it has no version")),
        }
    }

    /// Whether there may be locks: luzia's own, or those of an earlier system, which exist before luzia's first write.
    pub fn has_locks(&self) -> Result<bool> {
        Ok(self.has_layout()? || self.meta(LOCKS)?.is_some())
    }

    /// As `has_locks`, for a caller that will change them: locks of an earlier system get their guards.
    pub(crate) fn has_locks_to_change(&self) -> Result<bool> {
        let has_locks = self.has_locks()?;
        if has_locks {
            self.prepare()?;
        }
        Ok(has_locks)
    }

    /// Whether the state directory exists at all.
    pub fn is_there(&self) -> bool {
        self.vfs.meta(".").is_ok_and(|meta| meta.is_some())
    }

    /// Refuses a directory that holds foreign files and no `format`, e.g. a home directory that was named by mistake.
    pub fn refuse_foreign(&self) -> Result<()> {
        let is_ours = |name: &str| is_outer(name) || OWN_FILES.contains(&name);
        let mut names: Vec<_> = self.list(".")?.into_iter().filter(|entry| !is_ours(&entry.name)).collect();
        sort_by(&mut names, |a, b| a.name.cmp(&b.name));
        match names.first() {
            None => Ok(()),
            Some(entry) => Err(StoreError::Foreign { thing: self.state_dir().into(), name: entry.name.to_string() }),
        }
    }

    /// Sets the mode of an empty directory of this account, before luzia makes its own files in it.
    fn narrow_new(&self, meta: &Meta) -> Result<bool> {
        let is_new = meta.uid == self.host.uid && meta.mode & 0o1000 == 0 && self.list(".")?.is_empty();
        if is_new {
            self.vfs.set_mode(".", 0o700).map_err(StoreError::io("set the mode of", "."))?;
        }
        Ok(is_new)
    }

    /// Refuses a state directory in which other accounts could change locks, or on whose file system locks have no effect
    /// (`locks.md`). With `creates`, an empty directory of a wider mode gets mode 0700.
    pub fn check_safety(&self, force_file_system: bool, creates: bool) -> Result<()> {
        let refuse = |why: String| Err(StoreError::Unsafe { thing: self.state_dir().into(), why });
        let meta = self.vfs.meta(".").map_err(StoreError::io("look at", "."))?;
        let Some(meta) = meta.filter(|meta| meta.kind == FileKind::Dir) else {
            return Err(StoreError::Absent { thing: self.state_dir().into() });
        };
        self.host.know_root(meta.ident);
        if meta.uid != self.host.uid {
            return refuse(format!("belongs to the account with uid {}, not to this one", meta.uid));
        }
        let is_narrowed = creates && meta.mode & 0o077 != 0 && self.narrow_new(&meta)?;
        if is_narrowed {
            // luzia's files in it have modes of their own.
        } else if meta.mode & 0o022 != 0 || meta.mode & 0o1000 != 0 {
            return refuse(format!("can be written by other accounts (mode {:04o})", meta.mode & 0o7777));
        }
        let file_system = self.vfs.file_system().map_err(StoreError::io("look at the file system of", "."))?;
        if !file_system.is_local && !force_file_system {
            return refuse(format!("is on {}, where kernel locks do not hold between all programs", file_system.name));
        }
        Ok(())
    }
}
