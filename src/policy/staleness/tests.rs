//! A test for each row of the judge table.

use super::*;
use crate::model::process::{INITIAL_PID_NAMESPACE, INITIAL_USER_NAMESPACE, OTHER_ROOT, Outlook, Sight};
use crate::model::{Origin, Who};
use proptest::prelude::*;

const NOW: i64 = 1_700_000_000_000;

pub(super) fn record(kind: LockKind) -> LockRecord {
    LockRecord {
        lock_id: Some("task_1_1700000000".into()),
        task_id: Some("task_1".into()),
        acquired_at: Some(Timestamp(NOW - 1000)),
        refreshed_at: Some(Timestamp(NOW - 1000)),
        expires_at: Some(Timestamp(NOW - 1000 + 600_000)),
        refreshed_boot_ms: Some(99_000),
        pid: Some(77),
        pid_start: Some(5),
        boot_id: Some("this".into()),
        kind,
        ..LockRecord::default()
    }
}

fn seen(sidecar: Sidecar) -> Evidence {
    Evidence {
        is_regular: true,
        is_own: true,
        lock_modified: Timestamp(NOW - 1000),
        sidecar_modified: Some(Timestamp(NOW - 1000)),
        sidecar,
        host: HolderHost::Here,
        is_waiting: false,
        is_incomplete: false,
        kernel_lock: KernelLock::Free,
        process: None,
        command: None,
        outlook: None,
        now: Timestamp(NOW),
        boot_ms: 100_000,
        boot_id: "this".into(),
        timeout_ms: 600_000,
        max_age_ms: None,
    }
}

fn whole(kind: LockKind, change: impl FnOnce(&mut LockRecord)) -> Evidence {
    let mut record = record(kind);
    change(&mut record);
    seen(Sidecar::Whole(Box::new(record)))
}

fn check(evidence: &Evidence, expected: Reason, is_stale: bool) {
    match judge(evidence) {
        Verdict::Stale { why, .. } => assert_eq!((why, true), (expected, is_stale)),
        Verdict::Live { why, .. } => assert_eq!((why, false), (expected, is_stale)),
        Verdict::Refused { why } => assert_eq!(why, expected),
    }
}

#[test]
fn j0_on_another_host_only_the_lease_speaks() {
    let kernel_locks = [KernelLock::Supervisor, KernelLock::Tree, KernelLock::LockFile, KernelLock::Free];
    let kinds = [LockKind::Task, LockKind::Process, LockKind::Session, LockKind::Lease, LockKind::Wait];
    let probes = [None, Some(Probe::Gone), Some(Probe::Alive { start: 5 }), Some(Probe::Alive { start: 6 })];
    for (kind, kernel_lock) in kinds.into_iter().flat_map(|kind| kernel_locks.map(|lock| (kind, lock))) {
        for (process, is_waiting) in probes.into_iter().flat_map(|probe| [(probe, false), (probe, true)]) {
            for (left_ms, is_stale) in [(600_000, false), (0, false), (-1, true)] {
                let host = HolderHost::Elsewhere { lease_until: Timestamp(NOW + left_ms) };
                let foreign = whole(kind, |record| record.boot_id = Some("other".into()));
                let expected = if is_stale { Reason::LeaseOver } else { Reason::LeaseRuns };
                check(&Evidence { host, kernel_lock, process, is_waiting, ..foreign }, expected, is_stale);
            }
        }
    }
    let host = HolderHost::Elsewhere { lease_until: Timestamp(0) };
    check(&Evidence { host, ..seen(Sidecar::Newer) }, Reason::NewerVersion, false);
}

#[test]
fn j1_what_is_not_ours_is_refused() {
    check(&Evidence { is_regular: false, ..seen(Sidecar::Missing) }, Reason::NotAFile, false);
    check(&Evidence { is_own: false, ..seen(Sidecar::Missing) }, Reason::ForeignOwner, false);
    check(&seen(Sidecar::Newer), Reason::NewerVersion, false);
}

#[test]
fn j2_a_parked_task_keeps_its_lock_over_a_reboot() {
    let mut parked = whole(LockKind::Wait, |record| record.boot_id = Some("other".into()));
    parked.is_waiting = true;
    check(&parked, Reason::TaskWaits, false);
}

