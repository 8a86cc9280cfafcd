//! Distributed traces of tasks: W3C Trace Context and OTLP/JSON.
//!
//! `span_of` gives the place of a task in a trace: the trace of its caller if the caller named one, or else a trace of its own.
//! The place depends on the task alone, so a supervisor and a reader of events compute the same place. `Tracer` makes OTLP/JSON
//! of tasks, in the format of the file receiver of an OpenTelemetry collector: one `TracesData` for each task that ended. Names
//! follow the conventions for CI/CD: a task is a run of a pipeline, and a start of its command is a task run in it.

use super::record::Record;
use crate::model::name::{hex, is_hex};
use crate::model::{Task, TaskId, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The variable that carries a span to a process.
pub const TRACEPARENT: &str = "TRACEPARENT";

/// The span of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// The trace, 32 hexadecimal digits.
    pub trace: String,
    /// The span, 16 hexadecimal digits.
    pub span: String,
    /// The span of the caller.
    pub parent: Option<String>,
    /// The flags of the caller, 2 hexadecimal digits.
    pub flags: String,
}

impl Span {
    /// The value of `TRACEPARENT` for processes inside the span.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-{}", self.trace, self.span, self.flags)
    }
}

/// Trace, span and flags of the caller of a task, if the environment of `enqueue` names valid ones.
pub fn caller_of(task: &Task) -> Option<(String, String, String)> {
    let given = task.env.iter().find(|(key, _)| key == TRACEPARENT.as_bytes());
    given.and_then(|(_, value)| parse(std::str::from_utf8(value).ok()?))
}

/// The span of a task. It is below the span of its caller, if that is known.
pub fn span_of(task: &Task) -> Span {
    let seed = format!("{} {} {} {}", task.id, task.created_at.0, task.created_by_pid, task.conductor_dir);
    let own = hex(&Sha256::digest(seed.as_bytes()));
    let span = own[32..48].to_owned();
    match caller_of(task) {
        Some((trace, parent, flags)) => Span { trace, span, parent: Some(parent), flags },
        None => Span { trace: own[..32].to_owned(), span, parent: None, flags: "01".to_owned() },
    }
}

/// A further span of a trace, computed from a description.
pub fn inner_span(trace: &str, what: &str) -> String {
    hex(&Sha256::digest(format!("{trace} {what}").as_bytes()))[..16].to_owned()
}

/// Parses a `TRACEPARENT`: trace, span and flags. `None` for a value that the specification calls invalid.
pub fn parse(text: &str) -> Option<(String, String, String)> {
    let parts: Vec<&str> = text.trim().split('-').collect();
    let [version, trace, span, flags, rest @ ..] = &parts[..] else { return None };
    let is_whole = is_hex(version, 2) && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2);
    let is_known = *version != "ff" && (*version != "00" || rest.is_empty());
    let is_set = !trace.bytes().all(|byte| byte == b'0') && !span.bytes().all(|byte| byte == b'0');
    (is_whole && is_known && is_set).then(|| ((*trace).to_owned(), (*span).to_owned(), (*flags).to_owned()))
}

/// Span kinds and status codes of OTLP.
const INTERNAL: u32 = 1;
const SERVER: u32 = 2;
const ERROR: u32 = 2;

/// Gathers the events of tasks until they are over.
#[derive(Default)]
pub struct Tracer {
    open: BTreeMap<TaskId, Open>,
    host: String,
}

/// Data of a task that is not over.
#[derive(Default)]
struct Open {
    since: Option<Timestamp>,
    waits: Vec<(Timestamp, Timestamp)>,
    runs: Vec<Run>,
    lanes: Vec<String>,
}

struct Run {
    from: Timestamp,
    to: Option<Timestamp>,
    status: String,
    exit_code: Option<i64>,
}

impl Tracer {
    /// A tracer of the tasks of a host.
    pub fn new(host: &str) -> Self {
        Self { open: BTreeMap::new(), host: host.to_owned() }
    }

