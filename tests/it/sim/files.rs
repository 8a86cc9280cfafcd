//! `Vfs`, `Handle` and `Watch` over the pretend disk, as one pretend process has them.
//!
//! Every call is one atomic step, and before it others may move. Closing is a step when it gives up a kernel lock.

use super::disk::{Body, ENOENT, Ino, ROOT, errno, exists};
use super::pipes::{self, PretendPipe};
use super::turn::Ctx;
use super::world::{Wait, World};
use luzia::os::{Entry, FileSystem, Handle, Meta, Open, Pipe, Published, Vfs, Watch};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

const EIO: i32 = 5;
const EBADF: i32 = 9;
const EINVAL: i32 = 22;
const EMFILE: i32 = 24;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const EDQUOT: i32 = 122;

const TO_READ: &[i32] = &[EIO];
const TO_OPEN: &[i32] = &[EMFILE, EIO];
const TO_GROW: &[i32] = &[ENOSPC, EDQUOT, EIO, EROFS];
const TO_CREATE: &[i32] = &[ENOSPC, EDQUOT, EIO, EROFS, EMFILE];
const TO_REMOVE: &[i32] = &[EIO, EROFS];
const TO_SYNC: &[i32] = &[EIO, ENOSPC];

/// A directory that one process has open as a root.
pub struct Files {
    ctx: Ctx,
    base: Ino,
    path: String,
}

impl Files {
    /// A root at a directory that exists.
    pub fn at(ctx: &Ctx, path: &str) -> Self {
        let base = ctx.aside(|world, _| world.disk.find(ROOT, path));
        let base = base.and_then(Result::ok).flatten();
        Self {
            ctx: ctx.clone(),
            base: base.unwrap_or_else(|| panic!("no directory \"{path}\" on the pretend disk")),
            path: path.to_owned(),
        }
    }

    fn op<T>(
        &self,
        verb: &str,
        path: &str,
        faults: &[i32],
        act: impl FnOnce(&mut World, usize) -> io::Result<T>,
    ) -> io::Result<T> {
        self.ctx.op(|| format!("{verb} {path}"), faults, act)
    }
}

impl Vfs for Files {
    fn root(&self) -> &str {
        &self.path
    }

    fn open_root(&self, path: &str, create: bool) -> io::Result<Option<Arc<dyn Vfs>>> {
        let base = self.op("open root", path, TO_OPEN, |world, _| {
            if create {
                let ends = path.match_indices('/').map(|(at, _)| at);
                for end in ends.chain([path.len()]).filter(|end| *end > 0) {
                    let now = world.now();
                    world.disk.make_dir(ROOT, &path[..end], 0o700, now)?;
                }
            }
            world.disk.find(ROOT, path)
        })?;
        Ok(base.map(|base| -> Arc<dyn Vfs> { Arc::new(Self { ctx: self.ctx.clone(), base, path: path.to_owned() }) }))
    }

    fn open(&self, path: &str, how: Open) -> io::Result<Option<Box<dyn Handle>>> {
        let faults = match how {
            Open::Existing | Open::ReadOnly => TO_OPEN,
            Open::CreateNew(_) | Open::Truncate(_) | Open::Append(_) => TO_CREATE,
        };
        let what = || format!("open {path} {how:?}");
        let file = self.ctx.op(what, faults, |world, slot| open(world, slot, self.base, path, how))?;
        Ok(file.map(|file| -> Box<dyn Handle> {
            Box::new(Descriptor::new(&self.ctx, file, path, matches!(how, Open::Append(_))))
        }))
    }

    fn meta(&self, path: &str) -> io::Result<Option<Meta>> {
        self.op("stat", path, TO_READ, |world, _| {
            let ino = world.disk.find(self.base, path)?;
            Ok(ino.map(|ino| world.disk.meta(ino)))
        })
    }

    fn list(&self, path: &str) -> io::Result<Option<Vec<Entry>>> {
        self.op("list", path, TO_OPEN, |world, _| {
            let mut entries = world.disk.list(self.base, path)?;
            // In no order, but the same one whenever the run is repeated.
            if let Some(entries) = entries.as_mut().filter(|entries| !entries.is_empty()) {
                let by = usize::try_from(world.steps).expect("few steps") % entries.len();
                entries.rotate_left(by);
            }
            Ok(entries)
        })
    }

