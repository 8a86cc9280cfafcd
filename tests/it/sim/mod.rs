//! A pretend machine for the real code of `store`: files, clocks and processes behind the traits of `luzia::os`, under
//! a scheduler that lets one pretend process move at a time.
//!
//! A test builds a `Sim`, spawns programs (closures that get an `Env`), and runs it. What happens is a function of the
//! seed, or of the list of choices: who moves at each operation, who is killed, when the power goes, what is left on
//! the disk then, which operation fails, how time passes. `seeds` runs a scenario over many seeds, `explore` over every
//! list of choices within bounds. A failure is run again with its trace and printed with its seed or list.
//!
//! A program must not hold a std lock across an operation (it may be killed there, or wait for its turn while another
//! needs the lock), and must have no source of chance but the machine. State that outlives kills and power cuts, such
//! as the list of acknowledged records, lives in an `Arc<Mutex<…>>` beside the machine.

mod children;
mod choice;
mod cron;
mod disk;
mod edits;
mod ending;
mod explained;
mod explore;
mod files;
mod foreseen;
mod granted;
mod heads;
mod host;
mod journal;
mod kept;
mod life;
mod life_book;
mod line;
mod locks;
mod pipes;
mod pool;
mod proof_disk;
mod proof_kernel;
mod proof_locks;
mod reuse;
mod sessions;
mod slots;
pub mod spool;
mod start;
mod steps;
mod turn;
mod waits;
mod world;

pub use choice::Choice;
/// What a test knows beside the simulated world, also after a failed run has left it locked.
pub fn know<T>(shared: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(|poison| poison.into_inner())
}

pub use explore::{Explored, Report, explore, seeds};
pub use journal::Journal;
pub use world::World;

use choice::{Chooser, Rng};
use disk::{Body, Disk, ROOT};
use files::Files;
use host::{Host, UID};
use luzia::os::{Clock, Command, Exit, Processes, Signal, Vfs};
use std::collections::BTreeMap;
use std::sync::Arc;
use turn::{Ctx, Kernel};

/// What a pretend process does.
pub type Program = Arc<dyn Fn(Env) + Send + Sync>;
/// What a launched supervisor does.
pub type Launch = Program;
/// Something that must be true whenever the disk has changed.
pub type Look = Arc<dyn Fn(&World) -> Result<(), String> + Send + Sync>;

/// What must be true when a command starts, and the critical sections in which it is then, each with how many may be.
pub type AtStart = Arc<dyn Fn(&World, &Command) -> Result<Vec<(String, usize)>, String> + Send + Sync>;

/// How much of each thing may happen in one run.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Switches away from a process that could have gone on.
    pub preemptions: u32,
    /// Kills of single processes.
    pub kills: u32,
    /// Power cuts.
    pub cuts: u32,
    /// How many crash images a cut chooses from: 0 loses all, 1 keeps all, 2 keeps names only, 3 keeps names and zeros,
    /// the rest are random.
    pub images: usize,
    /// Operations that fail.
    pub errors: u32,
    /// Times a sleeper wakes although others could move.
    pub wakes: u32,
    /// Jumps of the clocks.
    pub jumps: u32,
    /// The jumps to choose from: milliseconds of the boot clock (a pause of the host), and of the wall clock.
    pub jump_sizes: Vec<(u64, i64)>,
}

impl Default for Limits {
    /// Any interleaving, and no mishaps.
    fn default() -> Self {
        Self {
            preemptions: u32::MAX,
            kills: 0,
            cuts: 0,
            images: 1000,
            errors: 0,
            wakes: u32::MAX,
            jumps: 0,
            jump_sizes: vec![(0, 86_400_000), (0, -86_400_000), (3_600_000, 3_600_000)],
        }
    }
}

impl Limits {
    /// Bounds for `explore`: so many preemptions and kills, and nothing else.
    pub fn bounded(preemptions: u32, kills: u32) -> Self {
        Self { preemptions, kills, images: 8, wakes: 0, ..Self::default() }
    }
}

