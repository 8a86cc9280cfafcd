//! What stands beside a task that runs: its recorded start, where that was, and what is asked of its supervisor.

pub(crate) mod origin;
pub(crate) mod pause;
pub(crate) mod requests;
pub(crate) mod started;