#[test]
fn j6_a_lease_of_a_set_that_was_not_taken_whole_is_stale() {
    let lease = |is_incomplete: bool| Evidence {
        is_incomplete,
        ..whole(LockKind::Lease, |record| record.expires_at = Some(Timestamp(NOW + 60_000)))
    };
    check(&lease(false), Reason::LeaseRuns, false);
    check(&lease(true), Reason::SetIncomplete, true);
    // A proof of life is of the process that is watched, and not of the one that was to take the rest.
    let watched = whole(LockKind::Lease, |record| record.pid_watched = true);
    check(
        &Evidence { is_incomplete: true, process: Some(Probe::Alive { start: 5 }), ..watched },
        Reason::SetIncomplete,
        true,
    );
}

#[test]
fn a_session_lives_exactly_as_long_as_its_keeper_holds_the_lock_file() {
    let mut held = whole(LockKind::Session, |record| record.pid_watched = true);
    held.kernel_lock = KernelLock::LockFile;
    held.process = Some(Probe::Gone);
    assert_eq!(judge(&held), Verdict::Live { why: Reason::SessionLives, overdue: false });
    let mut free = Evidence { kernel_lock: KernelLock::Free, ..held };
    // Whatever is seen of the agent: its keeper held the lock from birth, in whichever pid namespace.
    for (process, outlook) in [(Some(Probe::Alive { start: 5 }), None), (None, None), (Some(Probe::Unknown), None)] {
        (free.process, free.outlook) = (process, outlook);
        check(&free, Reason::KeeperGone, true);
    }
    let other_boot = whole(LockKind::Session, |record| record.boot_id = Some("other".into()));
    check(&other_boot, Reason::OtherBoot, true);
}

#[test]
fn j3_a_kernel_lock_is_life_whatever_the_age_says() {
    for (lock, why) in [
        (KernelLock::Supervisor, Reason::SupervisorLives),
        (KernelLock::Tree, Reason::CommandLives),
        (KernelLock::LockFile, Reason::LockHeld),
    ] {
        let mut old = whole(LockKind::Task, |record| record.expires_at = Some(Timestamp(0)));
        old.kernel_lock = lock;
        assert_eq!(judge(&old), Verdict::Live { why, overdue: true });
        check(&Evidence { kernel_lock: lock, ..seen(Sidecar::Corrupt) }, why, false);
    }
}

#[test]
fn a_living_holder_is_overdue_strictly_after_its_limit() {
    for (limit, overdue) in [(NOW + 1, false), (NOW, false), (NOW - 1, true)] {
        let mut evidence = whole(LockKind::Task, |record| record.expires_at = Some(Timestamp(limit)));
        evidence.kernel_lock = KernelLock::Supervisor;
        assert_eq!(judge(&evidence), Verdict::Live { why: Reason::SupervisorLives, overdue }, "{limit}");
    }
}

#[test]
fn j4_without_a_whole_sidecar_the_age_decides() {
    let at = |age: i64, sidecar: Sidecar| Evidence {
        lock_modified: Timestamp(NOW - age),
        sidecar_modified: Some(Timestamp(NOW - age)),
        ..seen(sidecar)
    };
    check(&at(600_000, Sidecar::Missing), Reason::NoSidecarYoung, false);
    check(&at(600_001, Sidecar::Missing), Reason::NoSidecarOld, true);
    check(&at(2000, Sidecar::Corrupt), Reason::CorruptYoung, false);
    check(&at(2001, Sidecar::Corrupt), Reason::CorruptDead, true);
    check(&at(-3_600_000, Sidecar::Corrupt), Reason::CorruptDead, true);
}

#[test]
fn j5_a_dead_process_or_another_boot_is_stale() {
    for kind in [LockKind::Task, LockKind::Process] {
        check(&whole(kind, |record| record.boot_id = Some("other".into())), Reason::OtherBoot, true);
        check(&whole(kind, |record| record.boot_id = Some(OTHER_ROOT.into())), Reason::OtherRoot, true);
        let with = |probe| Evidence { process: Some(probe), ..whole(kind, |_| {}) };
        check(&with(Probe::Gone), Reason::ProcessGone, true);
        check(&with(Probe::Zombie), Reason::ProcessGone, true);
        check(&with(Probe::Alive { start: 6 }), Reason::ProcessGone, true);
        check(&with(Probe::Alive { start: 5 }), Reason::ProcessLives, false);
    }
    let hidden = Evidence { process: Some(Probe::Unknown), ..whole(LockKind::Task, |_| {}) };
    check(&hidden, Reason::NotProvenDead, false);
}

