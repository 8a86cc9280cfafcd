//! The state directory as plain files: locks, the queue, and the names and writing of files.

pub(crate) mod capacity;
pub(crate) mod disk;
pub(crate) mod dispatchers;
pub(crate) mod gc;
pub(crate) mod granted;
pub(crate) mod locks;
pub(crate) mod prune;
pub(crate) mod queue;
pub(crate) mod running;
pub(crate) mod schedules;
pub(crate) mod steps;
pub(crate) mod waiting;
