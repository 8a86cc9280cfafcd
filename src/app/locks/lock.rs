//! `lock`: flock(1) for lanes. The command inherits the kernel locks on the lock files, so that the lanes stay held until
//! the command itself is dead, even when this process is killed.

use crate::app::capacity::{cpu_plan, slot_variables};
use crate::app::config_reload::lock_timeouts;
use crate::app::locks::acquire::{Granted, note_granted_now, note_lock, split_by_holder};
use crate::app::locks::reentrancy::{own_session, waits_for_own_session};
use crate::app::locks::release::released_line;
use crate::app::locks::waiting::{acquire_waiting, pass_for, pass_for_waiting};
use crate::app::processes::asked_by;
use crate::app::query::details::users_text;
use crate::app::{App, AppError, Code, shell_word};
use crate::model::lock::Grant;
use crate::model::who::agent_variables;
use crate::model::{LaneName, LockKind};
use crate::os::{Child, Exit, InPlace, Signal, StartError, Woken};
use crate::policy::capacity::listed;
use crate::store::{GivenBack, Hold, Request};
use crate::supervise::{CpuShare, Keeper};
use std::time::Duration;

/// The result of a command that ran under a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    /// The end of the command.
    pub end: End,
    /// The lanes that a process left behind by the command keeps, each with that process.
    pub kept: Vec<(LaneName, String)>,
}

/// Time that a process left behind by the command may take to end before it is reported, in milliseconds.
const LINGER_MS: u64 = 150;

/// A command that runs under a lock.
#[derive(Clone, Copy, Debug)]
pub struct Under<'a> {
    /// The program and its arguments.
    pub command: &'a [String],
    /// Whether the lanes end with the command, whatever it left behind (`--close`).
    pub closes: bool,
}

/// A message of a `lock` that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line<'a> {
    /// For `-v`: what was done.
    Log(&'a str),
    /// The holder that the command waits for.
    Waits(&'a str),
}

/// The resources that are kept while a command runs here: its lock, and its share of processors.
#[derive(Default)]
pub(crate) struct Care<'a> {
    pub keeper: Option<Keeper<'a>>,
    pub share: Option<CpuShare>,
}

impl Care<'_> {
    /// Does what is due, and returns the time until more is due.
    fn keep(&mut self, child: &mut dyn Child) -> Option<Duration> {
        let keeper = self.keeper.as_mut().map(|keeper| {
            keeper.keep();
            keeper.time_left()
        });
        let share = self.share.as_mut().map(|share| {
            share.keep(child);
            share.time_left()
        });
        keeper.into_iter().chain(share).min()
    }
}

/// The end of a command, for the exit code of its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl From<Exit> for End {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Code(code) => Self::Code(code),
            Exit::Signal(signal) => Self::Signal(signal),
        }
    }
}

/// Runs a command while holding lanes, as `lanes_to_take` gives them. `wait_ms`: `None` waits for ever. `say` gets its
/// lines as things happen.
pub fn lock(
    app: &App,
    lanes: &[LaneName],
    wait_ms: Option<u64>,
    command: Under<'_>,
    say: &mut dyn FnMut(Line),
) -> Result<Ran, AppError> {
    lock_telling(app, lanes, wait_ms, command, say, &|| {})
}

/// Like `lock`; `started` is called when the command has started.
pub fn lock_telling(
    app: &App,
    lanes: &[LaneName],
    wait_ms: Option<u64>,
    Under { command, closes }: Under<'_>,
    say: &mut dyn FnMut(Line),
    started: &dyn Fn(),
) -> Result<Ran, AppError> {
    let wanted = split_by_holder(app, lanes)?.wanted;
    let place = InPlace { argv: command, env: &[], cwd: None, has_input: true, held: Vec::new(), output: None };
    if wanted.is_empty() {
        let exit = run_here(app, place, Care::default(), &|_| started()).map_err(|error| lane_meant(error, command))?;
        return Ok(Ran { end: exit.into(), kept: Vec::new() });
    }
    let taken = match take_for_command(app, &wanted, wait_ms, command, say) {
        // The command may be the one that frees space.
        Err(error) if error.code() == Code::DiskFull && app.store.spend_reserve() => {
            take_for_command(app, &wanted, wait_ms, command, say)
        }
        taken => taken,
    };
    let (holder, Granted { grants, files, .. }) = taken?;
    let mut env = lock_variables(app, &grants);
    let share = share_of(app, &grants, &mut env);
    let timeout_ms = lock_timeouts(app);
    let site = app.site();
    let keeper = Keeper::new(&site, LockKind::Process, holder.clone(), &grants, &timeout_ms);
    // If the pid cannot be recorded, the kernel locks still show the command, until luzia is killed, which closes them.
    let record = |pid| {
        started();
        grants.iter().for_each(|grant| drop(app.store.record_command(grant, pid)));
    };
    // A process that inherits a file keeps its kernel lock, also when luzia is killed.
    let held = files.iter().filter_map(Hold::share).collect();
    let ran = run_here(app, InPlace { env: &env, held, ..place }, Care { keeper: Some(keeper), share }, &record);
    let kept = give_all(app, &holder, grants.iter().zip(files), closes, say)?;
    let exit = ran.map_err(|error| lane_meant(error, command))?;
    Ok(Ran { end: exit.into(), kept })
}

