//! The configuration as values, with built-in defaults (contract, section 3).

use super::lane::LaneName;
use super::name::Name;
use super::process::Cgroups;
use super::task::OnInterrupt;
use super::task::terms::{FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS};
use crate::model::sorted::sort_by_key;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod contradictions;
mod rule;

pub use contradictions::{Clash, Contradiction};
pub use rule::{Keeps, LONGEST_WINDOW_MS, LaneRule, MOST_GRANTS, OnOverdue, Rate, WARN_AFTER_MS};

/// All settings of an administrator.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The database with the tasks of several hosts (`store`).
    pub store: Option<String>,
    /// Whether tasks of one user take turns (S3.22, S3.23). Capacity applies either way.
    pub serialize_users: bool,
    /// Time after which a user's lease is stale if it has no time to live of its own, in milliseconds.
    pub lock_timeout_ms: u64,
    /// Number of tasks that run at once (`slots.max`), the limit of lane `global`.
    pub slots_max: u32,
    /// The source of that number.
    pub slots_from: SlotsFrom,
    /// Projects by name; [`EVERY_PROJECT`] has the defaults of all projects.
    pub projects: BTreeMap<String, Project>,
    /// Rules for lanes, by lane or pattern (`thread:*`).
    pub lanes: BTreeMap<String, LaneRule>,
    /// Grants per round of the tiers high, normal and low.
    pub tier_shares: [u32; 3],
    /// Number of days for which finished tasks are kept.
    pub retention_days: u32,
    /// Number of finished tasks that are kept.
    pub retention_tasks: u32,
    /// Greatest size of the logs of one task, both streams together, in bytes; 0 for no limit.
    pub logs_max_bytes: u64,
    /// Whether tasks get control groups (`supervisor.cgroups`).
    pub cgroups: Cgroups,
    /// Interval at which a daemon polls if it cannot get notifications, in milliseconds.
    pub poll_interval_ms: u64,
    /// Whether tasks that were queued in another sandbox are started (`dispatch.contexts`).
    pub contexts: Contexts,
    /// The users that may be named (`users.known`); if it is empty, every name is allowed.
    pub users_known: Vec<Name>,
    /// The commands that `luzia mcp` runs (`mcp.allow`); by default none.
    pub mcp_allow: Vec<String>,
    /// The variables that a caller of `luzia mcp` may set (`mcp.env`); by default none.
    pub mcp_env: Vec<String>,
    /// The first pause between two attempts, in milliseconds (`retries.backoff_seconds`).
    pub backoff_ms: u64,
    /// The longest pause between two attempts, in milliseconds (`retries.max_backoff_seconds`).
    pub most_backoff_ms: u64,
    /// The meaning of an interruption of a task (`retries.on_interrupt`).
    pub on_interrupt: OnInterrupt,
    /// Whether a project may run its tasks as root.
    pub allow_root: bool,
    /// Whether `--env` may set variables that change how programs load.
    pub allow_loader_env: bool,
}

/// The number of slots on a host with few processors.
const LEAST_SLOTS: u32 = 4;

/// The source of the number of slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotsFrom {
    /// The number of processors that are online on the host; 0 if it is not known.
    Processors(u32),
    /// `slots.max` in the configuration.
    File,
    /// `luzia lanes set global`.
    Set,
    /// This many hosts together.
    Hosts(u32),
}

/// The tasks that a process starts, by the sandbox in which they were queued (`dispatch.contexts`, contract P9).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contexts {
    /// Tasks of a sandbox that is compatible with the one of the process.
    #[default]
    Same,
    /// All tasks: several sandboxes are one domain of trust.
    Any,
}

/// A project: a conductor directory, and a user if one is configured.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Project {
    /// The user that the tasks of the project are serialised by.
    pub user: Option<Name>,
    /// The directory with `active/` and `done/`; an absolute path.
    pub conductor_dir: Option<String>,
    /// The command for `--prompt`; `{prompt}` stands for the text.
    pub agent: Option<Vec<String>>,
    /// The account that the commands of the project run as, when luzia runs as root.
    pub run_as: Option<String>,
}

/// The name of the project whose members are the defaults of all projects.
pub const EVERY_PROJECT: &str = "*";

/// The default lock timeout of user lanes: one hour (S3.9).
pub const USER_LOCK_TIMEOUT_MS: u64 = 3_600_000;
/// The default lock timeout of thread lanes: ten minutes (S0.9).
pub const THREAD_LOCK_TIMEOUT_MS: u64 = 600_000;

