//! Decisions on existing locks, by the tables of `locks.md`. Pure.
//!
//! `judge` is the judge table: it decides whether a lock's holder is alive. The first matching row wins. `standing` decides which
//! claimant may refresh or break an existing lock.

use super::witness::{Witness, witness};
use crate::model::evidence::{Evidence, HolderHost, KernelLock, Reason, Sidecar, Verdict};
use crate::model::lock::{Claimant, Met, Standing};
use crate::model::process::{OTHER_ROOT, Probe, is_other_boot};
use crate::model::{LockKind, LockRecord, TaskId, Timestamp};

/// Greatest age of a corrupt sidecar that may still be in the making, in milliseconds (j4).
pub const CORRUPT_GRACE_MS: i64 = 2000;
/// Difference above which the boot clock counts instead of the wall clock, in milliseconds (j6).
pub const CLOCK_TOLERANCE_MS: i64 = 60_000;

/// Judges one lock by the evidence that was gathered under its guard.
pub fn judge(seen: &Evidence) -> Verdict {
    if !seen.is_regular {
        return Verdict::Refused { why: Reason::NotAFile };
    }
    if !seen.is_own {
        return Verdict::Refused { why: Reason::ForeignOwner };
    }
    if let HolderHost::Elsewhere { lease_until } = seen.host {
        return judge_elsewhere(seen, lease_until);
    }
    if seen.is_waiting {
        return live(Reason::TaskWaits);
    }
    match seen.kernel_lock {
        KernelLock::Supervisor => return live_unless_overdue(seen, Reason::SupervisorLives),
        KernelLock::Tree => return live_unless_overdue(seen, Reason::CommandLives),
        KernelLock::LockFile => return live_unless_overdue(seen, holder_of_file(seen)),
        KernelLock::Free => {}
    }
    match &seen.sidecar {
        Sidecar::Newer => Verdict::Refused { why: Reason::NewerVersion },
        Sidecar::Missing => judge_missing(seen),
        Sidecar::Corrupt => judge_corrupt(seen),
        Sidecar::Whole(record) => judge_record(seen, record),
    }
}

fn live(why: Reason) -> Verdict {
    Verdict::Live { why, overdue: false }
}

fn live_unless_overdue(seen: &Evidence, why: Reason) -> Verdict {
    let limit = seen.sidecar.record().and_then(|record| record.expires_at);
    Verdict::Live { why, overdue: limit.is_some_and(|at| seen.now > at) }
}

fn stale(why: Reason, age_ms: i64) -> Verdict {
    Verdict::Stale { why, age_ms: u64::try_from(age_ms).unwrap_or(0) }
}

/// Judges a holder on another host (j0): only its lease counts. No process, kernel lock or boot of this host is evidence.
fn judge_elsewhere(seen: &Evidence, lease_until: Timestamp) -> Verdict {
    if seen.sidecar == Sidecar::Newer {
        return Verdict::Refused { why: Reason::NewerVersion };
    }
    if seen.now <= lease_until {
        return live(Reason::LeaseRuns);
    }
    let refreshed = seen.sidecar.record().and_then(|record| record.refreshed_at).unwrap_or(lease_until);
    stale(Reason::LeaseOver, seen.now.ms_since(refreshed))
}

fn judge_missing(seen: &Evidence) -> Verdict {
    let age = seen.now.ms_since(seen.lock_modified);
    // A lock with a time in the future has no known age, and a clock that was set back does not prove death. The lock stays
    // until the clock has passed that time, or a caller releases it.
    if age > as_ms(seen.max_age_ms.unwrap_or(seen.timeout_ms)) {
        stale(Reason::NoSidecarOld, age)
    } else {
        live(Reason::NoSidecarYoung)
    }
}

fn judge_corrupt(seen: &Evidence) -> Verdict {
    let written = seen.sidecar_modified.unwrap_or(seen.lock_modified);
    // A time in the future gives no age, so a clock that was set back cannot keep a dead lock for ever.
    let age = seen.now.ms_since(written);
    if (0..=CORRUPT_GRACE_MS).contains(&age) { live(Reason::CorruptYoung) } else { stale(Reason::CorruptDead, age) }
}

fn judge_record(seen: &Evidence, record: &LockRecord) -> Verdict {
    let age = age_ms(seen, record);
    if record.rests_on_process()
        && let Some(boot) = &record.boot_id
    {
        if is_other_boot(boot, &seen.boot_id) {
            return stale(if boot == OTHER_ROOT { Reason::OtherRoot } else { Reason::OtherBoot }, age);
        }
        let seen_from = seen.outlook.as_ref().map(witness);
        match (record.kind, seen_from) {
            (LockKind::Process, _) => return judge_process(seen, record, age),
            (LockKind::Session, _) => return stale(Reason::KeeperGone, age),
            (LockKind::Task, Some(Witness::Blind(blind))) => return live_unless_overdue(seen, blind.reason()),
            (_, Some(Witness::Gone)) => return stale(Reason::NamespaceGone, age),
            _ => {}
        }
        if let (Some(probe), Some(start)) = (seen.process, record.pid_start) {
            if probe.proves_death_of(start) {
                return stale(Reason::ProcessGone, age);
            }
            if probe.proves_life_of(start) && !record.pid_watched {
                return live_unless_overdue(seen, Reason::ProcessLives);
            }
        }
    }
    match record.kind {
        LockKind::Process => judge_process(seen, record, age),
        LockKind::Session => stale(Reason::KeeperGone, age),
        LockKind::Lease => judge_lease(seen, record, age),
        LockKind::Foreign => judge_foreign(seen, record, age),
        LockKind::Task => live_unless_overdue(seen, Reason::NotProvenDead),
        // Under the guard, a wait keeps its lock until its record or its supervisor has taken over.
        LockKind::Wait => stale(Reason::WaitOver, age),
    }
}

