//! The JSON beside a lock file. Reads the sidecars of other programs with tolerance; writes the fields of the contract.

use crate::model::process::OTHER_ROOT;
use crate::model::record::{Members, Version};
use crate::model::sorted::sort_by;
use crate::model::who::{MOST_BYTES, MOST_SESSION_BYTES, clean};
use crate::model::{Fence, LaneName, LockKind, LockRecord, RootId, Sidecar, Timestamp, Who};
use crate::store::FORMAT_VERSION;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The largest sidecar read, in bytes.
pub const MAX_SIDECAR_BYTES: u64 = 64 * 1024;

/// Number of sidecars that a process remembers. Most tasks hold two or three locks.
const MOST_REMEMBERED: usize = 8;

/// The bytes of a sidecar, the state directory of the reader, and the record.
type Remembered = (Vec<u8>, Option<RootId>, Box<LockRecord>);

/// The sidecars that this process read last. A file with the same bytes is not parsed again.
#[derive(Clone, Default)]
pub(crate) struct Parsed(Arc<Mutex<VecDeque<Remembered>>>);

impl Parsed {
    /// Like [`decode`].
    pub(crate) fn sidecar(&self, bytes: Vec<u8>, own: Option<RootId>) -> Sidecar {
        let mut parsed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., record)) = parsed.iter().find(|(known, root, _)| *known == bytes && *root == own) {
            return Sidecar::Whole(record.clone());
        }
        let sidecar = decode(&bytes, own);
        if let Sidecar::Whole(record) = &sidecar {
            parsed.truncate(MOST_REMEMBERED - 1);
            parsed.push_front((bytes, own, record.clone()));
        }
        sidecar
    }
}

/// Members of a sidecar, in the order of their names, each with its value until that is read. Of members with one name the
/// last counts.
struct Unread<'a>(Vec<(Cow<'a, str>, Option<Value>)>);

impl<'a> Unread<'a> {
    fn of(bytes: &'a [u8]) -> serde_json::Result<Self> {
        let mut members: Vec<(Cow<str>, Option<Value>)> =
            serde_json::from_slice::<Members>(bytes)?.0.into_iter().map(|(name, value)| (name, Some(value))).collect();
        // The sort keeps the order of equal names, and each takes the place of the one before it.
        sort_by(&mut members, |one, other| one.0.cmp(&other.0));
        members.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = next.1.take();
            }
            is_same
        });
        Ok(Self(members))
    }

    fn member(&mut self, name: &str) -> Option<&mut Option<Value>> {
        let at = self.0.binary_search_by(|(other, _)| (**other).cmp(name)).ok()?;
        Some(&mut self.0[at].1)
    }

    fn remove(&mut self, name: &str) -> Option<Value> {
        self.member(name)?.take()
    }
}

#[derive(Serialize)]
struct SidecarFile<'a> {
    v: Version,
    user: Option<&'a str>,
    lane: &'a LaneName,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<RootId>,
    #[serde(flatten)]
    record: &'a LockRecord,
    /// Absent if `extra` has the borrowers of another version.
    #[serde(skip_serializing_if = "Option::is_none")]
    borrowers: Option<[(); 0]>,
    #[serde(flatten)]
    extra: Option<Map<String, Value>>,
}

/// The sidecar of a lock in the state directory `root`, one line.
pub fn encode(lane: &LaneName, record: &LockRecord, root: Option<RootId>) -> Vec<u8> {
    let extra: Option<Map<String, Value>> = record.extra.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let mut bytes = serde_json::to_vec(&SidecarFile {
        v: Version,
        user: lane.is_user().then(|| lane.key().as_str()),
        lane,
        root,
        record,
        borrowers: extra.as_ref().is_none_or(|extra| !extra.contains_key("borrowers")).then_some([]),
        extra,
    })
    .expect("text keys and plain values make JSON");
    bytes.push(b'\n');
    bytes
}

/// Reads a sidecar. A record of one of luzia's kinds without its essential members is corrupt; in a record of another
/// program, a member of the wrong type counts as absent. `own` is the state directory: in a copy of another directory, a
/// record of the other one names no process.
pub fn decode(bytes: &[u8], own: Option<RootId>) -> Sidecar {
    let Ok(mut members) = Unread::of(bytes) else {
        return Sidecar::Corrupt;
    };
    let found = &mut members;
    if number(found, "v").is_some_and(|version| version > FORMAT_VERSION) {
        return Sidecar::Newer;
    }
    let root = text(found, "root").and_then(|root| RootId::parse(&root));
    let kind = text(found, "kind").and_then(|word| LockKind::parse(&word)).unwrap_or_default();
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
        ended: moment(found, "command_ended_at"),
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
    if own.zip(root).is_some_and(|(own, root)| own != root) {
        disown(&mut record);
    }
    // Members that repeat other members, or are still empty.
    let unread = members.0.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let others = unread.filter(|(name, value)| name != "user" && (name != "borrowers" || !is_empty_list(value)));
    let others: Map<String, Value> = others.map(|(name, value)| (name.into_owned(), value)).collect();
    record.extra = (!others.is_empty()).then(|| Value::Object(others).to_string());
    Sidecar::Whole(Box::new(record))
}

/// Removes the processes from a record that was copied with its state directory. A lease that depends on no process keeps its
/// time.
fn disown(record: &mut LockRecord) {
    if record.rests_on_process() {
        record.boot_id = Some(OTHER_ROOT.to_owned());
    }
    (record.pid, record.pid_start, record.command) = (None, None, None);
}

/// The holder as a record describes it. A member that is no text, as one of another program, stays among the unknown ones.
fn who(members: &mut Unread<'_>) -> Who {
    let mut take = |name: &str, most: usize| {
        let member = members.member(name)?;
        let text = clean(member.as_ref()?.as_str()?, most);
        *member = None;
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

fn text(members: &mut Unread<'_>, name: &str) -> Option<String> {
    match members.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn number(members: &mut Unread<'_>, name: &str) -> Option<u64> {
    members.remove(name)?.as_u64()
}

fn yes(members: &mut Unread<'_>, name: &str) -> bool {
    members.remove(name).and_then(|value| value.as_bool()).unwrap_or(false)
}

fn moment(members: &mut Unread<'_>, name: &str) -> Option<Timestamp> {
    time(&members.remove(name)?)
}

/// A pid that may belong to a process; not 0, 1 or a number that no kernel gives.
fn plausible_pid(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|pid| (2..=i32::MAX.unsigned_abs()).contains(pid))
}

/// A moment in the spellings of other programs: RFC 3339, the same without a zone (taken as UTC), or seconds since 1970.
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
mod tests;
