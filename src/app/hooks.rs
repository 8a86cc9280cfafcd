//! `hook`: what people want to be run when something happens. The process that caused an event runs its hooks, when that is durable
//! and no lock of luzia is held any more. A hook that fails is told of and changes nothing; `before` and `after` are the
//! supervisor's.

use super::{App, AppError, Code, Kind};
use crate::app::wait_warnings::{WAIT_WARNING, wait_command};
use crate::model::control::hooks::{Action, HOOK_TIMEOUT_MS, HOOK_VARIABLE, Hook};
use crate::model::{Task, TaskId};
use crate::os::{Called, Exit};
use crate::policy::analytics::record::Record;
use crate::policy::hooks::{AFTER, BEFORE, event_name, fires, payload};
use crate::store::{Event, ReadEvent};
use serde_json::json;
use std::time::Duration;

pub use crate::policy::hooks::EVENTS;

/// The longest time that a hook may take, in milliseconds.
const LONGEST_MS: u64 = 3_600_000;
/// The longest name of a hook, in bytes.
const MOST_NAME: usize = 64;
/// Most hooks of a state directory.
const MOST_HOOKS: usize = 100;

/// A hook that is to be added.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewHook {
    /// The event, as it was written.
    pub event: String,
    /// Its name; by default made of the event.
    pub name: Option<String>,
    /// The command; empty where there is a URL.
    pub command: Vec<String>,
    /// The URL to post to.
    pub url: Option<String>,
    /// Only for this user.
    pub user: Option<String>,
    /// Only for this lane.
    pub lane: Option<String>,
    /// How long it may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The working directory of the caller.
    pub cwd: String,
    /// Who adds it.
    pub by: Option<String>,
}

fn last_command_name(id: TaskId) -> String {
    format!("on-finish-{id}")
}

/// Whether the events of a task that is over tell no end of its last command (`--on-finish`). That end is an event, as of a hook.
pub fn lacks_last_end(task: &Task, events: &[Record]) -> bool {
    let name = last_command_name(task.id);
    let is_end = |event: &Record| {
        ["hook_ran", "hook_failed"].contains(&event.kind.as_str()) && event.text("hook") == Some(name.as_str())
    };
    let is_over = task.status().is_final() && events.iter().any(|event| event.kind == "finished");
    task.terms.on_finish.is_some() && is_over && !events.iter().any(is_end)
}

/// Adds a hook, and gives it.
pub fn add_hook(app: &App, new: NewHook) -> Result<Hook, AppError> {
    let event = event_name(&new.event).ok_or_else(|| unknown_event(&new.event))?;
    let action = action_of(&new)?;
    if [BEFORE, AFTER].contains(&event) && matches!(action, Action::Url(_)) {
        return Err(AppError::usage(format!("\"{event}\" runs in the context of a task, and takes a command"))
            .hint("curl can be that command; nothing was added"));
    }
    let timeout_ms = new.timeout_ms.unwrap_or(HOOK_TIMEOUT_MS);
    if !(1..=LONGEST_MS).contains(&timeout_ms) {
        return Err(AppError::usage("--timeout must be longer than 0, and an hour at most").hint("nothing was added"));
    }
    if let Some(name) = &new.name {
        check_name(name)?;
    }
    app.store.prepare()?;
    let added_at = app.host.now();
    app.store.change_hooks::<_, AppError>(|hooks| {
        if hooks.len() >= MOST_HOOKS {
            return Err(AppError::new(Kind::No, Code::TooManyHooks, format!("there are {MOST_HOOKS} hooks already"))
                .next("luzia hook list"));
        }
        let name = new.name.clone().unwrap_or_else(|| free_name(event, hooks));
        if hooks.iter().any(|hook| hook.name == name) {
            return Err(AppError::new(Kind::No, Code::HookExists, format!("there is a hook \"{name}\" already"))
                .hint("nothing was changed; `luzia hook rm` removes it")
                .next("luzia hook list"));
        }
        let NewHook { user, lane, cwd, by, .. } = new.clone();
        let hook = Hook { name, event: event.to_owned(), action, user, lane, timeout_ms, cwd, added_at, by };
        hooks.push(hook.clone());
        Ok(hook)
    })
}

