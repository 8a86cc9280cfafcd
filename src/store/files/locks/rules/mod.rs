//! Rules of lanes beyond their limits, as a claim meets them in the guard, and disk space that is kept for locks.
//!
//! `beyond_limit` finds the rule that keeps a lane from a request: slots of `global` that are kept for other lanes, or a rate of
//! grants. `count_grants` writes `spool/rates/<stem of a lane>`: the recent grants of a lane with a rate (S1.13). The first line
//! names the kind of the file, and each further one is a moment in milliseconds since 1970. The file is replaced whole, in the
//! guard of the lane and durably, before the lane is granted: neither `kill -9` nor a power cut lets more grants through than the
//! rate. A grant that is taken back stays counted. `keep_reserve` keeps disk space, so that on a full disk `luzia lock` still
//! runs the command that frees some.

use crate::model::config::Rate;
use crate::model::{Grant, LaneName, Timestamp, loan};
use crate::os::{Entry, FileKind, Open};
use crate::store::files::locks::bucket::{bucket, bucket_of_stem};
use crate::store::{Denial, LaneNeed, LockIndex, Result, Spool, StoreError, layout, slots_in};
use std::fmt::Write as _;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use parse as parse_grants;

impl Spool {
    /// The rule that refuses a lane to a request that the limit of the lane would admit. `used` holders stay beside it, and
    /// it takes `wanted` slots. The caller is in the guard.
    pub(crate) fn beyond_limit(
        &self,
        need: &LaneNeed,
        used: u32,
        wanted: u32,
        locks: &[Entry],
    ) -> Result<Option<Denial>> {
        if !need.kept.is_empty() {
            let kept = self.kept_slots(&need.kept, &|stem| slots_in(locks, stem))?;
            if used.saturating_add(wanted).saturating_add(kept) > need.limit {
                return Ok(Some(Denial::Kept));
            }
        }
        let until = need.rate.map_or(Ok(None), |rate| self.granted_again(&need.lane, rate))?;
        Ok(until.map(|until| Denial::Limited { lane: need.lane.clone(), until }))
    }

    /// Number of slots of `global` that are kept: of each lane, the part of its reserve that its tasks do not hold. Only tasks
    /// count, because a `luzia lock` of such a lane takes no slot of `global`.
    fn kept_slots(&self, kept: &[(LaneName, u32)], slots: &dyn Fn(&str) -> Vec<u32>) -> Result<u32> {
        let mut all: u32 = 0;
        for (lane, reserve) in kept {
            let stem = lane.stem();
            let mut of_tasks = Vec::new();
            for slot in slots(&stem) {
                let task = self.task_in_lock_file(&layout::lock_file(&stem, slot))?;
                of_tasks.extend(task.map(|_| slot));
            }
            all = all.saturating_add(reserve.saturating_sub(loan::holders(of_tasks.into_iter())));
        }
        Ok(all)
    }

    /// Like `kept_slots`, by an index of the locks, for a look.
    pub fn kept_in(&self, locks: &LockIndex, kept: &[(LaneName, u32)]) -> Result<u32> {
        self.kept_slots(kept, &|stem| locks.slots(stem).collect())
    }

    /// The moment from which a lane may be granted again by its rate; `None` when it may now.
    pub fn granted_again(&self, lane: &LaneName, rate: crate::model::config::Rate) -> Result<Option<Timestamp>> {
        let grants = self.granted_lately(lane, rate)?;
        Ok(rate.next(&grants, self.host.clock.now()))
    }
}

const HEADER: &str = "luzia-rate 1";

/// Parses the moments of grants. An invalid line, as after damage, counts as a grant at `written`. A file without its first
/// line gives `None`, because nothing in it can be trusted.
pub(crate) fn parse(text: &str, written: Timestamp) -> Option<Vec<Timestamp>> {
    let moments = text.strip_prefix(HEADER)?.strip_prefix('\n')?;
    Some(moments.lines().map(|line| line.parse().map_or(written, Timestamp)).collect())
}

impl Spool {
    /// The moments at which a lane was granted lately, oldest first. A file that is damaged throughout counts as the full
    /// number of grants at the time of its last change, so that the lane goes on after one window.
    pub fn granted_lately(&self, lane: &LaneName, rate: Rate) -> Result<Vec<Timestamp>> {
        let path = layout::rate(&lane.stem());
        let Some(bytes) = self.read(&path)? else { return Ok(Vec::new()) };
        let written = self.meta(&path)?.map_or_else(|| self.host.clock.now(), |meta| meta.modified);
        let read = std::str::from_utf8(&bytes).ok().and_then(|text| parse(text, written));
        Ok(read.unwrap_or_else(|| vec![written; usize::try_from(rate.grants).unwrap_or(1)]))
    }

