//! WHAT: the words of luzia as types, in the form of records. Nothing here does I/O or reads the clock, and only `record` knows
//! JSON.

pub mod calendar;
pub mod capacity;
pub mod config;
pub mod context;
pub mod control;
pub mod evidence;
pub mod lane;
pub mod lock;
pub mod name;
pub mod process;
pub mod queue;
pub mod record;
pub mod sorted;
pub mod task;
pub mod time;
pub mod who;

pub use config::Config;
pub use context::{Context, Limits, NamedSandbox, Sandbox, SandboxId, Surroundings};
pub use evidence::{Judge, Reason, Sidecar, Verdict};
pub use lane::{LaneName, Target, ThingKind};
pub use lock::{Fence, Grant, LockId, LockKind, LockRecord, loan};
pub use name::Name;
pub use process::{Cgroups, Group, GroupSight, Identity, Origin, Probe, RootId};
pub use queue::{QueueName, Turn};
pub use task::{HostLease, Priority, Status, Task, TaskId, Tier};
pub use time::{Alarm, ScheduleKey, Timer, Timestamp};
pub use who::{Agent, AgentKind, HookAnswer, HookCall, HookEvent, Member, Who};
