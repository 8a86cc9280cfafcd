//! What every command and every supervisor stands on.

use super::{RunDir, Spool};
use crate::os::Host;
use std::sync::Arc;

/// A host, what is local to it, and its store: cheap handles, which may be cloned.
#[derive(Clone)]
pub struct Site {
    /// This host.
    pub host: Host,
    /// What is local to this host of the tasks that run here.
    pub run_dir: RunDir,
    /// Tasks, locks and all else that is kept.
    pub store: Arc<Spool>,
}

impl From<Spool> for Site {
    fn from(store: Spool) -> Self {
        Self { host: store.host.clone(), run_dir: store.run_dir.clone(), store: Arc::new(store) }
    }
}
