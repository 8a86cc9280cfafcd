//! A run of a task as its supervisor sees it: the data that it gets, the care while it runs, and its results.
//! `variables` gives the data. `Care` keeps a running command: its locks, its share of processors, its pause, and the slots that
//! it gives up while it waits. `judge` gives the results. `or_wait` turns the end of a run into a wait of the task if a wait
//! outlives the run: the command asked for that (`luzia await --park`), or the waiting process was killed. The checkpoint of the
//! wait is already durable. `compare`, `log_prompt` and `log_response` write records of a run into the event log beside its end:
//! whether its work tree moved (`--stable`), and for a share of the starts the prompt and the answer (`--log-sample`, S2.32).

pub(super) mod away;
pub(super) mod deadline;

use crate::model::task::{EndState, LastRun, TaskState, TaskWait};
use crate::model::{LaneName, Task, TaskId, Timestamp};
use crate::os::{Child, Handle};
use crate::policy::outcome::Happened;
use crate::policy::requests::is_sampled;
use crate::policy::steps::course::{at_next_step, becomes_wait, verdict};
use crate::policy::steps::waits::WaitKind;
use crate::store::{Event, Mail, OpenWait, STDOUT_LOG, Site, StoreError};
use crate::supervise::cpus::CpuShare;
use crate::supervise::family::CHILD_ENDED;
use crate::supervise::keep::Keeper;
use crate::supervise::limits::judge_limit;
use crate::supervise::pause::Pausing;
use crate::supervise::{HEARTBEAT, Surroundings};
use away::{Away, Back, LOOK};
use serde_json::{Value, json};
use std::time::Duration;

/// Number of bytes of a run's standard output that the next run gets.
const MOST_RESULT_BYTES: u64 = 16 * 1024;
/// Number of bytes about the ends of children that the next run gets.
const MOST_CHILDREN_BYTES: usize = 64 * 1024;

