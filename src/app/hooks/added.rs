//! The hooks that people have added, and the checks of a new one.

use crate::app::queue::doors::{as_usage, check_program};
use crate::app::{App, AppError, Code};
use crate::model::control::{Action, HOOK_TIMEOUT_MS, Hook};
use crate::model::name::shortened;
use crate::policy::hooks::{AFTER, BEFORE, EVENTS, event_name};

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
    /// Its time limit, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The working directory of the caller.
    pub cwd: String,
    /// The environment of the caller, in which its program is looked for.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether its program may be missing.
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
            .hint("curl can be that command; nothing was added"));
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
        [option, ..] if option.starts_with('-') => "options stand before the command: luzia hook add EVENT -- CMD".to_owned(),
        _ => return error.hint("name a program that is there, a shell line as sh -c 'LINE'; --no-check is for one that comes later; nothing was added"),
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
