//! The columns of `luzia list`.

use crate::app::query::list::Stuck;
use crate::app::steps::OpenWait;
use crate::app::{AppError, Obstacle};
use crate::cli::output::lane::Lanes;
use crate::cli::output::style::{Tone, age};
use crate::cli::output::table::{Column, Table};
use crate::cli::output::task::tone;
use crate::cli::output::{brief, json};
use crate::model::{Task, Timestamp};

/// Every column. On a narrow terminal those of a higher rank are left out first.
const COLUMNS: [Column; 15] = [
    Column::new("ID"),
    Column::new("USER"),
    Column::new("STATUS"),
    Column::wide("PRIO").ranked(4),
    Column::wide("AGE").ranked(5),
    Column::new("RAN"),
    Column::new("WAITED").ranked(1),
    Column::new("START").ranked(2),
    Column::wide("PROJECT").ranked(6),
    Column::wide("LANES").ranked(3),
    Column::wide("ATTEMPT").ranked(7),
    Column::wide("LABEL").ranked(8),
    Column::wide("AGENT").ranked(9),
    Column::new("REASON"),
    Column::new("COMMAND"),
];

/// The title of the column at a place.
pub(super) fn title(at: usize) -> &'static str {
    COLUMNS[at].title
}

/// The place of REASON, the one column that costs looks at the locks.
pub(super) const REASON: usize = 13;

/// The places of the requested columns; when no column was requested, those of a table that `is_wide` or not.
pub(super) fn chosen(names: &[String], is_wide: bool) -> Result<Vec<usize>, AppError> {
    if names.is_empty() {
        return Ok((0..COLUMNS.len()).filter(|at| is_wide || !COLUMNS[*at].is_wide).collect());
    }
    let place = |name: &String| {
        COLUMNS.iter().position(|column| column.title.eq_ignore_ascii_case(name.trim())).ok_or_else(|| {
            let all: Vec<String> = COLUMNS.iter().map(|column| column.title.to_ascii_lowercase()).collect();
            AppError::usage(format!("there is no column \"{}\"", name.escape_default()))
                .hint(format!("the columns are {}", all.join(", ")))
        })
    };
    names.iter().map(place).collect()
}

/// An empty table of the columns at `shown`. Columns that were requested by name are always shown.
pub(super) fn table(shown: &[usize], is_asked_for: bool) -> Table {
    let columns = shown.iter().map(|at| COLUMNS[*at]);
    let always = |column: Column| if is_asked_for { Column::new(column.title) } else { column };
    Table::new(&columns.map(always).collect::<Vec<_>>())
}

/// Text of the column with a title.
pub fn cell(
    title: &str,
    task: &Task,
    (reason, wait): (Option<&Obstacle>, Option<&OpenWait>),
    stuck: Option<Stuck>,
    lanes: &Lanes,
    now: Timestamp,
) -> (String, Tone) {
    let text = match title {
        "ID" => task.id.to_string(),
        "USER" => task.user.to_string(),
        "STATUS" => return (task.status().to_string(), tone(task.status())),
        "PRIO" => task.priority.number().to_string(),
        "AGE" => age(now, task.created_at),
        "RAN" => brief::ran_ms(task, now).map(brief::length).unwrap_or_default(),
        "WAITED" => brief::waited_ms(task, now).map(brief::length).unwrap_or_default(),
        "START" => brief::start(task, now),
        "PROJECT" => task.project.as_ref().map(ToString::to_string).unwrap_or_default(),
        "LANES" => {
            let names = json::task_lanes(task);
            lanes.shown(&names.into_iter().filter(|lane| !lanes.hides(lane)).collect::<Vec<_>>().join(","))
        }
        "ATTEMPT" => task.attempt().to_string(),
        "LABEL" => task.label.clone().unwrap_or_default(),
        "AGENT" => task.agent.as_ref().map(|agent| agent.name.clone()).unwrap_or_default(),
        "REASON" => match (reason, stuck, task.outcome()) {
            (Some(obstacle), ..) => lanes.shown(&brief::reason(obstacle, task, now)),
            (None, Some(stuck), _) => brief::stuck(stuck),
            (None, None, Some(outcome)) => brief::outcome(outcome, task.terms.earlier.last()),
            (None, None, None) => wait.map(|open| brief::wait(open, now)).unwrap_or_default(),
        },
        _ => brief::command(&task.command),
    };
    (text, Tone::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_chosen_by_name() {
        assert_eq!(COLUMNS[REASON].title, "REASON");
        let names = |names: &[&str]| chosen(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), true);
        assert_eq!(names(&["command", " Id"]).expect("columns"), [14, 0]);
        assert_eq!(names(&[]).expect("columns").len(), COLUMNS.len());
        let refused = names(&["id", "colour"]).expect_err("no such column");
        assert!(refused.refusal().hint.as_ref().is_some_and(|hint| hint.contains("waited")));
    }
}
