//! `luzia mcp`: a transcript of each method in both eras, and what a call may and may not do.

use super::support::*;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const MODERN: &str = "2026-07-28";

/// A client of a server.
pub(super) struct Client {
    child: Child,
    pub(super) input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
    /// Notifications that came.
    pub(super) heard: Vec<Value>,
}

impl Client {
    pub(super) fn new(place: &Place) -> Self {
        let mut command = place.command(&["mcp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, last_id: 0, heard: Vec::new() }
    }

    pub(super) fn send_text(&mut self, text: &str) {
        writeln!(self.input.as_mut().unwrap(), "{text}").unwrap();
    }

    /// Sends a request; its id.
    pub(super) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send_text(
            &json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }).to_string(),
        );
        self.last_id
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// The answer to a request.
    pub(super) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            assert!(message["method"].is_string(), "an answer that nobody awaits: {message}");
            self.heard.push(message);
        }
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The document of a call of a tool, and whether it tells of an error.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> (Value, bool) {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        assert_eq!(result["content"][0]["text"], result["structuredContent"].to_string(), "{answer}");
        (result["structuredContent"].clone(), result["isError"].as_bool().unwrap())
    }

    pub(super) fn document(&mut self, tool: &str, arguments: Value) -> Value {
        let (document, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{document}");
        document
    }

    /// Closes standard input; the exit code.
    pub(super) fn end(mut self) -> i32 {
        drop(self.input.take());
        until("the server ends", || self.child.try_wait().unwrap()).code().unwrap()
    }
}

/// `_meta` of a request of the modern era.
fn meta(version: &str, takes_tasks: bool) -> Value {
    let extensions = if takes_tasks { json!({ "io.modelcontextprotocol/tasks": {} }) } else { json!({}) };
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": { "extensions": extensions },
    })
}

fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

pub(super) fn admitting(patterns: &[&str]) -> Place {
    Place::configured(&json!({ "mcp": { "allow": patterns } }))
}