    fn meta_many(&self, paths: &[String]) -> Vec<io::Result<Option<Meta>>> {
        paths.iter().map(|path| self.meta(path)).collect()
    }

    fn list_many(&self, paths: &[String]) -> Vec<io::Result<Option<Vec<Entry>>>> {
        paths.iter().map(|path| self.list(path)).collect()
    }

    fn make_dir(&self, path: &str, mode: u32) -> io::Result<bool> {
        self.op("mkdir", path, TO_GROW, |world, _| {
            let now = world.now();
            world.disk.make_dir(self.base, path, mode, now)
        })
    }

    fn remove_dir(&self, path: &str) -> io::Result<bool> {
        self.op("rmdir", path, TO_REMOVE, |world, _| world.disk.remove_dir(self.base, path))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<bool> {
        let what = || format!("rename {from} -> {to}");
        self.ctx.op(what, TO_GROW, |world, _| world.disk.rename(self.base, from, to))
    }

    fn publish(&self, from: &str, to: &str) -> io::Result<Published> {
        let what = || format!("publish {from} -> {to}");
        self.ctx.op(what, TO_GROW, |world, _| world.disk.publish(self.base, from, to))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<bool> {
        let what = || format!("link {from} -> {to}");
        self.ctx.op(what, TO_GROW, |world, _| world.disk.link(self.base, from, to))
    }

    fn unlink(&self, path: &str) -> io::Result<bool> {
        self.op("unlink", path, TO_REMOVE, |world, _| world.disk.unlink(self.base, path))
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        self.op("fsync dir", path, TO_SYNC, |world, _| {
            let ino = world.disk.find(self.base, path)?;
            let ino = ino.ok_or_else(|| errno(ENOENT))?;
            world.disk.sync_dir(ino);
            Ok(())
        })
    }

    fn sync_everything(&self) -> io::Result<()> {
        self.op("syncfs", "", TO_SYNC, |world, _| {
            world.disk.sync_everything();
            Ok(())
        })
    }

    fn set_mode(&self, path: &str, mode: u32) -> io::Result<()> {
        self.op("chmod", path, TO_REMOVE, |world, _| {
            let ino = world.disk.find(self.base, path)?;
            let ino = ino.ok_or_else(|| errno(ENOENT))?;
            world.disk.nodes[ino].mode = mode;
            Ok(())
        })
    }

    fn watch(&self, paths: &[&str]) -> io::Result<Box<dyn Watch>> {
        let what = || format!("watch {}", paths.join(" "));
        let dirs = self.ctx.op(what, TO_OPEN, |world, _| {
            let mut dirs = Vec::new();
            for path in paths {
                let ino = world.disk.find(self.base, path)?;
                dirs.extend(ino.map(|ino| (ino, world.disk.nodes[ino].version)));
            }
            Ok(dirs)
        })?;
        Ok(Box::new(Watched { ctx: self.ctx.clone(), dirs }))
    }

    fn watch_file(&self, path: &str) -> io::Result<Option<Box<dyn Watch>>> {
        self.watch(&[path]).map(Some)
    }

    fn make_pipe(&self, path: &str) -> io::Result<Option<Box<dyn Pipe>>> {
        let file = self
            .op("mkfifo", path, TO_CREATE, |world, slot| open(world, slot, self.base, path, Open::CreateNew(0o600)))?;
        Ok(file.map(|file| -> Box<dyn Pipe> { Box::new(PretendPipe::new(&self.ctx, self.base, file)) }))
    }

    fn is_pipe_alive(&self, path: &str) -> io::Result<bool> {
        self.op("look at pipe", path, TO_OPEN, |world, _| Ok(pipes::is_alive(world, self.base, path)?.is_some()))
    }

    fn call_pipe(&self, path: &str) -> io::Result<bool> {
        self.op("call", path, TO_OPEN, |world, _| pipes::call(world, self.base, path))
    }

    fn file_system(&self) -> io::Result<FileSystem> {
        self.op("statfs", "", &[], |_, _| {
            Ok(FileSystem { name: "pretend".into(), is_local: true, free_bytes: 1 << 40, free_inodes: 1 << 30 })
        })
    }
}

fn open(world: &mut World, slot: usize, base: Ino, path: &str, how: Open) -> io::Result<Option<usize>> {
    let (mode, may_exist) = match how {
        Open::Existing | Open::ReadOnly => (None, true),
        Open::CreateNew(mode) => (Some(mode), false),
        Open::Truncate(mode) | Open::Append(mode) => (Some(mode), true),
    };
    let ino = match (world.disk.find(base, path)?, mode) {
        (Some(_), _) if !may_exist => return Ok(None),
        (Some(ino), _) => ino,
        (None, None) => return Ok(None),
        (None, Some(mode)) => {
            let (dir, name) = world.disk.parent(base, path)?.ok_or_else(|| errno(ENOENT))?;
            let now = world.now();
            world.disk.create(dir, name, Body::file(), mode, now)
        }
    };
    if !matches!(world.disk.nodes[ino].body, Body::File(_)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, exists()));
    }
    if matches!(how, Open::Truncate(_)) && !world.disk.content(ino).now.is_empty() {
        let now = world.now();
        world.disk.write(ino, now, Vec::clear);
        let content = world.disk.content(ino);
        content.emptied = true;
        content.lost = false;
    }
    let writable = how != Open::ReadOnly;
    Ok(Some(world.open_file(slot, ino, writable)))
}

