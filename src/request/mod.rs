//! ASKED: the requests of commands, each defined once. The command line (clap), a line of `--from` and a call of a tool
//! (serde) all read into these types, and their help and their schemas are made from them. Never looks anything up: `app`
//! checks the values.

mod edit;
mod kinds;
pub mod members;
pub mod numbers;
mod schedule;
mod selection;
pub mod shape;
mod task;
pub mod words;

pub use edit::EditRequest;
pub use schedule::ScheduleRequest;
pub use selection::Selection;
pub use task::TaskRequest;
