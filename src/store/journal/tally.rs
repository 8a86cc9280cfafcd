//! `spool/tally.json`: the sums of the events that are gone, and of some of those that exist. Counters of `metrics` must
//! never go backwards, and segments are removed. So a segment is added before it goes, and the tally records the part that
//! was read of each existing segment. It is replaced by a rename under the lock of `spool/tally.lock`.

use super::reading::Position;
use super::{ReadEvent, Segment};
use crate::model::record::Version;
use crate::store::files::disk::task_record::{encode_line, newer_or_corrupt};
use crate::store::{Result, Spool, StoreError, json_object, layout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of added bytes of events after which the tally is written. Events that are not yet written are added again.
const WRITE_AFTER: u64 = 1024 * 1024;

/// Counters, and the parts of segments that have been added.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// The version of the tally's record.
    pub v: Version,
    /// The counters.
    pub counts: BTreeMap<String, u64>,
    /// Number of bytes of a segment that were added.
    pub read: BTreeMap<String, u64>,
}

/// Adds an event to counters.
pub type Add<'a> = dyn Fn(&mut BTreeMap<String, u64>, ReadEvent) + 'a;

/// The tally as it is written.
pub(crate) fn encode_tally(tally: &Tally) -> Result<Vec<u8>> {
    encode_line(layout::TALLY, tally)
}

/// Parses the output of [`encode_tally`].
pub(crate) fn decode_tally(path: &str, bytes: &[u8]) -> Result<Tally> {
    json_object::read(bytes).map_err(|error| newer_or_corrupt(path, bytes, &error))
}

impl Spool {
    /// The counters of all events that were ever written, as far as they were not removed by hand.
    pub fn tally(&self, add: &Add<'_>) -> Result<BTreeMap<String, u64>> {
        if !self.has_layout()? {
            return Ok(BTreeMap::new());
        }
        let lock = self.locked(layout::TALLY_LOCK, false)?;
        let mut tally = self.read_tally()?;
        let segments = self.event_segments()?;
        let mut added = 0;
        for segment in &segments {
            added += self.add_segment(&mut tally, segment, add)?;
        }
        if added >= WRITE_AFTER {
            self.write_tally(&mut tally, &segments)?;
        }
        drop(lock);
        Ok(tally.counts)
    }

    /// Removes segments of events. They are added to the tally before. Commit point: the sync of `spool`, after which the
    /// tally has them; a crash before their unlink leaves segments that have been added.
    pub(crate) fn remove_segments(&self, gone: &[Segment], add: &Add<'_>) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let lock = self.locked(layout::TALLY_LOCK, false)?;
        let mut tally = self.read_tally()?;
        for segment in gone {
            self.add_segment(&mut tally, segment, add)?;
        }
        self.write_tally(&mut tally, &self.event_segments()?)?;
        for segment in gone {
            self.unlink(&segment.path())?;
        }
        drop(lock);
        Ok(())
    }

    /// The tally as it was written. A damaged one is set aside, and counting begins anew with the existing events.
    fn read_tally(&self) -> Result<Tally> {
        let Some(bytes) = self.read(layout::TALLY)? else { return Ok(Tally::default()) };
        match decode_tally(layout::TALLY, &bytes) {
            Err(error @ StoreError::Corrupt { .. }) => {
                self.set_aside(&error)?;
                Ok(Tally::default())
            }
            read => read,
        }
    }

    fn write_tally(&self, tally: &mut Tally, segments: &[Segment]) -> Result<()> {
        tally.read.retain(|name, _| segments.iter().any(|segment| segment.to_string() == *name));
        self.put_durably(layout::TALLY_TMP, layout::TALLY, &encode_tally(tally)?)
    }

    /// Adds the events that were written to a segment since the last addition; returns the number of their bytes.
    fn add_segment(&self, tally: &mut Tally, segment: &Segment, add: &Add<'_>) -> Result<u64> {
        let size = self.event_bytes(segment)?;
        let known = tally.read.get(&segment.to_string()).copied().unwrap_or(0);
        // A power cut may have taken lines that were added: the following lines are new.
        let from = known.min(size);
        let mut at = Position { segment: segment.clone(), from };
        at.read(self, &mut |event| {
            add(&mut tally.counts, event);
            true
        })?;
        tally.read.insert(segment.to_string(), at.from);
        Ok(at.from.saturating_sub(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_reads_back_and_damage_is_told_from_a_newer_one() {
        let mut tally = Tally::default();
        tally.counts.insert("a{b=\"c\"}".into(), 7);
        tally.read.insert("2026-01-31.jsonl".into(), 100);
        assert_eq!(decode_tally("t", &encode_tally(&tally).expect("text")).ok(), Some(tally));
        for wrong in [
            "",
            "{}",
            "[1,{},{}]",
            "{\"v\":0,\"counts\":{},\"read\":{}}",
            "{\"v\":1,\"counts\":{\"a\":-1},\"read\":{}}",
        ] {
            assert!(matches!(decode_tally("t", wrong.as_bytes()), Err(StoreError::Corrupt { .. })), "{wrong}");
        }
        let newer = decode_tally("t", b"{\"v\":2,\"sums\":{}}");
        assert!(matches!(newer, Err(StoreError::Newer { version: 2, .. })), "{newer:?}");
    }
}
