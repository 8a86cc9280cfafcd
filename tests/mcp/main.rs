//! `luzia mcp` driven by rmcp, the Rust client of the Model Context Protocol, in both eras.
#![cfg(test)]

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tokio::process::Command;

type Client = RunningService<RoleClient, ()>;

/// The program: that of LUZIA, else the one that the other tests have built.
fn program() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/luzia");
    std::env::var_os("LUZIA").map_or_else(own, PathBuf::from)
}

fn at_home(command: &mut Command, home: &Path) {
    command.env("HOME", home);
    for (name, folder) in [("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")] {
        command.env(name, home.join(folder));
    }
}

async fn client(place: &Path, lifecycle: ClientLifecycleMode) -> Client {
    let mut command = Command::new(program());
    command.arg("mcp").current_dir(place).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    at_home(&mut command, &place.join("home"));
    command.env("LUZIA_STATE_DIR", place.join("state")).env("LUZIA_CONFIG", place.join("config.json"));
    ().serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), lifecycle).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
    let result = client.call_tool(params).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()
}

async fn a_session_of_work(client: Client) {
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["run", "enqueue", "wait", "explain", "list", "status", "logs", "acquire", "release", "cancel"]);
    let done = call(&client, "run", json!({ "argv": ["sh", "-c", "echo hello"], "lane": "build" })).await;
    assert_eq!((&done["status"], &done["log"]["tail"]), (&json!("completed"), &json!("hello\n")));
    let queued = call(&client, "enqueue", json!({ "argv": ["sh", "-c", "exit 4"], "lane": "build" })).await;
    let waited = call(&client, "wait", json!({ "tasks": [queued["task"]], "wait_s": 30 })).await;
    assert_eq!(waited["exit_code"], 4);
    let lease = call(&client, "acquire", json!({ "lane": "build" })).await;
    assert_eq!(call(&client, "explain", json!({ "lane": "build" })).await["holders"][0]["lock_id"], lease["lock_id"]);
    assert_eq!(call(&client, "release", json!({ "lane": "build" })).await["released"], true);
    let failed = call(&client, "list", json!({ "states": ["failed"] })).await;
    assert_eq!(failed["items"].as_array().unwrap().len(), 1);
    client.cancel().await.unwrap();
}

fn drive(lifecycle: ClientLifecycleMode) {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("home")).unwrap();
    std::fs::write(place.path().join("config.json"), r#"{"mcp":{"allow":["sh -c *"]}}"#).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { a_session_of_work(client(place.path(), lifecycle).await).await });
}

#[test]
fn a_client_with_a_handshake_works() {
    drive(ClientLifecycleMode::Initialize);
}

#[test]
fn a_client_without_a_handshake_works() {
    drive(ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] });
}

#[test]
fn a_client_that_takes_either_works() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    drive(ClientLifecycleMode::Auto { preferred_versions, legacy_version: None });
}
