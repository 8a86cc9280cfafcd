//! The JSON beside a lock file. Reads what other programs write with patience; writes the fields of the contract.

use crate::model::evidence::Sidecar;
use crate::model::who::{MOST_BYTES, MOST_SESSION_BYTES, clean};
use crate::model::{Fence, LaneName, LockKind, LockRecord, Timestamp, Who};
use crate::store::FORMAT_VERSION;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The largest sidecar read, in bytes.
pub const MAX_SIDECAR_BYTES: u64 = 64 * 1024;

/// What of a sidecar nobody has read yet. Of members with one name the last counts.
type Unread = BTreeMap<String, Value>;

#[derive(Serialize)]
struct SidecarFile<'a> {
    v: u64,
    user: Option<&'a str>,
    lane: String,
    lock_id: Option<&'a str>,
    task_id: Option<&'a str>,
    fence: Option<u64>,
    acquired_at: Option<String>,
    refreshed_at: Option<String>,
    expires_at: Option<String>,
    refreshed_boot_ms: Option<u64>,
    ttl_ms: Option<u64>,
    acquired_by_pid: Option<u32>,
    pid_start: Option<u64>,
    boot_id: Option<&'a str>,
    host: Option<&'a str>,
    pid_namespace: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid_namespace_init: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_namespace: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_start: Option<u64>,
    pid_watched: bool,
    supervised: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<u32>,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_by: Option<&'a str>,
    /// Absent where `extra` has those of another version.
    #[serde(skip_serializing_if = "Option::is_none")]
    borrowers: Option<[(); 0]>,
    #[serde(flatten)]
    extra: Option<Map<String, Value>>,
}

/// The sidecar of a lock, one line.
pub fn encode(lane: &LaneName, record: &LockRecord) -> Vec<u8> {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let extra: Option<Map<String, Value>> = record.extra.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let mut bytes = serde_json::to_vec(&SidecarFile {
        v: FORMAT_VERSION,
        user: lane.is_user().then(|| lane.key().as_str()),
        lane: lane.to_string(),
        lock_id: record.lock_id.as_deref(),
        task_id: record.task_id.as_deref(),
        fence: record.fence.map(|fence| fence.0),
        acquired_at: time(record.acquired_at),
        refreshed_at: time(record.refreshed_at),
        expires_at: time(record.expires_at),
        refreshed_boot_ms: record.refreshed_boot_ms,
        ttl_ms: record.ttl_ms,
        acquired_by_pid: record.pid,
        pid_start: record.pid_start,
        boot_id: record.boot_id.as_deref(),
        host: record.host.as_deref(),
        pid_namespace: record.pid_namespace,
        pid_namespace_init: record.pid_namespace_init,
        user_namespace: record.user_namespace,
        command_pid: record.command.map(|(pid, _)| pid),
        command_start: record.command.map(|(_, start)| start),
        pid_watched: record.pid_watched,
        supervised: record.is_supervised,
        value: record.value.as_deref(),
        set: record.set.as_deref(),
        cpus: record.cpus,
        kind: record.kind.word(),
        agent: record.who.agent.as_deref(),
        session: record.who.session.as_deref(),
        command: record.who.command.as_deref(),
        label: record.who.label.as_deref(),
        asked_by: record.who.asked_by.as_deref(),
        borrowers: extra.as_ref().is_none_or(|extra| !extra.contains_key("borrowers")).then_some([]),
        extra,
    })
    .expect("text keys and plain values make JSON");
    bytes.push(b'\n');
    bytes
}

