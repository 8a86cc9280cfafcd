//! Whether a lane with a gate grants anything, which value a new holder gets, and how processors are dealt out. Pure.

pub mod cpus;
pub mod gate;
pub mod jobs;
