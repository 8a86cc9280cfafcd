//! USE CASE: one file a verb. Plans with `policy`, acts with `store` and `supervise`. Never prints, never parses arguments,
//! never reads the environment: the caller passes their values in, and gets values back.

pub mod accounts;
pub mod admission;
pub mod agents;
pub mod ask;
pub mod breaks;
pub mod capacity;
pub mod check_project;
mod code;
pub mod config_reload;
pub mod cron;
pub mod demo;
pub mod doctor;
mod error;
pub mod estimate;
pub mod fleet;
pub mod granted;
pub mod hooks;
pub mod lifecycle;
pub(crate) mod loans;
pub mod locks;
pub mod names;
pub mod pass;
mod processes;
pub mod query;
pub mod queue;
pub mod sandboxes;
pub mod steps;
mod wait_warnings;
pub mod waits;

use crate::model::lock::canonical_holder;
use crate::model::name::shortened;
use crate::model::{Agent, LaneName, LockKind, Target, Task, TaskId, Who};
use crate::os::Host;
pub use crate::policy::admission::{Booked, Holder, LaneNow, Narrow, Obstacle, Room, Shut};
pub use crate::policy::agent;
pub use crate::policy::backfill::Booking;
pub use crate::policy::capacity::Busy;
pub use crate::policy::context::{Difference, Life};
pub use crate::policy::hold::Pause;
use crate::policy::staleness::{judge, standing};
pub use crate::store::config::{reference as config_reference, schema as config_schema, to_json as config_json};
pub use crate::store::{Break, Cleanup, Counts, Event, LineWaiter, Loans, LockView, ReadEvent, Started, lock_state};
use crate::store::{LaneNeed, LockIndex, Place, Request, RunDir, Site, Spool};
use capacity::busy;
pub use code::Code;
pub use config_reload::{Look, Round, Settings};
use cron::refuse_schedule;
pub use error::{AppError, Kind, Refusal, lane_word, shell_word};
pub use locks::lock::{Line, Under};
pub use locks::reentrancy::Inside;
pub use locks::session::Session;
use names::{at_lane, check_word};
use query::logs::last_task;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The context of every use case.
pub struct App {
    /// This host.
    pub host: Host,
    /// The data of running tasks that is local to this host.
    pub run_dir: RunDir,
    /// Tasks, locks and all else that is kept.
    pub store: Arc<Spool>,
    /// The configuration.
    pub settings: Settings,
    /// The database with the tasks of several hosts, if one is named. The verbs that know it are about its tasks.
    pub fleet: Option<fleet::Store>,
    /// Arguments that make another process of luzia use the same state directory and configuration.
    pub same_place: Vec<String>,
    /// Whether the state directory does not exist, and this verb makes none.
    pub is_absent: bool,
    /// The configuration file, where it was named and not found in a usual place.
    pub config_path: Option<String>,
    /// Set when this process runs inside a task of this very state directory.
    pub inside: Option<Inside>,
    /// Whether the environment names a task or a `luzia lock` around this process. luzia then looks closer.
    pub has_holder: bool,
    /// Whether this process runs for a hook: its events run no further hooks.
    pub is_for_hook: bool,
    /// The agent that calls, as far as it is known.
    pub agent: Option<Agent>,
    /// The note that the caller leaves on its locks.
    pub label: Option<String>,
    /// Returns the value of a variable of the caller's environment, for commands that run here.
    pub inherited: fn(&str) -> Option<String>,
    /// Returns the name of the time zone of this host, if it has one.
    pub zone_name: fn() -> Option<String>,
    /// The places in which a lane such as `@tree` is looked up.
    pub surroundings: names::Surroundings,
    /// The places whose lanes this process has named.
    named: RefCell<BTreeMap<LaneName, String>>,
    /// Tasks for whose recovery this process has started a supervisor.
    recovering: RefCell<BTreeSet<TaskId>>,
    /// The queues that this process may start.
    reach: RefCell<admission::Reach>,
    /// The key of the agent above this process as of the first look; `None` in it if no agent is there.
    own_key: OnceCell<Option<String>>,
    /// The gauges of the host as of the last look.
    readings: RefCell<capacity::Read>,
}

