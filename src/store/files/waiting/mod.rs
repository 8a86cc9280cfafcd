//! Tasks that wait for an event and have no process: their records in `waiting`, the lanes that they keep there, and their
//! claim when the event has come. Their waits are in `files::steps::waits`.

pub(crate) mod claim;
pub(crate) mod kept;
pub(crate) mod lent;
pub(crate) mod settle;
