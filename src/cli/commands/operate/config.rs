//! `luzia config`: shows, locates and checks the configuration.

use crate::cli::configuration::Loaded;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use clap::{Args, Subcommand};
use serde_json::json;

/// `luzia config`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Show, locate or check the configuration. Daemons and supervisors read a changed one before they start \
                  anything else. While it has a mistake they start nothing; what runs comes to its end.\n\n\
                  The project \"*\" holds what other projects leave out, and all of projects that are not named.",
    subcommand_required = true,
    subcommand_value_name = "VERB",
    after_help = CONFIG_HELP
)]
pub struct ConfigArgs {
    /// What to do.
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
    Check,
}

const CONFIG_HELP: &str = "\
Examples:
  luzia config show
  luzia config check --config ./config.json

Exit codes:
  0    done
  2    usage
  78   the configuration has a mistake
  others as in luzia-exit-codes(7)";

const CONFIG_SHOW_HELP: &str = "\
Examples:
  luzia config show --json

Exit codes:
  0    shown
  2    usage
  78   the configuration has a mistake
  others as in luzia-exit-codes(7)";

const CONFIG_PATH_HELP: &str = "\
Examples:
  luzia config path

Exit codes:
  0    printed
  2    usage
  others as in luzia-exit-codes(7)";

const CONFIG_CHECK_HELP: &str = "\
Examples:
  luzia config check
  luzia config check --config ./config.json

Exit codes:
  0    no mistake
  2    usage
  78   the configuration has a mistake
  others as in luzia-exit-codes(7)";

/// `luzia config show|path|check`.
pub fn run(verb: ConfigVerb, loaded: &Loaded, console: &mut Console) -> Answer {
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
