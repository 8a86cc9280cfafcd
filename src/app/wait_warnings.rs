//! `wait_warning`: a task or a lock that has waited for as long as its lane says is reported once, and `on_wait` of the lane
//! is run (S4.8). If a rule of a lane was written, the next pass reports the first task of each queue while it waits. Any
//! other wait is reported when it ends. `docs/decisions/360-when-a-wait-is-told.md` gives the reasons.

use super::config_reload::{config, control};
use crate::app::admission::is_near;
use crate::app::admission::turns::position;
use crate::app::lifecycle::Pass;
use crate::app::{App, AppError};
use crate::model::control::{Action, HOOK_TIMEOUT_MS, Hook};
use crate::model::{LaneName, Priority, Task, Tier, Timestamp};
use crate::policy::analytics::record::Record;
use crate::policy::hold::pause_of;
use crate::policy::wait_warning::{WaitRule, began, rule_of, told_from};
use crate::store::{Event, LockView};
use serde_json::json;
use std::collections::BTreeMap;

/// Number of queues in which a pass looks for tasks that wait for long; a later pass looks at others.
const MOST_LOOKED_AT: usize = 64;

/// The name of the event.
pub(crate) const WAIT_WARNING: &str = "wait_warning";

/// One wait that is reported.
pub(crate) struct LongWait<'a> {
    /// The rule by which the wait is reported.
    pub rule: &'a WaitRule,
    /// The length of the wait so far, in milliseconds.
    pub waited_ms: u64,
    /// The place of the waiter among those that wait for the lane, from 1.
    pub position: usize,
    /// The holder of the lane, if it is known.
    pub held_by: Option<&'a str>,
}

/// Reports the first tasks of queues that have waited for as long as a written rule of their lanes says.
pub(super) fn warn_of_waits(app: &App, pass: &mut Pass) -> Result<(), AppError> {
    if !config(app).has_wait_rules() {
        return Ok(());
    }
    let queues = app.store.lanes_with_work()?;
    let all = |(_, queues): (&Tier, &BTreeMap<String, Priority>)| {
        queues.iter().map(|(stem, priority)| (stem.clone(), *priority)).collect::<Vec<_>>()
    };
    let all: Vec<(String, Priority)> = queues.iter().flat_map(all).collect();
    let offset = usize::try_from(app.host.boot_ms()).unwrap_or(0).checked_rem(all.len()).unwrap_or(0);
    for (stem, priority) in all.iter().cycle().skip(offset).take(MOST_LOOKED_AT.min(all.len())) {
        if !is_near(app, stem)? {
            continue;
        }
        let head = app.store.head_from(*priority, stem)?;
        if let Some(task) = head.and_then(|head| app.store.peek(&head)) {
            warn_of_task(app, &task, pass)?;
        }
    }
    Ok(())
}

/// Reports a task that has waited for as long as its own rule says, or as a written rule of its lanes says.
pub(crate) fn warn_of_task(app: &App, task: &Task, pass: &mut Pass) -> Result<(), AppError> {
    let now = app.host.now();
    let Some(rule) = wait_rule(app, task).filter(|rule| rule.is_explicit) else { return Ok(()) };
    let Some(from) = told_from(task, &rule) else { return Ok(()) };
    if pause_of(task, &control(app).holds, now).is_some() {
        return Ok(());
    }
    if from > now {
        pass.comes_again(from);
        return Ok(());
    }
    if app.store.mark_warned(task.id)? {
        let views = app.holders(&rule.lane).unwrap_or_default();
        let is_living = |view: &&LockView| !view.verdict.is_stale();
        let held_by = views.iter().find(is_living).and_then(LockView::holder);
        // A task without a time of its own is the first of its queue.
        let ahead = if task.warns_at().is_some() { position(app, task)? } else { 0 };
        let ahead = usize::try_from(ahead).unwrap_or(usize::MAX);
        let wait = LongWait { rule: &rule, waited_ms: waited(task, now), position: ahead.saturating_add(1), held_by };
        app.store.note(&wait.event(Event::of(WAIT_WARNING, task)));
    }
    Ok(())
}

/// Reports a task that has its lanes now, if it had waited for long and was not reported.
pub(super) fn warn_at_claim(app: &App, task: &Task) {
    let now = app.host.now();
    let Some(rule) = wait_rule(app, task) else { return };
    if told_from(task, &rule).is_none_or(|from| from > now) || app.store.forget_warned(task.id).unwrap_or(true) {
        return;
    }
    let wait = LongWait { rule: &rule, waited_ms: waited(task, now), position: 1, held_by: None };
    app.store.note(&wait.event(Event::of(WAIT_WARNING, task)));
}

/// The rule by which a task is reported: its own rule comes before the rules of its lanes.
fn wait_rule(app: &App, task: &Task) -> Option<WaitRule> {
    let of_lanes = rule_of(&config(app), &task.all_lanes())?;
    let own = task.warns_at().map(|at| at.saturating_ms_since(task.due_since()));
    Some(match own {
        Some(after_ms) => WaitRule { after_ms, is_explicit: true, ..of_lanes },
        None => of_lanes,
    })
}

/// `on_wait` of the task or the lane of an event that reports a long wait, as a hook of its own.
pub(super) fn wait_command(app: &App, record: &Record) -> Option<Hook> {
    let lane = LaneName::parse(record.text("rule").filter(|_| record.kind == WAIT_WARNING)?).ok()?;
    let task = record.task.and_then(|id| app.store.find(id).ok().flatten()).map(|(_, task)| task);
    let own = task.and_then(|task| Some((format!("on-wait-{}", task.id), task.terms.on_wait?, task.cwd)));
    let of_lane = || Some((format!("on-wait-{lane}"), config(app).on_wait(&lane)?, "/".to_owned()));
    let (name, command, cwd) = own.or_else(of_lane)?;
    Some(Hook {
        name,
        event: "wait.warning".to_owned(),
        action: Action::Command(vec!["/bin/sh".to_owned(), "-c".to_owned(), command]),
        user: None,
        lane: None,
        timeout_ms: HOOK_TIMEOUT_MS,
        cwd,
        added_at: record.at,
        by: None,
    })
}

impl LongWait<'_> {
    /// The event with the facts of the wait. Its lane is the one whose rule applies.
    pub(crate) fn event(&self, event: Event) -> Event {
        let Self { rule, waited_ms, position, held_by } = self;
        let data = json!({
            "rule": rule.lane.to_string(),
            "after_ms": rule.after_ms,
            "waited_ms": waited_ms,
            "position": position,
            "held_by": held_by,
        });
        event.in_lane(&rule.lane).with(data)
    }
}

fn waited(task: &Task, now: Timestamp) -> u64 {
    began(task).map_or(0, |began| now.saturating_ms_since(began))
}
