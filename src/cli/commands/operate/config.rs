//! `luzia config`: shows, locates and checks the configuration.

use crate::app::AppError;
use crate::cli::configuration::Loaded;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use clap::{Args, Subcommand};
use serde_json::json;

/// Show, locate or check the configuration. Daemons and supervisors read a changed one before they start anything else.
/// While it has a mistake they start nothing; running tasks come to their end.
///
/// The project "*" holds the values that other projects leave out, and all values of projects that are not named.
#[derive(Args, Clone, Debug)]
#[command(long_about, subcommand_required = true, subcommand_value_name = "VERB", after_help = CONFIG_HELP)]
pub struct ConfigArgs {
    /// The action.
    #[command(subcommand)]
    pub verb: ConfigVerb,
}

/// The verbs of `luzia config`.
#[derive(Subcommand, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConfigVerb {
    /// Print the configuration in force, defaults included
    #[command(after_help = CONFIG_SHOW_HELP)]
    Show,
    /// Print the path of the configuration file in force
    #[command(after_help = CONFIG_PATH_HELP)]
    Path,
    /// Read the configuration and report its first mistake, or every key without effect
    #[command(after_help = CONFIG_CHECK_HELP)]
    Check {
        /// Fail with 1 when a key has no effect, e.g. a misspelled one
        #[arg(long, overrides_with = "strict")]
        strict: bool,
    },
    /// Print the JSON Schema of the configuration file
    #[command(after_help = CONFIG_SCHEMA_HELP)]
    Schema,
}

const CONFIG_HELP: &str = "\
Examples:
  luzia config show
  luzia config check --config ./config.json

Exit codes:
  0    done
  2    usage
  78   the configuration has a mistake";

const CONFIG_SHOW_HELP: &str = "\
Examples:
  luzia config show --json

Exit codes:
  0    shown
  2    usage
  78   the configuration has a mistake";

const CONFIG_PATH_HELP: &str = "\
Examples:
  luzia config path

Exit codes:
  0    printed
  2    usage";

const CONFIG_CHECK_HELP: &str = "\
Examples:
  luzia config check
  luzia config check --strict --config ./config.json

Exit codes:
  0    no mistake
  1    with --strict: a key has no effect
  2    usage
  78   the configuration has a mistake";

const CONFIG_SCHEMA_HELP: &str = "\
Examples:
  luzia config schema > config.schema.json

Exit codes:
  0    printed
  2    usage";

/// `luzia config show|path|check|schema`. `load` reads the configuration that applies.
pub fn run(verb: ConfigVerb, load: &dyn Fn() -> Result<Loaded, AppError>, console: &mut Console) -> Answer {
    if verb == ConfigVerb::Schema {
        // A schema for editors, and no document of luzia's.
        console.document(&crate::app::config_schema())?;
        return Ok(Exit::Done.code());
    }
    let loaded = load()?;
    match verb {
        ConfigVerb::Show => {
            let value = crate::app::config_json(&loaded.config);
            // Without --json it is a file to start from, so it has the members of the configuration only.
            console.document(&if console.is_json() { json::single("config-show", value) } else { value })?;
        }
        ConfigVerb::Path => {
            let is_told = console.json("config-path", || json!({ "path": loaded.path, "rule": loaded.rule }))?;
            match &loaded.path {
                _ if is_told => {}
                Some(path) => console.out(&format!("{path}\n"))?,
                None => console.say("no configuration file; the built-in defaults apply"),
            }
        }
        ConfigVerb::Check { strict } => return check(&loaded, strict, console),
        ConfigVerb::Schema => {}
    }
    Ok(Exit::Done.code())
}

/// Reports the warnings; with `is_strict` any warning is a failure.
fn check(loaded: &Loaded, is_strict: bool, console: &mut Console) -> Answer {
    for warning in &loaded.warnings {
        console.say(&format!("warning: {warning}"));
    }
    let is_right = loaded.warnings.is_empty() || !is_strict;
    let document = || json!({ "ok": is_right, "path": loaded.path, "warnings": loaded.warnings });
    if !console.json("config-check", document)? {
        let name = loaded.path.as_deref().unwrap_or("built-in defaults");
        let found = match loaded.warnings.len() {
            0 => "no mistake".to_owned(),
            1 => "1 warning".to_owned(),
            count => format!("{count} warnings"),
        };
        console.say(&format!("{name}: {found}"));
    }
    Ok(if is_right { Exit::Done.code() } else { Exit::No.code() })
}
