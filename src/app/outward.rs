//! Outward directories that an error kept from telling the end of their task: closed late, by `cleanup-stale`.

use super::enqueue::conductor_path;
use super::{App, AppError};
use crate::model::{Name, Task, TaskId};
use crate::store::Place;

impl App {
    /// Closes what still stands in `active/` of tasks that are over; gives their ids. An error of a conductor directory
    /// holds nothing up when a task ends, so that it is tried again here; one that cannot be used is passed by.
    pub(super) fn close_outward(&self, dry_run: bool) -> Result<Vec<TaskId>, AppError> {
        let mut paths = self.store.default_conductors()?;
        for (project, settings) in &self.config().projects {
            let user = settings.user.as_ref().map_or("", Name::as_str);
            paths
                .extend(settings.conductor_dir.iter().map(|template| conductor_path(template, project.as_str(), user)));
        }
        let mut closed = Vec::new();
        for path in paths {
            let Ok(Some(conductor)) = self.store.conductor(&path, false) else { continue };
            for id in conductor.active_ids().unwrap_or_default() {
                if dry_run {
                    let found = self.store.find(id)?;
                    let is_late = |(place, task): &(Place, Task)| *place == Place::Done && task.conductor_dir == path;
                    closed.extend(found.is_some_and(|found| is_late(&found)).then_some(id));
                    continue;
                }
                // Under its lock, so that nobody retries it meanwhile.
                let Some((task, lock)) = self.store.take_finished(id)? else { continue };
                if task.conductor_dir == path {
                    closed.extend(conductor.close_late(&task).is_ok().then_some(id));
                }
                self.store.discard_leftovers(id, Some(&task), lock)?;
            }
        }
        Ok(closed)
    }
}
