//! The memory of a task between its starts: variables, finished steps (`done`), waits and mail (`waits`).
//!
//! It is one folder a task, `spool/steps/<id>`, which exists only if the task uses any of it. `write_document` replaces a
//! document as a whole under the lock of the folder. The one before it stays beside it, so a damaged document is replaced by the
//! last valid one, never by an empty one (S1.50, S1.52).
//!
//! `Vars` are the variables of a task, `vars.json`; values are strings or other JSON. `Beat` is its last sign of progress,
//! `beat.json`. It informs only, so it is not synced, and an invalid one counts as none. `record_finish` writes the end that a
//! task declares for itself in one of its starts, `finish.json`. `mark_leases` marks a task that takes leases under its own name,
//! by which the end of the task finds them.

pub(crate) mod done;
pub(crate) mod waits;

use crate::model::record::Version;
use crate::model::sorted::sort_by_key;
use crate::model::task::Finish;
use crate::model::{Identity, LockKind, Sidecar, Status, TaskId, Timestamp};
use crate::os::{Handle, Open};
use crate::store::files::disk::task_record::encode_line;
use crate::store::{Break, Changes, Event, FORMAT_VERSION, FreedBy, Result, Spool, StoreError, json_object, layout};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The lock of a task's folder; its holder may write there.
pub(crate) struct Locked {
    id: TaskId,
    _lock: Box<dyn Handle>,
}

/// A document as it was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Document<T> {
    /// The content of the document; empty if nothing was ever written.
    pub value: T,
    /// The fault of the newest document, if that is damaged and this is the one before it.
    pub damage: Option<String>,
}

/// A document as it is written: with its version behind its own members.
#[derive(Serialize)]
struct Versioned<T> {
    #[serde(flatten)]
    document: T,
    v: Version,
}

/// Parses the bytes of a document; errors name `path`.
pub(crate) fn decode<T: DeserializeOwned>(path: &str, bytes: &[u8]) -> Result<T> {
    let corrupt = |error: serde_json::Error| StoreError::corrupt(path, error.to_string());
    let members: Map<String, Value> = json_object::read(bytes).map_err(corrupt)?;
    match members.get("v").and_then(Value::as_u64) {
        Some(FORMAT_VERSION) => serde_json::from_value(Value::Object(members)).map_err(corrupt),
        Some(version) if version > FORMAT_VERSION => Err(StoreError::Newer { thing: path.into(), version }),
        _ => Err(StoreError::corrupt(path, "it has no version")),
    }
}

/// Encodes a document.
pub(crate) fn encode<T: Serialize>(path: &str, document: &T) -> Result<Vec<u8>> {
    encode_line(path, &Versioned { document, v: Version })
}

fn before(path: &str) -> String {
    format!("{path}.before")
}

impl Spool {
    /// Takes the lock of a task's folder, which is made if it is missing. While the lock is held no process begins or closes a
    /// wait.
    pub(crate) fn lock_steps(&self, id: TaskId) -> Result<Locked> {
        let path = layout::step_file(id, "lock");
        self.make_steps(id)?;
        Ok(Locked { id, _lock: self.locked(&path, false)? })
    }

    fn make_steps(&self, id: TaskId) -> Result<()> {
        self.make_dir(layout::STEPS)?;
        self.make_dir(&layout::steps(id))?;
        Ok(())
    }

    /// Watches what a task remembers, and the end of a process.
    pub fn watch_steps(&self, id: TaskId, process: &Identity) -> Result<Changes> {
        self.make_steps(id)?;
        self.changes_or_end(&[&layout::steps(id)], process)
    }

    /// Whether a task has a folder of this kind.
    pub fn has_steps(&self, id: TaskId) -> Result<bool> {
        Ok(self.meta(&layout::steps(id))?.is_some())
    }

    /// Reads a file of a task's memory; `None` if the file is absent.
    pub(crate) fn read_memory<T: DeserializeOwned>(&self, id: TaskId, path: &str) -> Result<Option<T>> {
        let read = self.read(path).and_then(|bytes| bytes.map(|bytes| decode(path, &bytes)).transpose());
        read.map_err(|error| error.in_memory_of(id))
    }

    /// Reads the newest document of a name, or the one before it if the newest is damaged. An absent document is empty. If the
    /// one before is absent or damaged too, returns the fault of the newest.
    pub(crate) fn read_document<T: DeserializeOwned + Default>(&self, id: TaskId, name: &str) -> Result<Document<T>> {
        let path = layout::step_file(id, name);
        let wrong = match self.read_memory(id, &path) {
            Ok(found) => return Ok(Document { value: found.unwrap_or_default(), damage: None }),
            Err(wrong @ StoreError::Corrupt { .. }) => wrong,
            Err(other) => return Err(other),
        };
        match self.read_memory(id, &before(&path)) {
            Ok(Some(value)) => Ok(Document { value, damage: Some(wrong.to_string()) }),
            Ok(None) | Err(StoreError::Corrupt { .. }) => Err(wrong),
            Err(other) => Err(other),
        }
    }

