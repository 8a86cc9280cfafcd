//! The control group of a task: made for each start if the host allows it, recorded with the start, and gone with it.

use crate::model::{Cgroups, Group, GroupSight, RootId, TaskId};
use crate::store::{Result, RunDir, file_name, layout};

impl RunDir {
    /// Makes a control group for a start of a task and moves this process into it, so that the command starts there.
    pub fn enter_cgroup(&self, id: TaskId, start: u32, wanted: Cgroups) -> Option<Group> {
        if wanted == Cgroups::Off {
            return None;
        }
        let name = || Some(format!("{}{id}.{start}", self.group_prefix().ok()?));
        self.host.procs.groups()?.enter(&name, wanted == Cgroups::On)
    }

    /// The control groups of this state directory below that of this process whose tasks are not in flight.
    pub fn left_groups(&self) -> Result<Vec<(String, Group)>> {
        let Some(groups) = self.host.procs.groups() else { return Ok(Vec::new()) };
        let prefix = self.group_prefix()?;
        let mut left = Vec::new();
        for (name, group) in groups.named(&prefix) {
            let task = name.strip_prefix(&prefix).and_then(|rest| rest.split_once('.'));
            let Some(id) = task.and_then(|(task, _)| file_name::task(task.strip_prefix("task_")?)) else { continue };
            // A supervisor makes a control group only while the folder of its task exists.
            if self.meta(&layout::run_dir(id))?.is_none() && groups.look(&group) == GroupSight::Empty {
                left.push((name, group));
            }
        }
        Ok(left)
    }

    /// Prefix of the names of this state directory's control groups: no two directories of a host share one inode.
    fn group_prefix(&self) -> Result<String> {
        let ident = self.meta(".")?.map(|meta| meta.ident).unwrap_or_default();
        Ok(format!("luzia.{}.", RootId::from(ident)))
    }
}
