//! `luzia mcp`: the tools of luzia for agents, by the Model Context Protocol over standard input and output (decision 135).
//!
//! Each call runs on a thread of its own, so a waiting call blocks no other call. The end of standard input ends the server;
//! tasks go on.

mod calls;
mod lean;
mod relay;
mod tools;
mod wire;
mod words;

pub use calls::{Answered, Host, Work};
pub use relay::{Helper, Relay};
pub use wire::{Message, read};

use crate::app::config_reload::config;
use crate::app::pass::pass;
use calls::{Call, Outcome, Stop, error_document, usage};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tools::{INSTRUCTIONS, TOOLS, tool};
use wire::{INVALID_PARAMS, LEGACY, METHOD_NOT_FOUND, Request, TASKS, error, missing_extension, result, versions};

/// The longest line that is read, in bytes.
pub const LONGEST_LINE: u64 = 1 << 20;
/// The most bytes of a result: about 10,000 tokens.
const MOST_BYTES: usize = 40_000;
/// Time for which a client may cache a list of tools, in milliseconds: `mcp.allow` may change.
const LIST_FRESH_MS: u64 = 60_000;
/// Interval at which a client is to ask for a task, in milliseconds.
const POLL_MS: u64 = 2_000;

/// A server.
pub struct Server<'a> {
    host: &'a Host<'a>,
    /// The calls on their way, by the text of their ids.
    calls: Mutex<BTreeMap<String, Arc<Stop>>>,
}

/// Work that goes on beside the reader.
type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

impl<'a> Server<'a> {
    /// A server of a host.
    pub fn new(host: &'a Host<'a>) -> Self {
        Self { host, calls: Mutex::default() }
    }

    /// Takes a line. Returns work that may take long.
    pub fn take(&'a self, line: &[u8]) -> Option<Job<'a>> {
        match read(line) {
            Message::Nothing => None,
            Message::Refused(answer) => {
                (self.host.write)(&answer);
                None
            }
            Message::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Some(stop) =
                        params.get("requestId").and_then(|id| self.calls().get(&id.to_string()).cloned())
                {
                    stop.cancel();
                }
                None
            }
            Message::Request(request) if request.method == "tools/call" => {
                let stop = Arc::new(Stop::default());
                self.calls().insert(request.id.to_string(), Arc::clone(&stop));
                Some(Box::new(move || {
                    let answer = self.call(&request, &stop);
                    self.calls().remove(&request.id.to_string());
                    // The client of a cancelled call does not wait for its answer.
                    if !stop.is_cancelled() {
                        (self.host.write)(&answer);
                    }
                }))
            }
            Message::Request(request) => {
                (self.host.write)(&self.answer(&request));
                None
            }
        }
    }

    /// Ends the waits of all calls. Each is answered with the present state; their tasks go on.
    pub fn end(&self) {
        self.calls().values().for_each(|stop| stop.end());
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Stop>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request) -> Value {
        let (id, params) = (&request.id, &request.params);
        match (request.method.as_str(), request.is_modern) {
            ("initialize", false) => {
                let asked = params.get("protocolVersion").and_then(Value::as_str);
                let version = LEGACY.into_iter().find(|version| asked == Some(version)).unwrap_or(LEGACY[0]);
                let value = json!({
                    "protocolVersion": version,
                    "capabilities": { "tools": {} },
                    "serverInfo": server_info(),
                    "instructions": INSTRUCTIONS,
                });
                result(request, value)
            }
            ("ping", false) => result(request, json!({})),
            ("server/discover", true) => {
                let value = json!({
                    "supportedVersions": versions(),
                    "capabilities": { "tools": {}, "extensions": { TASKS: {} } },
                    "instructions": INSTRUCTIONS,
                    "ttlMs": LIST_FRESH_MS,
                    "cacheScope": "private",
                    "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
                });
                result(request, value)
            }
            ("tools/list", _) => result(request, self.list(request.is_modern)),
            ("tasks/get" | "tasks/update" | "tasks/cancel", true) if !request.takes_tasks => missing_extension(id),
            ("tasks/get", true) => self.with_task(request, |id| self.task(id, request)),
            ("tasks/cancel", true) => self.with_task(request, |id| {
                (self.host.call)(&["cancel", "--", id].map(str::to_owned));
                result(request, json!({}))
            }),
            ("tasks/update", true) => error(id, INVALID_PARAMS, "no task of luzia asks for input", Value::Null),
            (method, _) => error(id, METHOD_NOT_FOUND, &format!("there is no method {method:?}"), Value::Null),
        }
    }

    fn list(&self, is_modern: bool) -> Value {
        let may_start = self.host.work(|app| Ok(!config(app).mcp_allow.is_empty())).unwrap_or(false);
        let shown = TOOLS.iter().filter(|tool| may_start || !tool.starts());
        let mut value = json!({ "tools": shown.map(tools::Tool::document).collect::<Vec<_>>() });
        if let Some(members) = value.as_object_mut().filter(|_| is_modern) {
            members.insert("ttlMs".to_owned(), json!(LIST_FRESH_MS));
            members.insert("cacheScope".to_owned(), json!("private"));
        }
        value
    }