/// Every hook, in the order in which they were added.
pub fn hooks(app: &App) -> Result<Vec<Hook>, AppError> {
    if !app.store.has_layout()? {
        return Ok(Vec::new());
    }
    Ok(app.store.hooks()?)
}

/// Removes hooks by their names: all of them, or none.
pub fn remove_hooks(app: &App, names: &[String]) -> Result<Vec<Hook>, AppError> {
    let absent = |name: &String| {
        let shown: String = name.chars().take(80).collect();
        AppError::not_found(Code::HookNotFound, format!("there is no hook \"{shown}\""))
            .hint("nothing was removed")
            .next("luzia hook list")
    };
    if !app.store.has_layout()? {
        return names.first().map_or_else(|| Ok(Vec::new()), |name| Err(absent(name)));
    }
    app.store.change_hooks(|hooks| {
        if let Some(name) = names.iter().find(|name| hooks.iter().all(|hook| hook.name != **name)) {
            return Err(absent(name));
        }
        let is_meant = |hook: &Hook| names.contains(&hook.name);
        let gone = hooks.iter().filter(|hook| is_meant(hook)).cloned().collect();
        hooks.retain(|hook| !is_meant(hook));
        Ok(gone)
    })
}

/// The hooks that are to be run for what this process has done since the last call.
pub(crate) fn due_hooks(app: &App, say: &mut dyn FnMut(&str)) -> Vec<(Hook, Record)> {
    let told = app.store.take_told();
    if told.is_empty() || app.is_for_hook {
        return Vec::new();
    }
    let hooks = app.store.hooks().unwrap_or_else(|error| {
        say(&format!("warning: no hooks were run: {error}"));
        Vec::new()
    });
    let has_own_command = |event: &ReadEvent| {
        event.line.pointer("/data/on_finish").is_some()
            || event.line.get("event").is_some_and(|name| name == WAIT_WARNING)
    };
    if hooks.is_empty() && !told.iter().any(has_own_command) {
        return Vec::new();
    }
    let records = told.iter().filter_map(|event| Record::of(event.at, &event.line));
    let of_record = |record: Record| {
        let mut meant: Vec<Hook> = hooks.iter().filter(|hook| fires(hook, &record)).cloned().collect();
        meant.extend(last_command(app, &record));
        meant.extend(wait_command(app, &record));
        meant.into_iter().map(move |hook| (hook, record.clone()))
    };
    records.flat_map(of_record).collect()
}

/// The command that a task of which an event says that it is over asked for (`--on-finish`), as a hook of its own.
fn last_command(app: &App, record: &Record) -> Option<Hook> {
    if record.kind != "finished" || record.data.get("on_finish").is_none() {
        return None;
    }
    let (_, task) = app.store.find(record.task?).ok().flatten()?;
    Some(Hook {
        name: last_command_name(task.id),
        event: "task.finished".to_owned(),
        action: Action::Command(vec!["/bin/sh".to_owned(), "-c".to_owned(), task.terms.on_finish?]),
        user: None,
        lane: None,
        timeout_ms: HOOK_TIMEOUT_MS,
        cwd: task.cwd,
        added_at: task.created_at,
        by: None,
    })
}

/// Runs hooks, one after another, and says which of them failed.
pub(crate) fn run_due(app: &App, due: &[(Hook, Record)], say: &mut dyn FnMut(&str)) {
    for (hook, record) in due {
        if let Err(why) = run_hook(app, hook, record) {
            say(&format!("warning: the hook \"{}\" failed: {why}", hook.name));
        }
    }
}

/// Runs the hooks for what this process has done since the last call.
pub fn run_hooks(app: &App, say: &mut dyn FnMut(&str)) {
    let due = due_hooks(app, say);
    run_due(app, &due, say);
}

/// Like `run_hooks`, for a process that tells of what failed as of what it tries again.
pub(crate) fn run_hooks_telling(app: &App, tell: &mut dyn FnMut(&AppError)) {
    run_hooks(app, &mut |text| {
        let text = text.strip_prefix("warning: ").unwrap_or(text);
        tell(
            &AppError::new(Kind::Unavailable, Code::HookFailed, text)
                .hint("it is not tried again; no task depends on it"),
        );
    });
}