    /// Replaces a document durably. Commit point: the rename. The one before it is kept, unless the newest is damaged: then
    /// the newest is copied to the damaged records, and the last valid one stays.
    pub(crate) fn write_document<T: Serialize + DeserializeOwned>(
        &self,
        locked: &Locked,
        name: &str,
        value: &T,
    ) -> Result<()> {
        let path = layout::step_file(locked.id, name);
        let (tmp, old) = (format!("{path}.tmp"), before(&path));
        let bytes = encode(&path, value)?;
        match self.read(&path) {
            Ok(None) => {}
            Ok(Some(present)) => match decode::<T>(&path, &present) {
                Ok(_) => self.put(&tmp, &old, &present)?,
                Err(newer @ StoreError::Newer { .. }) => return Err(newer),
                Err(wrong) => self.keep_damaged(&path, &present, &wrong)?,
            },
            Err(wrong @ StoreError::Corrupt { .. }) => self.set_aside(&wrong)?,
            Err(other) => return Err(other),
        }
        self.put(&tmp, &path, &bytes)?;
        self.sync_steps(locked.id)
    }

    /// Makes the names in a task's folder durable, and that of the folder. The change itself is already made.
    fn sync_steps(&self, id: TaskId) -> Result<()> {
        let folders = [layout::steps(id), layout::STEPS.to_owned(), layout::SPOOL.to_owned()];
        let synced = folders.iter().try_for_each(|folder| self.sync_dir(folder));
        synced.map_err(StoreError::unsure)
    }

    /// Copies a damaged document to the damaged records. It must not be moved: a start that finds no document assumes that
    /// the task has none.
    fn keep_damaged(&self, path: &str, bytes: &[u8], wrong: &StoreError) -> Result<()> {
        let name = path.replace('/', "_");
        for attempt in 0..1000 {
            let to = format!("{}/{name}.{attempt}", layout::CORRUPT);
            if let Some(mut file) = self.open(&to, Open::CreateNew(0o600))? {
                file.write_all(bytes).map_err(StoreError::io("write", &to))?;
                self.note(&Event::new("set_aside").saying(wrong.to_string()));
                break;
            }
        }
        Ok(())
    }

    /// Removes the folder of a task that is no longer kept.
    pub(crate) fn remove_steps(&self, id: TaskId) -> Result<()> {
        if self.has_steps(id)? {
            crate::store::files::prune::remove_tree(self.vfs.as_ref(), layout::steps(id))?;
        }
        Ok(())
    }

    /// Removes the memory of a task except its mail, so that its next start begins from nothing. A crash on the way leaves
    /// some of it, and the next call goes on.
    pub fn forget_steps(&self, id: TaskId) -> Result<()> {
        if !self.has_steps(id)? {
            return Ok(());
        }
        let _locked = self.lock_steps(id)?;
        let folder = layout::steps(id);
        // The waits go before the steps: a step that is done again may deliver the event of a wait.
        let mut names: Vec<String> = self.list(&folder)?.into_iter().map(|entry| entry.name.to_string()).collect();
        sort_by_key(&mut names, |name| !name.starts_with("waits.json"));
        for name in names.iter().filter(|name| *name != "lock" && *name != "mail") {
            self.unlink(&format!("{folder}/{name}"))?;
        }
        self.sync_dir(&folder)
    }
}

const VARS: &str = "vars.json";

/// Names and values.
pub type Vars = BTreeMap<String, Value>;

#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Debug)]
pub(crate) struct VarsFile {
    pub(crate) vars: Vars,
}

/// A value as the text that a command gets: a string itself, any other value as compact JSON.
pub fn var_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Spool {
    /// The variables of a task. A task without variables costs one open.
    pub fn vars(&self, id: TaskId) -> Result<Document<Vars>> {
        let found = self.read_document::<VarsFile>(id, VARS)?;
        Ok(Document { value: found.value.vars, damage: found.damage })
    }

    /// Changes the variables of a task durably, one change after the other. `change` is called under the lock; its error
    /// changes nothing.
    pub fn change_vars<E: From<crate::store::StoreError>>(
        &self,
        id: TaskId,
        change: impl FnOnce(&mut Vars) -> std::result::Result<(), E>,
    ) -> std::result::Result<Document<Vars>, E> {
        let locked = self.lock_steps(id)?;
        let read = match self.vars(id) {
            // Both the newest document and the one before it are damaged: both are kept, and a new one begins.
            Err(crate::store::StoreError::Corrupt { why, .. }) => {
                Document { value: Vars::new(), damage: Some(format!("{why}; nothing before it reads")) }
            }
            other => other?,
        };
        let mut value = read.value.clone();
        change(&mut value)?;
        if value != read.value || read.damage.is_some() {
            self.write_document(&locked, VARS, &VarsFile { vars: value.clone() })?;
        }
        Ok(Document { value, ..read })
    }
}

