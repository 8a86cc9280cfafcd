//! The lease of the host: the time until which another scheduler counts on the tasks that it has granted to this host.

use crate::model::task::Word;

/// A lease, by the boot clock. A lease of another boot or of another session holds nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLease {
    /// The number of the boot.
    pub boot: u128,
    /// The session of the host with the scheduler.
    pub session: Word,
    /// Its end, in milliseconds since boot; 0 for a lease that the scheduler has refused to renew.
    pub end_ms: u64,
    /// Its whole length, in milliseconds.
    pub length_ms: u64,
}
