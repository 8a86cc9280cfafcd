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
    Event { message: stale_line(lock), ..Event::new("lock_broken").for_lock(&lock.lane).with(data) }
}

/// `[MessageService] Lock on thread 123 is stale (650000ms), clearing...` for a thread's lane (S0.32).
pub fn stale_line(lock: &Break) -> Option<String> {
    let is_stale_thread = lock.lane.kind() == "thread" && lock.why.is_some();
    is_stale_thread.then(|| {
        format!("[MessageService] Lock on thread {} is stale ({}ms), clearing...", lock.lane.key(), lock.age_ms)
    })
}
