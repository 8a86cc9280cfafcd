//! The goal of a task, by which failures are counted.

use crate::model::Task;

/// The longest goal, in characters.
const MOST: usize = 80;

/// What a task is for: the key of its lane `goal:KEY`, else its label; empty where it has neither.
pub fn goal_of(task: &Task) -> String {
    let named = || task.lanes.iter().find(|lane| lane.kind() == "goal").map(|lane| lane.key().to_string());
    let text = task.goal.clone().or_else(named).or_else(|| task.label.clone()).unwrap_or_default();
    text.chars().take(MOST).collect()
}
