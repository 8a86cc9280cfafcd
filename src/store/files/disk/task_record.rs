//! Task records: JSON on disk, `model::Task` in memory. Members that this version does not know are kept.

use crate::model::calendar::SlotOf;
use crate::model::queue::is_digest;
use crate::model::task::{Environment, Start};
use crate::model::time::MAX_DURATION_MS;
use crate::model::who::{MOST_BYTES, MOST_SESSION_BYTES, clean};
use crate::model::{Agent, Identity, LaneName, Name, Priority, Task, TaskId, Timestamp};
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::context_record::{
    LimitsFile, SandboxFile, decode_limits, decode_sandbox, encode_limits, encode_sandbox, is_true, yes,
};
use crate::store::files::disk::hold_record::{HoldFile, decode_task_hold, encode_task_hold, time};
use crate::store::files::disk::json_object;
use crate::store::files::disk::state_record::{OutcomeFile, encode_outcome, state_of};
use crate::store::files::disk::stepwise_record::{StepwiseFile, decode_stepwise, encode_stepwise};
use crate::store::files::disk::terms_record::{TermsFile, decode_terms, encode_terms};
use crate::store::files::disk::wait_record::{WaitFile, encode_wait};
use crate::store::{FORMAT_VERSION, MAX_RECORD_BYTES};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
struct TaskFile<'a> {
    v: u64,
    id: String,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lanes: Vec<String>,
    /// `false` for a task that takes named lanes only.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    user_lane: bool,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    sandbox: Option<SandboxFile>,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    limits: Option<LimitsFile>,
    priority: u8,
    command: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdin: Option<String>,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    stdin_of: Option<ProcessFile>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pty: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default)]
    env: TextPairs<'a>,
    /// Pairs that are not UTF-8, as hex digits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    env_hex: Vec<(String, String)>,
    cwd: String,
    #[serde(default = "default_umask")]
    umask: u32,
    conductor_dir: String,
    #[serde(default, skip_serializing_if = "is_false")]
    conductor_configured: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_as: Option<String>,
    created_at: String,
    #[serde(default)]
    created_by_pid: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    waited_for: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    no_inherit: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    ends_with_parent: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    share: Option<String>,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    stepwise: Option<StepwiseFile>,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    wait: Option<WaitFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slot: Option<String>,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    hold: Option<HoldFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was_in: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_at: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    comes_after: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(default = "default_grace")]
    grace_ms: u64,
    #[serde(default)]
    retries: u32,
    #[serde(default)]
    failures: u32,
    #[serde(default)]
    starts: u32,
    #[serde(default)]
    claims: u32,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    last_start: Option<StartFile>,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeFile>,
    #[serde(flatten)]
    terms: TermsFile,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct StartFile {
    at: String,
    lock_id: String,
    fence: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    slots: BTreeMap<String, String>,
}

fn default_umask() -> u32 {
    0o022
}

