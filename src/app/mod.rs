//! USE CASE: one file a verb. Plans with `policy`, acts with `store` and `supervise`. Never prints, never parses
//! arguments, never reads the environment: what it needs of them comes in, and values go out.

pub mod accounts;
pub mod agents;
mod config_reload;
pub mod demo;
pub mod doctor;
mod error;
pub mod locks;
pub mod look;
pub mod names;
pub mod pass;
pub mod queue;

pub use crate::policy::admission::{Holder, LaneNow, Obstacle, Room};
pub use crate::policy::agent;
pub use crate::policy::context::Difference;
pub use crate::store::{Break, Cleanup, Counts, Event, EventSink, GivenBack, LockView, Started, lock_state};
pub use config_reload::{Look, Round, Settings};
pub use error::{AppError, Kind, Refusal, lane_word, shell_word};
pub use locks::lock::Line;
pub use locks::reentrancy::Inside;
pub use locks::session::Session;
pub use queue::idempotency::OnConflict;

use crate::model::lock::canonical_holder;
use crate::model::{Agent, Config, LaneName, Target, Task, TaskId, Who};
use crate::policy::staleness::judge;
use crate::store::{LaneNeed, LockIndex, Store};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// What every use case works with.
pub struct App {
    /// The state directory.
    pub store: Store,
    /// The configuration.
    pub settings: Settings,
    /// Arguments that make another process of luzia use the same state directory and configuration.
    pub same_place: Vec<String>,
    /// Whether the state directory does not exist, and this verb makes none.
    pub is_absent: bool,
    /// The configuration file, where it was named and not found in a usual place.
    pub config_path: Option<String>,
    /// Set when this process runs inside a task of this very state directory.
    pub inside: Option<Inside>,
    /// Whether the environment says that a task or a `luzia lock` is around this process. It is looked at closer then.
    pub has_holder: bool,
    /// The agent that calls, as far as it is known.
    pub agent: Option<Agent>,
    /// The note that the caller leaves on its locks.
    pub label: Option<String>,
    /// The places in which a lane such as `@tree` is looked up.
    pub surroundings: names::Surroundings,
    /// The places whose lanes this process has named.
    named: RefCell<BTreeMap<LaneName, String>>,
    /// Tasks for whose recovery this process has started a supervisor.
    recovering: RefCell<BTreeSet<TaskId>>,
    /// Which queues this process may start.
    reach: RefCell<pass::reach::Reach>,
}

/// The configuration as the JSON that reads back to it.
pub fn config_json(config: &Config) -> serde_json::Value {
    crate::store::config::to_json(config)
}

impl App {
    /// The use cases in a state directory, outside of any task.
    pub fn new(store: Store, settings: Settings) -> Self {
        Self {
            store,
            settings,
            same_place: Vec::new(),
            is_absent: false,
            config_path: None,
            inside: None,
            has_holder: false,
            agent: None,
            label: None,
            surroundings: names::Surroundings::default(),
            named: RefCell::default(),
            recovering: RefCell::default(),
            reach: RefCell::default(),
        }
    }

    /// The path of the state directory.
    pub fn store_path(&self) -> &str {
        self.store.state_dir()
    }

    /// Reads a `USER|LANE` argument.
    pub fn lane(&self, text: &str) -> Result<LaneName, AppError> {
        if let Some(id) = TaskId::parse(text) {
            let message = format!("\"{text}\" is a task, and a user or a lane is meant here");
            return Err(AppError::usage(message)
                .hint(format!("write user:{text} for a user of that name"))
                .next(format!("luzia explain {id}")));
        }
        if let Some(lane) = self.at_lane(text, None)? {
            return Ok(lane);
        }
        Target::lane(text, |word| self.config().names_lane(word)).map_err(|error| {
            AppError::usage(format!("\"{text}\" is not a user or a lane: {error}"))
                .hint("write a user's name, or a lane as kind:key, such as thread:7")
        })
    }

    /// Reads a `TASK|USER|LANE` argument; `self` is the task inside which this process runs.
    pub fn target(&self, text: &str) -> Result<Target, AppError> {
        if text == "self" {
            return self.task_id(text).map(Target::Task);
        }
        if let Some(lane) = self.at_lane(text, None)? {
            return Ok(Target::Lane(lane));
        }
        Target::any(text, |word| self.config().names_lane(word))
            .map_err(|error| AppError::usage(format!("\"{text}\" is not a task, a user or a lane: {error}")))
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
            return self
                .last_task()?
                .ok_or_else(|| AppError::not_found("TASK_NOT_FOUND", "there is no task yet".to_owned()));
        }
        TaskId::parse(text).ok_or_else(|| {
            AppError::usage(format!("\"{}\" is not a task", text.chars().take(80).collect::<String>()))
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
        let set_aside = if self.store.has_layout()? { self.store.set_aside_of(id)? } else { None };
        Ok(match set_aside {
            Some(path) => {
                let message = format!("the record of {id} was damaged and is set aside: \"{path}\"");
                AppError::new(Kind::Corrupt, "RECORD_SET_ASIDE", message)
                    .hint("it was accepted and will not run: read it, and queue the work again")
                    .next("luzia doctor")
            }
            None => AppError::not_found("TASK_NOT_FOUND", format!("there is no {id}"))
                .hint("`luzia list -a` shows every task")
                .next("luzia list -a"),
        })
    }

    /// A task and its place; nothing where there is no state directory.
    pub fn find(&self, id: TaskId) -> Result<Option<(crate::store::Place, Task)>, AppError> {
        if !self.store.has_layout()? {
            return Ok(None);
        }
        Ok(self.store.find(id)?)
    }

    /// What a lock of this caller says of it.
    pub(crate) fn who(&self, command: &[String]) -> Who {
        Who::of(self.agent.as_ref(), command, self.label.as_deref())
    }

    /// A lane with its limits.
    pub fn need(&self, lane: &LaneName) -> LaneNeed {
        LaneNeed {
            lane: lane.clone(),
            limit: self.config().limit(lane),
            timeout_ms: self.config().lock_timeout_ms(lane),
        }
    }

    /// Every holder of a lane.
    pub fn holders(&self, lane: &LaneName) -> Result<Vec<LockView>, AppError> {
        Ok(self.store.holders(lane, self.config().lock_timeout_ms(lane), judge)?)
    }

    /// Those among them that an index of the locks knows.
    fn holders_in(&self, locks: &LockIndex, lane: &LaneName) -> Result<Vec<LockView>, AppError> {
        Ok(self.store.holders_in(locks, lane, self.config().lock_timeout_ms(lane), judge)?)
    }
}