/// How likely things are when a seed decides, as weights.
#[derive(Clone, Debug)]
pub struct Odds {
    /// This process goes on.
    pub stay: u32,
    /// Another one does, for each.
    pub switch: u32,
    /// A process is killed, for each.
    pub kill: u32,
    /// The power is cut.
    pub cut: u32,
    /// The clocks jump, for each size.
    pub jump: u32,
    /// Time passes though others could move.
    pub wake: u32,
    /// An operation does not fail.
    pub fine: u32,
    /// It fails, for each way.
    pub error: u32,
}

impl Odds {
    /// Some seeds switch at every step, some rarely; some strike often.
    fn from_seed(seed: u64) -> Self {
        let mut rng = Rng::new(!seed);
        let mut one_of = |list: [u32; 4]| list[rng.below(4)];
        Self {
            stay: one_of([20, 100, 400, 1000]),
            switch: 40,
            kill: one_of([1, 2, 6, 20]),
            cut: one_of([1, 2, 6, 20]),
            jump: one_of([1, 1, 4, 10]),
            wake: one_of([1, 4, 20, 60]),
            fine: one_of([20, 60, 200, 400]),
            error: 1,
        }
    }
}

/// Whether a pid is given out again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reuse {
    /// As soon as its process is dead.
    AtOnce,
    /// Never within a run.
    Never,
}

/// A machine that is being set up, and then run once.
pub struct Sim {
    kernel: Arc<Kernel>,
    at_end: Vec<(String, Program)>,
    origin: String,
}

impl Sim {
    /// A machine whose fate is drawn from a seed.
    pub fn new(seed: u64) -> Self {
        let origin = format!("seed={seed}");
        Self::with(Chooser::from_seed(seed), Odds::from_seed(seed), origin)
    }

    /// A machine whose fate is a list of choices; past its end nothing unusual happens.
    pub fn replay(choices: &[u16]) -> Self {
        let origin = format!("choices={choices:?}");
        let chooser = Chooser::from_list(choices.to_vec());
        Self::with(chooser, Odds::from_seed(0), origin)
    }

    fn with(chooser: Chooser, odds: Odds, origin: String) -> Self {
        let (boot_us, wall_us) = World::first_instant();
        let world = World {
            disk: Disk::new(Journal::default(), UID),
            procs: Vec::new(),
            files: Vec::new(),
            boot_us,
            wall_us,
            cuts: 0,
            kills: 0,
            steps: 0,
            left: Limits::default(),
            odds,
            chooser,
            last: None,
            threads: 0,
            over: false,
            violations: Vec::new(),
            trace: None,
            at_boot: Vec::new(),
            launch: None,
            command: None,
            at_start: None,
            inside: BTreeMap::new(),
            always: Vec::new(),
            checked: 0,
            first_ino: 0,
            fallible: 0,
            fail_at: None,
            reuse: Reuse::Never,
        };
        Self { kernel: Kernel::new(world), at_end: Vec::new(), origin }
    }

