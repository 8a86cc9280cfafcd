//! The conductor directory: the outward face of a task, `active/<id>/` with `meta.json` and the logs, later `done/<id>/`. Its
//! content is for people and other programs; luzia never trusts it. luzia believes a claim in a foreign `meta.json` only
//! after the checks of `supervision.md`.

use super::error::{Result, StoreError};
use crate::model::sorted::sort_by;
use crate::model::task::EndState;
use crate::model::{Task, TaskId};
use crate::os::{FileKind, Handle, Open, Published, Vfs};
use crate::store::files::disk::task_record::encode_pretty;
use crate::store::{FORMAT_VERSION, RunDir, layout};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest `meta.json` read, in bytes.
pub const MAX_META_BYTES: u64 = 1024 * 1024;
/// Members of `meta.json` that only a finished task has, set by the way it ended; `variables` may belong to another program.
const OF_AN_END: [&str; 10] = [
    "completedAt",
    "resultType",
    "resultSummary",
    "exit_code",
    "signal",
    "ran_ms",
    "errorMessage",
    "failedActionId",
    "cancelledBy",
    "cancelReason",
];
/// File name of a command's standard output.
pub const STDOUT_LOG: &str = "stdout.log";
/// File name of a command's standard error.
pub const STDERR_LOG: &str = "stderr.log";

/// Members of a `meta.json`.
pub type Members = Map<String, Value>;

/// The `meta.json` that this process wrote last. A file with the same bytes has no members of other programs.
pub(super) type LastMeta = Arc<Mutex<Vec<u8>>>;

/// One conductor directory, open.
pub struct Conductor {
    pub(super) files: Arc<dyn Vfs>,
    last: LastMeta,
}

/// The claims of a `meta.json`, all unproven.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimedMeta {
    /// The name of the directory of the task.
    pub dir: String,
    /// Place of the directory of the task: below `active` or `done`.
    pub place: &'static str,
    /// `id`.
    pub id: Option<String>,
    /// `status`.
    pub status: Option<String>,
    /// `user`.
    pub user: Option<String>,
    /// `lock_id`.
    pub lock_id: Option<String>,
    /// `fence`.
    pub fence: Option<u64>,
    /// `lock_released`.
    pub lock_released: bool,
    /// The owner of the file.
    pub uid: u32,
    /// All members of the file.
    pub members: Members,
}

impl RunDir {
    /// Opens a conductor directory. `None` when it does not exist and the caller does not want it created.
    pub fn conductor(&self, path: &str, create: bool) -> Result<Option<Conductor>> {
        let files = self.vfs.open_root(path, create).map_err(StoreError::io("open the conductor directory", path))?;
        Ok(files.map(|files| Conductor { files, last: Arc::clone(&self.last_meta) }))
    }

    /// The conductor directory of tasks whose project configures none.
    pub fn default_conductor(&self, project: Option<&str>) -> String {
        self.conductor_below(&project.map_or_else(|| "_".to_owned(), crate::model::name::encode))
    }

    /// Every existing conductor directory of a project that configures none.
    pub fn default_conductors(&self) -> Result<Vec<String>> {
        Ok(self.folders(layout::CONDUCTOR)?.iter().map(|name| self.conductor_below(name)).collect())
    }

    fn conductor_below(&self, name: &str) -> String {
        format!("{}/{}/{name}", self.state_dir(), layout::CONDUCTOR)
    }
}

impl Conductor {
    /// The file system below it.
    pub fn file_system(&self) -> Result<crate::os::FileSystem> {
        self.files.file_system().map_err(StoreError::io("look at the file system of", self.files.root()))
    }

    /// Makes `active/<id>/` and writes its `meta.json` with the start to be; before the command starts (S3.25).
    pub fn open_task(&self, task: &Task) -> Result<()> {
        // A task at its first start has no logs of earlier attempts.
        if task.starts > 1 {
            self.bring_back(task);
        }
        let is_new = self.make_task_dir(&dir("active", task.id))?;
        let old = if is_new { None } else { self.members_in("active", task.id)? };
        self.write_meta("active", task, old, false)
    }