/// A descriptor of one process.
pub struct Descriptor {
    ctx: Ctx,
    file: usize,
    path: String,
    appends: bool,
    at: usize,
    /// Whether it was handed to a child, who closes it.
    is_handed: bool,
}

impl Descriptor {
    /// A descriptor that the process already holds.
    pub fn new(ctx: &Ctx, file: usize, path: &str, appends: bool) -> Self {
        Self { ctx: ctx.clone(), file, path: path.to_owned(), appends, at: 0, is_handed: false }
    }

    fn op<T>(&self, verb: &str, faults: &[i32], act: impl FnOnce(&mut World) -> io::Result<T>) -> io::Result<T> {
        let what = || format!("{verb} {}", self.path);
        self.ctx.op(what, faults, |world, _| act(world))
    }

    fn sync(&mut self, verb: &str) -> io::Result<()> {
        let what = format!("{verb} {}", self.path);
        let file = self.file;
        self.op(verb, &[], |world| {
            if world.files[file].poisoned {
                world.violation(format!("{what}: fsync retried on the same descriptor"));
            }
            let ino = world.files[file].ino;
            if let Some(number) = world.fault(TO_SYNC) {
                world.files[file].poisoned = true;
                let content = world.disk.content(ino);
                content.lost = content.dirty;
                return Err(errno(number));
            }
            world.disk.sync_file(ino);
            Ok(())
        })
    }

    /// Writes at a place; where the disk is full, a part may be there.
    fn put(&mut self, verb: &str, at: Option<usize>, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file;
        self.op(verb, &[], |world| {
            if !world.files[file].writable {
                return Err(errno(EBADF));
            }
            let fault = world.fault(TO_GROW);
            let (ino, now) = (world.files[file].ino, world.now());
            let mut end = 0;
            world.disk.write(ino, now, |content| {
                let at = at.unwrap_or(content.len());
                // Where room runs out, half of what is added is there; what stands already is not overwritten.
                let count = match fault {
                    None => bytes.len(),
                    Some(ENOSPC | EDQUOT) if at >= content.len() => bytes.len() / 2,
                    Some(_) => 0,
                };
                end = at + count;
                content.resize(content.len().max(end), 0);
                content[at..end].copy_from_slice(&bytes[..count]);
            });
            fault.map_or(Ok(end), |number| Err(errno(number)))
        })
    }
}

impl Handle for Descriptor {
    fn read_all(&mut self, cap: u64) -> io::Result<Vec<u8>> {
        let file = self.file;
        self.op("read", TO_READ, |world| {
            let ino = world.files[file].ino;
            let bytes = world.disk.content(ino).now.clone();
            match u64::try_from(bytes.len()).is_ok_and(|length| length <= cap) {
                true => Ok(bytes),
                false => Err(errno(EFBIG)),
            }
        })
    }

    fn read_part(&mut self, from: u64, most: usize) -> io::Result<Vec<u8>> {
        let whole = self.read_all(u64::MAX)?;
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(whole.len());
        Ok(whole[from..].iter().copied().take(most).collect())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let at = (!self.appends).then_some(self.at);
        self.at = self.put("write", at, bytes)?;
        Ok(())
    }

