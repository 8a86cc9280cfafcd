//! What a request asks for beside its command: after which ends it starts, and beside whom.

pub mod dependency;
pub mod groups;
pub mod sample;
