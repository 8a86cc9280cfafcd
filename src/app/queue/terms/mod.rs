//! Terms that few requests use: conditions on other tasks, work that is not done twice, groups, and the meaning of an attempt.
//! `terms_of` reads them. `check_dependencies` checks the tasks that a new task comes after, and `env_of` gives its variables.
//! `join_group` puts it into its group (`--group`). `with_ruled_lanes` adds the lanes that a task takes because there is a rule
//! for its project or its goal (S2.F2, S3.F1). `check_slots` checks `--slots`: several slots of each capacity lane of a task, all
//! of them or none. `key_of` makes the key of a command by its subject (`--key @tree`), so that the same work runs once.
//! `Surroundings::subject` takes the digest of the subject, which tells whether it moved meanwhile (`--stable`).

pub mod moments;
pub(super) mod reuse;

use super::idempotency::enqueue_keyed;
use crate::app::admission::lenders_if_waited;
use crate::app::config_reload::{config, follow_control};
use crate::app::fleet::lanes::rules;
use crate::app::granted::new_number;
use crate::app::lifecycle::Accepted;
use crate::app::lifecycle::change_waiting;
use crate::app::names::Surroundings;
use crate::app::query::lanes::RULED;
use crate::app::queue::enqueue::{Caller, LOADER_VARIABLES, accept, name};
use crate::app::queue::terms::moments::positive;
use crate::app::{App, AppError, Code, Kind, config_reload, lane_word};
use crate::model::name::{hex, shortened};
use crate::model::task::terms::{FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, MOST_SLOTS};
use crate::model::task::{Environment, Group, OF_ONE_REPOSITORY, Terms, Wanted};
use crate::model::{Config, LaneName, Name, Status, Task, TaskId, ThingKind};
use crate::policy::admission::narrow;
use crate::policy::requests::{Met, OpenGroup, joined, met};
use crate::request::TaskRequest;
use crate::request::values::OnConflict;
use crate::store::{Event, KeySlot, Place};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The longest command of `--on-finish`, in bytes.
const MOST_COMMAND_BYTES: usize = 64 * 1024;

/// Number of retries of each step of a task that names no number (X19).
const STEP_RETRIES: u32 = 3;

/// The retries of a task that names no number: 3 for each step of one that was queued, else none.
pub(crate) fn default_retries(new: &TaskRequest) -> u32 {
    let has_steps = new.stepwise || new.steps.is_some();
    if has_steps && !new.is_run { STEP_RETRIES } else { 0 }
}

/// Whether a line of a batch is accepted by itself, because data under its number is looked up and written for it.
pub(crate) fn stands_alone(task: &Task, new: &TaskRequest) -> bool {
    task.key.is_some() || new.group.is_some() || new.reuse.is_some() || task.terms.granted.is_some()
}

