//! The users of whom luzia has queued a task or held the lane: a hint for people who mistype a name. A name a line, in the
//! encoding of file names. No promise rests on it, so nothing is synced, and a torn line is passed over.

use crate::model::Name;
use crate::os::Open;
use crate::store::FileStore;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::layout;
use std::collections::BTreeSet;

/// The most bytes that are kept: some ten thousand names.
const MOST_BYTES: u64 = 256 * 1024;
/// The longest name that is kept; nobody mistypes a longer one by hand.
const LONGEST: usize = 100;

impl FileStore {
    /// The users that were remembered.
    pub fn known_users(&self) -> Result<Vec<Name>> {
        let Some(bytes) = self.read(layout::USERS)? else { return Ok(Vec::new()) };
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.lines().filter_map(Name::decoded).collect())
    }

    /// Remembers users, unless the file is full. One call writes all lines, so that two writers do not mix theirs.
    pub fn remember_users(&self, users: &BTreeSet<Name>) -> Result<()> {
        let names = users.iter().map(Name::encoded).filter(|name| name.len() <= LONGEST);
        let lines: String = names.flat_map(|name| [name, "\n".to_owned()]).collect();
        let Some(mut file) = self.open(layout::USERS, Open::Append(0o600))? else { return Ok(()) };
        let meta = file.meta().map_err(StoreError::io("look at", layout::USERS))?;
        if lines.is_empty() || meta.size >= MOST_BYTES || meta.links > 1 {
            return Ok(());
        }
        file.write_all(lines.as_bytes()).map_err(StoreError::io("write", layout::USERS))
    }
}
