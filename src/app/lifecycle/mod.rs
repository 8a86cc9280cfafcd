//! Tasks without a process: their changes, their ends, and the tasks that an end wakes. Nothing here starts a task.

pub(crate) mod change;
pub(crate) mod end;
pub mod report;
