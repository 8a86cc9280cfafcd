//! `dispatch`, `daemon`, `config`, `doctor` and `demo`.

use crate::app::daemon::Log;
use crate::app::dispatch::Pass;
use crate::app::{App, AppError, Kind};
use crate::cli::Loaded;
use crate::cli::args::{ConfigVerb, DaemonArgs, DemoArgs, DispatchArgs, DoctorArgs};
use crate::cli::console::{Answer, Console};
use crate::cli::exit::Exit;
use crate::cli::{door, json, words};
use serde_json::json;
use std::time::Duration;

/// What `doctor` looks at; whatever could not be had comes as the reason why.
pub struct Surroundings {
    /// The use cases in the state directory.
    pub app: Result<App, String>,
    /// The state directory and the rule that chose it.
    pub state_dir: Option<(String, &'static str)>,
    /// Other state directories that exist, with their rules.
    pub others: Vec<(String, &'static str)>,
    /// The configuration.
    pub config: Result<Loaded, String>,
}

/// `luzia dispatch`.
pub fn dispatch(args: &DispatchArgs, app: &App, ended: &mut dyn FnMut() -> bool, console: &mut Console) -> Answer {
    if args.drain {
        let mut log = Talk { console, ended, total: Pass::default() };
        app.drain(&mut log)?;
        let total = log.total;
        return report(&total, console);
    }
    let pass = app.pass()?;
    report(&pass, console)
}

fn report(pass: &Pass, console: &mut Console) -> Answer {
    let names = |ids: &[crate::model::TaskId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    // What a newer luzia wrote is refused, after everything else had its turn.
    let code = if pass.left.is_empty() { Exit::Done } else { Exit::Corrupt }.code();
    if console.is_json() {
        let value = json!({
            "started": names(&pass.started),
            "recovered": names(&pass.recovered),
            "set_aside": pass.set_aside,
            "left": pass.left.iter().map(|left| left.what.as_str()).collect::<Vec<_>>(),
            "next_due": pass.next_due.map(|at| at.to_string()),
        });
        console.document(&json::single("dispatch", value))?;
        return Ok(code);
    }
    for id in names(&pass.started) {
        console.out(&format!("{id}\n"))?;
    }
    for what in &pass.set_aside {
        console.say(&format!("warning: {what}; it was set aside"));
    }
    for left in &pass.left {
        console.say(&format!("warning: {}; use the luzia that wrote it, nothing was rewritten", left.what));
    }
    Ok(code)
}

/// The terminal as the log of a dispatcher.
struct Talk<'a, 'b> {
    console: &'a mut Console<'b>,
    ended: &'a mut dyn FnMut() -> bool,
    total: Pass,
}

impl Log for Talk<'_, '_> {
    fn pass(&mut self, pass: &Pass) {
        for id in &pass.started {
            self.console.log(&format!("started {id}"));
        }
        for id in &pass.recovered {
            self.console.log(&format!("recovered {id}"));
        }
        self.total.started.extend(&pass.started);
        self.total.recovered.extend(&pass.recovered);
        self.total.set_aside.extend(pass.set_aside.iter().cloned());
        self.total.left.clone_from(&pass.left);
    }

    fn failed(&mut self, error: &AppError) {
        self.console.report(&words::report_of(error));
    }

    fn is_ended(&mut self) -> bool {
        (self.ended)()
    }
}

/// `luzia daemon`.
pub fn daemon(args: &DaemonArgs, app: &App, ended: &mut dyn FnMut() -> bool, console: &mut Console) -> Answer {
    let poll_ms = door::duration("poll", args.poll.as_deref())?.unwrap_or(app.config.poll_interval_ms);
    if poll_ms == 0 {
        return Err(AppError::usage("--poll must be longer than 0").into());
    }
    console.log(&format!("luzia daemon in {}", app.store_path()));
    let mut log = Talk { console, ended, total: Pass::default() };
    app.daemon(Duration::from_millis(poll_ms), &mut log)?;
    Ok(Exit::Done.code())
}

/// `luzia config show|path|check`.
pub fn config(verb: ConfigVerb, loaded: &Loaded, console: &mut Console) -> Answer {
    match verb {
        ConfigVerb::Show => {
            let value = crate::app::config_json(&loaded.config);
            console.document(&value)?;
        }
        ConfigVerb::Path => match (&loaded.path, console.is_json()) {
            (path, true) => {
                let value = json!({ "path": path, "rule": loaded.rule });
                console.document(&json::single("config-path", value))?;
            }
            (Some(path), false) => console.out(&format!("{path}\n"))?,
            (None, false) => console.say("no configuration file; the built-in defaults apply"),
        },
        ConfigVerb::Check => {
            for warning in &loaded.warnings {
                console.say(&format!("warning: {warning}"));
            }
            let name = loaded.path.as_deref().unwrap_or("built-in defaults");
            if console.is_json() {
                let value = json!({ "ok": true, "path": loaded.path, "warnings": loaded.warnings });
                console.document(&json::single("config-check", value))?;
            } else {
                console.say(&format!("{name}: no mistake"));
            }
        }
    }
    Ok(Exit::Done.code())
}

/// `luzia doctor`.
pub fn doctor(_args: &DoctorArgs, _around: &Surroundings, _console: &mut Console) -> Answer {
    Err(AppError::new(Kind::Unavailable, "NOT_YET", "doctor").into())
}

/// `luzia demo`.
pub fn demo(_args: &DemoArgs, _program: &str, _console: &mut Console) -> Answer {
    Err(AppError::new(Kind::Unavailable, "NOT_YET", "demo").into())
}
