//! Numbers that are never given twice: one fixed-width line, reserved in two phases so that a power cut cannot bring a number
//! back (`locks.md`, I4). The module knows a line and an open file; it does not know the use of the numbers.

use crate::os::Handle;
use crate::store::{Result, StoreError};

/// Number of numbers that one synced reservation covers.
pub const BLOCK: u64 = 1024;
const LINE_BYTES: usize = 109;

/// The line `next pending reserved boot_id crc32`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterLine {
    /// The last number given.
    pub next: u64,
    /// The end of the reservation that is being made durable.
    pub pending: u64,
    /// The end of the reservation that is durable; trusted within one boot only.
    pub reserved: u64,
    /// The boot in which the line was written.
    pub boot_id: String,
}

impl CounterLine {
    /// The line as bytes of fixed width.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = format!("{:020} {:020} {:020} {:<36}", self.next, self.pending, self.reserved, self.boot_id);
        format!("{body} {:08x}\n", crc32fast::hash(body.as_bytes())).into_bytes()
    }

    /// The last number that may have been given. The numbers that an earlier boot gave are unknown after a power cut; all of
    /// them lie below its announcement.
    pub fn last(&self, boot_id: &str) -> u64 {
        if self.boot_id == boot_id { self.next } else { self.pending.max(self.reserved) }
    }

    /// Parses a line; `None` when it is not whole, or spelled otherwise than [`Self::to_bytes`] spells it.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let (body, crc) = text.rsplit_once(' ')?;
        if crc.len() != 8 || u32::from_str_radix(crc, 16).ok()? != crc32fast::hash(body.as_bytes()) {
            return None;
        }
        let mut words = body.splitn(4, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (next, pending, reserved) = (number()?, number()?, number()?);
        let boot_id = words.next()?.trim_end().to_owned();
        let line = Self { next, pending, reserved, boot_id };
        (next <= pending.max(reserved) && line.to_bytes() == bytes).then_some(line)
    }
}

/// Content of a counter's file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CounterFile {
    /// Nothing was ever written.
    Empty,
    /// Something that is not a whole line.
    Damaged,
    /// A line.
    Line(CounterLine),
}

/// Reads a counter from its open file.
pub fn read(handle: &mut dyn Handle, path: &str) -> Result<CounterFile> {
    // Bytes behind the line are no part of it: a line is overwritten, and never makes its file shorter.
    let bytes = handle.read_part(0, LINE_BYTES).map_err(StoreError::io("read", path))?;
    if bytes.is_empty() {
        return Ok(CounterFile::Empty);
    }
    Ok(CounterLine::parse(&bytes).map_or(CounterFile::Damaged, CounterFile::Line))
}

/// Takes `count` numbers and returns the first. The caller holds the file's kernel lock. `fallback` is the last number that
/// may ever have been given, for a file that is empty or damaged. `settle` makes the file's own name durable; it is called
/// until a reservation was confirmed.
pub fn take(
    handle: &mut dyn Handle,
    path: &str,
    boot_id: &str,
    count: u64,
    fallback: impl FnOnce(&CounterFile) -> Result<u64>,
    settle: impl FnOnce() -> Result<()>,
) -> Result<u64> {
    let found = read(handle, path)?;
    // An unconfirmed announcement may be that of a new file whose maker died before the name was durable.
    let unsettled = match &found {
        CounterFile::Line(line) => line.pending != line.reserved,
        CounterFile::Empty | CounterFile::Damaged => true,
    };
    let mut line = match found {
        CounterFile::Line(line) => line,
        other => {
            let last = fallback(&other)?;
            CounterLine { next: last, pending: last, reserved: last, boot_id: boot_id.to_owned() }
        }
    };
    let other_boot = line.boot_id != boot_id;
    if other_boot {
        line.next = line.last(boot_id);
        line.reserved = line.next;
        boot_id.clone_into(&mut line.boot_id);
    }
    let wanted = line.next.checked_add(count).ok_or_else(|| StoreError::corrupt(path, "the counter is at its end"))?;
    if wanted > line.reserved || unsettled {
        line.pending = wanted.saturating_add(BLOCK);
        write(handle, path, &line)?;
        handle.sync_data().map_err(StoreError::io("sync", path))?;
        if unsettled {
            settle()?;
        }
        line.reserved = line.pending;
    }
    let first = line.next + 1;
    line.next = wanted;
    write(handle, path, &line)?;
    Ok(first)
}

fn write(handle: &mut dyn Handle, path: &str, line: &CounterLine) -> Result<()> {
    handle.write_at_start(&line.to_bytes()).map_err(StoreError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line() -> CounterLine {
        CounterLine { next: 5, pending: 1029, reserved: 1029, boot_id: "933b647a-d483-4fad-a91b-8de223a8ad69".into() }
    }

    #[test]
    fn a_line_reads_back_and_has_its_fixed_width() {
        let bytes = line().to_bytes();
        assert_eq!(bytes.len(), LINE_BYTES);
        assert_eq!(CounterLine::parse(&bytes), Some(line()));
    }

    #[test]
    fn no_torn_or_changed_line_reads() {
        let whole = line().to_bytes();
        for at in 0..whole.len() {
            assert_eq!(CounterLine::parse(&whole[..at]), None, "cut at {at}");
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            assert_ne!(CounterLine::parse(&flipped), Some(line()), "flipped at {at}");
        }
        assert_eq!(CounterLine::parse(&[0; 109]), None);
        // Equal numbers in another spelling, with the right sum.
        for body in ["5 1029 1029 b", "+0000000000000000005 00000000000000001029 00000000000000001029 b"] {
            let line = format!("{body} {:08x}\n", crc32fast::hash(body.as_bytes()));
            assert_eq!(CounterLine::parse(line.as_bytes()), None, "{body}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..130)) {
            let _ = CounterLine::parse(&bytes);
        }
    }
}
