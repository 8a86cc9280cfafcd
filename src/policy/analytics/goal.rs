//! The goal of a task. Failures are counted by goal.

use crate::model::Task;

/// The longest goal, in characters.
const MOST: usize = 80;

/// The goal of a task: the key of its lane `goal:KEY`, or else its label; empty if it has neither.
pub fn goal_of(task: &Task) -> String {
    let named = || task.lanes.iter().find(|lane| lane.kind() == "goal").map(|lane| lane.key().to_string());
    let text = task.goal.clone().or_else(named).or_else(|| task.label.clone()).unwrap_or_default();
    text.chars().take(MOST).collect()
}
