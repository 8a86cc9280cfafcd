//! The command line of a call of a tool. The arguments were checked before. Pure.

use super::tools::Tool;
use crate::cli::args::lane_text;
use crate::request::members::Shape;
use serde_json::{Map, Value};

type Arguments = Map<String, Value>;

/// The text of an argument.
pub fn text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

/// The texts of an argument that is a single text or a list of texts.
pub fn texts(arguments: &Arguments, name: &str) -> Vec<String> {
    match arguments.get(name) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The lane of a call, which is never a user.
pub fn lane(arguments: &Arguments) -> Option<String> {
    text(arguments, "lane").map(lane_text)
}

/// The lanes of a call that takes one or several: one as an argument, several as options.
fn lanes(mut words: Words, arguments: &Arguments) -> Words {
    match texts(arguments, "lane").as_slice() {
        [] => words,
        [one] => words.argument(Some(&lane_text(one))),
        several => {
            words.options("--lane", several);
            words
        }
    }
}

/// The command of a call of `run` or `enqueue`, as it will be run.
pub fn argv(arguments: &Arguments) -> Vec<String> {
    match text(arguments, "shell") {
        Some(line) => ["sh", "-c", line].map(str::to_owned).to_vec(),
        None => texts(arguments, "command"),
    }
}

/// The names of the variables that a call sets.
pub fn variables(arguments: &Arguments) -> impl Iterator<Item = &String> {
    arguments.get("env").and_then(Value::as_object).into_iter().flat_map(Map::keys)
}

/// `luzia enqueue`, for the tools `run` and `enqueue`.
pub fn enqueue(tool: &Tool, arguments: &Arguments) -> Vec<String> {
    let mut words = Words::of("enqueue");
    for (argument, option) in tool.options().filter(|(argument, _)| argument.name != "shell") {
        let (name, option) = (argument.name.as_str(), format!("--{option}"));
        match argument.shape {
            Shape::Variables => {
                for (name, value) in arguments.get(name).and_then(Value::as_object).into_iter().flatten() {
                    words.option(&option, Some(&format!("{name}={}", value.as_str().unwrap_or_default())));
                }
            }
            Shape::Duration => words.option(&option, seconds(arguments, name).as_deref()),
            Shape::Text | Shape::Texts | Shape::Choice(_) => words.options(&option, &texts(arguments, name)),
            // No tool has an option with such a value.
            Shape::Flag | Shape::Count | Shape::Share | Shape::Directory | Shape::Steps | Shape::Command => {}
        }
    }
    words.0.push("--".to_owned());
    words.0.extend(argv(arguments));
    words.0
}

/// The command line of a tool that looks or that changes a lock; `None` for a tool that is carried out in another way.
/// `holder` is the name under which this server holds leases that end by time.
pub fn direct(tool: &str, arguments: &Arguments, holder: &str) -> Option<Vec<String>> {
    let mut words = match tool {
        "explain" => {
            let user = text(arguments, "user").map(|user| format!("user:{user}"));
            let other = user.or(text(arguments, "task").map(str::to_owned)).or(lane(arguments));
            Words::of("explain").argument(other.as_deref())
        }
        "status" => Words::of("status"),
        "list" => Words::of("list"),
        "acquire" => lanes(Words::of("acquire"), arguments),
        "release" => lanes(Words::of("release"), arguments),
        "cancel" => Words::of("cancel").argument(text(arguments, "task")),
        _ => return None,
    };
    match tool {
        "list" => {
            let states = texts(arguments, "states").join(",");
            words.option("--state", Some(states.as_str()).filter(|states| !states.is_empty()));
            words.option("--user", text(arguments, "user"));
            words.option("--lane", text(arguments, "lane"));
            let limit = arguments.get("limit").and_then(Value::as_u64).unwrap_or(20);
            words.option("--limit", Some(&limit.to_string()));
        }
        "acquire" => {
            match seconds(arguments, "ttl_s") {
                Some(ttl) => {
                    words.option("--task", Some(holder));
                    words.option("--ttl", Some(&ttl));
                }
                None => words.session(arguments),
            }
            words.option("--label", text(arguments, "note"));
            words.option("--timeout", waited(arguments).as_deref());
        }
        "release" => match text(arguments, "lock_id") {
            Some(lock_id) => words.option("--lock-id", Some(lock_id)),
            None => words.session(arguments),
        },
        "cancel" => words.option("--grace", seconds(arguments, "grace_s").as_deref()),
        _ => {}
    }
    Some(words.end())
}

/// Time that a call waits, in milliseconds.
pub fn wait_ms(arguments: &Arguments, default_s: u64) -> u64 {
    let given = arguments.get("wait_s").and_then(Value::as_f64);
    let most = super::tools::LONGEST_WAIT_S * 1000;
    given.map_or(default_s * 1000, milliseconds).min(most)
}

fn waited(arguments: &Arguments) -> Option<String> {
    arguments.get("wait_s").map(|_| format!("{}ms", wait_ms(arguments, 0)))
}

fn seconds(arguments: &Arguments, name: &str) -> Option<String> {
    let seconds = arguments.get(name).and_then(Value::as_f64)?;
    Some(format!("{}ms", milliseconds(seconds)))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // The arguments were checked: from 0 to 100 years.
fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

/// A verb with its options, and the argument behind all of them.
struct Words(Vec<String>, Option<String>);

impl Words {
    fn of(verb: &str) -> Self {
        Self(vec![verb.to_owned()], None)
    }

    fn argument(self, text: Option<&str>) -> Self {
        Self(self.0, text.map(str::to_owned))
    }

    /// Behind `--`, an argument is no option even if it looks like one.
    fn end(mut self) -> Vec<String> {
        self.0.extend(self.1.into_iter().flat_map(|argument| ["--".to_owned(), argument]));
        self.0
    }

    fn option(&mut self, name: &str, value: Option<&str>) {
        self.0.extend(value.map(|value| format!("{name}={value}")));
    }

    fn options(&mut self, name: &str, values: &[String]) {
        values.iter().for_each(|value| self.option(name, Some(value)));
    }

    fn session(&mut self, arguments: &Arguments) {
        match text(arguments, "session") {
            Some(key) => self.0.push(format!("--session={key}")),
            None => self.0.push("--session".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tools::tool;
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn a_call_means_a_command_line() {
        let given = json!({ "command": ["make", "-j2"], "lane": "build", "timeout_s": 1.5, "env": { "A": "b c" }, "cwd": "/w" });
        let words = "enqueue --cwd=/w --lane=build --timeout=1500ms";
        let mut expected: Vec<String> = words.split(' ').map(str::to_owned).collect();
        expected.extend(["--env=A=b c", "--", "make", "-j2"].map(str::to_owned));
        let tool = tool("enqueue").expect("a tool");
        assert_eq!(enqueue(tool, &arguments(given)), expected);
        let shell = enqueue(tool, &arguments(json!({ "shell": "a && b" })));
        assert_eq!(shell, ["enqueue", "--", "sh", "-c", "a && b"]);
        let list = direct("list", &arguments(json!({ "states": ["failed", "timeout"] })), "me");
        assert_eq!(list.unwrap_or_default(), ["list", "--state=failed,timeout", "--limit=20"]);
        let lease = direct("acquire", &arguments(json!({ "lane": "build", "wait_s": 90 })), "me");
        assert_eq!(lease.unwrap_or_default(), ["acquire", "--session", "--timeout=50000ms", "--", "lane:build"]);
        let several = direct("acquire", &arguments(json!({ "lane": ["db", "@tree"], "ttl_s": 1 })), "me");
        let words = ["acquire", "--lane=db", "--lane=@tree", "--task=me", "--ttl=1000ms"];
        assert_eq!(several.unwrap_or_default(), words);
        let back = direct("release", &arguments(json!({ "lane": ["db", "a:b"], "lock_id": "me_1" })), "me");
        assert_eq!(back.unwrap_or_default(), ["release", "--lane=db", "--lane=a:b", "--lock-id=me_1"]);
        let odd = direct("release", &arguments(json!({ "lane": "--all" })), "me");
        assert_eq!(odd.unwrap_or_default(), ["release", "--session", "--", "lane:--all"]);
    }
}
