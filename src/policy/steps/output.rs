//! The output of a task, line by line as it grows: whether a line of it matches, whether it has been silent. Pure.

/// The longest piece of a line that is looked at as a whole. A longer line counts as several.
pub const MOST_LINE_BYTES: usize = 64 * 1024;
/// How much of a line that matched is kept.
pub const MOST_KEPT_BYTES: usize = 8 * 1024;
/// How long the end of a log that has no line end yet must stand still before it counts as a line, e.g. a prompt.
pub const STILL_MS: u64 = 1000;
/// The shortest and the longest pause between two looks at a log for a task that has no process, in milliseconds.
const LOOK_MS: (u64, u64) = (1000, 15_000);

/// Cuts a stream of bytes into lines, and knows where each one stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    /// The line that has no end yet, without what is longer than a line may be.
    rest: Vec<u8>,
    /// The offset of its first byte.
    begins: u64,
}

impl Lines {
    /// Lines from an offset on, which is the beginning of a line.
    pub fn from(offset: u64) -> Self {
        Self { rest: Vec::new(), begins: offset }
    }

    /// The offset of the first byte that belongs to no line yet: from here on a later reader misses nothing.
    pub fn begins(&self) -> u64 {
        self.begins
    }

    /// The offset behind the last byte that was taken.
    pub fn ends(&self) -> u64 {
        self.begins.saturating_add(self.rest.len() as u64)
    }

    /// The line that has no end yet.
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Leaves bytes out that are not kept any more.
    pub fn drop_bytes(&mut self, bytes: u64) {
        *self = Self::from(self.ends().saturating_add(bytes));
    }

    /// Takes further bytes. Gives the first line that `is_wanted`; what follows it is not taken.
    pub fn take(&mut self, bytes: &[u8], is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Option<Vec<u8>> {
        let mut left = bytes;
        while !left.is_empty() {
            let room = MOST_LINE_BYTES.saturating_sub(self.rest.len()).max(1);
            let end = left.iter().take(room).position(|byte| *byte == b'\n');
            let length = end.map_or(left.len().min(room), |end| end + 1);
            let (piece, after) = left.split_at(length);
            self.rest.extend_from_slice(piece);
            left = after;
            if end.is_some() || self.rest.len() >= MOST_LINE_BYTES {
                let line = self.end_line();
                if is_wanted(without_end(&line)) {
                    return Some(without_end(&line).to_vec());
                }
            }
        }
        None
    }

    /// Counts the line that has no end yet as a line; `None` where nothing stands there.
    pub fn take_rest(&mut self, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Option<Vec<u8>> {
        if self.rest.is_empty() || !is_wanted(without_end(&self.rest)) {
            return None;
        }
        let line = self.end_line();
        Some(without_end(&line).to_vec())
    }

    fn end_line(&mut self) -> Vec<u8> {
        self.begins = self.ends();
        std::mem::take(&mut self.rest)
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A line as it is kept: text, and no longer than [`MOST_KEPT_BYTES`].
pub fn kept(line: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(line).into_owned();
    let fits = (0..=text.len().min(MOST_KEPT_BYTES)).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(fits.unwrap_or(0));
    text
}

/// When to look at a log again, after it has been still for some time; `left_ms` until that is long enough.
pub fn look_again_ms(still_ms: u64, left_ms: Option<u64>) -> u64 {
    let pause = (still_ms / 4).clamp(LOOK_MS.0, LOOK_MS.1);
    left_ms.map_or(pause, |left| left.clamp(1, LOOK_MS.1.max(left)).min(left.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_found_whatever_pieces_they_come_in() {
        let mut lines = Lines::from(100);
        assert_eq!(lines.take(b"one\r\ntw", &mut |line| line == b"two"), None);
        assert_eq!((lines.begins(), lines.ends(), lines.rest()), (105, 107, &b"tw"[..]));
        assert_eq!(lines.take(b"o\nthree\n", &mut |line| line == b"two"), Some(b"two".to_vec()));
        assert_eq!((lines.begins(), lines.ends()), (109, 109), "what follows is left");
        assert_eq!(lines.take(b"$ ", &mut |line| line == b"$ "), None);
        assert_eq!(lines.take_rest(&mut |line| line == b"$ "), Some(b"$ ".to_vec()));
        assert_eq!(lines.take_rest(&mut |_| true), None);
        lines.drop_bytes(10);
        assert_eq!(lines.begins(), 121);
    }

    #[test]
    fn a_line_without_end_is_taken_in_pieces_and_kept_in_part() {
        let (mut lines, mut pieces) = (Lines::default(), Vec::new());
        let long = vec![b'x'; 3 * MOST_LINE_BYTES + 5];
        lines.take(&long, &mut |line| {
            pieces.push(line.len());
            false
        });
        assert_eq!((pieces, lines.rest().len()), (vec![MOST_LINE_BYTES; 3], 5));
        assert_eq!(kept(&long).len(), MOST_KEPT_BYTES);
        assert_eq!(kept(&[0xff; 20_000]).len() / 3, MOST_KEPT_BYTES / 3);
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
                    let found = lines.take(&text[from..pair[1]], &mut |line| {
                        seen.push(line.to_vec());
                        count += 1;
                        stop > 0 && count % stop == 0
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
