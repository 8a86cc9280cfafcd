//! The steps of `--steps`: a JSON array, an object with `actions` or `steps` that holds one, or one step (S1.20). Pure.

use crate::model::time::{format_duration, parse_duration};
use crate::policy::steps::names::is_event_name;
use crate::policy::steps::waits::WaitKind;
use serde_json::{Map, Value};

/// The most steps of a file.
const MOST_ACTIONS: usize = 10_000;
/// The most events that a wait expects.
pub const MOST_EXPECTED: u32 = 1000;
/// The prefix of the place of a variable. The place is filled in at each start, so its text cannot be validated before.
const PLACE: &str = "{{";
/// The prefix of the type of a step that waits.
const WAIT: &str = "wait_for_";
/// The type of a step that prints a message.
const MESSAGE: &str = "send_message";
/// The longest name of a step, in bytes.
const MOST_NAME: usize = 160;

/// The error for a document of another form.
const NO_STEPS: &str = "it is neither an array of steps, nor a step, nor an object with \"actions\"";

/// A step as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// The name of the step in `luzia logs --steps`; empty if it has no name and no type.
    pub name: String,
    /// The command of the step.
    pub command: Vec<String>,
}

/// Parses steps. `quoted` quotes a word for a shell, so that the shell does not change it.
pub fn actions_of(text: &str, quoted: &dyn Fn(&str) -> String) -> Result<Vec<Action>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let one = std::slice::from_ref(&value);
    let list = match &value {
        Value::Array(list) => list,
        Value::Object(members) => match members.get("actions").or_else(|| members.get("steps")) {
            Some(Value::Array(list)) => list,
            None if members.contains_key("actionType") || members.contains_key("command") => one,
            _ => return Err(NO_STEPS.to_owned()),
        },
        _ => return Err(NO_STEPS.to_owned()),
    };
    if list.is_empty() || list.len() > MOST_ACTIONS {
        return Err(format!("it has {} steps; 1 to {MOST_ACTIONS} can be taken", list.len()));
    }
    let read = |(at, step)| action(step, quoted).map_err(|why| format!("step {}: {why}", at + 1));
    list.iter().enumerate().map(read).collect()
}

fn action(step: &Value, quoted: &dyn Fn(&str) -> String) -> Result<Action, String> {
    let members = match step {
        Value::Array(_) => return Ok(Action { name: String::new(), command: command(step)? }),
        Value::Object(members) => members,
        _ => return Err("a step is an object, or an array of words".to_owned()),
    };
    const MEMBERS: [&str; 4] = ["actionType", "parameters", "command", "name"];
    if let Some(other) = members.keys().find(|key| !MEMBERS.contains(&key.as_str())) {
        return Err(format!("\"{other}\" is not a member of a step"));
    }
    let parameters = members.get("parameters").map(|given| given.as_object().ok_or("\"parameters\" is not an object"));
    let parameters = parameters.transpose()?;
    let kind =
        members.get("actionType").map(|given| given.as_str().ok_or("\"actionType\" is not a text")).transpose()?;
    let none = Map::new();
    let inner = parameters.unwrap_or(&none);
    let command = match (kind, members.get("command")) {
        (None, _) if parameters.is_some() => return Err("it has parameters, and no actionType".to_owned()),
        (None, given) => command(given.ok_or("it has neither a command nor an actionType")?)?,
        (Some("command"), Some(_)) if inner.contains_key("command") => return Err("it has two commands".to_owned()),
        (Some("command"), given) => command(given.or_else(|| inner.get("command")).ok_or("it has no command")?)?,
        (Some(kind), Some(_)) => {
            return Err(format!("it has a command beside \"actionType\": \"{kind}\"; a step has one of them"));
        }
        (Some(MESSAGE), None) => message(inner)?,
        (Some(kind), None) => match kind.strip_prefix(WAIT) {
            Some(word) => wait(word, inner, quoted)?,
            None => {
                return Err(format!(
                    "\"{kind}\" is not a type of a step: command, {MESSAGE}, or {WAIT} and a kind of `luzia await`"
                ));
            }
        },
    };
    let name = match members.get("name") {
        None => kind.filter(|kind| *kind != "command").unwrap_or_default(),
        Some(Value::String(name)) if name.len() <= MOST_NAME && !name.chars().any(char::is_control) => name,
        Some(_) => return Err(format!("\"name\" is a text of {MOST_NAME} bytes at most, in one line")),
    };
    Ok(Action { name: name.to_owned(), command })
}

