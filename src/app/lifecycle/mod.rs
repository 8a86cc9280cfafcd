//! Tasks without a process: how they begin, their changes, their ends, and the tasks that an end wakes. Nothing here starts a task.

pub(crate) mod accepted;
pub(crate) mod change;
pub(crate) mod end;
pub mod report;
