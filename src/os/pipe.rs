//! A named pipe by which other processes see that its maker lives, and by which they call it. It needs no lock and no pid:
//! the kernel reports to a process that polls it when the last writer is gone, in every pid namespace.

use std::fs::File;
use std::io;
use std::time::Duration;

/// A named pipe that this process made. Dropping it closes it, as a kill does; its name stays.
pub trait Pipe: Send {
    /// Watches the pipe of another process from now on, and no other one. False when the maker of that pipe is dead; then it
    /// watches no pipe.
    fn watch(&mut self, path: &str) -> io::Result<bool>;
    /// Watches no pipe.
    fn watch_none(&mut self);
    /// Whether this end watches the pipe of another process that no wait has found gone.
    fn watches(&self) -> bool;
    /// Waits until a process called at this pipe, the maker of the watched pipe is gone, or a caught signal came; false when
    /// the time is over before. Calls since the last wait count. The wait that finds the maker gone leaves calls to the next one.
    fn wait(&mut self, time: Duration) -> io::Result<bool>;
    /// Puts bytes into the pipe, each of them a token of a job server; an error where it is full.
    fn put(&mut self, _tokens: u32) -> io::Result<()> {
        Ok(())
    }
    /// Takes out at most so many bytes of those that are there now, and gives their number.
    fn take(&mut self, _most: u32) -> io::Result<u32> {
        Ok(0)
    }
    /// A further descriptor of the pipe, which becomes readable when a byte is there; `None` where files are simulated.
    fn share(&self) -> Option<File> {
        None
    }
}
