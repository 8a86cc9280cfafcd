//! The words by which programs tell errors apart (contract, section 6). They are stable; the message beside one may change.

/// Declares the codes, each with its word and what it says.
macro_rules! codes {
    ($($name:ident $word:literal $meaning:literal;)*) => {
        /// What kind of fault an error is, for programs.
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

            /// What it says.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    Account "ACCOUNT" "The host does not tell of an account now.";
    BadSlots "BAD_SLOTS" "The lanes of a task cannot have as many slots as it takes.";
    BadVariable "BAD_VARIABLE" "An environment variable of luzia does not read.";
    Bug "BUG" "A fault of luzia itself.";
    CancelPending "CANCEL_PENDING" "A task was asked to end and has not ended yet.";
    CannotCreate "CANNOT_CREATE" "A file cannot be made.";
    CannotStart "CANNOT_START" "A task cannot start at once, and was withdrawn where this request had queued it.";
    ClaimedInVain "CLAIMED_IN_VAIN" "A supervisor did not come up, or ended too early.";
    CommandMissing "COMMAND_MISSING" "A task has no command.";
    ConductorDir "CONDUCTOR_DIR" "The conductor directory of a project cannot be used.";
    Config "CONFIG" "The configuration does not read.";
    ConfigAbsent "CONFIG_ABSENT" "The configuration that was named does not exist.";
    ConfigUnreadable "CONFIG_UNREADABLE" "The configuration cannot be read.";
    ConfigUnsafe "CONFIG_UNSAFE" "Others may change the configuration.";
    Deadlock "DEADLOCK" "A wait would never end, because it waits for itself.";
    DemoFailed "DEMO_FAILED" "The demonstration has failed.";
    DemoLeft "DEMO_LEFT" "The demonstration was left.";
    DependencyFailed "DEPENDENCY_FAILED" "A task comes after one that failed or was removed.";
    DiskFull "DISK_FULL" "A file system has no space left.";
    Docs "DOCS" "A page or a completion cannot be written.";
    EndsWithSandbox "ENDS_WITH_SANDBOX" "A lease of a session would end with the sandbox of its caller.";
    FenceLost "FENCE_LOST" "A lock is not in force any more.";
    FileBusy "FILE_BUSY" "Another process keeps a file of luzia locked.";
    FinishSaid "FINISH_SAID" "A task has said already how it ends.";
    GuardBusy "GUARD_BUSY" "Another process stays in the guard of a lane.";
    HolderLives "HOLDER_LIVES" "The holder of a lane does not end.";
    HolderUnknown "HOLDER_UNKNOWN" "The holder of a lane cannot be told.";
    HookExists "HOOK_EXISTS" "A hook has this name already.";
    HookFailed "HOOK_FAILED" "A hook has failed.";
    HookNotFound "HOOK_NOT_FOUND" "There is no such hook.";
    HostBusy "HOST_BUSY" "The condition of the host under which a lane grants nothing is met.";
    Io "IO" "The operating system refused.";
    KeyRuns "KEY_RUNS" "A task with the key runs, and cannot be replaced.";
    KeyTaken "KEY_TAKEN" "An unfinished task has the key.";
    LaneNotFound "LANE_NOT_FOUND" "There is no such lane.";
    LanePaused "LANE_PAUSED" "A lane grants nothing, because somebody has paused it.";
    LockHeld "LOCK_HELD" "A lane is held by somebody else.";
    LockLost "LOCK_LOST" "A lock is not held any more.";
    NameTaken "NAME_TAKEN" "A schedule has this name already.";
    NothingBefore "NOTHING_BEFORE" "No task stands before this one.";
    NotAllowed "NOT_ALLOWED" "The configuration does not admit a command or a variable.";
    NotALease "NOT_A_LEASE" "A lock is no lease.";
    NotAStateDir "NOT_A_STATE_DIR" "A directory holds files of somebody else.";
    NotExecutable "NOT_EXECUTABLE" "A command cannot be executed.";
    NotInLine "NOT_IN_LINE" "Two tasks do not wait in one line.";
    NotPaused "NOT_PAUSED" "Nothing that was named is paused.";
    NotPreempted "NOT_PREEMPTED" "No room can be made in a lane.";
    NotSeenFromHere "NOT_SEEN_FROM_HERE" "The processes of a task cannot be seen from this sandbox.";
    NotStarted "NOT_STARTED" "A command was not started.";
    NotTheHolder "NOT_THE_HOLDER" "A lane is held by another holder than the one that was named.";
    NotYours "NOT_YOURS" "It would end, stop or pause the work of somebody else, and nobody agreed to that.";
    NoAddressee "NO_ADDRESSEE" "No unfinished task is meant by an event.";
    NoAgent "NO_AGENT" "No process of an agent is above this one.";
    NoBranch "NO_BRANCH" "No branch is checked out.";
    NoCommand "NO_COMMAND" "There is no such command.";
    NoDigest "NO_DIGEST" "A work tree has no digest.";
    NoDirectory "NO_DIRECTORY" "A path is no directory.";
    NoHome "NO_HOME" "The account has no home.";
    NoKeeper "NO_KEEPER" "The keeper of a session does not answer.";
    NoLoan "NO_LOAN" "A task cannot borrow the lanes of a parent.";
    NoPermission "NO_PERMISSION" "The operating system does not permit it.";
    NoRepository "NO_REPOSITORY" "A path is not in a git repository.";
    NoSchema "NO_SCHEMA" "There is no such document.";
    NoStateDir "NO_STATE_DIR" "No rule gives a state directory.";
    NoTaskChosen "NO_TASK_CHOSEN" "No task is meant.";
    NoTemporaryDirectory "NO_TEMPORARY_DIRECTORY" "There is no directory for temporary files.";
    NoVariable "NO_VARIABLE" "A task has no such variable.";
    NoWorkTree "NO_WORK_TREE" "A repository has no work tree.";
    Output "OUTPUT" "The answer cannot be written.";
    OutputFile "OUTPUT_FILE" "A file for output cannot be made.";
    PausePending "PAUSE_PENDING" "A task was asked to stand still or to go on, and has not done so yet.";
    Place "PLACE" "A path cannot be looked at.";
    ProjectNotFound "PROJECT_NOT_FOUND" "There is no such project.";
    RateLimited "RATE_LIMITED" "A lane was granted as often as its rate allows.";
    ReadOnly "READ_ONLY" "A file system is read-only.";
    RecordCorrupt "RECORD_CORRUPT" "A record does not read.";
    RecordNewer "RECORD_NEWER" "A newer luzia wrote a record.";
    RecordSetAside "RECORD_SET_ASIDE" "A damaged record was set aside.";
    RecoveryPending "RECOVERY_PENDING" "The processes of a dead task do not end.";
    Reserved "RESERVED" "The free slots of the lane global are kept for other lanes.";
    ResultFile "RESULT_FILE" "A result file cannot be written.";
    RunAs "RUN_AS" "A task cannot run as the account that its project names.";
    SandboxLives "SANDBOX_LIVES" "The sandbox in which a task was queued lives, or the task goes on there only.";
    Schedule "SCHEDULE" "A schedule cannot be looked at.";
    ScheduleNotFound "SCHEDULE_NOT_FOUND" "There is no such schedule.";
    Server "SERVER" "The server cannot be started.";
    Settings "SETTINGS" "The settings of an agent cannot be read or written.";
    SettingsBroken "SETTINGS_BROKEN" "The settings of an agent do not read.";
    Shims "SHIMS" "The directory of shims cannot be used.";
    ShimsCorrupt "SHIMS_CORRUPT" "The list of shims does not read.";
    ShimExists "SHIM_EXISTS" "A file stands where a shim is to be made.";
    ShimNotFound "SHIM_NOT_FOUND" "There is no such shim.";
    SlotOccupied "SLOT_OCCUPIED" "A stranger uses what a free slot stands for.";
    StateDir "STATE_DIR" "The state directory cannot be used.";
    StateDirAbsent "STATE_DIR_ABSENT" "The state directory does not exist.";
    StateDirGone "STATE_DIR_GONE" "The state directory was removed or moved.";
    StateDirUnsafe "STATE_DIR_UNSAFE" "Others may change the state directory.";
    StepCorrupt "STEP_CORRUPT" "The record of a step does not read.";
    StepNotFound "STEP_NOT_FOUND" "No step of that name has ended.";
    StepRuns "STEP_RUNS" "A step runs already.";
    StillQueued "STILL_QUEUED" "A task is still in the queue.";
    SupervisorStopped "SUPERVISOR_STOPPED" "The supervisor of a task is stopped.";
    TaskBusy "TASK_BUSY" "Another process changes a task at this moment.";
    TaskNotFound "TASK_NOT_FOUND" "There is no such task.";
    TaskNotOver "TASK_NOT_OVER" "A task is not over.";
    TaskNotPending "TASK_NOT_PENDING" "A task does not wait in the queue.";
    TaskNotRunning "TASK_NOT_RUNNING" "A task does not run.";
    TaskOver "TASK_OVER" "A task is over.";
    TaskWaits "TASK_WAITS" "A task waits for an event without a process.";
    TooFewSlots "TOO_FEW_SLOTS" "A lane has fewer slots than a task takes.";
    TooManyHooks "TOO_MANY_HOOKS" "There are as many hooks as there may be.";
    UnknownProject "UNKNOWN_PROJECT" "The configuration has no such project.";
    UnknownUser "UNKNOWN_USER" "The configuration does not know a user.";
    Usage "USAGE" "Bad input.";
    VarsCorrupt "VARS_CORRUPT" "The variables of a task do not read.";
    WaitsAlready "WAITS_ALREADY" "A task waits already.";
    WaitTimedOut "WAIT_TIMED_OUT" "The time of a wait is over.";
}

impl Code {
    /// Whether it says of a lane that it was not to be had now: by who holds it, by its rules, or by the host.
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
