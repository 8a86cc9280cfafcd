//! The reasons for which a task does not start.

use super::{Booked, Holder, Narrow, Shut};
use crate::model::capacity::Occupied;
use crate::model::config::Rate;
use crate::model::{LaneName, Member, TaskId, Timestamp};
use crate::policy::context::{Difference, Life};
use crate::policy::hold::Pause;

/// One reason for which a task does not start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// A cycle of processes and tasks wait for each other for ever. The task is one of them, or waits for one of them.
    Cycle {
        /// Members of the cycle, each followed by one that it waits for.
        members: Vec<Member>,
    },
    /// The task, its user, one of its lanes or the host is paused.
    Paused {
        /// The pause, with its requester and its end.
        pause: Pause,
    },
    /// The task is not due.
    Delayed {
        /// The time at which the task is due.
        until: Timestamp,
    },
    /// The task comes after tasks that are not over.
    After {
        /// The tasks that must end first.
        tasks: Vec<TaskId>,
    },
    /// The task was queued in another sandbox, and waits for a pass there.
    OtherContext {
        /// The differences between the sandboxes.
        differences: Vec<Difference>,
        /// The life of the task's sandbox.
        life: Life,
        /// Whether the caller asked for the task: the same session of an agent, or else the same agent.
        is_own: bool,
    },
    /// Another scheduler must grant the lanes of the task anew.
    NoGrant {
        /// The lane whose grant is used up; `None` if the lease of the host has ended.
        lane: Option<LaneName>,
    },
    /// No host takes the task: of those that may, none has an agent that renews its lease, or all are drained.
    NoHost {
        /// The host that the task is for; `None` for any.
        place: Option<String>,
    },
    /// The hosts that may take it have no free slot.
    HostsFull {
        /// The host, or the label of hosts, that it is for; `None` for any.
        place: Option<String>,
    },
    /// The host that it was given to lacks its directory.
    NoDirectory {
        /// The host that has given the task back last.
        host: String,
        /// The directory.
        directory: String,
    },
    /// This version cannot read the first record in the lane of the task's user.
    NewerRecord {
        /// The task of that record.
        first: TaskId,
        /// The record and its version.
        record: String,
    },
    /// Other tasks of the task's user come first.
    Priority {
        /// Number of the tasks that come first.
        ahead: u64,
    },
    /// Another task is first in a key lane of the task.
    LaneOrder {
        /// The lane.
        lane: LaneName,
        /// The first task.
        first: TaskId,
    },
    /// The host is too busy for one of its lanes, as the gate of the lane says.
    HostBusy {
        /// The lane and the readings.
        shut: Shut,
    },
    /// A lane of the task has fewer slots than the task takes.
    TooFewSlots {
        /// The lane, and the numbers of slots.
        narrow: Narrow,
    },
    /// The start of the task would delay the computed start of a task that waits for several slots. That task takes one of
    /// its lanes.
    Booked {
        /// The lane and the task.
        booked: Booked,
    },
    /// A lane has room, but foreign processes use every free value of its slots.
    SlotOccupied {
        /// The lane.
        lane: LaneName,
        /// The values in use.
        occupied: Occupied,
    },
    /// The lock of the task's user is held.
    UserLockHeld {
        /// The holder.
        holder: Holder,
    },
    /// Another child of the task's parent has borrowed a lane: they take turns.
    Loan {
        /// The lane.
        lane: LaneName,
        /// The child that holds the lane.
        holder: Holder,
    },
    /// Another lane is full.
    LaneFull {
        /// The lane.
        lane: LaneName,
        /// Number of holders.
        used: u32,
        /// Greatest number of holders.
        max: u32,
        /// Number of slots of the lane that the task wants.
        needed: u32,
        /// The first holder.
        holder: Holder,
    },
    /// The free slots of `global` are kept for other lanes.
    Reserved {
        /// Number of holders.
        used: u32,
        /// Greatest number of holders.
        max: u32,
        /// Number of slots that are kept for other lanes.
        kept: u32,
    },
    /// The rate of a lane allows no grant now.
    RateLimited {
        /// The lane.
        lane: LaneName,
        /// The rate of the lane.
        rate: Rate,
        /// The earliest moment of the next grant.
        until: Timestamp,
    },
    /// The task was claimed, and its start waits for space, a process or memory.
    StartWaits {
        /// The file systems that the task's start writes to.
        rooms: Vec<Room>,
    },
    /// The command of the task is over, and its result waits for space.
    ResultWaits {
        /// The file systems that the task's result is written to.
        rooms: Vec<Room>,
    },
    /// No running process would start the task.
    NoDispatcher,
}

/// The free space of a file system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    /// The directory on the file system that luzia writes to.
    pub path: String,
    /// The kind of the file system, as `ext4`.
    pub name: String,
    /// Number of free bytes for an ordinary account.
    pub free_bytes: u64,
    /// Number of free inodes.
    pub free_inodes: u64,
}

impl Obstacle {
    /// Whether a capacity lane is the reason. Tasks behind it in the queue may not need that lane.
    pub fn is_of_capacity(&self) -> bool {
        match self {
            Self::LaneFull { lane, .. }
            | Self::RateLimited { lane, .. }
            | Self::SlotOccupied { lane, .. }
            | Self::Booked { booked: Booked { lane, .. } }
            | Self::TooFewSlots { narrow: Narrow { lane, .. } }
            | Self::HostBusy { shut: Shut { lane, .. } } => !lane.is_key_lane() && !lane.is_global(),
            Self::Paused { pause } => LaneName::parse(&pause.what)
                .is_ok_and(|lane| !pause.what.ends_with('*') && !lane.is_key_lane() && !lane.is_global()),
            // The other scheduler decides the order of its tasks.
            Self::NoGrant { .. } => true,
            _ => false,
        }
    }

    /// The word in the REASON column and in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Cycle { .. } => "Cycle",
            Self::Paused { .. } => "Paused",
            Self::Delayed { .. } => "Delayed",
            Self::After { .. } => "After",
            Self::OtherContext { .. } => "OtherContext",
            Self::NoGrant { .. } => "NoGrant",
            Self::NoHost { .. } => "NoHost",
            Self::HostsFull { .. } => "HostsFull",
            Self::NoDirectory { .. } => "NoDirectory",
            Self::NewerRecord { .. } => "NewerRecord",
            Self::Priority { .. } => "Priority",
            Self::LaneOrder { .. } => "LaneOrder",
            Self::HostBusy { .. } => "HostBusy",
            Self::TooFewSlots { .. } => "TooFewSlots",
            Self::Booked { .. } => "Booked",
            Self::SlotOccupied { .. } => "SlotOccupied",
            Self::UserLockHeld { .. } => "UserLockHeld",
            Self::Loan { .. } => "Loan",
            Self::LaneFull { .. } => "LaneFull",
            Self::Reserved { .. } => "Reserved",
            Self::RateLimited { .. } => "RateLimited",
            Self::StartWaits { .. } => "StartWaits",
            Self::ResultWaits { .. } => "ResultWaits",
            Self::NoDispatcher => "NoDispatcher",
        }
    }
}
