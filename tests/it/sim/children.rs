//! Commands of tasks on the pretend machine: how they start, what they inherit, how they are found and signalled.
//!
//! A command is a process that has a descriptor of `tree.lock` and carries its task in its environment. From the very
//! step that starts it until its death it is in the critical sections that the scenario names, and so is whatever it
//! leaves behind.

use super::Program;
use super::files::alarm;
use super::turn::Ctx;
use super::world::{State, Wait, World};
use luzia::model::Identity;
use luzia::os::{Child, Command, Exit, Signal, StartError, TreeMark, Woken, is_shortage};
use std::io;
use std::time::Duration;

const EAGAIN: i32 = 11;

/// Starts the command of a task, as a child of this process.
pub fn start(ctx: &Ctx, command: &Command) -> Result<Box<dyn Child>, StartError> {
    let what = || format!("start the command {}", command.argv.join(" "));
    let kernel = ctx.kernel.clone();
    let started = ctx.op(what, &[EAGAIN], |world, slot| {
        let (Some(program), Some(at_start)) = (world.command.clone(), world.at_start.clone()) else {
            return Err(super::files::unsupported());
        };
        let file = world.procs[slot].shared;
        let name = variable(command, "LUZIA_TASK_ID").replace("task_", "cmd");
        let child = kernel.start(world, &name, program, file, command.argv.clone());
        world.procs[child].mark = Some((variable(command, "LUZIA_STATE_DIR"), variable(command, "LUZIA_TASK_ID")));
        match at_start(world, command) {
            Ok(sections) => sections.iter().for_each(|(section, most)| world.enter(child, section, *most)),
            Err(what) => world.violation(format!("{name} starts: {what}")),
        }
        Ok((child, identity(world, child)))
    });
    ctx.aside(|world, slot| {
        if let Some(file) = world.procs[slot].shared.take() {
            world.close(slot, file);
        }
    });
    let sort = |error| if is_shortage(&error) { StartError::Short(error) } else { StartError::Other(error) };
    let (slot, identity) = started.map_err(sort)?;
    Ok(Box::new(Kid { ctx: ctx.clone(), slot, identity, heeds: false }))
}

/// A process of a command leaves another one behind.
pub fn fork(ctx: &Ctx, name: &str, holds_lock: bool, program: Program) {
    let kernel = ctx.kernel.clone();
    let done = ctx.op(
        || format!("leave {name} behind"),
        &[],
        |world, slot| {
            let file = world.procs[slot].stdin.filter(|_| holds_lock);
            let child = kernel.start(world, name, program, file, Vec::new());
            let mark = world.procs[slot].mark.clone();
            world.procs[child].mark = mark;
            for inside in world.inside.values_mut().filter(|inside| inside.contains(&slot)) {
                inside.push(child);
            }
            Ok(())
        },
    );
    drop(done);
}

/// The living processes of a task's tree, but for `me` and `spared`.
pub fn tree(world: &World, me: usize, mark: &TreeMark, spared: &[u32]) -> Vec<Identity> {
    let carries = (mark.state_dir.clone(), mark.task_id.clone());
    let has_open = |slot: usize| {
        let is_it = |ino: usize| Some(super::disk::ident(ino)) == mark.tree_lock;
        world.files.iter().any(|file| file.holders.contains(&slot) && is_it(file.ino))
    };
    let is_of_it = |slot: &usize| {
        let proc = &world.procs[*slot];
        let may_be = *slot != me && proc.state != State::Dead && !spared.contains(&proc.pid);
        let late = mark.since.is_none_or(|since| proc.start >= since);
        may_be && late && (proc.mark.as_ref() == Some(&carries) || has_open(*slot))
    };
    (0..world.procs.len()).filter(is_of_it).map(|slot| identity(world, slot)).collect()
}

/// A signal arrives: SIGKILL kills, and SIGTERM kills a command that does not ignore it. Others are caught, or nothing.
pub fn deliver(world: &mut World, slot: usize, signal: Signal) {
    let proc = &mut world.procs[slot];
    let dies = proc.mark.is_some() && !proc.is_stubborn && matches!(signal, Signal::Term | Signal::Int);
    if signal == Signal::Kill || dies {
        world.kill(slot);
        if signal != Signal::Kill {
            world.procs[slot].exit = Exit::Signal(15);
        }
    } else if let Some(caught) = proc.caught.as_mut().filter(|_| !matches!(signal, Signal::Stop | Signal::Continue)) {
        caught.push(signal);
    }
}

fn identity(world: &World, slot: usize) -> Identity {
    Identity { pid: world.procs[slot].pid, start: world.procs[slot].start, boot_id: world.boot_id() }
}

/// A variable of a command's environment.
pub fn variable(command: &Command, name: &str) -> String {
    let found = command.env.iter().find(|(key, _)| key == name.as_bytes());
    found.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
}

/// A command that its supervisor watches.
struct Kid {
    ctx: Ctx,
    slot: usize,
    identity: Identity,
    /// Whether its supervisor looks at its logs once more.
    heeds: bool,
}

impl Kid {
    fn woken(&self, until_us: u64) -> Option<Woken> {
        self.ctx.aside(|world, me| {
            if world.procs[self.slot].state == State::Dead {
                return Some(Woken::Exited(world.procs[self.slot].exit));
            }
            if let Some(caught) = &mut world.procs[me].caught
                && !caught.is_empty()
            {
                return Some(match caught.remove(0) {
                    Signal::Term | Signal::Kill => Woken::Terminate,
                    Signal::Int => Woken::Interrupt,
                    Signal::Wake | Signal::Stop | Signal::Continue => Woken::Pass,
                });
            }
            (world.boot_us >= until_us).then_some(Woken::TimeUp)
        })?
    }
}

impl Child for Kid {
    fn pid(&self) -> u32 {
        self.identity.pid
    }

    fn wait(&mut self, time: Option<Duration>) -> io::Result<Woken> {
        let until_us = time.and_then(|time| self.ctx.aside(|world, _| alarm(world, time))).unwrap_or(u64::MAX);
        loop {
            if let Some(woken) = self.woken(until_us) {
                return Ok(woken);
            }
            if std::mem::take(&mut self.heeds) {
                return Ok(Woken::Wrote);
            }
            let wait = Wait { until_us, death: Some(self.slot), signals: true, ..Wait::default() };
            self.ctx.wait(wait, || "watch the command".into());
        }
    }

    fn heed(&mut self, _: Vec<std::fs::File>) {
        self.heeds = true;
    }

    fn signal(&mut self, signal: Signal) -> io::Result<()> {
        self.ctx.op(
            || format!("signal {signal:?} to the group of pid {}", self.identity.pid),
            &[],
            |world, _| {
                if world.procs[self.slot].state != State::Dead {
                    deliver(world, self.slot, signal);
                }
                Ok(())
            },
        )
    }
}