    /// Counts grants of lanes that have rates. A borrowed lane is not a grant. The caller is in the guards of all lanes.
    pub(crate) fn count_grants(
        &self,
        needs: &[LaneNeed],
        grants: &[Grant],
        is_loan: impl Fn(&Grant) -> bool,
    ) -> Result<()> {
        for (need, rate) in needs.iter().filter_map(|need| Some((need, need.rate?))) {
            if grants.iter().any(|grant| grant.lane == need.lane && !is_loan(grant)) {
                self.count_grant(&need.lane, rate)?;
            }
        }
        Ok(())
    }

    fn count_grant(&self, lane: &LaneName, rate: Rate) -> Result<()> {
        let (now, stem) = (self.host.clock.now(), lane.stem());
        let window = i64::try_from(rate.window_ms).unwrap_or(i64::MAX);
        let mut grants = self.granted_lately(lane, rate)?;
        grants.retain(|at| now.ms_since(*at) < window && at.ms_since(now) <= window);
        grants.push(now);
        let most = usize::try_from(rate.grants).unwrap_or(usize::MAX);
        let mut text = format!("{HEADER}\n");
        for at in grants.iter().skip(grants.len().saturating_sub(most)) {
            let _ = writeln!(text, "{}", at.0);
        }
        // The guard of the lane is that of its bucket, so no other process uses this name.
        let tmp = layout::rate_tmp(bucket(lane));
        if self.make_dir(layout::RATES)? {
            self.sync_dir(layout::SPOOL)?;
        }
        self.put_durably(&tmp, &layout::rate(&stem), text.as_bytes())
    }

    /// Removes the records of lanes whose last grant is out of every window, or that have no rate by `window_ms` any more, at
    /// most `most` of them. An unused lane leaves nothing behind.
    pub fn prune_rates(&self, most: usize, window_ms: &dyn Fn(&LaneName) -> Option<u64>) -> Result<()> {
        let longest = crate::model::config::LONGEST_WINDOW_MS;
        let mut gone = 0;
        for entry in self.list(layout::RATES)?.iter().filter(|entry| entry.kind != FileKind::Dir) {
            // The lane of a hashed name is not known here.
            let lane = LaneName::from_stem(&entry.name);
            let window = lane.as_ref().map_or(Some(longest), window_ms).unwrap_or(0);
            let path = layout::rate(&entry.name);
            let Some(meta) = self.meta(&path)? else { continue };
            let is_over = self.host.clock.now().ms_since(meta.modified) > i64::try_from(window).unwrap_or(i64::MAX);
            if is_over && self.forget_grants(&entry.name, &path, meta.modified)? {
                gone += 1;
            }
            if gone >= most {
                break;
            }
        }
        if gone > 0 {
            self.remove_dir(layout::RATES)?;
        }
        Ok(())
    }

    /// Removes a file of grants that has not changed since the look. A file under a busy guard is left for another time.
    fn forget_grants(&self, stem: &str, path: &str, modified: Timestamp) -> Result<bool> {
        let Some(_guard) = self.try_buckets(&[bucket_of_stem(stem)])? else { return Ok(false) };
        let is_same = self.meta(path)?.is_some_and(|meta| meta.modified == modified);
        Ok(is_same && self.unlink(path)?)
    }
}

/// Number of bytes that are kept: enough blocks for a lock file, its sidecar and the replacement of the sidecar.
const BYTES: usize = 32 * 1024;

impl Spool {
    /// Gives the reserve back to the file system. False if it was missing.
    pub fn spend_reserve(&self) -> bool {
        self.unlink(layout::RESERVE).unwrap_or(false)
    }

    /// Makes the reserve if it is missing and the disk has space for it.
    pub fn keep_reserve(&self) -> Result<()> {
        if self.meta(layout::RESERVE)?.is_some() {
            return Ok(());
        }
        let Some(mut file) = self.open(layout::RESERVE, Open::CreateNew(0o600))? else { return Ok(()) };
        let written = file.write_all(&[b'.'; BYTES]).map_err(StoreError::io("write", layout::RESERVE));
        if written.is_err() {
            self.unlink(layout::RESERVE)?;
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_counts_as_grants_and_a_foreign_file_is_known() {
        let at = Timestamp;
        assert_eq!(parse("luzia-rate 1\n5\n\u{0}\n7\n", at(9)), Some(vec![at(5), at(9), at(7)]));
        assert_eq!(parse("luzia-rate 1\n", at(9)), Some(Vec::new()));
        for other in ["", "luzia-rate 2\n5\n", "5\n6\n", "luzia-rate 1"] {
            assert_eq!(parse(other, at(9)), None, "{other}");
        }
    }
}
