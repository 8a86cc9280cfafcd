//! The memory of a task between its starts: variables, finished steps, mail. One folder a task, `spool/steps/<id>`, which
//! exists only if the task uses any of it.
//!
//! A document is replaced as a whole under the lock of the folder. The one before it stays beside it, so a damaged document
//! is replaced by the last valid one, never by an empty one (S1.50, S1.52).

pub(crate) mod beat;
pub(crate) mod done;
pub(crate) mod finish;
pub(crate) mod leases;
pub(crate) mod mail;
pub(crate) mod vars;
pub(crate) mod waits;

use crate::model::TaskId;
use crate::model::record::Version;
use crate::os::{Handle, Open};
use crate::store::files::disk::task_record::encode_line;
use crate::store::{Event, FORMAT_VERSION, Result, Spool, StoreError, json_object, layout};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The lock of a task's folder; its holder may write there.
pub(crate) struct Locked {
    id: TaskId,
    _lock: Box<dyn Handle>,
}

/// A document as it was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Document<T> {
    /// Its content; empty if nothing was ever written.
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
        self.make_dir(layout::STEPS)?;
        self.make_dir(&layout::steps(id))?;
        Ok(Locked { id, _lock: self.locked(&path, false)? })
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
        names.sort_unstable_by_key(|name| !name.starts_with("waits.json"));
        for name in names.iter().filter(|name| *name != "lock" && *name != "mail") {
            self.unlink(&format!("{folder}/{name}"))?;
        }
        self.sync_dir(&folder)
    }
}