    /// What may happen in this run.
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.kernel.world().left = limits;
        self
    }

    /// What a power cut may do to names.
    pub fn journal(&mut self, journal: Journal) -> &mut Self {
        self.kernel.world().disk.journal = journal;
        self
    }

    /// Whether pids are used again; by default never.
    pub fn reuse_pids(&mut self, reuse: Reuse) -> &mut Self {
        self.kernel.world().reuse = reuse;
        self
    }

    /// The n-th operation that can fail (from 1) does, with this errno.
    pub fn fail_at(&mut self, n: u64, errno: i32) -> &mut Self {
        self.kernel.world().fail_at = Some((n, errno));
        self
    }

    /// Records what happens; switched on by itself when a failure is repeated.
    pub fn traced(&mut self) -> &mut Self {
        self.kernel.world().trace.get_or_insert_with(Vec::new);
        self
    }

    /// A directory that is on the platter before anything happens.
    pub fn dir(&mut self, path: &str) -> &mut Self {
        let mut world = self.kernel.world();
        let now = world.now();
        let made = world.disk.make_dir(ROOT, path, 0o700, now);
        made.expect("its parent exists");
        world.disk.sync_everything();
        drop(world);
        self
    }

    /// A file that is on the platter before anything happens.
    pub fn file(&mut self, path: &str, bytes: &[u8]) -> &mut Self {
        let ino = self.plant(path, Body::file());
        let mut world = self.kernel.world();
        world.disk.content(ino).now = bytes.to_vec();
        world.disk.sync_everything();
        drop(world);
        self
    }

    /// Something that is neither a file nor a directory, as a symbolic link.
    pub fn oddity(&mut self, path: &str) -> &mut Self {
        self.plant(path, Body::Other);
        self
    }

    /// A process from the beginning.
    pub fn spawn(&mut self, name: &str, program: impl Fn(Env) + Send + Sync + 'static) -> &mut Self {
        let mut world = self.kernel.world();
        self.kernel.start(&mut world, name, Arc::new(program), None, Vec::new());
        drop(world);
        self
    }

    /// A process that is started after each power cut.
    pub fn at_boot(&mut self, name: &str, program: impl Fn(Env) + Send + Sync + 'static) -> &mut Self {
        let entry: (String, Program) = (name.to_owned(), Arc::new(program));
        self.kernel.world().at_boot.push(entry);
        self
    }

    /// A process that runs alone and without mishaps when all others are dead, for what must be true at the end.
    pub fn at_end(&mut self, name: &str, program: impl Fn(Env) + Send + Sync + 'static) -> &mut Self {
        self.at_end.push((name.to_owned(), Arc::new(program)));
        self
    }

    /// What `launch_supervisor` starts.
    pub fn on_launch(&mut self, program: impl Fn(Env) + Send + Sync + 'static) -> &mut Self {
        self.kernel.world().launch = Some(Arc::new(program));
        self
    }

    /// What the command of a task does; its arguments are those of the task.
    pub fn on_command(&mut self, program: impl Fn(Env) + Send + Sync + 'static) -> &mut Self {
        self.kernel.world().command = Some(Arc::new(program));
        self
    }

    /// Something that must be true when a command starts; gives the critical sections in which the command and whatever
    /// it leaves behind are from then on, each with how many may be there.
    pub fn at_start(
        &mut self,
        look: impl Fn(&World, &Command) -> Result<Vec<(String, usize)>, String> + Send + Sync + 'static,
    ) -> &mut Self {
        self.kernel.world().at_start = Some(Arc::new(look));
        self
    }

    /// Something that must be true whenever the disk has changed.
    pub fn always(
        &mut self,
        name: &str,
        look: impl Fn(&World) -> Result<(), String> + Send + Sync + 'static,
    ) -> &mut Self {
        let entry: (String, Look) = (name.to_owned(), Arc::new(look));
        self.kernel.world().always.push(entry);
        self
    }

    /// Runs until everybody is dead.
    pub fn run(self) -> Report {
        self.kernel.run_to_end();
        for (name, program) in &self.at_end {
            let mut world = self.kernel.world();
            if !world.violations.is_empty() {
                break;
            }
            world.left = Limits::bounded(0, 0);
            world.fail_at = None;
            world.last = None;
            self.kernel.start(&mut world, name, program.clone(), None, Vec::new());
            drop(world);
            self.kernel.run_to_end();
        }
        let mut world = self.kernel.world();
        // Programs may hold the machine itself through what they captured.
        world.at_boot.clear();
        world.launch = None;
        world.command = None;
        world.at_start = None;
        Report {
            origin: self.origin.clone(),
            schedule: std::mem::take(&mut world.chooser.made),
            steps: world.steps,
            kills: world.kills,
            cuts: world.cuts,
            violations: std::mem::take(&mut world.violations),
            trace: world.trace.take().unwrap_or_default(),
        }
    }

    fn plant(&mut self, path: &str, body: Body) -> usize {
        let mut world = self.kernel.world();
        let now = world.now();
        let parent = world.disk.parent(ROOT, path);
        let (dir, name) = parent.expect("a path").expect("its parent exists");
        let ino = world.disk.create(dir, name, body, 0o600, now);
        world.disk.sync_everything();
        ino
    }
}

