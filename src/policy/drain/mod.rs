//! The tasks that a draining dispatcher waits for. Pure.

use crate::model::Timestamp;

/// Progress of a task: whether it needs an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stand {
    /// The task runs, or needs only its turn or its time.
    Goes,
    /// The task waits for an event, which may never be sent.
    WaitsForEvent,
}

/// Whether a dispatcher that began to drain at `begun` waits for a task. It does not wait for a task that waits for an event,
/// with a process or without. It does not wait for a task that a schedule has `made` since.
pub fn is_awaited(stand: Stand, made: Option<Timestamp>, begun: Timestamp) -> bool {
    stand == Stand::Goes && made.is_none_or(|at| at < begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_an_event_nor_a_schedule_keeps_a_drain_for_ever() {
        let begun = Timestamp(1000);
        assert!(is_awaited(Stand::Goes, None, begun));
        assert!(!is_awaited(Stand::WaitsForEvent, None, begun));
        assert!(!is_awaited(Stand::Goes, Some(begun), begun));
        assert!(is_awaited(Stand::Goes, Some(Timestamp(999)), begun));
    }
}
