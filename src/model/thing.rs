//! Things outside luzia that have a lane of their own: a repository, a work tree, a port, a database.

use super::record::words;
use std::fmt;

/// The kinds of things that `luzia name` knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThingKind {
    /// A git repository: the lane `git:<16 hex digits>` of its common directory.
    GitDir,
    /// A branch of a remote: the lane `ref:<remote>#<branch>`.
    GitRef,
    /// A work tree of git: the lane `tree:<16 hex digits>`.
    Tree,
    /// A TCP port: the lane `port:<number>`.
    Port,
    /// A database: the lane `db:<URL without account>` or `db:<16 hex digits>/<file>`.
    Db,
    /// A directory: the lane `dir:<16 hex digits>`.
    Dir,
}

words!(ThingKind {
    GitDir = "git-dir",
    GitRef = "git-ref",
    Tree = "tree",
    Port = "port",
    Db = "db",
    Dir = "dir",
});

impl fmt::Display for ThingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