/// The terms of a task, and its key. Its group is known only when it has a number.
pub(crate) fn terms_of(
    app: &App,
    new: &TaskRequest,
    command: &[String],
    cwd: &str,
) -> Result<(Terms, Option<String>), AppError> {
    let needs_subject = new.stable || new.key.as_deref() == Some(TREE_KEY);
    if new.fresh.is_some() && new.on_conflict != Some(OnConflict::Join) {
        return Err(AppError::usage("--fresh is for --on-conflict join"));
    }
    if let Some(text) = &new.group {
        name("group", text)?;
    }
    if let Some(text) = &new.reuse {
        reuse::goal_of(text, new.goal.as_deref())?;
    }
    let Config { backoff_ms, most_backoff_ms, on_interrupt, .. } = *config(app);
    let terms = Terms {
        after_any: tasks_named(app, &new.after_any)?,
        after_failed: tasks_named(app, &new.after_failed)?,
        due_boot: moments::due_by_boot_clock(app, new)?,
        subject: needs_subject.then(|| app.surroundings.subject(cwd)).transpose()?,
        is_stable: new.stable,
        backoff_ms: unusual(positive("backoff", new.backoff.as_deref())?.unwrap_or(backoff_ms), FIRST_BACKOFF_MS),
        most_backoff_ms: unusual(
            positive("max-backoff", new.max_backoff.as_deref())?.unwrap_or(most_backoff_ms),
            LONGEST_BACKOFF_MS,
        ),
        on_interrupt: new.on_interrupt.unwrap_or(on_interrupt),
        on_finish: new.on_finish.clone(),
        warn_after_ms: positive("warn-after", new.warn_after.as_deref())?,
        on_wait: new.on_wait.clone(),
        slot_count: count_of(new.slots)?,
        message: new.message.clone(),
        channel: new.channel.clone(),
        log_sample: new.log_sample.as_deref().map(sample).transpose()?,
        ..Terms::default()
    };
    for (option, line) in [("on-finish", &terms.on_finish), ("on-wait", &terms.on_wait)] {
        if line.as_deref().is_some_and(|line| line.contains('\0') || line.len() > MOST_COMMAND_BYTES) {
            return Err(AppError::usage(format!("a command of --{option} has at most {MOST_COMMAND_BYTES} bytes")));
        }
    }
    let key = key_of(new, command, cwd, terms.subject.as_deref())?;
    Ok((terms, key))
}

/// Accepts a task by itself, under a number of its own or by its key.
pub(crate) fn accept_alone(app: &App, mut task: Task, new: &TaskRequest) -> Result<Accepted, AppError> {
    if task.key.is_some() {
        return enqueue_keyed(app, task, new);
    }
    task.id = new_number(app, task.parent)?;
    let _group = prepare_terms(app, &mut task, new)?;
    accept(app, std::slice::from_ref(&task))?;
    Ok(Accepted { task, created: true })
}

/// Prepares a task that has its number and is not accepted yet. The returned slot keeps others out of its group until its record
/// is stored.
pub(crate) fn prepare_terms<'a>(
    app: &'a App,
    task: &mut Task,
    new: &TaskRequest,
) -> Result<Option<KeySlot<'a>>, AppError> {
    reuse::reuse(app, task, new)?;
    join_group(app, task, new)
}

/// Reports tasks that other tasks have requested (S2.34).
pub(crate) fn note_children(app: &App, tasks: &[Task]) {
    let spawned = |task: &Task| {
        let data = json!({ "child": task.id.to_string(), "parent": task.parent?.to_string() });
        Some(Event::of("spawned", task).with(data))
    };
    if tasks.iter().any(|task| task.parent.is_some()) {
        app.store.note_all(&mut tasks.iter().filter_map(spawned));
    }
}

/// A value that is not the usual one: records have the others only.
fn unusual(value: u64, usual: u64) -> Option<u64> {
    (value != usual).then_some(value)
}

/// Refuses a task that says it borrows lanes, unless it is a child for which a process waits (S0.19).
pub(crate) fn check_inherit(new: &TaskRequest, parent: Option<TaskId>, is_waited_for: bool) -> Result<(), AppError> {
    if !new.inherit || parent.is_some() && is_waited_for {
        return Ok(());
    }
    let why = if parent.is_some() { "nobody waits for it (--wait)" } else { "it is no child (--parent)" };
    Err(AppError::new(Code::NoLoan, format!("the task cannot borrow the lanes of a parent: {why}"))
        .hint("without --inherit it waits for its lanes in the queue; nothing was queued"))
}

