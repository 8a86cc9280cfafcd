//! The pretend disk as programs see it: a tree of directories and files. What of it survives a power cut is decided
//! in `journal.rs`.
//!
//! Inode numbers are never used twice in a run. Link counts are those of names, so an open file without a name has 0.

use super::journal::{Change, Journal};
use luzia::model::Timestamp;
use luzia::os::{Entry, FileKind, Meta, Published};
use std::collections::BTreeMap;
use std::io;

/// The number of an inode: its index.
pub type Ino = usize;
/// The names of a directory.
pub type Names = BTreeMap<String, Ino>;

/// The root directory.
pub const ROOT: Ino = 0;
/// ENOENT.
pub const ENOENT: i32 = 2;
const EEXIST: i32 = 17;
const ENOTDIR: i32 = 20;
const EISDIR: i32 = 21;
const EINVAL: i32 = 22;
const ENOTEMPTY: i32 = 39;

/// An error as the kernel would give it.
pub fn errno(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// One inode.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is, and its content.
    pub body: Body,
    /// Permission bits.
    pub mode: u32,
    /// How many names it has.
    pub links: u64,
    /// The last change of content.
    pub modified: Timestamp,
    /// Counts changes of a directory's names, for watchers.
    pub version: u64,
}

/// The content of an inode: what programs see, and what is safe on the platter.
#[derive(Clone, Debug)]
pub enum Body {
    /// A directory; `safe` holds the names that a power cut cannot take away.
    Dir {
        /// The names programs see.
        now: Names,
        /// The names on the platter.
        safe: Names,
    },
    /// A regular file.
    File(Content),
    /// A symbolic link, FIFO, socket or device.
    Other,
}

/// The bytes of a file.
#[derive(Clone, Default, Debug)]
pub struct Content {
    /// What programs read.
    pub now: Vec<u8>,
    /// What is on the platter.
    pub safe: Vec<u8>,
    /// Whether `now` was written since the last sync.
    pub dirty: bool,
    /// Whether the file was emptied since the last sync.
    pub emptied: bool,
    /// Whether a sync failed, after which no sync helps.
    pub lost: bool,
}

/// A disk.
#[derive(Debug)]
pub struct Disk {
    /// All inodes; unreachable ones stay.
    pub nodes: Vec<Node>,
    /// Changes of names that are not yet on the platter, oldest first.
    pub pending: Vec<Change>,
    /// What a power cut may do to them.
    pub journal: Journal,
    /// Counts visible changes of anything.
    pub version: u64,
    /// The account that owns everything.
    pub uid: u32,
}

impl Disk {
    /// An empty disk.
    pub fn new(journal: Journal, uid: u32) -> Self {
        Self { nodes: vec![Node::new(Body::dir(), 0o755, Timestamp(0))], pending: Vec::new(), journal, version: 0, uid }
    }

    /// The inode at a path below `base`; empty components and `.` mean the directory itself.
    pub fn find(&self, base: Ino, path: &str) -> io::Result<Option<Ino>> {
        let mut at = base;
        for part in parts(path) {
            let Body::Dir { now, .. } = &self.nodes[at].body else {
                return Err(errno(ENOTDIR));
            };
            // Each name in a directory was checked when it was given.
            match now.get(part) {
                Some(ino) => at = *ino,
                None => return check(part).map(|_| None),
            }
        }
        Ok(Some(at))
    }

