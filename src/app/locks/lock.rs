//! `lock`: flock(1) for a lane. The command inherits the kernel lock on the lock file, so that the lane stays held until
//! the command itself is dead, even when this process is killed.

use crate::app::capacity::slot_variables;
use crate::app::locks::acquire::{Waited, locked_line};
use crate::app::locks::release::{held_error, released_line};
use crate::app::locks::session::own_session;
use crate::app::locks::waiting::{barred_error, behind_error};
use crate::app::{App, AppError, Kind};
use crate::model::lock::Grant;
use crate::model::who::agent_variables;
use crate::model::{LaneName, LockKind};
use crate::os::{Child, Exit, InPlace, Signal, StartError, Woken};
use crate::policy::capacity::cpus::listed;
use crate::store::{GivenBack, Request};
use crate::supervise::{CpuShare, Keeper};
use std::time::Duration;

/// What a command run under a lock came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What became of its lane; `None` where the task around it holds that.
    pub lane: Option<GivenBack>,
}

/// A line of a `lock` on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line<'a> {
    /// For `-v`: what was done.
    Log(&'a str),
    /// For whom it waits.
    Waits(&'a str),
}

/// What is kept while a command runs here: its lock, and its share of processors.
#[derive(Default)]
pub(crate) struct Care<'a> {
    pub keeper: Option<Keeper<'a>>,
    pub share: Option<CpuShare>,
}

impl Care<'_> {
    /// Does what is due, and gives for how long nothing is.
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

/// How a command ended, for the exit code of its caller.
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

impl App {
    /// Runs a command while holding a lane. `wait_ms`: `None` waits for ever. `say` gets its lines as things
    /// happen.
    pub fn lock(
        &self,
        lane: &LaneName,
        wait_ms: Option<u64>,
        command: &[String],
        say: &mut dyn FnMut(Line),
    ) -> Result<Ran, AppError> {
        self.lock_telling(lane, wait_ms, command, say, &|| {})
    }

    /// As [`App::lock`]; `started` is called when the command has started.
    pub fn lock_telling(
        &self,
        lane: &LaneName,
        wait_ms: Option<u64>,
        command: &[String],
        say: &mut dyn FnMut(Line),
        started: &dyn Fn(),
    ) -> Result<Ran, AppError> {
        if self.reentrant(lane)?.is_some() {
            let exit = self.run_here(
                InPlace { argv: command, env: &[], cwd: None, has_input: true, held: None, output: None },
                Care::default(),
                &|_| started(),
            )?;
            return Ok(Ran { end: exit.into(), lane: None });
        }
        self.store.prepare()?;
        let process = self.host.identity();
        let request = Request {
            needs: vec![self.need(lane)],
            holder: format!("pid-{}", process.pid),
            kind: LockKind::Process,
            ttl_ms: None,
            process,
            pid_watched: false,
            who: self.who(command),
            durable: false,
            lenders: Vec::new(),
        };
        let (mut lines, begun_ms) = (Vec::new(), self.host.boot_ms());
        let (grant, files) =
            match self.acquire_waiting(&request, wait_ms, &mut |text| say(Line::Waits(text)), &mut lines)? {
                Waited::Granted(grant, files) => (grant, files),
                Waited::Held(view) if self.is_own_session(&view) => return Err(own_session(lane)),
                Waited::Held(view) => {
                    lines.extend(locked_line(lane, view.holder(), &request.holder));
                    return Err(with_log(held_error(lane, &view, self.host.now()), lines));
                }
                Waited::Behind => return Err(with_log(behind_error(lane), lines)),
                Waited::Barred(bar) => return Err(with_log(barred_error(&bar, self.host.now()), lines)),
                Waited::Refreshed(_) => {
                    return Err(AppError::new(Kind::Bug, "BUG", "a process has no lease to refresh"));
                }
            };
        lines.iter().for_each(|line| say(Line::Log(line)));
        self.note_acquired(&grant, &request.holder, begun_ms);
        let Some(file) = files.into_iter().next() else {
            return Err(AppError::new(Kind::Bug, "BUG", "the lock file was not kept open"));
        };
        let mut env = self.lock_variables(&grant);
        let share = self.share_of(&grant, &mut env);
        let timeout_ms = |lane: &LaneName| self.config().lock_timeout_ms(lane);
        let (site, grants) = (self.site(), std::slice::from_ref(&grant));
        let keeper = Keeper::new(&site, LockKind::Process, request.holder.clone(), grants, &timeout_ms);
        // Where it cannot be recorded the kernel lock still tells of the command, until luzia is killed and it closes that.
        let record = |pid| {
            started();
            drop(self.store.record_command(&grant, pid));
        };
        let place = InPlace { argv: command, env: &env, cwd: None, has_input: true, held: file.share(), output: None };
        let ran = self.run_here(place, Care { keeper: Some(keeper), share }, &record);
        let given_back = self.store.release_process(&grant, file)?;
        self.pass_if_owed(lane);
        if given_back == GivenBack::Free {
            let line = released_line(lane, &request.holder);
            line.iter().for_each(|line| say(Line::Log(line)));
            self.note_lock("lock_released", &grant, &request.holder, line);
        }
        Ok(Ran { end: ran?.into(), lane: Some(given_back) })
    }

