//! Errors of use cases, and the ends of a command with their exit codes (contract, section 6).
//! `AppError` is a refusal with its code, a hint, and the commands that would help. `Kind` is a class of refusal, or an end
//! without one.

use crate::app::code::Code;
use crate::model::{LaneName, TaskId};
use crate::store::StoreError;
use std::io;

/// A refusal, complete for people and for programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The class of the error.
    pub kind: Kind,
    /// A constant word for programs, as `LOCK_HELD`.
    pub code: Code,
    /// The fault first; lower case, no full stop.
    pub message: String,
    /// The hint: what would help.
    pub hint: Option<String>,
    /// Whether only a process of the caller's own sandbox starts the task.
    pub only_this_sandbox: bool,
    /// Commands that would help.
    pub next: Vec<String>,
    /// Commands that take something from a holder by force: only for one that is dead, stopped or overdue (P10).
    pub overriding: Vec<String>,
    /// Lines for `-v`, in the words of their source.
    pub log: Vec<String>,
}

/// The error of every use case. Boxed, because it is large and rare.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct AppError(Box<Refusal>);

impl AppError {
    /// A refusal of the class that its code has.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Refusal {
            kind: code.kind(),
            code,
            message: message.into(),
            hint: None,
            next: Vec::new(),
            only_this_sandbox: false,
            overriding: Vec::new(),
            log: Vec::new(),
        }))
    }

    /// The error of an account that the host cannot look up now. An absent account is another error.
    pub fn not_looked_up(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self::new(Code::Account, format!("{what} cannot be looked up: {error}"))
    }

    /// The error of a task that is not there.
    pub fn no_task(message: impl Into<String>) -> Self {
        let error = Self::new(Code::TaskNotFound, message);
        error.hint("`luzia list -a` shows every task").next("luzia list -a")
    }

    /// Bad input; nothing was changed.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message)
    }

    /// The refusal with all its parts.
    pub fn refusal(&self) -> &Refusal {
        &self.0
    }

    /// The class of the error.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The word of the error for programs.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The fault, without the hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Puts the error into another class.
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Gives the error another word for programs.
    pub fn with_code(mut self, code: Code) -> Self {
        self.0.code = code;
        self
    }

    /// Replaces the message by one that is made from it.
    pub fn reworded(mut self, reword: impl FnOnce(&str) -> String) -> Self {
        self.0.message = reword(&self.0.message);
        self
    }

    /// Sets the hint, instead of an earlier one.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets the hint, unless there is one already.
    pub fn or_hint(self, hint: &str) -> Self {
        if self.0.hint.is_none() { self.hint(hint) } else { self }
    }

    /// Names the commands that would help, instead of earlier ones.
    pub fn with_next(mut self, commands: impl IntoIterator<Item = String>) -> Self {
        self.0.next = commands.into_iter().collect();
        self
    }

    /// Adds a command before those that would help.
    pub fn first_next(mut self, command: String) -> Self {
        self.0.next.insert(0, command);
        self
    }

    /// Adds commands that take something from a holder by force (P10).
    pub fn overriding(mut self, commands: impl IntoIterator<Item = String>) -> Self {
        self.0.overriding.extend(commands);
        self
    }

    /// Gives the error its lines for `-v`.
    pub fn with_log(mut self, lines: Vec<String>) -> Self {
        self.0.log = lines;
        self
    }

    /// Says whether only a process of the caller's own sandbox starts the task.
    pub fn only_this_sandbox(mut self, is_only: bool) -> Self {
        self.0.only_this_sandbox = is_only;
        self
    }

    /// Adds a command that would help.
    pub fn next(mut self, command: impl Into<String>) -> Self {
        self.0.next.push(command.into());
        self
    }

    /// Whether a record is damaged.
    pub fn is_damage(&self) -> bool {
        self.0.code == Code::RecordCorrupt
    }

    /// Whether a lane is busy: a later try may get it (contract, section 6, exit code 75).
    pub fn is_of_busy_lane(&self) -> bool {
        self.0.kind == Kind::Busy && self.0.code.is_of_busy_lane()
    }
}

/// The error of a damaged record. The memory of a task is not set aside, because the task could conclude that it has done
/// nothing.
fn of_damage(remembered_by: Option<TaskId>, message: String) -> AppError {
    let error = AppError::new(Code::RecordCorrupt, message);
    match remembered_by {
        Some(id) => error
            .hint(format!("once the task is over, `luzia retry {id} --from-start` begins it anew; nothing was changed"))
            .next(format!("luzia show {id}")),
        None => {
            error.hint("it is set aside when its turn comes; `luzia doctor` lists such records").next("luzia doctor")
        }
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Io { action, source, .. } => of_io(action, &source, message),
            StoreError::Corrupt { thing, .. } => of_damage(thing.remembered_by(), message),
            StoreError::Newer { .. } => {
                Self::new(Code::RecordNewer, message).hint("use the luzia that wrote it; nothing was rewritten")
            }
            StoreError::Unsure(inner) => {
                let error = Self::from(*inner).reworded(|_| message);
                error.hint(
                    "the change is in force, and only a power cut can undo it; check whether it is still \
                     needed before you repeat it",
                )
            }
            StoreError::GuardBusy { holder, .. } => {
                let hint = match holder {
                    Some(pid) => {
                        format!(
                            "process {pid} is in the guard; if it is stopped, continue it with kill -CONT {pid}; then try again"
                        )
                    }
                    None => "a process of luzia is in the guard; try again".to_owned(),
                };
                Self::new(Code::GuardBusy, message).hint(hint)
            }
            StoreError::FileBusy { holder, .. } => {
                let hint = match holder {
                    Some(pid) => {
                        format!("if process {pid} is stopped, continue it with kill -CONT {pid}; then try again")
                    }
                    None => "try again".to_owned(),
                };
                Self::new(Code::FileBusy, message).hint(hint)
            }
            StoreError::Unsafe { .. } => Self::new(Code::StateDirUnsafe, message)
                .hint("it must belong to this account, with mode 0700, on a local file system")
                .next("luzia doctor"),
            StoreError::Foreign { .. } => Self::new(Code::NotAStateDir, message)
                .hint("nothing was made there; a state directory is new, empty, or made by luzia"),
            StoreError::Absent { .. } => Self::new(Code::StateDirAbsent, message),
            StoreError::TooLarge { .. } => Self::usage(message).hint("pass large input in a file"),
        }
    }
}

