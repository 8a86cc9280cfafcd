//! `spool/heads`: the lanes that a pass tries first while very many lanes have work, so that it need not list all of them
//! (`docs/decisions/449-a-hint-of-heads.md`). A process that has listed all lanes writes the first ones of each tier, in the
//! order of a pass, and puts the file in its place by a rename. Further lines are appended, each by one write: a lane that has
//! work now and had none is announced, and a line that no pass needs any more is struck.
//!
//! The file is a hint. Nothing is synced, and no error of it reaches a caller. If it is missing, old, torn or of another
//! version, a pass lists all lanes. It never shows that a lane has no work.

mod text;

use crate::model::queue::{FirstHead, FirstHeads, Lanes};
use crate::model::{Priority, Tier, Timestamp};
use crate::os::{Handle, Open};
use crate::store::{Result, Spool, StoreError, layout};
use text::Lines;

/// The largest file that is read, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;
/// The age from which no pass uses the hint, in milliseconds.
const OLD_MS: i64 = 10_000;
/// Number of attempts to announce a lane while others replace the file.
const MOST_TRIES: u32 = 3;

/// The sizes of the hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeadsSizes {
    /// Number of lanes with work from which there is a hint.
    pub lanes: usize,
    /// Numbers of heads of a tier that a pass looks at, one after the other, before it lists all lanes.
    pub looks: [usize; 2],
    /// Number of heads of a tier that are written.
    pub kept: usize,
    /// Number of announced lanes above which the hint is not used.
    pub announced: usize,
}

impl Default for HeadsSizes {
    fn default() -> Self {
        Self { lanes: 1000, looks: [64, 512], kept: 4096, announced: 512 }
    }
}

/// The lanes that a pass looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HeadsView {
    /// The lanes.
    pub lanes: Lanes,
    /// For each tier that has further heads: the head after which they come; `None` if they may come before all others.
    pub last: [Option<Option<FirstHead>>; 3],
}

/// The hint as it was read.
pub struct Heads {
    file: Box<dyn Handle>,
    lines: Option<Lines>,
    sizes: HeadsSizes,
    /// Lines to append.
    changes: String,
}

/// The right to write a new hint. Another process that wants to write one leaves it to this one.
pub struct HeadsWriter {
    file: Box<dyn Handle>,
    /// The size of the former file before the lanes are listed.
    size: u64,
}

impl Heads {
    /// Time since the lanes were listed, in milliseconds; `None` if the hint cannot be used.
    pub fn age_ms(&self, now: Timestamp) -> Option<i64> {
        let lines = self.lines.as_ref().filter(|lines| lines.announced() <= self.sizes.announced)?;
        Some(now.ms_since(lines.made)).filter(|age| (0..OLD_MS).contains(age))
    }

    /// The first `most` lanes of each tier, with the other queues of the last user, and all announced lanes.
    pub fn view(&self, most: usize) -> HeadsView {
        self.lines.as_ref().map(|lines| lines.view(most)).unwrap_or_default()
    }

    /// The last head of a tier in the hint, as in [`HeadsView`].
    pub fn last(&self, tier: Tier) -> Option<Option<FirstHead>> {
        self.lines.as_ref().and_then(|lines| lines.last(tier))
    }

    /// The time up to which use was decayed in the listing.
    pub fn decayed_to(&self) -> Timestamp {
        self.lines.as_ref().map(|lines| lines.decayed_to).unwrap_or_default()
    }

    /// Strikes the lines of a lane.
    pub fn strike(&mut self, tier: Tier, queue: &str) {
        if let Some(lines) = &mut self.lines {
            lines.strike(tier, queue, &mut self.changes);
        }
    }

    /// Announces a lane that still has work.
    pub fn announce(&mut self, priority: Priority, queue: &str) {
        self.changes.push_str(&text::announcement(priority, queue));
    }

