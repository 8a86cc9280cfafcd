//! Decides whether a lane with a gate grants a place, which value a new holder gets, and how processors are dealt out. Pure.

pub mod cpus;
pub mod gate;
pub mod jobs;
