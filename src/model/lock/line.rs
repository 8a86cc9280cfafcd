//! The line of a lane: the waiting processes and tasks that a requester finds when the lane is free.

/// The requester of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asker {
    /// The first of the line.
    First,
    /// Another one of the line.
    Behind,
    /// A `lock` or `acquire` that may wait and is not yet in the line.
    Newcomer,
    /// A `lock` or `acquire` that does not wait.
    Once,
    /// A dispatcher, for a task of the queue.
    Task,
}

/// Facts about a line, gathered under the guard of its lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineFacts {
    /// The requester.
    pub asker: Asker,
    /// Time since the first living member of the line arrived or was called, in milliseconds; `None` if no member lives.
    /// Negative if the wall clock was set back since.
    pub called_ms: Option<i64>,
    /// Time since the tasks of the queue got the turn, in milliseconds; `None` if they did not get it.
    pub tasks_called_ms: Option<i64>,
    /// Whether a dispatcher will try again for the task, so that the task may give way.
    pub comes_again: bool,
}

/// Decides whether the requester may take the lane, which is free.
pub type LineJudge = fn(&LineFacts) -> bool;
