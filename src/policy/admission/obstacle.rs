//! The reasons why a task does not start.

use super::{Booked, Holder, Narrow, Shut};
use crate::model::capacity::Occupied;
use crate::model::config::Rate;
use crate::model::{LaneName, TaskId, Timestamp};
use crate::policy::context::Difference;
use crate::policy::context::life::Life;
use crate::policy::cycles::Member;
use crate::policy::hold::Pause;

/// One reason why a task does not start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// Some wait for each other for ever, and it waits for one of them or is one of them.
    Cycle {
        /// Its members, each followed by one it waits for.
        members: Vec<Member>,
    },
    /// It, its user, one of its lanes or the host is paused.
    Paused {
        /// By whom and until when.
        pause: Pause,
    },
    /// It is not due.
    Delayed {
        /// When it is.
        until: Timestamp,
    },
    /// It comes after tasks that are not over.
    After {
        /// Those tasks.
        tasks: Vec<TaskId>,
    },
    /// It was queued in another sandbox, and waits for a pass there.
    OtherContext {
        /// In what the sandboxes differ.
        differences: Vec<Difference>,
        /// What is known of its sandbox.
        life: Life,
        /// Whether the caller asked for it: the same session of an agent, else the same agent.
        is_own: bool,
    },
    /// A record that this version cannot read is first in the lane of its user.
    NewerRecord {
        /// The task of that record.
        first: TaskId,
        /// The record and its version.
        record: String,
    },
    /// Other tasks of its user come first.
    Priority {
        /// How many.
        ahead: u64,
    },
    /// Another task is first in one of its key lanes.
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
    /// One of its lanes has fewer slots than it takes.
    TooFewSlots {
        /// The lane, and how many.
        narrow: Narrow,
    },
    /// Its start would keep a task from its computed start that waits for several slots of one of its lanes, or of that lane
    /// and others.
    Booked {
        /// The lane and the task.
        booked: Booked,
    },
    /// A lane has room, and strangers use all that its slots stand for.
    SlotOccupied {
        /// The lane.
        lane: LaneName,
        /// What they use.
        occupied: Occupied,
    },
    /// Its user's lock is held.
    UserLockHeld {
        /// By whom.
        holder: Holder,
    },
    /// Another child of its parent has borrowed a lane: they take turns.
    Loan {
        /// The lane.
        lane: LaneName,
        /// The child that has it.
        holder: Holder,
    },
    /// Another lane is full.
    LaneFull {
        /// The lane.
        lane: LaneName,
        /// How many hold it.
        used: u32,
        /// How many may.
        max: u32,
        /// How many of its slots the task wants.
        needed: u32,
        /// The first of them.
        holder: Holder,
    },
    /// What is left of `global` is kept for other lanes.
    Reserved {
        /// How many hold it.
        used: u32,
        /// How many may.
        max: u32,
        /// How many slots are kept for others.
        kept: u32,
    },
    /// The rate of a lane allows no grant now.
    RateLimited {
        /// The lane.
        lane: LaneName,
        /// Its rate.
        rate: Rate,
        /// From when it allows one.
        until: Timestamp,
    },
    /// It was claimed, and its start waits for space, a process or memory.
    StartWaits {
        /// The file systems that it writes to.
        rooms: Vec<Room>,
    },
    /// Its command is over, and its result waits for space.
    ResultWaits {
        /// The file systems that it writes to.
        rooms: Vec<Room>,
    },
    /// Nothing runs that would start it.
    NoDispatcher,
}

/// What is left of a file system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    /// The directory on it that is written to.
    pub path: String,
    /// Its kind, as `ext4`.
    pub name: String,
    /// Free bytes for an ordinary account.
    pub free_bytes: u64,
    /// Free inodes.
    pub free_inodes: u64,
}

impl Obstacle {
    /// Whether a capacity lane is the reason: tasks behind in the queue may not need that lane.
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