#[test]
fn the_revisions_with_a_handshake_are_spoken() {
    let place = Place::new();
    for (asked, given) in [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2025-11-25")] {
        let mut client = Client::new(&place);
        let client_info = json!({ "name": "test", "version": "1" });
        let hello = client
            .ask("initialize", json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": client_info }));
        let result = &hello["result"];
        assert_eq!(result["protocolVersion"], given);
        assert_eq!(result["serverInfo"]["name"], "luzia");
        assert!(result["capabilities"]["tools"].is_object() && result["instructions"].is_string(), "{hello}");
        client.send_text(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
        let list = client.ask("tools/list", json!({}));
        assert_eq!(names(&list), ["wait", "explain", "list", "status", "logs", "acquire", "release", "cancel"]);
        assert_eq!(list["result"]["resultType"], Value::Null, "only the modern era says it");
        for tool in list["result"]["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
            assert!(tool["outputSchema"]["properties"]["error"].is_object(), "{tool}");
        }
        assert_eq!(client.end(), 0);
    }
    assert!(!place.state().exists(), "looking changes nothing");
}

#[test]
fn the_revision_without_a_handshake_is_spoken() {
    let place = Place::new();
    let mut client = Client::new(&place);
    let found = client.ask("server/discover", json!({ "_meta": meta(MODERN, false) }));
    let result = &found["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "private", "{found}");
    let list = client.ask("tools/list", json!({ "_meta": meta(MODERN, false) }));
    assert_eq!(list["result"]["resultType"], "complete");
    assert!(list["result"]["ttlMs"].is_u64());
    let called = client.ask("tools/call", json!({ "name": "status", "arguments": {}, "_meta": meta(MODERN, false) }));
    assert_eq!(called["result"]["resultType"], "complete");
    let refused = client.ask("tools/list", json!({ "_meta": meta("2031-01-01", false) }));
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "2031-01-01");
    assert_eq!(refused["error"]["data"]["supported"][0], MODERN);
    assert_eq!(client.ask("ping", json!({ "_meta": meta(MODERN, false) }))["error"]["code"], -32601);
    let unnamed = client.ask("tasks/get", json!({ "taskId": "task_1", "_meta": meta(MODERN, false) }));
    assert_eq!(unnamed["error"]["code"], -32021);
    assert_eq!(client.end(), 0);
}

#[test]
fn a_line_that_is_no_request_gets_an_error_and_the_server_goes_on() {
    let place = Place::new();
    let mut client = Client::new(&place);
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nosuch"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nosuch"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status","arguments":7}}"#, -32602),
    ] {
        client.send_text(line);
        assert_eq!(client.next()["error"]["code"], code, "{line}");
    }
    client.send_text(&format!(r#"{{"id":1,"method":"{}"}}"#, "x".repeat(1 << 20)));
    assert_eq!(client.next()["error"]["code"], -32600);
    client.send_text("");
    client.send_text(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    for (tool, arguments) in [
        ("explain", json!({})),
        ("explain", json!({ "task": "task_1", "lane": "build" })),
        ("explain", json!({ "target": "task_1" })),
        ("wait", json!({ "tasks": [] })),
        ("wait", json!({ "tasks": "task_1", "wait_s": -1 })),
        ("cancel", json!({ "task": 7 })),
        ("cancel", json!({ "task": "task_99" })),
        ("explain", json!({ "task": "task_99" })),
        ("release", json!({ "lane": "--all" })),
    ] {
        let (document, is_error) = client.call(tool, arguments.clone());
        let is_told = document["error"]["message"].is_string() && document["error"]["hint"].is_string();
        let is_told = is_told && document["error"]["next"].is_array();
        assert!(
            is_error && is_told || tool == "release" && document["released"] == false,
            "{tool} {arguments}: {document}"
        );
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn commands_run_only_where_the_configuration_admits_them() {
    let place = Place::new();
    let mut client = Client::new(&place);
    for tool in ["run", "enqueue"] {
        let (refusal, is_error) = client.call(tool, json!({ "argv": ["make", "all"] }));
        assert!(is_error);
        assert_eq!(refusal["error"]["code"], "NOT_ALLOWED");
        assert!(refusal["error"]["hint"].as_str().unwrap().contains(r#"{"mcp":{"allow":["make *"]}}"#), "{refusal}");
    }
    assert_eq!(client.end(), 0);
    assert!(!place.state().exists(), "nothing was queued");

    let place = Place::configured(&json!({ "mcp": { "allow": ["sh -c *"], "env": ["COLOR_*"] } }));
    let mut client = Client::new(&place);
    assert!(names(&client.ask("tools/list", json!({}))).contains(&"run"));
    let done = client.document("run", json!({ "shell": "echo $COLOR_MODE; exit 3", "env": { "COLOR_MODE": "red" } }));
    assert_eq!(done["status"], "failed");
    assert_eq!(done["exit_code"], 3);
    assert_eq!(done["log"]["tail"], "red\n");
    let log = client.document("logs", json!({ "task": "task_1", "lines": 1 }));
    assert_eq!(log, json!({ "task": "task_1", "status": "failed", "log": { "tail": "red\n" } }));
    for arguments in [json!({ "argv": ["make"] }), json!({ "shell": "true", "env": { "PATH": "/tmp" } })] {
        assert_eq!(client.call("run", arguments).0["error"]["code"], "NOT_ALLOWED");
    }
    let (refused, is_error) = client.call("run", json!({ "shell": "true", "cwd": "/nosuch" }));
    assert!(is_error && refused["error"]["code"] == "NO_DIRECTORY", "{refused}");
    // A value is never put into a script, by MCP either.
    for arguments in [json!({ "shell": "echo {{x}}" }), json!({ "argv": ["sh", "-c", "echo {{x}}"] })] {
        for tool in ["run", "enqueue"] {
            let (refused, is_error) = client.call(tool, arguments.clone());
            assert!(is_error && refused["error"]["code"] == "USAGE", "{refused}");
            assert!(refused["error"]["message"].as_str().unwrap().contains("{{x}}"), "{refused}");
            assert!(refused["error"]["hint"].as_str().unwrap().contains("\"$LUZIA_VAR_x\""), "{refused}");
        }
    }
    assert_eq!(place.luzia(&["show", "task_2"]).code, 66, "nothing else was queued");
    assert_eq!(client.end(), 0);
}

#[test]
fn a_call_that_waits_keeps_the_place_of_its_task_and_keeps_no_other_call() {
    let place = admitting(&["*", "sh -c *"]);
    let gate = place.gate("gate");
    let mut client = Client::new(&place);
    let first = client.document("enqueue", json!({ "shell": format!("cat {gate}"), "lane": "build" }));
    assert_eq!(first["task"], "task_1");
    place.until_status("task_1", "running");
    let waiting = client.document("run", json!({ "shell": "echo second", "lane": "build", "wait_s": 0.1 }));
    assert_eq!(waiting["still_waiting"], true);
    assert_eq!(waiting["position"], 1);
    assert_eq!(waiting["reasons"][0]["reason"], "LaneFull");
    assert_eq!(waiting["next"][0], json!({ "tool": "wait", "arguments": { "tasks": ["task_2"] } }));
    let id = client.send("tools/call", json!({ "name": "wait", "arguments": { "tasks": ["task_2"], "wait_s": 50 } }));
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.document("explain", json!({ "lane": "build" }))["holders"][0]["holder"], "task_1");
    let free = client.document("wait", json!({ "lane": "build", "for": "free", "wait_s": 0.1 }));
    assert_eq!((&free["free"], &free["still_waiting"]), (&json!(false), &json!(true)));
    place.open_gate("gate");
    let end = client.answer(id);
    let document = &end["result"]["structuredContent"];
    assert_eq!(document["status"], "completed", "the server starts what waits: {document}");
    assert_eq!(document["log"]["tail"], "second\n");
    assert_eq!(client.document("wait", json!({ "lane": "build", "wait_s": 50 }))["free"], true);
    assert_eq!(client.end(), 0);
}

#[test]
fn a_cancelled_call_and_the_end_of_the_server_end_no_task() {
    let place = admitting(&["sh -c *"]);
    let gate = place.gate("gate");
    let mut client = Client::new(&place);
    let arguments = json!({ "shell": format!("echo x >up; cat {gate}"), "wait_s": 50 });
    let id = client.send("tools/call", json!({ "name": "run", "arguments": arguments }));
    place.until_file("work/up");
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    client.send_text(&cancelled.to_string());
    // A call that was cancelled gets no answer: the next answer is that to the next request.
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    let id = client.send("tools/call", json!({ "name": "wait", "arguments": { "tasks": "task_1", "wait_s": 50 } }));
    drop(client.input.take());
    let told = client.answer(id)["result"]["structuredContent"].clone();
    assert_eq!((&told["status"], &told["still_waiting"]), (&"running".into(), &true.into()), "{told}");
    assert_eq!(client.end(), 0, "the end of standard input ends the waits");
    assert_eq!(place.status("task_1"), "running");
    place.open_gate("gate");
    place.until_status("task_1", "completed");
}

#[test]
fn progress_is_told_with_the_first_reason_where_a_token_is_given() {
    let place = admitting(&["sh -c *"]);
    let gate = place.gate("gate");
    let mut client = Client::new(&place);
    client.document("enqueue", json!({ "shell": format!("cat {gate}"), "lane": "build" }));
    let arguments = json!({ "shell": "true", "lane": "build", "wait_s": 6 });
    let silent = client.ask("tools/call", json!({ "name": "run", "arguments": arguments.clone() }));
    assert_eq!(silent["result"]["structuredContent"]["still_waiting"], true);
    assert!(client.heard.is_empty());
    client.ask("tools/call", json!({ "name": "run", "arguments": arguments, "_meta": { "progressToken": "p7" } }));
    let [queued, told] = client.heard.as_slice() else { panic!("{:?}", client.heard) };
    assert_eq!((&queued["params"]["message"], &queued["params"]["progress"]), (&"queued as task_3".into(), &1.into()));
    assert_eq!((&told["params"]["progressToken"], &told["params"]["progress"]), (&"p7".into(), &2.into()));
    assert!(told["params"]["message"].as_str().unwrap().starts_with("task_3 waits: "), "{told}");
    place.open_gate("gate");
    assert_eq!(client.end(), 0);
}

#[test]
fn a_caller_of_the_modern_era_may_take_a_task_for_an_answer() {
    let place = admitting(&["sh -c *"]);
    let gate = place.gate("gate");
    let mut client = Client::new(&place);
    let run = |shell: &str| json!({ "name": "run", "arguments": { "shell": shell, "wait_s": 0 }, "_meta": meta(MODERN, true) });
    let made = client.ask("tools/call", run(&format!("cat {gate}; echo done")))["result"].clone();
    assert_eq!(
        (&made["resultType"], &made["taskId"], &made["status"]),
        (&json!("task"), &json!("task_1"), &json!("working"))
    );
    assert!(made["ttlMs"].is_null() && made["pollIntervalMs"].is_u64() && made["createdAt"].is_string(), "{made}");
    let about = |id: &str| json!({ "taskId": id, "_meta": meta(MODERN, true) });
    assert_eq!(client.ask("tasks/get", about("task_1"))["result"]["status"], "working");
    // Without the extension the same call is answered with a document.
    let mut legacy = run("true");
    legacy["_meta"] = meta(MODERN, false);
    assert_eq!(client.ask("tools/call", legacy)["result"]["structuredContent"]["still_waiting"], true);
    assert_eq!(client.ask("tasks/update", about("task_1"))["error"]["code"], -32602);
    assert_eq!(client.ask("tasks/get", about("task_77"))["error"]["code"], -32602);
    assert_eq!(client.ask("tasks/cancel", about("task_2"))["result"]["resultType"], "complete");
    assert_eq!(client.ask("tasks/get", about("task_2"))["result"]["status"], "cancelled");
    place.open_gate("gate");
    let end = until("the task ends", || {
        let state = client.ask("tasks/get", about("task_1"))["result"].clone();
        (state["status"] == "completed").then_some(state)
    });
    assert_eq!(end["result"]["structuredContent"]["log"]["tail"], "\ndone\n");
    assert_eq!(end["result"]["resultType"], "complete");
    assert_eq!(client.end(), 0);
}

#[test]
fn lanes_are_held_by_the_session_of_the_client_and_nobody_elses_task_is_ended() {
    let place = Place::configured(&json!({ "mcp": { "allow": ["true"] } }));
    let mut client = Client::new(&place);
    let lease = client.document("acquire", json!({ "lane": "build", "note": "edits" }));
    assert_eq!(lease["acquired"], true);
    assert_eq!(lease["lane"], "build", "a bare word is a lane here, and no user");
    assert_eq!(lease["session_pid"], std::process::id(), "the client is the session");
    let held = client.document("explain", json!({ "lane": "build" }));
    assert_eq!(held["holders"][0]["label"], "edits");
    let busy = place.luzia(&["acquire", "lane:build", "--task", "other"]).coded(75);
    assert!(busy.err.contains("try: luzia explain lane:build\n"), "{}", busy.err);
    // A command of the same session would wait for itself, and is not left in the queue.
    let (stuck, is_error) = client.call("run", json!({ "argv": ["true"], "lane": "build", "wait_s": 30 }));
    assert_eq!((&stuck["error"]["code"], is_error), (&"DEADLOCK".into(), true), "{stuck:#}");
    assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 0, "nothing is queued");
    let given = client.document("release", json!({ "lane": "build", "lock_id": lease["lock_id"] }));
    assert_eq!(given["released"], true);
    let both = client.document("acquire", json!({ "lane": ["db", "cache"] }));
    let grants: Vec<&Value> = both["grants"].as_array().unwrap().iter().map(|grant| &grant["lane"]).collect();
    assert_eq!(grants, ["cache", "db"], "{both:#}");
    let given = client.document("release", json!({ "lane": ["db", "cache"], "lock_id": both["lock_id"] }));
    assert_eq!(given["lanes"].as_array().unwrap().len(), 2, "{given:#}");
    place.ok(&["lock", "-n", "-l", "db", "-l", "cache", "--", "true"]);
    let timed = client.document("acquire", json!({ "lane": "@port:4010", "ttl_s": 30 }));
    assert_eq!(timed["lane"], "port:4010");
    place.ok(&["acquire", "lane:build", "--task", "other"]);
    let (refused, _) = client.call("acquire", json!({ "lane": "build" }));
    assert_eq!((&refused["acquired"], &refused["error"]["code"]), (&json!(false), &json!("LOCK_HELD")));
    place.enqueue(&["-u", "alice", "--as", "someone", "--", "sleep", "600"]);
    place.ok(&["dispatch"]);
    let (refused, is_error) = client.call("cancel", json!({ "task": "task_2" }));
    assert!(is_error && refused["error"]["code"] == "NOT_YOURS", "{refused}");
    assert_eq!(client.end(), 0);
    place.ok(&["cancel", "task_2", "--yes"]);
}

#[test]
fn the_process_that_stays_is_small_and_outlives_the_one_of_a_request() {
    let place = Place::new();
    let mut client = Client::new(&place);
    client.ask("tools/list", json!({}));
    client.document("status", json!({}));
    // Descriptors, threads and children of the requests are gone.
    let own = client.child.id();
    let children = || std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap();
    until("no process of a request is left", || children().is_empty().then_some(()));
    let dirty = private_kib(own);
    // A debug build; a release build has a fifth of it.
    assert!(dirty < 1536, "{dirty} KiB of its own");
    // A request whose process is killed is answered all the same.
    place.enqueue(&["--hold", "-u", "a", "--", "true"]);
    let id = client.send("tools/call", json!({ "name": "wait", "arguments": { "tasks": ["task_1"], "wait_s": 40 } }));
    let helper = until("the wait has a process", || Some(children()).filter(|pids| !pids.is_empty()));
    std::process::Command::new("kill").args(["-KILL", helper.trim()]).status().unwrap();
    let answer = client.answer(id);
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    client.document("status", json!({}));
    assert_eq!(client.end(), 0);
}

/// The memory that a process shares with no other and that no file backs.
fn private_kib(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text.lines().find(|line| line.starts_with("Private_Dirty:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
