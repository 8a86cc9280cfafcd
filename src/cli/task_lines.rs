//! Reads the lines of `--from`. Checks the form only.

use crate::app::AppError;
use crate::app::queue::enqueue::line_error;
use crate::model::record::Members;
use crate::request::{Line, TaskRequest, members};

/// Reads the lines of `--from`: JSON objects with the option names as keys and `command`, an array. Empty lines are skipped.
/// Any other mistake is reported with the number of its line, and nothing is queued.
pub fn read(text: &str) -> Result<Vec<Line>, AppError> {
    let mut tasks = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let task = task_line(line).map_err(|why| {
            let hint = "a line is {\"user\": \"alice\", \"command\": [\"make\", \"test\"]}; nothing was queued";
            line_error(at + 1, AppError::usage(why).hint(hint))
        })?;
        tasks.push((at + 1, Box::new(task)));
    }
    Ok(tasks)
}

fn task_line(line: &str) -> Result<TaskRequest, String> {
    let members: Members = serde_json::from_str(line).map_err(|error| format!("it is not a JSON object: {error}"))?;
    members::read(members.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_like_the_options() {
        let line = r#"{"user":"alice","lanes":["cron"],"thread":7,"priority":2,"timeout":30,"env":{"A":"b"},"command":["make","test"]}"#;
        let (number, task) = read(&format!("\n{line}")).expect("it reads").remove(0);
        assert_eq!(number, 2);
        assert_eq!(
            (task.user.as_deref(), task.priority, task.timeout.as_deref()),
            (Some("alice"), Some(2), Some("30"))
        );
        assert_eq!((task.lanes, task.threads, task.env), (vec!["cron".into()], vec!["7".into()], vec!["A=b".into()]));
        assert_eq!(task.command, ["make", "test"]);
    }

    #[test]
    fn a_mistake_is_named_by_its_line() {
        for (line, part) in [
            ("{", "line 2"),
            ("[]", "line 2"),
            (r#"{"usr":"a"}"#, "\"usr\" is not an option"),
            (r#"{"priority":"high"}"#, "whole number"),
            (r#"{"priority":300}"#, "whole number"),
            (r#"{"command":"make"}"#, "array"),
            (r#"{"repo":1}"#, "\"repo\" must be true, or a string"),
            (r#"{"env":{"A=B":"C"}}"#, "no variable's name"),
            (r#"{"env":{"A":1}}"#, "\"env\" has \"A\", whose value must be a string"),
            (r#"{"on_conflict":"maybe"}"#, "must be queue"),
            (r#"{"user":"a","user":"b"}"#, "\"user\" is given twice"),
            (r#"{"lane":"a","lanes":["b"]}"#, "\"lanes\" is given twice"),
        ] {
            let error = read(&format!("\n{line}\n")).expect_err("it is refused");
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.to_string().starts_with("line 2: "), "{error}");
        }
    }
}