/// Reads a sidecar. A record of one of luzia's kinds without its essential members is corrupt; in a record of another
/// program, a member of the wrong type counts as absent.
pub fn decode(bytes: &[u8]) -> Sidecar {
    let Ok(mut members) = serde_json::from_slice::<Unread>(bytes) else {
        return Sidecar::Corrupt;
    };
    let found = &mut members;
    if number(found, "v").is_some_and(|version| version > FORMAT_VERSION) {
        return Sidecar::Newer;
    }
    let kind = text(found, "kind").map_or(LockKind::Foreign, |word| LockKind::parse(&word));
    let mut record = LockRecord {
        lane: text(found, "lane").and_then(|lane| LaneName::parse(&lane).ok()),
        lock_id: text(found, "lock_id"),
        task_id: text(found, "task_id"),
        fence: number(found, "fence").map(Fence),
        acquired_at: moment(found, "acquired_at"),
        refreshed_at: moment(found, "refreshed_at"),
        expires_at: moment(found, "expires_at"),
        refreshed_boot_ms: number(found, "refreshed_boot_ms"),
        ttl_ms: number(found, "ttl_ms"),
        pid: number(found, "acquired_by_pid").and_then(plausible_pid),
        pid_start: number(found, "pid_start"),
        boot_id: text(found, "boot_id"),
        host: text(found, "host"),
        pid_namespace: number(found, "pid_namespace"),
        pid_namespace_init: number(found, "pid_namespace_init"),
        user_namespace: number(found, "user_namespace"),
        command: number(found, "command_pid").and_then(plausible_pid).zip(number(found, "command_start")),
        pid_watched: yes(found, "pid_watched"),
        is_supervised: yes(found, "supervised"),
        value: text(found, "value"),
        set: text(found, "set"),
        cpus: number(found, "cpus").and_then(|cpus| u32::try_from(cpus).ok()),
        kind,
        who: who(found),
        extra: None,
    };
    let is_whole =
        record.lock_id.is_some() && record.task_id.is_some() && record.fence.is_some() && record.acquired_at.is_some();
    if kind != LockKind::Foreign && !is_whole {
        return Sidecar::Corrupt;
    }
    // Those that say what others say, or nothing yet.
    members.retain(|name, value| name != "user" && (name != "borrowers" || !is_empty_list(value)));
    record.extra = (!members.is_empty()).then(|| Value::from_iter(members).to_string());
    Sidecar::Whole(Box::new(record))
}

