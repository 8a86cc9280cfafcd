//! How somebody wants a lane, and the place in its line.

use super::Place;
use crate::model::lock::line::{Asker, LineJudge};
use crate::model::{LaneName, SandboxId, Who};
use crate::store::files::locks::line::waiters::note;
use crate::store::layout;

/// How somebody wants a lane, and the place in its line, once there is one.
pub struct InLine<'a> {
    /// Who decides whose turn it is.
    pub(in crate::store) turn: LineJudge,
    /// How it asks.
    pub(in crate::store) asker: Asker,
    /// The sandbox of the waiter or of the task.
    pub(in crate::store) sandbox: Box<dyn Fn() -> Option<SandboxId> + 'a>,
    /// What others see of the waiter beside its process.
    pub(in crate::store) note: String,
    pub(in crate::store) place: Option<Place>,
    /// The place that was given up in a guard. It ends outside of that, because the next one comes into the guard when it ends.
    pub(in crate::store) left: Option<Place>,
    /// Whether no place could be had.
    pub(in crate::store) cannot_stand: bool,
}

impl<'a> InLine<'a> {
    /// Of somebody who waits, and takes a place in the line when the lane cannot be had at once.
    pub fn waiting(turn: LineJudge, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        Self::of(turn, Asker::Newcomer, sandbox)
    }

    /// Of somebody who does not wait.
    pub fn once(turn: LineJudge) -> Self {
        Self::of(turn, Asker::Once, || None)
    }

    /// Of a dispatcher, for a task that was queued in a sandbox.
    pub(crate) fn of_task(turn: LineJudge, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        Self::of(turn, Asker::Task, sandbox)
    }

    fn of(turn: LineJudge, asker: Asker, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        let note = note(None, None);
        Self { turn, asker, sandbox: Box::new(sandbox), note, place: None, left: None, cannot_stand: false }
    }

    /// Adds what others see of the waiter.
    #[must_use]
    pub fn shown_as(self, who: &Who) -> Self {
        Self { note: note(who.agent.as_deref(), who.label.as_deref()), ..self }
    }

    /// How many stand before this one in the line, as of the last try; `None` without a place.
    pub fn position(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.ahead)
    }

    /// Whether it has a place in the line of a lane.
    pub fn stands_in(&self, lane: &LaneName) -> bool {
        self.place.as_ref().is_some_and(|place| place.folder == layout::line(&lane.stem()))
    }

    /// Whether the first of the line hears of the end of the holder.
    pub fn sees_life(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.holder.is_some())
    }
}