    /// The directory of a path's last component, and that component; `None` when the directory does not exist.
    pub fn parent<'a>(&self, base: Ino, path: &'a str) -> io::Result<Option<(Ino, &'a str)>> {
        let path = path.trim_end_matches('/');
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(dir) = self.find(base, dir)? else {
            return Ok(None);
        };
        match self.nodes[dir].body {
            Body::Dir { .. } if name.is_empty() || name == "." => Err(errno(EINVAL)),
            Body::Dir { .. } => Ok(Some((dir, check(name)?))),
            Body::File(_) | Body::Other => Err(errno(ENOTDIR)),
        }
    }

    /// What stat(2) tells.
    pub fn meta(&self, ino: Ino) -> Meta {
        let node = &self.nodes[ino];
        let (kind, size) = match &node.body {
            Body::Dir { .. } => (FileKind::Dir, 4096),
            Body::File(content) => (FileKind::File, content.now.len()),
            Body::Other => (FileKind::Other, 0),
        };
        Meta {
            kind,
            size: size.try_into().expect("a usize fits 64 bits"),
            mode: node.mode,
            uid: self.uid,
            links: node.links,
            ident: ident(ino),
            modified: node.modified,
            changed: node.modified,
        }
    }

    /// The names in a directory.
    pub fn list(&self, base: Ino, path: &str) -> io::Result<Option<Vec<Entry>>> {
        let Some(ino) = self.find(base, path)? else {
            return Ok(None);
        };
        let Body::Dir { now, .. } = &self.nodes[ino].body else {
            return Err(errno(ENOTDIR));
        };
        let entry = |(name, ino): (&String, &Ino)| Entry { name: name.into(), kind: self.meta(*ino).kind };
        Ok(Some(now.iter().map(entry).collect()))
    }

    /// Gives a new inode a name that is free.
    pub fn create(&mut self, dir: Ino, name: &str, body: Body, mode: u32, time: Timestamp) -> Ino {
        let ino = self.nodes.len();
        self.nodes.push(Node::new(body, mode, time));
        self.enter(None, Some((dir, name.to_owned())), ino);
        ino
    }

    /// mkdir(2); false when the name exists.
    pub fn make_dir(&mut self, base: Ino, path: &str, mode: u32, time: Timestamp) -> io::Result<bool> {
        if self.find(base, path)?.is_some() {
            return Ok(false);
        }
        let (dir, name) = self.parent(base, path)?.ok_or_else(|| errno(ENOENT))?;
        self.create(dir, name, Body::dir(), mode, time);
        Ok(true)
    }

    /// rmdir(2); false when it is missing or not empty.
    pub fn remove_dir(&mut self, base: Ino, path: &str) -> io::Result<bool> {
        let Some(ino) = self.find(base, path)? else {
            return Ok(false);
        };
        let Body::Dir { now, .. } = &self.nodes[ino].body else {
            return Err(errno(ENOTDIR));
        };
        if !now.is_empty() {
            return Ok(false);
        }
        let (dir, name) = self.parent(base, path)?.ok_or_else(|| errno(ENOENT))?;
        self.enter(Some((dir, name.to_owned())), None, ino);
        Ok(true)
    }

    /// unlink(2); false when it does not exist.
    pub fn unlink(&mut self, base: Ino, path: &str) -> io::Result<bool> {
        let Some(ino) = self.find(base, path)? else {
            return Ok(false);
        };
        if matches!(self.nodes[ino].body, Body::Dir { .. }) {
            return Err(errno(EISDIR));
        }
        let (dir, name) = self.parent(base, path)?.ok_or_else(|| errno(ENOENT))?;
        self.enter(Some((dir, name.to_owned())), None, ino);
        Ok(true)
    }

    /// link(2); false when `from` is missing. What has the name `to` keeps it.
    pub fn link(&mut self, base: Ino, from: &str, to: &str) -> io::Result<bool> {
        let Some(ino) = self.find(base, from)? else { return Ok(false) };
        let (dir, name) = self.parent(base, to)?.ok_or_else(|| errno(ENOENT))?;
        if self.find(dir, name)?.is_none() {
            let name = name.to_owned();
            self.enter(None, Some((dir, name)), ino);
        }
        Ok(true)
    }

    /// rename(2); false when `from` or the directory of `to` is missing.
    pub fn rename(&mut self, base: Ino, from: &str, to: &str) -> io::Result<bool> {
        let Some(ino) = self.find(base, from)? else {
            return Ok(false);
        };
        let Some((dir, name)) = self.parent(base, to)? else {
            return Ok(false);
        };
        if let Some(old) = self.find(dir, name)? {
            if old == ino {
                return Ok(true);
            }
            self.may_replace(ino, old)?;
        }
        self.not_below_itself(ino, base, to)?;
        let (from_dir, from_name) = self.parent(base, from)?.ok_or_else(|| errno(ENOENT))?;
        self.enter(Some((from_dir, from_name.to_owned())), Some((dir, name.to_owned())), ino);
        Ok(true)
    }

    /// rename(2) with RENAME_NOREPLACE.
    pub fn publish(&mut self, base: Ino, from: &str, to: &str) -> io::Result<Published> {
        if self.find(base, from)?.is_none() {
            return Err(errno(ENOENT));
        }
        let Some((dir, name)) = self.parent(base, to)? else {
            return Ok(Published::NoDirectory);
        };
        if self.find(dir, name)?.is_some() {
            return Ok(Published::Exists);
        }
        self.rename(base, from, to)?;
        Ok(Published::Done)
    }

    /// The bytes of a file.
    pub fn content(&mut self, ino: Ino) -> &mut Content {
        match &mut self.nodes[ino].body {
            Body::File(content) => content,
            Body::Dir { .. } | Body::Other => panic!("inode {ino} is not a file"),
        }
    }

    /// Changes the bytes of a file, unsynced.
    pub fn write(&mut self, ino: Ino, time: Timestamp, change: impl FnOnce(&mut Vec<u8>)) {
        self.version += 1;
        self.nodes[ino].modified = time;
        let content = self.content(ino);
        change(&mut content.now);
        content.dirty = true;
        // Writing a page again makes it unwritten again, for the kernel too.
        content.lost &= content.now.len() > 4096;
    }

    /// Looks at a whole path without being a program: the bytes of a file.
    pub fn peek(&self, path: &str) -> Option<&[u8]> {
        match &self.nodes[self.find(ROOT, path).ok()??].body {
            Body::File(content) => Some(&content.now),
            Body::Dir { .. } | Body::Other => None,
        }
    }

    /// Looks at a whole path without being a program: the names of a directory.
    pub fn peek_names(&self, path: &str) -> Vec<String> {
        match self.find(ROOT, path).ok().flatten().map(|ino| &self.nodes[ino].body) {
            Some(Body::Dir { now, .. }) => now.keys().cloned().collect(),
            Some(Body::File(_) | Body::Other) | None => Vec::new(),
        }
    }

    /// Whether a power cut cannot take the bytes of a file.
    pub fn has_safe_bytes(&self, path: &str) -> bool {
        let node = self.find(ROOT, path).ok().flatten().map(|ino| &self.nodes[ino].body);
        matches!(node, Some(Body::File(content)) if content.safe == content.now)
    }

    /// Whether a power cut cannot take the name of a file or folder. Its bytes it may.
    pub fn has_safe_name(&self, path: &str) -> bool {
        let mut at = ROOT;
        for part in parts(path) {
            let Body::Dir { safe, .. } = &self.nodes[at].body else { return false };
            let Some(ino) = safe.get(part) else { return false };
            at = *ino;
        }
        true
    }

    /// Takes one name away, gives one, or both at once.
    fn enter(&mut self, del: Option<(Ino, String)>, add: Option<(Ino, String)>, child: Ino) {
        self.version += 1;
        if let Some((dir, name)) = &del {
            self.names(*dir).remove(name);
            self.nodes[child].links -= 1;
        }
        if let Some((dir, name)) = &add {
            let old = self.names(*dir).insert(name.clone(), child);
            self.nodes[child].links += 1;
            if let Some(old) = old {
                self.nodes[old].links -= 1;
            }
        }
        self.pending.push(Change { del, add, child });
    }

    fn names(&mut self, dir: Ino) -> &mut Names {
        self.nodes[dir].version += 1;
        match &mut self.nodes[dir].body {
            Body::Dir { now, .. } => now,
            Body::File(_) | Body::Other => panic!("inode {dir} is not a directory"),
        }
    }

    fn may_replace(&self, new: Ino, old: Ino) -> io::Result<()> {
        let is_dir = |ino: Ino| matches!(self.nodes[ino].body, Body::Dir { .. });
        match &self.nodes[old].body {
            Body::Dir { .. } if !is_dir(new) => Err(errno(EISDIR)),
            Body::Dir { now, .. } if !now.is_empty() => Err(errno(ENOTEMPTY)),
            Body::Dir { .. } => Ok(()),
            Body::File(_) | Body::Other if is_dir(new) => Err(errno(ENOTDIR)),
            Body::File(_) | Body::Other => Ok(()),
        }
    }

    fn not_below_itself(&self, moved: Ino, base: Ino, to: &str) -> io::Result<()> {
        let mut at = base;
        for part in parts(to) {
            if at == moved {
                return Err(errno(EINVAL));
            }
            match self.find(at, part)? {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(())
    }
}

impl Node {
    /// An inode without a name.
    pub fn new(body: Body, mode: u32, modified: Timestamp) -> Self {
        Self { body, mode, links: 0, modified, version: 0 }
    }
}

impl Body {
    /// An empty directory.
    pub fn dir() -> Self {
        Self::Dir { now: Names::new(), safe: Names::new() }
    }

    /// An empty file.
    pub fn file() -> Self {
        Self::File(Content::default())
    }
}

/// Device and inode as `Meta` has them.
pub fn ident(ino: Ino) -> (u64, u64) {
    (7, u64::try_from(ino).expect("a usize fits 64 bits"))
}

/// An error of a file that exists (EEXIST), for opens that found a directory in the way.
pub fn exists() -> io::Error {
    errno(EEXIST)
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn check(part: &str) -> io::Result<&str> {
    if part == ".." || part.len() > 255 || part.contains('\0') {
        return Err(errno(EINVAL));
    }
    Ok(part)
}
