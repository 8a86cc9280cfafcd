//! The verbs of the queue and of runs.

use crate::model::control::Control;
use crate::model::evidence::Judge;
use crate::model::{LaneName, Name, Priority, Task, TaskId, Tier, Timer, Timestamp, Turn};
use crate::store::error::Result;
use crate::store::files::queue::accept::Told;
use crate::store::verbs::verbs;
use crate::store::{
    CancelRequest, Claim, Claimed, Counts, Ending, FileStore, Found, Head, Hold, Judges, KeySlot, PauseRequest, Place,
    Removed, Request, RunPause, Started, StoreError, Survey, Timers,
};
use std::collections::BTreeMap;

verbs! {
    /// The queue: accept, look, claim, and what was set at run time.
    Queue {
        /// The task that ended last, among those that `counts` and that ended at `since` or later.
        fn last_ended(text: &str, since: Timestamp, counts: &dyn Fn(&Task) -> bool) -> Result<Option<Task>>;
        /// Gives `count` task ids that were never given before; the first of them.
        fn reserve_ids(count: u64) -> Result<TaskId>;
        /// Accepts tasks: durable when this returns (P2).
        fn accept(tasks: &[Task], told: Option<Told>) -> Result<()>;
        /// Tells watchers that there is something to do.
        fn ring();
        /// In which folder a task's record stands; `None` when there is no such task.
        fn place_of(id: TaskId) -> Result<Option<Place>>;
        /// A task by its number, with its state as its place tells it; `None` when there is no such task.
        fn find(id: TaskId) -> Result<Option<(Place, Task)>>;
        /// Sets a damaged record aside, under a name that is not taken, and notes what is wrong with it: of many who meet
        /// it, one.
        fn set_aside(wrong: &StoreError) -> Result<()>;
        /// Puts the changed record of a task in its place.
        fn change_pending(old: &Task, new: Task, lock: Hold, told: &mut dyn FnMut()) -> Result<()>;
        /// Claims the head of a lane: takes its `supervisor.lock`, asks `admit`, takes its lanes, moves its record.
        fn claim(
            head: &Head,
            admit: &dyn Fn(&Task) -> bool,
            request: &dyn Fn(&Task) -> Request,
            judges: Judges
        ) -> Result<Claim>;
        /// What was set at run time; nothing where nobody has set anything.
        fn control() -> Result<Control>;
        /// Changes what was set, durably, where `change` says so; the verb behind `change_control`.
        fn edit_control(change: &mut dyn FnMut(&mut Control) -> bool) -> Result<()>;
        /// The ledger of fair share as it was written last.
        fn ledger() -> Result<Option<String>>;
        /// Reads and rewrites the ledger of fair share under the guard of `global`; it is a hint and not synced.
        fn update_ledger(change: &mut dyn FnMut(Option<&str>) -> Option<String>) -> Result<()>;
        /// The lanes of each tier that have pending tasks, each with its best priority, found by folder names only.
        fn lanes_with_work() -> Result<BTreeMap<Tier, BTreeMap<String, Priority>>>;
        /// The first task of a lane in a tier: lowest priority number, then lowest sequence.
        fn head(tier: Tier, queue: &str) -> Result<Option<Head>>;
        /// Like `head`, for a lane of which a listing has told that `best` is its best priority in the tier.
        fn head_from(best: Priority, queue: &str) -> Result<Option<Head>>;
        /// A task of a queue, whichever stands first in any tier; `None` when none of them reads.
        fn any_of_queue(queue: &str) -> Result<Option<Task>>;
        /// The record of a head; `None` when it is gone or does not read, which is for the claim to find out.
        fn peek(head: &Head) -> Option<Task>;
        /// Why the record of a queue's first task does not read, when a newer version wrote it.
        fn newer_head(head: &Head) -> Option<StoreError>;
        /// The first pending tasks in those queues of a user that `counts`, in the order of their turn, `most` at most.
        fn first_pending(user: &Name, most: u64, counts: &dyn Fn(&str) -> bool) -> Result<Vec<Turn>>;
        /// The first tasks of a queue in the tier of its best priority, in their order, `most` at most.
        fn first_in_tier(best: Priority, queue: &str, most: usize) -> Result<Vec<Head>>;
        /// The first task of a user in a tier, over those queues of the user that `counts`.
        fn head_of_user(tier: Tier, user: &LaneName, counts: &dyn Fn(&str) -> bool) -> Result<Option<Head>>;
        /// The user's lane of a queue: by its name, or, for a hashed name, by the first record in it.
        fn pending_lane_name(queue: &str) -> Result<Option<LaneName>>;
        /// Counts pending tasks by names only.
        fn counts() -> Result<Counts>;
        /// Whether more than `most` tasks are parked, or pending in a queue that `counts`; stops to count when it knows.
        fn has_more_waiting_than(most: u64, counts: &dyn Fn(&str) -> bool) -> Result<bool>;
        /// How many pending tasks one user's lane has, by names only.
        fn lane_depth(lane: &LaneName) -> Result<u64>;
        /// Like `lane_depth`, of one tier.
        fn tier_depth(tier: Tier, queue: &str) -> Result<u64>;
        /// The pending tasks of every lane, or of one user, in the order of their numbers.
        fn pending_tasks(user: Option<&Name>) -> Result<Survey<'_>>;
        /// The tasks outside the scan: not due, or after others.
        fn parked_tasks() -> Result<Survey<'_>>;
        /// The tasks that run or wait for an event.
        fn started_tasks() -> Survey<'_>;
        /// The tasks that are over.
        fn done_tasks() -> Result<Survey<'_>>;
        /// How many tasks are over.
        fn finished_count() -> Result<u64>;
        /// The ids of the tasks that ended on a day or later, in no order.
        fn done_since(day: &str) -> Result<Vec<TaskId>>;
        /// Whether no task is pending and none is parked; the cheap question before counting.
        fn is_queue_empty() -> Result<bool>;
        /// Whether the state directory has not been removed; it may have been moved.
        fn is_still_there() -> Result<bool>;
    }
}

