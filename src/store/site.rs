//! What every command and every supervisor stands on.

use super::{Engine, FileStore, RunDir, Store};
use crate::os::Host;
use std::sync::Arc;

/// A host, what is local to it, and its store: cheap handles, which may be cloned.
#[derive(Clone)]
pub struct Site {
    /// This host.
    pub host: Host,
    /// What is local to this host of the tasks that run here.
    pub run_dir: RunDir,
    /// What this host does by itself for the store.
    pub engine: Arc<dyn Engine>,
    /// Tasks, locks and all else that hosts could share.
    pub store: Arc<dyn Store>,
}

impl From<FileStore> for Site {
    fn from(store: FileStore) -> Self {
        let (host, run_dir, store) = (store.host.clone(), store.run_dir.clone(), Arc::new(store));
        Self { host, run_dir, engine: store.clone(), store }
    }
}