    /// Adds an event; events come in their order. Returns a `TracesData` if the event is the end of a task.
    pub fn take(&mut self, record: &Record) -> Option<Value> {
        let id = record.task?;
        let open = self.open.entry(id).or_default();
        match record.kind.as_str() {
            "enqueued" | "retried" | "requeued" => open.since = Some(record.at),
            "locked" => {
                open.lanes = record.listed_lanes();
                open.waits.extend(open.since.take().map(|since| (since, record.at)));
            }
            "dispatched" => {
                open.runs.push(Run { from: record.at, to: None, status: "interrupted".to_owned(), exit_code: None });
            }
            "ended" | "recovered" => {
                if let Some(run) = open.runs.last_mut().filter(|run| run.to.is_none()) {
                    run.to = Some(record.at);
                    run.exit_code = record.data.get("exit_code").and_then(Value::as_i64);
                    if record.kind == "ended" {
                        record.text("status").unwrap_or("failed").clone_into(&mut run.status);
                    }
                }
            }
            "withdrawn" => drop(self.open.remove(&id)),
            "finished" => {
                let open = self.open.remove(&id)?;
                return Some(self.traces(id, &open, record));
            }
            _ => {}
        }
        None
    }

    fn traces(&self, id: TaskId, open: &Open, end: &Record) -> Value {
        let given = end.text("traceparent").and_then(parse);
        let unknown = || (format!("{:032x}", u128::from(id.0)), format!("{:016x}", id.0), "01".to_owned());
        let (trace, span, _) = given.unwrap_or_else(unknown);
        let begin = end.text("created_at").and_then(Timestamp::parse).or_else(|| Some(open.waits.first()?.0));
        let status = end.text("status").unwrap_or("failed");
        let mut attributes = vec![
            text("cicd.pipeline.name", end.text("goal").unwrap_or("luzia")),
            text("cicd.pipeline.run.id", &id.to_string()),
            text("cicd.pipeline.result", result(status)),
            text("luzia.user", end.user.as_deref().unwrap_or_default()),
            list("luzia.lanes", &open.lanes),
        ];
        if let Some(parent) = end.text("parent") {
            attributes.push(text("luzia.parent", parent));
        }
        let ids = (trace.as_str(), span.as_str(), end.text("parent_span"));
        let mut first =
            span_json(ids, format!("RUN {id}"), SERVER, (begin.unwrap_or(end.at), end.at), attributes, status);
        if let Some(state) = end.text("tracestate") {
            first["traceState"] = state.into();
        }
        let mut spans = vec![first];
        for (at, (from, to)) in open.waits.iter().enumerate() {
            let attributes = vec![text("cicd.pipeline.run.state", "pending")];
            let own = inner_span(&trace, &format!("{id} wait {at}"));
            let ids = (trace.as_str(), own.as_str(), Some(span.as_str()));
            spans.push(span_json(ids, "wait".into(), INTERNAL, (*from, *to), attributes, "waited"));
        }
        for (at, run) in open.runs.iter().enumerate() {
            let mut attributes = vec![
                text("cicd.pipeline.task.name", "command"),
                text("cicd.pipeline.task.run.id", &format!("{id}.{}", at + 1)),
                text("cicd.pipeline.task.run.result", result(&run.status)),
            ];
            if let Some(code) = run.exit_code {
                attributes.push(json!({ "key": "process.exit.code", "value": { "intValue": code.to_string() } }));
            }
            let own = inner_span(&trace, &format!("{id} run {at}"));
            let ids = (trace.as_str(), own.as_str(), Some(span.as_str()));
            let times = (run.from, run.to.unwrap_or(end.at));
            spans.push(span_json(ids, format!("run {}", at + 1), INTERNAL, times, attributes, &run.status));
        }
        json!({ "resourceSpans": [{
            "resource": { "attributes": [text("service.name", "luzia"), text("host.name", &self.host)] },
            "scopeSpans": [{
                "scope": { "name": "luzia", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans,
            }],
        }] })
    }
}

/// One span: its trace, its own id and its parent's id; its beginning and its end.
fn span_json(
    (trace, span, parent): (&str, &str, Option<&str>),
    name: String,
    kind: u32,
    (from, to): (Timestamp, Timestamp),
    mut attributes: Vec<Value>,
    status: &str,
) -> Value {
    let is_bad = matches!(status, "failed" | "timeout" | "interrupted");
    if is_bad {
        attributes.push(text("error.type", status));
    }
    let mut whole = json!({
        "traceId": trace,
        "spanId": span,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": nanoseconds(from),
        // A span never ends before it begins, even if the clock was set back.
        "endTimeUnixNano": nanoseconds(to.max(from)),
        "attributes": attributes,
        "status": if is_bad { json!({ "code": ERROR, "message": status }) } else { json!({}) },
    });
    if let Some(parent) = parent {
        whole["parentSpanId"] = parent.into();
    }
    whole
}

/// The word of the conventions for the end of a run.
fn result(status: &str) -> &'static str {
    match status {
        "completed" => "success",
        "timeout" => "timeout",
        "cancelled" => "cancellation",
        "interrupted" => "error",
        _ => "failure",
    }
}

