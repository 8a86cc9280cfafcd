//! Task records: JSON on disk, `model::Task` in memory. Members that this version does not know are kept.

use crate::model::context::recorded;
use crate::model::queue::is_digest;
use crate::model::task::granted::MOST_FENCE;
use crate::model::task::terms::MOST_SLOTS;
use crate::model::task::{Environment, TaskVersion};
use crate::model::time::MAX_DURATION_MS;
use crate::model::{LaneName, Name, NamedSandbox, Task, loan};
use crate::store::{FORMAT_VERSION, MAX_RECORD_BYTES, Result, StoreError, json_object};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The part of a record that is read.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// All members of the record.
    Whole,
    /// All that decides about a task and describes it. The members that only its start needs are most of a record.
    Description(&'a KnownMembers),
}

/// The members that only the start of a task needs, which `Part::Description` leaves out; last the one that many records have in
/// common.
pub const OF_A_START: [&str; 4] = ["env", "env_hex", "limits", "sandbox"];

/// The members [`OF_A_START`] of earlier records, for those that read the descriptions of many records.
#[derive(Clone, Default)]
pub(crate) struct KnownMembers(Arc<Mutex<Members>>);

#[derive(Default)]
struct Members {
    /// The sandboxes by their texts, so that those of many records are parsed and named once.
    sandboxes: HashMap<String, Option<Arc<NamedSandbox>>>,
    /// The members of the record that was read last, each as a name and as its whole text with the comma before it; and its
    /// sandbox. A further record of the same request has the same ones.
    last: (Vec<(String, String)>, Option<Arc<NamedSandbox>>),
    /// The sandbox of the task that was read last, with its name once that was needed.
    shared: Option<Arc<NamedSandbox>>,
}

/// Number of sandboxes that are remembered at once.
const MOST_SANDBOXES: usize = 1000;

impl KnownMembers {
    fn members(&self) -> MutexGuard<'_, Members> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces a sandbox by an equal one of the task that was read last: to compare two costs less than to name one.
    pub fn share(&self, sandbox: &mut Arc<NamedSandbox>) {
        let mut members = self.members();
        match &members.shared {
            Some(last) if last == sandbox => *sandbox = Arc::clone(last),
            Some(_) | None => members.shared = Some(Arc::clone(sandbox)),
        }
    }

    /// Reads a record like the one that was read last: one that has the same members. `None` for any other record.
    fn parse_like_last(&self, text: &str) -> Option<Task> {
        let members = self.members();
        let (last, sandbox) = &members.last;
        let task: Task = serde_json::from_str(&json_object::without(text, last)?).ok()?;
        let is_like_last = task.sandbox.is_none() && task.limits.is_none();
        is_like_last.then(|| Task { env: Environment::Unread, sandbox: sandbox.clone(), ..task })
    }

    fn parse(&self, text: &str) -> serde_json::Result<Task> {
        let (task, texts) = json_object::apart::<Task, _>(text, OF_A_START)?;
        let [.., sandbox] = texts;
        let mut members = self.members();
        let sandbox = sandbox.map(|text| members.sandbox(text.get())).transpose()?.flatten();
        let with_comma = |(name, text): (&str, Option<&RawValue>)| {
            let name = format!(",\"{name}\":");
            Some((name.clone(), name + text?.get()))
        };
        members.last = (OF_A_START.into_iter().zip(texts).filter_map(with_comma).collect(), sandbox.clone());
        Ok(Task { env: Environment::Unread, sandbox, ..task })
    }
}

impl Members {
    fn sandbox(&mut self, text: &str) -> serde_json::Result<Option<Arc<NamedSandbox>>> {
        if let Some(sandbox) = self.sandboxes.get(text) {
            return Ok(sandbox.clone());
        }
        let sandbox = recorded::deserialize(&mut serde_json::Deserializer::from_str(text))?;
        if self.sandboxes.len() >= MOST_SANDBOXES {
            self.sandboxes.clear();
        }
        self.sandboxes.insert(text.to_owned(), sandbox.clone());
        Ok(sandbox)
    }
}

/// Bytes for most records.
const USUAL_BYTES: usize = 4096;

/// The record of a task as one line, as it is written.
pub fn encode_task(task: &Task) -> Result<Vec<u8>> {
    encode_line("task record", task)
}

