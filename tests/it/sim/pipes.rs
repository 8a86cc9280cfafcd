//! Named pipes on the pretend machine: a file whose life is that of its maker's descriptor, and whose versions are its calls.

use super::disk::{Ino, errno};
use super::files::alarm;
use super::turn::Ctx;
use super::world::{Wait, World};
use luzia::os::Pipe;
use std::io;
use std::time::Duration;

const EMFILE: i32 = 24;

/// A pipe that a pretend process made.
pub struct PretendPipe {
    ctx: Ctx,
    base: Ino,
    file: usize,
    ino: Ino,
    /// The last call that was heard.
    heard: u64,
    other: Option<Ino>,
}

impl PretendPipe {
    /// Of an open file of this process.
    pub fn new(ctx: &Ctx, base: Ino, file: usize) -> Self {
        let at = ctx.aside(|world, _| (world.files[file].ino, world.disk.nodes[world.files[file].ino].version));
        let (ino, heard) = at.unwrap_or_default();
        Self { ctx: ctx.clone(), base, file, ino, heard, other: None }
    }
}

/// Whether somebody has made the pipe of that name and lives.
pub fn is_alive(world: &World, base: Ino, path: &str) -> io::Result<Option<Ino>> {
    Ok(world.disk.find(base, path)?.filter(|ino| world.is_open(*ino)))
}

/// Calls at a pipe; false when nobody is there.
pub fn call(world: &mut World, base: Ino, path: &str) -> io::Result<bool> {
    let Some(ino) = is_alive(world, base, path)? else { return Ok(false) };
    let now = world.now();
    world.disk.write(ino, now, |bytes| bytes.push(b'!'));
    world.disk.nodes[ino].version += 1;
    Ok(true)
}

impl Pipe for PretendPipe {
    fn watch(&mut self, path: &str) -> io::Result<bool> {
        let what = || format!("watch pipe {path}");
        let base = self.base;
        self.other = self.ctx.op(what, &[EMFILE], |world, _| is_alive(world, base, path))?;
        Ok(self.other.is_some())
    }

    fn watch_none(&mut self) {
        self.other = None;
    }

    fn watches(&self) -> bool {
        self.other.is_some()
    }

    fn wait(&mut self, time: Duration) -> io::Result<bool> {
        let until_us = self.ctx.aside(|world, _| alarm(world, time)).unwrap_or(0);
        let wait = Wait { until_us, dirs: vec![(self.ino, self.heard)], end: self.other, ..Wait::default() };
        self.ctx.wait(wait, || format!("wait in line for {time:?}"));
        let (other, ino) = (self.other, self.ino);
        let seen = self
            .ctx
            .aside(|world, _| (world.disk.nodes[ino].version, other.is_some_and(|other| !world.is_open(other))));
        let (version, is_over) = seen.ok_or_else(|| errno(EMFILE))?;
        if is_over {
            self.other = None;
            return Ok(true);
        }
        Ok(std::mem::replace(&mut self.heard, version) != version)
    }
}

impl Drop for PretendPipe {
    fn drop(&mut self) {
        if !self.ctx.is_gone() {
            let file = self.file;
            self.ctx.aside(|world, slot| world.close(slot, file));
        }
    }
}