    fn write_at_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put("pwrite", Some(0), bytes).map(drop)
    }

    fn free_front(&mut self, to: u64) -> io::Result<()> {
        let file = self.file;
        self.op("punch", TO_GROW, |world| {
            let (ino, now) = (world.files[file].ino, world.now());
            world.disk.write(ino, now, |content| {
                let end = usize::try_from(to).unwrap_or(usize::MAX).min(content.len());
                content[..end].fill(0);
            });
            Ok(())
        })
    }

    /// Freed bytes read as zeros, and nobody writes zeros on this disk.
    fn first_data(&self) -> io::Result<u64> {
        let file = self.file;
        self.op("seek data", TO_READ, |world| {
            let ino = world.files[file].ino;
            let bytes = &world.disk.content(ino).now;
            Ok(bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len()) as u64)
        })
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.sync("fdatasync")
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.sync("fsync")
    }

    fn try_lock(&mut self, shared: bool) -> io::Result<bool> {
        let file = self.file;
        self.op(if shared { "flock -s" } else { "flock" }, &[], |world| {
            let free = world.may_lock(file, shared);
            // flock(2) converts by giving up first: a conversion that fails loses the old lock.
            world.files[file].lock = free.then_some(shared);
            world.say(|_| format!("         {}", if free { "got it" } else { "held by another" }));
            Ok(free)
        })
    }

    fn unlock(&mut self) -> io::Result<()> {
        let file = self.file;
        self.op("unlock", &[], |world| {
            world.files[file].lock = None;
            Ok(())
        })
    }

    fn meta(&self) -> io::Result<Meta> {
        let file = self.file;
        self.op("fstat", &[], |world| Ok(world.disk.meta(world.files[file].ino)))
    }

    /// The file that is given is `/dev/null`; but the caller hands the file to a child, so that it stays open until the
    /// child is started (see `launch_supervisor`), or until this process hands over another or ends.
    fn into_file(mut self: Box<Self>) -> Option<File> {
        self.is_handed = true;
        let file = self.file;
        self.ctx.aside(|world, slot| {
            if let Some(before) = world.procs[slot].handed.replace(file) {
                world.close(slot, before);
            }
        });
        File::open("/dev/null").ok()
    }

    /// The command that is started next gets a descriptor of this open file.
    fn share(&self) -> Option<File> {
        self.ctx.aside(|world, slot| {
            world.files[self.file].holders.push(slot);
            if let Some(before) = world.procs[slot].shared.replace(self.file) {
                world.close(slot, before);
            }
        });
        None
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if self.is_handed || self.ctx.is_gone() {
            return;
        }
        let file = self.file;
        let is_step = self.ctx.aside(|world, _| world.files[file].lock.is_some());
        let closed = if is_step == Some(true) {
            let what = || format!("close {}", self.path);
            self.ctx.op(what, &[], |world, slot| {
                world.close(slot, file);
                Ok(())
            })
        } else {
            self.ctx.aside(|world, slot| world.close(slot, file));
            Ok(())
        };
        drop(closed);
    }
}

/// Directories being watched, each with the version that was seen last.
struct Watched {
    ctx: Ctx,
    dirs: Vec<(Ino, u64)>,
}

impl Watch for Watched {
    fn wait(&mut self, time: Duration) -> io::Result<bool> {
        let until_us = self.ctx.aside(|world, _| alarm(world, time)).unwrap_or(0);
        let wait = Wait { until_us, dirs: self.dirs.clone(), ..Wait::default() };
        self.ctx.wait(wait, || format!("watch for {time:?}"));
        let now: Option<Vec<(Ino, u64)>> = self.ctx.aside(|world, _| {
            let version = |(ino, _): &(Ino, u64)| (*ino, world.disk.nodes[*ino].version);
            self.dirs.iter().map(version).collect()
        });
        let before = std::mem::replace(&mut self.dirs, now.unwrap_or_default());
        Ok(before != self.dirs)
    }
}

/// The boot clock after some time, in microseconds.
pub fn alarm(world: &World, time: Duration) -> u64 {
    let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    world.boot_us.saturating_add(us)
}

/// An error for verbs that pretend processes do not have.
pub fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, errno(EINVAL))
}
