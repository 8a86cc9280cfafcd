//! What a store can do, by subject. Each verb is one whole transaction; its commit point stands where it is implemented. The traits are
//! object-safe, so that commands and supervisors work with whichever store they are given.

mod engine;
mod locks;
mod queue;
mod tasks;
mod upkeep;

pub use engine::{Directory, Dispatchers, Holders, Sessions};
pub use locks::{Capacity, Lines, Locks};
pub use queue::{Delays, Queue, Runs};
pub use tasks::{Schedules, Steps};
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

/// A store: what is kept of tasks, lanes and schedules, and what several hosts could share.
pub trait Store:
    Queue + Delays + Runs + Locks + Lines + Capacity + Steps + Schedules + Journal + Names + Upkeep + Ground + Inspect
{
}

impl Store for FileStore {}

/// The engine of a host: what hosts that share a store would each have for themselves.
pub trait Engine: Sessions + Dispatchers + Holders + Directory {}

impl Engine for FileStore {}
