//! What stands beside a task that runs: its recorded start, and what is asked of its supervisor.

pub(crate) mod pause;
pub(crate) mod requests;
pub(crate) mod started;