/// The hint for a caller without access. Another state directory would be another queue, without exclusion between the two
/// (P10).
pub(crate) const GRANT: &str = "ask for write access to the directory; `lock`, `acquire`, `check` and `list-locks` \
                                need only its folder `locks`, which `luzia agent setup` grants to the sandbox of an agent";

fn of_io(action: &str, source: &io::Error, message: String) -> AppError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => AppError::new(Code::NoPermission, message)
            .hint(format!("the state directory belongs to one account, or a sandbox keeps you out; {GRANT}")),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            AppError::new(Code::DiskFull, message).hint("free some space; accepted tasks are intact")
        }
        io::ErrorKind::ReadOnlyFilesystem => AppError::new(Code::ReadOnly, message)
            .hint(format!("the file system is read-only for this process; {GRANT}")),
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists if action.contains("folder") => {
            AppError::new(Code::CannotCreate, message)
        }
        io::ErrorKind::NotFound => AppError::new(Code::Io, message)
            .hint("the old state is intact; `luzia doctor` tells whether a folder of the state directory is missing")
            .next("luzia doctor"),
        _ => AppError::new(Code::Io, message).hint("the old state is intact"),
    }
}

/// An error after a change was made; the message names the change first. The change is not undone, so "try again" is no hint.
pub(crate) fn although(stands: &str, error: AppError) -> AppError {
    error.reworded(|why| format!("{stands}, but an error followed: {why}")).hint("the next pass completes the change")
}

/// The error of a request that could not be recorded durably. `withdrawn` says whether the part that was written is gone.
pub(crate) fn not_recorded<T, E>(id: TaskId, error: AppError, withdrawn: &Result<T, E>) -> AppError {
    match withdrawn {
        Ok(_) => error,
        Err(_) => error
            .hint(format!("the request for {id} could not be taken back and may still be carried out"))
            .next(format!("luzia explain {id}")),
    }
}

/// A name as one word of a shell command, so that a command that would help can be typed as it is printed.
pub fn shell_word(name: impl ToString) -> String {
    let name = name.to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) { name } else { format!("'{}'", name.replace('\'', r"'\''")) }
}

/// A lane as an argument of a command that takes a user or a lane: a bare word would be a user there.
pub fn lane_word(lane: &LaneName) -> String {
    let kind = if lane.is_bare(lane.key().as_str()) { "lane:" } else { "" };
    shell_word(format!("{kind}{lane}"))
}

/// Declares the kinds, each with its exit code and its meaning.
macro_rules! kinds {
    ($($name:ident $code:literal $meaning:literal;)*) => {
        /// A class of refusal, or an end without one. Verbs that run a command pass that command's code through instead.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Kind {
            $(#[doc = $meaning] $name,)*
        }

        impl Kind {
            /// Every kind, by its code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The exit code.
            pub const fn code(self) -> u8 {
                match self { $(Self::$name => $code,)* }
            }

            /// The meaning of the code.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

kinds! {
    Done 0 "Done; yes; free; queued.";
    No 1 "The answer is no: the task waited for failed or was cancelled, a task is in no state for what was \
          asked, doctor found a problem, a release named the wrong holder or met a living one, or a lease is no \
          longer held.";
    Usage 2 "Usage, or a refused confirmation. Nothing was changed.";
    Corrupt 65 "A record is corrupt, or a newer luzia wrote it. The error names it. A corrupt one is set aside when its \
                turn comes, the other is left alone.";
    NotFound 66 "There is no such task, user, lane or lock.";
    Unavailable 69 "Something that luzia needs is not available.";
    Bug 70 "A bug in luzia.";
    CannotCreate 73 "A file or directory cannot be created.";
    Io 74 "Input-output error, disk full included. The old state is intact, unless the error says that the work \
           is done and only the answer could not be written.";
    Busy 75 "Busy, try again: check found the lane held, lock --nonblock or --wait or acquire did not get it, the \
             time of wait ran out, run --no-wait could not start at once, or an unfinished task has the key. lock -E replaces \
             this code.";
    NoPermission 77 "No permission.";
    Config 78 "The configuration has a mistake, or there is no state directory.";
    TimedOut 124 "The time limit of a task ended it.";
    NotStarted 125 "luzia failed before the command was started.";
    NotExecutable 126 "The command cannot be executed.";
    NoCommand 127 "There is no such command.";
}

impl From<Kind> for u8 {
    fn from(kind: Kind) -> Self {
        kind.code()
    }
}
