//! The verbs of the journal, of upkeep, and of inspection.

use crate::model::control::hooks::Hook;
use crate::model::{LaneName, Name, TaskId, Timestamp};
use crate::store::error::Result;
use crate::store::journal::reading::TakeEvents;
use crate::store::verbs::verbs;
use crate::store::{Add, Event, EventReader, FileStore, Place, ReadEvent, Segment};
use std::collections::{BTreeMap, BTreeSet};

verbs! {
    /// Events, which inform and decide nothing, and hooks.
    Journal {
        /// The hooks, in the order in which they were added.
        fn hooks() -> Result<Vec<Hook>>;
        /// Changes the hooks, durably, where `change` says so; the verb behind `change_hooks`.
        fn edit_hooks(change: &mut dyn FnMut(&mut Vec<Hook>) -> bool) -> Result<()>;
        /// The events that this process has written since the last call.
        fn take_told() -> Vec<ReadEvent>;
        /// Appends an event.
        fn note(event: &Event);
        /// Appends events in one piece.
        fn note_all(events: &mut dyn Iterator<Item = Event>);
        /// Gives the events since the last call; of a line that is not whole yet, nothing.
        fn read_on(reader: &mut EventReader, take: &mut TakeEvents<'_>) -> Result<()>;
        /// A reader of the events that are written from now on.
        fn follow_events() -> Result<EventReader>;
        /// A reader of the events since a moment; some that are a little older come first.
        fn events_from(since: Timestamp) -> Result<EventReader>;
        /// Gives the newest events to `take`, of about so many bytes at most, in the order in which they were written.
        fn recent_events(bytes: u64, take: &mut TakeEvents<'_>) -> Result<()>;
        /// Every event since `since`, in the order in which they were written; lines that do not read are left out.
        fn events_since(since: Timestamp) -> Result<Vec<ReadEvent>>;
        /// Gives every event since `since` to `take`, without keeping them.
        fn visit_events(since: Timestamp, take: &mut TakeEvents<'_>) -> Result<()>;
        /// The segments of the event log, the oldest first.
        fn event_segments() -> Result<Vec<Segment>>;
        /// How long a segment is.
        fn event_bytes(segment: &Segment) -> Result<u64>;
        /// The counters of all events that were ever written, as far as they were not removed by hand.
        fn tally(add: &Add<'_>) -> Result<BTreeMap<String, u64>>;
    }
}

verbs! {
    /// Names that were met before.
    Names {
        /// The places that were remembered, by the text of their lanes.
        fn known_places() -> Result<BTreeMap<String, String>>;
        /// Remembers places, unless the file is full.
        fn remember_places(places: &BTreeMap<LaneName, String>) -> Result<()>;
        /// The users that were remembered.
        fn known_users() -> Result<Vec<Name>>;
        /// Remembers users, unless the file is full.
        fn remember_users(users: &BTreeSet<Name>) -> Result<()>;
    }
}

verbs! {
    /// What is removed in time.
    Upkeep {
        /// When somebody is to look for tasks to remove; `None` when nobody has said so yet.
        fn prune_due() -> Result<Option<Timestamp>>;
        /// Says when to look next.
        fn set_prune_due(at: Timestamp) -> Result<()>;
        /// The days on which tasks ended, each with how many records it has; by names only.
        fn done_days() -> Result<Vec<(String, u64)>>;
        /// Removes the `count` finished tasks of a day with the lowest numbers; gives those that are gone.
        fn prune_day(day: &str, count: u64) -> Result<Vec<TaskId>>;
        /// Removes the events of every day before `first_kept` and of each day in `days`. Then it removes the oldest segments
        /// until the rest is at most `most_bytes` large. One call removes a few segments.
        fn prune_events(first_kept: &str, days: &[String], most_bytes: u64, add: &Add<'_>) -> Result<()>;
    }
}

verbs! {
    /// The place of the store: made, looked at, refused.
    Ground {
        /// Makes the folders of a state directory that has none yet, and refuses one that a newer luzia wrote.
        fn prepare() -> Result<()>;
        /// Whether the state directory has its folders.
        fn has_layout() -> Result<bool>;
    }
}

verbs! {
    /// What only `doctor` and the repair of a store look at.
    Inspect {
        /// Whether a task is marked as one that waits for another.
        fn has_after_mark(id: TaskId, dependency: TaskId) -> Result<bool>;
        /// Whether a task still stands outside the scan.
        fn is_parked(id: TaskId) -> Result<bool>;
        /// Calls `visit` for every task's number and place; by names only.
        fn visit_ids(visit: &mut dyn FnMut(Place, TaskId)) -> Result<()>;
    }
}
