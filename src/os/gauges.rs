//! The load of a host, its ports in use, and the processors that may be used.

use crate::model::capacity::Readings;
use std::io;

/// Result of a bind trial of a TCP port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Port {
    /// It can be bound on every address.
    Free,
    /// Another process has it; with the pid of the process that listens, where that can be seen.
    Used(Option<u32>),
}

/// The gauges of a host. Each method answers for a host on which nothing can be read, unless it is implemented.
pub trait Gauges: Send + Sync {
    /// The present readings. Pressure and memory are those of this process's own control group where that has them.
    fn readings(&self) -> Readings {
        Readings::default()
    }

    /// Tries to bind a TCP port. The trial accepts no connection and ends at once.
    fn port(&self, _: u16) -> Port {
        Port::Free
    }

    /// The numbers of the processors that this process may use, in order.
    fn processors(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Number of processors for which this process has time: the CPU quota of its control groups counts as well.
    fn parallelism(&self) -> u32 {
        1
    }

    /// Binds this process, and what it starts from now on, to some processors.
    fn bind_to(&self, _processors: &[u32]) -> io::Result<()> {
        Ok(())
    }

    /// The version that a program reports; the program is searched in the folders of `path`. Empty where it does not answer
    /// within a second, and `None` where there is no such program.
    fn version_of(&self, _program: &str, _path: Option<&[u8]>) -> Option<String> {
        None
    }
}

/// A host without gauges.
pub struct NoGauges;

impl Gauges for NoGauges {}
