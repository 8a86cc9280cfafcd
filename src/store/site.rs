//! What every command and every supervisor stands on.

use super::Store;
use crate::os::Host;

/// A host and its store: cheap handles, which may be cloned.
#[derive(Clone)]
pub struct Site {
    /// This host.
    pub host: Host,
    /// Tasks, locks and all else that is kept.
    pub store: Store,
}

impl From<Store> for Site {
    fn from(store: Store) -> Self {
        Self { host: store.host.clone(), store }
    }
}
