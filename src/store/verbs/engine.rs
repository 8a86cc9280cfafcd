//! What each host does by itself, whichever store the tasks and lanes are kept in: what stands on kernel locks, pipes and open files of
//! this host's processes, and the state directory of this host.

use crate::model::lock::Grant;
use crate::model::{Identity, LaneName, SandboxId, Task, TaskId, Timestamp};
use crate::os::{FileSystem, Meta, Pipe};
use crate::store::error::Result;
use crate::store::verbs::verbs;
use crate::store::{
    Break, Changes, Duty, FileStore, Hold, KeeperAnswer, Lending, Moded, Presence, Problem, SessionLock, Standby,
};
use std::time::Duration;

verbs! {
    /// The locks of sessions, and their keepers.
    Sessions {
        /// Asks the keeper of a session to take a lock, or to look at it again.
        fn ask_keeper(key: &str, lane: &LaneName, slot: u32) -> Result<()>;
        /// What the keeper has said to the last mark.
        fn keeper_answer(key: &str, lane: &LaneName, slot: u32) -> Result<KeeperAnswer>;
        /// Whether a session may have leases.
        fn has_sessions() -> Result<bool>;
        /// Whether the keeper of a session says that it holds a lock.
        fn keeper_holds(key: &str, lane: &LaneName, slot: u32) -> bool;
        /// Takes a mark back, for an acquirer that gives up.
        fn unask_keeper(key: &str, lane: &LaneName, slot: u32) -> Result<()>;
        /// Takes the lock of the keeper of a session, without waiting; `None` while a keeper lives.
        fn take_keeper_lock(key: &str) -> Result<Option<Hold>>;
        /// Becomes the keeper of a session with the lock that this process was started with; `None` where that is another
        /// one.
        fn become_keeper(key: &str) -> Result<Option<Hold>>;
        /// Watches for marks, and for the end of a process.
        fn session_changes(key: &str, process: &Identity) -> Result<Changes>;
        /// Watches for the answer of a keeper.
        fn keeper_changes(key: &str) -> Changes;
        /// Takes every lock that a mark asks for, and answers.
        fn take_wanted(key: &str, held: &mut Vec<SessionLock>) -> Result<()>;
        /// False when the lock file is proven not to be the one that the keeper keeps; true also after an error, so that the keeper
        /// goes on.
        fn is_in_force(lock: &SessionLock) -> bool;
        /// Refreshes the times of a lease that has no time to live, and writes its sidecar anew where that was lost.
        fn refresh_session_lock(lock: &mut SessionLock, timeout_ms: u64) -> Result<()>;
        /// Ends a lease of a session; `None` where it was over.
        fn end_session_lock(key: &str, lock: SessionLock) -> Result<Option<Break>>;
        /// Forgets a lease that somebody else ended.
        fn forget_session_lock(key: &str, lock: &SessionLock) -> Result<()>;
        /// Leaves a session without leases: false where a mark came meanwhile.
        fn leave_session(key: &str) -> Result<bool>;
    }
}

verbs! {
    /// The processes that make passes.
    Dispatchers {
        /// Waits for the turn and takes it, unless this process has it.
        fn take_turn();
        /// Gives the turn up, if this process has it.
        fn end_turn();
        /// Takes the duty among the processes of one sandbox, which alone can start each other's tasks; `None` while
        /// another process has it.
        fn try_duty(sandbox: &SandboxId) -> Result<Option<Duty>>;
        /// Shows those who stand by that this process has the duty, so that its end wakes one of them.
        fn show_duty(duty: &mut Duty, sandbox: &SandboxId);
        /// Watches the record of a pending task, and nothing that others change.
        fn watch_record(task: &Task) -> Result<Changes>;
        /// Whether the record of a pending task is still in its lane.
        fn is_in_its_lane(task: &Task) -> Result<bool>;
        /// Sleeps until the watched record moves or the duty may have become free.
        fn stand_by(record: &mut Changes);
        /// Says that somebody waits for a child, as long as this process keeps what it gets.
        fn lend_to(child: TaskId) -> Result<Lending>;
        /// Whether somebody waits for a child.
        fn is_lent_to(child: TaskId) -> Result<bool>;
        /// The children for whom somebody waits, in the order of their numbers.
        fn lent_to() -> Result<Vec<TaskId>>;
        /// Takes the locks that long-running dispatchers of a sandbox share.
        fn join_dispatchers(sandbox: &SandboxId) -> Result<Presence>;
        /// Whether a daemon, a `run` or a `dispatch --drain` is at work: in a sandbox, or in any.
        fn has_dispatcher(sandbox: Option<&SandboxId>) -> Result<bool>;
        /// Takes a place among the `run`s of a sandbox that stand by.
        fn join_standby(sandbox: &SandboxId, id: TaskId) -> Option<Standby>;
        /// Watches the one before, or for the lowest the holder of the duty; the places of the dead between them are
        /// removed.
        fn watch_before_standby(standby: &mut Standby) -> Result<Option<usize>>;
        /// Sleeps until the record has left the queue, the one before it has gone, or a caught signal came; `longest` at
        /// most.
        fn wait_on_standby(standby: &mut Standby, longest: Duration) -> bool;
        /// Gives a place up.
        fn leave_standby(standby: Standby);
    }
}