fn default_grace() -> u64 {
    crate::model::task::DEFAULT_GRACE_MS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A process, with the same members as in a sidecar.
#[derive(Serialize, Deserialize)]
struct ProcessFile {
    pid: u32,
    pid_start: u64,
    boot_id: String,
}

impl ProcessFile {
    fn of(process: &Identity) -> Self {
        Self { pid: process.pid, pid_start: process.start, boot_id: process.boot_id.clone() }
    }

    fn process(self) -> Identity {
        Identity { pid: self.pid, start: self.pid_start, boot_id: self.boot_id }
    }
}

/// The record of a task as it is written, one line.
pub fn encode_task(task: &Task) -> Result<Vec<u8>> {
    let time = |at: &Option<Timestamp>| at.map(|at| at.to_string());
    let (env, env_hex) = encode_env(&task.env);
    let file = TaskFile {
        v: FORMAT_VERSION,
        id: task.id.to_string(),
        status: task.status().word().to_owned(),
        user: Some(task.user.to_string()),
        project: task.project.as_ref().map(Name::to_string),
        lanes: task.lanes.iter().map(LaneName::to_string).collect(),
        user_lane: task.takes_user_lane,
        sandbox: task.sandbox.as_ref().map(|named| encode_sandbox(named.sandbox())),
        limits: task.limits.as_ref().map(encode_limits),
        priority: task.priority.number(),
        command: task.command.clone(),
        stdin: task.stdin.clone(),
        stdin_of: task.stdin_of.as_ref().map(ProcessFile::of),
        pty: task.has_terminal,
        label: task.label.clone(),
        asked_by: task.asked_by.clone(),
        agent: task.agent.as_ref().map(|agent| agent.name.clone()),
        session: task.agent.as_ref().and_then(|agent| agent.session.clone()),
        key: task.key.clone(),
        env,
        env_hex,
        cwd: task.cwd.clone(),
        umask: task.umask,
        conductor_dir: task.conductor_dir.clone(),
        conductor_configured: task.conductor_configured,
        run_as: task.run_as.clone(),
        created_at: task.created_at.to_string(),
        created_by_pid: task.created_by_pid,
        parent: task.parent.map(|id| id.to_string()),
        waited_for: task.waited_for,
        no_inherit: task.no_inherit,
        ends_with_parent: task.ends_with_parent,
        goal: task.goal.clone(),
        share: task.share.clone(),
        stepwise: task.stepwise.as_ref().map(encode_stepwise),
        wait: task.wait().map(encode_wait),
        schedule: task.schedule.as_ref().map(|of| of.schedule.to_string()),
        slot: task.schedule.as_ref().map(|of| of.slot.to_string()),
        hold: task.hold.as_ref().map(encode_task_hold),
        was_in: task.was_in.clone(),
        due_at: time(&task.due_at),
        after: task.after.iter().map(TaskId::to_string).collect(),
        comes_after: task.comes_after.iter().map(TaskId::to_string).collect(),
        start_by: time(&task.start_by),
        timeout_ms: task.timeout_ms,
        grace_ms: task.grace_ms,
        retries: task.retries,
        failures: task.failures,
        starts: task.starts,
        claims: task.claims,
        last_start: task.last_start.as_ref().map(encode_start),
        outcome: task.outcome().map(encode_outcome),
        terms: encode_terms(&task.terms),
        extra: task.extra.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
    };
    let mut bytes = serde_json::to_vec(&file).map_err(|error| StoreError::corrupt("task record", error.to_string()))?;
    bytes.push(b'\n');
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_RECORD_BYTES {
        return Err(StoreError::TooLarge { bytes: bytes.len() });
    }
    Ok(bytes)
}

/// Reads a task record. `user` is the user of the lane in which it stands, for records that name none.
pub fn decode_task(path: &str, bytes: &[u8], user: Option<&Name>) -> Result<Task> {
    decode_named(path, bytes, user).map(|(task, _)| task)
}

/// Reads a task record like [`decode_task`], and tells whether the record itself names its user.
pub(crate) fn decode_named(path: &str, bytes: &[u8], user: Option<&Name>) -> Result<(Task, bool)> {
    let read = json_object::text(bytes).and_then(serde_json::from_str);
    let file: TaskFile<'static> = read.map_err(|error| newer_or_corrupt(path, bytes, &error))?;
    match file.v {
        FORMAT_VERSION => {}
        0 => return Err(StoreError::corrupt(path, "there was no version 0")),
        version => return Err(StoreError::Newer { thing: path.into(), version }),
    }
    let names_user = file.user.is_some();
    task_of(file, user).map(|task| (task, names_user)).map_err(|why| StoreError::corrupt(path, why))
}

/// Tells a record of a newer version, which may look different altogether, from a damaged one.
pub(crate) fn newer_or_corrupt(path: &str, bytes: &[u8], error: &serde_json::Error) -> StoreError {
    let version =
        serde_json::from_slice::<Map<String, Value>>(bytes).ok().and_then(|members| members.get("v")?.as_u64());
    match version {
        Some(version) if version > FORMAT_VERSION => StoreError::Newer { thing: path.into(), version },
        _ => StoreError::corrupt(path, error.to_string()),
    }
}

fn task_of(file: TaskFile, default_user: Option<&Name>) -> std::result::Result<Task, String> {
    let name = |text: &str| Name::new(text).map_err(|error| error.to_string());
    let user = match (&file.user, default_user) {
        (Some(user), _) => name(user)?,
        (None, Some(user)) => user.clone(),
        (None, None) => return Err("it names no user".into()),
    };
    let task_id = |text: &String| TaskId::parse(text).ok_or_else(|| format!("\"{text}\" is not a task id"));
    let task_ids = |texts: &[String]| texts.iter().map(task_id).collect::<std::result::Result<Vec<TaskId>, String>>();
    let after = task_ids(&file.after)?;
    let comes_after = if file.comes_after.is_empty() { after.clone() } else { task_ids(&file.comes_after)? };
    let id = task_id(&file.id)?;
    let task = Task {
        id,
        state: state_of(&file.status, file.wait, file.outcome)?,
        takes_user_lane: file.user_lane,
        lanes: lanes_of(&file.lanes, &user)?,
        sandbox: file.sandbox.map(decode_sandbox),
        limits: file.limits.map(decode_limits),
        user,
        project: file.project.as_deref().map(name).transpose()?,
        priority: Priority::new(file.priority).ok_or("its priority is not one of 0 to 9")?,
        command: file.command,
        stdin: file.stdin,
        stdin_of: file.stdin_of.map(ProcessFile::process),
        has_terminal: file.pty,
        label: file.label,
        asked_by: file.asked_by.as_deref().and_then(|key| clean(key, MOST_SESSION_BYTES)),
        agent: agent_of(file.agent, file.session),
        key: file.key,
        env: decode_env(file.env, &file.env_hex)?,
        cwd: file.cwd,
        umask: file.umask & 0o777,
        conductor_dir: file.conductor_dir,
        conductor_configured: file.conductor_configured,
        run_as: file.run_as,
        created_at: time(&file.created_at)?,
        created_by_pid: file.created_by_pid,
        // What does not read is no link, and no reason to set the task aside.
        parent: file.parent.as_deref().and_then(TaskId::parse),
        waited_for: file.waited_for,
        no_inherit: file.no_inherit,
        ends_with_parent: file.ends_with_parent,
        goal: file.goal,
        share: file.share.filter(|share| is_digest(share)),
        stepwise: file.stepwise.map(decode_stepwise).transpose()?,
        schedule: slot_of(file.schedule, file.slot),
        hold: file.hold.map(decode_task_hold).transpose()?,
        was_in: file.was_in,
        due_at: file.due_at.as_deref().map(time).transpose()?,
        after,
        comes_after,
        start_by: file.start_by.as_deref().map(time).transpose()?,
        timeout_ms: file.timeout_ms,
        grace_ms: file.grace_ms,
        retries: file.retries,
        failures: file.failures,
        starts: file.starts,
        claims: file.claims,
        last_start: file.last_start.map(decode_start).transpose()?,
        terms: decode_terms(file.terms, id)?,
        extra: (!file.extra.is_empty()).then(|| Value::Object(file.extra).to_string()),
    };
    check(&task)?;
    Ok(task)
}

fn agent_of(name: Option<String>, session: Option<String>) -> Option<Agent> {
    let name = clean(&name?, MOST_BYTES)?;
    Some(Agent { name, session: session.and_then(|key| clean(&key, MOST_SESSION_BYTES)) })
}

/// The schedule of a task. What does not read is a note that is lost, and no reason to set the task aside.
fn slot_of(schedule: Option<String>, slot: Option<String>) -> Option<SlotOf> {
    Some(SlotOf { schedule: Name::new(&schedule?).ok()?, slot: Timestamp::parse(&slot?)? })
}

/// The further lanes in canonical order, without repeats, however the record lists them: a lane that is wanted twice
/// would keep the task from ever having it.
fn lanes_of(texts: &[String], user: &Name) -> std::result::Result<Vec<LaneName>, String> {
    let own = LaneName::user(user);
    let read = texts.iter().map(|lane| LaneName::parse(lane).map_err(|error| error.to_string()));
    let mut lanes = read.collect::<std::result::Result<Vec<LaneName>, String>>()?;
    lanes.retain(|lane| *lane != own && !lane.is_global());
    lanes.sort();
    lanes.dedup();
    match lanes.iter().find(|lane| lane.is_user()) {
        Some(other) => Err(format!("it takes the lane of a second user, \"{other}\"")),
        None => Ok(lanes),
    }
}

/// Refuses what `enqueue` refuses, so that nothing else has to reckon with it.
fn check(task: &Task) -> std::result::Result<(), String> {
    let is_name = |text: &Option<String>| text.as_deref().is_none_or(|text| Name::new(text).is_ok());
    let is_path = |path: &str| path.starts_with('/') && !path.contains('\0');
    let wrong = [
        (task.command.first().is_none_or(String::is_empty), "it has no command"),
        (task.command.iter().any(|argument| argument.contains('\0')), "an argument of its command holds NUL"),
        (!is_name(&task.key), "its key is not a name"),
        (!is_name(&task.run_as), "its account is not a name"),
        (!task.takes_user_lane && task.lanes.is_empty(), "it takes no lane"),
        (!is_path(&task.cwd), "its working directory is not an absolute path"),
        (!is_path(&task.conductor_dir), "its conductor directory is not an absolute path"),
        (task.after.contains(&task.id) || task.comes_after.contains(&task.id), "it comes after itself"),
        (task.grace_ms.max(task.timeout_ms.unwrap_or(0)) > MAX_DURATION_MS, "a time limit is longer than 100 years"),
    ];
    match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, why)) => Err(why.to_owned()),
        None => Ok(()),
    }
}

