//! The line of a lane: what it shows to somebody who wants the lane and finds it free.

/// Who wants a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asker {
    /// The first of the line.
    First,
    /// Another one of the line.
    Behind,
    /// A `lock` or `acquire` that may wait and does not stand in the line yet.
    Newcomer,
    /// A `lock` or `acquire` that does not wait.
    Once,
    /// A dispatcher, for a task of the queue.
    Task,
}

/// What is seen of a line under the guard of its lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineFacts {
    /// Who asks.
    pub asker: Asker,
    /// How long ago the first of the line that lives came or was called, in milliseconds; `None` when nobody lives there.
    /// Negative when the wall clock was set back since.
    pub called_ms: Option<i64>,
    /// How long ago the tasks of the queue got the turn, in milliseconds; `None` when they have not.
    pub tasks_called_ms: Option<i64>,
    /// Whether a dispatcher will come again for the task that asks, so that it may give way.
    pub comes_again: bool,
}

/// Says whether the asker may take the lane, which is free.
pub type LineJudge = fn(&LineFacts) -> bool;
