//! ASKED: the requests of commands, each defined once. The command line (clap), a line of `--from` and a call of a tool
//! (serde) all read into these types, and their help and their schemas are made from them. Never looks anything up: `app`
//! checks the values.

mod edit;
pub mod members;
mod schedule;
mod selection;
mod task;
pub mod values;

pub use edit::EditRequest;
pub use schedule::ScheduleRequest;
pub use selection::Selection;
pub use task::TaskRequest;

/// A request of `--from` with the number of its line, by which a refused one is named.
pub type Line = (usize, Box<TaskRequest>);