verbs! {
    /// Tasks that no pass looks at yet, and the marks of their order: timers, dependencies, keys.
    Delays {
        /// Moves a parked task to its lane durably, now that nothing keeps it, and removes what would have woken it.
        fn unpark(id: TaskId) -> Result<bool>;
        /// Removes the mark that a task waits for another one, when it does not.
        fn forget_after(id: TaskId, dependency: TaskId) -> Result<()>;
        /// Removes a timer that rang, when its task is not parked, or will be woken by the end of another one.
        fn forget_timer(id: TaskId, at: Timestamp) -> Result<()>;
        /// The first task of a tier in a key lane that tasks of several users may have.
        fn first_in(lane: &LaneName, tier: Tier) -> Result<Option<Turn>>;
        /// How many tasks wait for their turn in such a lane, by their marks.
        fn waiting_in(lane: &LaneName) -> Result<u64>;
        /// Sets a timer.
        fn set_timer(timer: &Timer) -> Result<()>;
        /// Removes a timer that fired or is not needed any more.
        fn clear_timer(timer: &Timer) -> Result<()>;
        /// Marks a pending task as told of, because it waits for long; false when it is marked already.
        fn mark_warned(id: TaskId) -> Result<bool>;
        /// Forgets that a task was told of, because its wait is over; true when it was.
        fn forget_warned(id: TaskId) -> Result<bool>;
        /// Whether a timer is set.
        fn has_timer(timer: &Timer) -> Result<bool>;
        /// Whether a timer is due, by one look where none is set.
        fn is_timer_due() -> Result<bool>;
        /// The timers that are due, and the moment of the next one.
        fn timers(now: Timestamp) -> Result<Timers>;
        /// Marks that `id` waits for the end of `dependency`.
        fn mark_after(id: TaskId, dependency: TaskId) -> Result<()>;
        /// Removes that mark.
        fn clear_after(id: TaskId, dependency: TaskId) -> Result<()>;
        /// Every task that others wait for, with those others.
        fn dependencies() -> Result<Vec<(TaskId, Vec<TaskId>)>>;
        /// Enters the transaction of a key: its file, locked.
        fn enter_key(key: &str) -> Result<Box<dyn KeySlot + '_>>;
        /// Like `enter_key`, for a group of tasks of one queue: its file has a name that no key has.
        fn enter_group(task: &Task, group: &Name) -> Result<Box<dyn KeySlot + '_>>;
    }
}

