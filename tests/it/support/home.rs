//! The home of a process that a test starts: never that of the person who runs the tests, nor that of its account, which may
//! exist and not be readable.

use std::path::Path;
use std::process::Command;

/// Gives a process a home, with every directory of the XDG specification below it. Nothing of it has to exist.
pub fn at_home(command: &mut Command, home: &Path) {
    command.envs(home_variables(home));
}

/// The variables of such a home.
pub fn home_variables(home: &Path) -> impl Iterator<Item = (String, String)> {
    let names = [
        ("HOME", ""),
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_CACHE_HOME", ".cache"),
        ("XDG_RUNTIME_DIR", ".run"),
    ];
    let home = home.to_str().unwrap().to_owned();
    names.into_iter().map(move |(name, below)| {
        let path = if below.is_empty() { home.clone() } else { format!("{home}/{below}") };
        (name.to_owned(), path)
    })
}
