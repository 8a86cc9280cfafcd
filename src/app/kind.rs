//! Ends of a command with their exit codes (contract, section 6): the classes of refusal, and the ends without one.

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
