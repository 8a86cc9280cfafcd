//! Finds and reads the configuration, and checks whether its files have changed since.

use super::args::Globals;
use super::context::{HOME, of_state_dir, variable};
use crate::app::{AppError, Code, Round, Settings, shell_word};
use crate::model::config::SlotsFrom;
use crate::model::{Config, Timestamp};
use crate::os::real::{RealFiles, online_processors, term};
use crate::os::{Meta, Open, Vfs};
use crate::store::config::parse;
use crate::store::state_dir;
use crate::store::state_dir::{BelowHome, ConfigPlace};
use std::cell::RefCell;

/// The largest configuration read, in bytes.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// A configuration and its origin.
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// The file of the configuration; `None` for the built-in defaults.
    pub path: Option<String>,
    /// The rule that applied.
    pub rule: &'static str,
    /// Keys that have no effect.
    pub warnings: Vec<String>,
    /// The state of every place that was looked at: the files are not read again if another look finds the same state.
    seen: Vec<(String, Option<Stamp>)>,
}

/// The properties that change when a file does.
#[derive(PartialEq, Eq)]
struct Stamp {
    ident: (u64, u64),
    size: u64,
    times: (Timestamp, Timestamp),
    access: (u32, u32),
}

impl Stamp {
    fn of(meta: &Meta) -> Self {
        Self { ident: meta.ident, size: meta.size, times: (meta.modified, meta.changed), access: (meta.mode, meta.uid) }
    }
}

/// The configuration that applies.
pub(super) fn config_of(globals: &Globals) -> Result<Loaded, AppError> {
    let mut loaded = load(globals)?;
    if loaded.config.slots_from != SlotsFrom::File {
        loaded.config.set_slots_by_processors(online_processors());
    }
    Ok(loaded)
}

fn load(globals: &Globals) -> Result<Loaded, AppError> {
    let mut seen = Vec::new();
    for place in places(globals, || state_dir::home_config(HOME))? {
        let Some((bytes, stamp)) = read_config(&place.path)? else {
            if place.must_exist {
                let message = format!("there is no configuration \"{}\" ({})", place.path, place.rule);
                let hint = "name another file, or leave it out: luzia then looks in the usual places";
                return Err(AppError::new(Code::ConfigAbsent, message).hint(hint));
            }
            seen.push((place.path, None));
            continue;
        };
        seen.push((place.path.clone(), Some(stamp)));
        let parsed = parse(&bytes).map_err(|error| {
            let message = format!("\"{}\" line {} column {}: {}", place.path, error.line, error.column, error.message);
            AppError::new(Code::Config, message).hint("nothing was done").next(check_of(&place))
        })?;
        let warnings = parsed.warnings.iter().map(|warning| format!("\"{}\": {warning}", place.path)).collect();
        return Ok(Loaded { config: parsed.config, path: Some(place.path), rule: place.rule, warnings, seen });
    }
    Ok(Loaded { config: Config::default(), path: None, rule: "built-in defaults", warnings: Vec::new(), seen })
}

/// The command that checks a configuration file; it repeats a file that an option names.
fn check_of(place: &ConfigPlace) -> String {
    match place.rule {
        "--config" => format!("luzia config check --config {}", shell_word(&place.path)),
        _ => "luzia config check".to_owned(),
    }
}

/// The configuration for a process that lives for long. `loaded` is the configuration that it read at its start; where that
/// failed, every look tries again.
pub(super) fn followed(loaded: Result<Loaded, AppError>, globals: &Globals) -> Settings {
    let (config, force) = match loaded {
        Ok(Loaded { config, path, seen, .. }) => (config, InForce { path, seen: Some(seen) }),
        Err(_) => (Config::default(), InForce::default()),
    };
    // A working directory may be renamed.
    let config_path = named_config(globals).ok().flatten().or_else(|| globals.config.clone());
    let (force, globals) = (RefCell::new(force), Globals { config: config_path, ..globals.clone() });
    Settings::followed(config, Box::new(move |round| force.borrow_mut().look(&globals, round)))
}

/// The state of the configuration in force.
#[derive(Default)]
struct InForce {
    path: Option<String>,
    /// The state of the places of the configuration when it was read; `None` when the last look failed.
    seen: Option<Vec<(String, Option<Stamp>)>>,
}

impl InForce {
    fn look(&mut self, globals: &Globals, round: Round) -> Result<Option<Config>, AppError> {
        if self.seen.as_ref().is_some_and(|seen| seen.iter().all(is_unchanged)) {
            return Ok(None);
        }
        self.seen = None;
        let loaded = config_of(globals)?;
        if let Some(path) = &self.path
            && loaded.path.as_ref() != Some(path)
            && loaded.seen.iter().any(|(place, stamp)| place == path && stamp.is_none())
            && round == Round::Early
        {
            // An editor may have moved the old file aside while it saves. Other rules take effect only when the file stays
            // away.
            let message = format!("the configuration \"{path}\" is gone");
            return Err(AppError::new(Code::ConfigAbsent, message)
                .hint("without it the next of the usual places counts, or the built-in defaults"));
        }
        *self = Self { path: loaded.path, seen: Some(loaded.seen) };
        Ok(Some(loaded.config))
    }
}

/// The absolute path of the configuration that an option or a variable names.
pub(super) fn named_config(globals: &Globals) -> Result<Option<String>, AppError> {
    Ok(places(globals, || Ok(None))?.into_iter().find(|place| place.must_exist).map(|place| place.path))
}

/// Places where a configuration is searched.
fn places(globals: &Globals, home: BelowHome) -> Result<Vec<ConfigPlace>, AppError> {
    let variable = variable("LUZIA_CONFIG")?;
    let is_relative = |path: &String| !path.starts_with('/');
    let needs_cwd = [&globals.config, &variable].into_iter().flatten().any(is_relative);
    let cwd = if needs_cwd { term::working_directory().ok() } else { None };
    state_dir::config_candidates(globals.config.as_deref(), variable.as_deref(), home, cwd.as_deref())
        .map_err(of_state_dir)
}

fn is_unchanged((path, seen): &(String, Option<Stamp>)) -> bool {
    let (folder, name) = split(path);
    let found = RealFiles::reach(folder).and_then(|files| files.map_or(Ok(None), |files| files.meta(name)));
    found.is_ok_and(|found| found.as_ref().map(Stamp::of) == *seen)
}

fn read_config(path: &str) -> Result<Option<(Vec<u8>, Stamp)>, AppError> {
    let failed = |error: std::io::Error| {
        AppError::new(Code::ConfigUnreadable, format!("cannot read the configuration \"{path}\": {error}"))
            .hint("it must be a file of this account or root, of at most 1 MiB; nothing was done")
    };
    let (folder, name) = split(path);
    let Some(files) = RealFiles::reach(folder).map_err(failed)? else { return Ok(None) };
    let Some(mut file) = files.open(name, Open::ReadOnly).map_err(failed)? else { return Ok(None) };
    let meta = file.meta().map_err(failed)?;
    let (uid, _) = term::account();
    if !meta.is_safe_for(uid) {
        let message = format!("the configuration \"{path}\" can be changed by other accounts");
        return Err(AppError::new(Code::ConfigUnsafe, message).hint(format!("chmod go-w {path}")));
    }
    Ok(Some((file.read_all(MAX_CONFIG_BYTES).map_err(failed)?, Stamp::of(&meta))))
}

/// The folder of a path and the name in it.
fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        None => (".", path),
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
    }
}
