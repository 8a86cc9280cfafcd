//! The exit codes luzia promises, what they mean, which one an error or an end of a task gets, and the manual page that says so
//! (contract, section 6).

use crate::app::locks::lock::End;
use crate::app::{Code, Kind};
use crate::model::task::{EndState, Outcome};
use crate::model::{Status, Task};
use std::fmt::Write as _;

/// An exit code of luzia's own. Verbs that run a command pass that command's code through instead.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exit {
    /// 0.
    Done,
    /// 1.
    No,
    /// 2.
    Usage,
    /// 65.
    Corrupt,
    /// 66.
    NotFound,
    /// 69.
    Unavailable,
    /// 70.
    Bug,
    /// 73.
    CannotCreate,
    /// 74.
    InputOutput,
    /// 75.
    Busy,
    /// 77.
    NoPermission,
    /// 78.
    Config,
    /// 124.
    TimedOut,
    /// 125.
    NotStarted,
    /// 126.
    NotExecutable,
    /// 127.
    NoSuchCommand,
}

impl Exit {
    /// Every code, in rising order.
    pub const ALL: [Self; 16] = [
        Self::Done,
        Self::No,
        Self::Usage,
        Self::Corrupt,
        Self::NotFound,
        Self::Unavailable,
        Self::Bug,
        Self::CannotCreate,
        Self::InputOutput,
        Self::Busy,
        Self::NoPermission,
        Self::Config,
        Self::TimedOut,
        Self::NotStarted,
        Self::NotExecutable,
        Self::NoSuchCommand,
    ];

    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Corrupt => 65,
            Self::NotFound => 66,
            Self::Unavailable => 69,
            Self::Bug => 70,
            Self::CannotCreate => 73,
            Self::InputOutput => 74,
            Self::Busy => 75,
            Self::NoPermission => 77,
            Self::Config => 78,
            Self::TimedOut => 124,
            Self::NotStarted => 125,
            Self::NotExecutable => 126,
            Self::NoSuchCommand => 127,
        }
    }

    /// What the code says.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "Done; yes; free; queued.",
            Self::No => {
                "The answer is no: the task waited for failed or was cancelled, a task is in no state for what was \
                 asked, doctor found a problem, a release named the wrong holder or met a living one, or a lease is no \
                 longer held."
            }
            Self::Usage => "Usage, or a refused confirmation. Nothing was changed.",
            Self::Corrupt => {
                "A record is corrupt, or a newer luzia wrote it. The error names it. A corrupt one is set aside when its \
                 turn comes, the other is left alone."
            }
            Self::NotFound => "There is no such task, user, lane or lock.",
            Self::Unavailable => "Something that luzia needs is not available.",
            Self::Bug => "A bug in luzia.",
            Self::CannotCreate => "A file or directory cannot be created.",
            Self::InputOutput => {
                "Input-output error, disk full included. The old state is intact, unless the error says that the work \
                 is done and only the answer could not be written."
            }
            Self::Busy => {
                "Busy, try again: check found the lane held, lock --nonblock or --wait or acquire did not get it, the \
                 time of wait ran out, run --no-wait could not start at once, or an unfinished task has the key. lock -E replaces this code."
            }
            Self::NoPermission => "No permission.",
            Self::Config => "The configuration has a mistake, or there is no state directory.",
            Self::TimedOut => "The time limit of a task ended it.",
            Self::NotStarted => "luzia failed before the command was started.",
            Self::NotExecutable => "The command cannot be executed.",
            Self::NoSuchCommand => "There is no such command.",
        }
    }

    /// The code for a command that a signal ended: 128+N.
    pub fn of_signal(signal: i32) -> u8 {
        u8::try_from(signal).ok().and_then(|number| number.checked_add(128)).unwrap_or(u8::MAX)
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit.code()
    }
}

/// The exit code of a class of errors.
pub fn exit_of(kind: Kind) -> Exit {
    match kind {
        Kind::No => Exit::No,
        Kind::Usage => Exit::Usage,
        Kind::Corrupt => Exit::Corrupt,
        Kind::NotFound => Exit::NotFound,
        Kind::Unavailable => Exit::Unavailable,
        Kind::Bug => Exit::Bug,
        Kind::CannotCreate => Exit::CannotCreate,
        Kind::Io => Exit::InputOutput,
        Kind::Busy => Exit::Busy,
        Kind::NoPermission => Exit::NoPermission,
        Kind::Config => Exit::Config,
        Kind::NotStarted => Exit::NotStarted,
        Kind::NotExecutable => Exit::NotExecutable,
        Kind::NoCommand => Exit::NoSuchCommand,
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
        if exit == Exit::NotStarted {
            page.push_str(MANUAL_COMMANDS);
        }
        // Writing to a String cannot fail.
        let _ = write!(page, ".TP\n\\fB{}\\fR\n{}\n", exit.code(), roff(exit.meaning()));
    }
    page.push_str(MANUAL_WORDS);
    for code in Code::ALL {
        let _ = write!(page, ".TP\n.B {}\n{}\n", code.word(), roff(code.meaning()));
    }
    page.push_str(MANUAL_TAIL);
    page
}

fn roff(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
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
        let codes: Vec<u8> = Exit::ALL.into_iter().map(Exit::code).collect();
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
