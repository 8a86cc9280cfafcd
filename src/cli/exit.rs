//! The exit code of each end of a task (contract, section 6).

use crate::app::locks::lock::End;
use crate::model::task::{EndState, Outcome};
use crate::model::{Status, Task};

/// An exit code of luzia's own.
pub use crate::app::Kind as Exit;

impl Exit {
    /// The code for a command that a signal ended: 128+N.
    pub fn of_signal(signal: i32) -> u8 {
        u8::try_from(signal).ok().and_then(|number| number.checked_add(128)).unwrap_or(u8::MAX)
    }
}

/// The exit code of `wait` for a finished task.
pub fn wait_code(task: &Task) -> u8 {
    match task.status() {
        Status::Completed => Exit::Done.code(),
        Status::Timeout => Exit::TimedOut.code(),
        Status::Failed | Status::Cancelled | Status::Pending | Status::Running | Status::Waiting => Exit::No.code(),
    }
}

/// The exit code of `run` for a finished task: the command's own where it has one.
pub fn run_code(task: &Task) -> u8 {
    let outcome = task.outcome();
    match outcome {
        Some(Outcome { end: EndState::Timeout, .. }) => Exit::TimedOut.code(),
        Some(Outcome { exit_code: Some(code), .. }) => u8::try_from(*code).unwrap_or(Exit::No.code()),
        Some(Outcome { signal: Some(signal), .. }) => Exit::of_signal(*signal),
        Some(_) | None => Exit::No.code(),
    }
}

/// The exit code of a verb that ran a command in place.
pub fn end_code(end: End) -> u8 {
    match end {
        End::Code(code) => u8::try_from(code).unwrap_or(Exit::No.code()),
        End::Signal(signal) => Exit::of_signal(signal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_rise_and_are_the_contracts() {
        let codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 65, 66, 69, 70, 73, 74, 75, 77, 78, 124, 125, 126, 127]);
    }

    #[test]
    fn signals_stay_within_a_byte() {
        for (signal, code) in [(2, 130), (9, 137), (15, 143), (127, 255), (200, 255), (-1, 255)] {
            assert_eq!(Exit::of_signal(signal), code, "{signal}");
        }
    }
}