/// The view of the initial namespaces on a holder in another pid namespace.
fn elsewhere(sight: Sight) -> Option<Outlook> {
    let place = |pid| Origin {
        boot_id: Some("this".into()),
        pid_namespace: Some(pid),
        init_start: Some(1),
        user_namespace: Some(INITIAL_USER_NAMESPACE),
    };
    Some(Outlook { recorded: place(8), own: place(INITIAL_PID_NAMESPACE), is_proc_own: true, sight })
}

#[test]
fn j5_a_task_whose_processes_cannot_be_seen_is_not_dead() {
    let task = |outlook, process| Evidence { outlook, process, ..whole(LockKind::Task, |_| {}) };
    check(&task(elsewhere(Sight::Unclear), None), Reason::OtherPids, false);
    let foreign = elsewhere(Sight::NotLooked).map(|outlook| Outlook { is_proc_own: false, ..outlook });
    check(&task(foreign, Some(Probe::Gone)), Reason::ForeignProc, false);
    let mut inside = elsewhere(Sight::Lives);
    inside.as_mut().expect("an outlook").own.user_namespace = Some(3);
    check(&task(inside, Some(Probe::Gone)), Reason::OtherUsers, false);
    check(&task(elsewhere(Sight::Lives), Some(Probe::Gone)), Reason::ProcessGone, true);
    check(&task(elsewhere(Sight::Lives), Some(Probe::Alive { start: 5 })), Reason::ProcessLives, false);
    check(&task(elsewhere(Sight::Absent), None), Reason::NamespaceGone, true);
}

#[test]
fn j5_a_watched_process_dies_with_its_namespace_and_lives_on_in_one_that_is_not_seen() {
    let lease =
        |outlook, process| Evidence { outlook, process, ..whole(LockKind::Lease, |record| record.pid_watched = true) };
    check(&lease(elsewhere(Sight::Absent), None), Reason::NamespaceGone, true);
    check(&lease(elsewhere(Sight::Unclear), None), Reason::LeaseRuns, false);
    check(&lease(elsewhere(Sight::Lives), Some(Probe::Alive { start: 5 })), Reason::ProcessLives, false);
    check(&lease(elsewhere(Sight::Lives), Some(Probe::Gone)), Reason::ProcessGone, true);
}

#[test]
fn j5b_a_free_lock_file_is_proof_unless_luzia_or_its_command_is_seen_alive() {
    let lock = |process, command| Evidence {
        process,
        command,
        outlook: elsewhere(Sight::Unclear),
        ..whole(LockKind::Process, |record| record.command = Some((78, 6)))
    };
    check(&lock(None, None), Reason::LockFileFree, true);
    check(&lock(Some(Probe::Unknown), Some(Probe::Unknown)), Reason::LockFileFree, true);
    check(&lock(Some(Probe::Gone), Some(Probe::Alive { start: 6 })), Reason::LockCommandLives, false);
    check(&lock(Some(Probe::Gone), Some(Probe::Alive { start: 7 })), Reason::ProcessGone, true);
    check(&lock(Some(Probe::Alive { start: 5 }), None), Reason::ProcessLives, false);
    let without_boot = whole(LockKind::Process, |record| record.boot_id = None);
    check(&without_boot, Reason::LockFileFree, true);
    let held = Evidence { kernel_lock: KernelLock::LockFile, ..lock(Some(Probe::Gone), Some(Probe::Gone)) };
    check(&held, Reason::LockHeld, false);
}

#[test]
fn an_unknown_boot_is_not_another_one() {
    let mut blind = whole(LockKind::Task, |_| {});
    blind.boot_id = "unknown".into();
    check(&blind, Reason::NotProvenDead, false);
}

#[test]
fn a_bare_pid_proves_nothing() {
    let bare = whole(LockKind::Foreign, |record| {
        (record.pid_start, record.boot_id) = (None, None);
    });
    check(&Evidence { process: Some(Probe::Gone), ..bare }, Reason::LeaseRuns, false);
}

/// A lease of ten minutes, so many milliseconds after its refresh by each clock.
fn lease_after(by_wall: i64, by_boot: u64) -> Evidence {
    let now = Timestamp(NOW - 1000 + by_wall);
    Evidence { now, boot_ms: 99_000 + by_boot, ..whole(LockKind::Lease, |_| {}) }
}

#[test]
fn j6_a_lease_ends_strictly_after_its_time() {
    check(&lease_after(600_000, 600_000), Reason::LeaseRuns, false);
    check(&lease_after(600_001, 600_001), Reason::LeaseOver, true);
}

