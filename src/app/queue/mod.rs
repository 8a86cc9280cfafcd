//! Verbs that change the queue: enqueue, run, wait, cancel, retry.

pub mod doors;
pub mod drain;
pub mod edit;
pub mod enqueue;
pub mod foreground;
pub mod idempotency;
pub mod inside;
pub mod order;
pub mod pause;
pub mod preempt;
pub mod retry;
pub mod run;
mod stepwise;
pub mod terms;
pub mod wait;