/// The machine as one program has it.
pub struct Env {
    ctx: Ctx,
    /// The arguments of a launched supervisor.
    pub args: Vec<String>,
}

impl Env {
    /// Files below a directory that exists.
    pub fn vfs(&self, path: &str) -> Arc<dyn Vfs> {
        Arc::new(Files::at(&self.ctx, path))
    }

    /// The clocks.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(Host::new(&self.ctx))
    }

    /// The processes.
    pub fn procs(&self) -> Arc<dyn Processes> {
        Arc::new(Host::new(&self.ctx))
    }

    /// Something that takes a moment and touches nothing: others may move, and this process may die here.
    pub fn step(&self, what: &str) {
        let done = self.ctx.op(|| what.to_owned(), &[], |_, _| Ok(()));
        drop(done);
    }

    /// Comes into a critical section, where nobody else that lives may be.
    pub fn enter(&self, section: &str) {
        self.ctx.aside(|world, slot| world.enter(slot, section, 1));
    }

    /// Leaves a critical section.
    pub fn leave(&self, section: &str) {
        self.ctx.aside(|world, slot| {
            if let Some(inside) = world.inside.get_mut(section) {
                inside.retain(|one| *one != slot);
            }
        });
    }

    /// Leaves a process behind that is in the same critical sections and carries the same task. With `holds_lock` it
    /// keeps the inherited descriptor open.
    pub fn fork(&self, name: &str, holds_lock: bool, program: impl Fn(Env) + Send + Sync + 'static) {
        children::fork(&self.ctx, name, holds_lock, Arc::new(program));
    }

    /// From here on SIGTERM does nothing to this process.
    pub fn ignore_term(&self) {
        self.ctx.aside(|world, slot| world.procs[slot].is_stubborn = true);
    }

    /// Whether this process caught a SIGTERM since this was last asked.
    pub fn is_told_to_end(&self) -> bool {
        let told = self.ctx.aside(|world, slot| {
            let caught = world.procs[slot].caught.get_or_insert_default();
            let before = caught.len();
            caught.retain(|signal| *signal != Signal::Term);
            caught.len() < before
        });
        told.unwrap_or(false)
    }

    /// The code with which this process will exit.
    pub fn exit_with(&self, code: i32) {
        self.ctx.aside(|world, slot| world.procs[slot].exit = Exit::Code(code));
    }

    /// Lets the n-th operation from here on fail, counting those that can; the 0th lets none fail.
    pub fn fail_in(&self, n: u64, errno: i32) {
        self.ctx.aside(|world, _| world.fail_at = Some((world.fallible + n, errno)));
    }

    /// The host sleeps: both clocks go on, and nobody moves.
    pub fn suspend(&self, time: std::time::Duration) {
        self.ctx.aside(|world, _| world.pass(u64::try_from(time.as_micros()).expect("not that long")));
    }

    /// From here on no operation fails any more.
    pub fn calm(&self) {
        self.ctx.aside(|world, _| world.left.errors = 0);
    }

    /// From here on so many kills and power cuts may happen.
    pub fn strike(&self, kills: u32, cuts: u32) {
        self.ctx.aside(|world, _| (world.left.kills, world.left.cuts) = (kills, cuts));
    }

    /// Looks at the machine without being part of it.
    pub fn look<T>(&self, at: impl FnOnce(&World) -> T) -> Option<T> {
        self.ctx.aside(|world, _| at(world))
    }

    /// Something is wrong: the run ends at the next operation.
    pub fn violation(&self, what: &str) {
        self.ctx.aside(|world, slot| {
            let name = world.procs[slot].name.clone();
            world.violation(format!("{name}: {what}"));
        });
    }
}