/// An error with a hint for `lock LANE [OPTIONS] -- CMD`, whose command begins with the name of the lane.
fn lane_meant(error: AppError, command: &[String]) -> AppError {
    let has_command = command.iter().position(|word| word == "--").is_some_and(|at| at + 1 < command.len());
    match command {
        [lane, option, ..]
            if error.code() == Code::NoCommand
                && has_command
                && option.starts_with('-')
                && LaneName::parse(lane).is_ok() =>
        {
            let words: Vec<String> = command.iter().map(shell_word).collect();
            let line = format!("luzia lock -l {}", words.join(" "));
            let hint = format!("\"{lane}\" is not a program; to lock the lane of this name: `{line}`");
            error.hint(hint).with_next([line])
        }
        _ => error,
    }
}

/// Takes lanes for a command, and gives the name by which it holds them.
fn take_for_command(
    app: &App,
    lanes: &[LaneName],
    wait_ms: Option<u64>,
    command: &[String],
    say: &mut dyn FnMut(Line),
) -> Result<(String, Granted), AppError> {
    app.store.prepare()?;
    let holder = format!("pid-{}", app.host.identity().pid);
    let request = app.request(app.needs(lanes), LockKind::Process, holder);
    let (request, begun_ms) = (Request { who: app.who(command), ..request }, app.host.boot_ms());
    let granted = acquire_waiting(app, &request, wait_ms, &mut |text| say(Line::Waits(text)), &|full| match full
        .holders()
        .next()
    {
        Some((lane, view)) if waits_for_own_session(app, view)? => Err(own_session(lane)),
        _ => Ok(full.locked_lines(&request.holder, |_, _| {})),
    })?;
    granted.log.iter().for_each(|line| say(Line::Log(line)));
    note_granted_now(app, &granted, &request.holder, begun_ms);
    if granted.files.len() != granted.grants.len() {
        return Err(AppError::new(Code::Bug, "a lock file was not kept open"));
    }
    Ok((request.holder, granted))
}

/// Gives lanes back, the last one first, and returns those that a process left behind keeps. All are tried before an error is
/// returned.
fn give_all<'g>(
    app: &App,
    holder: &str,
    held: impl DoubleEndedIterator<Item = (&'g Grant, Hold)>,
    closes: bool,
    say: &mut dyn FnMut(Line),
) -> Result<Vec<(LaneName, String)>, AppError> {
    let (mut kept, mut free, mut owed, mut failed) = (Vec::new(), Vec::new(), Vec::new(), None);
    let until_ms = app.host.boot_ms().saturating_add(LINGER_MS);
    for (grant, file) in held.rev() {
        let mut given = app.store.release_process(grant, Some(file), closes);
        while matches!(given, Ok(GivenBack::Kept)) && app.host.boot_ms() < until_ms {
            app.host.sleep(Duration::from_millis(5));
            given = app.store.release_process(grant, None, false);
        }
        match given {
            Ok(GivenBack::Free) => {
                let line = released_line(&grant.lane, holder);
                line.iter().for_each(|line| say(Line::Log(line)));
                note_lock(app, "lock_released", grant, holder, line);
                free.push(grant.lane.clone());
            }
            Ok(GivenBack::Kept) => {
                // If this cannot be recorded, the lane is shown as held by "its command".
                let _ = app.store.record_left(grant, asked_by(app, app.host.identity().pid));
                kept.insert(0, (grant.lane.clone(), users_text(app, &grant.lane, grant.slot)));
            }
            Ok(GivenBack::Gone) => {}
            Err(error) => failed = failed.or(Some(error)),
        }
        owed.extend(app.store.owes_pass().map(|owed| (&grant.lane, owed)));
    }
    match owed.is_empty() {
        true => pass_for_waiting(app, &free).iter().for_each(|text| say(Line::Waits(text))),
        false => pass_for(app, &owed),
    }
    // A disk that is still full has no reserve.
    let _ = app.store.keep_reserve();
    failed.map_or(Ok(kept), |error| Err(error.into()))
}