    /// Makes the directory of a task. If the task has no directory yet, first makes the folders of all tasks.
    fn make_task_dir(&self, path: &str) -> Result<bool> {
        let make = |folder: &str| self.files.make_dir(folder, 0o750);
        let made = match make(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                for folder in ["active", "done"] {
                    self.make_dir(folder)?;
                }
                make(path)
            }
            other => other,
        };
        made.map_err(StoreError::io("make the folder", path))
    }

    /// Brings back the directory of a finished task that is retried, with the logs of its earlier attempts. A directory with
    /// the same number and another moment of creation belongs to an earlier life of the state directory, and stays.
    fn bring_back(&self, task: &Task) {
        let (done, active) = (dir("done", task.id), dir("active", task.id));
        let meta = self.read_members(&format!("{done}/meta.json")).ok().flatten();
        let created = meta.as_ref().and_then(|(members, _)| members.get("created_at")).and_then(Value::as_str);
        if created.is_some_and(|at| at == task.created_at.to_string()) {
            // When the old directory cannot be moved back, a new one serves as well.
            let _ = self.files.publish(&done, &active);
        }
    }

    /// The path of a task's directory, for the command's environment.
    pub fn task_dir(&self, id: TaskId) -> String {
        format!("{}/{}", self.files.root(), dir("active", id))
    }

    /// Opens a log for appending. A log that has a second name is replaced by a copy first, so that no write reaches the second
    /// name.
    pub fn open_log(&self, id: TaskId, name: &str) -> Result<Box<dyn Handle>> {
        let path = format!("{}/{name}", dir("active", id));
        let missing = || self.io("create", &path)(crate::os::absent());
        for number in 1_u32.. {
            let log =
                self.files.open(&path, Open::Append(0o640)).map_err(self.io("open", &path))?.ok_or_else(missing)?;
            if log.meta().map_err(self.io("look at", &path))?.links < 2 {
                return Ok(log);
            }
            self.files.publish(&path, &format!("{path}~{number}")).map_err(self.io("set aside", &path))?;
        }
        Err(missing())
    }

    /// Opens a log for reading, where the task is now; `None` if it does not exist.
    pub fn read_log(&self, id: TaskId, name: &str) -> Result<Option<Box<dyn Handle>>> {
        for place in ["active", "done", "active"] {
            let path = format!("{}/{name}", dir(place, id));
            match self.files.open(&path, Open::ReadOnly) {
                Ok(Some(handle)) => return Ok(Some(handle)),
                Ok(None) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.io("open", &path)(error)),
            }
        }
        Ok(None)
    }

    /// Writes the end of a run into `meta.json`. The directory of a finished task moves to `done/`, that of a task that is
    /// queued again back to `active/`. Idempotent. Returns the place of the directory.
    pub fn close_task(&self, task: &Task) -> Result<Option<&'static str>> {
        if task.outcome().is_none() {
            self.bring_back(task);
        }
        let Some((place, old)) = self.find(task.id)? else { return Ok(None) };
        self.write_meta(place, task, old, false)?;
        if place == "active" && task.outcome().is_some() {
            self.move_to_done(task.id)?;
            return Ok(Some("done"));
        }
        Ok(Some(place))
    }

    /// Moves a directory from `active/` to `done/`. An older directory of that name there is renamed.
    fn move_to_done(&self, id: TaskId) -> Result<()> {
        let (from, to) = (dir("active", id), dir("done", id));
        let publish = |from: &str, to: &str| self.files.publish(from, to).map_err(self.io("move", from));
        for number in 1_u32.. {
            match publish(&from, &to)? {
                Published::Done => break,
                Published::NoDirectory => self.make_dir("done")?,
                Published::Exists => drop(publish(&to, &format!("{to}~{number}"))?),
            }
        }
        Ok(())
    }

    /// Closes the task and marks it released, for a task whose lanes are already free.
    pub fn close_late(&self, task: &Task) -> Result<()> {
        let place = self.close_task(task)?;
        self.mark_released(task, place)
    }

    /// Notes in `meta.json` that the task's lanes are released. `place` is the place of its directory, when it is known. The
    /// file is read again, because a program that saw the end may have written its own members into it.
    pub fn mark_released(&self, task: &Task, place: Option<&'static str>) -> Result<()> {
        let found = match place {
            Some(place) => Some((place, self.members_in(place, task.id)?)),
            None => self.find(task.id)?,
        };
        found.map_or(Ok(()), |(place, old)| self.write_meta(place, task, old, true))
    }

    /// The tasks that have a directory below `active/`.
    pub fn active_ids(&self) -> Result<Vec<TaskId>> {
        let entries = self.files.list("active").map_err(self.io("list", "active"))?.unwrap_or_default();
        let id = |name: &str| TaskId::parse(name).filter(|id| id.to_string() == name);
        Ok(entries.iter().filter(|entry| entry.kind == FileKind::Dir).filter_map(|entry| id(&entry.name)).collect())
    }

    /// The path of a task's present directory.
    pub fn folder_of(&self, id: TaskId) -> Result<Option<String>> {
        let place = self.find(id)?.map(|(place, _)| place);
        Ok(place.map(|place| format!("{}/{}", self.files.root(), dir(place, id))))
    }

    /// Place of a task's directory, and the members of its `meta.json`, if that is valid.
    fn find(&self, id: TaskId) -> Result<Option<(&'static str, Option<Members>)>> {
        for place in ["active", "done"] {
            let members = self.members_in(place, id)?;
            let path = dir(place, id);
            let is_here = || self.files.meta(&path).map_err(self.io("look at", &path));
            if members.is_some() || is_here()?.is_some() {
                return Ok(Some((place, members)));
            }
        }
        Ok(None)
    }

    /// The members of a task's `meta.json`, if it is valid; none of a file that this process wrote.
    fn members_in(&self, place: &str, id: TaskId) -> Result<Option<Members>> {
        let Some(mut handle) = self.open_meta(&format!("{}/meta.json", dir(place, id)))? else { return Ok(None) };
        let Ok(bytes) = handle.read_all(MAX_META_BYTES) else { return Ok(None) };
        let is_own = *self.last.lock().unwrap_or_else(PoisonError::into_inner) == bytes;
        Ok(if is_own { Some(Members::new()) } else { decode_members(&bytes) })
    }

    /// Writes `meta.json` with a task's last start; members that other programs wrote into the `old` one stay.
    fn write_meta(&self, place: &str, task: &Task, old: Option<Members>, released: bool) -> Result<()> {
        let (folder, known) = (dir(place, task.id), Meta { task, lock_released: released });
        let Some(mut members) = old.filter(|old| !old.is_empty()) else {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = self.replace_meta(&folder, &known)?;
            return Ok(());
        };
        // Members of an earlier attempt.
        members.retain(|name, _| !OF_AN_END.contains(&name.as_str()));
        if let Ok(Value::Object(known)) = serde_json::to_value(known) {
            members.extend(known);
        }
        self.replace_meta(&folder, &members).map(drop)
    }

    /// Writes the value of a variable to a file beside the logs of a task that is about to start. Returns the path of the
    /// file.
    pub fn write_value(&self, id: TaskId, name: &str, value: &[u8]) -> Result<String> {
        let file = format!("var.{name}");
        self.replace(&dir("active", id), &file, value)?;
        Ok(format!("{}/{file}", self.task_dir(id)))
    }

    /// Replaces a `meta.json`, and returns its bytes.
    fn replace_meta(&self, folder: &str, members: &impl Serialize) -> Result<Vec<u8>> {
        let bytes = encode_pretty(&format!("{folder}/meta.json"), members)?;
        self.replace(folder, "meta.json", &bytes)?;
        Ok(bytes)
    }

    fn replace(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<()> {
        let (tmp, path) = (format!("{folder}/.{name}.tmp"), format!("{folder}/{name}"));
        let missing = || self.io("create", &tmp)(crate::os::absent());
        let mut handle =
            self.files.open(&tmp, Open::Truncate(0o640)).map_err(self.io("create", &tmp))?.ok_or_else(missing)?;
        handle.write_all(bytes).map_err(self.io("write", &tmp))?;
        drop(handle);
        self.files.rename(&tmp, &path).map_err(self.io("rename", &tmp))?;
        Ok(())
    }

    fn open_meta(&self, path: &str) -> Result<Option<Box<dyn Handle>>> {
        match self.files.open(path, Open::ReadOnly) {
            Err(error) if matches!(error.kind(), std::io::ErrorKind::InvalidInput | std::io::ErrorKind::NotFound) => {
                Ok(None)
            }
            opened => opened.map_err(self.io("open", path)),
        }
    }

    /// The members and the owner of a `meta.json`; `None` when it does not exist or cannot be read as one.
    fn read_members(&self, path: &str) -> Result<Option<(Members, u32)>> {
        let Some(mut handle) = self.open_meta(path)? else { return Ok(None) };
        let uid = handle.meta().map_err(self.io("look at", path))?.uid;
        let Ok(bytes) = handle.read_all(MAX_META_BYTES) else { return Ok(None) };
        Ok(decode_members(&bytes).map(|members| (members, uid)))
    }

    /// Claims of the `meta.json` files below `active/`; an invalid file gives `Err` with its path.
    pub fn claims(&self) -> Result<Vec<std::result::Result<ClaimedMeta, String>>> {
        let mut claims = Vec::new();
        let mut entries = self.files.list("active").map_err(self.io("list", "active"))?.unwrap_or_default();
        sort_by(&mut entries, |a, b| a.name.cmp(&b.name));
        for entry in entries.into_iter().filter(|entry| entry.kind == FileKind::Dir) {
            let path = format!("active/{}/meta.json", entry.name);
            let Some((members, uid)) = self.read_members(&path)? else {
                claims.push(Err(path));
                continue;
            };
            claims.push(Ok(claim_of(entry.name.into(), "active", members, uid)));
        }
        Ok(claims)
    }

    /// Claim of the `meta.json` of one task below `done/`, for a lock that names the task: another program may have moved the
    /// directory itself. `None` if no such file is valid.
    pub fn claim_in_done(&self, id: &str) -> Result<Option<ClaimedMeta>> {
        if crate::model::Name::new(id).is_err() || id.contains('/') || id.starts_with('.') {
            return Ok(None);
        }
        let read = self.read_members(&format!("done/{id}/meta.json"))?;
        Ok(read.map(|(members, uid)| claim_of(id.to_owned(), "done", members, uid)))
    }

    /// Sets `lock_released: true` in a foreign `meta.json`; everything else in it stays.
    pub fn acknowledge(&self, claim: &ClaimedMeta) -> Result<()> {
        let mut members = claim.members.clone();
        members.insert("lock_released".into(), true.into());
        self.replace_meta(&format!("{}/{}", claim.place, claim.dir), &members).map(drop)
    }

    fn make_dir(&self, path: &str) -> Result<()> {
        self.files.make_dir(path, 0o750).map_err(self.io("make the folder", path))?;
        Ok(())
    }

    /// Makes an error of an operation on a path below this directory; the error names the whole path.
    fn io(&self, action: &'static str, path: &str) -> impl FnOnce(std::io::Error) -> StoreError + use<> {
        let thing = format!("{}/{path}", self.files.root()).into();
        move |source| StoreError::Io { action, thing, source }
    }
}

