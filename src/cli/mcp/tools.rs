//! The tools of `luzia mcp`: their names, what they are for, what they take, and the command line that each call means. Pure.
//! A call is carried out by the commands of luzia themselves, so each tool has their checks, documents and errors.

use crate::request::shape::{Member, Shape, of_task};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The longest wait of a call, in seconds: clients end calls after a minute.
pub const LONGEST_WAIT_S: u64 = 50;
/// The wait of `run` when nothing is said, in seconds.
pub const RUN_WAIT_S: u64 = 20;

/// A tool.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    about: &'static str,
    takes: Vec<Argument>,
    /// Of which at least one must be given.
    needs: &'static [&'static str],
    /// What its answer holds, beside `error` and `notes`.
    gives: &'static [Given],
    /// Whether it starts commands, which `mcp.allow` must admit.
    pub starts: bool,
    is_read_only: bool,
    is_destructive: bool,
}

/// An argument of a tool.
struct Argument {
    name: String,
    kind: Kind,
    about: String,
    /// The option of `luzia enqueue` that it is, without hyphens.
    option: Option<String>,
}

/// What an argument may be.
pub enum Kind {
    /// A text.
    Text,
    /// A text or a list of texts.
    Texts,
    /// A list of texts.
    Words,
    /// An object of texts.
    Pairs,
    /// A number of seconds from 0.
    Seconds,
    /// A whole number from 1.
    Count,
    /// A text, or true for the caller's own.
    TextOrFlag,
    /// One of these words.
    Choice(Vec<String>),
}

fn argument(name: &str, kind: Kind, about: &str) -> Argument {
    Argument { name: name.to_owned(), kind, about: about.to_owned(), option: None }
}

/// The arguments of `run` and `enqueue` that are members of a task request.
const OF_ANY: [&str; 10] =
    ["command", "shell", "cwd", "user", "lanes", "key", "on_conflict", "timeout", "env", "label"];
/// Further ones of `enqueue`.
const OF_LATER: [&str; 2] = ["after", "at"];

/// The arguments that are members of a task request, in the order of the names.
fn members(names: &[&str]) -> Vec<Argument> {
    let all = of_task();
    names.iter().filter_map(|name| member(all.iter().find(|one| one.name == *name)?)).collect()
}

/// The argument that is a member; `None` if no tool takes such a value. A list has the name of one of its items, and a time
/// that of its unit.
fn member(member: &Member) -> Option<Argument> {
    let own = member.name.to_owned();
    let (name, kind) = match &member.shape {
        Shape::Text => (own, Kind::Text),
        Shape::Texts => (member.option.clone(), Kind::Texts),
        Shape::Choice(words) => (own, Kind::Choice(words.clone())),
        Shape::Duration => (format!("{own}_s"), Kind::Seconds),
        Shape::Variables => (own, Kind::Pairs),
        Shape::Command => (own, Kind::Words),
        Shape::Flag | Shape::Count | Shape::Share | Shape::Directory | Shape::Steps => return None,
    };
    let about = member.about.trim_end_matches("; may be repeated").to_owned();
    Some(Argument { name, kind, about, option: Some(member.option.clone()) })
}

fn wait_s() -> Argument {
    argument("wait_s", Kind::Seconds, "Wait so long for the answer, at most 50 seconds.")
}

fn task() -> Argument {
    argument("task", Kind::Text, "A task, e.g. task_12.")
}

fn lane() -> Argument {
    argument("lane", Kind::Text, "A lane, e.g. build, thread:7, user:alice, @tree.")
}

fn lanes() -> Argument {
    argument("lane", Kind::Texts, "A lane, e.g. build, thread:7, user:alice, @tree, or a list of lanes.")
}

