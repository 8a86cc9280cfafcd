//! The variables of a task.

use crate::app::config_reload::config;
use crate::app::queue::enqueue::{Caller, LOADER_VARIABLES};
use crate::app::{App, AppError};
use crate::model::name::shortened;
use crate::model::task::Environment;
use crate::model::task::OF_ONE_REPOSITORY;
use crate::request::TaskRequest;
use std::path::Path;

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
