//! Decides which claimant may refresh or break an existing lock (`locks.md`). Pure.

use crate::model::evidence::Verdict;
use crate::model::lock::standing::{Claimant, Met, Standing};
use crate::model::{LockKind, LockRecord, TaskId};

/// The relation of a lock to a claimant of its lane.
pub fn standing(claimant: &Claimant<'_>, met: &Met<'_>) -> Standing {
    if claimant.kind == LockKind::Task && is_debris_of(claimant.holder, met) {
        return Standing::Breakable;
    }
    match met.verdict {
        Verdict::Live { .. } if met.record.is_some_and(|record| is_own(claimant, record)) => Standing::Own,
        Verdict::Live { .. } | Verdict::Refused { .. } => Standing::Living,
        Verdict::Stale { .. } => met.to_recover.map_or(Standing::Breakable, Standing::Dead),
    }
}

/// Whether a lock is left from a dead claim of the claiming task itself. Only the process that holds a task's supervisor.lock
/// takes lanes for the task. A power cut may have left the lock without a valid sidecar. Then the lock file identifies the
/// task, because the judge would take the claimant's own supervisor.lock for the life of the holder.
fn is_debris_of(holder: &str, met: &Met<'_>) -> bool {
    match met.record {
        Some(record) => record.kind == LockKind::Task && record.task_id.as_deref() == Some(holder),
        None => {
            met.named.is_some() && met.named == TaskId::parse(holder) && !matches!(met.verdict, Verdict::Refused { .. })
        }
    }
}

/// Whether a living lock is a lease of the claimant itself, or of its session.
fn is_own(claimant: &Claimant<'_>, record: &LockRecord) -> bool {
    match (claimant.kind, record.kind) {
        (LockKind::Lease, LockKind::Lease) => record.task_id.as_deref() == Some(claimant.holder),
        (LockKind::Session, LockKind::Session) => {
            claimant.session.is_some() && record.who.session.as_deref() == claimant.session
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Who;
    use crate::model::evidence::Reason;
    use crate::policy::staleness::tests::record as plain;

    const LIVE: Verdict = Verdict::Live { why: Reason::SupervisorLives, overdue: false };
    const STALE: Verdict = Verdict::Stale { why: Reason::LeaseOver, age_ms: 1 };
    const REFUSED: Verdict = Verdict::Refused { why: Reason::ForeignOwner };

    fn record(kind: LockKind, holder: &str, session: Option<&str>) -> LockRecord {
        let who = Who { session: session.map(str::to_owned), ..Who::default() };
        LockRecord { task_id: Some(holder.to_owned()), who, ..plain(kind) }
    }

    fn claimant(kind: LockKind, holder: &str) -> Claimant<'_> {
        Claimant { holder, kind, session: Some("s") }
    }

    #[test]
    fn a_lease_is_refreshed_by_its_holder_and_a_session_by_its_key() {
        let stands = |claimant: Claimant<'_>, record: &LockRecord| {
            standing(&claimant, &Met { verdict: &LIVE, record: Some(record), named: None, to_recover: None })
        };
        let lease = record(LockKind::Lease, "t1", None);
        assert_eq!(stands(claimant(LockKind::Lease, "t1"), &lease), Standing::Own);
        assert_eq!(stands(claimant(LockKind::Lease, "t2"), &lease), Standing::Living);
        assert_eq!(stands(claimant(LockKind::Process, "t1"), &lease), Standing::Living);
        let session = record(LockKind::Session, "t1", Some("s"));
        assert_eq!(stands(claimant(LockKind::Session, "other"), &session), Standing::Own);
        let none = Claimant { session: None, ..claimant(LockKind::Session, "t1") };
        assert_eq!(stands(none, &record(LockKind::Session, "t1", None)), Standing::Living);
    }

    #[test]
    fn what_a_dead_claim_of_a_task_left_is_broken_by_its_next_one_only() {
        let own = record(LockKind::Task, "task_7", None);
        let met = |record, named, verdict| Met { verdict, record, named, to_recover: None };
        for (holder, expected) in [("task_7", Standing::Breakable), ("task_8", Standing::Living)] {
            let task = claimant(LockKind::Task, holder);
            assert_eq!(standing(&task, &met(Some(&own), None, &LIVE)), expected);
            assert_eq!(standing(&task, &met(None, Some(TaskId(7)), &LIVE)), expected);
        }
        let task = claimant(LockKind::Task, "task_7");
        assert_eq!(standing(&task, &met(None, Some(TaskId(7)), &REFUSED)), Standing::Living);
        assert_eq!(standing(&task, &met(None, None, &LIVE)), Standing::Living);
        assert_eq!(standing(&claimant(LockKind::Wait, "task_7"), &met(Some(&own), None, &LIVE)), Standing::Living);
    }

    #[test]
    fn a_dead_task_is_recovered_before_its_lane_is_free() {
        let dead = record(LockKind::Task, "task_7", None);
        let met = |to_recover| Met { verdict: &STALE, record: Some(&dead), named: None, to_recover };
        let lease = claimant(LockKind::Lease, "t1");
        assert_eq!(standing(&lease, &met(Some(TaskId(7)))), Standing::Dead(TaskId(7)));
        assert_eq!(standing(&lease, &met(None)), Standing::Breakable);
    }
}
