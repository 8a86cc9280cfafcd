//! Numbers, pictures and traces that are computed from events. Pure; takes events as they were read.

pub mod course;
pub mod record;
pub mod stats;
pub mod tally;
pub mod timeline;
pub mod trace;
