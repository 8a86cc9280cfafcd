//! How files are named, written and read: layout, atomic publishing, counters, task records.

pub(crate) mod context_record;
pub(crate) mod counter;
pub(crate) mod file_name;
pub(crate) mod fsck;
pub(crate) mod hold_record;
pub(crate) mod json_object;
pub(crate) mod known;
pub(crate) mod layout;
pub(crate) mod lock_retry;
pub(crate) mod publish;
pub(crate) mod stamp;
pub(crate) mod state_record;
pub(crate) mod stepwise_record;
pub(crate) mod task_record;
pub(crate) mod terms_record;
pub(crate) mod wait_record;
