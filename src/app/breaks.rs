//! Reports of a lock that was removed because it was stale.

use crate::store::{Break, Event};
use serde_json::json;

/// The event of a broken lock, with the log line of S0.32 for a thread.
pub fn broken_event(lock: &Break) -> Event {
    let data = json!({
        "lock_id": lock.lock_id,
        "holder": lock.holder,
        "why": lock.why.map(crate::model::evidence::Reason::text),
        "age_ms": lock.age_ms,
    });
    let mut event = Event::new("lock_broken").in_lane(&lock.lane).with(data);
    event.user = lock.lane.is_user().then(|| lock.lane.key().to_string());
    match stale_line(lock) {
        Some(line) => event.saying(line),
        None => event,
    }
}

/// `[MessageService] Lock on thread 123 is stale (650000ms), clearing...` for a thread's lane (S0.32).
pub fn stale_line(lock: &Break) -> Option<String> {
    let is_stale_thread = lock.lane.kind() == "thread" && lock.why.is_some();
    is_stale_thread.then(|| {
        format!("[MessageService] Lock on thread {} is stale ({}ms), clearing...", lock.lane.key(), lock.age_ms)
    })
}
