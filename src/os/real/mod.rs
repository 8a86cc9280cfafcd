//! The real operating system: the only caller of files, processes, signals, the clock and the terminal.
//!
//! It decides nothing, prints nothing on its own account and knows neither tasks nor lanes. It expects a process
//! without threads: masks, the umask and close-on-exec flags are changed around a start and put back.

// This is the one room in which the calls banned elsewhere may stand.
#![allow(clippy::disallowed_methods)]

mod account;
mod ask;
mod become_supervisor;
mod beneath;
mod child;
mod clock;
mod context;
mod files;
mod fs_kind;
mod handle;
mod heed;
mod launch;
mod namespaces;
mod passwd;
mod process;
mod procfs;
mod program;
mod signals;
mod temporary;
pub mod term;
mod tree;
mod upgrade;
mod waiting;
mod watch;

pub use account::exec_task;
pub use clock::RealClock;
pub use files::RealFiles;
pub use launch::output;
pub use passwd::{account_home, account_name};
pub use process::RealProcesses;
pub use signals::{Caught, catch, prepare_process, take};
pub use temporary::TemporaryDirectory;
