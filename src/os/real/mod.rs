//! The real operating system: the only caller of files, processes, signals, the clock and the terminal.
//!
//! It decides nothing, prints nothing on its own account and knows neither tasks nor lanes. It expects a process without
//! threads: it changes masks, the umask and close-on-exec flags around a start, and restores them.

// This is the one room in which the calls banned elsewhere are allowed.
#![allow(clippy::disallowed_methods)]

mod clock;
mod context;
mod errand;
mod files;
mod gauges;
mod groups;
mod lines;
mod process;
mod stdin_of;
pub mod term;
mod user_files;

pub use clock::{RealClock, zone_name};
pub use errand::Errand;
pub use files::RealFiles;
pub use files::places::{RealPlaces, owner_of};
pub use files::temporary::{Published, TemporaryDirectory};
pub use gauges::online_processors;
pub use lines::{Job, Line, OneRequest, end_after, end_with_success_after, read_document, serve_lines};
pub use process::RealProcesses;
pub use process::account::{become_with_own_environment as become_command, exec_task};
pub use process::passwd::{account_home, account_name, home_of};
pub use process::pty::{RawInput, become_on_terminal, end_as, run_on_terminal};
pub use process::run_capture::output;
pub use process::signals::{Caught, catch, prepare_process, take};
pub use term::Screen;
pub use user_files::{RealShims, RealUserFiles, become_program, begin_anew, can_start};
