//! Where the things are whose lanes have a name of digits, e.g. the repository of `git:0123456789abcdef`: a hint for people who
//! read a list of locks. A line for each: the lane, a tab, and the path as JSON. No promise rests on it, so nothing is synced,
//! and a torn line is passed over.

use crate::model::LaneName;
use crate::os::Open;
use crate::store::FileStore;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::layout;
use std::collections::BTreeMap;

/// The most bytes that are kept: some thousand places.
const MOST_BYTES: u64 = 256 * 1024;
/// The longest line that is kept.
const LONGEST: usize = 4096;

impl FileStore {
    /// The places that were remembered, by the text of their lanes. A place that was renamed has its last path.
    pub fn known_places(&self) -> Result<BTreeMap<String, String>> {
        let Some(bytes) = self.read(layout::PLACES)? else { return Ok(BTreeMap::new()) };
        let text = String::from_utf8_lossy(&bytes);
        let place = |line: &str| {
            let (lane, path) = line.split_once('\t')?;
            Some((lane.to_owned(), serde_json::from_str(path).ok()?))
        };
        Ok(text.lines().filter_map(place).collect())
    }

    /// Remembers places, unless the file is full. One call writes all lines, so that two writers do not mix theirs.
    pub fn remember_places(&self, places: &BTreeMap<LaneName, String>) -> Result<()> {
        let known = self.known_places()?;
        let new = places.iter().filter(|(lane, path)| known.get(&lane.to_string()) != Some(path));
        let lines = new.map(|(lane, path)| format!("{lane}\t{}\n", serde_json::Value::from(path.as_str())));
        let lines: String = lines.filter(|line| line.len() <= LONGEST).collect();
        if lines.is_empty() {
            return Ok(());
        }
        let Some(mut file) = self.open(layout::PLACES, Open::Append(0o600))? else { return Ok(()) };
        let meta = file.meta().map_err(StoreError::io("look at", layout::PLACES))?;
        if meta.size >= MOST_BYTES || meta.links > 1 {
            return Ok(());
        }
        file.write_all(lines.as_bytes()).map_err(StoreError::io("write", layout::PLACES))
    }
}
