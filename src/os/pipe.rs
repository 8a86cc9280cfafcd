//! A named pipe whose maker others can see live and can call. Its life needs no lock and no pid: the kernel tells who polls
//! it when the last writer is gone, in every pid namespace.

use std::io;
use std::time::Duration;

/// A named pipe that this process made. Dropping it closes it, as a kill does; its name stays.
pub trait Pipe: Send {
    /// Watches the pipe of another process from now on, and no other one. False, watching none, when nobody lives who made it.
    fn watch(&mut self, path: &str) -> io::Result<bool>;
    /// Watches no pipe.
    fn watch_none(&mut self);
    /// Waits until somebody called at this pipe, the maker of the watched one is gone, or a caught signal came; false when the
    /// time is over before. Calls since the last wait count.
    fn wait(&mut self, time: Duration) -> io::Result<bool>;
}