    fn call(&self, request: &Request, stop: &Stop) -> Value {
        let name = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(tool) = tool(name) else {
            return error(&request.id, INVALID_PARAMS, &format!("there is no tool {name:?}"), Value::Null);
        };
        let arguments = match request.params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => tool.named(arguments),
            Some(_) => return error(&request.id, INVALID_PARAMS, "arguments are an object", Value::Null),
        };
        if let Err(message) = tool.check(&arguments) {
            // An error of the tool and not of the protocol: a model sees it and calls again.
            return result(request, tool_result(usage(tool.name, &message), true));
        }
        match Call::new(self.host, request, stop).carry_out(tool, &arguments) {
            Outcome::Unfinished(ids, value) if request.takes_tasks && ids.len() == 1 => {
                let id = ids.first().map(ToString::to_string).unwrap_or_default();
                let mut task = task_state(&id, "working", &value);
                if let Some(members) = task.as_object_mut() {
                    members.insert("resultType".to_owned(), json!("task"));
                }
                result(request, task)
            }
            Outcome::Unfinished(_, mut value) => {
                if let Some(members) = value.as_object_mut() {
                    members.insert("still_waiting".to_owned(), json!(true));
                }
                result(request, tool_result(value, false))
            }
            Outcome::Document(value, is_error) => result(request, tool_result(value, is_error)),
        }
    }

    /// Answers a request about a task that exists.
    fn with_task(&self, request: &Request, answer: impl Fn(&str) -> Value) -> Value {
        let id = request.params.get("taskId").and_then(Value::as_str).unwrap_or_default();
        match self.host.work(|app| app.existing(app.task_id(id)?)) {
            Ok(_) => answer(id),
            Err(failed) => error(&request.id, INVALID_PARAMS, failed.message(), error_document(&failed)),
        }
    }

    fn task(&self, id: &str, request: &Request) -> Value {
        // A pass first, because there may be no other process that starts waiting tasks.
        let _ = self.host.work(pass);
        let stop = Stop::default();
        let Some(task_id) = crate::model::TaskId::parse(id) else {
            return error(&request.id, INVALID_PARAMS, "no task id", Value::Null);
        };
        let value = Call::new(self.host, request, &stop).report(task_id);
        let status = match value.get("status").and_then(Value::as_str) {
            Some("pending" | "running" | "waiting") | None => "working",
            Some("cancelled") => "cancelled",
            Some(_) => "completed",
        };
        let mut state = task_state(id, status, &value);
        if let Some(members) = state.as_object_mut().filter(|_| status == "completed") {
            let mut end = tool_result(value, false);
            if let Some(parts) = end.as_object_mut() {
                parts.insert("resultType".to_owned(), json!("complete"));
            }
            members.insert("result".to_owned(), end);
        }
        result(request, state)
    }
}

/// The command line of luzia that a line means, where it is a call whose arguments fit.
pub fn meant(line: &[u8]) -> Option<(String, Vec<String>)> {
    let Message::Request(request) = read(line) else { return None };
    let tool = tool(request.params.get("name")?.as_str()?)?;
    let arguments = tool.named(request.params.get("arguments")?.as_object()?);
    tool.check(&arguments).ok()?;
    let words =
        if tool.starts() { words::enqueue(tool, &arguments) } else { words::direct(tool.name, &arguments, "mcp-1")? };
    Some((tool.name.to_owned(), words))
}

fn server_info() -> Value {
    json!({ "name": "luzia", "title": "luzia", "version": env!("CARGO_PKG_VERSION") })
}

/// A task as the extension shows it.
fn task_state(id: &str, status: &str, report: &Value) -> Value {
    let created = report.get("created_at").cloned().unwrap_or_default();
    let updated =
        ["completed_at", "started_at"].into_iter().filter_map(|name| report.get(name)).find(|at| at.is_string());
    let message = report["reasons"][0]["message"].as_str().or(report["result_summary"].as_str());
    json!({
        "taskId": id,
        "status": status,
        "statusMessage": message.unwrap_or(status),
        "createdAt": created,
        "lastUpdatedAt": updated.unwrap_or(&created),
        "ttlMs": null,
        "pollIntervalMs": POLL_MS,
    })
}

/// The result of a tool: a document, and the same as text.
fn tool_result(mut value: Value, is_error: bool) -> Value {
    shorten(&mut value);
    json!({
        "content": [{ "type": "text", "text": value.to_string() }],
        "structuredContent": value,
        "isError": is_error,
    })
}

/// Removes the last items of the longest list until a document is short enough, and reports their number.
fn shorten(value: &mut Value) {
    let mut left_out = 0;
    while value.to_string().len() > MOST_BYTES {
        let lists = value.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_array_mut);
        let Some(longest) = lists.max_by_key(|items| items.len()).filter(|items| items.len() > 1) else { break };
        let keep = longest.len() / 2;
        left_out += longest.len() - keep;
        longest.truncate(keep);
    }
    if let Some(members) = value.as_object_mut().filter(|_| left_out > 0) {
        members.insert("left_out".to_owned(), json!(left_out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_and_results_stay_short() {
        for tool in TOOLS.iter() {
            assert!(tool.document().to_string().len() <= 4096, "{}", tool.name);
            assert!(tool.document()["description"].as_str().is_some_and(|text| text.len() <= 2048));
        }
        let mut long = json!({ "items": vec!["x".repeat(100); 1000], "other": [1] });
        shorten(&mut long);
        assert!(long.to_string().len() <= MOST_BYTES);
        let kept = long["items"].as_array().map_or(0, Vec::len);
        assert_eq!(long["left_out"], json!(1000 - kept));
        assert_eq!(long["other"], json!([1]));
    }
}
