//! Hints for people, one line each; a torn line is passed over. No promise rests on a hint, so nothing is synced.
//!
//! `spool/users` has the users for whom luzia has queued a task or held the lane, in the encoding of file names: luzia proposes
//! them for a mistyped name. `spool/places` has the directories behind lanes with a name of digits, e.g. the repository of
//! `git:0123456789abcdef`, which lists of locks show. A line has the lane, a tab, and the path as JSON.

use crate::model::{LaneName, Name};
use crate::os::Open;
use crate::store::{Result, Spool, StoreError, layout};
use std::collections::{BTreeMap, BTreeSet};

/// The largest file of hints, in bytes: some ten thousand names, or some thousand places.
const MOST_BYTES: u64 = 256 * 1024;
/// The longest name that is kept; a person does not type a longer one by hand.
const LONGEST_NAME: usize = 100;
/// The longest line of a place that is kept.
const LONGEST_PLACE: usize = 4096;

impl Spool {
    /// The users that were remembered.
    pub fn known_users(&self) -> Result<Vec<Name>> {
        Ok(self.hints(layout::USERS)?.lines().filter_map(Name::decoded).collect())
    }

    /// Remembers users, unless the file is full.
    pub fn remember_users(&self, users: &BTreeSet<Name>) -> Result<()> {
        let names = users.iter().map(Name::encoded).filter(|name| name.len() <= LONGEST_NAME);
        self.append_hints(layout::USERS, &names.flat_map(|name| [name, "\n".to_owned()]).collect::<String>())
    }

    /// The places that were remembered, by the text of their lanes. A place that was renamed has its last path.
    pub fn known_places(&self) -> Result<BTreeMap<String, String>> {
        let place = |line: &str| {
            let (lane, path) = line.split_once('\t')?;
            Some((lane.to_owned(), serde_json::from_str(path).ok()?))
        };
        Ok(self.hints(layout::PLACES)?.lines().filter_map(place).collect())
    }

    /// Remembers places, unless the file is full.
    pub fn remember_places(&self, places: &BTreeMap<LaneName, String>) -> Result<()> {
        let known = self.known_places()?;
        let new = places.iter().filter(|(lane, path)| known.get(&lane.to_string()) != Some(path));
        let lines = new.map(|(lane, path)| format!("{lane}\t{}\n", serde_json::Value::from(path.as_str())));
        self.append_hints(layout::PLACES, &lines.filter(|line| line.len() <= LONGEST_PLACE).collect::<String>())
    }

    fn hints(&self, path: &str) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.read(path)?.unwrap_or_default()).into_owned())
    }

    /// Appends lines in one call, so that the lines of two writers do not mix.
    fn append_hints(&self, path: &str, lines: &str) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let Some(mut file) = self.open(path, Open::Append(0o600))? else { return Ok(()) };
        let meta = file.meta().map_err(StoreError::io("look at", path))?;
        if meta.size >= MOST_BYTES || meta.links > 1 {
            return Ok(());
        }
        file.write_all(lines.as_bytes()).map_err(StoreError::io("write", path))
    }
}