fn run_hook(app: &App, hook: &Hook, record: &Record) -> Result<(), String> {
    let task = record.task.map(|task| task.to_string());
    let mut env = vec![
        (HOOK_VARIABLE.to_owned(), hook.name.clone()),
        ("LUZIA_EVENT".to_owned(), hook.event.clone()),
        ("LUZIA_STATE_DIR".to_owned(), app.store_path().to_owned()),
    ];
    env.extend(task.map(|task| ("LUZIA_TASK_ID".to_owned(), task)));
    env.extend(record.user.clone().map(|user| ("LUZIA_USER".to_owned(), user)));
    env.extend(record.text("status").map(|status| ("LUZIA_STATUS".to_owned(), status.to_owned())));
    env.extend(record.number("exit_code").map(|code| ("LUZIA_EXIT_CODE".to_owned(), code.to_string())));
    let input = format!("{}\n", payload(hook, record));
    let called = Called {
        argv: &hook.argv(),
        env: &env,
        cwd: &hook.cwd,
        input: input.as_bytes(),
        time: Duration::from_millis(hook.timeout_ms),
    };
    let begun_ms = app.host.boot_ms();
    let why = match app.host.call(&called) {
        Ok((Exit::Code(0), _)) => None,
        Ok((exit, said)) => Some(format!("{}{}", ended(exit), first_line(&said))),
        Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            Some(format!("it did not end within {}", crate::model::time::format_duration(hook.timeout_ms)))
        }
        Err(error) => Some(format!("it could not be run: {error}")),
    };
    let ran_ms = app.host.boot_ms().saturating_sub(begun_ms);
    let data = json!({ "hook": hook.name, "event": hook.event, "ran_ms": ran_ms });
    let told = Event { task: record.task, ..Event::new(if why.is_none() { "hook_ran" } else { "hook_failed" }) };
    let told = told.with(data);
    app.store.note(&match &why {
        Some(why) => told.saying(why.clone()),
        None => told,
    });
    why.map_or(Ok(()), Err)
}

fn unknown_event(word: &str) -> AppError {
    let shown: String = word.chars().take(80).collect();
    let near = EVENTS.iter().map(|(name, ..)| *name).find(|name| {
        let bare = name.rsplit_once('.').map_or(*name, |(_, bare)| bare);
        !word.is_empty() && (bare.starts_with(word) || word.ends_with(bare) || word.contains(bare))
    });
    let names: Vec<&str> = EVENTS.iter().map(|(name, ..)| *name).collect();
    AppError::usage(format!("there is no event \"{shown}\" for hooks")).hint(match near {
        Some(near) => format!("did you mean {near}? nothing was added"),
        None => format!("one of {}; nothing was added", names.join(", ")),
    })
}

fn action_of(new: &NewHook) -> Result<Action, AppError> {
    match (&new.url, new.command.is_empty()) {
        (Some(url), true) => {
            let is_plain = url.starts_with("http://") || url.starts_with("https://");
            if !is_plain || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
                return Err(AppError::usage("--url must begin with http:// or https://, and have no spaces")
                    .hint("nothing was added"));
            }
            Ok(Action::Url(url.clone()))
        }
        (None, false) => Ok(Action::Command(new.command.clone())),
        _ => Err(AppError::usage("a hook runs a command or posts to a URL")
            .hint(format!("luzia hook add {} -- notify-send done; or --url URL; nothing was added", new.event))),
    }
}

fn check_name(name: &str) -> Result<(), AppError> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > MOST_NAME || name.starts_with('-') || !name.chars().all(is_good) {
        return Err(AppError::usage("the name of a hook has letters, digits, dots, dashes and underscores")
            .hint("nothing was added"));
    }
    Ok(())
}

/// The event itself, or the first number behind it that is free.
fn free_name(event: &str, hooks: &[Hook]) -> String {
    let is_free = |name: &String| hooks.iter().all(|hook| hook.name != *name);
    let names = (1..).map(|number| if number == 1 { event.to_owned() } else { format!("{event}-{number}") });
    names.into_iter().find(is_free).unwrap_or_else(|| event.to_owned())
}

fn ended(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("it ended with {code}"),
        Exit::Signal(signal) => format!("signal {signal} ended it"),
    }
}

fn first_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
    if line.is_empty() { String::new() } else { format!(": {line}") }
}