verbs! {
    /// The runs of a task: its start, what is asked of its supervisor, its end, its recovery.
    Runs {
        /// Lets go of a task that was not taken after all.
        fn let_go(id: TaskId, lock: Hold) -> Result<()>;
        /// Gives a claim up: releases the lanes and puts the record back in its old place.
        fn unclaim(claimed: Claimed) -> Result<()>;
        /// Takes a pending or parked task for a verb that ends it without starting it.
        fn take_pending(id: TaskId) -> Result<Removed>;
        /// Takes the lock of a task that is over, for a verb that does something late.
        fn take_finished(id: TaskId) -> Result<Option<(Task, Hold)>>;
        /// Records how a run ended; the next pass finishes what follows.
        fn record_ending(ending: &Ending, file: Option<Hold>) -> Result<()>;
        /// Takes back what a failed `record_ending` may have left, for a verb that answers with the error: what was asked
        /// for must not happen later.
        fn withdraw_ending(id: TaskId, lock: Hold) -> Result<()>;
        /// Moves the record of an ended run to where it belongs, after its lanes were released: `done`, or back to its old
        /// place in the queue.
        fn settle(ending: &Ending, lock: Hold) -> Result<Vec<TaskId>>;
        /// Looks at a task that nobody supervises: takes its lock and tells what is there.
        fn find_abandoned(id: TaskId) -> Result<Option<Found>>;
        /// Like `find_abandoned`, with a lock that was handed over.
        fn look_abandoned(id: TaskId, lock: Hold) -> Result<Found>;
        /// Like `look_abandoned`, for a task that this very process has claimed: its claim has read the record, and has
        /// found no start and no end.
        fn look_claimed(task: Task, lock: Hold) -> Result<Found>;
        /// Removes what a crash left of a task whose record stands in the queue or is over: the caller has released its
        /// lanes.
        fn discard_leftovers(id: TaskId, task: Option<&Task>, lock: Hold) -> Result<()>;
        /// The tasks that may need recovery: everything in `running`, and every run folder.
        fn in_flight() -> Result<Vec<TaskId>>;
        /// The tasks in flight that nobody supervises.
        fn unsupervised() -> Result<Vec<TaskId>>;
        /// Replaces the record of a running task whose tree is dead, and forgets its last start.
        fn keep_running(task: &Task) -> Result<()>;
        /// Asks the supervisor of a task to stop its processes, or, with an end that has come, to let them go on.
        fn request_pause(id: TaskId, asked: &PauseRequest) -> Result<bool>;
        /// What is asked of the supervisor of a task, if anything is.
        fn run_pause(id: TaskId) -> Result<Option<RunPause>>;
        /// Says that the task stands still as it was asked to.
        fn show_pause(id: TaskId) -> Result<()>;
        /// Removes the request when the pause is over.
        fn end_pause(id: TaskId) -> Result<()>;
        /// Writes a request to cancel durably.
        fn request_cancel(id: TaskId, request: &CancelRequest) -> Result<bool>;
        /// The request to cancel a task, if there is one.
        fn cancel_request(id: TaskId) -> Result<Option<CancelRequest>>;
        /// Records a start durably (P3), and makes the empty file of its result, which is given.
        fn record_start(id: TaskId, started: &Started) -> Result<Hold>;
        /// The recorded start of a task; `Some(None)` when it was being recorded at the moment of a crash.
        fn started(id: TaskId) -> Result<Option<Option<Started>>>;
        /// Claims a task that stands in `waiting`: takes its `supervisor.lock`, asks `admit`, takes the lanes that it did
        /// not keep, moves its record.
        fn claim_waiting(
            id: TaskId,
            admit: &dyn Fn(&Task) -> bool,
            request: &dyn Fn(&Task) -> Request,
            judge: Judge
        ) -> Result<Claim>;
        /// Removes what a run, or a claim that came to nothing, has left of a task that stands in `waiting`.
        fn stay_waiting(id: TaskId, lock: Hold) -> Result<()>;
        /// Takes a task that stands in `waiting` for a verb that ends it without starting it.
        fn take_waiting(id: TaskId) -> Result<Removed>;
        /// Whether the record of a task stands in `waiting`.
        fn stands_waiting(id: TaskId) -> Result<bool>;
        /// Whether it does, and nothing of an earlier run is left.
        fn waits_at_rest(id: TaskId) -> Result<bool>;
        /// Lets a waiting task rest until its next timer: removes those that rang, unless its mailbox holds other events
        /// than the caller has `seen`.
        fn has_rest(id: TaskId, rang: &[Timestamp], seen: &[u64]) -> Result<bool>;
    }
}
