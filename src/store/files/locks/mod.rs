//! Lock files and their sidecars (`locks.md`): acquire, release, list, and the buckets whose kernel lock covers every change.

pub(crate) mod acquire;
pub(crate) mod bucket;
pub(crate) mod choice;
pub(crate) mod line;
pub(crate) mod list;
pub(crate) mod loans;
pub(crate) mod refresh;
pub(crate) mod release;
pub(crate) mod request;
pub(crate) mod rules;
pub(crate) mod second;
pub(crate) mod session;
pub(crate) mod sets;
pub(crate) mod sidecar;
