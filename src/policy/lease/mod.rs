//! The moments at which the end of the host's lease ends a granted task. Pure.

use crate::model::HostLease;
use crate::model::task::Word;

/// Time between the last SIGKILL and the end of the lease, in milliseconds: then every process of the task is dead.
pub const MARGIN_MS: u64 = 2000;

/// The part of a lease in which a task may end after SIGTERM.
const PART: u64 = 6;

/// The two moments of a task, by the boot clock in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cut {
    /// The command of the task gets SIGTERM.
    pub term_ms: u64,
    /// Every process of the task's tree gets SIGKILL.
    pub kill_ms: u64,
}

/// The effect of a lease at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// The task may run.
    No,
    /// The task must end: SIGTERM.
    Ends,
    /// No process of the task may live: SIGKILL.
    Over,
}

/// The moments of a task with a grace. A lease that is missing, was refused, or belongs to another boot or another session has
/// ended long ago.
pub fn cut(lease: Option<&HostLease>, boot: u128, session: Word, grace_ms: u64) -> Cut {
    let Some(lease) = lease.filter(|lease| boot != 0 && (lease.boot, lease.session) == (boot, session)) else {
        return Cut::default();
    };
    let kill_ms = lease.end_ms.saturating_sub(MARGIN_MS);
    Cut { term_ms: kill_ms.saturating_sub(grace_ms.min(lease.length_ms / PART)), kill_ms }
}

/// Time after the last renewal of a lease at which the first tasks get SIGTERM, in milliseconds.
pub fn lasts_ms(length_ms: u64) -> u64 {
    length_ms.saturating_sub(MARGIN_MS + length_ms / PART)
}

impl Cut {
    /// The effect at a moment.
    pub fn due(&self, now_ms: u64) -> Due {
        match now_ms {
            now if now >= self.kill_ms => Due::Over,
            now if now >= self.term_ms => Due::Ends,
            _ => Due::No,
        }
    }

    /// The next of the two moments.
    pub fn next(&self, now_ms: u64) -> Option<u64> {
        match self.due(now_ms) {
            Due::No => Some(self.term_ms),
            Due::Ends => Some(self.kill_ms),
            Due::Over => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(boot: u128, session: u128, end_ms: u64) -> Cut {
        let lease = HostLease { boot: 1, session: Word(7), end_ms, length_ms: 60_000 };
        cut(Some(&lease), boot, Word(session), 10_000)
    }

    #[test]
    fn a_task_gets_its_grace_but_no_more_than_a_sixth_of_the_lease() {
        assert_eq!(of(1, 7, 100_000), Cut { term_ms: 88_000, kill_ms: 98_000 });
        let lease = HostLease { boot: 1, session: Word(7), end_ms: 100_000, length_ms: 6000 };
        assert_eq!(cut(Some(&lease), 1, Word(7), 10_000), Cut { term_ms: 97_000, kill_ms: 98_000 });
        // That lease was renewed 6 s before its end.
        assert_eq!(lasts_ms(6000), 3000);
        let cut = of(1, 7, 100_000);
        for (now, due, next) in [
            (0, Due::No, Some(88_000)),
            (87_999, Due::No, Some(88_000)),
            (88_000, Due::Ends, Some(98_000)),
            (98_000, Due::Over, None),
        ] {
            assert_eq!((cut.due(now), cut.next(now)), (due, next), "{now}");
        }
    }

    #[test]
    fn a_lease_of_another_boot_or_session_and_a_refused_one_are_over() {
        for cut in [of(2, 7, 100_000), of(1, 8, 100_000), of(1, 7, 0), of(0, 7, 9), cut(None, 1, Word(7), 0)] {
            assert_eq!(cut.due(0), Due::Over, "{cut:?}");
        }
    }
}
