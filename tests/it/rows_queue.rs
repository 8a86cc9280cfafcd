//! The rows about the queue: states of a task, order and fairness, `run`, `wait`, `cancel`, and what dies on the way.

mod cancelled;
mod crashes;
mod order;
mod records;
mod requests;
mod run;
mod states;
mod timing;
