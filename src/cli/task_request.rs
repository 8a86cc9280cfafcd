//! From options and `--from` lines to the request of a new task. Checks the form only.

use super::args::{ParentDeath, TaskOptions};
use crate::app::AppError;
use crate::app::OnConflict;
use crate::app::queue::enqueue::{NewTask, line_error};
use crate::model::task::OnInterrupt;
use crate::model::time::parse_duration;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// The request of `enqueue` and `run`.
pub fn new_task(options: &TaskOptions, command: &[String]) -> NewTask {
    NewTask {
        user: options.user.clone(),
        project: options.project.clone(),
        lanes: options.lanes.clone(),
        threads: options.threads.clone(),
        repo: options.repo.clone(),
        tree: options.tree.clone(),
        priority: options.priority,
        delay: options.in_time.clone(),
        at: options.at.clone(),
        hold: options.hold,
        after: options.after.clone(),
        timeout: options.timeout.clone(),
        start_within: options.start_within.clone(),
        grace: options.grace.clone(),
        retries: options.retries,
        key: options.key.clone(),
        on_conflict: options.on_conflict,
        label: options.label.clone(),
        env: options.env.clone(),
        cwd: options.cwd.clone(),
        prompt: options.prompt.clone(),
        shell: options.shell.clone(),
        command: command.to_vec(),
        reads_stdin: false,
        has_terminal: false,
        no_check: options.no_check,
        is_separated: options.is_separated,
        is_grouped: false,
        is_waited_for: false,
        parent: options.parent.clone(),
        no_inherit: options.no_inherit,
        ends_with_parent: options.on_parent_death == Some(ParentDeath::Cancel),
        terms: options.terms.terms(),
        ..NewTask::default()
    }
}

/// Reads a duration option, in milliseconds.
pub fn duration(option: &str, text: Option<&str>) -> Result<Option<u64>, AppError> {
    crate::app::queue::terms::moments::duration(option, text)
}

/// Reads a number of seconds or a duration given as a bare argument, in milliseconds.
pub fn seconds(text: &str) -> Result<u64, AppError> {
    parse_duration(text).map_err(|error| AppError::usage(error.to_string()))
}

/// Reads the lines of `--from`: JSON objects with the option names as keys and `command`, an array. Empty lines are
/// passed over; any other mistake is named by its line, and nothing is queued. Each comes with the number of its line.
pub fn task_lines(text: &str) -> Result<Vec<(usize, NewTask)>, AppError> {
    let mut tasks = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let task = task_line(line).map_err(|why| {
            let hint = "a line is {\"user\": \"alice\", \"command\": [\"make\", \"test\"]}; nothing was queued";
            line_error(at + 1, AppError::usage(why).hint(hint))
        })?;
        tasks.push((at + 1, task));
    }
    Ok(tasks)
}

fn task_line(line: &str) -> Result<NewTask, String> {
    let members: Members = serde_json::from_str(line).map_err(|error| format!("it is no JSON object: {error}"))?;
    let mut task = NewTask::default();
    let mut seen = BTreeSet::new();
    for (key, value) in members.0 {
        let option = option_of(&key);
        if !seen.insert(option.to_owned()) {
            return Err(format!("\"{option}\" is given twice"));
        }
        match option {
            "user" => task.user = Some(text(&key, value)?),
            "project" => task.project = Some(text(&key, value)?),
            "lanes" => task.lanes = texts(&key, value)?,
            "threads" => task.threads = texts(&key, value)?,
            "repo" => task.repo = place(&key, value)?,
            "tree" => task.tree = place(&key, value)?,
            "priority" => task.priority = Some(number(&key, &value)?),
            "in" => task.delay = Some(amount(&key, value)?),
            "at" => task.at = Some(text(&key, value)?),
            "after" => task.after = texts(&key, value)?,
            "timeout" => task.timeout = Some(amount(&key, value)?),
            "start_within" => task.start_within = Some(amount(&key, value)?),
            "grace" => task.grace = Some(amount(&key, value)?),
            "retries" => task.retries = Some(number(&key, &value)?),
            "key" => task.key = Some(text(&key, value)?),
            "on_conflict" => task.on_conflict = Some(conflict_word(&text(&key, value)?)?),
            "label" => task.label = Some(text(&key, value)?),
            "env" => task.env = env(value)?,
            "cwd" => task.cwd = Some(text(&key, value)?),
            "prompt" => task.prompt = Some(text(&key, value)?),
            "shell" => task.shell = Some(text(&key, value)?),
            "hold" => task.hold = value.as_bool().ok_or("\"hold\" must be true or false")?,
            "parent" => task.parent = Some(text(&key, value)?),
            "no_inherit" => task.no_inherit = value.as_bool().ok_or("\"no_inherit\" must be true or false")?,
            "on_parent_death" => task.ends_with_parent = ends_with_parent(&text(&key, value)?)?,
            "goal" => task.goal = Some(text(&key, value)?),
            "stepwise" => task.is_stepwise = value.as_bool().ok_or("\"stepwise\" must be true or false")?,
            "steps" => task.steps = Some(value.to_string()),
            "steps_per_run" => task.steps_per_run = Some(number(&key, &value)?),
            "max_steps" => task.max_steps = Some(number(&key, &value)?),
            "no_check" => task.no_check = value.as_bool().ok_or("\"no_check\" must be true or false")?,
            "command" => task.command = texts(&key, value)?,
            "after_any" => task.terms.after_any = texts(&key, value)?,
            "after_failed" => task.terms.after_failed = texts(&key, value)?,
            "fresh" => task.terms.fresh = Some(amount(&key, value)?),
            "stable" => task.terms.is_stable = value.as_bool().ok_or("\"stable\" must be true or false")?,
            "group" => task.terms.group = Some(text(&key, value)?),
            "backoff" => task.terms.backoff = Some(amount(&key, value)?),
            "max_backoff" => task.terms.most_backoff = Some(amount(&key, value)?),
            "on_interrupt" => task.terms.on_interrupt = Some(interruption(&text(&key, value)?)?),
            "on_finish" => task.terms.on_finish = Some(text(&key, value)?),
            "warn_after" => task.terms.warn_after = Some(amount(&key, value)?),
            "on_wait" => task.terms.on_wait = Some(text(&key, value)?),
            "log_sample" => task.terms.log_sample = Some(amount(&key, value)?),
            "slots" => task.terms.slots = Some(number(&key, &value)?),
            "message" => task.terms.message = Some(text(&key, value)?),
            "channel" => task.terms.channel = Some(text(&key, value)?),
            "reuse" => task.terms.reuse = Some(text(&key, value)?),
            other => return Err(format!("\"{other}\" is no option of a task")),
        }
    }
    Ok(task)
}