/// Variables that report a task's goal and its steps to it. The mail in them counts as seen once the step of the task is
/// done.
pub(in crate::supervise) fn variables(site: &Site, task: &mut Task) -> Result<Vec<(&'static str, String)>, StoreError> {
    let mut told: Vec<(&'static str, String)> = task.goal.iter().map(|goal| ("LUZIA_GOAL", goal.clone())).collect();
    let id = task.id;
    let Some(stepwise) = &mut task.stepwise else { return Ok(told) };
    let mut children: Vec<Mail> = Vec::new();
    let (seen, mut left) = (stepwise.seen_mail, MOST_CHILDREN_BYTES);
    for number in site.store.mail_numbers(id)?.into_iter().filter(|number| *number > seen) {
        match site.store.mail(id, number) {
            Ok(Some(mail)) if mail.event == CHILD_ENDED => {
                let mail = that_fits(mail);
                let size = mail.data.to_string().len();
                if size > left && !children.is_empty() {
                    // The next step gets it.
                    break;
                }
                left = left.saturating_sub(size);
                children.push(mail);
            }
            // `doctor` reports damaged mail.
            Ok(_) | Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
        stepwise.seen_mail = number;
    }
    let (kind, result, exit, left_out) = match (children.last(), &stepwise.last) {
        (Some(last), _) => ("child", results_of(&children), exit_of(last), 0),
        (None, Some(last)) => {
            let kind = if last.is_tool { "tool" } else { "output" };
            (kind, last.result.clone(), last.exit_code.to_string(), last.left_out)
        }
        (None, None) => ("none", String::new(), String::new(), 0),
    };
    told.extend([
        ("LUZIA_STEP", stepwise.step.to_string()),
        ("LUZIA_LAST_KIND", kind.to_owned()),
        ("LUZIA_LAST_RESULT", result),
        ("LUZIA_LAST_RESULT_LEFT_OUT", left_out.to_string()),
        ("LUZIA_LAST_EXIT", exit),
    ]);
    Ok(told)
}

/// The end of a child without members that are too large for a variable of the environment; `luzia show` has them.
fn that_fits(mut mail: Mail) -> Mail {
    if mail.data.to_string().len() <= MOST_CHILDREN_BYTES {
        return mail;
    }
    if let Value::Object(members) = &mut mail.data {
        members.retain(|name, _| !matches!(name.as_str(), "variables" | "result_data"));
        members.insert("left_out".to_owned(), json!(["variables", "result_data"]));
    }
    mail
}

/// The ends of children as a JSON array.
fn results_of(children: &[Mail]) -> String {
    Value::Array(children.iter().map(|mail| mail.data.clone()).collect()).to_string()
}

fn exit_of(mail: &Mail) -> String {
    mail.data.get("exit_code").and_then(Value::as_i64).map_or_else(String::new, |code| code.to_string())
}

/// Length of the log of standard output before a run, in bytes.
pub(in crate::supervise) fn output_before(site: &Site, task: &Task) -> u64 {
    if task.stepwise.is_none() && task.terms.log_sample.is_none() || task.starts == 0 {
        return 0;
    }
    log_of(site, task).and_then(|log| log.meta().ok()).map_or(0, |meta| meta.size)
}

fn log_of(site: &Site, task: &Task) -> Option<Box<dyn Handle>> {
    let conductor = site.run_dir.conductor(&task.conductor_dir, false).ok().flatten()?;
    conductor.read_log(task.id, STDOUT_LOG).ok().flatten()
}

/// Results of a run, and the data for the next one. `run` is the offset at which its output began, and its duration. The function
/// waits for a host that is short of a resource. After any other read error the data is left out, and the exit code decides.
pub(in crate::supervise) fn judge(
    (site, keeper): (&Site, &mut Keeper),
    task: &mut Task,
    happened: Happened,
    run: (u64, Option<u64>),
) -> Happened {
    let mut pause = Duration::from_millis(50);
    loop {
        let judged =
            judge_limit(site, task, happened.clone()).and_then(|happened| judge_run(site, task, happened, run));
        match judged {
            Ok(judged) => return judged,
            Err(error) if error.is_shortage() && site.store.is_still_there().unwrap_or(true) => {
                keeper.pause(pause.min(keeper.time_left()));
                pause = (pause * 2).min(Duration::from_secs(5));
            }
            Err(error) => {
                site.store.note(&Event::of("result_failed", task).saying(error.to_string()));
                return happened;
            }
        }
    }
}

fn judge_run(
    site: &Site,
    task: &mut Task,
    happened: Happened,
    (from, ran_ms): (u64, Option<u64>),
) -> Result<Happened, StoreError> {
    let code = match happened {
        // The step continues in a further run.
        _ if open_after(site, task, &happened).is_some() => None,
        Happened::Exited(code) => Some(code),
        Happened::Killed(signal) => Some(128_i32.saturating_add(signal)),
        _ => None,
    };
    let finish = site.store.finish_said(task.id, task.starts)?;
    if let (Some(code), Some(stepwise)) = (code, &task.stepwise) {
        let last = last_run(site, task, code, from)?;
        let kind = if last.is_tool { "tool" } else { "output" };
        let bytes = log_of(site, task).and_then(|log| log.meta().ok()).map_or(0, |meta| meta.size).saturating_sub(from);
        let data = json!({ "step": stepwise.step, "exit_code": code, "kind": kind, "ran_ms": ran_ms,
            "stdout_bytes": bytes, "output_ref": format!("log:{}/{STDOUT_LOG}/{from}", task.id) });
        site.store.note(&Event::of("step_ended", task).with(data));
        task.stepwise.iter_mut().for_each(|stepwise| stepwise.last = Some(last.clone()));
    }
    Ok(verdict(task, happened, finish))
}

fn last_run(site: &Site, task: &Task, code: i32, from: u64) -> Result<LastRun, StoreError> {
    let tool = if code == 0 && site.store.has_steps(task.id)? { site.store.last_step(task.id)? } else { None };
    if let Some(tool) = tool.filter(|tool| tool.start == u64::from(task.starts)) {
        let output = tool.output();
        let left_out = tool.stdout_bytes.saturating_sub(output.len() as u64);
        return Ok(LastRun { is_tool: true, exit_code: i32::from(tool.exit_code), result: text(&output), left_out });
    }
    let (result, left_out) = output_of(site, task, from);
    Ok(LastRun { is_tool: false, exit_code: code, result, left_out })
}

/// The end of a run's output, and the number of bytes before it that are left out. A log that cannot be read is like an empty
/// one: it keeps no step from being done.
pub(in crate::supervise) fn output_of(site: &Site, task: &Task, from: u64) -> (String, u64) {
    let read = || {
        let mut log = log_of(site, task)?;
        let size = log.meta().ok()?.size;
        // A log that became shorter has lost its beginning.
        let first = if from > size { 0 } else { from };
        let from = first.max(size.saturating_sub(MOST_RESULT_BYTES));
        let bytes = log.read_part(from, usize::try_from(size - from).ok()?).ok()?;
        Some((text(&bytes), from - first))
    };
    read().unwrap_or_default()
}

/// Notes the `luzia step` at which a task failed in its last start (S1.36).
pub(in crate::supervise) fn name_failed_step(site: &Site, task: &mut Task) {
    let (id, start) = (task.id, u64::from(task.starts));
    let TaskState::Over(outcome) = &mut task.state else { return };
    if outcome.end == EndState::Failed && task.stepwise.is_none() {
        // A damaged record names no step.
        let failed = site.store.steps_failed(id).unwrap_or_default().into_iter().filter(|step| step.start == start);
        let last = failed.max_by(|a, b| a.ended_at.cmp(&b.ended_at));
        outcome.step = last.and_then(|step| u32::try_from(step.number.saturating_sub(1)).ok());
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "").trim_end_matches('\n').to_owned()
}

/// Goes on to the next step within the same claim. The record of the task names the step before the next start does. After an
/// error the task is still at its step, so that the end of the run counts that step once.
pub(in crate::supervise) fn go_on(site: &Site, task: &mut Task) -> Result<(), StoreError> {
    let next = at_next_step(task);
    site.store.keep_running(&next)?;
    *task = next;
    Ok(())
}

/// Whether a run has asked to end and to be started again when its wait is over.
pub(in crate::supervise) fn asks_to_end(site: &Site, id: TaskId, start: u32) -> bool {
    site.store.open_in(id, start).is_some_and(|open| open.ends_run)
}

/// The wait that the end of a run becomes.
fn open_after(site: &Site, task: &Task, happened: &Happened) -> Option<OpenWait> {
    let open = becomes_wait(happened, true).then(|| site.store.open_in(task.id, task.starts)).flatten();
    open.filter(|open| becomes_wait(happened, open.ends_run))
}

/// Result of a run: a wait, if one was open at its end, else the result itself. The tree of the task is dead.
pub(in crate::supervise) fn or_wait(site: &Site, task: &Task, happened: Happened) -> Result<Happened, StoreError> {
    let Some(open) = open_after(site, task, &happened) else { return Ok(happened) };
    let lanes: Vec<LaneName> = task.all_lanes().into_iter().filter(|lane| is_kept(&open, lane)).collect();
    let locks = site.store.locks_of(task.id, &lanes)?;
    site.store.secure_locks(&locks)?;
    Ok(Happened::Waits(TaskWait {
        until: Timestamp::parse(&open.until).unwrap_or_else(|| site.host.now()),
        kept: locks.into_iter().map(|grant| (grant.lane, grant.lock_id)).collect(),
        lends: matches!(WaitKind::parse(&open.kind), Some(WaitKind::Agent | WaitKind::Output)),
    }))
}

/// Whether a lane is kept: by its rule when the wait began, else by its kind (X3).
fn is_kept(open: &OpenWait, lane: &LaneName) -> bool {
    open.keep.as_ref().map_or(lane.is_key_lane(), |kept| kept.contains(&lane.to_string()))
}

/// Number of characters of a prompt and of an answer that are logged.
const MOST_LOGGED: usize = 4096;

/// Takes the digest of the work tree again, and notes in the task whether it differs from the one at which the task was
/// queued. If it cannot be taken, the answer is unknown, and the task notes nothing.
pub(in crate::supervise) fn compare(around: &Surroundings, task: &mut Task, keeper: &mut Keeper) {
    if !task.terms.is_stable {
        return;
    }
    keeper.keep();
    let now = (around.subject)(&task.cwd);
    keeper.keep();
    match (&task.terms.subject, now) {
        (Some(before), Ok(now)) => {
            let is_changed = *before != now;
            task.terms.subject_changed = Some(is_changed);
            if is_changed {
                let said = "its work tree changed after it was queued: its result may not be that of either content";
                let data = json!({ "subject_changed": true, "before": before, "after": now });
                around.site.store.note(&Event::of("subject_changed", task).saying(said).with(data));
            }
        }
        (_, Err(why)) => {
            task.terms.subject_changed = None;
            around.site.store.note(&Event::of("subject_unknown", task).saying(why));
        }
        (None, Ok(_)) => {}
    }
}

/// Logs the prompt of a start, if the start is in the sample.
pub(in crate::supervise) fn log_prompt(site: &Site, task: &Task) {
    if is_sampled(task, task.starts) {
        let prompt = task.stdin.clone().unwrap_or_else(|| task.command.join(" "));
        let data = json!({ "start": task.starts, "prompt": first(&prompt), "bytes": prompt.len() });
        site.store.note(&Event::of("prompt", task).with(data));
    }
}

/// Logs the end of the output that a run wrote to its standard output. `from` is the offset at which the output begins.
pub(in crate::supervise) fn log_response(site: &Site, task: &Task, from: u64) {
    if is_sampled(task, task.starts) {
        let (said, _) = output_of(site, task, from);
        let skipped = said.chars().count().saturating_sub(MOST_LOGGED);
        let end: String = said.chars().skip(skipped).collect();
        site.store.note(&Event::of("response", task).with(json!({ "start": task.starts, "response": end })));
    }
}

fn first(text: &str) -> String {
    text.chars().take(MOST_LOGGED).collect()
}

/// The parts that a supervisor keeps while a command runs: its locks, and its share of processors.
pub(in crate::supervise) struct Care<'a, 'k> {
    pub(in crate::supervise) keeper: &'a mut Keeper<'k>,
    pub(in crate::supervise) share: Option<&'a mut CpuShare>,
    pub(in crate::supervise) pausing: &'a mut Pausing,
    /// Whether any process has waited for a child of the task, or for an event.
    pub(in crate::supervise) has_lent: bool,
    /// The slots that the task has given up while it waits.
    pub(in crate::supervise) away: Option<Away>,
}

impl Care<'_, '_> {
    pub(in crate::supervise) fn keep(&mut self, child: &mut dyn Child) {
        self.keeper.keep_beside(child);
        if let Some(share) = &mut self.share {
            share.keep(child);
        }
    }

    /// Notices the ends of waiters for children of the task or for an event, and ends the children that no longer have a waiter.
    pub(in crate::supervise) fn see_to_waiters(
        &mut self,
        around: &Surroundings,
        task: &Task,
        (child, spared): (&mut dyn Child, &[u32]),
        in_any_case: bool,
    ) {
        let waiters = (around.loans)(task.id, in_any_case || self.has_lent);
        self.has_lent |= !waiters.is_empty();
        child.heed_ends(waiters);
        if self.away.is_some() {
            // A waiter that ended before it was watched.
            self.see_to_slots(around.site, task, spared);
        }
    }

    pub(in crate::supervise) fn is_wanting(&self) -> bool {
        self.away.as_ref().is_some_and(Away::is_wanted)
    }

    /// Gives slots up when a process of the task waits for an event, and asks for them again when none waits any more.
    pub(in crate::supervise) fn see_to_slots(&mut self, site: &Site, task: &Task, spared: &[u32]) {
        let Ok(has_waiter) = site.store.has_waiter(task.id) else { return };
        let is_open = has_waiter && site.store.open_in(task.id, task.starts).is_some();
        match &mut self.away {
            // After a read or write error the task keeps its slots.
            None if is_open => self.away = Away::begin(site, task, self.keeper).unwrap_or_default(),
            None => {}
            Some(away) if is_open => {
                away.stay(site);
                self.pausing.has_slots(site);
            }
            Some(away) => {
                away.want_back(task);
                if !has_waiter {
                    // The waiting process was killed, and its script may go on.
                    self.pausing.lacks_slots(site, task, spared);
                }
            }
        }
    }

    /// Takes back the slots that are asked for. True when a pass is due.
    pub(in crate::supervise) fn take_back(&mut self, around: &Surroundings, task: &Task) -> bool {
        let Some(away) = self.away.as_mut().filter(|away| away.is_wanted()) else { return false };
        let back = away.take_back(around.site, around.wants, task, self.keeper);
        if back == Back::Has {
            self.away = None;
            self.pausing.has_slots(around.site);
        }
        // Other tasks gave way to it, and there may be room for them.
        back != Back::Waits
    }

    /// Time that the supervisor may wait before it looks again; `None` if the time limit of the task has passed. The time
    /// limit does not count while the task is paused.
    pub(in crate::supervise) fn time_left(&self, site: &Site, task: &Task, begin: u64) -> Option<Duration> {
        let share = self.share.as_ref().map_or(Duration::MAX, |share| share.time_left());
        let look = if self.is_wanting() { LOOK } else { Duration::MAX };
        let time = HEARTBEAT.min(self.keeper.time_left()).min(share).min(self.pausing.time_left(site)).min(look);
        let Some(limit) = task.timeout_ms.filter(|_| !self.pausing.is_paused()) else { return Some(time) };
        let passed = site.host.boot_ms().saturating_sub(begin).saturating_sub(self.pausing.paused_ms(site));
        (passed < limit).then(|| time.min(Duration::from_millis(limit - passed)))
    }
}
