//! `luzia name`: prints the lane of a thing.

use crate::app::names::Surroundings;
use crate::cli::output::console::Console;
use crate::model::ThingKind;
use clap::Args;
use serde_json::json;

/// Print the lane of a thing, so that every script calls it alike. A directory is known by its device and inode: symbolic
/// links, bind mounts and subdirectories of a repository lead to one lane. Every option that takes a lane takes `@KIND` and
/// `@KIND:ARG`, too: `-l @tree`, `-l @port:4010`.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = NAME_HELP)]
pub struct NameArgs {
    /// The kind of the thing
    #[arg(value_name = "KIND")]
    pub kind: ThingKind,

    /// The directory, by default the working directory; the port; the URL or the file of the database
    #[arg(value_name = "ARG")]
    pub arg: Option<String>,
}

const NAME_HELP: &str = "\
Examples:
  luzia name git-dir
  luzia name db postgres://localhost/app
  luzia lock -l @git-ref -- git push
  luzia run -l @port:4010 -- ./serve.sh

Exit codes:
  0    printed
  2    usage: also a port beyond 65535
  66   there is no such directory, or it is not in a git repository";

/// `luzia name`.
pub fn run(args: &NameArgs, around: &Surroundings, console: &mut Console) -> anyhow::Result<()> {
    let named = around.name(args.kind, args.arg.as_deref(), None)?;
    let lane = named.lane.to_string();
    if !console.json("name", || json!({ "lane": lane, "path": named.path, "kind": args.kind.word() }))? {
        console.text(&format!("{lane}\n"))?;
    }
    Ok(())
}
