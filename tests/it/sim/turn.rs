//! The scheduler: exactly one pretend process moves at a time, and between two operations it is decided who goes next,
//! who is killed, whether the power is cut and whether the clocks jump.
//!
//! A killed process ends as under kill -9: its descriptors close and nothing else happens. Its thread unwinds by a
//! payload that the harness catches; what destructors try to do meanwhile reaches nothing.

use super::disk::errno;
use super::pool;
use super::world::{State, Wait, World};
use super::{Env, Program};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::Thread;

/// More operations than any scenario needs: beyond it a run counts as stuck.
const MAX_STEPS: u64 = 200_000;
const EIO: i32 = 5;

/// Where a pretend process waits for its turn.
#[derive(Default)]
pub struct Gate {
    open: AtomicU8,
    killed: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Gate {
    /// Lets the process go on.
    pub fn open(&self) {
        self.open.store(1, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Lets the process unwind.
    pub fn kill(&self) {
        self.killed.store(true, Ordering::Release);
        self.open();
    }

    fn pass(&self) {
        while self.open.swap(0, Ordering::AcqRel) == 0 {
            std::thread::park();
        }
    }

    fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }
}

/// What a killed thread unwinds with.
struct Killed;

/// The machine, and the thread that waits for the end of a run.
pub struct Kernel {
    world: Mutex<World>,
    driver: Gate,
}

/// One thing that can happen next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Move {
    Run(usize),
    Kill(usize),
    Cut,
    Jump(usize),
    Wake,
    End,
}

impl Kernel {
    /// A machine.
    pub fn new(world: World) -> Arc<Self> {
        let driver = Gate::default();
        driver.thread.get_or_init(std::thread::current);
        Arc::new(Self { world: Mutex::new(world), driver })
    }

    /// The state. A thread that unwinds leaves it whole, so poison means nothing.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Runs until everybody is dead and every thread has come to its end.
    pub fn run_to_end(self: &Arc<Self>) {
        let mut world = self.world();
        world.over = false;
        let next = self.decide(&mut world);
        self.hand_over(world, next);
        self.driver.pass();
    }

    /// Starts a program as a further process. With `file` it inherits a descriptor of that open file.
    pub fn start(
        self: &Arc<Self>,
        world: &mut World,
        name: &str,
        program: Program,
        file: Option<usize>,
        args: Vec<String>,
    ) -> usize {
        let gate = Arc::new(Gate::default());
        let slot = world.add_process(name, gate.clone());
        let ctx = Ctx { kernel: self.clone(), slot, gate: gate.clone() };
        if let Some(file) = file {
            world.files[file].holders.push(slot);
            world.procs[slot].stdin = Some(file);
        }
        let kernel = self.clone();
        let job = move || {
            ctx.gate.pass();
            let killed = ctx.gate.is_killed();
            let env = Env { ctx, args };
            let body = AssertUnwindSafe(move || program(env));
            let end = if killed { Ok(()) } else { catch_unwind(body) };
            kernel.finish(slot, end.err());
        };
        let thread = pool::run(Box::new(job));
        gate.thread.get_or_init(|| thread);
        slot
    }

