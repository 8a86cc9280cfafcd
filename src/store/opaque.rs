//! Values that a store gives to its callers, and reads again itself: readers of the journal, places in a line.

use crate::model::lock::line::{Asker, LineJudge};
use crate::model::{LaneName, SandboxId};
use std::any::Any;

/// Reads events as they are written. Where it is in the journal, only the store knows that made it.
pub struct EventReader(Box<dyn Any>);

impl EventReader {
    /// A reader with what its store notes about it.
    pub(in crate::store) fn new(note: impl Any) -> Self {
        Self(Box::new(note))
    }

    /// That note; `None` where another store has made the reader.
    pub(in crate::store) fn note<T: Any>(&mut self) -> Option<&mut T> {
        self.0.downcast_mut()
    }
}

/// A place in the line of a lane, as the store that gave it notes it.
pub(in crate::store) trait Standing: Any {
    /// How many stand before it, as of the last look.
    fn ahead(&self) -> usize;
    /// Whether the store hears of the end of the lane's holder.
    fn sees_life(&self) -> bool;
    /// Whether it is in the line of this lane.
    fn is_in(&self, lane: &LaneName) -> bool;
}

/// How somebody wants a lane, and the place in its line, once there is one.
pub struct InLine<'a> {
    /// Who decides whose turn it is.
    pub(in crate::store) turn: LineJudge,
    /// How it asks.
    pub(in crate::store) asker: Asker,
    /// The sandbox of the waiter or of the task.
    pub(in crate::store) sandbox: &'a dyn Fn() -> Option<SandboxId>,
    pub(in crate::store) place: Option<Box<dyn Standing>>,
    /// The place that was given up in a guard. It ends outside of that, because the next one comes into the guard when it ends.
    pub(in crate::store) left: Option<Box<dyn Standing>>,
    /// Whether no place could be had.
    pub(in crate::store) cannot_stand: bool,
}

impl<'a> InLine<'a> {
    /// Of somebody who waits, and takes a place in the line when the lane cannot be had at once.
    pub fn waiting(turn: LineJudge, sandbox: &'a dyn Fn() -> Option<SandboxId>) -> Self {
        Self::of(turn, Asker::Newcomer, sandbox)
    }

    /// Of somebody who does not wait.
    pub fn once(turn: LineJudge) -> Self {
        Self::of(turn, Asker::Once, &|| None)
    }

    /// Of a dispatcher, for a task that was queued in a sandbox.
    pub(crate) fn of_task(turn: LineJudge, sandbox: &'a dyn Fn() -> Option<SandboxId>) -> Self {
        Self::of(turn, Asker::Task, sandbox)
    }

    fn of(turn: LineJudge, asker: Asker, sandbox: &'a dyn Fn() -> Option<SandboxId>) -> Self {
        Self { turn, asker, sandbox, place: None, left: None, cannot_stand: false }
    }

    /// How many stand before this one in the line, as of the last try; `None` without a place.
    pub fn position(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.ahead())
    }

    /// Whether it has a place in the line of a lane.
    pub fn stands_in(&self, lane: &LaneName) -> bool {
        self.place.as_ref().is_some_and(|place| place.is_in(lane))
    }

    /// Whether the first of the line hears of the end of the holder.
    pub fn sees_life(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.sees_life())
    }

    /// Its place as the store notes it; `None` without one, or where another store has given it.
    pub(in crate::store) fn place<T: Standing>(&self) -> Option<&T> {
        let place: &dyn Any = &**self.place.as_ref()?;
        place.downcast_ref()
    }

    /// Like [`InLine::place`], to change it.
    pub(in crate::store) fn place_mut<T: Standing>(&mut self) -> Option<&mut T> {
        let place: &mut dyn Any = &mut **self.place.as_mut()?;
        place.downcast_mut()
    }
}
