//! Tasks that have no process: how they change and end, and what their end wakes. Nothing here starts a task.

pub(crate) mod change;
pub(crate) mod end;
pub mod report;
