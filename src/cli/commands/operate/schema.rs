//! `luzia schema`: prints the JSON Schema of a document.

use crate::app::{AppError, Code};
use crate::cli::docs::schemas;
use crate::cli::output::console::Console;
use clap::Args;

/// Print the JSON Schema (draft 2020-12) of the document that a verb answers with --json; without VERB the names of all
/// documents. luzia-json(5) describes what they have in common.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = SCHEMA_HELP)]
pub struct SchemaArgs {
    /// The verb, e.g. `list` or `config show`, or `error`
    #[arg(value_name = "VERB")]
    pub verb: Vec<String>,
}

const SCHEMA_HELP: &str = "\
Examples:
  luzia schema list
  luzia schema config show
  luzia schema error

Exit codes:
  0    printed
  2    usage
  66   there is no such document";

/// `luzia schema`.
pub fn run(args: &SchemaArgs, console: &mut Console) -> anyhow::Result<()> {
    let name = args.verb.join("-").replace('_', "-");
    if name.is_empty() {
        for shape in schemas::documents() {
            console.out(&format!("{}\n", shape.name))?;
        }
        return Ok(());
    }
    let schema = schemas::schema(&name).ok_or_else(|| {
        AppError::new(Code::NoSchema, format!("there is no document \"{name}\""))
            .hint("a verb without a document of its own answers with errors only: luzia schema error")
            .next("luzia schema")
    })?;
    Ok(console.out(&format!("{schema:#}\n"))?)
}
