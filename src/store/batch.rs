//! Accepting many tasks at once. Nothing of it is seen before all of it is durable, each record appears whole or not at
//! all, and of what stands in one segment of a lane all appears by one rename, which a file system does sooner than many.

use super::error::{Result, StoreError};
use super::publish::Publication;
use super::spool::pending_folders;
use super::{Store, encode_task, layout};
use crate::model::{Priority, Task};
use crate::os::Open;
use std::collections::HashMap;

/// What is published by one rename.
enum Portion<'a> {
    /// A record.
    One(&'a Task),
    /// A segment of a lane, with all that the batch has for it, in order.
    Segment(Vec<&'a Task>),
}

impl Portion<'_> {
    fn tasks(&self) -> &[&Task] {
        match self {
            Self::One(task) => std::slice::from_ref(task),
            Self::Segment(tasks) => tasks,
        }
    }

    /// The folder in which process `pid` writes a segment.
    fn folder(&self, pid: u32) -> Option<String> {
        match self {
            Self::One(_) => None,
            Self::Segment(tasks) => Some(layout::staged_segment(tasks[0].id, pid)),
        }
    }
}

/// Where the record of a task is written: in the folder of its segment, or by itself.
fn staged_record(task: &Task, folder: Option<&str>, pid: u32) -> String {
    folder.map_or_else(|| layout::tmp(task.id, pid), |folder| layout::record_in(folder, task.id))
}

impl Store {
    /// Accepts tasks whose numbers follow one another. Commit point: the second sync of the file system.
    pub(crate) fn accept_batch(&self, tasks: &[Task]) -> Result<()> {
        let portions = portions(tasks, &|task| self.must_park(task));
        let result = self.stage_and_publish(&portions);
        if result.is_err() {
            portions.iter().for_each(|portion| self.withdraw_portion(portion));
        }
        result
    }

    fn stage_and_publish(&self, portions: &[Portion]) -> Result<()> {
        portions.iter().try_for_each(|portion| self.stage_portion(portion))?;
        self.vfs.sync_everything().map_err(StoreError::io("sync", layout::TMP))?;
        portions.iter().try_for_each(|portion| self.publish_portion(portion))?;
        if mutant!("mutant-early-answer") {
            return Ok(());
        }
        self.vfs.sync_everything().map_err(StoreError::io("sync", layout::PENDING))
    }

    /// Writes what a portion has, without syncing it.
    fn stage_portion(&self, portion: &Portion) -> Result<()> {
        let folder = portion.folder(self.me.pid);
        if let Some(folder) = &folder {
            self.make_dir(folder)?;
        }
        for task in portion.tasks() {
            let staged = staged_record(task, folder.as_deref(), self.me.pid);
            self.write_whole(&staged, Open::Truncate(0o600), &encode_task(task)?)?;
        }
        Ok(())
    }

    /// Gives a portion its name; where there is a segment of that name, its records one by one.
    fn publish_portion(&self, portion: &Portion) -> Result<()> {
        let folder = portion.folder(self.me.pid);
        if let Some(folder) = &folder {
            let [tier, lane, segment] = pending_folders(portion.tasks()[0]);
            if self.publish(folder, &segment, &[tier, lane])? != Publication::Taken {
                return Ok(());
            }
        }
        for task in portion.tasks() {
            self.place(task, &staged_record(task, folder.as_deref(), self.me.pid), false)?;
        }
        folder.map_or(Ok(()), |folder| self.remove_dir(&folder).map(|_| ()))
    }

    fn withdraw_portion(&self, portion: &Portion) {
        let folder = portion.folder(self.me.pid);
        for task in portion.tasks() {
            self.withdraw(task, &staged_record(task, folder.as_deref(), self.me.pid));
        }
        if let Some(folder) = folder {
            let _ = self.vfs.remove_dir(&folder);
        }
    }
}

fn segment_of(task: &Task) -> (Priority, &str, u64) {
    (task.priority, task.user.as_str(), layout::segment(task.id))
}

/// The parts of a batch in the order of their first tasks. A segment goes as a whole only when no task in it needs a hint
/// beside its record, because a later task of a lane must not appear before an earlier one. Parked tasks are in no lane.
fn portions<'a>(tasks: &'a [Task], must_park: &dyn Fn(&Task) -> bool) -> Vec<Portion<'a>> {
    let mut segments: HashMap<(Priority, &str, u64), (Vec<&Task>, bool)> = HashMap::new();
    let parked: Vec<bool> = tasks.iter().map(must_park).collect();
    for (task, _) in tasks.iter().zip(&parked).filter(|(_, is_parked)| !**is_parked) {
        let (all, is_plain) = segments.entry(segment_of(task)).or_insert_with(|| (Vec::new(), true));
        all.push(task);
        *is_plain &= task.lanes.is_empty() && task.start_by.is_none();
    }
    let mut portions = Vec::new();
    for (task, is_parked) in tasks.iter().zip(parked) {
        match segments.get_mut(&segment_of(task)) {
            Some((all, true)) if !is_parked && all.len() != 1 => {
                // Whoever comes first takes all; the others find none.
                if !all.is_empty() {
                    portions.push(Portion::Segment(std::mem::take(all)));
                }
            }
            Some(_) | None => portions.push(Portion::One(task)),
        }
    }
    portions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LaneName, Name, TaskId};
    use crate::store::record::tests::task;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// User, priority, whether it has a further lane, whether it is parked.
    type Wish = (u8, u8, bool, bool);

    fn task_of(id: u64, (user, priority, has_lane, is_parked): Wish) -> Task {
        Task {
            user: Name::new(&format!("u{user}")).expect("a name"),
            priority: Priority::new(priority).expect("a priority"),
            lanes: if has_lane { vec![LaneName::parse("thread:7").expect("a lane")] } else { Vec::new() },
            after: if is_parked { vec![TaskId(1)] } else { Vec::new() },
            due_at: None,
            start_by: None,
            ..task(id)
        }
    }

    proptest! {
        #[test]
        fn every_task_is_published_once_and_none_before_an_earlier_one_of_its_lane(
            first in 1..3000_u64,
            wishes in prop::collection::vec((0..3_u8, 4..6_u8, prop::bool::weighted(0.02), prop::bool::weighted(0.1)), 0..1500),
        ) {
            let tasks: Vec<Task> = (first..).zip(wishes).map(|(id, wish)| task_of(id, wish)).collect();
            let is_parked = |task: &Task| !task.after.is_empty();
            let (mut ids, mut last) = (Vec::new(), BTreeMap::new());
            for portion in portions(&tasks, &is_parked) {
                let all = match portion {
                    Portion::One(task) => vec![task],
                    Portion::Segment(all) => {
                        prop_assert!(all.len() > 1 && all.iter().all(|task| task.lanes.is_empty() && !is_parked(task)));
                        prop_assert!(all.iter().all(|task| segment_of(task) == segment_of(all[0])));
                        all
                    }
                };
                for task in all {
                    ids.push(task.id);
                    if !is_parked(task) {
                        let before = last.insert((task.user.clone(), task.priority), task.id);
                        prop_assert!(before.is_none_or(|before| before < task.id), "{before:?} {:?}", task.id);
                    }
                }
            }
            ids.sort_unstable();
            prop_assert_eq!(ids, tasks.iter().map(|task| task.id).collect::<Vec<_>>());
        }
    }
}