#[test]
fn a_clock_jump_does_not_end_a_lease() {
    for by_wall in [86_400_000, -86_400_000] {
        check(&lease_after(by_wall, 600_000), Reason::LeaseRuns, false);
        check(&lease_after(by_wall, 600_001), Reason::LeaseOver, true);
    }
}

#[test]
fn j6_the_boot_clock_counts_when_the_clocks_disagree_by_over_a_minute() {
    for (by_wall, by_boot, age_ms) in [
        (700_000, 640_000, 700_000),
        (700_000, 639_999, 639_999),
        (700_000, 760_000, 700_000),
        (700_000, 760_001, 760_001),
    ] {
        let expected = Verdict::Stale { why: Reason::LeaseOver, age_ms };
        assert_eq!(judge(&lease_after(by_wall, by_boot)), expected, "{by_boot}");
    }
}

#[test]
fn a_lease_of_an_earlier_boot_is_at_least_as_old_as_this_boot() {
    let lease = |boot: &str, by_wall: i64, up_ms: u64| {
        let mut evidence = lease_after(by_wall, 0);
        evidence.boot_ms = up_ms;
        if let Sidecar::Whole(record) = &mut evidence.sidecar {
            (record.boot_id, record.refreshed_boot_ms) = (Some(boot.into()), None);
        }
        evidence
    };
    check(&lease("earlier", 1000, 600_000), Reason::LeaseRuns, false);
    assert_eq!(judge(&lease("earlier", 1000, 600_001)), Verdict::Stale { why: Reason::LeaseOver, age_ms: 600_001 });
    check(&lease("this", 1000, 600_001), Reason::LeaseRuns, false);
    // The wall clock counts while it disagrees by no more than a minute.
    check(&lease("earlier", 540_001, 600_001), Reason::LeaseRuns, false);
    check(&lease("earlier", 540_000, 600_001), Reason::LeaseOver, true);
}

#[test]
fn a_watched_process_ends_a_lease_and_does_not_prolong_it() {
    let watched =
        |probe| Evidence { process: Some(probe), ..whole(LockKind::Lease, |record| record.pid_watched = true) };
    check(&watched(Probe::Gone), Reason::ProcessGone, true);
    check(&watched(Probe::Alive { start: 5 }), Reason::ProcessLives, false);
    check(&watched(Probe::Unknown), Reason::LeaseRuns, false);
    let unwatched = whole(LockKind::Lease, |_| {});
    for probe in [Probe::Gone, Probe::Alive { start: 5 }] {
        check(&Evidence { process: Some(probe), ..unwatched.clone() }, Reason::LeaseRuns, false);
    }
    let mut over = watched(Probe::Alive { start: 5 });
    (over.now, over.boot_ms) = (Timestamp(NOW + 600_001), 700_001);
    check(&over, Reason::LeaseOver, true);
    // S3.9: an age limit ends what is not proven alive.
    let limited = |probe| Evidence { max_age_ms: Some(999), ..watched(probe) };
    check(&limited(Probe::Alive { start: 5 }), Reason::ProcessLives, false);
    check(&limited(Probe::Unknown), Reason::TooOld, true);
}

#[test]
fn an_age_limit_spares_a_lease_with_a_time_of_its_own() {
    let mut evidence = whole(LockKind::Lease, |_| {});
    evidence.max_age_ms = Some(1000);
    check(&evidence, Reason::LeaseRuns, false);
    evidence.max_age_ms = Some(999);
    check(&evidence, Reason::TooOld, true);
    let mut own = whole(LockKind::Lease, |record| record.ttl_ms = Some(600_000));
    own.max_age_ms = Some(500);
    check(&own, Reason::LeaseRuns, false);
}

