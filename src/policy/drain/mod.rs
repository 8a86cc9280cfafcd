//! What a dispatcher that drains waits for. Pure.

use crate::model::Timestamp;

/// How a task stands towards an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stand {
    /// It runs, or needs only its turn or its time.
    Goes,
    /// It waits for an event that somebody may send, or nobody.
    WaitsForEvent,
}

/// Whether a dispatcher that began to drain at a moment waits for a task: not for one that waits for an event, with a process or
/// without, and not for one that a schedule has `made` since.
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
