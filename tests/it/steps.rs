//! What a task remembers between its starts: variables, signs of progress, finished steps and mail (S1.50, S1.52, S2.21–S2.24,
//! S2.33).

mod damaged;
mod drained;
mod large;
mod limits;
mod mail;
mod once;
mod output;
mod parked;
mod rows;
mod slots;
mod stepwise;
mod told;
mod vars;
mod waits;

use crate::support::Place;
use serde_json::Value;

/// A place with one pending task, `task_1`.
fn pending() -> Place {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    place
}

/// Runs a shell script as a task, which must complete; what it said.
#[track_caller]
fn script(place: &Place, options: &[&str], text: &str) -> (String, Value) {
    let id = place.enqueue(&[options, &["-u", "alice", "--", "sh", "-ec", text]].concat());
    place.drain();
    (place.luzia(&["logs", &id]).out, place.show(&id))
}
