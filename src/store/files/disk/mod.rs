//! Files on disk: layout and names, atomic publishing, counters, task records.

pub(crate) mod control_record;
pub(crate) mod counter;
pub(crate) mod file_name;
pub(crate) mod fsck;
pub(crate) mod json_object;
pub(crate) mod known;
pub(crate) mod layout;
pub(crate) mod lock_retry;
pub(crate) mod publish;
pub(crate) mod stamp;
pub(crate) mod task_record;
