//! Basis of every command and every supervisor: the host, its local folders and its store.

use super::{RunDir, Spool};
use crate::os::Host;
use std::sync::Arc;

/// A host, its local folders, and its store: cheap handles, which may be cloned.
#[derive(Clone)]
pub struct Site {
    /// This host.
    pub host: Host,
    /// The local part of the tasks that run on this host.
    pub run_dir: RunDir,
    /// The store of tasks, locks and all other lasting records.
    pub store: Arc<Spool>,
}

impl From<Spool> for Site {
    fn from(store: Spool) -> Self {
        Self { host: store.host.clone(), run_dir: store.run_dir.clone(), store: Arc::new(store) }
    }
}
