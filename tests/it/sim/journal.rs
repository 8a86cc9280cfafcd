//! What of the pretend disk survives a power cut.
//!
//! Names and bytes are told apart, as on a real file system.
//!
//! *Names.* Each create, mkdir, unlink, rmdir and rename is one change, never torn; changes that are not forced to the
//! platter wait in one list, oldest first.
//! - `Journal::Ordered` (ext4, XFS): a power cut keeps a prefix of the list. fsync(2) of a file or directory forces
//!   the prefix up to the last change that touched it.
//! - `Journal::AnySubset` (nothing more than is promised): each waiting change is kept or lost by itself, except that
//!   a change is kept only with the earlier ones it depends on: those of the same name, the link of the directory that
//!   it enters, and for rmdir whatever happened inside. fsync(2) of a directory forces the changes in it and its own
//!   link, with what they depend on; fsync(2) of a file forces no name at all.
//!
//! *Bytes.* fsync(2) and fdatasync(2) of a file make its bytes safe. Without it, a sector of 512 bytes that was
//! overwritten is old or new; what was added is missing, zeros, any prefix of it, or all there; an emptied file is as
//! before or starts empty. After a failed sync the kernel forgets that the bytes are unwritten, so no later sync of
//! any descriptor makes them safe, until they are written anew.

use super::choice::Rng;
use super::disk::{Body, Content, Disk, Ino, Names, ROOT};

/// Which waiting changes of names a power cut may keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Journal {
    /// A prefix, as with one journal for the file system.
    Ordered,
    /// Any subset that respects dependencies.
    #[default]
    AnySubset,
}

/// One change of names: a name taken away, one given, or both at once.
#[derive(Clone, Debug)]
pub struct Change {
    /// The directory and name that went.
    pub del: Option<(Ino, String)>,
    /// The directory and name that came.
    pub add: Option<(Ino, String)>,
    /// The inode that was named.
    pub child: Ino,
}

impl Change {
    fn is_in(&self, dir: Ino) -> bool {
        let here = |place: &Option<(Ino, String)>| place.as_ref().is_some_and(|(at, _)| *at == dir);
        here(&self.del) || here(&self.add)
    }

    fn shares_name(&self, other: &Self) -> bool {
        let of_other = [&other.del, &other.add];
        let shared = |name: &Option<(Ino, String)>| name.is_some() && of_other.contains(&name);
        shared(&self.del) || shared(&self.add)
    }

    fn depends_on(&self, earlier: &Self) -> bool {
        let enters = |(dir, _): &(Ino, String)| *dir == earlier.child;
        let removes = self.add.is_none() && earlier.is_in(self.child);
        self.shares_name(earlier) || removes || self.add.as_ref().is_some_and(enters)
    }

    fn apply(self, disk: &mut Disk) {
        if let Some((dir, name)) = self.del {
            safe_names(disk, dir).remove(&name);
        }
        if let Some((dir, name)) = self.add {
            safe_names(disk, dir).insert(name, self.child);
        }
    }
}

/// Images that are worth trying before random ones, by number.
const LOSE_ALL: usize = 0;
const KEEP_ALL: usize = 1;
const KEEP_NAMES_ONLY: usize = 2;
const KEEP_NAMES_ZEROED: usize = 3;

impl Disk {
    /// fsync(2) or fdatasync(2) of a file.
    pub fn sync_file(&mut self, ino: Ino) {
        let content = self.content(ino);
        if !content.lost {
            content.safe.clone_from(&content.now);
            content.dirty = false;
            content.emptied = false;
        }
        if self.journal == Journal::Ordered {
            self.force(|change| change.child == ino);
        }
    }

    /// fsync(2) of a directory.
    pub fn sync_dir(&mut self, ino: Ino) {
        self.force(|change| change.is_in(ino) || change.child == ino);
    }

    /// syncfs(2).
    pub fn sync_everything(&mut self) {
        self.force(|_| true);
        for ino in 0..self.nodes.len() {
            if matches!(self.nodes[ino].body, Body::File(_)) {
                self.sync_file(ino);
            }
        }
    }

    /// The power is cut: what programs see becomes one of the legal images, chosen by its number.
    pub fn cut(&mut self, image: usize) {
        let mut rng = Rng::new(u64::try_from(image).expect("a usize fits 64 bits"));
        let keep = self.kept(image, &mut rng);
        let changes = std::mem::take(&mut self.pending);
        for (change, kept) in changes.into_iter().zip(keep) {
            if kept {
                change.apply(self);
            }
        }
        for node in &mut self.nodes {
            node.links = 0;
            node.version += 1;
            match &mut node.body {
                Body::Dir { now, safe } => now.clone_from(safe),
                Body::File(content) => survive(content, image, &mut rng),
                Body::Other => {}
            }
        }
        self.version += 1;
        self.count_links(ROOT);
    }

