//! Verbs for locks without a task: acquire, lock, release, clean-up, and re-entrancy inside a task.

pub mod acquire;
pub mod cleanup;
pub mod consent;
pub mod guard;
pub mod keeper;
pub mod lock;
pub mod reentrancy;
pub mod release;
pub mod session;
pub(crate) mod waiting;
