//! Files beside a running task: its recorded start, the place of that start, and the requests to its supervisor.

pub(crate) mod origin;
pub(crate) mod pause;
pub(crate) mod requests;
pub(crate) mod started;
