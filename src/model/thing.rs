//! Things outside luzia that have a lane of their own: a repository, a work tree, a port, a database.

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

impl ThingKind {
    /// Every kind, in the order of the help.
    pub const ALL: [Self; 6] = [Self::GitDir, Self::GitRef, Self::Tree, Self::Port, Self::Db, Self::Dir];

    /// The word of the kind, as after `@`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::GitDir => "git-dir",
            Self::GitRef => "git-ref",
            Self::Tree => "tree",
            Self::Port => "port",
            Self::Db => "db",
            Self::Dir => "dir",
        }
    }

    /// The kind that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl fmt::Display for ThingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