#[test]
fn a_foreign_lock_ends_by_its_expiry_or_by_age() {
    let foreign = |expires: Option<i64>, acquired: i64, modified: i64| {
        let mut evidence = whole(LockKind::Foreign, |record| {
            record.expires_at = expires.map(Timestamp);
            (record.acquired_at, record.refreshed_at) = (Some(Timestamp(acquired)), None);
            (record.refreshed_boot_ms, record.boot_id) = (None, None);
        });
        evidence.lock_modified = Timestamp(modified);
        evidence.sidecar_modified = Some(Timestamp(modified));
        evidence
    };
    check(&foreign(Some(NOW), NOW - 5, NOW - 5), Reason::LeaseRuns, false);
    check(&foreign(Some(NOW - 1), NOW - 5, NOW - 5), Reason::LeaseOver, true);
    check(&foreign(None, NOW - 600_001, NOW - 600_001), Reason::TooOld, true);
    check(&foreign(None, NOW - 600_001, NOW - 5), Reason::TooOld, true);
    check(&foreign(Some(NOW + 5), NOW - 600_001, NOW - 5), Reason::TooOld, true);
    check(&foreign(None, NOW - 600_000, NOW - 600_000), Reason::LeaseRuns, false);
    check(&foreign(None, NOW + 60_000, NOW - 600_001), Reason::LeaseRuns, false);
    check(&foreign(None, NOW + 60_001, NOW - 600_001), Reason::TooOld, true);
    // Both of its files were made within two seconds.
    let mut made = foreign(None, NOW - 600_001, NOW - 600_001);
    made.lock_modified.0 += 2000;
    check(&made, Reason::TooOld, true);
    // One of its files was touched since: it was refreshed, or the sidecar is that of an earlier lock.
    for refreshed in [
        |seen: &mut Evidence| seen.lock_modified.0 += 2001,
        |seen: &mut Evidence| {
            seen.sidecar_modified = Some(Timestamp(NOW - 5));
        },
    ] {
        let mut touched = foreign(None, NOW - 600_001, NOW - 600_001);
        refreshed(&mut touched);
        check(&touched, Reason::LeaseRuns, false);
    }
}

proptest! {
    #[test]
    fn a_kernel_lock_or_a_living_process_is_never_stale(
        now in any::<i64>(), boot in any::<u64>(), refreshed in any::<i64>(), expires in any::<i64>(), supervised in any::<bool>(),
    ) {
        let mut evidence = whole(LockKind::Task, |record| {
            record.refreshed_at = Some(Timestamp(refreshed));
            record.expires_at = Some(Timestamp(expires));
        });
        (evidence.now, evidence.boot_ms) = (Timestamp(now), boot);
        if supervised {
            evidence.kernel_lock = KernelLock::Supervisor;
        } else {
            evidence.process = Some(Probe::Alive { start: 5 });
        }
        let is_live = matches!(judge(&evidence), Verdict::Live { .. });
        prop_assert!(is_live);
    }
}

const LIVE: Verdict = Verdict::Live { why: Reason::SupervisorLives, overdue: false };
const STALE: Verdict = Verdict::Stale { why: Reason::LeaseOver, age_ms: 1 };
const REFUSED: Verdict = Verdict::Refused { why: Reason::ForeignOwner };

fn sessioned(kind: LockKind, holder: &str, session: Option<&str>) -> LockRecord {
    let who = Who { session: session.map(str::to_owned), ..Who::default() };
    LockRecord { task_id: Some(holder.to_owned()), who, ..record(kind) }
}

fn claimant(kind: LockKind, holder: &str) -> Claimant<'_> {
    Claimant { holder, kind, session: Some("s") }
}

#[test]
fn a_lease_is_refreshed_by_its_holder_and_a_session_by_its_key() {
    let stands = |claimant: Claimant<'_>, record: &LockRecord| {
        standing(&claimant, &Met { verdict: &LIVE, record: Some(record), named: None, to_recover: None })
    };
    let lease = sessioned(LockKind::Lease, "t1", None);
    assert_eq!(stands(claimant(LockKind::Lease, "t1"), &lease), Standing::Own);
    assert_eq!(stands(claimant(LockKind::Lease, "t2"), &lease), Standing::Living);
    assert_eq!(stands(claimant(LockKind::Process, "t1"), &lease), Standing::Living);
    let session = sessioned(LockKind::Session, "t1", Some("s"));
    assert_eq!(stands(claimant(LockKind::Session, "other"), &session), Standing::Own);
    let none = Claimant { session: None, ..claimant(LockKind::Session, "t1") };
    assert_eq!(stands(none, &sessioned(LockKind::Session, "t1", None)), Standing::Living);
}

#[test]
fn what_a_dead_claim_of_a_task_left_is_broken_by_its_next_one_only() {
    let own = sessioned(LockKind::Task, "task_7", None);
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
    let dead = sessioned(LockKind::Task, "task_7", None);
    let met = |to_recover| Met { verdict: &STALE, record: Some(&dead), named: None, to_recover };
    let lease = claimant(LockKind::Lease, "t1");
    assert_eq!(standing(&lease, &met(Some(TaskId(7)))), Standing::Dead(TaskId(7)));
    assert_eq!(standing(&lease, &met(None)), Standing::Breakable);
}
