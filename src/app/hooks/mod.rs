//! `hook`: commands that people attach to events.
//! The process that caused an event runs its hooks when the event is durable and the process holds no lock of luzia any more
//! (`run_hooks`). A process that has more to do starts another process for them (`hand_hooks_over`). A failed hook is reported
//! and changes nothing; the supervisor runs `before` and `after`. `hooks` lists the hooks that people have added, and `add_hook`
//! checks a new one.

use crate::app::config_reload::follow_control;
use crate::app::queue::doors::{as_usage, check_program};
use crate::app::wait_warnings::{WAIT_WARNING, wait_command};
use crate::app::{App, AppError, Code};
use crate::model::control::{Action, HOOK_TIMEOUT_MS, HOOK_VARIABLE, Hook};
use crate::model::name::shortened;
use crate::model::{Task, TaskId};
use crate::os::{CALL_GRACE, Called, Exit};
use crate::policy::analytics::record::Record;
pub use crate::policy::hooks::EVENTS;
use crate::policy::hooks::{AFTER, BEFORE, event_name, fires, payload};
use crate::store::{Event, Hold, ReadEvent};
use crate::supervise::{Deadline, told_end};
use serde_json::json;
use std::cell::LazyCell;
use std::time::Duration;

/// The pause between two looks for a place among the hooks that run.
const LOOK_FOR_PLACE: Duration = Duration::from_millis(20);

/// Runs the hooks for the events of this process since the last call.
pub fn run_hooks(app: &App, say: &mut dyn FnMut(&str)) {
    let due = due_hooks(app, say);
    run_due(app, &due, say);
}

/// Lets a process of its own run the hooks for the events of this process since the last call, so that no hook delays the
/// caller. Returns that process, if a hook is due.
pub fn hand_hooks_over(app: &App, say: &mut dyn FnMut(&str)) -> Option<u32> {
    let told = told(app);
    if due_of(app, &told, say).is_empty() {
        return None;
    }
    let args: Vec<String> = app.same_place.iter().cloned().chain(["run-hooks".to_owned()]).collect();
    match app.store.launch_with_events(&args, &told) {
        Ok(pid) => Some(pid),
        Err(error) => {
            say(&format!("warning: no hooks were run: {error}"));
            None
        }
    }
}

/// Like [`hand_hooks_over`], for a process that reports a failure as one that it tries again.
pub(crate) fn hand_hooks_over_telling(app: &App, tell: &mut dyn FnMut(&AppError)) {
    hand_hooks_over(app, &mut |text| {
        let text = text.strip_prefix("warning: ").unwrap_or(text);
        tell(&AppError::new(Code::HookFailed, text).hint("it is not tried again; no task depends on it"));
    });
}

/// Runs the hooks for the events that another process has handed over. A failed hook is recorded as an event.
pub fn run_handed_over(app: &App) -> Result<(), AppError> {
    // Hooks run even if the rules are invalid.
    let _ = follow_control(app);
    let told = app.store.given_events()?;
    run_due(app, &due_of(app, &told, &mut |_| {}), &mut |_| {});
    Ok(())
}

/// The hooks that are due for the events of this process since the last call.
pub(crate) fn due_hooks(app: &App, say: &mut dyn FnMut(&str)) -> Vec<(Hook, Record)> {
    due_of(app, &told(app), say)
}

/// Runs hooks, one after another, and reports those that failed.
pub(crate) fn run_due(app: &App, due: &[(Hook, Record)], say: &mut dyn FnMut(&str)) {
    for (hook, record) in due {
        if let Err(why) = run_hook(app, hook, record) {
            say(&format!("warning: the hook \"{}\" failed: {why}", hook.name));
        }
    }
}

/// The events of this process since the last call for which a hook may be due. Without hooks, those with a command of their
/// own.
fn told(app: &App) -> Vec<ReadEvent> {
    let has_hooks = LazyCell::new(|| app.store.hooks().map_or(true, |hooks| !hooks.is_empty()));
    let has_own_command = |event: &Event| event.name == WAIT_WARNING || event.data.get("on_finish").is_some();
    app.store.take_told(&|event| !app.is_for_hook && (has_own_command(event) || *has_hooks))
}

/// The hooks that are due for events.
fn due_of(app: &App, told: &[ReadEvent], say: &mut dyn FnMut(&str)) -> Vec<(Hook, Record)> {
    if told.is_empty() || app.is_for_hook {
        return Vec::new();
    }
    let hooks = app.store.hooks().unwrap_or_else(|error| {
        say(&format!("warning: no hooks were run: {error}"));
        Vec::new()
    });
    let records = told.iter().filter_map(|event| Record::of(event.at, &event.line));
    let of_record = |record: Record| {
        let mut meant: Vec<Hook> = hooks.iter().filter(|hook| fires(hook, &record)).cloned().collect();
        meant.extend(last_command(app, &record));
        meant.extend(wait_command(app, &record));
        meant.into_iter().map(move |hook| (hook, record.clone()))
    };
    records.flat_map(of_record).collect()
}