/// A member of an answer, its type in JSON, and what it says.
type Given = (&'static str, &'static str, &'static str);

const REPORT: &[Given] = &[
    ("task", "string", "The task."),
    ("status", "string", "pending, running, waiting, completed, failed, timeout or cancelled."),
    ("exit_code", "integer", "The code of a command that is over."),
    ("result_summary", "string", "How it ended, where that was not well."),
    ("position", "integer", "Its place among the tasks of its user that wait."),
    ("reasons", "array", "Why it waits."),
    ("log", "object", "The end of its output: tail, and is_cut."),
    ("still_waiting", "boolean", "Whether the wait ended before the task."),
    ("next", "array", "The call that goes on."),
];
const WAITED: &[Given] = &[
    ("task", "string", "The task, where it is one."),
    ("status", "string", "Its state."),
    ("exit_code", "integer", "Its code."),
    ("log", "object", "The end of its output."),
    ("tasks", "array", "The same of each, where they are several."),
    ("lane", "string", "The lane, where one was waited for."),
    ("free", "boolean", "Whether the next acquire would get it."),
    ("still_waiting", "boolean", "Whether the time was over first: call again."),
];
const EXPLAINED: &[Given] = &[
    ("task", "string", "The task that was asked for."),
    ("status", "string", "Its state."),
    ("reasons", "array", "Why it waits, each with a message."),
    ("lane", "string", "The lane that was asked for."),
    ("holders", "array", "Who holds it."),
    ("waiters", "array", "Who waits for it."),
    ("paused", "object", "Who has paused it, since when, why."),
    ("gate", "object", "The condition of the host that shuts it."),
];
const LISTED: &[Given] = &[("items", "array", "The tasks: task, status, user, lanes, command, reason.")];
const STATUS: &[Given] = &[
    ("pending", "object", "How many tasks wait, by tier."),
    ("active", "object", "Slots in use, by project and user."),
    ("user_locks", "object", "The lanes of users that are held."),
];
const LEASE: &[Given] = &[
    ("acquired", "boolean", "Whether the lanes are held now."),
    ("lane", "string", "The lane, where it is one."),
    ("lock_id", "string", "Give it to release."),
    ("fence", "integer", "The token of the grant."),
    ("grants", "array", "The same of each lane, where they are several."),
];
const GIVEN: &[Given] = &[("released", "boolean", "Whether anything was given back.")];
const CANCELLED: &[Given] = &[("items", "array", "The task and what became of it.")];

/// All tools.
pub static TOOLS: LazyLock<[Tool; 10]> = LazyLock::new(|| {
    [
        Tool {
            name: "run",
            about: "Run a command when it is its turn in its lanes, and wait for the answer. It is queued durably: when wait_s \
                is over first, the answer says why it waits and the tool wait goes on. Never queue the same command again.",
            takes: members(&OF_ANY).into_iter().chain([wait_s()]).collect(),
            needs: &["command", "shell"],
            gives: REPORT,
            starts: true,
            is_read_only: false,
            is_destructive: true,
        },
        Tool {
            name: "enqueue",
            about: "Queue a command durably and return at once with its task. It starts when it is its turn.",
            takes: members(&[&OF_ANY[..], &OF_LATER].concat()),
            needs: &["command", "shell"],
            gives: REPORT,
            starts: true,
            is_read_only: false,
            is_destructive: true,
        },
        Tool {
            name: "wait",
            about: "Wait for the end of tasks, or until a lane is free. \"Still waiting\" is a normal answer: tasks keep their \
                places, so call it again.",
            takes: vec![
                argument("tasks", Kind::Texts, "Tasks, e.g. task_12."),
                argument("lane", Kind::Text, "A lane, instead of tasks."),
                argument("for", Kind::Choice(vec!["free".to_owned()]), "What to wait for with a lane."),
                wait_s(),
            ],
            needs: &["tasks", "lane"],
            gives: WAITED,
            starts: false,
            is_read_only: true,
            is_destructive: false,
        },
        Tool {
            name: "explain",
            about: "Why a task, a user or a lane waits: who holds it, since when, whether the holder lives, and how that is known.",
            takes: vec![task(), argument("user", Kind::Text, "A user."), lane()],
            needs: &["task", "user", "lane"],
            gives: EXPLAINED,
            starts: false,
            is_read_only: true,
            is_destructive: false,
        },
        Tool {
            name: "list",
            about: "List tasks: the unfinished ones, or those in certain states.",
            takes: vec![
                argument("states", Kind::Texts, "pending, running, waiting, completed, failed, timeout or cancelled."),
                argument("user", Kind::Text, "Only tasks of this user."),
                argument("lane", Kind::Text, "Only tasks of this lane."),
                argument("limit", Kind::Count, "At most so many; 20 by default."),
            ],
            needs: &[],
            gives: LISTED,
            starts: false,
            is_read_only: true,
            is_destructive: false,
        },
        Tool {
            name: "status",
            about: "What is queued, what runs, and which locks are held.",
            takes: vec![],
            needs: &[],
            gives: STATUS,
            starts: false,
            is_read_only: true,
            is_destructive: false,
        },
        Tool {
            name: "logs",
            about: "The end of the output of a task, whether it runs or is over.",
            takes: vec![task(), argument("lines", Kind::Count, "At most so many lines; 60 by default.")],
            needs: &["task"],
            gives: REPORT,
            starts: false,
            is_read_only: true,
            is_destructive: false,
        },
        Tool {
            name: "acquire",
            about: "Hold a lane, or several, e.g. while you edit files: all are taken, or none. Without ttl_s the lease lasts until release, or until your session ends.",
            takes: vec![
                lanes(),
                argument("session", Kind::TextOrFlag, "The key of your session; true, the default, for your process."),
                argument("ttl_s", Kind::Seconds, "End the lease after so many seconds, instead of with your session."),
                argument("note", Kind::Text, "A note that others see with the lock."),
                argument(
                    "wait_s",
                    Kind::Seconds,
                    "Wait so long for the lane, at most 50 seconds; by default not at all.",
                ),
            ],
            needs: &["lane"],
            gives: LEASE,
            starts: false,
            is_read_only: false,
            is_destructive: false,
        },
        Tool {
            name: "release",
            about: "Give back lanes that you hold by acquire.",
            takes: vec![
                lanes(),
                argument("lock_id", Kind::Text, "The lock_id that acquire gave."),
                argument("session", Kind::TextOrFlag, "The key of your session, without a lock_id."),
            ],
            needs: &["lane"],
            gives: GIVEN,
            starts: false,
            is_read_only: false,
            is_destructive: false,
        },
        Tool {
            name: "cancel",
            about: "End a task, or keep it from starting. The running task of somebody else is not ended.",
            takes: vec![task(), argument("grace_s", Kind::Seconds, "The time between SIGTERM and SIGKILL.")],
            needs: &["task"],
            gives: CANCELLED,
            starts: false,
            is_read_only: false,
            is_destructive: true,
        },
    ]
});

/// The tool of a name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    /// The arguments that are options of `luzia enqueue`: name, option, and kind.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str, &Kind)> {
        self.takes.iter().filter_map(|one| Some((one.name.as_str(), one.option.as_deref()?, &one.kind)))
    }

    /// As `tools/list` shows it.
    pub fn document(&self) -> Value {
        let properties: Map<String, Value> =
            self.takes.iter().map(|argument| (argument.name.clone(), argument.schema())).collect();
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if let ([only], Some(members)) = (self.needs, schema.as_object_mut()) {
            members.insert("required".to_owned(), json!([only]));
        }
        json!({
            "name": self.name,
            "description": self.about,
            "inputSchema": schema,
            "outputSchema": self.answers(),
            "annotations": {
                "readOnlyHint": self.is_read_only,
                "destructiveHint": self.is_destructive,
                "openWorldHint": false,
            },
        })
    }

    /// The shape of its answers. An error is one of them, so nothing is required.
    fn answers(&self) -> Value {
        let member = |(name, kind, about): &Given| ((*name).to_owned(), json!({ "type": kind, "description": about }));
        let mut properties: Map<String, Value> = self.gives.iter().map(member).collect();
        let error = json!({ "type": "object", "description": "code, message, hint and next." });
        properties.insert("error".to_owned(), error);
        json!({ "type": "object", "properties": properties })
    }

    /// The arguments by the names of today: `argv` was the first name of `command`.
    pub fn named(&self, given: &Map<String, Value>) -> Map<String, Value> {
        let name = |name: &str| if name == "argv" && self.starts { "command".to_owned() } else { name.to_owned() };
        given.iter().map(|(key, value)| (name(key), value.clone())).collect()
    }

    /// Checks the arguments of a call: their names, their types, and that one of those that are needed is there.
    pub fn check(&self, given: &Map<String, Value>) -> Result<(), String> {
        for (name, value) in given {
            let known = self.takes.iter().find(|argument| argument.name == *name);
            let Some(argument) = known else {
                let names: Vec<&str> = self.takes.iter().map(|argument| argument.name.as_str()).collect();
                return Err(format!("{} takes no argument {name:?}; it takes {}", self.name, names.join(", ")));
            };
            if !argument.fits(value) {
                return Err(format!("{name} is {}, not {value}", argument.expected()));
            }
        }
        match self.needs.iter().filter(|name| given.contains_key(**name)).count() {
            0 if !self.needs.is_empty() => Err(format!("{} needs {}", self.name, self.needs.join(" or "))),
            2.. => Err(format!("{} takes either {}", self.name, self.needs.join(" or "))),
            _ => Ok(()),
        }
    }
}