const BEAT: &str = "beat.json";

/// A sign of progress.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Beat {
    /// The time at which the sign of progress was given.
    pub at: Timestamp,
    /// Present activity of the task, in its own words.
    pub note: Option<String>,
}

impl Spool {
    /// Notes that a task makes progress.
    pub fn note_beat(&self, id: TaskId, note: Option<String>) -> Result<Beat> {
        let _locked = self.lock_steps(id)?;
        let path = layout::step_file(id, BEAT);
        let beat = Beat { at: self.host.now(), note };
        let bytes = encode(&path, &beat)?;
        self.replace(&format!("{path}.tmp"), &path, &bytes)?;
        Ok(beat)
    }

    /// The last sign of progress of a task.
    pub fn last_beat(&self, id: TaskId) -> Result<Option<Beat>> {
        let path = layout::step_file(id, BEAT);
        let Some(bytes) = self.read(&path).unwrap_or(None) else { return Ok(None) };
        Ok(decode(&path, &bytes).ok())
    }
}

const FINISH: &str = "finish.json";

#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub(crate) struct FinishFile {
    pub(crate) start: u32,
    pub(crate) status: String,
    pub(crate) summary: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) at: String,
}

impl FinishFile {
    fn said(self, start: u32) -> Option<Finish> {
        let is_end = |status: &Status| matches!(status, Status::Completed | Status::Failed);
        let status = Status::parse(&self.status).filter(is_end).filter(|_| self.start == start)?;
        Some(Finish { status, summary: self.summary, data: self.data })
    }
}

impl Spool {
    /// Records durably the end that a task declares in one of its starts. If an earlier declaration exists, returns that and
    /// changes nothing. `check` is called under the lock. Commit point: the rename of the document.
    pub fn record_finish<E: From<StoreError>>(
        &self,
        id: TaskId,
        start: u32,
        finish: &Finish,
        check: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<Option<Finish>, E> {
        let locked = self.lock_steps(id)?;
        check()?;
        // An invalid document is replaced: no caller got an answer from it.
        let before = self.read_document::<FinishFile>(id, FINISH).map(|read| read.value).unwrap_or_default();
        if let Some(said) = before.said(start) {
            return Ok(Some(said));
        }
        let file = FinishFile {
            start,
            status: finish.status.word().to_owned(),
            summary: finish.summary.clone(),
            data: finish.data.clone(),
            at: self.host.now().to_string(),
        };
        self.write_document(&locked, FINISH, &file)?;
        Ok(None)
    }

    /// The end that a task declared in this start. A task that has declared none costs one look.
    pub fn finish_said(&self, id: TaskId, start: u32) -> Result<Option<Finish>> {
        if self.meta(&layout::step_file(id, FINISH))?.is_none() {
            return Ok(None);
        }
        // When the newest document is damaged, one of an earlier start must not count: `start` decides. If neither is valid,
        // the exit code of the command decides.
        match self.read_document::<FinishFile>(id, FINISH) {
            Ok(read) => Ok(read.value.said(start)),
            Err(StoreError::Corrupt { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The name of the mark's file.
const MARK: &str = "leases";

impl Spool {
    /// Marks that a task takes leases. The mark is made before the first of them.
    pub fn mark_leases(&self, id: TaskId) -> Result<()> {
        let _locked = self.lock_steps(id)?;
        self.open(&layout::step_file(id, MARK), Open::CreateNew(0o600)).map(drop)
    }

    /// Releases the leases that a task has taken under its own name. The caller holds the task's `supervisor.lock`, and the
    /// task's tree is dead. Idempotent.
    pub fn release_leases(&self, id: TaskId) -> Result<Vec<Break>> {
        let (mark, mut released) = (layout::step_file(id, MARK), Vec::new());
        if self.meta(&mark)?.is_none() {
            return Ok(released);
        }
        for (stem, slot) in self.lock_stems()? {
            if self.task_in_lock_file(&layout::lock_file(&stem, slot)).ok().flatten() != Some(id) {
                continue;
            }
            let Some(lane) = self.lane_of_stem(&stem, slot)? else { continue };
            let mut guards = self.enter_patiently(&lane)?;
            let Sidecar::Whole(record) = self.read_sidecar(&layout::sidecar(&stem, slot))? else { continue };
            let (holder, lock_id) = (id.to_string(), record.lock_id.unwrap_or_default());
            if record.kind != LockKind::Lease || record.task_id.as_ref() != Some(&holder) {
                continue;
            }
            self.free_lock(&mut guards, &lane, slot, FreedBy::Other)?;
            released.push(Break::by_holder(&lane, slot, lock_id, holder));
        }
        self.unlink(&mark)?;
        Ok(released)
    }
}
