//! The order of tasks, checked by cases and by simulation.

pub(super) mod cases;
mod simulation;
mod within;