/// What a record says of its holder. A member that is no text, as one of another program, stays among those that nobody knows.
fn who(members: &mut Unread) -> Who {
    let mut take = |name: &str, most: usize| {
        let text = clean(members.get(name)?.as_str()?, most);
        members.remove(name);
        text
    };
    Who {
        agent: take("agent", MOST_BYTES),
        session: take("session", MOST_SESSION_BYTES),
        command: take("command", MOST_BYTES),
        label: take("label", MOST_BYTES),
        asked_by: take("asked_by", MOST_SESSION_BYTES),
    }
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

fn text(members: &mut Unread, name: &str) -> Option<String> {
    match members.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn number(members: &mut Unread, name: &str) -> Option<u64> {
    members.remove(name)?.as_u64()
}

fn yes(members: &mut Unread, name: &str) -> bool {
    members.remove(name).and_then(|value| value.as_bool()).unwrap_or(false)
}

fn moment(members: &mut Unread, name: &str) -> Option<Timestamp> {
    time(&members.remove(name)?)
}

/// A pid that may belong to a process; 0, 1 and what no kernel gives are nobody's.
fn plausible_pid(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|pid| (2..=i32::MAX.unsigned_abs()).contains(pid))
}

/// A moment as other programs write it: RFC 3339, the same without a zone (taken as UTC), or seconds since 1970.
fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => Timestamp::parse(text)
            .or_else(|| Timestamp::parse(&format!("{text}Z")))
            .or_else(|| Timestamp::parse(&format!("{}Z", text.replacen(' ', "T", 1)))),
        Value::Number(number) => {
            let seconds = number.as_f64().filter(|seconds| seconds.is_finite() && seconds.abs() < 1e12)?;
            #[expect(clippy::cast_possible_truncation, reason = "below 1e15, checked on the line before")]
            let at = Timestamp((seconds * 1000.0) as i64);
            (Timestamp::FIRST..=Timestamp::LAST).contains(&at).then_some(at)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
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
        let Sidecar::Whole(record) = decode(text.as_bytes()) else { panic!("it is whole") };
        let lane = LaneName::parse("user:a").expect("a lane");
        let written: Value = serde_json::from_slice(&encode(&lane, &record)).expect("it reads");
        assert_eq!(written["borrowers"], serde_json::json!([{ "task": "task_2", "fence": 8 }]));
        let plain = LockRecord { extra: None, ..*record };
        let written: Value = serde_json::from_slice(&encode(&lane, &plain)).expect("it reads");
        assert_eq!(written["borrowers"], serde_json::json!([]));
    }

    #[test]
    fn a_sidecar_reads_back() {
        let lane = LaneName::parse("user:alice").expect("a lane");
        let bytes = encode(&lane, &record());
        assert_eq!(decode(&bytes), Sidecar::Whole(Box::new(record())));
    }

    #[test]
    fn a_record_of_before_says_nothing_of_its_holder_and_odd_members_are_kept() {
        let text = r#"{"v":1,"lane":"user:a","lock_id":"task_1_1","task_id":"task_1","fence":7,
            "acquired_at":"2026-01-01T00:00:00Z","kind":"task","command":["make"],"agent":7,"label":" a\u001bb "}"#;
        let Sidecar::Whole(record) = decode(text.as_bytes()) else { panic!("it is whole") };
        assert_eq!(record.who, Who { label: Some("a\\u{1b}b".into()), ..Who::default() });
        assert_eq!(record.extra.as_deref(), Some(r#"{"agent":7,"command":["make"]}"#));
        let lane = LaneName::parse("user:a").expect("a lane");
        assert_eq!(decode(&encode(&lane, &record)), Sidecar::Whole(record));
    }

    #[test]
    fn an_old_sidecar_of_another_program_reads() {
        let old = br#"{"user":"alice","lock_id":"task_123_1768005905","task_id":"task_123","acquired_at":"2024-01-09T15:30:45.123456",
            "acquired_by_pid":-1,"expires_at":1704817845.5}"#;
        let sidecar = decode(old);
        let read = sidecar.record().expect("it reads");
        assert_eq!((read.kind, read.pid), (LockKind::Foreign, None));
        assert_eq!(read.acquired_at, Timestamp::parse("2024-01-09T15:30:45.123Z"));
        assert_eq!(read.expires_at, Some(Timestamp(1_704_817_845_500)));
    }

    #[test]
    fn of_two_members_with_one_name_the_last_counts() {
        let twice = br#"{"x":1,"lock_id":"a","pid_start":5,"y":2,"lock_id":"b","pid_start":"no","x":3,"task_id":7}"#;
        let sidecar = decode(twice);
        let read = sidecar.record().expect("it reads");
        assert_eq!((read.lock_id.as_deref(), read.pid_start, read.task_id.as_deref()), (Some("b"), None, None));
        assert_eq!(read.extra.as_deref(), Some(r#"{"x":3,"y":2}"#));
    }

    #[test]
    fn what_is_not_a_record_is_corrupt() {
        for bytes in ["", "[]", "{", "null", "{\"kind\":\"task\"}", "{\"kind\":\"lease\",\"lock_id\":5}"] {
            assert_eq!(decode(bytes.as_bytes()), Sidecar::Corrupt, "{bytes}");
        }
        assert_eq!(decode(b"{\"v\":2}"), Sidecar::Newer);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }

        #[test]
        fn no_pid_that_must_not_be_signalled_is_read(pid in any::<i64>()) {
            let sidecar = decode(format!("{{\"acquired_by_pid\":{pid}}}").as_bytes());
            let read = sidecar.record().expect("it reads").pid;
            prop_assert!(read.is_none_or(|read| read > 1 && i64::from(read) == pid));
        }
    }
}
