//! Shims: links to luzia that come before heavy tools on PATH.

use crate::app::locks::reentrancy::reentrant;
use crate::app::{App, AppError, Code};
use crate::model::LaneName;
use crate::model::lock::LockKind;
use crate::os::user_files::{OnPath, Shims};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io;

pub use crate::policy::shim::{is_heavy, is_known};

/// The lane of a shim that names none.
pub const DEFAULT_LANE: &str = "build";
/// The file that keeps the lanes, beside the links.
const LANES: &str = "shims.json";

/// The folder of the links.
pub struct Folder {
    os: Box<dyn Shims>,
    dir: String,
}

/// A shim, and the program that PATH has under its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shim {
    /// The name of the tool.
    pub tool: String,
    /// The lane of the shim, as it was given.
    pub lane: String,
    /// The program that the shim starts.
    pub program: Option<String>,
    /// The reason why the shim does not work now.
    pub problem: Option<String>,
}

impl Folder {
    /// The folder at a path.
    pub fn new(os: Box<dyn Shims>, dir: String) -> Self {
        Self { os, dir }
    }

    /// The path of the folder.
    pub fn path(&self) -> &str {
        &self.dir
    }

    /// Makes links for tools; all of them, or none where a name is refused. With `replaces`, links to luzia are replaced.
    pub fn add(&self, tools: &[String], lane: Option<&str>, replaces: bool) -> Result<(), AppError> {
        if let Some(lane) = lane.filter(|lane| !lane.starts_with('@')) {
            crate::app::queue::enqueue::lane_option(lane)?;
        }
        for (at, tool) in tools.iter().enumerate() {
            if tool.is_empty() || tool.contains('/') || tool.starts_with(['.', '-']) || tool.starts_with("luzia") {
                return Err(AppError::usage(format!("\"{}\" cannot be the name of a shim", tool.escape_debug()))
                    .hint("write the name of a program as on PATH, e.g. cargo"));
            }
            if tools[..at].contains(tool) {
                return Err(AppError::usage(format!("\"{tool}\" is named twice")));
            }
            let is_own = self.os.is_own(&self.dir, tool);
            if tool == LANES || self.os.exists(&self.dir, tool) && !(replaces && is_own) {
                let message = format!("there is \"{}/{tool}\" already", self.dir);
                return Err(AppError::new(Code::ShimExists, message).hint(match is_own {
                    true => "nothing was changed; --replace makes it anew, `luzia shim list` shows the shims",
                    false => "nothing was changed; it is not a link to luzia, so luzia leaves it alone",
                }));
            }
        }
        let mut lanes = self.lanes()?;
        for tool in tools {
            lanes.insert(tool.clone(), json!(lane.unwrap_or(DEFAULT_LANE)));
        }
        self.keep(lanes)?;
        for tool in tools {
            self.os.link(&self.dir, tool).map_err(|error| self.failed(tool, &error))?;
        }
        Ok(())
    }

    /// Removes links and the lanes that were kept for them; none of them where one is unknown.
    pub fn remove(&self, tools: &BTreeSet<&String>) -> Result<(), AppError> {
        let names = self.names()?;
        if let Some(unknown) = tools.iter().find(|tool| !names.contains(tool)) {
            let message = format!("there is no shim \"{}\"", unknown.escape_debug());
            return Err(AppError::new(Code::ShimNotFound, message).next("luzia shim list"));
        }
        let mut lanes = self.lanes()?;
        for tool in tools {
            self.os.unlink(&self.dir, tool).map_err(|error| self.failed(tool, &error))?;
            lanes.shift_remove(tool.as_str());
        }
        self.keep(lanes)
    }

    /// The shims in the order of their names, each with its program or its problem by PATH.
    pub fn list(&self) -> Result<Vec<Shim>, AppError> {
        let lanes = self.lanes()?;
        let shim = |tool: String| {
            let found = self.os.on_path(&tool);
            let program = program(&found).map(str::to_owned);
            let problem = match found.first() {
                _ if program.is_none() => Some("there is no such program on PATH".to_owned()),
                _ if !self.is_on_path() => Some("its folder is not on PATH".to_owned()),
                Some(first) if !first.is_own => Some(format!("{} comes before it on PATH", first.path)),
                _ => None,
            };
            let lane = lanes.get(&tool).and_then(Value::as_str).unwrap_or(DEFAULT_LANE).to_owned();
            Shim { tool, lane, program, problem }
        };
        Ok(self.names()?.into_iter().map(shim).collect())
    }

    /// Whether the folder is on PATH.
    pub fn is_on_path(&self) -> bool {
        self.os.has_on_path(&self.dir)
    }

    /// The lane of a tool, as it was given.
    pub fn lane(&self, tool: &str) -> Result<String, AppError> {
        Ok(self.lanes()?.get(tool).and_then(Value::as_str).unwrap_or(DEFAULT_LANE).to_owned())
    }

    fn names(&self) -> Result<Vec<String>, AppError> {
        self.os.list(&self.dir).map_err(|error| self.failed("", &error))
    }

    fn lanes(&self) -> Result<Map<String, Value>, AppError> {
        let Some(text) = self.os.read(&self.dir, LANES).map_err(|error| self.failed(LANES, &error))? else {
            return Ok(Map::new());
        };
        let wrong = || {
            AppError::new(Code::ShimsCorrupt, format!("\"{}/{LANES}\" cannot be read", self.dir))
                .hint("it is a JSON object with the lane of each tool under \"lanes\"")
        };
        let value: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
        value.get("lanes").and_then(Value::as_object).cloned().ok_or_else(wrong)
    }

    /// Keeps the lanes; the last shim takes the file with it.
    fn keep(&self, lanes: Map<String, Value>) -> Result<(), AppError> {
        let kept = if lanes.is_empty() {
            self.os.unlink(&self.dir, LANES).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })
        } else {
            self.os.write(&self.dir, LANES, &format!("{:#}\n", json!({ "schema": "luzia.shims/v1", "lanes": lanes })))
        };
        kept.map_err(|error| self.failed(LANES, &error))
    }

    fn failed(&self, name: &str, error: &io::Error) -> AppError {
        AppError::new(Code::Shims, format!("cannot use \"{}/{name}\": {error}", self.dir))
    }
}

/// The program behind the shim of its name.
pub fn program(found: &[OnPath]) -> Option<&str> {
    found.iter().find(|one| !one.is_own).map(|one| one.path.as_str())
}

/// Whether this process runs under a holder of a lane, also if a program between them has closed the lock file.
pub fn is_under(app: &App, lane: &LaneName) -> Result<bool, AppError> {
    if !app.has_holder {
        return Ok(false);
    }
    if reentrant(app, lane)?.is_some() {
        return Ok(true);
    }
    let is_above = |view: &crate::store::LockView| {
        let record = view.record().filter(|record| record.kind == LockKind::Process);
        record.is_some_and(|record| app.host.is_below(record))
    };
    Ok(app.holders(lane)?.iter().any(is_above))
}