    fn finish(self: &Arc<Self>, slot: usize, panic: Option<Box<dyn std::any::Any + Send>>) {
        let mut world = self.world();
        let had_turn = world.procs[slot].state != State::Dead;
        if had_turn {
            world.say(|world| format!("{:<8} ends", world.procs[slot].name));
            world.bury(slot);
        }
        if let Some(payload) = panic.filter(|payload| !payload.is::<Killed>()) {
            let text = payload
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).into()))
                .unwrap_or_else(|| "a panic".into());
            let name = world.procs[slot].name.clone();
            world.violation(format!("{name} panicked: {text}"));
        }
        // Only then is the run over: somebody who waits for the last thread must find everything recorded.
        let next = if had_turn { self.decide(&mut world) } else { None };
        world.threads -= 1;
        self.hand_over(world, next);
    }

    fn hand_over(&self, world: MutexGuard<'_, World>, next: Option<usize>) {
        let gate = next.map(|slot| world.procs[slot].gate.clone());
        let is_over = world.over && world.threads == 0;
        drop(world);
        if let Some(gate) = gate {
            gate.open();
        }
        if is_over {
            self.driver.open();
        }
    }

    /// Decides until somebody is to move; `None` when the run is over.
    fn decide(self: &Arc<Self>, world: &mut World) -> Option<usize> {
        loop {
            if world.steps > MAX_STEPS {
                world.violation(format!("no end after {MAX_STEPS} operations"));
            }
            if !world.violations.is_empty() {
                world.kill_all();
                world.over = true;
                return None;
            }
            world.wake_up();
            let moves = moves(world);
            if moves.is_empty() {
                world.violation("everybody waits for ever".into());
                continue;
            }
            let weights: Vec<u32> = moves.iter().map(|one| world.weight(*one)).collect();
            let taken = moves[world.chooser.pick(weights.iter().copied())];
            match taken {
                Move::Run(slot) => {
                    if is_preemption(world, slot) {
                        world.left.preemptions -= 1;
                    }
                    world.last = Some(slot);
                    return Some(slot);
                }
                Move::End => {
                    world.over = true;
                    return None;
                }
                Move::Kill(_) | Move::Cut | Move::Jump(_) | Move::Wake => self.befall(world, taken),
            }
        }
    }

    /// Something happens that is nobody's move.
    fn befall(self: &Arc<Self>, world: &mut World, what: Move) {
        match what {
            Move::Kill(slot) => {
                if is_preemption(world, slot) {
                    world.left.preemptions -= 1;
                }
                world.left.kills -= 1;
                world.kills += 1;
                world.kill(slot);
            }
            Move::Cut => {
                world.left.cuts -= 1;
                let images = world.left.images;
                let image = world.chooser.number(images);
                world.cut(image);
                for (name, program) in world.at_boot.clone() {
                    self.start(world, &name, program, None, Vec::new());
                }
            }
            Move::Jump(at) => {
                world.left.jumps -= 1;
                let (boot_ms, wall_ms) = world.left.jump_sizes[at];
                world.boot_us += boot_ms * 1000;
                world.wall_us += wall_ms * 1000;
                world.say(|_| format!("JUMP     boot clock {boot_ms} ms, wall clock {wall_ms} ms"));
            }
            Move::Wake => {
                let alarm = world.next_alarm().expect("somebody waits");
                world.pass(alarm.saturating_sub(world.boot_us));
                if world.procs.iter().any(|proc| proc.state == State::Ready) {
                    world.left.wakes -= 1;
                    world.say(|_| "TIME     passes while others could move".into());
                }
            }
            Move::Run(_) | Move::End => {}
        }
    }
}

fn is_preemption(world: &World, slot: usize) -> bool {
    let ready = |last: usize| world.procs[last].state == State::Ready;
    world.last.is_some_and(|last| last != slot && ready(last))
}

