//! What a store can do, by subject. Each verb is one whole transaction; its commit point stands where it is implemented. The traits are
//! object-safe, so that commands and supervisors work with whichever store they are given.

mod locks;
mod queue;
mod tasks;
mod upkeep;

pub use locks::{Capacity, Lines, Locks, Sessions};
pub use queue::{Delays, Queue, Runs};
pub use tasks::{Dispatchers, Schedules, Steps};
pub use upkeep::{Ground, Inspect, Journal, Names, Upkeep};

use super::FileStore;

/// Declares the verbs of a subject, and lets the store of files do each by its method of that name.
macro_rules! verbs {
    ($(#[$about:meta])* $subject:ident { $($(#[$doc:meta])* fn $verb:ident($($arg:ident: $type:ty),* $(,)?) $(-> $given:ty)?;)* }) => {
        $(#[$about])*
        pub trait $subject {
            $($(#[$doc])* fn $verb(&self $(, $arg: $type)*) $(-> $given)?;)*
        }

        impl $subject for FileStore {
            $(fn $verb(&self $(, $arg: $type)*) $(-> $given)? {
                FileStore::$verb(self $(, $arg)*)
            })*
        }
    };
}

use verbs;

/// A store: what is kept of tasks, lanes and schedules.
pub trait Store:
    Queue
    + Delays
    + Runs
    + Locks
    + Lines
    + Sessions
    + Capacity
    + Steps
    + Schedules
    + Dispatchers
    + Journal
    + Names
    + Upkeep
    + Ground
    + Inspect
{
}

impl Store for FileStore {}
