//! `--group`: the group of a new task.

use crate::app::queue::enqueue::name;
use crate::app::{App, AppError};
use crate::model::Task;
use crate::model::task::Group;
use crate::policy::requests::groups::{OpenGroup, joined};
use crate::request::TaskRequest;
use crate::store::{KeySlot, Place};

/// Puts a task that has its number into the group it asks for: a group belongs to one session, that of its first task. The
/// returned slot keeps others out of the group until the record of the task is stored.
pub(crate) fn join_group<'a>(
    app: &'a App,
    task: &mut Task,
    new: &TaskRequest,
) -> Result<Option<KeySlot<'a>>, AppError> {
    let Some(text) = &new.group else { return Ok(None) };
    let group = name("group", text)?;
    let mut slot = app.store.enter_group(task, &group)?;
    let members = slot.holders()?;
    let open = match (members.first(), members.last()) {
        (Some(last), Some(first)) => {
            Some(OpenGroup { first: *first, last: *last, count: u32::try_from(members.len()).unwrap_or(u32::MAX) })
        }
        _ => None,
    };
    let last = open.map(|open| app.store.find(open.last)).transpose()?.flatten();
    let last = last.filter(|(place, _)| *place != Place::Done).map(|(_, last)| last);
    let open = joined(open, last.is_some(), task.id);
    if let Some(last) = last.filter(|_| open.first != task.id) {
        task.share = last.share;
    }
    let kept = members.len().min(usize::try_from(open.count - 1).unwrap_or(usize::MAX));
    slot.note(&[&[task.id], &members[..kept]].concat())?;
    task.group = Some(Group { name: group, first: open.first });
    Ok(Some(slot))
}
