//! State that a task may keep between its starts.

pub mod actions;
pub mod course;
pub mod members;
pub mod names;
pub mod output;
pub mod scripts;
pub mod waits;
