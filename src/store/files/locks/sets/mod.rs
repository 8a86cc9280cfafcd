//! Leases of several lanes that one `acquire` takes: all, or none, also when it is killed. A mark in `locks/.sets` exists from
//! before the first of their locks until all are made, and each sidecar names it. The acquirer is in the guards of all lanes
//! meanwhile. So a process in the guard of one of these lanes that finds the mark knows that the acquirer is dead. Commit point:
//! the unlink of the mark.

use crate::model::LockKind;
use crate::model::name::encode;
use crate::store::{Request, Result, Spool, layout};

const SETS: &str = "locks/.sets";
/// Age at which the mark of a dead acquirer is removed, in milliseconds.
const YOUNG_MS: i64 = 600_000;

fn mark(set: &str) -> String {
    format!("{SETS}/{}", encode(set))
}

impl Spool {
    /// Begins to take several leases, and names them; `None` for a single lane, and for locks that a process proves.
    pub(crate) fn begin_set(&self, request: &Request, lock_id: &str, lanes: usize) -> Result<Option<String>> {
        if request.kind != LockKind::Lease || lanes < 2 {
            return Ok(None);
        }
        self.make_dir(SETS)?;
        let first = format!("{lock_id}.{}.{}", request.process.pid, self.host.clock.boot_ms());
        let (mut set, mut further) = (first.clone(), 0_u32);
        // An existing mark belongs to a dead acquirer, whose locks may still exist.
        while self.create(&mark(&set), 0o600)?.is_none() {
            further = further.saturating_add(1);
            set = format!("{first}.{further}");
        }
        self.sync_sets(request)?;
        Ok(Some(set))
    }

    /// Ends a set: all of its leases are made, or none.
    pub(crate) fn end_set(&self, request: &Request, set: &str) -> Result<()> {
        self.unlink(&mark(set))?;
        self.sync_sets(request)
    }

    fn sync_sets(&self, request: &Request) -> Result<()> {
        if request.durable { self.sync_dir(SETS) } else { Ok(()) }
    }

    /// Whether the acquirer of a set was killed before it had all. The caller is in the guard of one of its lanes.
    pub(crate) fn is_incomplete(&self, set: &str) -> Result<bool> {
        Ok(self.meta(&mark(set))?.is_some())
    }

    /// Removes old marks that no lock names.
    pub(crate) fn clean_sets(&self, dry_run: bool, removed: &mut Vec<String>) -> Result<()> {
        let marks = self.list(SETS)?;
        if marks.is_empty() {
            return Ok(());
        }
        let mut named = Vec::new();
        for (stem, slot) in self.lock_stems()? {
            let sidecar = self.read_sidecar(&layout::sidecar(&stem, slot))?;
            named.extend(sidecar.record().and_then(|record| record.set.as_deref().map(encode)));
        }
        let now = self.host.clock.now();
        for entry in marks.into_iter().filter(|entry| !named.iter().any(|name| *name == *entry.name)) {
            let path = format!("{SETS}/{}", entry.name);
            let is_old = self.meta(&path)?.is_some_and(|meta| now.ms_since(meta.modified) >= YOUNG_MS);
            if is_old && (dry_run || self.unlink(&path)?) {
                removed.push(path.strip_prefix("locks/").unwrap_or(&path).to_owned());
            }
        }
        Ok(())
    }
}