impl Argument {
    fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Texts => {
                json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
            }
            Kind::Words => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
            Kind::Pairs => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            Kind::Seconds => json!({ "type": "number", "minimum": 0 }),
            Kind::Count => json!({ "type": "integer", "minimum": 1 }),
            Kind::TextOrFlag => json!({ "type": ["string", "boolean"] }),
            Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        };
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), json!(self.about));
        }
        schema
    }

    fn expected(&self) -> String {
        match &self.kind {
            Kind::Text => "a string".to_owned(),
            Kind::Texts => "a string or a list of strings".to_owned(),
            Kind::Words => "a list of strings with at least one".to_owned(),
            Kind::Pairs => "an object of strings".to_owned(),
            Kind::Seconds => "a number of seconds from 0".to_owned(),
            Kind::Count => "a whole number from 1".to_owned(),
            Kind::TextOrFlag => "a string or true".to_owned(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
        }
    }

    fn fits(&self, value: &Value) -> bool {
        let is_list = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        match &self.kind {
            Kind::Text => value.is_string(),
            Kind::Texts => value.is_string() || is_list(value),
            Kind::Words => is_list(value) && value.as_array().is_some_and(|items| !items.is_empty()),
            Kind::Pairs => value.as_object().is_some_and(|pairs| pairs.values().all(Value::is_string)),
            Kind::Seconds => value.as_f64().is_some_and(|seconds| (0.0..=3.2e9).contains(&seconds)),
            Kind::Count => value.as_u64().is_some_and(|count| count > 0),
            Kind::TextOrFlag => value.is_string() || *value == json!(true),
            Kind::Choice(words) => value.as_str().is_some_and(|word| words.iter().any(|one| one == word)),
        }
    }
}

/// What luzia tells a client about itself.
pub const INSTRUCTIONS: &str = "\
luzia lets agents and scripts on this host take turns. Commands in one lane (a repository, a build slot, a user) run one at a \
time. Take a lane with acquire before you edit files that others may edit, and give it back with release. Answers say who \
holds a lane and whether the holder lives. Waiting is normal: do not cancel, release or bypass what lives. A task that was queued \
in a sandbox starts there only; when that has ended, `luzia attach --here TASK` in a shell runs it in the sandbox of that shell.";
