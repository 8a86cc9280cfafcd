//! `luzia shim`: makes, lists and removes links by which tools take turns.

use crate::app::names::shims::{Folder, Shim};
use crate::app::shell_word;
use crate::cli::args::OutputFormat;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Make links to luzia that stand before tools on PATH. A link called `cargo` runs a heavy call such as `cargo build` as `luzia
/// lock -l build -- cargo build`, and every other call at once. The text of the command does not change, so a shim covers every
/// agent, makefile and person.
///
/// The lane ends with the program, as with `luzia lock --close`: a server that a build starts and leaves behind (sccache,
/// gradle) keeps nobody waiting. `luzia lock -l LANE -- TOOL` waits for that, too.
///
/// Inside a task or a `luzia lock` that holds the lane, the program starts at once. A shim that waits names the holder of the
/// lane. Where there is no usable state directory the program starts all the same, and one line on stderr says so;
/// LUZIA_SHIM=closed refuses it instead, with exit code 77.
#[derive(Args, Clone, Debug)]
#[command(long_about, subcommand_required = true, subcommand_value_name = "VERB", after_help = SHIM_HELP)]
pub struct ShimArgs {
    /// The action.
    #[command(subcommand)]
    pub verb: ShimVerb,
}

/// The verbs of `luzia shim`.
#[derive(Subcommand, Clone, PartialEq, Eq, Debug)]
pub enum ShimVerb {
    /// Make links for tools
    #[command(after_help = ADD_HELP)]
    Add {
        /// The names of the tools
        #[arg(value_name = "TOOL", required = true)]
        tools: Vec<String>,
        /// The lane that heavy calls take, also as `@tree` or `@git-dir`
        #[arg(short, long, default_value = "build")]
        lane: String,
        /// Replace shims of these names
        #[arg(long)]
        replace: bool,
    },
    /// List the links, their lanes and the programs behind them
    #[command(after_help = LIST_HELP)]
    List,
    /// Remove the links of tools
    #[command(after_help = RM_HELP)]
    Rm {
        /// The names of the tools
        #[arg(value_name = "TOOL", required = true)]
        tools: Vec<String>,
    },
    /// Print the line for the profile of a shell
    #[command(after_help = ENV_HELP)]
    Env,
    /// Name the links that do not work, and say why
    #[command(after_help = DOCTOR_HELP)]
    Doctor,
}

const SHIM_HELP: &str = "\
Examples:
  luzia shim add cargo make --lane build
  eval \"$(luzia shim env)\"
  luzia shim doctor

Exit codes:
  0    done
  1    doctor: a shim does not work
  2    usage
  66   rm: no such shim
  73   add: another file has that name";

const ADD_HELP: &str = "\
Examples:
  luzia shim add cargo make
  luzia shim add npm --lane @git-dir
  luzia shim add cargo --lane rust --replace

Exit codes:
  0    done
  2    usage; nothing was changed
  73   another file has that name; nothing was changed";

const LIST_HELP: &str = "\
Examples:
  luzia shim list
  luzia shim list -o name

Exit codes:
  0    listed";

const RM_HELP: &str = "\
Examples:
  luzia shim rm cargo
  luzia shim rm cargo make

Exit codes:
  0    removed
  66   no such shim; nothing was changed";

const ENV_HELP: &str = "\
Examples:
  eval \"$(luzia shim env)\"

Exit codes:
  0    printed";

const DOCTOR_HELP: &str = "\
Examples:
  luzia shim doctor

Exit codes:
  0    every shim is the first of its name on PATH
  1    one is not";

/// `luzia shim add|list|rm|env|doctor`.
pub fn run(verb: &ShimVerb, folder: &Folder, console: &mut Console) -> Answer {
    match verb {
        ShimVerb::Add { tools, lane, replace } => {
            folder.add(tools, Some(lane), *replace)?;
            for shim in folder.list()?.iter().filter(|shim| shim.program.is_none() && tools.contains(&shim.tool)) {
                console.say(&format!(
                    "warning: there is no program \"{}\" on PATH, so its shim starts nothing",
                    shim.tool
                ));
            }
            if !folder.is_on_path() {
                console.hint("put the shims on PATH: eval \"$(luzia shim env)\"");
            }
        }
        ShimVerb::Rm { tools } => folder.remove(&tools.iter().collect())?,
        ShimVerb::Env => console.out(&format!("export PATH={}:\"$PATH\"\n", shell_word(folder.path())))?,
        ShimVerb::List => {
            let shims = folder.list()?;
            if console.is_json() {
                console.items("shim-list", shims.iter().map(shim_json))?;
            } else if console.format == OutputFormat::Name {
                shims.iter().try_for_each(|shim| console.out(&format!("{}\n", shim.tool)))?;
            } else {
                for shim in &shims {
                    let program = shim.program.as_deref().unwrap_or("-");
                    console.out(&format!("{}\t{}\t{program}\n", shim.tool, shim.lane))?;
                }
            }
        }
        ShimVerb::Doctor => {
            let shims = folder.list()?;
            if console.is_json() {
                console.items("shim-doctor", shims.iter().map(shim_json))?;
            } else {
                for shim in &shims {
                    let what = shim.problem.as_deref().unwrap_or("first on PATH");
                    console.out(&format!("{}: {what}\n", shim.tool))?;
                }
            }
            if shims.iter().any(|shim| shim.problem.is_some()) {
                console.hint("the folder of the shims must be the first on PATH: eval \"$(luzia shim env)\"");
                return Ok(Exit::No.code());
            }
        }
    }
    Ok(Exit::Done.code())
}

fn shim_json(shim: &Shim) -> Value {
    json!({ "tool": shim.tool, "lane": shim.lane, "program": shim.program, "problem": shim.problem })
}