fn nanoseconds(at: Timestamp) -> String {
    format!("{}", i128::from(at.0.max(0)) * 1_000_000)
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn list(key: &str, values: &[String]) -> Value {
    let values: Vec<Value> = values.iter().map(|value| json!({ "stringValue": value })).collect();
    json!({ "key": key, "value": { "arrayValue": { "values": values } } })
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    #[test]
    fn a_traceparent_is_read_as_the_specification_says() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let (trace, span, flags) = parse(good).expect("a valid one");
        assert_eq!((trace.len(), span.as_str(), flags.as_str()), (32, "b7ad6b7169203331", "01"));
        assert!(parse(&format!("cc{}-later", &good[2..])).is_some(), "a later version may have more");
        for wrong in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_ne!(inner_span(&trace, "wait"), inner_span(&trace, "run 1"));
    }

    #[test]
    fn a_task_that_was_interrupted_once_has_a_span_for_each_wait_and_each_run() {
        let mut tracer = Tracer::new("h");
        let of = |at: i64, kind: &str, data: Value| {
            record(at, json!({ "event": kind, "task": "task_7", "user": "a", "data": data }))
        };
        let trace = format!("00-{}-{}-01", "1".repeat(32), "2".repeat(16));
        let lines = [
            of(0, "enqueued", Value::Null),
            of(10, "locked", json!({ "lanes": ["user:a", "global"] })),
            of(11, "dispatched", Value::Null),
            of(30, "recovered", Value::Null),
            of(31, "requeued", Value::Null),
            of(40, "locked", Value::Null),
            of(41, "dispatched", Value::Null),
            of(50, "ended", json!({ "status": "completed", "exit_code": 0 })),
        ];
        assert!(lines.iter().all(|line| tracer.take(line).is_none()));
        let end = json!({ "status": "completed", "traceparent": trace, "parent_span": "3".repeat(16),
            "created_at": Timestamp(0).to_string() });
        let whole = tracer.take(&of(52, "finished", end)).expect("its trace");
        let spans = whole["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone();
        let shown: Vec<String> = spans
            .iter()
            .map(|span| {
                let part = |name: &str| span[name].as_str().unwrap_or("-").to_owned();
                format!("{} {} {}", part("name"), part("startTimeUnixNano"), part("endTimeUnixNano"))
            })
            .collect();
        let wanted = [
            "RUN task_7 0 52000000",
            "wait 0 10000000",
            "wait 31000000 40000000",
            "run 1 11000000 30000000",
            "run 2 41000000 50000000",
        ];
        assert_eq!(shown, wanted);
        assert_eq!((&spans[0]["parentSpanId"], &spans[0]["spanId"]), (&json!("3".repeat(16)), &json!("2".repeat(16))));
        assert!(spans[1..].iter().all(|span| span["parentSpanId"] == spans[0]["spanId"]));
        assert_eq!((&spans[3]["status"]["code"], &spans[4]["status"]), (&json!(2), &json!({})));
        let mut ids: Vec<&str> = spans.iter().filter_map(|span| span["spanId"].as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 5);
    }
}