    /// What a command under a lock has in its environment.
    fn lock_variables(&self, grant: &Grant) -> Vec<(String, String)> {
        let config = self.config_path.as_ref().map(|path| ("LUZIA_CONFIG", path.clone()));
        let own = [
            ("LUZIA_STATE_DIR", self.store_path().to_owned()),
            ("LUZIA_LOCK_ID", grant.lock_id.to_string()),
            ("LUZIA_FENCE", grant.fence.to_string()),
        ];
        let agent = agent_variables(self.agent.as_ref());
        let own = own.into_iter().chain(config).chain(agent).map(|(key, value)| (key.to_owned(), value));
        own.chain(slot_variables(std::slice::from_ref(grant))).collect()
    }

    /// The share of processors of a command under a lock, whose job server joins its environment.
    fn share_of(&self, grant: &Grant, env: &mut Vec<(String, String)>) -> Option<CpuShare> {
        let plan = self.cpu_plan(&grant.lane)?;
        let share = CpuShare::begin(&self.site(), grant, plan.budget, true);
        env.extend(share.variables(&|name| (self.inherited)(name)));
        if plan.allowed.is_some() {
            let bound = plan.bound(&grant.lane.to_string(), None).and_then(|list| listed(&list)).unwrap_or_default();
            self.host.bind_to(&bound);
        }
        Some(share)
    }

    /// Runs a command on this terminal and waits for it; SIGTERM is passed on. The keeper refreshes its lock meanwhile, and
    /// `started` is told the pid.
    pub(crate) fn run_here(&self, command: InPlace, mut care: Care, started: &dyn Fn(u32)) -> Result<Exit, AppError> {
        let name = command.argv.first().map_or("", String::as_str);
        let mut child = self.host.start_here(command).map_err(|error| not_started(name, &error))?;
        started(child.pid());
        loop {
            let time = care.keep(child.as_mut());
            let woken = child
                .wait(time)
                .map_err(|error| AppError::new(Kind::Io, "IO", format!("cannot wait for \"{name}\": {error}")))?;
            match woken {
                Woken::Exited(exit) => return Ok(exit),
                Woken::Terminate => drop(child.signal(Signal::Term)),
                // The terminal has sent it to the command as well; the command decides.
                Woken::Interrupt | Woken::Pass | Woken::TimeUp | Woken::Wrote => {}
                Woken::Token => care.share.iter_mut().for_each(|share| share.has_token(child.as_mut())),
            }
        }
    }
}

fn with_log(mut error: AppError, log: Vec<String>) -> AppError {
    error.0.log = log;
    error
}

pub(crate) fn not_started(name: &str, error: &StartError) -> AppError {
    match error {
        StartError::NotFound(error) => {
            AppError::new(Kind::NoCommand, "NO_COMMAND", format!("cannot run \"{name}\": {error}"))
        }
        StartError::NotExecutable(error) => {
            AppError::new(Kind::NotExecutable, "NOT_EXECUTABLE", format!("cannot run \"{name}\": {error}"))
        }
        StartError::Short(error) | StartError::Other(error) => {
            AppError::new(Kind::NotStarted, "NOT_STARTED", format!("cannot run \"{name}\": {error}"))
        }
    }
}
