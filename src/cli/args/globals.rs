//! The options every verb has. Definition only.

use super::values::{ColorWhen, OutputFormat};
use clap::{Args, ValueHint};

/// The options every verb has, before or after the verb.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// The state directory, instead of LUZIA_STATE_DIR and the usual places
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, global = true)]
    pub state_dir: Option<String>,

    /// The configuration file, instead of LUZIA_CONFIG and the usual places
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, global = true)]
    pub config: Option<String>,

    /// The PostgreSQL database with the tasks of several hosts, instead of LUZIA_STORE and `store` in the configuration; `local`
    /// for the tasks of this host
    #[arg(long, value_name = "URL", global = true)]
    pub store: Option<String>,

    /// Answer with one JSON document, and with errors as JSON
    #[arg(long, global = true, overrides_with = "json")]
    pub json: bool,

    /// The form of the answer
    #[arg(short, long, value_name = "FORMAT", global = true)]
    pub output: Option<OutputFormat>,

    /// Print data and errors only, no hints and no progress
    #[arg(short, long, global = true, overrides_with = "quiet")]
    pub quiet: bool,

    /// Report each action on stderr
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// When to use colour
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", hide_default_value = true)]
    pub color: ColorWhen,

    /// Answer yes to every question
    #[arg(short, long, global = true, overrides_with = "yes")]
    pub yes: bool,

    /// Never ask; a question counts as refused
    #[arg(long, global = true, overrides_with = "no_input")]
    pub no_input: bool,
}

impl Globals {
    /// The form of answers: `-o` if given, else JSON with `--json`, else a table.
    pub fn format(&self) -> OutputFormat {
        match self.output {
            Some(format) => format,
            None if self.json => OutputFormat::Json,
            None => OutputFormat::Table,
        }
    }

    /// Whether answers and errors are JSON.
    pub fn is_json(&self) -> bool {
        self.format().is_json()
    }
}
