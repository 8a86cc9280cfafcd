//! The words by which programs tell errors apart (contract, section 6). They are stable; the message beside one may change.

use crate::app::error::Kind;

/// Declares the codes, each with its word, the class of its errors, and its meaning.
macro_rules! codes {
    ($($name:ident $word:literal $kind:ident $meaning:literal;)*) => {
        /// The kind of fault of an error, for programs.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = $meaning] $name,)*
        }

        impl Code {
            /// Every code, by its word.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word, e.g. `LOCK_HELD`.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The class of an error with this code, unless the error names another.
            pub const fn kind(self) -> Kind {
                match self { $(Self::$name => Kind::$kind,)* }
            }

            /// The meaning of the code.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    Account "ACCOUNT" Io "The host cannot look up an account now.";
    BadSlots "BAD_SLOTS" Usage "A task takes more slots than its lanes can have.";
    BadVariable "BAD_VARIABLE" Config "An environment variable of luzia has an invalid value.";
    Bug "BUG" Bug "A fault of luzia itself.";
    CancelPending "CANCEL_PENDING" Busy "A task was asked to end and has not ended yet.";
    CannotCreate "CANNOT_CREATE" CannotCreate "A file cannot be made.";
    CannotStart "CANNOT_START" Busy "A task cannot start at once. If this request had queued the task, it is cancelled.";
    ClaimedInVain "CLAIMED_IN_VAIN" Unavailable "A supervisor did not come up, or ended too early.";
    CommandMissing "COMMAND_MISSING" Usage "A task has no command.";
    ConductorDir "CONDUCTOR_DIR" No "The conductor directory of a project cannot be used.";
    Config "CONFIG" Config "The configuration has a mistake.";
    ConfigAbsent "CONFIG_ABSENT" Config "The configuration that was named does not exist.";
    ConfigUnreadable "CONFIG_UNREADABLE" Config "The configuration cannot be read.";
    ConfigUnsafe "CONFIG_UNSAFE" Config "Others may change the configuration.";
    Deadlock "DEADLOCK" No "A wait would never end, because it waits for itself.";
    DemoFailed "DEMO_FAILED" Unavailable "The demonstration has failed.";
    DemoLeft "DEMO_LEFT" No "The demonstration was left.";
    DependencyFailed "DEPENDENCY_FAILED" No "A task comes after one that failed or was removed.";
    DiskFull "DISK_FULL" Io "A file system has no space left.";
    Docs "DOCS" CannotCreate "A page or a completion cannot be written or removed.";
    EndsWithSandbox "ENDS_WITH_SANDBOX" No "A lease of a session would end with the sandbox of its caller.";
    FenceLost "FENCE_LOST" No "A lock is not in force any more.";
    FileBusy "FILE_BUSY" Busy "Another process keeps a file of luzia locked.";
    FinishSaid "FINISH_SAID" No "A task has already recorded another end.";
    GuardBusy "GUARD_BUSY" Busy "Another process stays in the guard of a lane.";
    HolderLives "HOLDER_LIVES" Busy "The holder of a lane does not end.";
    HolderUnknown "HOLDER_UNKNOWN" No "The holder of a lane is unknown.";
    HookExists "HOOK_EXISTS" No "A hook has this name already.";
    HookFailed "HOOK_FAILED" Unavailable "A hook has failed.";
    HookNotFound "HOOK_NOT_FOUND" NotFound "There is no such hook.";
    HostBusy "HOST_BUSY" Busy "A lane grants nothing, because the host is too busy for it.";
    HostNotFound "HOST_NOT_FOUND" NotFound "No host of a store has this name.";
    HostTaken "HOST_TAKEN" Config "Another host of the same name shares the tasks of a store.";
    Io "IO" Io "The operating system refused.";
    KeyRuns "KEY_RUNS" No "A task with the key runs, and cannot be replaced.";
    KeyTaken "KEY_TAKEN" Busy "An unfinished task has the key.";
    LaneNotFound "LANE_NOT_FOUND" NotFound "There is no such lane.";
    LanePaused "LANE_PAUSED" Busy "A lane grants nothing, because somebody has paused it.";
    LeaseLate "LEASE_LATE" Unavailable "The lease of a host was renewed too late for its tasks.";
    LocalOnly "LOCAL_ONLY" Usage "A command works on one host, and a store of several hosts is named.";
    LockHeld "LOCK_HELD" Busy "A lane is held by somebody else.";
    LockLost "LOCK_LOST" No "A lock is not held any more.";
    NameTaken "NAME_TAKEN" Usage "A schedule has this name already.";
    NothingBefore "NOTHING_BEFORE" No "No task stands before this one.";
    NotAllowed "NOT_ALLOWED" NoPermission "The configuration does not admit a command or a variable.";
    NotALease "NOT_A_LEASE" No "A lock is not a lease.";
    NotAStateDir "NOT_A_STATE_DIR" Config "A directory holds files of somebody else.";
    NotExecutable "NOT_EXECUTABLE" NotExecutable "A command cannot be executed.";
    NotInLine "NOT_IN_LINE" No "Two tasks do not wait in one line.";
    NotPaused "NOT_PAUSED" NotFound "Nothing that was named is paused.";
    NotPreempted "NOT_PREEMPTED" No "No room can be made in a lane.";
    NotSeenFromHere "NOT_SEEN_FROM_HERE" Busy "The processes of a task cannot be seen from this sandbox.";
    NotStarted "NOT_STARTED" NotStarted "A command was not started.";
    NotTheHolder "NOT_THE_HOLDER" No "A lane is held by another holder than the one that was named.";
    NotYours "NOT_YOURS" Usage "A command would end, stop or pause the work of somebody else, and nobody has confirmed it.";
    NoAddressee "NO_ADDRESSEE" No "An event is for no unfinished task.";
    NoAgent "NO_AGENT" No "No ancestor of this process is an agent.";
    NoBranch "NO_BRANCH" NotFound "No branch is checked out.";
    NoCommand "NO_COMMAND" NoCommand "There is no such command.";
    NoDigest "NO_DIGEST" Io "A work tree has no digest.";
    NoDirectory "NO_DIRECTORY" NotFound "A path is not a directory.";
    NoFleet "NO_FLEET" Usage "This luzia was built without stores of several hosts.";
    NoHome "NO_HOME" Config "The account has no home.";
    NoKeeper "NO_KEEPER" Unavailable "The keeper of a session does not answer.";
    NoLoan "NO_LOAN" No "A task cannot borrow the lanes of a parent.";
    NoPermission "NO_PERMISSION" NoPermission "The operating system denies access.";
    NoRepository "NO_REPOSITORY" NotFound "A path is not in a git repository.";
    NoSchema "NO_SCHEMA" NotFound "There is no such document.";
    NoStateDir "NO_STATE_DIR" Config "No rule gives a state directory.";
    NoTaskChosen "NO_TASK_CHOSEN" NotFound "No task is named, or no task is selected.";
    NoTemporaryDirectory "NO_TEMPORARY_DIRECTORY" CannotCreate "There is no directory for temporary files.";
    NoVariable "NO_VARIABLE" No "A task has no such variable.";
    NoWorkTree "NO_WORK_TREE" NotFound "A repository has no work tree.";
    Output "OUTPUT" Io "The answer cannot be written.";
    OutputFile "OUTPUT_FILE" CannotCreate "A file for output cannot be made.";
    PausePending "PAUSE_PENDING" Busy "A task was asked to pause or to resume, and has not done so yet.";
    Place "PLACE" Io "A path cannot be looked at.";
    ProjectNotFound "PROJECT_NOT_FOUND" NotFound "There is no such project.";
    RateLimited "RATE_LIMITED" Busy "A lane was granted as often as its rate allows.";
    ReadOnly "READ_ONLY" Io "A file system is read-only.";
    RecordCorrupt "RECORD_CORRUPT" Corrupt "A record cannot be read.";
    RecordNewer "RECORD_NEWER" Corrupt "A newer luzia wrote a record.";
    RecordSetAside "RECORD_SET_ASIDE" Corrupt "A damaged record was set aside.";
    RecoveryPending "RECOVERY_PENDING" Busy "The processes of a dead task do not end.";
    Reserved "RESERVED" Busy "The free slots of the lane global are kept for other lanes.";
    ResultFile "RESULT_FILE" Io "A result file cannot be written.";
    RunAs "RUN_AS" Config "A task cannot run as the account that its project names.";
    SandboxLives "SANDBOX_LIVES" No "The sandbox in which a task was queued is alive, or the task can go on only there.";
    Schedule "SCHEDULE" Io "A schedule cannot be looked at.";
    ScheduleNotFound "SCHEDULE_NOT_FOUND" NotFound "There is no such schedule.";
    Server "SERVER" Unavailable "The server cannot be started.";
    Settings "SETTINGS" Io "The settings of an agent cannot be read or written.";
    SettingsBroken "SETTINGS_BROKEN" Corrupt "The settings of an agent are not valid JSON or TOML.";
    Shims "SHIMS" CannotCreate "The directory of shims cannot be used.";
    ShimsCorrupt "SHIMS_CORRUPT" Corrupt "The list of shims cannot be read.";
    ShimExists "SHIM_EXISTS" CannotCreate "A file stands where a shim is to be made.";
    ShimNotFound "SHIM_NOT_FOUND" NotFound "There is no such shim.";
    SlotOccupied "SLOT_OCCUPIED" Busy "Another process uses the value of a free slot, e.g. its port.";
    StateDir "STATE_DIR" Io "The state directory cannot be used.";
    StateDirAbsent "STATE_DIR_ABSENT" CannotCreate "The state directory does not exist.";
    StateDirGone "STATE_DIR_GONE" Unavailable "The state directory was removed or moved.";
    StateDirUnsafe "STATE_DIR_UNSAFE" NoPermission "Others may change the state directory.";
    StepCorrupt "STEP_CORRUPT" Corrupt "The record of a step cannot be read.";
    StepNotFound "STEP_NOT_FOUND" NotFound "No step of that name has ended.";
    StepRuns "STEP_RUNS" Busy "A step is running already.";
    StillQueued "STILL_QUEUED" Busy "A task is still in the queue.";
    StoreAway "STORE_AWAY" Unavailable "The database of several hosts does not answer.";
    StoreFailed "STORE_FAILED" Io "The database of several hosts has failed.";
    StoreOlder "STORE_OLDER" Config "The database of several hosts is older than the state that a host has seen.";
    StoreSchema "STORE_SCHEMA" Config "The database of several hosts has no tables for this luzia.";
    StoreUntrusted "STORE_UNTRUSTED" Config "The server of a store of several hosts cannot prove that it is the named one.";
    SupervisorStopped "SUPERVISOR_STOPPED" Busy "The supervisor of a task is stopped.";
    TaskBusy "TASK_BUSY" Busy "Another process changes a task at this moment.";
    TaskNotFound "TASK_NOT_FOUND" NotFound "There is no such task.";
    TaskNotOver "TASK_NOT_OVER" No "A task is not over.";
    TaskNotPending "TASK_NOT_PENDING" No "A task does not wait in the queue.";
    TaskNotRunning "TASK_NOT_RUNNING" No "A task does not run.";
    TaskOver "TASK_OVER" No "A task is over.";
    TaskWaits "TASK_WAITS" No "A task waits for an event without a process.";
    TooFewSlots "TOO_FEW_SLOTS" No "A lane has fewer slots than a task takes.";
    TooManyHooks "TOO_MANY_HOOKS" No "The number of hooks is at its limit.";
    Unit "UNIT" CannotCreate "A unit of systemd cannot be read or written.";
    UnitExists "UNIT_EXISTS" CannotCreate "Another unit of systemd stands where one is to be written.";
    UnknownProject "UNKNOWN_PROJECT" NotFound "The configuration has no such project.";
    UnknownUser "UNKNOWN_USER" NotFound "The configuration does not know a user.";
    Usage "USAGE" Usage "Bad input.";
    VarsCorrupt "VARS_CORRUPT" Corrupt "The variables of a task cannot be read.";
    WaitsAlready "WAITS_ALREADY" Busy "A task waits already.";
    WaitTimedOut "WAIT_TIMED_OUT" Busy "The time of a wait is over.";
}

impl Code {
    /// Whether the code reports a lane that its holder, its rules or the host keep busy.
    pub const fn is_of_busy_lane(self) -> bool {
        matches!(
            self,
            Self::GuardBusy
                | Self::HostBusy
                | Self::LanePaused
                | Self::LockHeld
                | Self::LockLost
                | Self::RateLimited
                | Self::RecoveryPending
                | Self::Reserved
                | Self::SlotOccupied
                | Self::TooFewSlots
        )
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_one_of_its_own_and_in_its_place() {
        let words: Vec<&str> = Code::ALL.iter().map(|code| code.word()).collect();
        assert!(words.is_sorted_by(|one, next| one < next), "{words:?}");
        let is_word = |c: char| c.is_ascii_uppercase() || c == '_';
        assert!(words.iter().all(|word| word.chars().all(is_word)), "{words:?}");
    }

    #[test]
    fn busy_lanes_are_told_by_these_words_and_no_others() {
        let busy: Vec<&str> = Code::ALL.iter().filter(|code| code.is_of_busy_lane()).map(|code| code.word()).collect();
        let wanted = [
            "GUARD_BUSY",
            "HOST_BUSY",
            "LANE_PAUSED",
            "LOCK_HELD",
            "LOCK_LOST",
            "RATE_LIMITED",
            "RECOVERY_PENDING",
            "RESERVED",
            "SLOT_OCCUPIED",
            "TOO_FEW_SLOTS",
        ];
        assert_eq!(busy, wanted);
    }
}