/// The variables that a command under a lock gets.
pub(crate) fn lock_variables(app: &App, grants: &[Grant]) -> Vec<(String, String)> {
    let config = app.config_path.as_ref().map(|path| ("LUZIA_CONFIG", path.clone()));
    let first = grants.first().into_iter().flat_map(grant_variables);
    let own = std::iter::once(("LUZIA_STATE_DIR", app.store_path().to_owned())).chain(first);
    let agent = agent_variables(app.agent.as_ref());
    let own = own.chain(config).chain(agent).map(|(key, value)| (key.to_owned(), value));
    own.chain(slot_variables(grants)).collect()
}

/// The variables that name the lock of a command.
pub(super) fn grant_variables(grant: &Grant) -> [(&'static str, String); 2] {
    [("LUZIA_LOCK_ID", grant.lock_id.to_string()), ("LUZIA_FENCE", grant.fence.to_string())]
}

/// The share of processors of a command under a lock, whose job server joins its environment.
fn share_of(app: &App, grants: &[Grant], env: &mut Vec<(String, String)>) -> Option<CpuShare> {
    let (grant, plan) = grants.iter().find_map(|grant| Some((grant, cpu_plan(app, &grant.lane)?)))?;
    let share = CpuShare::begin(&app.site(), grant, plan.budget, true);
    env.extend(share.variables(&|name| (app.inherited)(name)));
    if plan.allowed.is_some() {
        let bound = plan.bound(&grant.lane.to_string(), None).and_then(|list| listed(&list)).unwrap_or_default();
        app.host.bind_to(&bound);
    }
    Some(share)
}

/// Runs a command on this terminal and waits for it; SIGTERM is passed on. The keeper refreshes its lock meanwhile, and
/// `started` gets the pid.
pub(crate) fn run_here(app: &App, command: InPlace, mut care: Care, started: &dyn Fn(u32)) -> Result<Exit, AppError> {
    let name = command.argv.first().map_or("", String::as_str);
    let mut child = app.host.start_here(command).map_err(|error| not_started(name, &error))?;
    started(child.pid());
    loop {
        let time = care.keep(child.as_mut());
        match wait_for(child.as_mut(), name, time)? {
            Woken::Exited(exit) => return Ok(exit),
            Woken::Token => care.share.iter_mut().for_each(|share| share.has_token(child.as_mut())),
            Woken::Terminate | Woken::Interrupt | Woken::Pass | Woken::TimeUp | Woken::Wrote | Woken::Gone => {}
        }
    }
}

/// Waits for a command that runs here. SIGTERM is passed on. The terminal has sent SIGINT to the command as well, and the command
/// decides.
pub(crate) fn wait_for(child: &mut dyn Child, name: &str, time: Option<Duration>) -> Result<Woken, AppError> {
    let woken =
        child.wait(time).map_err(|error| AppError::new(Code::Io, format!("cannot wait for \"{name}\": {error}")))?;
    if let Woken::Terminate = woken {
        drop(child.signal(Signal::Term));
    }
    Ok(woken)
}

/// Hints for a program that cannot be found, and for one that cannot be executed.
pub(crate) const NAME_A_PROGRAM: &str = "name an existing program";
pub(crate) const NAME_AN_EXECUTABLE: &str = "name a file that this account can execute";

pub(crate) fn not_started(name: &str, error: &StartError) -> AppError {
    let (code, hint, error) = match error {
        StartError::NotFound(error) => (Code::NoCommand, NAME_A_PROGRAM, error),
        StartError::NotExecutable(error) => (Code::NotExecutable, NAME_AN_EXECUTABLE, error),
        StartError::Short(error) => {
            (Code::NotStarted, "the host lacks memory, processes or another resource; try again later", error)
        }
        StartError::Other(error) => (Code::NotStarted, "the command was not started", error),
    };
    let text = error.to_string();
    // The error of a program begins with its name.
    let why = text.strip_prefix(&format!("{name}: ")).unwrap_or(&text);
    AppError::new(code, format!("cannot run \"{name}\": {why}")).hint(hint)
}