impl App {
    /// The use cases in a state directory, outside of any task.
    pub fn new(site: impl Into<Site>, settings: Settings) -> Self {
        let Site { host, run_dir, store } = site.into();
        Self {
            host,
            run_dir,
            store,
            settings,
            fleet: None,
            same_place: Vec::new(),
            is_absent: false,
            config_path: None,
            inside: None,
            has_holder: false,
            is_for_hook: false,
            agent: None,
            label: None,
            inherited: |_| None,
            zone_name: || None,
            surroundings: names::Surroundings::default(),
            named: RefCell::default(),
            recovering: RefCell::default(),
            reach: RefCell::default(),
            own_key: OnceCell::new(),
            readings: RefCell::default(),
        }
    }

    /// The host and the store, for a supervisor.
    pub(crate) fn site(&self) -> Site {
        Site { host: self.host.clone(), run_dir: self.run_dir.clone(), store: Arc::clone(&self.store) }
    }

    /// The path of the state directory.
    pub fn store_path(&self) -> &str {
        self.host.state_dir()
    }

    /// Reads a `USER|LANE` argument.
    pub fn lane(&self, text: &str) -> Result<LaneName, AppError> {
        if let Some(id) = TaskId::parse(text) {
            let message = format!("\"{text}\" is a task; a user or a lane is expected here");
            return Err(AppError::usage(message)
                .hint(format!("write user:{text} for a user of that name"))
                .next(format!("luzia explain {id}")));
        }
        if let Some(lane) = at_lane(self, text, None)? {
            return Ok(lane);
        }
        refuse_schedule(text)?;
        let lane = Target::lane(text).map_err(|error| {
            AppError::usage(format!("\"{text}\" is not a user or a lane: {error}"))
                .hint("write a user's name, or a lane as kind:key, such as thread:7")
        })?;
        check_word(self, text, &lane)?;
        Ok(lane)
    }

    /// Reads a `TASK|USER|LANE` argument; `self` is the task inside which this process runs.
    pub fn target(&self, text: &str) -> Result<Target, AppError> {
        if text == "self" {
            return self.task_id(text).map(Target::Task);
        }
        if let Some(lane) = at_lane(self, text, None)? {
            return Ok(Target::Lane(lane));
        }
        refuse_schedule(text)?;
        let target = Target::any(text)
            .map_err(|error| AppError::usage(format!("\"{text}\" is not a task, a user or a lane: {error}")))?;
        if let Target::Lane(lane) = &target {
            check_word(self, text, lane)?;
        }
        Ok(target)
    }

    /// Reads a TASK argument; `self` is the task inside which this process runs,
    /// `last` the newest one.
    pub fn task_id(&self, text: &str) -> Result<TaskId, AppError> {
        if text == "self" {
            return self.inside.as_ref().map(|inside| inside.task).ok_or_else(|| {
                AppError::usage("\"self\" names a task only inside a task".to_owned())
                    .hint("write a task as task_12 or 12")
            });
        }
        if text == "last" {
            return last_task(self)?
                .ok_or_else(|| AppError::new(Code::TaskNotFound, "there is no task yet".to_owned()));
        }
        TaskId::parse(text).ok_or_else(|| {
            AppError::usage(format!("\"{}\" is not a task", shortened(text)))
                .hint("write a task as task_12 or 12; `luzia list -a` shows them")
        })
    }

    /// Reads a TASK argument that may be any name given to `acquire`; `self` is the task inside which this process runs.
    pub fn holder_name(&self, text: &str) -> Result<String, AppError> {
        if text == "self" { Ok(self.task_id(text)?.to_string()) } else { Ok(canonical_holder(text)) }
    }

    /// The task of a TASK argument, which must exist.
    pub fn existing(&self, id: TaskId) -> Result<Task, AppError> {
        match self.find(id)? {
            Some((_, task)) => Ok(task),
            None => Err(self.absent(id)?),
        }
    }

    /// A task that is not found, or whose record was damaged and has been set aside.
    fn absent(&self, id: TaskId) -> Result<AppError, AppError> {
        let set_aside =
            if self.fleet.is_none() && self.store.has_layout()? { self.store.set_aside_of(id)? } else { None };
        Ok(match set_aside {
            Some(path) => {
                let message = format!("the record of {id} was damaged and is set aside: \"{path}\"");
                AppError::new(Code::RecordSetAside, message).hint(doctor::aside_hint(self, &path)?).next("luzia doctor")
            }
            None => AppError::no_task(format!("there is no {id}")),
        })
    }

