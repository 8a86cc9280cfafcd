//! `luzia daemon --install`: writes the unit by which systemd runs the daemon for one account.

use crate::app::{App, AppError, Code, shell_word};
use crate::cli::output::console::Console;
use serde_json::json;
use std::io;

/// The unit. Its line `ExecStart` gets the path of this program.
const UNIT: &str = include_str!("../../../../../packaging/systemd/user/luzia.service");
const START: &str = "ExecStart=/usr/bin/luzia daemon\n";
/// The commands that start the daemon.
const NEXT: [&str; 2] = ["systemctl --user daemon-reload", "systemctl --user enable --now luzia"];

/// The unit of this account.
pub struct Unit {
    /// The file of the unit.
    pub path: String,
    /// The program that the unit starts.
    pub program: String,
    /// Reads a file; `None` if it does not exist.
    pub read: fn(&str) -> io::Result<Option<Vec<u8>>>,
    /// Replaces or makes a file.
    pub write: fn(&str, &str) -> io::Result<()>,
}

/// Writes the unit, unless there is another one and `replaces` is false, and prints the commands that start the daemon. `rule` is
/// the rule by which the state directory was found.
pub(super) fn install(unit: &Unit, replaces: bool, app: &App, rule: &str, console: &mut Console) -> anyhow::Result<()> {
    let path = &unit.path;
    let text = text(&unit.program, &arguments(app, rule));
    let was = (unit.read)(path).map_err(|error| failed("read", path, &error))?;
    let is_changed = was.as_deref() != Some(text.as_bytes());
    if is_changed && was.is_some() && !replaces {
        let message = format!("there is \"{path}\" already, and it differs from the unit of this luzia");
        return Err(AppError::new(Code::UnitExists, message)
            .hint("nothing was changed; --replace puts the unit of this luzia in its place")
            .next(format!("cat {}", shell_word(path)))
            .into());
    }
    if is_changed {
        (unit.write)(path, &text).map_err(|error| failed("write", path, &error))?;
    }
    if console.json("daemon", || json!({ "path": path, "changed": is_changed, "next": NEXT }))? {
        return Ok(());
    }
    console.say(&format!("{path} {}", if is_changed { "was written; start it with" } else { "is there already" }));
    NEXT.iter().try_for_each(|line| console.out(&format!("{line}\n")))?;
    console.hint("`loginctl enable-linger` lets it run while you are logged out");
    Ok(())
}

/// Options that lead the daemon to the state directory and the configuration of this caller, where a variable or an option
/// named them: systemd starts it without these.
fn arguments(app: &App, rule: &str) -> Vec<String> {
    let is_default = rule.starts_with("~/") || rule.starts_with("/var/lib/");
    let state = (!is_default).then(|| ["--state-dir".to_owned(), app.store_path().to_owned()]);
    let config = app.config_path.as_ref().map(|path| ["--config".to_owned(), path.clone()]);
    state.into_iter().chain(config).flatten().collect()
}

fn text(program: &str, arguments: &[String]) -> String {
    let words = std::iter::once(program).chain(arguments.iter().map(String::as_str)).map(word);
    let line = words.collect::<Vec<_>>().join(" ");
    UNIT.replacen(START, &format!("ExecStart={line} daemon\n"), 1)
}

/// A word of a command line in a unit (systemd.service(5)): `%` and `$` begin no specifier and no variable.
fn word(text: &str) -> String {
    let text = text.replace('%', "%%").replace('$', "$$");
    if text.chars().all(|c| c.is_alphanumeric() || "/._-+:@%$".contains(c)) {
        return text;
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn failed(what: &str, path: &str, error: &io::Error) -> AppError {
    AppError::new(Code::Unit, format!("cannot {what} \"{path}\": {error}"))
        .hint("nothing was changed; XDG_CONFIG_HOME names another place")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_starts_this_program() {
        let line = |program: &str, arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
            let text = text(program, &arguments);
            assert_eq!(text.lines().count(), UNIT.lines().count());
            text.lines().find(|line| line.starts_with("ExecStart=")).map(str::to_owned).expect("a line")
        };
        assert_eq!(line("/home/ana/.cargo/bin/luzia", &[]), "ExecStart=/home/ana/.cargo/bin/luzia daemon");
        assert_eq!(
            line("/opt/a b/luzia", &["--state-dir", "/w/50%$\"x\""]),
            r#"ExecStart="/opt/a b/luzia" --state-dir "/w/50%%$$\"x\"" daemon"#
        );
    }
}
