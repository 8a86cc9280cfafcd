//! Verbs for locks without a task: acquire, lock, release, clean-up, and re-entrancy inside a task.

pub mod acquire;
pub mod check_project;
pub mod cleanup;
pub mod lock;
pub mod reentrancy;
pub mod release;
pub(crate) mod waiting;
