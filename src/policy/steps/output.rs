//! The output of a task, line by line as it grows: finds a matching line, or silence. Pure.

use std::ops::Range;

/// The longest part of a line that is examined as a whole. A longer line is examined in parts.
pub const MOST_LINE_BYTES: usize = 64 * 1024;
/// Number of bytes at the end of a part that are examined again with the next part, so that a match across their border is found.
pub const OVERLAP_BYTES: usize = 8 * 1024;
/// Number of bytes of a matching line that are kept.
pub const MOST_KEPT_BYTES: usize = 8 * 1024;
/// Time without change after which the end of a log counts as a line although it has no line end, e.g. a prompt.
pub const STILL_MS: u64 = 1000;
/// The shortest and the longest pause between two looks at a log for a task that has no process, in milliseconds.
const LOOK_MS: (u64, u64) = (1000, 15_000);

/// A line, or a part of one that is longer than [`MOST_LINE_BYTES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<'a> {
    /// The bytes of the part, without the end of the line.
    pub bytes: &'a [u8],
    /// Whether the part begins where the line begins.
    pub is_begin: bool,
    /// Whether the part ends where the line ends.
    pub is_end: bool,
}

/// Cuts a stream of bytes into lines, and tracks the offset of each line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    /// The part of a line that was not examined yet, behind the overlap with the part before it.
    rest: Vec<u8>,
    /// The offset of the first byte of the line.
    begins: u64,
    /// Whether an earlier part of the line was examined.
    goes_on: bool,
}

impl Lines {
    /// Lines from an offset on. The offset is the beginning of a line.
    pub fn from(offset: u64) -> Self {
        Self { begins: offset, ..Self::default() }
    }

    /// The offset of the first byte that will be examined again: a later reader that begins here misses nothing.
    pub fn begins(&self) -> u64 {
        self.begins
    }

    /// The offset behind the last byte that was added.
    pub fn ends(&self) -> u64 {
        self.begins.saturating_add(self.rest.len() as u64)
    }

    /// The line without an end so far.
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Skips bytes that are no longer kept.
    pub fn drop_bytes(&mut self, bytes: u64) {
        *self = Self::from(self.ends().saturating_add(bytes));
    }

