//! The right to act, which ends with the process that has it.

use crate::os::Handle;
use std::fs::File;

/// The right to act for a task, or to have a lock. It is given up when it is dropped, and when its process ends.
pub struct Hold(Box<dyn Handle>);

impl Hold {
    /// The right that comes with a kernel lock.
    pub fn of(file: Box<dyn Handle>) -> Self {
        Self(file)
    }

    /// A descriptor that keeps the right as well, for a process that is started.
    pub fn share(&self) -> Option<File> {
        self.0.share()
    }

    /// The descriptor that another process takes over.
    pub fn into_descriptor(self) -> Box<dyn Handle> {
        self.0
    }
}
