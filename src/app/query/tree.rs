//! `tree`: a task, the tasks that it has queued, and theirs.

use crate::app::query::course::{ActionLine, runs_of};
use crate::app::query::list::{Filter, list};
use crate::app::waits::{Memory, as_seen, memory};
use crate::app::{App, AppError};
use crate::model::{Task, TaskId};
use std::collections::BTreeMap;

/// A task in its family.
#[derive(Clone, PartialEq, Debug)]
pub struct Branch {
    /// The task.
    pub task: Task,
    /// Its depth below the first one.
    pub depth: usize,
    /// Whether it is the last child of its parent.
    pub is_last: bool,
    /// Its memory: its steps.
    pub memory: Option<Memory>,
    /// The runs of its command, if it takes steps: each as its end (S2.7).
    pub runs: Vec<ActionLine>,
}

/// A task and its descendants, each before its children. Children are in the order of their numbers.
pub fn tree(app: &App, root: TaskId) -> Result<Vec<Branch>, AppError> {
    let root = as_seen(app, app.existing(root)?);
    let mut children: BTreeMap<TaskId, Vec<Task>> = BTreeMap::new();
    list(app, &Filter { all: true, ..Filter::default() }, &mut |found| {
        // `doctor` reports a damaged record.
        if let Ok(task) = found
            && let Some(parent) = task.parent
        {
            children.entry(parent).or_default().push(task);
        }
        true
    })?;
    let (mut branches, mut open) = (Vec::new(), vec![(root, 0, true)]);
    while let Some((task, depth, is_last)) = open.pop() {
        let mut own = children.remove(&task.id).unwrap_or_default();
        own.sort_by_key(|child| std::cmp::Reverse(child.id));
        let is_lowest = |at: usize| at == 0;
        open.extend(own.into_iter().enumerate().map(|(at, child)| (child, depth + 1, is_lowest(at))));
        let memory = memory(app, task.id)?;
        let runs = if task.stepwise.is_some() { runs_of(app, task.id)? } else { Vec::new() };
        branches.push(Branch { task, depth, is_last, memory, runs });
    }
    Ok(branches)
}
