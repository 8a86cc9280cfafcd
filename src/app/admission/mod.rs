//! The conditions of a task's start apart from room in its lanes: its sandbox, its pause, the tasks before it, its turn, and
//! the tasks that lend it their lanes. Nothing here starts a task.

pub(crate) mod firsts;
pub(crate) mod lenders;
pub mod reach;
pub mod situation;
pub mod turns;
