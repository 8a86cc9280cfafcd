//! Conditions of a request beside its command: the ends after which it starts, and the tasks beside which it runs.

pub mod dependency;
pub mod groups;
pub mod sample;
