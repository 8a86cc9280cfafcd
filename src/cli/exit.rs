//! The exit code of each end of a task, and the manual page of all of them (contract, section 6).

use crate::app::Code;
use crate::app::locks::lock::End;
use crate::cli::docs::roff;
use crate::model::task::{EndState, Outcome};
use crate::model::{Status, Task};
use std::fmt::Write as _;

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

/// The manual page `luzia-exit-codes(7)`, as roff.
pub fn manual_page() -> String {
    let mut page = super::docs::title("luzia-exit-codes", 7) + MANUAL_HEAD;
    for exit in Exit::ALL {
        if *exit == Exit::NotStarted {
            page.push_str(MANUAL_COMMANDS);
        }
        // Writing to a String cannot fail.
        let _ = write!(page, ".TP\n\\fB{}\\fR\n{}\n", exit.code(), roff::text(exit.meaning()));
    }
    page.push_str(MANUAL_WORDS);
    for code in Code::ALL {
        let _ = write!(page, ".TP\n.B {}\n{}\n", code.word(), roff::text(code.meaning()));
    }
    page.push_str(MANUAL_TAIL);
    page
}

const MANUAL_HEAD: &str = r#".SH NAME
luzia\-exit\-codes \- what the exit codes of luzia(1) mean
.SH DESCRIPTION
Every way luzia can end has one of these codes. A failure comes with one error on standard error; with
\fB\-\-json\fR it is a JSON document of schema \fIluzia.error/v1\fR, whose member \fIexit\fR repeats the code.
.PP
Codes from 65 to 78 are those of \fIsysexits.h\fR. A pipe that the reader closed is not an error: luzia ends with 0.
"#;

const MANUAL_COMMANDS: &str = "\
.SH VERBS THAT RUN A COMMAND
.BR luzia\\-run (1)
and
.BR luzia\\-lock (1)
pass the command's own code through. Beside it they know:
";

const MANUAL_WORDS: &str = r#".TP
\fB128+\fIN\fR
Signal \fIN\fR ended the command, or luzia itself.
.SH WORDS OF ERRORS
The member \fIcode\fR of an error says for programs what is wrong. A word keeps its meaning; the message beside it may change.
New words may come.
"#;

const MANUAL_TAIL: &str = r#".SH FILES
.TP
.I /usr/include/sysexits.h
The codes from 64 to 78 of the C library.
.SH ENVIRONMENT
No variable changes a code.
.SH SEE ALSO
.BR luzia (1),
.BR luzia\-spool (5)
"#;

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

    #[test]
    fn the_manual_page_has_every_code() {
        let page = manual_page();
        for exit in Exit::ALL {
            assert!(page.contains(&format!(".TP\n\\fB{}\\fR\n", exit.code())));
        }
        assert!(Code::ALL.iter().all(|code| page.contains(&format!(".B {}\n", code.word()))));
    }
}