/// Reads a share, from 0 to 1, as parts of a million.
fn sample(text: &str) -> Result<u32, AppError> {
    let wrong = || {
        AppError::usage(format!("--log-sample {}: the range is 0 to 1", text.escape_default()))
            .hint("--log-sample 0.1 logs one of ten")
    };
    let share: f64 = text.parse().map_err(|_| wrong())?;
    if !(0.0..=1.0).contains(&share) {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000,000")]
    Ok((share * 1_000_000.0).round() as u32)
}

/// The tasks of a list of arguments.
fn tasks_named(app: &App, texts: &[String]) -> Result<Vec<TaskId>, AppError> {
    texts.iter().map(|text| app.task_id(text)).collect()
}

/// Every task that a request comes after, whatever end it asks for.
pub(crate) fn all_before(app: &App, new: &TaskRequest) -> Result<Vec<TaskId>, AppError> {
    let mut all = Vec::new();
    for texts in [&new.after, &new.after_any, &new.after_failed] {
        let ids = tasks_named(app, texts)?;
        if let Some(twice) = ids.iter().find(|id| all.contains(*id)) {
            let message = format!("{twice} is named in two of --after, --after-any and --after-failed");
            return Err(AppError::usage(message).hint("--after-any starts the task however the other one ends"));
        }
        all.extend(ids);
    }
    Ok(all)
}

/// Checks the tasks that a new task comes after. An unknown task is refused, and so is a task that ended in another way
/// than wanted. A task that ended as wanted needs no wait.
pub(crate) fn check_dependencies(app: &App, task: &mut Task) -> Result<(), AppError> {
    let mut open = Vec::new();
    task.comes_after = std::mem::take(&mut task.after);
    for id in task.comes_after.iter().copied() {
        let other = app.existing(id)?;
        match met(task.wanted(id), Some(other.status())) {
            Met::Yes => {}
            Met::NotYet => open.push(id),
            Met::Never => return Err(never(&other, task.wanted(id))),
        }
    }
    task.after = open;
    Ok(())
}

fn never(other: &Task, wanted: Wanted) -> AppError {
    let id = other.id;
    if wanted == Wanted::Failed {
        let why = if other.status() == Status::Completed { "so it did not fail" } else { "which is no failure" };
        return AppError::usage(format!("{id} is {}, {why}, and the task could never start", other.status()))
            .hint("--after-any starts a task however the other one ended")
            .next(format!("luzia show {id}"));
    }
    AppError::usage(format!("{id} is {}, so nothing can come after it", other.status()))
        .hint("retry it first, or leave --after out")
        .next(format!("luzia retry {id}"))
}

/// The variables of a task that runs in the directory `cwd`: those of its caller, and those that it is given.
pub(crate) fn env_of(app: &App, new: &TaskRequest, caller: &Caller, cwd: &str) -> Result<Environment, AppError> {
    // As paths, so that `DIR/.` is `DIR`.
    let is_here = caller.cwd.as_ref().is_ok_and(|here| Path::new(here) == Path::new(cwd));
    let stays = |(key, _): &(Vec<u8>, Vec<u8>)| is_here || !OF_ONE_REPOSITORY.iter().any(|name| name.as_bytes() == key);
    if new.env.is_empty() && caller.env.iter().all(stays) {
        return Ok(caller.env.clone());
    }
    let mut env: Vec<_> = caller.env.iter().filter(|pair| stays(pair)).cloned().collect();
    for pair in &new.env {
        let form = "write --env NAME=VALUE";
        let (key, value) = pair.split_once('=').ok_or_else(|| bad_env(pair, "it has no `=`").hint(form))?;
        let head = key.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        if !head || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(bad_env(
                pair,
                "a variable's name is made of letters, digits and `_`, and begins with no digit",
            )
            .hint(form));
        }
        if value.contains('\0') {
            return Err(bad_env(pair, "a value cannot hold NUL").hint("pass such a value in a file"));
        }
        if key.starts_with("LUZIA_") {
            return Err(bad_env(pair, "luzia sets the variables that begin with LUZIA_ itself")
                .hint("choose a name that does not begin with LUZIA_"));
        }
        if LOADER_VARIABLES.contains(&key) && !config(app).allow_loader_env {
            return Err(bad_env(pair, "this variable changes how programs load")
                .hint("\"allow_loader_env\": true in the configuration permits it"));
        }
        env.retain(|(other, _)| other != key.as_bytes());
        env.push((key.as_bytes().to_vec(), value.as_bytes().to_vec()));
    }
    Ok(env.into())
}