    /// Adds further bytes. Returns the result of `wanted` for the first wanted line, or part of one; the bytes after it are not
    /// added.
    pub fn take<T>(&mut self, bytes: &[u8], wanted: &mut dyn FnMut(Part<'_>) -> Option<T>) -> Option<T> {
        let mut left = bytes;
        while !left.is_empty() {
            let room = MOST_LINE_BYTES.saturating_sub(self.rest.len()).max(1);
            let end = left.iter().take(room).position(|byte| *byte == b'\n');
            let length = end.map_or(left.len().min(room), |end| end + 1);
            let (piece, after) = left.split_at(length);
            self.rest.extend_from_slice(piece);
            left = after;
            if end.is_some() || self.rest.len() >= MOST_LINE_BYTES {
                let found = wanted(self.part(end.is_some()));
                let kept = if end.is_some() || found.is_some() { 0 } else { OVERLAP_BYTES };
                self.leave(kept, end.is_none());
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Counts the unfinished line as a line. `None` if it is empty or not wanted.
    pub fn take_rest<T>(&mut self, wanted: &mut dyn FnMut(Part<'_>) -> Option<T>) -> Option<T> {
        let found = if self.rest.is_empty() { None } else { wanted(self.part(true)) };
        if found.is_some() {
            self.leave(0, false);
        }
        found
    }

    fn part(&self, is_end: bool) -> Part<'_> {
        let bytes = if is_end { without_end(&self.rest) } else { &self.rest };
        Part { bytes, is_begin: !self.goes_on, is_end }
    }

    /// Forgets all but the last `kept` bytes.
    fn leave(&mut self, kept: usize, goes_on: bool) {
        let gone = self.rest.len().saturating_sub(kept);
        self.begins = self.begins.saturating_add(gone as u64);
        self.rest.drain(..gone);
        self.goes_on = goes_on;
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A line in its kept form: no longer than [`MOST_KEPT_BYTES`]. It begins at the beginning of the line, or at the match if the
/// match does not end within that length.
pub fn kept(line: &str, matched: Range<usize>) -> String {
    let from = if matched.end <= MOST_KEPT_BYTES { 0 } else { matched.start.min(line.len()) };
    let from = (0..=from).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let rest = &line[from..];
    let fits = (0..=rest.len().min(MOST_KEPT_BYTES)).rev().find(|at| rest.is_char_boundary(*at));
    rest[..fits.unwrap_or(0)].to_owned()
}

/// Time until the next look at a log that was still for some time; `left_ms` is the time until the silence is long enough.
pub fn look_again_ms(still_ms: u64, left_ms: Option<u64>) -> u64 {
    let pause = (still_ms / 4).clamp(LOOK_MS.0, LOOK_MS.1);
    left_ms.map_or(pause, |left| left.clamp(1, LOOK_MS.1.max(left)).min(left.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text of a part that is wanted.
    fn text(part: Part<'_>, wanted: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
        wanted(part.bytes).then(|| part.bytes.to_vec())
    }

    #[test]
    fn lines_are_found_whatever_pieces_they_come_in() {
        let mut lines = Lines::from(100);
        let mut two = |part: Part<'_>| text(part, |line| line == b"two");
        assert_eq!(lines.take(b"one\r\ntw", &mut two), None);
        assert_eq!((lines.begins(), lines.ends(), lines.rest()), (105, 107, &b"tw"[..]));
        assert_eq!(lines.take(b"o\nthree\n", &mut two), Some(b"two".to_vec()));
        assert_eq!((lines.begins(), lines.ends()), (109, 109), "what follows is left");
        let mut prompt = |part: Part<'_>| text(part, |line| line == b"$ ");
        assert_eq!(lines.take(b"$ ", &mut prompt), None);
        assert_eq!(lines.take_rest(&mut prompt), Some(b"$ ".to_vec()));
        assert_eq!(lines.take_rest(&mut |part| text(part, |_| true)), None);
        lines.drop_bytes(10);
        assert_eq!(lines.begins(), 121);
    }

    #[test]
    fn a_long_line_is_looked_at_in_parts_that_overlap() {
        let (mut lines, mut parts) = (Lines::default(), Vec::new());
        let step = MOST_LINE_BYTES - OVERLAP_BYTES;
        let mut long = vec![b'x'; MOST_LINE_BYTES + step + 5];
        // Across the border of the first two parts.
        long[MOST_LINE_BYTES - 2..MOST_LINE_BYTES + 2].copy_from_slice(b"done");
        long.push(b'\n');
        let mut seen = |part: Part<'_>| {
            parts.push((part.bytes.len(), part.is_begin, part.is_end));
            text(part, |bytes| bytes.windows(4).any(|four| four == b"done"))
        };
        let found = lines.take(&long, &mut seen).expect("found");
        assert_eq!(parts, [(MOST_LINE_BYTES, true, false), (MOST_LINE_BYTES, false, false)]);
        assert_eq!((found.len(), lines.begins()), (MOST_LINE_BYTES, (MOST_LINE_BYTES + step) as u64));
        let last = lines.take(b"xxxxx\n", &mut |part: Part<'_>| Some((part.bytes.len(), part.is_begin, part.is_end)));
        assert_eq!(last, Some((5, false, true)), "nothing of what has matched is looked at again");
        let next = lines.take(b"a\n", &mut |part: Part<'_>| Some((part.bytes.len(), part.is_begin, part.is_end)));
        assert_eq!(next, Some((1, true, true)));
    }

    #[test]
    fn what_is_kept_of_a_line_holds_the_match() {
        assert_eq!(kept("short", 1..3), "short");
        let line = format!("{}done{}", "x".repeat(3 * MOST_KEPT_BYTES), "y".repeat(MOST_KEPT_BYTES));
        let kept_of = |range: Range<usize>| kept(&line, range);
        assert!(kept_of(3 * MOST_KEPT_BYTES..3 * MOST_KEPT_BYTES + 4).starts_with("doney"));
        assert_eq!(kept_of(0..1), "x".repeat(MOST_KEPT_BYTES));
        assert_eq!(kept_of(0..line.len()).len(), MOST_KEPT_BYTES);
        let wide = "\u{fffd}".repeat(MOST_KEPT_BYTES);
        assert_eq!(kept(&wide, 0..3).len() / 3, MOST_KEPT_BYTES / 3);
    }

    #[test]
    fn a_log_that_stands_still_is_looked_at_less_often() {
        assert_eq!([0, 5000, 40_000, u64::MAX].map(|still| look_again_ms(still, None)), [1000, 1250, 10_000, 15_000]);
        assert_eq!([look_again_ms(0, Some(0)), look_again_ms(0, Some(30_000))], [1, 30_000]);
    }

    proptest! {
        #[test]
        fn no_byte_is_missed_or_taken_twice(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), any::<u8>()], 0..400),
            cuts in proptest::collection::vec(0..400_usize, 0..6), stop in 0..6_usize
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let (mut lines, mut seen, mut count) = (Lines::default(), Vec::new(), 0);
            for pair in cuts.windows(2) {
                let mut from = pair[0];
                // A reader that stops at a line goes on from where the line ends.
                while from < pair[1] {
                    let found = lines.take(&text[from..pair[1]], &mut |part: Part<'_>| {
                        seen.push(part.bytes.to_vec());
                        count += 1;
                        (stop > 0 && count % stop == 0).then_some(())
                    });
                    from = if found.is_some() { usize::try_from(lines.ends()).expect("small") } else { pair[1] };
                    if found.is_some() {
                        lines = Lines::from(lines.begins());
                    }
                }
            }
            let expected: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n')
                .filter(|line| line.ends_with(b"\n")).map(|line| without_end(line).to_vec()).collect();
            prop_assert_eq!(seen, expected);
            prop_assert_eq!(lines.ends(), text.len() as u64);
        }
    }
}
