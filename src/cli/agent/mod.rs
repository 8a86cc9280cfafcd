//! What agents say to their hooks, and how each wants to be answered: one reader and one writer for each agent.
//!
//! A reader takes any bytes. A document that it cannot read is `None`; an event that luzia does not know is
//! [`HookEvent::Other`].

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod manual;

pub use manual::manual_page;

use crate::model::{AgentKind, HookAnswer, HookCall, HookEvent};
use serde_json::{Map, Value, json};

/// The longest path or session that is taken, in bytes.
const LONGEST: usize = 4096;
/// The longest session that is taken, in bytes.
const LONGEST_SESSION: usize = 200;
/// The most files of one call that are looked at.
const MOST_FILES: usize = 64;

/// Reads the document of a hook.
pub fn read(agent: AgentKind, bytes: &[u8]) -> Option<HookCall> {
    let Value::Object(document) = serde_json::from_slice(bytes).ok()? else { return None };
    let read = match agent {
        AgentKind::ClaudeCode => claude_code::read,
        AgentKind::Codex => codex::read,
        AgentKind::Gemini => gemini::read,
        AgentKind::Cursor => cursor::read,
        AgentKind::Copilot => copilot::read,
    };
    Some(read(&document))
}

/// The answer as the agent reads it; empty where it reads nothing.
pub fn write(agent: AgentKind, answer: &HookAnswer) -> String {
    let value = match agent {
        AgentKind::ClaudeCode => claude_code::write(answer),
        AgentKind::Codex => codex::write(answer),
        AgentKind::Gemini => gemini::write(answer),
        AgentKind::Cursor => cursor::write(answer),
        AgentKind::Copilot => copilot::write(answer),
    };
    value.map(|value| format!("{value}\n")).unwrap_or_default()
}

type Document = Map<String, Value>;

fn text(document: &Document, name: &str) -> Option<String> {
    let text = document.get(name)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// A session as an agent names it. A text that could not stand in a variable or in a line is not one.
fn session(document: &Document, name: &str) -> Option<String> {
    text(document, name).filter(|text| text.len() <= LONGEST_SESSION && !text.chars().any(char::is_control))
}

fn cwd(document: &Document, name: &str) -> Option<String> {
    text(document, name).filter(|path| path.starts_with('/') && is_path(path))
}

fn is_path(path: &str) -> bool {
    !path.is_empty() && path.len() <= LONGEST && !path.contains('\0')
}

/// The members of a tool's arguments, also where they come as a text of JSON.
fn arguments(document: &Document, name: &str) -> Document {
    match document.get(name) {
        Some(Value::Object(members)) => members.clone(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(members)) => members,
            _ => Map::from_iter([("command".to_owned(), json!(text))]),
        },
        _ => Map::new(),
    }
}

/// The files that a call writes, by the members that name one.
fn files(arguments: &Document, names: &[&str]) -> HookEvent {
    let named = names.iter().filter_map(|name| text(arguments, name));
    edit(named.collect())
}

fn edit(paths: Vec<String>) -> HookEvent {
    let mut paths: Vec<String> = paths.into_iter().filter(|path| is_path(path)).take(MOST_FILES).collect();
    paths.dedup();
    if paths.is_empty() { HookEvent::Other } else { HookEvent::Edit(paths) }
}

/// The files of a patch in the form of `apply_patch`.
fn patched_files(patch: &str) -> Vec<String> {
    const HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let named = patch.lines().filter_map(|line| HEADS.iter().find_map(|head| line.trim_end().strip_prefix(head)));
    named.map(|path| path.trim().to_owned()).collect()
}

/// A line of shell; one that holds a patch writes the files of the patch.
fn shell(arguments: &Document) -> HookEvent {
    match text(arguments, "command") {
        Some(line) if line.contains("*** Begin Patch") => edit(patched_files(&line)),
        Some(line) => HookEvent::Shell(line),
        None => HookEvent::Other,
    }
}

/// The answers of Claude Code, and of agents that have taken its form over.
fn claude_form(answer: &HookAnswer) -> Option<Value> {
    let inner = match answer {
        HookAnswer::Nothing => return None,
        HookAnswer::Start { context, .. } => json!({ "hookEventName": "SessionStart", "additionalContext": context }),
        HookAnswer::Note(text) => json!({ "hookEventName": "PreToolUse", "additionalContext": text }),
        HookAnswer::Deny(reason) => json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }),
    };
    Some(json!({ "hookSpecificOutput": inner }))
}