    /// Forces the waiting changes that `wanted` names, and those that must go with them.
    fn force(&mut self, wanted: impl Fn(&Change) -> bool) {
        let count = self.pending.len();
        let mut forced: Vec<bool> = self.pending.iter().map(wanted).collect();
        match self.journal {
            Journal::Ordered => {
                let last = forced.iter().rposition(|is| *is).map_or(0, |at| at + 1);
                forced = (0..count).map(|at| at < last).collect();
            }
            Journal::AnySubset => {
                for later in (0..count).rev() {
                    if forced[later] {
                        for (earlier, is) in forced[..later].iter_mut().enumerate() {
                            *is |= self.pending[later].depends_on(&self.pending[earlier]);
                        }
                    }
                }
            }
        }
        let changes = std::mem::take(&mut self.pending);
        for (change, now) in changes.into_iter().zip(forced) {
            if now {
                change.apply(self);
            } else {
                self.pending.push(change);
            }
        }
    }

    fn kept(&self, image: usize, rng: &mut Rng) -> Vec<bool> {
        let count = self.pending.len();
        match (image, self.journal) {
            (LOSE_ALL, _) => vec![false; count],
            (KEEP_ALL | KEEP_NAMES_ONLY | KEEP_NAMES_ZEROED, _) => vec![true; count],
            (_, Journal::Ordered) => {
                let length = rng.below(count + 1);
                (0..count).map(|at| at < length).collect()
            }
            (_, Journal::AnySubset) => {
                let odds = rng.below(8);
                let mut keep: Vec<bool> = (0..count).map(|_| rng.below(8) >= odds).collect();
                for later in 0..count {
                    let lacks =
                        |earlier: usize| !keep[earlier] && self.pending[later].depends_on(&self.pending[earlier]);
                    if keep[later] && (0..later).any(lacks) {
                        keep[later] = false;
                    }
                }
                keep
            }
        }
    }

    fn count_links(&mut self, dir: Ino) {
        let Body::Dir { now, .. } = &self.nodes[dir].body else {
            return;
        };
        for child in now.values().copied().collect::<Vec<_>>() {
            self.nodes[child].links += 1;
            self.count_links(child);
        }
    }
}

fn safe_names(disk: &mut Disk, dir: Ino) -> &mut Names {
    match &mut disk.nodes[dir].body {
        Body::Dir { safe, .. } => safe,
        Body::File(_) | Body::Other => panic!("inode {dir} is not a directory"),
    }
}

/// What becomes of the bytes of one file.
fn survive(content: &mut Content, image: usize, rng: &mut Rng) {
    if content.dirty {
        content.now = match image {
            LOSE_ALL => content.safe.clone(),
            KEEP_ALL => content.now.clone(),
            KEEP_NAMES_ONLY if content.emptied => Vec::new(),
            KEEP_NAMES_ONLY => content.safe.clone(),
            KEEP_NAMES_ZEROED => added(&content.now, base(content), Tail::Zeros),
            _ => random_bytes(content, rng),
        };
    }
    content.safe.clone_from(&content.now);
    content.dirty = false;
    content.emptied = false;
    content.lost = false;
}

enum Tail {
    Missing,
    Zeros,
    Prefix(usize),
    Whole,
}

fn random_bytes(content: &Content, rng: &mut Rng) -> Vec<u8> {
    if content.emptied && rng.below(3) == 0 {
        return content.safe.clone();
    }
    let mut start = base(content);
    for (old, new) in start.chunks_mut(512).zip(content.now.chunks(512)) {
        let both = old.len().min(new.len());
        if rng.below(2) == 0 {
            old[..both].copy_from_slice(&new[..both]);
        }
    }
    let tail = match rng.below(4) {
        0 => Tail::Missing,
        1 => Tail::Zeros,
        2 => Tail::Prefix(rng.below(content.now.len().saturating_sub(start.len()) + 1)),
        _ => Tail::Whole,
    };
    added(&content.now, start, tail)
}

/// The bytes that can be overwritten rather than added.
fn base(content: &Content) -> Vec<u8> {
    if content.emptied { Vec::new() } else { content.safe.clone() }
}

fn added(new: &[u8], mut start: Vec<u8>, tail: Tail) -> Vec<u8> {
    let from = start.len().min(new.len());
    match tail {
        Tail::Missing => {}
        Tail::Zeros => start.resize(new.len().max(start.len()), 0),
        Tail::Prefix(length) => start.extend_from_slice(&new[from..from + length]),
        Tail::Whole => start.extend_from_slice(&new[from..]),
    }
    start
}