fn encode_start(start: &Start) -> StartFile {
    let Start { at, lock_id, fence, slots } = start;
    StartFile { at: at.to_string(), lock_id: lock_id.clone(), fence: *fence, slots: slots.clone() }
}

fn decode_start(file: StartFile) -> std::result::Result<Start, String> {
    Ok(Start { at: time(&file.at)?, lock_id: file.lock_id, fence: file.fence, slots: file.slots })
}

type TextPairs<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

fn encode_env(env: &[(Vec<u8>, Vec<u8>)]) -> (TextPairs<'_>, Vec<(String, String)>) {
    let (mut plain, mut hex) = (Vec::new(), Vec::new());
    for (key, value) in env {
        match (std::str::from_utf8(key), std::str::from_utf8(value)) {
            (Ok(key), Ok(value)) => plain.push((key.into(), value.into())),
            _ => hex.push((to_hex(key), to_hex(value))),
        }
    }
    (plain, hex)
}

fn decode_env(plain: TextPairs<'_>, hex: &[(String, String)]) -> std::result::Result<Environment, String> {
    let bytes = |text: Cow<'_, str>| text.into_owned().into_bytes();
    let mut env: Vec<_> = plain.into_iter().map(|(key, value)| (bytes(key), bytes(value))).collect();
    for (key, value) in hex {
        env.push((from_hex(key)?, from_hex(value)?));
    }
    let bad = |(key, value): &(Vec<u8>, Vec<u8>)| {
        key.is_empty() || key.contains(&b'=') || key.contains(&0) || value.contains(&0)
    };
    if env.iter().any(bad) { Err("its environment has an impossible variable".into()) } else { Ok(env.into()) }
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn from_hex(text: &str) -> std::result::Result<Vec<u8>, String> {
    let wrong = || format!("\"{}\" is not hexadecimal", text.chars().take(40).collect::<String>());
    if !text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) || !text.len().is_multiple_of(2)
    {
        return Err(wrong());
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| wrong())).collect()
}

#[cfg(test)]
pub(crate) mod tests;
