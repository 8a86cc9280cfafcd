//! A request for a lane, and its place in the line.

use super::Place;
use crate::model::lock::{Asker, LineJudge};
use crate::model::{LaneName, SandboxId, Who};
use crate::store::files::locks::line::waiters::note;
use crate::store::layout;

/// A request for a lane, and its place in the line, once it has one.
pub struct InLine<'a> {
    /// The judge of the turns.
    pub(in crate::store) turn: LineJudge,
    /// The kind of the asker.
    pub(in crate::store) asker: Asker,
    /// The sandbox of the waiter or of the task.
    pub(in crate::store) sandbox: Box<dyn Fn() -> Option<SandboxId> + 'a>,
    /// The agent and the label of the waiter, which other processes read beside its process.
    pub(in crate::store) note: String,
    pub(in crate::store) place: Option<Place>,
    /// The place that was given up in a guard. It ends outside of the guard, because its end lets the next one into the guard.
    pub(in crate::store) left: Option<Place>,
    /// Whether no place could be made.
    pub(in crate::store) cannot_stand: bool,
}

impl<'a> InLine<'a> {
    /// The request of a waiter, which takes a place in the line when the lane cannot be had at once.
    pub fn waiting(turn: LineJudge, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        Self::of(turn, Asker::Newcomer, sandbox)
    }

    /// The request of an asker that does not wait.
    pub fn once(turn: LineJudge) -> Self {
        Self::of(turn, Asker::Once, || None)
    }

    /// The request of a dispatcher, for a task that was queued in a sandbox.
    pub(crate) fn of_task(turn: LineJudge, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        Self::of(turn, Asker::Task, sandbox)
    }

    fn of(turn: LineJudge, asker: Asker, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        let note = note(None, None);
        Self { turn, asker, sandbox: Box::new(sandbox), note, place: None, left: None, cannot_stand: false }
    }

    /// Adds the note on the waiter for other processes.
    #[must_use]
    pub fn shown_as(self, who: &Who) -> Self {
        Self { note: note(who.agent.as_deref(), who.label.as_deref()), ..self }
    }

    /// Number of waiters before this one in the line, as of the last try; `None` without a place.
    pub fn position(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.ahead)
    }

    /// Whether it has a place in the line of a lane.
    pub fn stands_in(&self, lane: &LaneName) -> bool {
        self.place.as_ref().is_some_and(|place| place.folder == layout::line(&lane.stem()))
    }

    /// Whether the first of the line notices the end of the holder.
    pub fn sees_life(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.holder.is_some())
    }
}