pub(super) fn dir(place: &str, id: TaskId) -> String {
    format!("{place}/{id}")
}

/// The members of a `meta.json`; `None` when it is not a JSON object.
pub(crate) fn decode_members(bytes: &[u8]) -> Option<Members> {
    serde_json::from_slice(bytes).ok()
}

/// Claims in the members of a `meta.json`; a member of the wrong type claims nothing.
pub(crate) fn claim_of(dir: String, place: &'static str, members: Members, uid: u32) -> ClaimedMeta {
    let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
    ClaimedMeta {
        id: text("id"),
        status: text("status"),
        user: text("user"),
        lock_id: text("lock_id"),
        fence: members.get("fence").and_then(Value::as_u64),
        lock_released: members.get("lock_released").and_then(Value::as_bool).unwrap_or(false),
        uid,
        dir,
        place,
        members,
    }
}

/// The `meta.json` of a task: the members of S3.20, and those of S1.35–S1.38 once the task is over.
pub(crate) struct Meta<'a> {
    pub task: &'a Task,
    pub lock_released: bool,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let Self { task, lock_released } = self;
        let start = task.last_start.as_ref();
        let mut meta = to.serialize_map(None)?;
        meta.serialize_entry("v", &FORMAT_VERSION)?;
        meta.serialize_entry("id", &task.id)?;
        meta.serialize_entry("status", &task.status())?;
        meta.serialize_entry("user", &task.user)?;
        meta.serialize_entry("project", &task.project)?;
        meta.serialize_entry("lanes", &task.all_lanes())?;
        meta.serialize_entry("priority", &task.priority)?;
        meta.serialize_entry("command", &task.command)?;
        meta.serialize_entry("label", &task.label)?;
        meta.serialize_entry("lock_id", &start.map(|start| &start.lock_id))?;
        meta.serialize_entry("fence", &start.map(|start| start.fence))?;
        meta.serialize_entry("lock_released", lock_released)?;
        meta.serialize_entry("attempt", &task.attempt())?;
        meta.serialize_entry("starts", &task.starts)?;
        meta.serialize_entry("created_at", &task.created_at)?;
        meta.serialize_entry("started_at", &start.map(|start| start.at))?;
        let Some(outcome) = task.outcome() else { return meta.end() };
        meta.serialize_entry("completedAt", &outcome.completed_at)?;
        meta.serialize_entry("resultType", outcome.result_type())?;
        meta.serialize_entry("resultSummary", &outcome.summary)?;
        meta.serialize_entry("exit_code", &outcome.exit_code)?;
        meta.serialize_entry("signal", &outcome.signal)?;
        meta.serialize_entry("ran_ms", &outcome.ran_ms)?;
        match outcome.end {
            EndState::Completed => meta.serialize_entry("variables", &Members::new())?,
            EndState::Failed => {
                meta.serialize_entry("errorMessage", &outcome.error)?;
                meta.serialize_entry("failedActionId", &task.failed_action())?;
            }
            EndState::Cancelled => {
                meta.serialize_entry("cancelledBy", &outcome.cancelled_by)?;
                meta.serialize_entry("cancelReason", &outcome.cancel_reason)?;
            }
            EndState::Timeout => {}
        }
        meta.end()
    }
}
