//! `Clock` and `Processes` of the pretend machine, as one pretend process has them.
//!
//! Reading a clock or one's own identity is no scheduling point; sleeping, probing and signalling are.

use super::children;
use super::files::{Descriptor, alarm, unsupported};
use super::turn::Ctx;
use super::world::{Wait, World};
use luzia::model::process::{Ancestor, INITIAL_PID_NAMESPACE, INITIAL_USER_NAMESPACE, Probe, Sight};
use luzia::model::{Identity, Origin, Timestamp};
use luzia::os::{
    Called, Child, Clock, Command, Exit, Handle, InPlace, Processes, Signal, StartError, Streams, TreeMark,
};
use std::fs::File;
use std::io;
use std::time::Duration;

/// The account of every pretend process.
pub const UID: u32 = 1000;
const EAGAIN: i32 = 11;

/// The machine as one process sees it, files aside.
pub struct Host {
    ctx: Ctx,
}

impl Host {
    /// The view of one process.
    pub fn new(ctx: &Ctx) -> Self {
        Self { ctx: ctx.clone() }
    }

    fn look<T: Default>(&self, at: impl FnOnce(&World) -> T) -> T {
        self.ctx.aside(|world, _| at(world)).unwrap_or_default()
    }

    fn slot_of(&self, who: &Identity) -> Option<usize> {
        self.ctx.aside(|world, _| {
            let slot = world.living(who.pid)?;
            let same = world.procs[slot].start == who.start && world.boot_id() == who.boot_id;
            same.then_some(slot)
        })?
    }
}

impl Clock for Host {
    fn now(&self) -> Timestamp {
        self.look(World::now)
    }

    fn boot_ms(&self) -> u64 {
        self.look(|world| world.boot_us / 1000)
    }

    fn boot_id(&self) -> String {
        self.look(World::boot_id)
    }

    fn sleep(&self, time: Duration) {
        let wait = Wait { until_us: self.look(|world| alarm(world, time)), ..Wait::default() };
        self.ctx.wait(wait, || format!("sleep {time:?}"));
    }
}

impl Processes for Host {
    fn me(&self) -> Identity {
        let slot = self.ctx.slot;
        let who = |world: &World| Identity {
            pid: world.procs[slot].pid,
            start: world.procs[slot].start,
            boot_id: world.boot_id(),
        };
        let me = self.ctx.aside(|world, _| who(world));
        me.unwrap_or(Identity { pid: 0, start: 0, boot_id: String::new() })
    }

    fn uid(&self) -> u32 {
        UID
    }

    fn account_name(&self, uid: u32) -> io::Result<Option<String>> {
        Ok((uid == UID).then(|| "pretend".into()))
    }

    fn account_id(&self, name: &str) -> io::Result<Option<u32>> {
        Ok((name == "pretend").then_some(UID))
    }

    fn host(&self) -> String {
        "pretend".into()
    }

    fn gauges(&self) -> &dyn luzia::os::Gauges {
        &luzia::os::NoGauges
    }

    fn context(&self) -> std::sync::Arc<luzia::model::Context> {
        std::sync::Arc::default()
    }

    fn sandboxes(&self) -> luzia::model::Surroundings {
        luzia::model::Surroundings::default()
    }

    fn origin(&self) -> Origin {
        Origin {
            boot_id: Some(self.me().boot_id),
            pid_namespace: Some(INITIAL_PID_NAMESPACE),
            init_start: Some(1),
            user_namespace: Some(INITIAL_USER_NAMESPACE),
        }
    }

    fn is_proc_own(&self) -> bool {
        true
    }

    /// All processes of the pretend host live in one namespace.
    fn look_below(&self, _: u64, _: Option<u32>) -> (Sight, Option<Probe>) {
        (Sight::NotLooked, None)
    }

    fn has_child(&self) -> bool {
        false
    }

    fn open_stdin_of(&self, _: &Identity, _: Option<(u64, u64)>) -> io::Result<Option<std::fs::File>> {
        Ok(None)
    }

    fn probe(&self, pid: u32) -> Probe {
        let what = || format!("probe pid {pid}");
        let probe = self.ctx.op(what, &[], |world, _| Ok(world.probe(pid)));
        probe.unwrap_or(Probe::Unknown)
    }

    /// No command of the pretend host is luzia itself.
    fn runs_this_program(&self, _: u32) -> bool {
        false
    }

    /// The simulated host stops nobody: a slow process may take any time.
    fn is_stopped(&self, _: &Identity) -> bool {
        false
    }

    fn signal(&self, who: &Identity, signal: Signal) -> io::Result<bool> {
        let what = || format!("signal {signal:?} to pid {}", who.pid);
        self.ctx.op(what, &[], |_, _| Ok(()))?;
        let Some(slot) = self.slot_of(who) else {
            return Ok(false);
        };
        self.ctx.aside(|world, _| children::deliver(world, slot, signal));
        Ok(true)
    }

