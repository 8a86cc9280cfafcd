//! The tools of `luzia mcp`: their names, their purposes, their arguments, and the command line of each call. Pure. The
//! commands of luzia themselves carry out a call, so each tool has their checks, documents and errors.

use crate::model::sorted::sort_by_key;
use crate::request::members::{Member, Shape, of_task};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The longest wait of a call, in seconds: clients end calls after a minute.
pub const LONGEST_WAIT_S: u64 = 50;
/// The default wait of `run`, in seconds.
pub const RUN_WAIT_S: u64 = 20;

/// A tool.
pub struct Tool {
    /// The name of the tool.
    pub name: &'static str,
    about: &'static str,
    takes: Vec<Member>,
    /// The arguments of which exactly one must be given.
    needs: &'static [&'static str],
    /// Members of the tool's answer, beside `error` and `notes`.
    gives: &'static [Given],
    effect: Effect,
}

/// The effect of a tool on the host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The tool only looks or waits.
    Reads,
    /// The tool changes locks.
    Changes,
    /// The tool ends tasks.
    Ends,
    /// The tool starts commands.
    Starts,
}

fn argument(name: &str, shape: Shape, about: &str) -> Member {
    Member { name: name.to_owned(), option: None, about: about.to_owned(), shape }
}

/// The arguments of `run` and `enqueue` that are members of a task request.
const OF_ANY: [&str; 10] =
    ["command", "shell", "cwd", "user", "lanes", "key", "on_conflict", "timeout", "env", "label"];
/// Further arguments of `enqueue`.
const OF_LATER: [&str; 2] = ["after", "at"];

/// The arguments that are members of a task request, in the order of the names. A list has the name of one of its items. A
/// time has the name of its unit.
fn members(names: &[&str]) -> Vec<Member> {
    let mut members = of_task();
    members.retain(|member| names.contains(&member.name.as_str()));
    sort_by_key(&mut members, |member| names.iter().position(|name| *name == member.name));
    for member in &mut members {
        match (&member.shape, &member.option) {
            (Shape::Texts, Some(option)) => member.name.clone_from(option),
            (Shape::Duration, _) => {
                member.name += "_s";
                member.about += ", in seconds";
            }
            _ => {}
        }
        member.about = member.about.trim_end_matches("; may be repeated").to_owned();
    }
    members
}

fn wait_s() -> Member {
    argument("wait_s", Shape::Duration, "Wait this long for the answer, at most 50 seconds.")
}

fn task() -> Member {
    argument("task", Shape::Text, "A task, e.g. task_12.")
}

fn lane() -> Member {
    argument("lane", Shape::Text, "A lane, e.g. build, thread:7, user:alice, @tree.")
}

fn lanes() -> Member {
    argument("lane", Shape::Texts, "A lane, e.g. build, thread:7, user:alice, @tree, or a list of lanes.")
}