fn bad_env(pair: &str, why: &str) -> AppError {
    AppError::usage(format!("\"--env {}\" is refused: {why}", shortened(pair.split('=').next().unwrap_or_default())))
}

/// Puts a task that has its number into the group it asks for: a group belongs to one session, that of its first task. The
/// returned slot keeps others out of the group until the record of the task is stored.
pub(crate) fn join_group<'a>(
    app: &'a App,
    task: &mut Task,
    new: &TaskRequest,
) -> Result<Option<KeySlot<'a>>, AppError> {
    let Some(text) = &new.group else { return Ok(None) };
    let group = name("group", text)?;
    let mut slot = app.store.enter_group(task, &group)?;
    let members = slot.holders()?;
    let open = match (members.first(), members.last()) {
        (Some(last), Some(first)) => {
            Some(OpenGroup { first: *first, last: *last, count: u32::try_from(members.len()).unwrap_or(u32::MAX) })
        }
        _ => None,
    };
    let last = open.map(|open| app.store.find(open.last)).transpose()?.flatten();
    let last = last.filter(|(place, _)| *place != Place::Done).map(|(_, last)| last);
    let open = joined(open, last.is_some(), task.id);
    if let Some(last) = last.filter(|_| open.first != task.id) {
        task.share = last.share;
    }
    let kept = members.len().min(usize::try_from(open.count - 1).unwrap_or(usize::MAX));
    slot.note(&[&[task.id], &members[..kept]].concat())?;
    task.group = Some(Group { name: group, first: open.first });
    Ok(Some(slot))
}

/// Number of waiting tasks that get a lane when a rule is set.
const MOST_CHANGED: usize = 10_000;

/// Adds the lanes `project:NAME` and `goal:NAME` to those that a task names, if there is a rule for such a lane.
pub(crate) fn with_ruled_lanes(
    app: &App,
    mut lanes: Vec<LaneName>,
    project: Option<&Name>,
    goal: Option<&str>,
) -> Result<Vec<LaneName>, AppError> {
    if project.is_some() || goal.is_some() {
        config_reload::follow_control(app)?;
    }
    let config = config_reload::config(app);
    for (kind, key) in RULED.into_iter().zip([project.map(Name::as_str), goal]) {
        let Some(key) = key else { continue };
        let means = |rule: &str| rule.strip_suffix('*').map_or(rule == key, |head| key.starts_with(head));
        if config.lanes.keys().filter_map(|rule| rule.strip_prefix(kind)?.strip_prefix(':')).any(means) {
            let lane = LaneName::new(kind, name(kind, key)?).map_err(|error| AppError::usage(error.to_string()))?;
            lanes.push(lane);
        }
    }
    lanes.sort_unstable();
    lanes.dedup();
    Ok(lanes)
}

/// Puts waiting tasks into the lanes of their projects and goals; returns their number. One that starts meanwhile goes on
/// without.
pub fn give_ruled_lanes(app: &App) -> Result<usize, AppError> {
    if !app.store.has_layout()? {
        return Ok(0);
    }
    let with = |task: &Task| with_ruled_lanes(app, task.lanes.clone(), task.project.as_ref(), task.goal.as_deref());
    // `doctor` reports a damaged record.
    let waiting = app.store.pending_tasks(None)?.flatten();
    let lacks: Vec<Task> =
        waiting.filter(|task| with(task).is_ok_and(|lanes| lanes != task.lanes)).take(MOST_CHANGED).collect();
    let changed = |task: &Task| Ok(Task { lanes: with(task)?, ..task.clone() });
    Ok(lacks.iter().filter(|task| change_waiting(app, task.id, "edited", changed).is_ok()).count())
}

/// Number of slots that a request asks for, if that is more than one.
pub(crate) fn count_of(asked: Option<u32>) -> Result<Option<u32>, AppError> {
    match asked {
        Some(count) if count == 0 || count > MOST_SLOTS => {
            let message = format!("--slots {count}: the range is 1 to {MOST_SLOTS}");
            Err(AppError::new(Code::BadSlots, message).hint("without --slots a task takes one slot"))
        }
        other => Ok(other.filter(|count| *count > 1)),
    }
}