/// The one name of an option that may be spelled in two ways.
fn option_of(key: &str) -> &str {
    match key {
        "lane" => "lanes",
        "thread" => "threads",
        "start-within" => "start_within",
        "no-check" => "no_check",
        "no-inherit" => "no_inherit",
        "on-parent-death" => "on_parent_death",
        "on-conflict" => "on_conflict",
        "steps-per-run" => "steps_per_run",
        "max-steps" => "max_steps",
        "after-any" => "after_any",
        "after-failed" => "after_failed",
        "max-backoff" => "max_backoff",
        "on-interrupt" => "on_interrupt",
        "on-finish" => "on_finish",
        "warn-after" => "warn_after",
        "on-wait" => "on_wait",
        "log-sample" => "log_sample",
        other => other,
    }
}

/// The members of a JSON object as they stand there: a map would forget that one is given twice.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(All)
    }
}

fn text(key: &str, value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(format!("\"{key}\" must be a string")),
    }
}

/// A directory: a text, or true for the one the command runs in.
fn place(key: &str, value: Value) -> Result<Option<String>, String> {
    match value {
        Value::Bool(is_here) => Ok(is_here.then(|| ".".to_owned())),
        Value::String(text) => Ok(Some(text)),
        _ => Err(format!("\"{key}\" must be true, or a string")),
    }
}

fn texts(key: &str, value: Value) -> Result<Vec<String>, String> {
    match value {
        Value::String(text) if key != "command" => Ok(vec![text]),
        Value::Array(items) => items
            .into_iter()
            .map(|item| match item {
                Value::Number(number) if key != "command" => Ok(number.to_string()),
                other => text(key, other),
            })
            .collect(),
        Value::Number(number) if key != "command" => Ok(vec![number.to_string()]),
        _ => Err(format!("\"{key}\" must be an array of strings")),
    }
}

fn number<T: TryFrom<u64>>(key: &str, value: &Value) -> Result<T, String> {
    let found = value.as_u64().and_then(|number| T::try_from(number).ok());
    found.ok_or_else(|| format!("\"{key}\" must be a whole number in its range"))
}

/// A duration: text, or a number of seconds.
fn amount(key: &str, value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("\"{key}\" must be a duration")),
    }
}

fn env(value: Value) -> Result<Vec<String>, String> {
    match value {
        Value::Object(members) => {
            let pair = |(key, value): (String, Value)| match key.contains('=') {
                // Joined with its value it would be another variable.
                true => Err(format!("\"env\" has \"{}\", which is no variable's name", key.escape_debug())),
                false => Ok(format!("{key}={}", text("env", value)?)),
            };
            members.into_iter().map(pair).collect()
        }
        other => texts("env", other),
    }
}

fn ends_with_parent(word: &str) -> Result<bool, String> {
    match word {
        "adopt" => Ok(false),
        "cancel" => Ok(true),
        _ => Err("\"on_parent_death\" must be adopt or cancel".to_owned()),
    }
}

fn interruption(word: &str) -> Result<OnInterrupt, String> {
    OnInterrupt::parse(word).ok_or_else(|| "\"on_interrupt\" must be retry or fail".to_owned())
}

fn conflict_word(word: &str) -> Result<OnConflict, String> {
    let found = OnConflict::ALL.into_iter().find(|policy| policy.word() == word);
    found.ok_or_else(|| "\"on_conflict\" must be queue, skip, replace, reject or join".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_like_the_options() {
        let line = r#"{"user":"alice","lanes":["cron"],"thread":7,"priority":2,"timeout":30,"env":{"A":"b"},"command":["make","test"]}"#;
        let (number, task) = task_lines(&format!("\n{line}")).expect("it reads").remove(0);
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
            (r#"{"usr":"a"}"#, "\"usr\" is no option"),
            (r#"{"priority":"high"}"#, "whole number"),
            (r#"{"priority":300}"#, "whole number"),
            (r#"{"command":"make"}"#, "array"),
            (r#"{"repo":1}"#, "\"repo\" must be true, or a string"),
            (r#"{"env":{"A":1}}"#, "string"),
            (r#"{"env":{"A=B":"C"}}"#, "no variable's name"),
            (r#"{"on_conflict":"maybe"}"#, "must be queue"),
            (r#"{"user":"a","user":"b"}"#, "\"user\" is given twice"),
            (r#"{"lane":"a","lanes":["b"]}"#, "\"lanes\" is given twice"),
        ] {
            let error = task_lines(&format!("\n{line}\n")).expect_err("it is refused");
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.to_string().starts_with("line 2: "), "{error}");
        }
    }
}
