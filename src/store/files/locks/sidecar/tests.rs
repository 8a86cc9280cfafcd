//! Sidecars as luzia writes them and as others do.

use super::*;
use proptest::prelude::*;

fn record() -> LockRecord {
    LockRecord {
        lane: LaneName::parse("user:alice").ok(),
        lock_id: Some("task_3_1768005905".into()),
        task_id: Some("task_3".into()),
        fence: Some(Fence(12)),
        acquired_at: Some(Timestamp(1_768_005_905_120)),
        refreshed_at: Some(Timestamp(1_768_005_905_120)),
        expires_at: Some(Timestamp(1_768_009_505_120)),
        refreshed_boot_ms: Some(5),
        ttl_ms: None,
        pid: Some(4242),
        pid_start: Some(99),
        boot_id: Some("b".into()),
        host: Some("h".into()),
        pid_namespace: Some(1),
        pid_namespace_init: Some(7),
        user_namespace: Some(2),
        command: Some((4243, 100)),
        ended: Some(Timestamp(1_768_005_906_000)),
        pid_watched: false,
        is_supervised: true,
        value: Some("emulator-5556".into()),
        set: Some("me_1.4.5".into()),
        cpus: Some(3),
        kind: LockKind::Task,
        who: Who { agent: Some("codex".into()), command: Some("make".into()), ..Who::default() },
        extra: Some("{\"x\":1}".into()),
    }
}

#[test]
fn borrowers_survive_being_read_and_written() {
    let text = r#"{"v":1,"user":"a","lane":"user:a","lock_id":"task_1_1","task_id":"task_1","fence":7,
        "acquired_at":"2026-01-01T00:00:00Z","kind":"task","borrowers":[{"task":"task_2","fence":8}]}"#;
    let Sidecar::Whole(record) = decode(text.as_bytes(), None) else { panic!("it is whole") };
    let lane = LaneName::parse("user:a").expect("a lane");
    let written: Value = serde_json::from_slice(&encode(&lane, &record, None)).expect("it reads");
    assert_eq!(written["borrowers"], serde_json::json!([{ "task": "task_2", "fence": 8 }]));
    let plain = LockRecord { extra: None, ..*record };
    let written: Value = serde_json::from_slice(&encode(&lane, &plain, None)).expect("it reads");
    assert_eq!(written["borrowers"], serde_json::json!([]));
}

#[test]
fn a_sidecar_reads_back() {
    let lane = LaneName::parse("user:alice").expect("a lane");
    let bytes = encode(&lane, &record(), None);
    assert_eq!(decode(&bytes, None), Sidecar::Whole(Box::new(record())));
}

#[test]
fn a_record_that_was_copied_with_its_directory_names_no_process_and_a_lease_keeps_its_time() {
    let [here, there] = [1, 2].map(|inode| RootId { device: 7, inode });
    let lane = LaneName::parse("user:alice").expect("a lane");
    for (kind, watched, rests) in [
        (LockKind::Task, false, true),
        (LockKind::Process, false, true),
        (LockKind::Session, false, true),
        (LockKind::Lease, true, true),
        (LockKind::Lease, false, false),
    ] {
        let record = LockRecord { kind, pid_watched: watched, ..record() };
        let bytes = encode(&lane, &record, Some(there));
        for own in [Some(there), None] {
            assert_eq!(decode(&bytes, own), Sidecar::Whole(Box::new(record.clone())), "{kind:?}");
        }
        let Sidecar::Whole(copied) = decode(&bytes, Some(here)) else { panic!("it is whole") };
        assert_eq!((copied.pid, copied.pid_start, copied.command), (None, None, None), "{kind:?}");
        assert_eq!(copied.boot_id.as_deref(), Some(if rests { OTHER_ROOT } else { "b" }), "{kind:?}");
    }
}

#[test]
fn a_record_of_before_says_nothing_of_its_holder_and_odd_members_are_kept() {
    let text = r#"{"v":1,"lane":"user:a","lock_id":"task_1_1","task_id":"task_1","fence":7,
        "acquired_at":"2026-01-01T00:00:00Z","kind":"task","command":["make"],"agent":7,"label":" a\u001bb "}"#;
    let Sidecar::Whole(record) = decode(text.as_bytes(), None) else { panic!("it is whole") };
    assert_eq!(record.who, Who { label: Some("a\\u{1b}b".into()), ..Who::default() });
    assert_eq!(record.extra.as_deref(), Some(r#"{"agent":7,"command":["make"]}"#));
    let lane = LaneName::parse("user:a").expect("a lane");
    assert_eq!(decode(&encode(&lane, &record, None), None), Sidecar::Whole(record));
}

#[test]
fn an_old_sidecar_of_another_program_reads() {
    let old = br#"{"user":"alice","lock_id":"task_123_1768005905","task_id":"task_123","acquired_at":"2024-01-09T15:30:45.123456",
        "acquired_by_pid":-1,"expires_at":1704817845.5}"#;
    let sidecar = decode(old, None);
    let read = sidecar.record().expect("it reads");
    assert_eq!((read.kind, read.pid), (LockKind::Foreign, None));
    assert_eq!(read.acquired_at, Timestamp::parse("2024-01-09T15:30:45.123Z"));
    assert_eq!(read.expires_at, Some(Timestamp(1_704_817_845_500)));
}

#[test]
fn of_two_members_with_one_name_the_last_counts() {
    let twice = br#"{"x":1,"lock_id":"a","pid_start":5,"y":2,"lock_id":"b","pid_start":"no","x":3,"task_id":7}"#;
    let sidecar = decode(twice, None);
    let read = sidecar.record().expect("it reads");
    assert_eq!((read.lock_id.as_deref(), read.pid_start, read.task_id.as_deref()), (Some("b"), None, None));
    assert_eq!(read.extra.as_deref(), Some(r#"{"x":3,"y":2}"#));
}

#[test]
fn what_is_not_a_record_is_corrupt() {
    for bytes in ["", "[]", "{", "null", "{\"kind\":\"task\"}", "{\"kind\":\"lease\",\"lock_id\":5}"] {
        assert_eq!(decode(bytes.as_bytes(), None), Sidecar::Corrupt, "{bytes}");
    }
    assert_eq!(decode(b"{\"v\":2}", None), Sidecar::Newer);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes, None);
    }

    #[test]
    fn no_pid_that_must_not_be_signalled_is_read(pid in any::<i64>()) {
        let sidecar = decode(format!("{{\"acquired_by_pid\":{pid}}}").as_bytes(), None);
        let read = sidecar.record().expect("it reads").pid;
        prop_assert!(read.is_none_or(|read| read > 1 && i64::from(read) == pid));
    }
}
