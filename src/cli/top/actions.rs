//! The commands that keys run, and how much care each asks for.

use super::keys::Action;
use crate::model::{Priority, Status, Task};

/// The answer that a command needs before it is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Care {
    /// One key.
    Key,
    /// A typed word, because the command ends running work.
    Word,
}

/// A command to be run, with the answer that it needs if it harms something; or the reason against it.
pub type Planned = Result<(Vec<String>, Option<Care>), String>;

fn words<const N: usize>(words: [&str; N], care: Option<Care>) -> Planned {
    Ok((words.map(str::to_owned).to_vec(), care))
}

/// The command of an action on a task.
pub fn of_task(action: Action, task: &Task, is_paused: bool) -> Planned {
    let (id, status) = (task.id.to_string(), task.status());
    let is_over = status.is_final();
    match (action, status) {
        (Action::Retry, _) if is_over => words(["retry", &id], Some(Care::Key)),
        (Action::Retry, _) => Err(format!("{id} is not over")),
        (Action::Cancel | Action::Pause | Action::Priority(_), _) if is_over => Err(format!("{id} is over")),
        (Action::Cancel, Status::Pending) => words(["cancel", &id], Some(Care::Key)),
        // The typed word is the consent that the command would ask for.
        (Action::Cancel, _) => words(["cancel", &id, "--yes"], Some(Care::Word)),
        (Action::Pause, _) if is_paused => words(["resume", &id], None),
        (Action::Pause, Status::Pending) => words(["pause", &id], Some(Care::Key)),
        (Action::Pause, _) => words(["pause", &id, "--yes"], Some(Care::Key)),
        (Action::Priority(by), Status::Pending) => {
            let now = task.priority.number();
            match Priority::new(now.wrapping_add_signed(by)) {
                Some(next) => words(["edit", &id, "--priority", &next.number().to_string()], None),
                None => Err(format!("{id} has priority {now}; 0 is the first, 9 the last")),
            }
        }
        (Action::Priority(_), _) => Err(format!("{id} has started: its priority has no effect")),
        _ => Err("this key has no effect on a task".to_owned()),
    }
}

/// The command of an action on a lane.
pub fn of_lane(action: Action, lane: &str, is_paused: bool) -> Planned {
    match action {
        Action::Pause if is_paused => words(["resume", lane], None),
        Action::Pause => words(["pause", lane], Some(Care::Key)),
        _ => Err(format!("\"{lane}\" is a lane: only p and Enter have an effect on it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::task::TaskState;

    #[test]
    fn a_command_asks_in_proportion_to_what_it_ends() {
        let pending = crate::cli::top::tests::task(12, "alice");
        let planned = |action, task: &Task, is_paused| of_task(action, task, is_paused).map(|(w, c)| (w.join(" "), c));
        let running = Task { state: TaskState::RUNNING, ..pending.clone() };
        for (action, task, is_paused, command, care) in [
            (Action::Cancel, &pending, false, "cancel task_12", Some(Care::Key)),
            (Action::Cancel, &running, false, "cancel task_12 --yes", Some(Care::Word)),
            (Action::Pause, &running, false, "pause task_12 --yes", Some(Care::Key)),
            (Action::Pause, &running, true, "resume task_12", None),
            (Action::Priority(-1), &pending, false, "edit task_12 --priority 4", None),
        ] {
            assert_eq!(planned(action, task, is_paused), Ok((command.to_owned(), care)));
        }
        let first = Task { priority: Priority::new(0).expect("a priority"), ..pending.clone() };
        assert!(planned(Action::Priority(-1), &first, false).is_err_and(|why| why.contains("priority 0")));
        assert!(planned(Action::Priority(1), &running, false).is_err());
        assert!(planned(Action::Retry, &pending, false).is_err_and(|why| why == "task_12 is not over"));
        assert_eq!(of_lane(Action::Pause, "lane:b", false), words(["pause", "lane:b"], Some(Care::Key)));
        assert!(of_lane(Action::Cancel, "lane:b", false).is_err());
    }
}