/// The command that prints a message to the output of its task. The message is one argument, and never an option.
fn message(parameters: &Map<String, Value>) -> Result<Vec<String>, String> {
    if let Some(other) = parameters.keys().find(|key| *key != "message") {
        return Err(format!("\"{other}\" is not a parameter of {MESSAGE}"));
    }
    match parameters.get("message") {
        Some(Value::String(text)) if !text.contains('\0') => {
            Ok(["printf", "--", "%s\\n", text].map(str::to_owned).to_vec())
        }
        _ => Err(format!("{MESSAGE} needs its \"message\", a text")),
    }
}

/// The line for `--timeout-do` that runs some steps, one after another.
fn timeout_line(given: &Value, quoted: &dyn Fn(&str) -> String) -> Result<String, String> {
    let Value::Array(list) = given else { return Err("\"timeoutActions\" is not an array of steps".to_owned()) };
    let mut lines = Vec::new();
    for step in list {
        let kind = step.get("actionType").and_then(Value::as_str);
        if kind.is_some_and(|kind| kind.starts_with(WAIT)) {
            return Err("\"timeoutActions\" cannot wait: command and send_message are its steps".to_owned());
        }
        let words = action(step, quoted).map_err(|why| format!("\"timeoutActions\": {why}"))?.command;
        lines.push(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
    }
    Ok(lines.join("\n"))
}

/// The command of a step: an array is executed without a shell; a text is a line for the shell.
fn command(given: &Value) -> Result<Vec<String>, String> {
    let words: Vec<String> = match given {
        Value::String(line) => ["/bin/sh", "-c", line].map(str::to_owned).to_vec(),
        Value::Array(words) => {
            let word = |word: &Value| word.as_str().map(str::to_owned).ok_or("a word of a command is not a text");
            words.iter().map(word).collect::<Result<_, _>>()?
        }
        _ => return Err("a command is an array of words, or a line for the shell".to_owned()),
    };
    match words.first() {
        None => Err("its command is empty".to_owned()),
        Some(first) if first.is_empty() => Err("its command is empty".to_owned()),
        Some(_) if words.iter().any(|word| word.contains('\0')) => Err("an argument cannot hold NUL".to_owned()),
        Some(_) => Ok(words),
    }
}

fn wait(word: &str, parameters: &Map<String, Value>, quoted: &dyn Fn(&str) -> String) -> Result<Vec<String>, String> {
    let kind = WaitKind::parse(word).ok_or_else(|| format!("nothing waits for \"{word}\""))?;
    let name = match (kind, parameters.get("event")) {
        (WaitKind::Event, Some(Value::String(event))) => {
            check_value(kind, "event", event)?;
            format!("{word}:{event}")
        }
        (_, None) => word.to_owned(),
        _ => return Err("\"event\" is the name of an event, of wait_for_event".to_owned()),
    };
    let mut words = ["luzia", "await", &name].map(str::to_owned).to_vec();
    for (key, value) in parameters {
        if key == "timeoutActions" {
            let line = timeout_line(value, quoted)?;
            words.extend((!line.is_empty()).then(|| format!("--timeout-do={line}")));
            continue;
        }
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return Err(format!("\"{key}\" is neither a text nor a number")),
        };
        check_value(kind, key, &text).map_err(|why| format!("\"{key}\": {why}"))?;
        let word_of = |option: &str| Ok(format!("{option}={text}"));
        let word = match key.as_str() {
            "event" => continue,
            "task" if kind == WaitKind::Output => word_of("--task"),
            "pattern" if kind == WaitKind::Output => word_of("--match"),
            "idle" if kind == WaitKind::Output => word_of("--idle"),
            "timeout" if kind != WaitKind::Delay => word_of("--timeout"),
            "timeout" | "duration" if kind == WaitKind::Delay => word_of("--for"),
            "onTimeout" if ["continue", "fail", "retry"].contains(&text.as_str()) => word_of("--on-timeout"),
            "onTimeout" => Err(format!("\"onTimeout\" is \"{text}\", and not continue, fail or retry")),
            "maxRetries" => word_of("--retry-waits"),
            "expect" => word_of("--expect"),
            "expectedFrom" if kind != WaitKind::Output => word_of("--match=from"),
            "threadId" if kind != WaitKind::Output => word_of("--match=thread"),
            other => Err(format!("\"{other}\" is not a parameter of {WAIT}{word}")),
        };
        words.push(word?);
    }
    let has = |option: &str| words.iter().any(|word| word.starts_with(option));
    if kind == WaitKind::Output && !(has("--task=") && (has("--match=") || has("--idle="))) {
        return Err("a wait for output needs \"task\", and \"pattern\" or \"idle\"".to_owned());
    }
    if kind == WaitKind::Delay && !has("--for=") {
        return Err("a delay needs its \"duration\"".to_owned());
    }
    Ok(words)
}

