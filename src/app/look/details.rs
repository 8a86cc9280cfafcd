//! What `show` looks up beside the record of a task: its directory, its logs, the lock files it holds, and its events.

use crate::app::look::events::{Filter, Record, Wanted};
use crate::app::{App, AppError};
use crate::model::{Status, Task};
use crate::store::{STDERR_LOG, STDOUT_LOG};

/// How many events of a task are shown: the newest.
const MOST_EVENTS: usize = 40;

/// What is known of a task beside its record.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// Its directory, where it stands now.
    pub folder: Option<String>,
    /// Its logs: stream, path and bytes.
    pub logs: Vec<(&'static str, String, u64)>,
    /// The locks it holds: lane and lock file.
    pub locks: Vec<(String, String)>,
    /// Its newest events, the oldest first.
    pub events: Vec<Record>,
    /// How many events there are before those.
    pub earlier_events: usize,
}

impl App {
    /// What is known of a task beside its record.
    pub fn details(&self, task: &Task) -> Result<Details, AppError> {
        let mut details = Details::default();
        // A directory of a project that cannot be opened is no reason to show nothing.
        if let Ok(Some(conductor)) = self.run_dir.conductor(&task.conductor_dir, false) {
            details.folder = conductor.folder_of(task.id).ok().flatten();
            for (stream, name) in [("stdout", STDOUT_LOG), ("stderr", STDERR_LOG)] {
                // Nor is a log that is a link, or that the command has removed.
                let log = conductor.read_log(task.id, name).ok().flatten();
                if let (Some(folder), Some(meta)) = (&details.folder, log.and_then(|log| log.meta().ok())) {
                    details.logs.push((stream, format!("{folder}/{name}"), meta.size));
                }
            }
        }
        if matches!(task.status(), Status::Running | Status::Waiting) {
            let own = task.id.to_string();
            for lane in task.all_lanes() {
                let held = self.holders(&lane)?.into_iter().filter(|view| view.holder() == Some(own.as_str()));
                let path = |path: String| format!("{}/{path}", self.store_path());
                details.locks.extend(held.map(|view| (lane.to_string(), path(view.path()))));
            }
        }
        let filter = Filter { tasks: [task.id].into(), ..Filter::default() };
        let mut events = std::collections::VecDeque::new();
        let count = self.events(&Wanted { filter, ..Wanted::default() }, &mut |record| {
            if events.len() == MOST_EVENTS {
                events.pop_front();
            }
            events.push_back(record.clone());
            true
        })?;
        details.earlier_events = usize::try_from(count).unwrap_or(usize::MAX) - events.len();
        details.events = events.into();
        Ok(details)
    }
}
