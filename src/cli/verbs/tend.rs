//! `dispatch`, `daemon`, `config` and `doctor`.

use crate::app::daemon::Log;
use crate::app::dispatch::Pass;
use crate::app::doctor::{Around, ConfigSeen, Finding, Level, Mended, is_well, look};
use crate::app::{App, AppError};
use crate::cli::args::{ConfigVerb, DaemonArgs, DispatchArgs, DoctorArgs, OutputFormat};
use crate::cli::configuration::Loaded;
use crate::cli::console::{Answer, Console, Stop};
use crate::cli::exit::Exit;
use crate::cli::style::Tone;
use crate::cli::table::{Column, Table};
use crate::cli::{door, json, words};
use serde_json::{Value, json};
use std::time::Duration;

/// What `doctor` looks at; whatever could not be had comes as the reason why.
pub struct Surroundings {
    /// The use cases in the state directory.
    pub app: Result<App, AppError>,
    /// The state directory and the rule that chose it.
    pub state_dir: Option<(String, &'static str)>,
    /// Other state directories that exist, with their rules.
    pub others: Vec<(String, &'static str)>,
    /// The configuration.
    pub config: Result<Loaded, AppError>,
    /// Whether a file system that is not local was declared good by its owner.
    pub forces_file_system: bool,
}

impl Surroundings {
    fn around(&self) -> Around<'_> {
        Around {
            state_dir: self.state_dir.as_ref().map(|(path, rule)| (path.as_str(), *rule)),
            app: self.app.as_ref(),
            others: &self.others,
            config: self.config.as_ref().map(|loaded| ConfigSeen {
                path: loaded.path.as_deref(),
                rule: loaded.rule,
                warnings: &loaded.warnings,
            }),
            forces_file_system: self.forces_file_system,
        }
    }
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
            "unseen": pass.unseen.iter().map(|unseen| unseen.text()).collect::<Vec<_>>(),
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
    for unseen in &pass.unseen {
        console.say(&format!("warning: {}", unseen.text()));
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
        if pass.in_vain == 0 {
            self.console.all_is_well();
        }
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
        self.total.unseen.clone_from(&pass.unseen);
    }

    fn failed(&mut self, error: &AppError) {
        self.console.trouble(&words::report_of(error));
    }

    fn is_ended(&mut self) -> bool {
        (self.ended)()
    }
}

/// `luzia daemon`.
pub fn daemon(args: &DaemonArgs, app: &App, ended: &mut dyn FnMut() -> bool, console: &mut Console) -> Answer {
    let poll_ms = door::duration("poll", args.poll.as_deref())?;
    if poll_ms == Some(0) {
        return Err(AppError::usage("--poll must be longer than 0").into());
    }
    console.log(&format!("luzia daemon in {}", app.store_path()));
    let mut log = Talk { console, ended, total: Pass::default() };
    app.daemon(poll_ms.map(Duration::from_millis), &mut log)?;
    Ok(Exit::Done.code())
}

/// `luzia config show|path|check`.
pub fn config(verb: ConfigVerb, loaded: &Loaded, console: &mut Console) -> Answer {
    match verb {
        ConfigVerb::Show => {
            let value = crate::app::config_json(&loaded.config);
            // Without --json it is a file to start from, so it has the members of the configuration only.
            console.document(&if console.is_json() { json::single("config-show", value) } else { value })?;
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

/// `luzia doctor`. `confirm` asks on the terminal.
pub fn doctor(
    args: &DoctorArgs,
    around: &Surroundings,
    confirm: &mut dyn FnMut(&str) -> Result<bool, AppError>,
    console: &mut Console,
) -> Answer {
    let mut findings = look(&around.around());
    let mut mended = None;
    if args.fix {
        if !confirm("mend what can be mended safely?")? {
            return Err(AppError::usage("not confirmed; nothing was changed").into());
        }
        if let Ok(app) = &around.app {
            mended = Some(app.mend(around.forces_file_system));
            findings = look(&around.around());
        }
    }
    let mended = mended.unwrap_or_default();
    match console.format {
        OutputFormat::Json => console.document(&findings_document(&findings, args.fix.then_some(&mended)))?,
        OutputFormat::Jsonl => console.items("doctor", findings.iter().map(finding_json))?,
        OutputFormat::Table | OutputFormat::Wide | OutputFormat::Name => {
            tell_findings(&findings, &mended, console)?;
        }
    }
    Ok(if is_well(&findings) { Exit::Done.code() } else { Exit::No.code() })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "level": finding.level.word(),
        "message": finding.message,
        "hint": finding.hint,
    })
}

fn findings_document(findings: &[Finding], mended: Option<&Mended>) -> Value {
    let mut members = vec![("ok", json!(is_well(findings))), ("items", findings.iter().map(finding_json).collect())];
    if let Some(mended) = mended {
        members.push(("mended", json!(mended.done)));
        members.push(("not_mended", json!(mended.failed)));
    }
    json::document("doctor", members)
}

fn tell_findings(findings: &[Finding], mended: &Mended, console: &mut Console) -> Result<(), Stop> {
    for done in &mended.done {
        console.say(&format!("mended: {done}"));
    }
    for failed in &mended.failed {
        console.say(&format!("not mended: {failed}"));
    }
    let mut table = Table::new(&[Column::new("CHECK"), Column::new("LEVEL"), Column::new("SEEN")]);
    for finding in findings {
        let tone = match finding.level {
            Level::Ok => Tone::Good,
            Level::Warn => Tone::Warn,
            Level::Problem => Tone::Bad,
        };
        let level = finding.level.word().to_owned();
        let cells = [(finding.check.to_owned(), Tone::Plain), (level, tone), (finding.message.clone(), Tone::Plain)];
        table.toned_row(cells);
    }
    console.table(&table)?;
    // A narrow terminal cuts the last column, and what is wrong must be readable whole.
    for finding in findings.iter().filter(|finding| finding.level > Level::Ok) {
        let hint = finding.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
        console.hint(&format!("{}: {}{hint}", finding.check, finding.message));
    }
    let count = |level: Level| findings.iter().filter(|finding| finding.level == level).count();
    console.say(&match (count(Level::Problem), count(Level::Warn)) {
        (0, 0) => "no problem found".to_owned(),
        (0, warnings) => format!("no problem found, warnings: {warnings}"),
        (problems, warnings) => format!("problems: {problems}, warnings: {warnings}"),
    });
    Ok(())
}
