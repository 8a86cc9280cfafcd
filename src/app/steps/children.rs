//! The children for whose ends a task waits.

use crate::app::query::list::{Filter, list};
use crate::app::waits::came::{is_end_of, is_meant, means_child};
use crate::app::waits::unused_mail;
use crate::app::{App, AppError};
use crate::model::{Task, TaskId};
use crate::store::{Mail, OpenWait, Waits};

/// The unfinished children of a task that match the filter of a wait, in the order of their numbers.
pub fn open_children(app: &App, id: TaskId, filter: &[(String, String)]) -> Result<Vec<Task>, AppError> {
    let mut children: Vec<Task> = Vec::new();
    // `doctor` reports a damaged record.
    list(app, &Filter::default(), &mut |found| {
        children.extend(found.ok().filter(|task| task.parent == Some(id) && means_child(filter, task.id)));
        true
    })?;
    children.sort_unstable_by_key(|task| task.id);
    Ok(children)
}

/// Number of ends that a wait for all children expects: unfinished children, and reported ends that ended no wait. At least
/// one. Exactly one if the filter names more than the child.
pub(crate) fn ends_expected(app: &App, id: TaskId, waits: &Waits, open: &OpenWait) -> Result<u32, AppError> {
    if open.filter.iter().any(|(name, _)| name != "child") {
        return Ok(1);
    }
    // In this order: the end of a child is reported before the child is over.
    let children = open_children(app, id, &open.filter)?;
    let told: Vec<Mail> = unused_mail(app, id, waits)?.into_iter().filter(|mail| is_meant(mail, open)).collect();
    let is_told = |child: &Task| told.iter().any(|mail| is_end_of(mail, child.id));
    let count = told.len() + children.iter().filter(|child| !is_told(child)).count();
    Ok(u32::try_from(count).unwrap_or(u32::MAX).max(1))
}