impl Default for Config {
    fn default() -> Self {
        Self {
            store: None,
            serialize_users: true,
            lock_timeout_ms: USER_LOCK_TIMEOUT_MS,
            slots_max: LEAST_SLOTS,
            slots_from: SlotsFrom::Processors(0),
            projects: BTreeMap::new(),
            lanes: BTreeMap::new(),
            tier_shares: [16, 4, 1],
            retention_days: 7,
            retention_tasks: 10_000,
            logs_max_bytes: 256 * 1024 * 1024,
            cgroups: Cgroups::Auto,
            poll_interval_ms: 1000,
            contexts: Contexts::Same,
            users_known: Vec::new(),
            mcp_allow: Vec::new(),
            mcp_env: Vec::new(),
            backoff_ms: FIRST_BACKOFF_MS,
            most_backoff_ms: LONGEST_BACKOFF_MS,
            on_interrupt: OnInterrupt::Retry,
            allow_root: false,
            allow_loader_env: false,
        }
    }
}

impl Config {
    /// Gives the host a slot for each processor that is online, unless a number is configured.
    pub fn set_slots_by_processors(&mut self, online: u32) {
        if matches!(self.slots_from, SlotsFrom::Processors(_)) {
            (self.slots_max, self.slots_from) = (online.max(LEAST_SLOTS), SlotsFrom::Processors(online));
        }
    }

    /// Whether a rule says how many holders `lane` may have at once.
    pub fn has_limit(&self, lane: &LaneName) -> bool {
        self.rule(lane, |rule| rule.max).is_some() || self.values(lane).is_some()
    }

    /// Greatest number of holders of `lane` at once; `u32::MAX` for a user's lane if serialisation is off.
    pub fn limit(&self, lane: &LaneName) -> u32 {
        if lane.is_global() {
            return self.slots_max;
        }
        if lane.is_user() && !self.serialize_users {
            return u32::MAX;
        }
        if let Some(values) = self.limit_of_values(lane) {
            return values;
        }
        self.rule(lane, |rule| rule.max).unwrap_or(if lane.is_bare("subagent") { 8 } else { 1 })
    }

    /// Time after which a lease of `lane` is stale if it has no time to live of its own, in milliseconds.
    pub fn lock_timeout_ms(&self, lane: &LaneName) -> u64 {
        self.rule(lane, |rule| rule.lock_timeout_ms).unwrap_or(match lane.kind() {
            "thread" => THREAD_LOCK_TIMEOUT_MS,
            _ => self.lock_timeout_ms,
        })
    }

    /// The weight of a user in fair share, 1 unless configured.
    pub fn weight(&self, user: &Name) -> u32 {
        self.lane_weight(&LaneName::user(user))
    }

    /// The weight of a lane beside others, 1 unless configured.
    pub fn lane_weight(&self, lane: &LaneName) -> u32 {
        self.rule(lane, |rule| rule.weight).unwrap_or(1)
    }

    /// The configuration of a project: its own members, and the members of project `*` for those that it leaves out.
    pub fn project(&self, name: &str) -> Option<Project> {
        let (own, all) = (self.projects.get(name), self.projects.get(EVERY_PROJECT));
        let or = |member: fn(&Project) -> Option<String>| own.and_then(member).or_else(|| all.and_then(member));
        (own.is_some() || all.is_some()).then(|| Project {
            user: own.and_then(|own| own.user.clone()).or_else(|| all.and_then(|all| all.user.clone())),
            conductor_dir: or(|project| project.conductor_dir.clone()),
            agent: own.and_then(|own| own.agent.clone()).or_else(|| all.and_then(|all| all.agent.clone())),
            run_as: or(|project| project.run_as.clone()),
        })
    }

    /// The rules for a lane: the rule of its own name first, then the patterns that end in `*`, longest first.
    pub(super) fn rules_of<'a>(&'a self, lane: &LaneName) -> impl Iterator<Item = &'a LaneRule> {
        let name = lane.to_string();
        let exact = self.lanes.get(&name);
        let patterns = std::iter::once_with(move || {
            let mut patterns: Vec<(&str, &LaneRule)> = self
                .lanes
                .iter()
                .filter_map(|(pattern, rule)| Some((pattern.strip_suffix('*')?, rule)))
                .filter(|(prefix, _)| name.starts_with(prefix))
                .collect();
            sort_by_key(&mut patterns, |(prefix, _)| std::cmp::Reverse(prefix.len()));
            patterns.into_iter().map(|(_, rule)| rule)
        });
        exact.into_iter().chain(patterns.flatten())
    }

    /// The first value that the rules of a lane set.
    pub(super) fn rule<T>(&self, lane: &LaneName, member: impl Fn(&LaneRule) -> Option<T>) -> Option<T> {
        self.rules_of(lane).find_map(member)
    }
}

#[cfg(test)]
mod tests;