/// A member of an answer, its type in JSON, and its meaning.
type Given = (&'static str, &'static str, &'static str);

const REPORT: &[Given] = &[
    ("task", "string", "The task."),
    ("status", "string", "pending, running, waiting, completed, failed, timeout or cancelled."),
    ("exit_code", "integer", "The exit code of a command that is over."),
    ("result_summary", "string", "The reason, if the task did not complete."),
    ("position", "integer", "Its place among the tasks of its user that wait."),
    ("reasons", "array", "Why it waits."),
    ("log", "object", "The end of its output: tail, and is_cut."),
    ("still_waiting", "boolean", "Whether the wait ended before the task."),
    ("next", "array", "The next call to make."),
];
const WAITED: &[Given] = &[
    ("task", "string", "The task, if there is one."),
    ("status", "string", "Its state."),
    ("exit_code", "integer", "Its exit code."),
    ("log", "object", "The end of its output."),
    ("tasks", "array", "The same members for each of several tasks."),
    ("lane", "string", "The lane, if the call was for a lane."),
    ("free", "boolean", "Whether the next acquire would get it."),
    ("still_waiting", "boolean", "Whether the time ran out first. Then call again."),
];
const EXPLAINED: &[Given] = &[
    ("task", "string", "The task that was asked for."),
    ("status", "string", "Its state."),
    ("reasons", "array", "Why it waits, each with a message."),
    ("lane", "string", "The lane that was asked for."),
    ("holders", "array", "Its holders."),
    ("waiters", "array", "Those who wait for it."),
    ("paused", "object", "Its pause: the author, the begin and the reason."),
    ("gate", "object", "The condition of the host under which it grants nothing."),
];
const LISTED: &[Given] = &[("items", "array", "The tasks: task, status, user, lanes, command, reason.")];
const STATUS: &[Given] = &[
    ("pending", "object", "Numbers of waiting tasks, by tier."),
    ("active", "object", "Slots in use, by project and user."),
    ("user_locks", "object", "The lanes of users that are held."),
];
const LEASE: &[Given] = &[
    ("acquired", "boolean", "Whether the lanes are held now."),
    ("lane", "string", "The lane, if there is one."),
    ("lock_id", "string", "The id to give to release."),
    ("fence", "integer", "The token of the grant."),
    ("grants", "array", "The same members for each of several lanes."),
];
const GIVEN: &[Given] = &[("released", "boolean", "Whether anything was given back.")];
const CANCELLED: &[Given] = &[("items", "array", "The task and its new state.")];

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
            effect: Effect::Starts,
        },
        Tool {
            name: "enqueue",
            about: "Queue a command durably and return at once with its task. It starts when it is its turn.",
            takes: members(&[&OF_ANY[..], &OF_LATER].concat()),
            needs: &["command", "shell"],
            gives: REPORT,
            effect: Effect::Starts,
        },
        Tool {
            name: "wait",
            about: "Wait for the end of tasks, or until a lane is free. \"Still waiting\" is a normal answer: tasks keep their \
                places, so call it again.",
            takes: vec![
                argument("tasks", Shape::Texts, "Tasks, e.g. task_12."),
                argument("lane", Shape::Text, "A lane, instead of tasks."),
                argument("for", Shape::Choice(vec!["free".to_owned()]), "With a lane: wait until it is free."),
                wait_s(),
            ],
            needs: &["tasks", "lane"],
            gives: WAITED,
            effect: Effect::Reads,
        },
        Tool {
            name: "explain",
            about: "Why a task, a user or a lane waits: who holds it, since when, whether the holder lives, and how that is known.",
            takes: vec![task(), argument("user", Shape::Text, "A user."), lane()],
            needs: &["task", "user", "lane"],
            gives: EXPLAINED,
            effect: Effect::Reads,
        },
        Tool {
            name: "list",
            about: "List tasks: the unfinished ones, or those in certain states.",
            takes: vec![
                argument("states", Shape::Texts, "pending, running, waiting, completed, failed, timeout or cancelled."),
                argument("user", Shape::Text, "Only tasks of this user."),
                argument("lane", Shape::Text, "Only tasks of this lane."),
                argument("limit", Shape::Count, "Number of tasks at most; 20 by default."),
            ],
            needs: &[],
            gives: LISTED,
            effect: Effect::Reads,
        },
        Tool {
            name: "status",
            about: "The queue, the running tasks, and the locks that are held.",
            takes: vec![],
            needs: &[],
            gives: STATUS,
            effect: Effect::Reads,
        },
        Tool {
            name: "logs",
            about: "The end of the output of a task, whether it runs or is over.",
            takes: vec![task(), argument("lines", Shape::Count, "Number of lines at most; 60 by default.")],
            needs: &["task"],
            gives: REPORT,
            effect: Effect::Reads,
        },
        Tool {
            name: "acquire",
            about: "Hold a lane, or several, e.g. while you edit files: all are taken, or none. Without ttl_s the lease lasts until release, or until your session ends.",
            takes: vec![
                lanes(),
                argument("session", Shape::Directory, "The key of your session; true, the default, for your process."),
                argument(
                    "ttl_s",
                    Shape::Duration,
                    "End the lease after this many seconds, instead of with your session.",
                ),
                argument("note", Shape::Text, "A note that others see with the lock."),
                argument(
                    "wait_s",
                    Shape::Duration,
                    "Wait this long for the lane, at most 50 seconds; by default not at all.",
                ),
            ],
            needs: &["lane"],
            gives: LEASE,
            effect: Effect::Changes,
        },
        Tool {
            name: "release",
            about: "Give back lanes that you hold by acquire.",
            takes: vec![
                lanes(),
                argument("lock_id", Shape::Text, "The lock_id that acquire gave."),
                argument("session", Shape::Directory, "The key of your session, without a lock_id."),
            ],
            needs: &["lane"],
            gives: GIVEN,
            effect: Effect::Changes,
        },
        Tool {
            name: "cancel",
            about: "End a task, or keep it from starting. The running task of somebody else is not ended.",
            takes: vec![task(), argument("grace_s", Shape::Duration, "The time between SIGTERM and SIGKILL.")],
            needs: &["task"],
            gives: CANCELLED,
            effect: Effect::Ends,
        },
    ]
});

