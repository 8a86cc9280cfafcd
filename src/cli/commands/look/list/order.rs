//! The order of `luzia list`.

use super::ListArgs;
use crate::app::query::list::latest;
use crate::app::waits::open_wait;
use crate::app::{App, AppError};
use crate::cli::output::brief;
use crate::model::sorted::{sort_by, sort_by_key};
use crate::model::{Status, Task, Timestamp};

/// The key by which a task is sorted; none for a task without that value.
type Key<'a> = Box<dyn Fn(&Task, Timestamp) -> Option<(String, i64)> + 'a>;

/// The requested order.
pub(super) struct Order<'a> {
    /// The key, and whether the largest comes first.
    key: Option<(Key<'a>, bool)>,
    /// Only so many of the latest.
    last: Option<usize>,
    is_reverse: bool,
}

impl<'a> Order<'a> {
    pub(super) fn of(args: &ListArgs, app: &'a App) -> Result<Self, AppError> {
        Ok(Self {
            key: args.sort.as_deref().map(|text| key(text, app)).transpose()?,
            last: args.last,
            is_reverse: args.reverse,
        })
    }

    /// Whether the first task is known only when all have been read.
    pub(super) fn needs_all(&self) -> bool {
        self.key.is_some() || self.last.is_some() || self.is_reverse
    }

    /// Sorts tasks. With `last`, only that many tasks stay, the latest ones.
    pub(super) fn sort(&self, tasks: &mut Vec<Task>, now: Timestamp) {
        if let Some(most) = self.last {
            sort_by_key(tasks, |task| std::cmp::Reverse((latest(task), task.id)));
            tasks.truncate(most);
        }
        if let Some((key, is_descending)) = &self.key {
            let (mut known, unknown): (Vec<_>, Vec<_>) =
                tasks.drain(..).map(|task| (key(&task, now), task)).partition(|(key, _)| key.is_some());
            sort_by(&mut known, |(a, one), (b, other)| (a, one.id).cmp(&(b, other.id)));
            if *is_descending {
                known.reverse();
            }
            tasks.extend(known.into_iter().chain(unknown).map(|(_, task)| task));
        }
        if self.is_reverse {
            tasks.reverse();
        }
    }
}

const KEYS: &str =
    "id, user, status, priority, created_at, due_at, started_at, completed_at, waiting_until, ran or waited";

/// Reads a key, with `-` before it for the largest first. Tasks without that value come last either way.
fn key<'a>(text: &str, app: &'a App) -> Result<(Key<'a>, bool), AppError> {
    let (word, is_descending) = match text.strip_prefix('-') {
        Some(word) => (word, true),
        None => (text, false),
    };
    let key: Key<'a> = match word {
        "id" => Box::new(|task, _| number(i64::try_from(task.id.0).unwrap_or(i64::MAX))),
        "user" => Box::new(|task, _| Some((task.user.to_string(), 0))),
        "status" => Box::new(|task, _| number(task.status() as i64)),
        "priority" | "prio" => Box::new(|task, _| number(i64::from(task.priority.number()))),
        "age" | "created_at" => Box::new(|task, _| number(task.created_at.0)),
        "due_at" => Box::new(|task, _| maybe(task.due_at.map(|at| at.0))),
        "started_at" | "start" => Box::new(|task, _| maybe(task.last_start.as_ref().map(|start| start.at.0))),
        "completed_at" | "end" => Box::new(|task, _| maybe(task.outcome().map(|end| end.completed_at.0))),
        // A task with a damaged wait has no such time; `doctor` names the damaged wait.
        "waiting_until" | "waitingUntil" => Box::new(|task, _| {
            let open = open_wait(app, task.id).ok().flatten().filter(|_| task.status() == Status::Waiting);
            maybe(open.and_then(|open| Timestamp::parse(&open.until)).map(|at| at.0))
        }),
        "ran" | "ran_ms" => Box::new(|task, now| maybe(brief::ran_ms(task, now))),
        "waited" => Box::new(|task, now| maybe(brief::waited_ms(task, now))),
        _ => {
            return Err(AppError::usage(format!("\"{}\" is not a key to sort by", word.escape_default()))
                .hint(format!("sort by {KEYS}, with - before it for the largest first")));
        }
    };
    Ok((key, is_descending))
}

fn number(number: i64) -> Option<(String, i64)> {
    maybe(Some(number))
}

fn maybe(number: Option<i64>) -> Option<(String, i64)> {
    number.map(|number| (String::new(), number))
}
