//! The commands of luzia, one file each: the options (clap), the help text, `run`, and the words of the answer.
//!
//! The folders are the groups of `luzia --help`; `cron` has no room in the folder of its group.

pub mod cron;
pub mod locks;
pub mod look;
pub mod operate;
pub mod queue;
pub mod steps;