    fn await_death(&self, who: &Identity, time: Duration) -> io::Result<bool> {
        if let Some(slot) = self.slot_of(who) {
            let wait = Wait { until_us: self.look(|world| alarm(world, time)), death: Some(slot), ..Wait::default() };
            let what = || format!("await the death of pid {}", who.pid);
            self.ctx.wait(wait, what);
        }
        Ok(self.slot_of(who).is_none())
    }

    fn launch_supervisor(&self, args: &[String], lock: Box<dyn Handle>) -> io::Result<u32> {
        // The descriptor stays open between the two calls; see `Descriptor::into_file`.
        drop(lock.into_file());
        let what = || format!("launch supervisor {}", args.join(" "));
        let kernel = self.ctx.kernel.clone();
        let launched = self.ctx.op(what, &[EAGAIN], |world, slot| {
            let Some(program) = world.launch.clone() else {
                return Err(unsupported());
            };
            let file = world.procs[slot].handed;
            let child = kernel.start(world, "super", program, file, args.to_vec());
            Ok(world.procs[child].pid)
        });
        self.ctx.aside(|world, slot| {
            if let Some(file) = world.procs[slot].handed.take() {
                world.close(slot, file);
            }
        });
        launched
    }

    fn inherited_lock(&self) -> io::Result<Box<dyn Handle>> {
        let file = self.ctx.op(
            || "take over the inherited lock".into(),
            &[],
            |world, slot| {
                let file = world.procs[slot].stdin.ok_or_else(unsupported)?;
                world.files[file].holders.push(slot);
                Ok(file)
            },
        )?;
        Ok(Box::new(Descriptor::new(&self.ctx, file, "(inherited)", false)))
    }

    fn replace_input(&self, _: Option<File>) -> io::Result<()> {
        self.ctx.op(
            || "make another lock the standard input".into(),
            &[],
            |world, slot| {
                let file = world.procs[slot].shared.take().ok_or_else(unsupported)?;
                if let Some(before) = world.procs[slot].stdin.replace(file) {
                    world.close(slot, before);
                }
                Ok(())
            },
        )
    }

    fn become_supervisor(&self) -> io::Result<()> {
        self.ctx.aside(|world, slot| world.procs[slot].caught = Some(Vec::new()));
        Ok(())
    }

    fn start(&self, command: &Command, _: &Streams, _: Option<File>) -> Result<Box<dyn Child>, StartError> {
        children::start(&self.ctx, command)
    }

    fn start_here(&self, _: InPlace) -> Result<Box<dyn Child>, StartError> {
        Err(StartError::Other(unsupported()))
    }

    fn call(&self, _: &Called) -> io::Result<(Exit, Vec<u8>)> {
        Err(unsupported())
    }

    fn tree(&self, mark: &TreeMark, spared: &[u32]) -> io::Result<Vec<Identity>> {
        let what = || format!("look for the tree of {}", mark.task_id);
        self.ctx.op(what, &[], |world, slot| Ok(children::tree(world, slot, mark, spared)))
    }

    fn descends_from(&self, _: &Identity) -> bool {
        false
    }

    fn has_open(&self, _: (u64, u64)) -> bool {
        false
    }

    /// Some leave the next task to a new process.
    fn program_of(&self, _: u32) -> Option<String> {
        None
    }

    fn ancestors(&self, _: u32, _: &dyn Fn(&Ancestor) -> bool) -> Vec<Ancestor> {
        Vec::new()
    }

    fn end_of(&self, _: &Identity) -> io::Result<Option<File>> {
        Ok(None)
    }

    fn is_program_current(&self) -> bool {
        !self.me().pid.is_multiple_of(3)
    }

    fn reap(&self) {}

    fn lock_holder(&self, file: (u64, u64)) -> Option<u32> {
        let what = || format!("who has the kernel lock of inode {}", file.1);
        let found = self.ctx.op(what, &[], |world, _| {
            let holds = |it: &&super::world::OpenFile| it.lock.is_some() && super::disk::ident(it.ino) == file;
            let slot = world.files.iter().find(holds);
            let slot = slot.and_then(|it| it.holders.first().copied());
            Ok(slot.map(|slot| world.procs[slot].pid))
        });
        found.ok().flatten()
    }

    fn groups(&self) -> Option<&dyn luzia::os::Groups> {
        None
    }

    fn catch_ends(&self) {}

    fn asked_to_end(&self) -> Option<i32> {
        None
    }

    fn die_of(&self, _: i32) {}

    fn hold_stop_signals(&self, _: bool) {}
}