/// The command that a finished task has asked for (`--on-finish`), as a hook of its own. `record` is the event of its end.
fn last_command(app: &App, record: &Record) -> Option<Hook> {
    if record.kind != "finished" || record.data.get("on_finish").is_none() {
        return None;
    }
    let (_, task) = app.store.find(record.task?).ok().flatten()?;
    let site = app.site();
    // The command of a granted task is over before the lease is that holds when it begins, also where it ignores SIGTERM.
    let grace_ms = u64::try_from(CALL_GRACE.as_millis()).unwrap_or_default();
    let timeout_ms = Deadline::of(&site, &task).grace_ms(&site, HOOK_TIMEOUT_MS + grace_ms).saturating_sub(grace_ms);
    Some(Hook {
        name: last_command_name(task.id),
        event: "task.finished".to_owned(),
        action: Action::Command(vec!["/bin/sh".to_owned(), "-c".to_owned(), task.terms.on_finish?]),
        user: None,
        lane: None,
        timeout_ms,
        cwd: task.cwd,
        added_at: task.created_at,
        by: None,
    })
}

fn last_command_name(id: TaskId) -> String {
    format!("on-finish-{id}")
}

/// Whether the events of a finished task report no end of its last command (`--on-finish`). That end is an event, like that
/// of a hook.
pub fn lacks_last_end(task: &Task, events: &[Record]) -> bool {
    let name = last_command_name(task.id);
    let is_end = |event: &Record| {
        ["hook_ran", "hook_failed"].contains(&event.kind.as_str()) && event.text("hook") == Some(name.as_str())
    };
    let is_over = task.status().is_final() && events.iter().any(|event| event.kind == "finished");
    task.terms.on_finish.is_some() && is_over && !events.iter().any(is_end)
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
    let _place = place_of_hook(app);
    let begun_ms = app.host.boot_ms();
    let why = match app.host.call(&called) {
        Ok((Exit::Code(0), _)) => None,
        Ok((exit, said)) => Some(format!("{}{}", told_end(exit), first_line(&said))),
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

/// Waits until a place among the running hooks is free. Does not wait if no place can be made, e.g. on a full disk.
fn place_of_hook(app: &App) -> Option<Hold> {
    loop {
        match app.store.hook_place() {
            Ok(None) => app.host.sleep(LOOK_FOR_PLACE),
            Ok(place) => return place,
            Err(_) => return None,
        }
    }
}

fn first_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
    if line.is_empty() { String::new() } else { format!(": {line}") }
}

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
    /// The name of the hook; by default made of the event.
    pub name: Option<String>,
    /// The command; empty where there is a URL.
    pub command: Vec<String>,
    /// The URL to post to.
    pub url: Option<String>,
    /// Only for this user.
    pub user: Option<String>,
    /// Only for this lane.
    pub lane: Option<String>,
    /// The time limit of the hook, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The working directory of the caller.
    pub cwd: String,
    /// The environment of the caller, in which its program is looked for.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether the hook's program may be missing.
    pub no_check: bool,
    /// The name of the caller who adds the hook.
    pub by: Option<String>,
}

/// Adds a hook, and returns it.
pub fn add_hook(app: &App, new: NewHook) -> Result<Hook, AppError> {
    let event = event_name(&new.event).ok_or_else(|| unknown_event(&new.event))?;
    let action = action_of(&new)?;
    if [BEFORE, AFTER].contains(&event) && matches!(action, Action::Url(_)) {
        return Err(AppError::usage(format!("\"{event}\" runs in the context of a task, and takes a command"))
            .hint("to post to a URL, use curl(1) as the command; nothing was added"));
    }
    let timeout_ms = new.timeout_ms.unwrap_or(HOOK_TIMEOUT_MS);
    if !(1..=LONGEST_MS).contains(&timeout_ms) {
        return Err(AppError::usage("--timeout must be longer than 0, and an hour at most").hint("nothing was added"));
    }
    if let Some(name) = &new.name {
        check_name(name)?;
    }
    if let (Action::Command(argv), false) = (&action, new.no_check) {
        check_program(app, argv, &new.env, &new.cwd).map_err(|error| not_runnable(as_usage(error), argv))?;
    }
    app.store.prepare()?;
    let added_at = app.host.now();
    app.store.change_hooks::<_, AppError>(|hooks| {
        if hooks.len() >= MOST_HOOKS {
            return Err(AppError::new(Code::TooManyHooks, format!("there are {MOST_HOOKS} hooks already"))
                .next("luzia hook list"));
        }
        let name = new.name.clone().unwrap_or_else(|| free_name(event, hooks));
        if hooks.iter().any(|hook| hook.name == name) {
            return Err(AppError::new(Code::HookExists, format!("there is a hook \"{name}\" already"))
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
        AppError::new(Code::HookNotFound, format!("there is no hook \"{}\"", shortened(name)))
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

fn unknown_event(word: &str) -> AppError {
    let near = EVENTS.iter().map(|(name, ..)| *name).find(|name| {
        let bare = name.rsplit_once('.').map_or(*name, |(_, bare)| bare);
        !word.is_empty() && (bare.starts_with(word) || word.ends_with(bare) || word.contains(bare))
    });
    let names: Vec<&str> = EVENTS.iter().map(|(name, ..)| *name).collect();
    AppError::usage(format!("there is no event \"{}\" for hooks", shortened(word))).hint(match near {
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

/// The error of a program that is missing, with the one that was probably meant.
fn not_runnable(error: AppError, argv: &[String]) -> AppError {
    let meant = match argv {
        [url] if url.starts_with("http://") || url.starts_with("https://") => format!("post to it with --url {url}"),
        [option, ..] if option.starts_with('-') => {
            "options stand before the command: luzia hook add EVENT -- CMD".to_owned()
        }
        _ => {
            return error.hint(
                "name an existing program, or a shell line as sh -c 'LINE'; --no-check allows a \
                 program that does not exist yet; nothing was added",
            );
        }
    };
    error.hint(format!("{meant}; nothing was added"))
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
