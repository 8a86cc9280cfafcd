//! `luzia install-docs`: writes the manual pages and the completions to the folders that man(1) and the shells search.

use super::completions::{Shell, script};
use crate::app::{AppError, Code};
use crate::cli::docs;
use crate::cli::output::console::Console;
use clap::{Args, ValueHint};
use serde_json::json;

/// Write the manual pages and the completions for bash, zsh and fish, e.g. after `cargo install`. Without --prefix they go
/// below $XDG_DATA_HOME, which is ~/.local/share where it is not set; man(1), bash and fish look there. Older files of luzia
/// are replaced, and nothing else is touched.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = INSTALL_DOCS_HELP)]
pub struct InstallDocsArgs {
    /// Write below DIR/share instead, e.g. `/usr/local`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub prefix: Option<String>,

    /// Only print the paths
    #[arg(short = 'n', long, overrides_with = "dry_run")]
    pub dry_run: bool,

    /// Remove what was installed, and folders that are empty then
    #[arg(long)]
    pub remove: bool,
}

/// The documents of a host.
pub struct Documents<'a> {
    /// The folder that is used without `--prefix`.
    pub share: &'a dyn Fn() -> Result<String, AppError>,
    /// Replaces or makes a file.
    pub write: &'a dyn Fn(&str, &str) -> std::io::Result<()>,
    /// Removes a file below a folder, and returns whether it existed.
    pub remove: &'a dyn Fn(&str, &str) -> std::io::Result<bool>,
}

const INSTALL_DOCS_HELP: &str = "\
Examples:
  luzia install-docs
  sudo luzia install-docs --prefix /usr/local
  luzia install-docs --remove

Notes:
  zsh looks in the folders of its variable fpath only. Add the folder that is printed, before compinit:
  fpath+=(~/.local/share/zsh/site-functions)

Exit codes:
  0    written, or removed
  2    usage
  73   a file cannot be written or removed";

/// The files below a folder `share`, with their texts.
pub fn files() -> Vec<(String, String)> {
    let page = |(name, text): (String, String)| {
        let section = name.rsplit('.').next().unwrap_or("1").to_owned();
        (format!("man/man{section}/{name}"), text)
    };
    let mut files: Vec<(String, String)> = docs::pages().into_iter().map(page).collect();
    for (path, shell) in [
        ("bash-completion/completions/luzia", Shell::Bash),
        ("zsh/site-functions/_luzia", Shell::Zsh),
        ("fish/vendor_completions.d/luzia.fish", Shell::Fish),
    ] {
        files.push((path.to_owned(), script(shell).to_owned()));
    }
    files
}

/// `luzia install-docs`.
pub fn run(args: &InstallDocsArgs, documents: &Documents, console: &mut Console) -> anyhow::Result<()> {
    let share = match &args.prefix {
        Some(prefix) if prefix.starts_with('/') => format!("{}/share", prefix.trim_end_matches('/')),
        Some(prefix) => {
            let message = format!("\"{prefix}\" is not an absolute path");
            return Err(AppError::usage(message).hint("--prefix takes an absolute path, e.g. /usr/local").into());
        }
        None => (documents.share)()?,
    };
    let mut paths = Vec::new();
    for (path, text) in files() {
        let path = format!("{share}/{path}");
        let is_done = match (args.dry_run, args.remove) {
            (true, _) => true,
            (false, true) => (documents.remove)(&share, &path).map_err(|error| failed("remove", &path, &error))?,
            (false, false) => {
                (documents.write)(&path, &text).map_err(|error| failed("write", &path, &error))?;
                true
            }
        };
        paths.extend(is_done.then_some(path));
    }
    if !console.json("install-docs", || json!({ "items": paths }))? {
        paths.iter().try_for_each(|path| console.out(&format!("{path}\n")))?;
    }
    Ok(())
}

fn failed(what: &str, path: &str, error: &std::io::Error) -> AppError {
    AppError::new(Code::Docs, format!("cannot {what} \"{path}\": {error}"))
        .hint("the files before it are done; --prefix names another place")
}
