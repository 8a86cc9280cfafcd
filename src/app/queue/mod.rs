//! Verbs that change the queue: enqueue, run, wait, cancel, retry.

pub mod accepted;
pub mod cancel;
pub mod doors;
pub mod enqueue;
pub mod idempotency;
pub mod retry;
pub mod run;
pub mod wait;