/// A record as one line, which is no longer than the limit for reading.
pub(crate) fn encode_line<T: Serialize>(path: &str, record: &T) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut bytes, record).map_err(|error| StoreError::corrupt(path, error.to_string()))?;
    bytes.push(b'\n');
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_RECORD_BYTES {
        return Err(StoreError::TooLarge { bytes: bytes.len() });
    }
    Ok(bytes)
}

/// A record in indented lines, for people.
pub(crate) fn encode_pretty<T: Serialize>(path: &str, record: &T) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(record).map_err(|error| StoreError::corrupt(path, error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a task record. `user` is the user of the record's lane, for records that name none.
pub fn decode_task(path: &str, bytes: &[u8], user: Option<&Name>) -> Result<Task> {
    decode_named(path, bytes, Part::Whole, || user.cloned()).map(|(task, _)| task)
}

/// Reads a part of a task record like [`decode_task`], and returns whether the record itself names its user.
pub(crate) fn decode_named(
    path: &str,
    bytes: &[u8],
    part: Part,
    user: impl FnOnce() -> Option<Name>,
) -> Result<(Task, bool)> {
    let (task, names_user) = match json_object::text(bytes).and_then(|text| parsed(text, part)) {
        Ok(task) => (task, true),
        Err(error) => {
            (of_user(path, bytes, user().as_ref())?.ok_or_else(|| newer_or_corrupt(path, bytes, &error))?, false)
        }
    };
    if task.v == TaskVersion::Granted && task.terms.granted.is_none() {
        return Err(StoreError::Newer { thing: path.into(), version: TaskVersion::GRANTED });
    }
    settled(task).map(|task| (task, names_user)).map_err(|why| StoreError::corrupt(path, why))
}

fn parsed(text: &str, part: Part) -> serde_json::Result<Task> {
    match part {
        Part::Whole => serde_json::from_str(text),
        Part::Description(known) => known.parse_like_last(text).map_or_else(|| known.parse(text), Ok),
    }
}

/// The record of a task that names no user, with `user` filled in; `None` when the record lacks something else.
fn of_user(path: &str, bytes: &[u8], user: Option<&Name>) -> Result<Option<Task>> {
    let Ok(mut members) = json_object::read::<Map<String, Value>>(bytes) else { return Ok(None) };
    if members.get("user").is_some_and(|user| !user.is_null()) {
        return Ok(None);
    }
    members.insert("user".to_owned(), user.map_or("nobody", Name::as_str).into());
    let task: Option<Task> = serde_json::from_value(Value::Object(members)).ok();
    match (task, user) {
        (Some(_), None) => Err(StoreError::corrupt(path, "it names no user")),
        (task, _) => Ok(task),
    }
}

/// The error for a record that cannot be parsed: a record of a newer version, which may have any form, or a damaged one.
pub(crate) fn newer_or_corrupt(path: &str, bytes: &[u8], error: &serde_json::Error) -> StoreError {
    let version =
        serde_json::from_slice::<Map<String, Value>>(bytes).ok().and_then(|members| members.get("v")?.as_u64());
    match version {
        Some(version) if version > FORMAT_VERSION => StoreError::Newer { thing: path.into(), version },
        _ => StoreError::corrupt(path, error.to_string()),
    }
}

/// A task as it was read, with its members in order and consistent with each other.
pub(crate) fn settled(mut task: Task) -> std::result::Result<Task, String> {
    task.lanes = lanes_of(task.lanes, &task.user)?;
    task.umask &= 0o777;
    task.share = task.share.filter(|share| is_digest(share));
    // A group begins with its first task, so none of its tasks is older.
    task.group = task.group.filter(|group| group.first <= task.id);
    task.terms.slot_count = task.terms.slot_count.filter(|count| *count != 1);
    if task.comes_after.is_empty() {
        task.comes_after.clone_from(&task.after);
    }
    if let Some(last) = task.stepwise.as_mut().and_then(|stepwise| stepwise.last.as_mut()) {
        last.result.retain(|c| c != '\0');
    }
    check(&task)?;
    check_terms(&task)?;
    Ok(task)
}

/// The further lanes in canonical order, without repeats, however the record lists them: a task that wants one lane twice
/// could never get it.
fn lanes_of(mut lanes: Vec<LaneName>, user: &Name) -> std::result::Result<Vec<LaneName>, String> {
    let own = LaneName::user(user);
    lanes.retain(|lane| *lane != own && !lane.is_global());
    lanes.sort_unstable();
    lanes.dedup();
    match lanes.iter().find(|lane| lane.is_user()) {
        Some(other) => Err(format!("it takes the lane of a second user, \"{other}\"")),
        None => Ok(lanes),
    }
}

/// Refuses the values that `enqueue` refuses, so that no other code has to handle them.
fn check(task: &Task) -> std::result::Result<(), String> {
    let is_name = |text: &Option<String>| text.as_deref().is_none_or(|text| Name::new(text).is_ok());
    let is_path = |path: &str| path.starts_with('/') && !path.contains('\0');
    first_wrong(&[
        (task.command.first().is_none_or(String::is_empty), "it has no command"),
        (task.command.iter().any(|argument| argument.contains('\0')), "an argument of its command holds NUL"),
        (!is_name(&task.key), "its key is not a name"),
        (!is_name(&task.run_as), "its account is not a name"),
        (!task.takes_user_lane && task.lanes.is_empty(), "it takes no lane"),
        (!is_path(&task.cwd), "its working directory is not an absolute path"),
        (!is_path(&task.conductor_dir), "its conductor directory is not an absolute path"),
        (task.after.contains(&task.id) || task.comes_after.contains(&task.id), "it comes after itself"),
        (task.grace_ms.max(task.timeout_ms.unwrap_or(0)) > MAX_DURATION_MS, "a time limit is longer than 100 years"),
    ])
}

/// Refuses terms and steps that `enqueue` refuses.
fn check_terms(task: &Task) -> std::result::Result<(), String> {
    let terms = &task.terms;
    if terms.slot_count.is_some_and(|count| count == 0 || count > MOST_SLOTS) {
        return Err(format!("its number of slots is not one of 1 to {MOST_SLOTS}"));
    }
    let longest = terms.backoff_ms.max(terms.most_backoff_ms).unwrap_or(0);
    let has_nul = |line: &Option<String>| line.as_deref().is_some_and(|line| line.contains('\0'));
    first_wrong(&[
        (longest > MAX_DURATION_MS, "a pause between its attempts is longer than 100 years"),
        (terms.warn_after_ms.unwrap_or(0) > MAX_DURATION_MS, "its wait is told after more than 100 years"),
        (has_nul(&terms.on_finish), "its last command holds NUL"),
        (has_nul(&terms.on_wait), "the command of its warning holds NUL"),
    ])?;
    check_grants(task)?;
    let Some(steps) = &task.stepwise else { return Ok(()) };
    first_wrong(&[
        (steps.most == 0 || steps.per_run == 0, "its steps are bounded by 0"),
        (steps.actions.iter().any(|argv| argv.first().is_none_or(String::is_empty)), "a step has no command"),
        (steps.actions.iter().flatten().any(|word| word.contains('\0')), "an argument of a step holds NUL"),
    ])
}

/// Refuses grants that no claim could take: a lane has as many granted slots as the task takes of it, or none.
pub(crate) fn check_grants(task: &Task) -> std::result::Result<(), String> {
    let Some(granted) = &task.terms.granted else { return Ok(()) };
    let mut places: Vec<(&LaneName, u32)> = granted.slots.iter().map(|slot| (&slot.lane, slot.slot)).collect();
    places.sort_unstable();
    let lanes = task.all_lanes();
    let of = |lane: &LaneName| u32::try_from(task.granted_in(lane).count()).unwrap_or(u32::MAX);
    first_wrong(&[
        (task.v != TaskVersion::Granted, "it has grants in a record of version 1"),
        (places.windows(2).any(|pair| pair[0] == pair[1]), "a slot is granted to it twice"),
        (places.iter().any(|(lane, _)| !lanes.contains(lane) || lane.is_global()), "a grant names a lane not its own"),
        (
            lanes.iter().any(|lane| ![0, task.slots_of(lane)].contains(&of(lane))),
            "a lane has too few or too many grants",
        ),
        (places.iter().any(|(_, slot)| loan::is_loan(*slot)), "a granted slot is beyond the slots of a lane"),
        (
            granted.slots.iter().any(|slot| slot.fence.0 == 0 || slot.fence > MOST_FENCE),
            "the fence of a grant is invalid",
        ),
    ])
}

fn first_wrong(checks: &[(bool, &str)]) -> std::result::Result<(), String> {
    match checks.iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, why)) => Err((*why).to_owned()),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests;
