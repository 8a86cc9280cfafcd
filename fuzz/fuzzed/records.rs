//! Records on disk: a valid record keeps the rules of the model, and reads back after it was written again.

use super::text;
use crate::model::evidence::Sidecar;
use crate::model::task::terms::MOST_SLOTS;
use crate::model::task::{EndState, Environment};
use crate::model::time::MAX_DURATION_MS;
use crate::model::{LaneName, LockKind, Name, Task, TaskId, Timestamp};
use crate::policy::analytics::record::Record;
use crate::policy::analytics::trace::Tracer;
use crate::policy::fair::Ledger;
use crate::store;
use crate::store::files::disk::counter::CounterLine;
use crate::store::files::running::{self, decode_pause};
use crate::store::{Event, KnownMembers, Part, conductor, decode_named, decode_task, encode_task, journal};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Whether the bytes are a JSON object whose every value can be held.
pub(super) fn is_object(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(bytes).is_ok()
}

/// Whether the bytes are a JSON object by the grammar. A number in an ignored member may be too large for every type.
pub(super) fn is_object_by_form(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .is_ok_and(|text| serde_json::from_str::<BTreeMap<String, serde::de::IgnoredAny>>(text).is_ok())
}

/// The record of a task.
pub fn task(bytes: &[u8]) {
    let bob = Name::new("bob").expect("a name");
    let read = decode_task("x", bytes, None);
    let of_bob = decode_task("x", bytes, Some(&bob));
    let Ok(task) = read else {
        // Only the user may have been missing.
        assert!(of_bob.is_err() || of_bob.is_ok_and(|task| task.user == bob));
        return;
    };
    assert_eq!(of_bob.ok().as_ref(), Some(&task), "a record that names its user keeps it");
    assert!(is_object_by_form(bytes), "{}", text(bytes));
    check_task(&task);
    let known = KnownMembers::default();
    // The second time it is a record like the last one.
    for _ in 0..2 {
        let seen = decode_named("x", bytes, Part::Description(&known), || None).ok().map(|(seen, _)| seen);
        assert_eq!(seen, Some(Task { env: Environment::Unread, limits: None, ..task.clone() }), "{}", text(bytes));
    }
    match encode_task(&task) {
        Ok(written) => {
            assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
            assert_eq!(decode_task("x", &written, None).ok().as_ref(), Some(&task), "{}", text(&written));
            assert!(serde_json::to_string(&conductor::Meta { task: &task, lock_released: false }).is_ok());
        }
        // Escapes may make the written record longer than the input.
        Err(_) => assert!(bytes.len() > 100_000, "what reads can be written"),
    }
}

/// The rules of `model::task`.
fn check_task(task: &Task) {
    let lanes = task.all_lanes();
    assert!(lanes.is_sorted() || task.lanes.is_sorted(), "canonical order");
    assert!(lanes.iter().enumerate().all(|(at, lane)| !lanes[..at].contains(lane)), "a lane twice: {lanes:?}");
    assert_eq!(lanes.iter().filter(|lane| lane.is_user()).count(), 1, "one user");
    for lane in &lanes {
        let most = if lane.is_capacity_lane() { MOST_SLOTS } else { 1 };
        assert!((1..=most).contains(&task.slots_of(lane)), "{} of {lane}", task.slots_of(lane));
    }
    assert!(!task.command.is_empty() && !task.command[0].is_empty());
    assert!(task.command.iter().all(|argument| !argument.contains('\0')));
    assert!(task.cwd.starts_with('/') && task.conductor_dir.starts_with('/'));
    assert!(task.key.as_deref().is_none_or(|key| Name::new(key).is_ok()));
    assert!(task.id.0 > 0 && !task.after.contains(&task.id) && task.umask <= 0o777);
    assert!(task.grace_ms <= MAX_DURATION_MS && task.timeout_ms.unwrap_or(0) <= MAX_DURATION_MS);
    assert_eq!(task.outcome().map(|outcome| outcome.end), EndState::of(task.status()));
    assert!(task.env.iter().all(|(key, value)| !key.is_empty() && !key.contains(&b'=') && !value.contains(&0)));
}

/// The sidecar of a lock: of luzia, of another program, of an older luzia.
pub fn sidecar(bytes: &[u8]) {
    let read = store::files::locks::sidecar::decode(bytes, None);
    let Sidecar::Whole(record) = read else {
        assert!(!is_object(bytes) || bytes.contains(&b'v') || bytes.contains(&b'k') || bytes.contains(&b'\\'));
        return;
    };
    assert!(is_object(bytes), "{}", text(bytes));
    assert!(record.pid.is_none_or(|pid| pid > 1 && i32::try_from(pid).is_ok()), "{record:?}");
    if record.kind != LockKind::Foreign {
        assert!(record.lock_id.is_some() && record.task_id.is_some());
        assert!(record.fence.is_some() && record.acquired_at.is_some());
    }
    for at in [record.acquired_at, record.refreshed_at, record.expires_at].into_iter().flatten() {
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at), "a moment that reads can be written");
    }
    let lane = record.lane.clone().unwrap_or_else(LaneName::global);
    let mut same = record;
    same.lane = Some(lane.clone());
    let written = store::files::locks::sidecar::encode(&lane, &same, None);
    assert_eq!(store::files::locks::sidecar::decode(&written, None), Sidecar::Whole(same), "{}", text(&written));
}