/// Everything that can happen now; the quiet choice comes first. Empty when all that live wait for ever.
fn moves(world: &World) -> Vec<Move> {
    let is = |state: fn(&State) -> bool| {
        let slots = 0..world.procs.len();
        slots.filter(move |slot| state(&world.procs[*slot].state))
    };
    let mut moves = Vec::with_capacity(8);
    let last = world.last.filter(|last| world.procs[*last].state == State::Ready);
    moves.extend(last.map(Move::Run));
    if last.is_none() || world.left.preemptions > 0 {
        let others = is(|state| *state == State::Ready).filter(|slot| Some(*slot) != last);
        moves.extend(others.map(Move::Run));
    }
    let nobody_lives = is(|state| *state != State::Dead).next().is_none();
    if nobody_lives {
        moves.push(Move::End);
    }
    if world.left.kills > 0 {
        let at_risk = is(|state| *state != State::Dead)
            .filter(|slot| world.procs[*slot].steps > 0)
            .filter(|slot| world.left.preemptions > 0 || !is_preemption(world, *slot));
        moves.extend(at_risk.map(Move::Kill));
    }
    if world.left.cuts > 0 {
        moves.push(Move::Cut);
    }
    if world.left.jumps > 0 && !nobody_lives {
        moves.extend((0..world.left.jump_sizes.len()).map(Move::Jump));
    }
    let waits = world.next_alarm().is_some_and(|alarm| alarm < u64::MAX);
    let ready = matches!(moves.first(), Some(Move::Run(_)));
    match (nobody_lives || ready, waits) {
        (true, true) if world.left.wakes > 0 => moves.push(Move::Wake),
        (true, _) => {}
        // Time passes by itself when nobody can move, but a kill or a cut may come first.
        (false, true) => moves.insert(0, Move::Wake),
        (false, false) => moves.clear(),
    }
    moves
}

impl World {
    fn weight(&self, one: Move) -> u32 {
        match one {
            Move::Run(slot) if self.last == Some(slot) => self.odds.stay,
            Move::Run(_) => self.odds.switch,
            Move::Kill(_) => self.odds.kill,
            Move::Cut if self.procs.iter().all(|proc| proc.state == State::Dead) => self.odds.stay,
            Move::Cut => self.odds.cut,
            Move::Jump(_) => self.odds.jump,
            Move::Wake => self.odds.wake,
            Move::End => self.odds.stay,
        }
    }
}

/// A pretend process, as its own thread sees it.
#[derive(Clone)]
pub struct Ctx {
    /// The machine.
    pub kernel: Arc<Kernel>,
    /// Which process this is.
    pub slot: usize,
    gate: Arc<Gate>,
}

impl Ctx {
    /// One operation: others may move first, and it may fail in the ways given. What it does is one atomic step.
    pub fn op<T>(
        &self,
        what: impl FnOnce() -> String,
        faults: &[i32],
        act: impl FnOnce(&mut World, usize) -> io::Result<T>,
    ) -> io::Result<T> {
        let Some(mut world) = self.turn(None) else {
            return Err(errno(EIO));
        };
        world.begin(self.slot, what);
        let result = match world.fault(faults) {
            Some(number) => Err(errno(number)),
            None => act(&mut world, self.slot),
        };
        world.end();
        result
    }

    /// Waits; others move meanwhile.
    pub fn wait(&self, wait: Wait, what: impl FnOnce() -> String) {
        if let Some(mut world) = self.turn(Some((wait, what()))) {
            world.end();
        }
    }

    /// Looks at or changes the machine outside of any operation; `None` for the dead.
    pub fn aside<T>(&self, act: impl FnOnce(&mut World, usize) -> T) -> Option<T> {
        if self.gate.is_killed() {
            return None;
        }
        Some(act(&mut self.kernel.world(), self.slot))
    }

    /// Whether the process is dead, so that nothing it drops reaches anything.
    pub fn is_gone(&self) -> bool {
        std::thread::panicking() || self.gate.is_killed()
    }

    /// A scheduling point; `None` in a process that is unwinding.
    fn turn(&self, wait: Option<(Wait, String)>) -> Option<MutexGuard<'_, World>> {
        if std::thread::panicking() {
            return None;
        }
        if self.gate.is_killed() {
            resume_unwind(Box::new(Killed));
        }
        let mut world = self.kernel.world();
        if let Some((wait, what)) = wait {
            world.begin(self.slot, || what);
            world.procs[self.slot].state = State::Waiting(wait);
        }
        let next = self.kernel.decide(&mut world);
        if next == Some(self.slot) {
            return Some(world);
        }
        self.kernel.hand_over(world, next);
        self.gate.pass();
        if self.gate.is_killed() {
            resume_unwind(Box::new(Killed));
        }
        Some(self.kernel.world())
    }
}
