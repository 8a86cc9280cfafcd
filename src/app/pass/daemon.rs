//! `dispatch` and `daemon`: passes, once, until nothing is left, or for ever.

use crate::app::admission::own_context;
use crate::app::config_reload::config;
use crate::app::fleet::{FleetAgent, since};
use crate::app::hooks::hand_hooks_over_telling;
use crate::app::lifecycle::Pass;
use crate::app::{App, AppError, Code, Kind, pass};
use crate::model::{Task, Timestamp};
use crate::policy::analytics::record::Record;
use crate::store::{Changes, EventReader, Site};
use std::time::Duration;

/// Rest of a dispatcher after a failure, or after claims without a result: haste does not repair the host, and each try is
/// written to disk.
const REST_AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Longest pause between two rounds of the agent of a store: a hint of the database may be lost.
const AGENT_PAUSE: Duration = Duration::from_secs(1);
/// Time for which changes are collected while tasks run, in milliseconds: at least, and at most.
const TOGETHER_MS: (u64, u64) = (5, 80);
/// Length of the pause after a pass that found nothing, in lengths of that pass, while tasks run.
const REST: u64 = 8;

/// The kinds of events that a daemon reports, whichever process supervises the task (`run`, `dispatch`, another daemon).
const TOLD: [&str; 6] = ["alert", "finished", "recovered", "requeued", "started", "withdrawn"];

/// Messages of a dispatcher to the process that started it.
pub trait Log {
    /// A pass was made.
    fn pass(&mut self, pass: &Pass);
    /// A pass failed; the dispatcher goes on.
    fn failed(&mut self, error: &AppError);
    /// The agent of a store made a round, or failed to, and goes on.
    fn shared(&mut self, failure: Option<&AppError>);
    /// So many tasks run, and so many wait; reported by a dispatcher that waits for them.
    fn waits(&mut self, running: usize, waiting: u64);
    /// The interval of the reports of waiting tasks.
    fn interval(&self) -> Duration {
        Duration::from_secs(60)
    }
    /// A task has ended.
    fn ended(&mut self, task: &Task);
    /// An event of a task, reported by a daemon.
    fn news(&mut self, record: &Record);
    /// Whether the dispatcher was asked to end.
    fn is_ended(&mut self) -> bool;
}

/// The waits of a dispatcher between its passes. While tasks run, their supervisors make the passes as they end, and a dispatcher
/// that joined in at every change would only delay them. So it collects changes: for longer if more changes come, or if its
/// passes take longer.
pub(crate) struct Rhythm {
    changes: Changes,
    /// The moment at which the present pass began.
    begin_ms: u64,
    together_ms: u64,
}

impl Rhythm {
    pub(crate) fn new(site: &Site) -> Self {
        Self { changes: site.store.watch(), begin_ms: site.host.boot_ms(), together_ms: TOGETHER_MS.0 }
    }

    /// Waits for a change after a pass, and then for those that come with it.
    pub(crate) fn wait(&mut self, site: &Site, pause: Duration, is_quiet: bool) {
        self.wait_for_some(site, pause, is_quiet, true);
    }

    /// As [`Self::wait`]; an agent of a store collects no changes, because other hosts wait for what it tells.
    fn wait_for_some(&mut self, site: &Site, pause: Duration, is_quiet: bool, collects: bool) {
        let end = site.host.boot_ms();
        let cost_ms = end.saturating_sub(self.begin_ms);
        self.changes.wait(pause);
        let is_stream = site.host.boot_ms().saturating_sub(end) <= self.together_ms;
        let longer = if is_quiet && is_stream { (self.together_ms * 2).max(cost_ms * REST) } else { 0 };
        self.together_ms = longer.clamp(TOGETHER_MS.0, TOGETHER_MS.1);
        let is_running = || site.store.in_flight().is_ok_and(|ids| !ids.is_empty());
        let mut left_ms = if collects && is_running() { self.together_ms } else { 0 };
        while left_ms > 0 {
            let some_ms = left_ms.min(TOGETHER_MS.0);
            site.host.sleep(Duration::from_millis(some_ms));
            // The end of the last task ends the rest, too.
            let is_over = !is_running() && site.store.is_queue_empty().unwrap_or(false);
            left_ms = if is_over { 0 } else { left_ms - some_ms };
        }
        self.begin_ms = site.host.boot_ms();
    }
}

/// One pass of a dispatcher that goes on. It reports a passing error, or that no supervisor comes up on this host, and rests
/// after that. A moved state directory is an error, because no supervisor will ever come up there. `None` if the pass failed.
pub(crate) fn pass_patiently(
    app: &App,
    passes_by: fn(&AppError) -> bool,
    tell: &mut dyn FnMut(&AppError),
) -> Result<Option<Pass>, AppError> {
    pass_beside(app, &mut || {}, passes_by, tell)
}

