//! Commands that put tasks in the queue, wait for them and end them.

pub mod attach;
pub mod cancel;
pub mod each;
pub mod edit;
pub mod enqueue;
pub mod move_task;
pub mod pause;
pub mod preempt;
pub mod retry;
pub(in crate::cli) mod room;
pub mod run;
pub mod wait;