    /// A task and its place; `None` without a state directory.
    pub fn find(&self, id: TaskId) -> Result<Option<(Place, Task)>, AppError> {
        if let Some(fleet) = &self.fleet {
            return Ok(fleet.find(id)?.map(|task| (Place::of(task.status()), task)));
        }
        if !self.store.has_layout()? {
            return Ok(None);
        }
        Ok(self.store.find(id)?)
    }

    /// Remembers the places whose lanes this process has named. An error loses a hint only.
    pub(crate) fn remember_places(&self) {
        let places = self.named.borrow();
        if !places.is_empty() {
            let _ = self.store.remember_places(&places);
        }
    }

    /// The description of this caller that its locks carry.
    pub(crate) fn who(&self, command: &[String]) -> Who {
        Who::of(self.agent.as_ref(), command, self.label.as_deref())
    }

    /// A lane with its limits.
    pub fn need(&self, lane: &LaneName) -> LaneNeed {
        let config = config_reload::config(self);
        let rate = config.rate(lane);
        let (values, shares_cpus) = (config.values(lane), config.cpu_rule(lane).is_some());
        let is_shut = busy(self, lane, true).is_some();
        LaneNeed {
            rate,
            values,
            is_shut,
            shares_cpus,
            ..LaneNeed::new(lane.clone(), config.limit(lane), config.lock_timeout_ms(lane))
        }
    }

    /// Lanes that are asked for together, with their limits. A slot of `global` leaves those that are kept for other lanes.
    pub fn needs(&self, lanes: &[LaneName]) -> Vec<LaneNeed> {
        let mut needs: Vec<LaneNeed> = lanes.iter().map(|lane| self.need(lane)).collect();
        if let Some(global) = needs.iter_mut().find(|need| need.lane.is_global()) {
            global.kept = self.kept_for_others(lanes);
        }
        needs
    }

    /// The slots of `global` that are kept for other lanes than these.
    fn kept_for_others(&self, lanes: &[LaneName]) -> Vec<(LaneName, u32)> {
        config_reload::config(self).reserves().filter(|(lane, _)| !lanes.contains(lane)).collect()
    }

    /// The lanes that a task takes, with the number of slots of each.
    pub fn needs_of(&self, task: &Task) -> Vec<LaneNeed> {
        let mut needs = self.needs(&task.all_lanes());
        for need in &mut needs {
            need.count = task.slots_of(&need.lane);
            need.granted = task.granted_in(&need.lane).cloned().collect();
            need.limit = self.limit_for(task, &need.lane);
        }
        needs
    }

    /// Greatest number of slots of a lane that are held while a task has its own. The scheduler of several hosts has counted those
    /// that it grants, and only a limit that was set on this host counts beside it.
    pub(crate) fn limit_for(&self, task: &Task, lane: &LaneName) -> u32 {
        let config = config_reload::config(self);
        let is_granted = task.granted_in(lane).next().is_some();
        if is_granted && !config.has_limit(lane) { u32::MAX } else { config.limit(lane) }
    }

    /// A request of this process for lanes, in the name of a holder.
    pub(crate) fn request(&self, needs: Vec<LaneNeed>, kind: LockKind, holder: String) -> Request {
        Request {
            needs,
            holder,
            kind,
            ttl_ms: None,
            process: self.host.identity(),
            pid_watched: false,
            who: Who::default(),
            durable: false,
            lenders: Vec::new(),
            stands: standing,
        }
    }

    /// Every holder of a lane.
    pub fn holders(&self, lane: &LaneName) -> Result<Vec<LockView>, AppError> {
        let views = self.store.holders(lane, config_reload::config(self).lock_timeout_ms(lane), judge)?;
        Ok(views.into_iter().map(|view| breaks::by_rule(self, view)).collect())
    }

    /// The holders of a lane that an index of the locks knows.
    fn holders_in(&self, locks: &LockIndex, lane: &LaneName) -> Result<Vec<LockView>, AppError> {
        let views = self.store.holders_in(locks, lane, config_reload::config(self).lock_timeout_ms(lane), judge)?;
        Ok(views.into_iter().map(|view| breaks::by_rule(self, view)).collect())
    }
}
