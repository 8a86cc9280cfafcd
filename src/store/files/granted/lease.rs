//! `lease`: the lease of the host, 64 bytes that are made once and then written in place, so that a renewal needs no space
//! on the disk. The supervisors of granted tasks read it, and no other process does.

use crate::model::HostLease;
use crate::model::task::Word;
use crate::os::Open;
use crate::store::{Hold, Result, Spool, StoreError, layout};

/// Length of the file, in bytes.
pub const LEASE_BYTES: usize = 64;
/// Number of bytes before the checksum, which covers these bytes.
const BODY_BYTES: usize = LEASE_BYTES - 4;
const MAGIC: [u8; 8] = *b"luzia L1";
/// Number of looks at a lease that may be half written.
const LOOKS: u32 = 3;

/// The bytes of a lease: a mark, the boot, the session, the end and the length, a sum over the identity of its state directory, and a sum
/// over all of them.
pub fn encode_lease(lease: &HostLease, directory: u32) -> [u8; LEASE_BYTES] {
    let mut bytes = [0; LEASE_BYTES];
    let (boot, session) = (lease.boot.to_le_bytes(), lease.session.0.to_le_bytes());
    let (end, length) = (lease.end_ms.to_le_bytes(), lease.length_ms.to_le_bytes());
    let mut at = 0;
    for part in [&MAGIC[..], &boot, &session, &end, &length, &directory.to_le_bytes()] {
        bytes[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    let sum = crc32fast::hash(&bytes[..BODY_BYTES]);
    bytes[BODY_BYTES..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Reads a lease, and the sum over the identity of the state directory for which it was written; `None` for bytes that are not a whole
/// one.
pub fn decode_lease(bytes: &[u8]) -> Option<(HostLease, u32)> {
    let bytes: &[u8; LEASE_BYTES] = bytes.try_into().ok()?;
    let word = |at: usize| Some(u128::from_le_bytes(bytes.get(at..at + 16)?.try_into().ok()?));
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let lease = HostLease { boot: word(8)?, session: Word(word(24)?), end_ms: number(40)?, length_ms: number(48)? };
    let directory = u32::from_le_bytes(bytes.get(56..BODY_BYTES)?.try_into().ok()?);
    (encode_lease(&lease, directory) == *bytes).then_some((lease, directory))
}

impl Spool {
    /// Makes the file of the lease durably, with space for every later lease. Until the first lease it holds none.
    pub fn prepare_lease(&self) -> Result<()> {
        let mut handle = self.open_or_make(layout::LEASE)?;
        if handle.meta().map_err(StoreError::io("look at", layout::LEASE))?.size < LEASE_BYTES as u64 {
            handle.write_at_start(&[0; LEASE_BYTES]).map_err(StoreError::io("write", layout::LEASE))?;
        }
        handle.sync_all().map_err(StoreError::io("sync", layout::LEASE))?;
        self.sync_dir(".")
    }

    /// Writes the lease of the host in place, in one call. No sync: a lease ends with its boot.
    pub fn write_lease(&self, lease: &HostLease) -> Result<()> {
        let absent = || StoreError::io("open", layout::LEASE)(crate::os::absent());
        let mut handle = self.open(layout::LEASE, Open::Existing)?.ok_or_else(absent)?;
        handle
            .write_at_start(&encode_lease(lease, self.directory_sum()))
            .map_err(StoreError::io("write", layout::LEASE))
    }

    /// A sum over the device and the inode of this state directory; 0 where they are not known.
    fn directory_sum(&self) -> u32 {
        self.host.root().map_or(0, |root| crc32fast::hash(root.to_string().as_bytes()))
    }

    /// The lease of the host; `None` without a lease, and while its bytes stay half written. The lease in a copy of a state directory
    /// is that of the original, which lives on beside it.
    pub fn host_lease(&self) -> Result<Option<HostLease>> {
        for _ in 0..LOOKS {
            let Some(mut handle) = self.open(layout::LEASE, Open::ReadOnly)? else { return Ok(None) };
            let bytes = handle.read_part(0, LEASE_BYTES).map_err(StoreError::io("read", layout::LEASE))?;
            if let Some((lease, directory)) = decode_lease(&bytes) {
                let is_own = [0, self.directory_sum()].contains(&directory);
                return Ok(is_own.then_some(lease));
            }
        }
        Ok(None)
    }
}

/// The watch of the lease by one process of the host.
impl Spool {
    /// Takes the right to watch the lease, to be handed to the watcher. `None` while another watcher lives.
    pub fn take_lease_watch(&self) -> Result<Option<Hold>> {
        let mut handle = self.open_or_make(layout::LEASE_LOCK)?;
        let is_mine = handle.try_lock(false).map_err(StoreError::io("lock", layout::LEASE_LOCK))?;
        Ok(is_mine.then(|| Hold::of(handle)))
    }

    /// Takes the right to be the agent of this state directory. `None` while another agent lives.
    pub fn take_agent_lock(&self) -> Result<Option<Hold>> {
        let mut handle = self.open_or_make(layout::AGENT_LOCK)?;
        let is_mine = handle.try_lock(false).map_err(StoreError::io("lock", layout::AGENT_LOCK))?;
        Ok(is_mine.then(|| Hold::of(handle)))
    }

    /// Becomes the watcher of the lease, with the right that this process was started with.
    pub fn become_lease_watcher(&self) -> Result<Option<Hold>> {
        self.inherit(layout::LEASE_LOCK, "become the watcher of")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lease() -> HostLease {
        HostLease { boot: 1 << 127, session: Word(u128::MAX), end_ms: 300_000, length_ms: 60_000 }
    }

    #[test]
    fn a_lease_reads_back_and_no_torn_or_changed_one_does() {
        let whole = encode_lease(&lease(), 7);
        assert_eq!(decode_lease(&whole), Some((lease(), 7)));
        let next = encode_lease(&HostLease { end_ms: 310_000, ..lease() }, 7);
        for at in 0..LEASE_BYTES {
            assert_eq!(decode_lease(&whole[..at]), None, "cut at {at}");
            let mut flipped = whole;
            flipped[at] ^= 1;
            assert_eq!(decode_lease(&flipped), None, "flipped at {at}");
            // The first bytes of a renewal over the rest of the lease before it.
            let torn = [&next[..at], &whole[at..]].concat();
            assert!(torn == whole || decode_lease(&torn).is_none(), "torn at {at}");
        }
        assert_eq!(decode_lease(&[0; LEASE_BYTES]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode_lease(&bytes);
        }
    }
}
