//! `luzia name`: prints the lane of a thing.

use crate::app::names::Surroundings;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use crate::model::ThingKind;
use clap::{Args, ValueEnum};
use serde_json::json;

/// `luzia name`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Print the lane of a thing, so that every script calls it alike. A directory is known by its device and \
                  inode: symbolic links, bind mounts and subdirectories of a repository lead to one lane. Every option \
                  that takes a lane takes `@KIND` and `@KIND:ARG`, too: `-l @tree`, `-l @port:4010`.",
    after_help = NAME_HELP
)]
pub struct NameArgs {
    /// What the thing is
    #[arg(value_name = "KIND")]
    pub kind: Word,

    /// The directory, by default the working directory; the port; the URL or the file of the database
    #[arg(value_name = "ARG")]
    pub arg: Option<String>,
}

/// The words of the kinds.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// The git repository, with all its work trees
    GitDir,
    /// The branch that is checked out, at its remote
    GitRef,
    /// The git work tree
    Tree,
    /// A port of this host
    Port,
    /// A database; account, password and options of its URL do not count
    Db,
    /// A directory
    Dir,
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
  66   there is no such directory, or it is not in a git repository
  others as in luzia-exit-codes(7)";

/// `luzia name`.
pub fn run(args: &NameArgs, around: &Surroundings, console: &mut Console) -> Answer {
    let kind = match args.kind {
        Word::GitDir => ThingKind::GitDir,
        Word::GitRef => ThingKind::GitRef,
        Word::Tree => ThingKind::Tree,
        Word::Port => ThingKind::Port,
        Word::Db => ThingKind::Db,
        Word::Dir => ThingKind::Dir,
    };
    let named = around.name(kind, args.arg.as_deref(), None)?;
    let lane = named.lane.to_string();
    if console.is_json() {
        let value = json!({ "lane": lane, "path": named.path, "kind": kind.word() });
        console.document(&json::single("name", value))?;
    } else {
        console.out(&format!("{lane}\n"))?;
    }
    Ok(Exit::Done.code())
}