/// A foreign `meta.json`: its claims are its members, and every member is kept.
pub fn meta(bytes: &[u8]) {
    let Some(members) = conductor::decode_members(bytes) else {
        assert!(!is_object(bytes));
        return;
    };
    let claim = conductor::claim_of("d".into(), "active", members.clone(), 1000);
    let told = |name: &str| members.get(name).cloned().unwrap_or(Value::Null);
    for (name, value) in
        [("id", &claim.id), ("status", &claim.status), ("user", &claim.user), ("lock_id", &claim.lock_id)]
    {
        assert!(value.as_ref().is_none_or(|value| told(name) == **value), "{name}");
    }
    assert!(claim.fence.is_none_or(|fence| told("fence") == fence));
    assert_eq!(claim.lock_released, told("lock_released") == true);
    let written = serde_json::to_vec_pretty(&claim.members).expect("JSON");
    assert_eq!(conductor::decode_members(&written), Some(members));
}

/// The line of a guard's fence and of the sequence: it has one spelling, and no number is past the announced one.
pub fn counter(bytes: &[u8]) {
    for input in [bytes.to_vec(), with_sum(bytes)] {
        if let Some(line) = CounterLine::parse(&input) {
            assert_eq!(line.to_bytes(), input, "one spelling");
            assert!(line.next <= line.pending.max(line.reserved));
        }
    }
}

/// The bytes as the body of a counter's line, with the checksum that no fuzzer finds.
fn with_sum(body: &[u8]) -> Vec<u8> {
    [body, format!(" {:08x}\n", crc32fast::hash(body)).as_bytes()].concat()
}

/// A line of events, and an event with any text.
pub fn event(bytes: &[u8]) {
    if let Some(read) = journal::decode(bytes) {
        assert_eq!(Timestamp::parse(read.line["at"].as_str().expect("a time")), Some(read.at));
        assert_eq!(journal::decode(read.line.to_string().as_bytes()).as_ref(), Some(&read));
        if let Some(record) = Record::of(read.at, &read.line) {
            assert_eq!(record.json()["kind"], read.line["event"]);
            drop(Tracer::new("host").take(&record));
        }
    }
    let said = text(bytes);
    let at = Timestamp(i64::try_from(bytes.len()).expect("a length").saturating_mul(997_003)).min(Timestamp::LAST);
    let event = Event { task: Some(TaskId(7)), user: Some(said.clone()), ..Event::new("pruned") };
    let line = journal::encode(&event.saying(said.clone()).with(said.clone().into()), &at.to_string(), 5, 6);
    assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "one line");
    let read = journal::decode(line.trim_end().as_bytes()).expect("it reads");
    assert_eq!((read.at, &read.line["user"], &read.line["message"]), (at, &said.clone().into(), &said.clone().into()));
    assert_eq!((&read.line["data"], &read.line["task"]), (&said.into(), &"task_7".into()));
}

/// `started.json`.
pub fn started(bytes: &[u8]) {
    let Some(started) = running::decode_started(bytes) else { return };
    assert!(is_object_by_form(bytes), "{}", text(bytes));
    let written = running::encode_started(&started).expect("JSON");
    assert_eq!(running::decode_started(&written), Some(started));
}

/// `cancel.json`: any bytes are a request, and its grace is at most the longest duration.
pub fn cancel(bytes: &[u8]) {
    let request = running::decode_cancel(bytes);
    assert!(request.grace_ms.is_none_or(|ms| ms <= MAX_DURATION_MS));
    assert!(is_object_by_form(bytes) || request.by == "unknown", "{}", text(bytes));
    let written = serde_json::to_vec(&request).expect("JSON");
    assert_eq!(running::decode_cancel(&written), request);
}

/// `pause.json`: any bytes are a pause, and a pause reads back after it was written.
pub fn pause(bytes: &[u8]) {
    let read = decode_pause(bytes);
    assert!(is_object_by_form(bytes) || read.until.is_none(), "{}", text(bytes));
    let written = serde_json::to_vec(&read).expect("JSON");
    assert_eq!(decode_pause(&written), read);
}

/// The ledger of fair share: a torn ledger is refused, and a whole one reads back after it was written.
pub fn ledger(bytes: &[u8]) {
    let Some(ledger) = Ledger::from_text(&text(bytes)) else { return };
    let written = ledger.to_text();
    assert_eq!(Ledger::from_text(&written).as_ref(), Some(&ledger));
    let cut = written.len() - 1;
    assert_eq!(Ledger::from_text(&written[..cut]), None, "its last byte is missing");
}

/// `control.json`: the settings of run time.
pub fn control(bytes: &[u8]) {
    use crate::store::files::disk::control_record::{decode_control, encode_control};
    let Ok((read, extra)) = decode_control("x", bytes) else { return };
    assert!(is_object(bytes), "{}", text(bytes));
    let written = encode_control(&read, extra.clone()).expect("what reads can be written");
    assert_eq!(decode_control("x", &written).ok(), Some((read, extra)), "{}", text(&written));
}
