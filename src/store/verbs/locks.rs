//! The verbs of locks, lines and capacity.

use crate::model::config::Rate;
use crate::model::evidence::Judge;
use crate::model::lock::Grant;
use crate::model::task::TaskWait;
use crate::model::{LaneName, LockKind, Origin, Task, TaskId, Timestamp};
use crate::store::error::Result;
use crate::store::verbs::verbs;
use crate::store::{
    Acquired, Break, By, Changes, Cleanup, FileStore, GivenBack, Hold, InLine, Kept, LockIndex, LockView, Owed,
    Release, Released, Request, Shares,
};
use std::time::Duration;

verbs! {
    /// The locks of lanes.
    Locks {
        /// Takes all lanes of a request, or none, without a look at the line.
        fn acquire(request: &Request, judge: Judge) -> Result<Acquired>;
        /// Takes all lanes of a request, or none, when it is their asker's turn.
        fn acquire_in_line(request: &Request, judge: Judge, in_line: &mut InLine<'_>) -> Result<Acquired>;
        /// Refreshes the lease of a holder if it still has the lock id that is meant; `None` when it was lost.
        fn refresh(request: &Request, lock_id: &str, judge: Judge) -> Result<Option<Grant>>;
        /// The place where a task was started last: by its recorded start, or where that says nothing of namespaces, by its
        /// locks.
        fn origin_of(id: TaskId, task: Option<&Task>) -> Result<Origin>;
        /// Every holder of a lane, judged under its guard.
        fn holders(lane: &LaneName, timeout_ms: u64, judge: Judge) -> Result<Vec<LockView>>;
        /// Whether the first place of a lane has a lock, dead or alive: one look, without the guard, so that it is no proof.
        fn is_taken(lane: &LaneName) -> bool;
        /// The holders of a lane among those that an index knows.
        fn holders_in(index: &LockIndex, lane: &LaneName, timeout_ms: u64, judge: Judge) -> Result<Vec<LockView>>;
        /// Which slots are occupied right now, in all lanes, by one listing.
        fn lock_index() -> Result<LockIndex>;
        /// Every lock there is, ordered by the time of its last refresh (S0.27).
        fn all_locks(timeout_ms: &dyn Fn(&LaneName) -> u64, judge: Judge) -> Result<Vec<LockView>>;
        /// The locks of users, `most` of them at most, the first by name, in the same order; and how many there are that
        /// nobody looked at.
        fn user_locks(
            most: usize,
            timeout_ms: &dyn Fn(&LaneName) -> u64,
            judge: Judge
        ) -> Result<(Vec<LockView>, usize)>;
        /// The grant of a holder as its sidecar says it now: a loan that ended has given it a new fence.
        fn current_grant(lane: &LaneName, lock_id: &str) -> Result<Option<Grant>>;
        /// Refreshes one lock of a living holder, which is this process.
        fn keep_lock(kind: LockKind, holder: &str, grant: &Grant, timeout_ms: u64) -> Result<Kept>;
        /// Whether the sidecar of a lock is lost or damaged.
        fn has_lost_sidecar(grant: &Grant) -> bool;
        /// Releases a lock of `lane` when it is the one that is meant and no living process holds it; or when its holder
        /// gives it back and it is a lease, which may watch a process that lives on.
        fn release(lane: &LaneName, which: &Release, by: By, timeout_ms: u64, judge: Judge) -> Result<Released>;
        /// Releases a lock of kind `process` by the process that took it.
        fn release_process(grant: &Grant, file: Hold) -> Result<GivenBack>;
        /// Releases every lock that a task holds in `lanes`, in the reverse of the order given.
        fn release_task(task: TaskId, lanes: &[LaneName], known: &[Grant]) -> Result<Vec<Break>>;
        /// Gives up all slots that a paused task holds in a lane. False, and no slot is given up, where one of them is lent or
        /// borrowed: its other holder would lose it.
        fn give_up_lane(task: TaskId, lane: &LaneName, known: &[Grant]) -> Result<bool>;
        /// Releases every lock that a task holds, in whichever lane, for a task whose record does not read.
        fn release_all_of(task: TaskId) -> Result<()>;
        /// Writes this process into every sidecar of a task, and gives the task's grants.
        fn adopt(task: TaskId, lanes: &[LaneName]) -> Result<Vec<Grant>>;
        /// Whether a supervisor took over any lock of a task that was claimed.
        fn was_adopted(task: &Task) -> Result<bool>;
        /// Like `clean_locks`; what was done before an error stands in `done`.
        fn clean_locks_into(
            timeout_ms: &dyn Fn(&LaneName) -> u64,
            max_age_ms: Option<u64>,
            dry_run: bool,
            judge: Judge,
            done: &mut Cleanup
        ) -> Result<()>;
        /// Like `kept_slots`, by an index of the locks, for a look.
        fn kept_in(locks: &LockIndex, kept: &[(LaneName, u32)]) -> Result<u32>;
        /// The moment from which a lane may be granted again by its rate; `None` when it may now.
        fn granted_again(lane: &LaneName, rate: Rate) -> Result<Option<Timestamp>>;
        /// When a lane with a rate was granted lately, oldest first.
        fn granted_lately(lane: &LaneName, rate: Rate) -> Result<Vec<Timestamp>>;
        /// Removes what is remembered of lanes whose last grant is out of every window, or whose rate `window_ms` no longer
        /// says, at most `most` of them.
        fn prune_rates(most: usize, window_ms: &dyn Fn(&LaneName) -> Option<u64>) -> Result<()>;
        /// The locks that a task holds in some lanes, in the order of these.
        fn locks_of(task: TaskId, lanes: &[LaneName]) -> Result<Vec<Grant>>;
        /// Makes locks durable that a task is about to keep, before anything says that it keeps them: a power cut takes the
        /// text of files that nobody has synced.
        fn secure_locks(grants: &[Grant]) -> Result<()>;
        /// Gives back the lanes of a task that it does not keep while it waits, the user's last.
        fn keep_for_wait(task: &Task, wait: &TaskWait) -> Result<Vec<Break>>;
        /// Watches for locks that go.
        fn watch_locks() -> Changes;
        /// Watches for tasks that start, end or arrive, and for locks that go.
        fn watch() -> Changes;
    }
}

verbs! {
    /// The lines of lanes, and whose turn it is.
    Lines {
        /// Takes a place in the line of a lane, or keeps the one there, and watches the process before it.
        fn join_line(lane: &LaneName, in_line: &mut InLine<'_>);
        /// Waits for the turn in the line, `longest` at most; false when that has passed.
        fn wait_in_line(in_line: &mut InLine<'_>, longest: Duration, life_look: Duration) -> Option<bool>;
        /// Gives a place in a line up, if there is one.
        fn leave_line(in_line: &mut InLine<'_>);
        /// Wakes the first of the line of a lane, so that it looks again: the rules of the lane have changed.
        fn call_waiters(lane: &LaneName);
        /// The pass that this process owes since it has given a lane back; asked once.
        fn owes_pass() -> Option<Owed>;
        /// Ends the turn of the tasks in a lane, where none of them has taken it, and calls the line.
        fn end_tasks_turn(lane: &LaneName) -> Result<()>;
    }
}

verbs! {
    /// What a lane gives beside a place.
    Capacity {
        /// What the holders of a lane have now, as their sidecars say; `None` when the asker holds it no more.
        fn shares(grant: &Grant) -> Result<Option<Shares>>;
        /// Writes a new share of a holder into its sidecar, as `change` decides under the guard of the lane by what all
        /// have.
        fn change_share(grant: &Grant, change: &dyn Fn(&Shares) -> Option<u32>) -> Result<Option<u32>>;
        /// Whether the gate of a lane was shut at the last look.
        fn was_shut(lane: &LaneName) -> bool;
        /// Remembers whether the gate of a lane is shut; true for the one process that changes it.
        fn mark_gate(lane: &LaneName, is_shut: bool) -> bool;
    }
}
