//! A program that runs beside this process, which asks now and then whether it is over.

use crate::os::real::process::run_capture::{answer_file, beginning, outside_of_the_task};
use crate::os::real::process::signals::catch_child_deaths;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

/// A program that runs beside this process.
pub struct Errand {
    child: Child,
    said: File,
}

impl Errand {
    /// Starts a program as [`super::output`] does, in a group of its own. Its end ends a wait for a caught signal.
    pub fn begin(argv: &[String]) -> io::Result<Self> {
        catch_child_deaths()?;
        let said = answer_file()?;
        let mut command = outside_of_the_task(argv, &[])?;
        command.process_group(0).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said.try_clone()?);
        Ok(Self { child: command.spawn()?, said })
    }

    /// The beginning of its output and its errors; `None` while it runs.
    pub fn end(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.child.try_wait()?.is_none() {
            return Ok(None);
        }
        beginning(&self.said).map(Some)
    }
}
