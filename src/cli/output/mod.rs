//! The form of answers: tables, JSON, sentences, colour and the two streams. Decides nothing.

pub mod brief;
pub mod capacity;
pub mod console;
pub mod diff;
pub mod escape;
pub mod json;
pub mod lane;
pub mod live;
pub mod lock;
pub mod messages;
pub mod picture;
pub mod report;
pub mod style;
pub mod table;
pub mod task;
pub mod timeline;