/// The holder whose life a held lock file proves.
fn holder_of_file(seen: &Evidence) -> Reason {
    match seen.sidecar.record() {
        Some(record) if record.kind == LockKind::Session => Reason::SessionLives,
        Some(record) if record.ended.is_some() => Reason::LeftBehind,
        _ => Reason::LockHeld,
    }
}

/// Judges a free kernel lock of a `luzia lock` (j5b). The lock was held from its birth. Every process that inherited it is gone
/// or has closed it, whatever its pid namespace, boot or host name. So only a process that is seen alive keeps the lock.
fn judge_process(seen: &Evidence, record: &LockRecord, age: i64) -> Verdict {
    let lives = |probe: Option<Probe>, start: Option<u64>| {
        probe.zip(start).is_some_and(|(probe, start)| probe.proves_life_of(start))
    };
    if lives(seen.process, record.pid_start) {
        return live_unless_overdue(seen, Reason::ProcessLives);
    }
    if lives(seen.command, record.command.map(|(_, start)| start)) {
        return live_unless_overdue(seen, Reason::LockCommandLives);
    }
    let is_gone = seen.process.zip(record.pid_start).is_some_and(|(probe, start)| probe.proves_death_of(start));
    stale(if is_gone { Reason::ProcessGone } else { Reason::LockFileFree }, age)
}

fn judge_lease(seen: &Evidence, record: &LockRecord, age: i64) -> Verdict {
    if seen.is_incomplete {
        return stale(Reason::SetIncomplete, age);
    }
    let (Some(expires), Some(refreshed)) = (record.expires_at, record.refreshed_at) else {
        return judge_foreign(seen, record, age);
    };
    let by_wall = seen.now.ms_since(refreshed);
    let clocks_disagree = age.abs_diff(by_wall) > CLOCK_TOLERANCE_MS.unsigned_abs();
    let over = if clocks_disagree { age > expires.ms_since(refreshed) } else { seen.now > expires };
    if over {
        return stale(Reason::LeaseOver, age);
    }
    if record.pid_watched
        && seen.process.is_some_and(|probe| record.pid_start.is_some_and(|start| probe.proves_life_of(start)))
    {
        return live(Reason::ProcessLives);
    }
    // An operator's age limit overrides the lane's timeout. It does not override the holder's own time to live or a proof of
    // life (S3.9).
    if record.ttl_ms.is_none() && seen.max_age_ms.is_some_and(|limit| age > as_ms(limit)) {
        return stale(Reason::TooOld, age);
    }
    live(Reason::LeaseRuns)
}

fn judge_foreign(seen: &Evidence, record: &LockRecord, age: i64) -> Verdict {
    if record.expires_at.is_some_and(|at| seen.now > at) {
        return stale(Reason::LeaseOver, age);
    }
    if age > as_ms(seen.max_age_ms.unwrap_or(seen.timeout_ms)) {
        return stale(Reason::TooOld, age);
    }
    live(Reason::LeaseRuns)
}

/// Milliseconds since the last refresh. The boot clock counts if the refresh was recorded in this boot and the wall clock
/// disagrees with it. Otherwise the wall clock and the recorded time count. For a lock of another program, see
/// [`latest_of_foreign`].
fn age_ms(seen: &Evidence, record: &LockRecord) -> i64 {
    let recorded = record.refreshed_at.or(record.acquired_at);
    if let (Some(at), Some(boot_ms)) = (recorded, record.refreshed_boot_ms)
        && record.boot_id.as_deref() == Some(seen.boot_id.as_str())
    {
        let by_boot = as_ms(seen.boot_ms.saturating_sub(boot_ms));
        let by_wall = seen.now.ms_since(at);
        return if by_boot.abs_diff(by_wall) > CLOCK_TOLERANCE_MS.unsigned_abs() { by_boot } else { by_wall };
    }
    let latest = match record.kind {
        LockKind::Foreign => latest_of_foreign(seen, recorded),
        LockKind::Task | LockKind::Process | LockKind::Session | LockKind::Lease | LockKind::Wait => {
            recorded.or(Some(seen.lock_modified))
        }
    };
    // A refresh in an earlier boot is at least as old as this boot, whatever the wall clock was set to since.
    let is_earlier =
        record.boot_id.as_deref().is_some_and(|boot| boot != OTHER_ROOT && is_other_boot(boot, &seen.boot_id));
    let at_least = if is_earlier { as_ms(seen.boot_ms) } else { 0 };
    latest.map_or(0, |at| seen.now.ms_since(at)).max(at_least)
}

/// The last refresh of a lock of another program: the time that its sidecar records. The times of its files count too if one of
/// the files was touched after both were made. That is a refresh, or a newer lock whose sidecar is not written yet. They also
/// count if no time is recorded. A time in the future is ignored.
fn latest_of_foreign(seen: &Evidence, recorded: Option<Timestamp>) -> Option<Timestamp> {
    let plausible = |at: &Timestamp| seen.now.ms_since(*at) >= -CLOCK_TOLERANCE_MS;
    let recorded = recorded.filter(plausible);
    let modified = [Some(seen.lock_modified), seen.sidecar_modified];
    let apart = seen.sidecar_modified.map_or(0, |at| at.ms_since(seen.lock_modified).abs());
    if recorded.is_some() && apart <= CORRUPT_GRACE_MS {
        return recorded;
    }
    modified.into_iter().flatten().filter(plausible).chain(recorded).max()
}

fn as_ms(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

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
mod tests;
