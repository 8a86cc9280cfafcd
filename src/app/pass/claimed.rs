//! What a pass tells of a task that it has claimed.

use crate::app::App;
use crate::app::wait_warnings::warn_at_claim;
use crate::model::{Task, Timestamp};
use crate::policy::wait_warning::began;
use crate::store::{Claimed, Event};
use serde_json::json;

/// Tells of the steps from the look at the queue to the lanes (S3.24), and of the locks that were removed for it.
pub(super) fn note_claim(app: &App, claimed: &Claimed) {
    let Claimed { task, grants, broken, .. } = claimed;
    let lanes: Vec<String> = grants.iter().map(|grant| grant.lane.to_string()).collect();
    let fences: Vec<u64> = grants.iter().map(|grant| grant.fence.0).collect();
    let slots: Vec<u32> = grants.iter().map(|grant| grant.slot).collect();
    let waited_ms = wanted_since(app, task).map(|since| app.host.now().ms_since(since).max(0));
    let data = json!({ "lanes": lanes, "fences": fences, "slots": slots, "waited_ms": waited_ms });
    let of = |name| Event::of(name, task).in_lane_of(task);
    let steps = [of("polled"), of("selected"), of("locked").with(data)];
    let breaks =
        broken.iter().map(|lock| Event { task: Some(task.id), ..crate::app::locks::cleanup::broken_event(lock) });
    app.store.note_all(&mut breaks.chain(steps));
    warn_at_claim(app, task);
}

/// Since when a claimed task could have started, for what is measured of its lanes. The time in which it waited for an
/// event is no wait for lanes. `None` of a further step, of which no moment is known.
fn wanted_since(app: &App, task: &Task) -> Option<Timestamp> {
    if task.wait().is_some() {
        let waits = app.store.waits(task.id).ok()?;
        return waits.done.last().and_then(|done| Timestamp::parse(&done.at));
    }
    began(task)
}