verbs! {
    /// What the holders of locks on this host have beside them.
    Holders {
        /// Records the command of a `luzia lock` in its sidecar, by its holder: when luzia is killed and its command has
        /// closed the lock file, the command is still known to live.
        fn record_command(grant: &Grant, pid: u32) -> Result<bool>;
        /// Whether this process has inherited a lock file, whose kernel lock then lasts as long as itself.
        fn has_inherited_lock(lane: &LaneName, slot: u32) -> Result<bool>;
        /// The living processes that have a lock file open: the command of `luzia lock` and what it left behind.
        fn lock_file_users(lane: &LaneName, slot: u32) -> Result<Vec<Identity>>;
        /// Makes the FIFO of a holder, in the stead of one that a dead holder of the slot left, and gives its whole path.
        fn make_job_server(grant: &Grant) -> Result<(Box<dyn Pipe>, String)>;
        /// Removes the FIFO of a holder, and those that dead holders of the lane left.
        fn remove_job_server(grant: &Grant);
    }
}

verbs! {
    /// The state directory: made, looked at, repaired, refused.
    Directory {
        /// Removes what killed enqueuers left more than an hour ago; gives the paths.
        fn clean_spool(dry_run: bool) -> Result<Vec<String>>;
        /// Makes again, durably, what is missing of the folders that every state directory has, and gives them.
        fn make_folders() -> Result<Vec<&'static str>>;
        /// The folders that every state directory has, and this one has not.
        fn missing_folders() -> Result<Vec<&'static str>>;
        /// Whether luzia has ever used the state directory.
        fn has_format() -> Result<bool>;
        /// Whether the state directory exists at all.
        fn is_there() -> bool;
        /// Refuses a directory that holds files of somebody else and no `format`, e.g. a home that was named by mistake.
        fn refuse_foreign() -> Result<()>;
        /// Refuses a state directory in which others could change locks, or on which locks do not hold (`locks.md`).
        fn check_safety(force_file_system: bool, creates: bool) -> Result<()>;
        /// The state directory itself; `None` when it does not exist.
        fn root_meta() -> Result<Option<Meta>>;
        /// The file system below the state directory.
        fn file_system() -> Result<FileSystem>;
        /// Whether names that differ in case only are one name there; asked of a folder that exists.
        fn folds_case() -> Result<bool>;
        /// Every file and folder whose mode matters, with that mode.
        fn modes() -> Result<Vec<Moded>>;
        /// Gives a file or folder a mode.
        fn set_mode(path: &str, mode: u32) -> Result<()>;
        /// The counter of task ids, when it holds something that is not a whole line.
        fn damaged_sequence() -> Result<Option<Problem>>;
        /// This host's wall clock less what a record of this very boot makes it, in milliseconds: how far the wall clock
        /// was moved since.
        fn clock_moved_ms(at: Timestamp, boot_ms: u64, boot_id: &str) -> Option<i64>;
        /// Whether its path leads to the state directory still, so that another process would find it.
        fn is_at_its_path() -> Result<bool>;
        /// The records that were set aside.
        fn set_aside_records() -> Result<Vec<String>>;
        /// Where the damaged record of a task was put, by the name that `set_aside` gives it.
        fn set_aside_of(id: TaskId) -> Result<Option<String>>;
        /// Names in the spool that luzia did not make; they are never touched.
        fn foreign_names() -> Result<Vec<Problem>>;
    }
}
