//! Tasks that wait for an event and have no process: their records in `waiting`, the lanes that they keep there, and how
//! they are claimed when the event has come. What they wait for stands in `files::steps::waits`.

pub(crate) mod claim;
pub(crate) mod kept;
pub(crate) mod lent;
pub(crate) mod settle;