/// Refuses a task of several slots that could not have them by the rules of now.
pub(crate) fn check_slots(app: &App, task: &Task) -> Result<(), AppError> {
    let Some(count) = task.terms.slot_count else { return Ok(()) };
    if !task.lanes.iter().any(LaneName::is_capacity_lane) {
        return Err(AppError::new(Code::BadSlots, format!("--slots {count} names no lane that has slots"))
            .with_kind(Kind::No)
            .hint("name the lane as well, as in -l build --slots 2; a user, a thread or a session has one place"));
    }
    follow_control(app)?;
    let limit = |lane: &LaneName| match &app.fleet {
        Some(fleet) => rules(&**fleet, lane).map(|rules| rules.limit),
        None => Ok(config(app).limit(lane)),
    };
    let limits =
        task.lanes.iter().map(|lane| Ok((lane, limit(lane)?))).collect::<Result<BTreeMap<_, _>, AppError>>()?;
    if let Some(narrow) = narrow(task, |lane| limits.get(lane).copied().unwrap_or(1)).into_iter().next() {
        let lane = &narrow.lane;
        let message = format!("--slots {count}: lane \"{lane}\" has {}", narrow.max);
        return Err(AppError::new(Code::TooFewSlots, message)
            .hint("ask for fewer slots, or set the limit of the lane first")
            .next(format!("luzia lanes show {}", lane_word(lane))));
    }
    let lenders = if task.waited_for { lenders_if_waited(app, task)? } else { Vec::new() };
    for lane in task.lanes.iter().filter(|lane| task.slots_of(lane) > 1) {
        // Missing slots could be held by others whose children wait for the slots of this parent.
        let lent = lenders.iter().filter(|lender| lender.lanes.contains(lane)).map(|lender| lender.slots_of(lane));
        if let Some(lent) = lent.max().filter(|lent| *lent < task.slots_of(lane)) {
            let message = format!("--slots {count}: the task borrows lane \"{lane}\", of which its parent has {lent}");
            return Err(AppError::new(Code::TooFewSlots, message)
                .hint("queue the parent with as many slots, or ask for fewer here"));
        }
    }
    Ok(())
}

/// The key that stands for the command, its directory and the content of its work tree.
const TREE_KEY: &str = "@tree";

/// The key of a request. `subject` is the digest of its work tree, where it was taken.
fn key_of(new: &TaskRequest, command: &[String], cwd: &str, subject: Option<&str>) -> Result<Option<String>, AppError> {
    let Some(text) = new.key.as_deref() else { return Ok(None) };
    let Some(subject) = subject.filter(|_| text == TREE_KEY) else {
        return Ok(Some(name("key", text)?.to_string()));
    };
    let mut hash = Sha256::new();
    // Each part has its length before it, so that no two lists of arguments give the same bytes.
    for part in command.iter().map(String::as_str).chain([cwd, subject]) {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part.as_bytes());
    }
    Ok(Some(format!("tree:{}", hex(&hash.finalize()))))
}

impl Surroundings {
    /// The digest of the git work tree around a directory: `HEAD^{tree}`, the difference to it, and the files that git neither
    /// knows nor ignores.
    pub(crate) fn subject(&self, cwd: &str) -> Result<String, AppError> {
        let found = self.name(ThingKind::Tree, None, Some(cwd))?;
        let top = found.path.unwrap_or_else(|| cwd.to_owned());
        self.tree_digest(&top).map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::NotFound => Kind::NotFound,
                std::io::ErrorKind::PermissionDenied => Kind::NoPermission,
                std::io::ErrorKind::InvalidData => Kind::Usage,
                _ => Kind::Io,
            };
            AppError::new(Code::NoDigest, format!("the work tree \"{top}\" has no digest: {error}"))
                .with_kind(kind)
                .hint("use --key NAME, which needs no git; nothing was queued")
        })
    }
}