/// The tool of a name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    /// Whether the tool starts commands, which `mcp.allow` must admit.
    pub fn starts(&self) -> bool {
        self.effect == Effect::Starts
    }

    /// The arguments that are options of `luzia enqueue`.
    pub fn options(&self) -> impl Iterator<Item = (&Member, &str)> {
        self.takes.iter().filter_map(|member| Some((member, member.option.as_deref()?)))
    }

    /// The tool as `tools/list` shows it.
    pub fn document(&self) -> Value {
        let properties: Map<String, Value> =
            self.takes.iter().map(|argument| (argument.name.clone(), schema(argument))).collect();
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
                "readOnlyHint": self.effect == Effect::Reads,
                "destructiveHint": matches!(self.effect, Effect::Ends | Effect::Starts),
                "openWorldHint": false,
            },
        })
    }

    /// The shape of the tool's answers. An error is one of them, so nothing is required.
    fn answers(&self) -> Value {
        let member = |(name, kind, about): &Given| ((*name).to_owned(), json!({ "type": kind, "description": about }));
        let mut properties: Map<String, Value> = self.gives.iter().map(member).collect();
        let error = json!({ "type": "object", "description": "code, message, hint and next." });
        properties.insert("error".to_owned(), error);
        json!({ "type": "object", "properties": properties })
    }

    /// The arguments by their present names: `argv` was the first name of `command`.
    pub fn named(&self, given: &Map<String, Value>) -> Map<String, Value> {
        let name = |name: &str| if name == "argv" && self.starts() { "command".to_owned() } else { name.to_owned() };
        given.iter().map(|(key, value)| (name(key), value.clone())).collect()
    }

    /// Checks the arguments of a call: their names, their types, and that exactly one of the required arguments is given.
    pub fn check(&self, given: &Map<String, Value>) -> Result<(), String> {
        for (name, value) in given {
            let known = self.takes.iter().find(|argument| argument.name == *name);
            let Some(argument) = known else {
                let names: Vec<&str> = self.takes.iter().map(|argument| argument.name.as_str()).collect();
                return Err(format!("{} takes no argument {name:?}; it takes {}", self.name, names.join(", ")));
            };
            if !fits(&argument.shape, value) {
                return Err(format!("{name} is {}, not {value}", expected(&argument.shape)));
            }
        }
        match self.needs.iter().filter(|name| given.contains_key(**name)).count() {
            0 if !self.needs.is_empty() => Err(format!("{} needs {}", self.name, self.needs.join(" or "))),
            2.. => Err(format!("{} takes either {}", self.name, self.needs.join(" or "))),
            _ => Ok(()),
        }
    }
}

/// The JSON Schema of an argument.
fn schema(argument: &Member) -> Value {
    let mut schema = match &argument.shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Texts => {
            json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
        }
        Shape::Command => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        Shape::Variables => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Shape::Duration => json!({ "type": "number", "minimum": 0 }),
        Shape::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Shape::Count => json!({ "type": "integer", "minimum": 1 }),
        Shape::Directory => json!({ "type": ["string", "boolean"] }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Steps => json!({ "type": "array" }),
        Shape::Choice(words) => json!({ "type": "string", "enum": words }),
    };
    if let Some(members) = schema.as_object_mut() {
        members.insert("description".to_owned(), json!(argument.about));
    }
    schema
}

fn expected(shape: &Shape) -> String {
    let text = match shape {
        Shape::Text => "a string",
        Shape::Texts => "a string or a list of strings",
        Shape::Command => "a list of strings with at least one",
        Shape::Variables => "an object of strings",
        Shape::Duration => "a number of seconds from 0",
        Shape::Share => "a number from 0 to 1",
        Shape::Count => "a whole number from 1",
        Shape::Directory => "a string or true",
        Shape::Flag => "true or false",
        Shape::Steps => "a list",
        Shape::Choice(words) => return format!("one of {}", words.join(", ")),
    };
    text.to_owned()
}

fn fits(shape: &Shape, value: &Value) -> bool {
    let is_list = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    match shape {
        Shape::Text => value.is_string(),
        Shape::Texts => value.is_string() || is_list(value),
        Shape::Command => is_list(value) && value.as_array().is_some_and(|items| !items.is_empty()),
        Shape::Variables => value.as_object().is_some_and(|pairs| pairs.values().all(Value::is_string)),
        Shape::Duration => value.as_f64().is_some_and(|seconds| (0.0..=3.2e9).contains(&seconds)),
        Shape::Share => value.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)),
        Shape::Count => value.as_u64().is_some_and(|count| count > 0),
        Shape::Directory => value.is_string() || *value == json!(true),
        Shape::Flag => value.is_boolean(),
        Shape::Steps => value.is_array(),
        Shape::Choice(words) => value.as_str().is_some_and(|word| words.iter().any(|one| one == word)),
    }
}

/// Instructions of luzia to a client.
pub const INSTRUCTIONS: &str = "\
luzia lets agents and scripts on this host take turns. Commands in one lane (a repository, a build slot, a user) run one at \
a time. Take a lane with acquire before you edit files that others may edit, and give it back with release. Answers say who \
holds a lane and whether the holder lives. Waiting is normal: do not cancel, release or bypass what lives. A task that was \
queued in a sandbox starts only there; when the sandbox has ended, `luzia attach --here TASK` in a shell runs it in the \
sandbox of that shell.";
