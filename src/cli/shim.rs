//! luzia called by the name of a tool: starts the real program, and lets heavy calls take turns.

use super::account_files::no_home;
use super::args::Globals;
use super::context::{HOME, of_state_dir, opened, variable};
use super::exit::{Exit, end_code};
use super::verbs::Does;
use crate::app::locks::lock::lock_telling;
use crate::app::names::lane_option;
use crate::app::names::shims::{self, Folder, is_under};
use crate::app::{AppError, Kind, Line, Under};
use crate::os::StartError;
use crate::os::real::{self, RealShims, term};
use crate::os::user_files::Shims;
use crate::store::state_dir::home_shims;
use std::cell::Cell;
use std::ffi::OsString;
use std::path::Path;

/// The end of the path of a folder of shims.
pub(super) const FOLDER: &str = "luzia/shims";

/// The folder of the shims of this account.
pub(super) fn folder() -> Result<Folder, AppError> {
    let dir = home_shims(HOME).map_err(of_state_dir)?;
    Ok(Folder::new(Box::new(RealShims), dir.ok_or_else(|| no_home("shims", "XDG_DATA_HOME", ""))?))
}

/// Runs the shim and gives its exit code. Returns `None` when this process was not called by the name of a shim.
pub(super) fn called(args: &[OsString]) -> Option<u8> {
    let (own, rest) = args.split_first()?;
    let called = Path::new(own);
    let name = called.file_name()?.to_str().filter(|name| !name.starts_with("luzia"))?;
    let found = RealShims.on_path(name);
    let link = match called.parent().and_then(Path::to_str).filter(|dir| !dir.is_empty()) {
        Some(dir) => Some(dir.to_owned()),
        None => found.iter().find(|one| one.is_own).and_then(|one| Some(one.path.rsplit_once('/')?.0.to_owned())),
    };
    let link = link.filter(|dir| dir.ends_with(FOLDER));
    if link.is_none() && !shims::is_known(name) {
        return None;
    }
    let Some(program) = shims::program(&found) else {
        say(&format!("luzia: the shim \"{name}\" finds no other program of that name on PATH"));
        return Some(Exit::NoCommand.code());
    };
    let words: Vec<&str> = rest.iter().map(|word| word.to_str().unwrap_or("\u{fffd}")).collect();
    if !shims::is_heavy(name, &words) {
        return Some(become_it(program, own, rest));
    }
    let has_started = Cell::new(false);
    match under_lock(name, link, program, rest, &has_started) {
        Ok(Some(code)) => Some(code),
        Ok(None) => Some(become_it(program, own, rest)),
        Err(error) => Some(failed(&error, has_started.get(), name, &mut || become_it(program, own, rest))),
    }
}

/// Ends, or goes on without the lane: a build that luzia cannot order is better than no build.
fn failed(error: &AppError, has_started: bool, name: &str, go_on: &mut dyn FnMut() -> u8) -> u8 {
    let of_program = matches!(error.kind(), Kind::NoCommand | Kind::NotExecutable | Kind::NotStarted);
    if has_started || of_program {
        say(&format!("luzia: {error}"));
        return error.kind().code();
    }
    if matches!(variable("LUZIA_SHIM"), Ok(Some(word)) if word == "closed") {
        say(&format!("luzia: {name} was not started, because LUZIA_SHIM=closed: {error}"));
        return Exit::NoPermission.code();
    }
    say(&format!("luzia: {name} takes no turn: {error}"));
    go_on()
}

/// Runs the program under the lane of its shim; `None` where it may start at once.
fn under_lock(
    name: &str,
    link: Option<String>,
    program: &str,
    rest: &[OsString],
    has_started: &Cell<bool>,
) -> Result<Option<u8>, AppError> {
    // A file size limit becomes an error instead of a death.
    let _ = real::prepare_process();
    let mut argv = vec![program.to_owned()];
    for word in rest {
        argv.push(word.to_str().ok_or_else(|| AppError::usage("an argument is not UTF-8"))?.to_owned());
    }
    let lane = match link {
        Some(dir) => Folder::new(Box::new(RealShims), dir).lane(name)?,
        None => shims::DEFAULT_LANE.to_owned(),
    };
    let app = opened(&Globals::default(), &[Does::MakesState])?;
    let lane = lane_option(&app, &lane, None)?;
    if is_under(&app, &lane)? {
        return Ok(None);
    }
    let mut tell = |line: Line| {
        if let Line::Waits(text) = line {
            say(&text.replacen("luzia: waits", &format!("luzia: {name} waits"), 1));
        }
    };
    // A server that a build starts (sccache, gradle) would keep the lane for hours.
    let under = Under { command: &argv, closes: true };
    let ran = lock_telling(&app, &[lane], None, under, &mut tell, &|| has_started.set(true))?;
    Ok(Some(end_code(ran.end)))
}

fn become_it(program: &str, own: &OsString, rest: &[OsString]) -> u8 {
    let (code, error) = match real::become_program(program, own, rest) {
        StartError::NotFound(error) => (Exit::NoCommand, error),
        StartError::NotExecutable(error) => (Exit::NotExecutable, error),
        StartError::Short(error) | StartError::Other(error) => (Exit::NotStarted, error),
    };
    say(&format!("luzia: {error}"));
    code.code()
}

fn say(line: &str) {
    let _ =
        term::write_all(term::Stream::Err, format!("{}\n", super::output::escape::escape_controls(line)).as_bytes());
}
