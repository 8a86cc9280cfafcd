//! `store.seen`: the last that this host has seen of the database of several hosts. A database that has less of it is older than its
//! hosts: it was restored from a backup, or its last commits are lost.

use crate::model::task::Word;
use crate::store::{Result, Spool, StoreError, layout};

/// The last that a host has seen of a database.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StoreSeen {
    /// The epoch of the database: a random word, drawn anew when people accept a database that is older than its hosts.
    pub epoch: Word,
    /// A sum over the name of this host, which may get another one.
    pub host: u32,
    /// The beat of the host of that name.
    pub beat: u64,
    /// The greatest number of a task.
    pub task: u64,
}

/// The line of the file, which always has the same length, so that it is written in place.
pub fn encode_seen(seen: &StoreSeen) -> String {
    format!("{} {:010} {:020} {:020}\n", seen.epoch, seen.host, seen.beat, seen.task)
}

/// Reads the line; `None` for bytes that are not a whole one.
pub fn decode_seen(bytes: &[u8]) -> Option<StoreSeen> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut words = text.split_whitespace();
    let epoch = Word::parse(words.next()?)?;
    let seen = StoreSeen {
        epoch,
        host: words.next()?.parse().ok()?,
        beat: words.next()?.parse().ok()?,
        task: words.next()?.parse().ok()?,
    };
    (encode_seen(&seen) == text).then_some(seen)
}

impl Spool {
    /// The last that this host has seen of the database; nothing without a whole note of it.
    pub fn store_seen(&self) -> Result<StoreSeen> {
        Ok(self.read(layout::SEEN)?.and_then(|bytes| decode_seen(&bytes)).unwrap_or_default())
    }

    /// Notes the state of a store that this host has seen, in one call and without a sync: a power cut may lose it, and the
    /// host then notices less.
    pub fn keep_store_seen(&self, seen: &StoreSeen) -> Result<()> {
        let mut handle = self.open_or_make(layout::SEEN)?;
        handle.write_at_start(encode_seen(seen).as_bytes()).map_err(StoreError::io("write", layout::SEEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_reads_back_and_every_one_has_the_same_length() {
        let least = StoreSeen::default();
        let most = StoreSeen { epoch: Word(u128::MAX), host: u32::MAX, beat: u64::MAX, task: u64::MAX };
        for seen in [least, most] {
            assert_eq!(decode_seen(encode_seen(&seen).as_bytes()), Some(seen));
        }
        assert_eq!(encode_seen(&least).len(), encode_seen(&most).len());
        let line = encode_seen(&most);
        assert!((0..line.len()).all(|at| decode_seen(&line.as_bytes()[..at]).is_none()));
        assert_eq!(decode_seen(line.replace('\n', " 1\n").as_bytes()), None);
    }
}