/// Refuses a value that `luzia await` would refuse, before anything is done for the task.
fn check_value(kind: WaitKind, key: &str, text: &str) -> Result<(), String> {
    if text.contains('\0') {
        return Err("it cannot hold NUL".to_owned());
    }
    if text.contains(PLACE) {
        return Ok(());
    }
    let most = match key {
        "timeout" | "duration" => kind.times_ms().1,
        "idle" => u64::MAX,
        "event" if !is_event_name(text) => return Err(format!("\"{text}\" is not the name of an event")),
        "expect" if !text.parse().is_ok_and(|count| (1..=MOST_EXPECTED).contains(&count)) => {
            return Err(format!("{text} is not a number from 1 to {MOST_EXPECTED}"));
        }
        "maxRetries" if text.parse::<u32>().is_err() => return Err(format!("{text} is not a number of times")),
        _ => return Ok(()),
    };
    match parse_duration(text) {
        Ok(ms) if ms > most => {
            Err(format!("{text} is longer than {}, the most for {}", format_duration(most), kind.word()))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Vec<Action>, String> {
        actions_of(text, &|word| format!("'{}'", word.replace('\'', r"'\''")))
    }

    #[test]
    fn commands_and_waits_become_commands() {
        let text = r#"{"actions": [
            {"actionType": "command", "parameters": {"command": ["make", "test"]}},
            {"actionType": "wait_for_response", "parameters": {"timeout": "24h", "onTimeout": "continue"}},
            {"actionType": "wait_for_event", "parameters": {"event": "DEPLOYED", "threadId": 7, "expectedFrom": "ana"}},
            {"actionType": "wait_for_delay", "parameters": {"duration": "10m"}},
            {"actionType": "wait_for_output", "parameters": {"task": "task_3", "pattern": "^ready"}},
            {"name": "last", "command": "echo a && echo b"},
            {"actionType": "send_message", "parameters": {"message": "hi"}},
            ["true"]]}"#;
        let read = read(text).expect("it reads");
        let shown: Vec<String> = read.iter().map(|step| step.command.join(" ")).collect();
        assert_eq!(
            shown,
            [
                "make test",
                "luzia await response --timeout=24h --on-timeout=continue",
                "luzia await event:DEPLOYED --match=thread=7 --match=from=ana",
                "luzia await delay --for=10m",
                "luzia await output --task=task_3 --match=^ready",
                "/bin/sh -c echo a && echo b",
                "printf -- %s\\n hi",
                "true",
            ]
        );
        let names: Vec<&str> = read.iter().map(|step| step.name.as_str()).collect();
        let waits = ["wait_for_response", "wait_for_event", "wait_for_delay", "wait_for_output"];
        assert_eq!((names[0], &names[1..5], &names[5..]), ("", &waits[..], &["last", "send_message", ""][..]));
    }

    #[test]
    fn a_document_may_be_one_step_with_steps_for_the_end_of_its_time() {
        let text = r#"{"actionType": "wait_for_response", "parameters": {"timeout": "24h", "onTimeout": "continue",
            "timeoutActions": [{"actionType": "send_message", "parameters": {"message": "it's late"}},
                               {"command": ["touch", "a b"]}]}}"#;
        let step = read(text).expect("it reads").remove(0);
        let line = "--timeout-do='printf' '--' '%s\\n' 'it'\\''s late'\n'touch' 'a b'";
        assert_eq!(
            step.command,
            ["luzia", "await", "response", "--timeout=24h", "--on-timeout=continue", line]
                .map(str::to_owned)
                .to_vec()
                .into_iter()
                .collect::<Vec<_>>()
        );
    }

    fn wait(kind: &str, key: &str, value: &str) -> String {
        format!("[{{\"actionType\": \"wait_for_{kind}\", \"parameters\": {{\"{key}\": {value}}}}}]")
    }

    #[test]
    fn a_value_that_a_variable_fills_in_is_left_to_the_wait() {
        let read = read(&wait("response", "timeout", "\"{{patience}}\"")).expect("it reads");
        assert_eq!(read[0].command.last().map(String::as_str), Some("--timeout={{patience}}"));
    }

    #[test]
    fn what_is_no_step_is_named_by_its_number() {
        for (text, why) in [
            ("[", "not JSON"),
            ("[]", "0 steps"),
            ("{}", "neither"),
            ("7", "neither"),
            ("[[\"true\"], {}]", "step 2: it has neither"),
            ("[[]]", "step 1: its command is empty"),
            ("[{\"command\": [\"\"]}]", "is empty"),
            ("[{\"command\": [1]}]", "not a text"),
            ("[{\"command\": [\"a\\u0000\"]}]", "NUL"),
            ("[{\"actionType\": \"dance\"}]", "not a type of a step"),
            ("[{\"actionType\": \"wait_for_rain\"}]", "nothing waits"),
            ("[{\"actionType\": \"wait_for_delay\"}]", "needs its"),
            ("[{\"actionType\": \"wait_for_output\", \"parameters\": {\"task\": 3}}]", "needs \"task\""),
            ("[{\"actionType\": \"wait_for_test\", \"parameters\": {\"onTimeout\": \"cry\"}}]", "not continue"),
            ("[{\"actionType\": \"wait_for_test\", \"parameters\": {\"tiemout\": \"1h\"}}]", "not a parameter"),
            ("[{\"actionType\": \"wait_for_test\", \"parameters\": {\"event\": \"X\"}}]", "of wait_for_event"),
            ("[{\"comand\": [\"a\"]}]", "not a member"),
            ("[{\"command\": [\"a\"], \"actionType\": \"wait_for_test\"}]", "step 1: it has a command beside"),
            ("[{\"command\": [\"a\"], \"parameters\": {}}]", "no actionType"),
            ("[{\"command\": [\"a\"], \"name\": 7}]", "\"name\" is a text"),
            ("[{\"actionType\": \"send_message\"}]", "needs its \"message\""),
            (&wait("response", "timeoutActions", "\"x\""), "not an array of steps"),
            (&wait("response", "timeoutActions", "[{\"actionType\": \"wait_for_test\"}]"), "cannot wait"),
            (&wait("response", "timeout", "\"8d\""), "longer than 7d"),
            (&wait("response", "timeout", "\"soon\""), "\"timeout\": "),
            (&wait("delay", "duration", "\"31d\""), "longer than 30d"),
            (&wait("document", "expect", "0"), "from 1 to 1000"),
            (&wait("document", "expect", "-3"), "from 1 to 1000"),
            (&wait("document", "expect", "1.5"), "from 1 to 1000"),
            (&wait("document", "maxRetries", "-1"), "number of times"),
            (&wait("event", "event", "\"a b\""), "name of an event"),
            (&wait("response", "expectedFrom", "\"a\\u0000\""), "NUL"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[\\[\\]{}\",:a-z0-9 ]{0,80}") {
            let _ = read(&text);
        }
    }
}