/// As [`pass_patiently`]; `between` is called between any two pieces of its work.
fn pass_beside(
    app: &App,
    between: &mut dyn FnMut(),
    passes_by: fn(&AppError) -> bool,
    tell: &mut dyn FnMut(&AppError),
) -> Result<Option<Pass>, AppError> {
    let pass = match pass::pass_between(app, between) {
        Ok(pass) if pass.in_vain == 0 => return Ok(Some(pass)),
        Ok(pass) => {
            must(app.store.is_at_its_path().unwrap_or(true))?;
            tell(&in_vain());
            Some(pass)
        }
        Err(error) if passes_by(&error) => {
            tell(&error);
            None
        }
        Err(error) => return Err(error),
    };
    app.host.sleep(REST_AFTER_FAILURE);
    Ok(pass)
}

/// Dispatches for ever: at every change, when something is due, and every `poll` (or as configured) in case a change was missed.
pub fn daemon(
    app: &App,
    poll: Option<Duration>,
    mut agent: Option<Box<dyn FleetAgent + '_>>,
    log: &mut dyn Log,
) -> Result<(), AppError> {
    if app.inside.is_some() {
        return Err(AppError::usage("a daemon cannot run inside a task: it would end with the task"));
    }
    app.store.prepare()?;
    let _presence = app.store.join_dispatchers(own_context(app).0.id())?;
    let mut rhythm = Rhythm::new(&app.site());
    let mut news = app.store.follow_events()?;
    while !log.is_ended() {
        must(app.store.is_still_there()?)?;
        let agent_pause = agent.as_mut().map(|agent| share(app, &mut **agent, log)).transpose()?;
        // The next round of the agent tells of an error.
        let mut keep = || agent.iter_mut().for_each(|agent| drop(agent.keep(app)));
        let pass = pass_beside(app, &mut keep, |_| true, &mut |error| log.failed(error))?;
        if let Some(pass) = &pass {
            log.pass(pass);
        }
        hand_hooks_over_telling(app, &mut |error| log.failed(error));
        if let Err(error) = tell_news(app, &mut news, log) {
            log.failed(&error);
        }
        let pass = pass.unwrap_or_default();
        let poll = poll.unwrap_or_else(|| Duration::from_millis(config(app).poll_interval_ms));
        let pause = until(pass.next_due, app.host.now(), poll);
        let pause = agent_pause.map_or(pause, |longest| longest.min(pause));
        rhythm.wait_for_some(&app.site(), pause, pass.is_quiet(), agent.is_none());
    }
    // The tasks that ended while the daemon was asked to end.
    tell_news(app, &mut news, log)
}

/// One round of the agent of a store. A database that does not answer stops nothing here: tasks run on as long as the lease
/// allows, and the next round tries again. Nor do tables that are absent once it has joined: a backup is being restored.
/// Returns the longest pause until the next round.
fn share(app: &App, agent: &mut dyn FleetAgent, log: &mut dyn Log) -> Result<Duration, AppError> {
    let stepped = agent.step(app);
    if let Some(late) = agent.take_late() {
        log.failed(&late);
    }
    match stepped {
        Ok(()) => {
            app.store.store_answers()?;
            log.shared(None);
            Ok(AGENT_PAUSE.min(agent.rest(app)))
        }
        Err(error) if matches!(error.code(), Code::HostTaken | Code::NoPermission) => Err(error),
        Err(error) if error.code() == Code::StoreSchema && !agent.has_joined() => Err(error),
        Err(error) => {
            log.shared(Some(&since(app, error)));
            Ok(REST_AFTER_FAILURE)
        }
    }
}

/// Reports the events since the last call.
fn tell_news(app: &App, events: &mut EventReader, log: &mut dyn Log) -> Result<(), AppError> {
    app.store.read_on(events, &mut |event| {
        // Events are parsed for their names first: most are of other kinds.
        let Some(record) = Record::of(event.at, &event.line) else { return true };
        // A task with a finished step is queued again, too.
        let is_failure = record.kind != "requeued" || record.number("failures").is_some_and(|failures| failures > 0);
        if TOLD.contains(&record.kind.as_str()) && is_failure {
            log.news(&record);
        }
        true
    })?;
    Ok(())
}

/// An error unless the state directory is there.
fn must(is_there: bool) -> Result<(), AppError> {
    let gone = || AppError::new(Code::StateDirGone, "the state directory was removed or moved");
    is_there.then_some(()).ok_or_else(gone)
}

/// Whether an error passes by itself: one of the configuration, which others write, or a file that another process keeps locked.
pub(crate) fn is_passing(error: &AppError) -> bool {
    matches!(error.kind(), Kind::Config | Kind::Busy)
}

/// The error of supervisors that did not come up. They have no caller to whom they could report it themselves.
fn in_vain() -> AppError {
    AppError::new(Code::ClaimedInVain, "a supervisor did not come up, or ended too early")
        .hint("the next pass tries again; `luzia doctor` checks the host")
        .next("luzia doctor")
}

/// The pause until a moment, at most `longest`.
pub(crate) fn until(due: Option<Timestamp>, now: Timestamp, longest: Duration) -> Duration {
    let left = due.map(|at| Duration::from_millis(at.saturating_ms_since(now)));
    left.map_or(longest, |left| left.min(longest)).max(Duration::from_millis(1))
}