    /// Appends what was struck and announced.
    pub fn save(mut self) {
        if !self.changes.is_empty() && self.file.meta().is_ok_and(|meta| meta.links == 1) {
            let _ = self.file.write_all(self.changes.as_bytes());
        }
    }
}

impl Spool {
    /// Uses other sizes of the hint, for tests that want it for few lanes.
    #[must_use]
    pub fn hinting(self, heads: HeadsSizes) -> Self {
        Self { heads, ..self }
    }

    /// The sizes of the hint.
    pub fn heads_sizes(&self) -> HeadsSizes {
        self.heads
    }

    /// The hint; `None` if it is absent.
    pub fn heads(&self) -> Option<Heads> {
        let mut file = self.open_heads()?;
        let bytes = file.read_all(MOST_BYTES).ok()?;
        let lines = String::from_utf8(bytes).ok().and_then(Lines::parse);
        Some(Heads { file, lines, sizes: self.heads, changes: String::new() })
    }

    /// Removes the hint after a change of the order, or when few lanes have work.
    pub fn drop_heads(&self) {
        let _ = self.vfs.unlink(layout::HEADS);
    }

    /// Announces a lane that has work now and had none. The record of its task has its name already: a process that lists the
    /// lanes later finds it, and one that has listed them before takes over what was appended to the former file.
    pub(crate) fn announce_lane(&self, priority: Priority, queue: &str) {
        for _ in 0..MOST_TRIES {
            let Some(mut file) = self.open_heads() else { return };
            let Ok(meta) = file.meta() else { return };
            if meta.links > 1 || file.write_all(text::announcement(priority, queue).as_bytes()).is_err() {
                return;
            }
            if self.is_heads(meta.ident) {
                return;
            }
        }
    }

    /// Takes the right to write a hint, before the lanes are listed. `None` while another process has it.
    pub fn write_heads(&self) -> Option<HeadsWriter> {
        let mut file = self.vfs.open(layout::HEADS, Open::Append(0o600)).ok()??;
        let meta = file.meta().ok()?;
        let is_ours = meta.links == 1 && file.try_lock(false).ok()? && self.is_heads(meta.ident);
        is_ours.then_some(HeadsWriter { file, size: meta.size })
    }

    /// Writes the hint from lanes that were listed at `made` or later, with use decayed up to `decayed_to`, unless the former
    /// one was dropped meanwhile. Lanes that were announced meanwhile are taken over; after a crash before that, passes find
    /// them when the hint is old.
    pub fn finish_heads(
        &self,
        writer: HeadsWriter,
        (made, decayed_to): (Timestamp, Timestamp),
        first: &FirstHeads,
    ) -> Result<()> {
        let HeadsWriter { mut file, size } = writer;
        let old = file.meta().map_err(StoreError::io("look at", layout::HEADS))?;
        if !self.is_heads(old.ident) {
            return Ok(());
        }
        let tmp = format!("{}/heads.{}", layout::TMP, self.host.me.pid);
        self.replace(&tmp, layout::HEADS, text::of(made, decayed_to, first).as_bytes())?;
        let most = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
        let later = file.read_part(size, most).map_err(StoreError::io("read", layout::HEADS))?;
        let announced = text::announcements(&String::from_utf8_lossy(&later));
        if !announced.is_empty()
            && let Some(mut new) = self.open_heads()
            && new.meta().is_ok_and(|meta| meta.links == 1)
        {
            new.write_all(announced.as_bytes()).map_err(StoreError::io("write", layout::HEADS))?;
        }
        Ok(())
    }

    /// Opens the hint, if there is one.
    fn open_heads(&self) -> Option<Box<dyn Handle>> {
        self.vfs.meta(layout::HEADS).ok()??;
        self.vfs.open(layout::HEADS, Open::Append(0o600)).ok()?
    }

    fn is_heads(&self, ident: (u64, u64)) -> bool {
        matches!(self.vfs.meta(layout::HEADS), Ok(Some(meta)) if meta.ident == ident)
    }
}

#[cfg(test)]
mod tests;
