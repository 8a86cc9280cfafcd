//! What calls of `luzia mcp` are answered: by what has happened, and with each value once.

use super::mcp::{Client, admitting};
use serde_json::{Value, json};

#[test]
fn a_call_under_way_when_the_input_ends_is_answered_by_what_happened() {
    let place = admitting(&["sh -c *"]);
    place.gate("gate");
    place.ok(&["lanes", "set", "build", "--max", "1"]);
    let holder = place.start(&["lock", "-l", "build", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    for (shell, lane, status) in [("echo x >started; sleep 600", "own", "running"), ("true", "build", "pending")] {
        let mut client = Client::new(&place);
        let call = json!({ "name": "run", "arguments": { "shell": shell, "lane": lane, "wait_s": 50 },
            "_meta": { "progressToken": 1 } });
        let id = client.send("tools/call", call);
        // It is accepted: the client is told so.
        let accepted = client.next();
        client.heard.push(accepted);
        if status == "running" {
            place.until_file("work/started");
        }
        drop(client.input.take());
        let answer = client.answer(id)["result"]["structuredContent"].clone();
        let task = answer["task"].as_str().unwrap();
        assert_eq!((&answer["status"], &answer["still_waiting"]), (&json!(status), &json!(true)), "{answer}");
        assert_eq!(place.status(task), status, "the task goes on");
        assert_eq!(client.heard[0]["params"]["message"], format!("queued as {task}"));
        assert_eq!(client.end(), 0);
    }
    place.ok(&["cancel", "--all", "--yes"]);
    place.open_gate("gate");
    holder.end().coded(0);
}

#[test]
fn a_cancelled_run_takes_its_task_back_where_it_has_not_started_and_no_other() {
    let place = admitting(&["sh -c *"]);
    let gate = place.gate("gate");
    let holder =
        place.start(&["lock", "-l", "build", "--", "sh", "-c", &format!("echo up > $PLACE/up; read _ < {gate}")]);
    place.until_file("up");
    let mut client = Client::new(&place);
    let arguments = |key: &str| json!({ "shell": "true", "lane": "build", "key": key, "wait_s": 50 });
    place.enqueue(&["-l", "build", "--key", "theirs", "--", "true"]);
    for (key, status) in [("mine", "cancelled"), ("theirs", "pending")] {
        let call = json!({ "name": "run", "arguments": arguments(key), "_meta": { "progressToken": key } });
        let id = client.send("tools/call", call);
        let told = client.next();
        let task = told["params"]["message"].as_str().unwrap().strip_prefix("queued as ").unwrap().to_owned();
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        client.send_text(&cancelled.to_string());
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
        place.until_status(&task, status);
    }
    assert_eq!(client.end(), 0);
    assert_eq!(place.status("task_1"), "pending", "it is another caller's");
    place.open_gate("gate");
    holder.end().coded(0);
}

#[test]
fn answers_are_lean_and_each_value_has_one_name() {
    let place = admitting(&["echo *", "true"]);
    let mut client = Client::new(&place);
    let done = client.document("run", json!({ "command": ["echo", "hi"] }));
    assert!(done.to_string().len() <= 300, "{} bytes: {done}", done.to_string().len());
    assert_eq!((&done["exit_code"], &done["log"]), (&0.into(), &json!({ "tail": "hi\n" })), "{done}");
    place.ok(&["pause", "--all"]);
    for number in 0..25 {
        place.enqueue(&["-u", "somebody", "-l", "build", "--", "cargo", "build", "--release", &format!("-j{number}")]);
    }
    let list = client.document("list", json!({}));
    assert_eq!(list["items"].as_array().unwrap().len(), 20, "{list}");
    assert!(list.to_string().len() < 4096, "{} bytes: {list}", list.to_string().len());
    let first = &list["items"][0];
    assert_eq!(
        (&first["task"], &first["lanes"], &first["reason"]),
        (&"task_2".into(), &json!(["build"]), &"Paused".into())
    );
    for (tool, arguments) in [
        ("run", json!({ "command": ["true"], "wait_s": 0 })),
        ("explain", json!({ "task": "task_1" })),
        ("explain", json!({ "lane": "build" })),
        ("status", json!({})),
        ("wait", json!({ "tasks": ["task_1", "task_2"], "wait_s": 0 })),
        ("logs", json!({ "task": "task_1" })),
        ("cancel", json!({ "task": "task_2" })),
        ("logs", json!({ "task": "task_99" })),
    ] {
        let (document, _) = client.call(tool, arguments.clone());
        let mut twins = Vec::new();
        twins_in(&document, &mut twins);
        assert!(twins.is_empty(), "{tool} {arguments}: {twins:?} in {document}");
        assert_eq!(document["id"], Value::Null, "{tool}: the argument is called task, and so is the answer");
    }
    assert_eq!(client.end(), 0);
}

/// Members that stand under two spellings in one object.
fn twins_in(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let plain = |name: &str| name.replace('_', "").to_lowercase();
            let mut names: Vec<String> = members.keys().map(|name| plain(name)).collect();
            names.sort();
            found.extend(names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()));
            members.values().for_each(|value| twins_in(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| twins_in(item, found)),
        _ => {}
    }
}
