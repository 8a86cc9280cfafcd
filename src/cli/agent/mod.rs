//! The documents that agents give to their hooks, and the answers in the form of each agent.
//!
//! A reader takes any bytes. It returns `None` for a document that is no JSON object, and [`HookEvent::Other`] for an event that
//! luzia does not know. The forms are those of November 2026:
//! - Claude Code: <https://code.claude.com/docs/en/hooks>;
//! - Codex: <https://developers.openai.com/codex/hooks> and the schemas in its repository;
//! - Gemini CLI: <https://geminicli.com/docs/hooks/reference>. It reads no note at the call of a tool;
//! - Cursor: <https://cursor.com/docs/hooks>. It gives no note without a permission;
//! - Copilot CLI: <https://docs.github.com/en/copilot/reference/hooks-reference>. The spelling of an event in its configuration
//!   decides which of two forms a document has: one with `hook_event_name`, and one in camel case that does not name its event. A
//!   hook that fails refuses the call.

pub(super) mod hook;
pub(super) mod setup;

use crate::model::{AgentKind, HookAnswer, HookCall, HookEvent};
use serde_json::{Map, Value, json};

/// The longest path that is accepted, in bytes.
const LONGEST: usize = 4096;
/// The longest session that is accepted, in bytes.
const LONGEST_SESSION: usize = 200;
/// The most files of one call that are looked at.
const MOST_FILES: usize = 64;
/// The members that name a file which a tool writes.
const FILES: [&str; 5] = ["file_path", "notebook_path", "path", "absolute_path", "target_notebook"];
/// The members that may hold a patch in the form of `apply_patch`.
const PATCHES: [&str; 3] = ["command", "patch", "input"];

/// The names that an agent uses in its documents.
struct Names {
    /// The events at the begin and at the end of a session, and before the call of a tool.
    events: [&'static str; 3],
    /// The members with the session; the first one present counts.
    sessions: &'static [&'static str],
    /// The tools that write files.
    writers: &'static [&'static str],
    /// The tools that run a line of shell.
    shells: &'static [&'static str],
}

fn names(agent: AgentKind) -> Names {
    const EVENTS: [&str; 3] = ["SessionStart", "SessionEnd", "PreToolUse"];
    match agent {
        AgentKind::ClaudeCode => Names {
            events: EVENTS,
            sessions: &["session_id"],
            writers: &["Edit", "Write", "MultiEdit", "NotebookEdit"],
            shells: &["Bash"],
        },
        AgentKind::Codex => Names {
            events: EVENTS,
            sessions: &["session_id"],
            writers: &["apply_patch", "ApplyPatch", "Edit", "Write"],
            shells: &["Bash"],
        },
        AgentKind::Gemini => Names {
            events: ["SessionStart", "SessionEnd", "BeforeTool"],
            sessions: &["session_id"],
            writers: &["write_file", "replace", "edit"],
            shells: &["run_shell_command"],
        },
        AgentKind::Cursor => Names {
            events: ["sessionStart", "sessionEnd", "preToolUse"],
            sessions: &["conversation_id", "session_id"],
            writers: &["Write", "StrReplace", "Edit", "MultiEdit", "Delete", "EditNotebook"],
            shells: &["Shell"],
        },
        AgentKind::Copilot => Names {
            events: EVENTS,
            sessions: &["session_id", "sessionId"],
            writers: &["Edit", "Write", "edit", "create", "str_replace_editor", "apply_patch"],
            shells: &["Bash", "bash"],
        },
    }
}

/// Reads the document of a hook.
pub fn read(agent: AgentKind, bytes: &[u8]) -> Option<HookCall> {
    let Value::Object(document) = serde_json::from_slice(bytes).ok()? else { return None };
    let names = names(agent);
    let has_subagents = matches!(agent, AgentKind::ClaudeCode | AgentKind::Codex);
    let root = || path(document.get("workspace_roots")?.get(0)?);
    Some(HookCall {
        session: names.sessions.iter().find_map(|name| session(&document, name)),
        subagent: session(&document, "agent_id").filter(|_| has_subagents),
        cwd: document.get("cwd").and_then(path).or_else(|| root().filter(|_| agent == AgentKind::Cursor)),
        event: event(agent, &names, &document),
    })
}

fn event(agent: AgentKind, names: &Names, document: &Document) -> HookEvent {
    let has = |name: &str| document.contains_key(name);
    let [start, end, tool] = names.events;
    match text(document, "hook_event_name").as_deref() {
        Some(name) if name == start => HookEvent::Start,
        Some(name) if name == end => HookEvent::End,
        Some(name) if name == tool => names.call(document, "tool_name", "tool_input"),
        Some("beforeShellExecution") if agent == AgentKind::Cursor => shell(document),
        Some(_) => HookEvent::Other,
        None if agent != AgentKind::Copilot || has("toolResult") || has("error") => HookEvent::Other,
        None if has("toolName") => names.call(document, "toolName", "toolArgs"),
        None if has("source") => HookEvent::Start,
        None if has("reason") => HookEvent::End,
        None => HookEvent::Other,
    }
}

impl Names {
    /// The call of a tool.
    fn call(&self, document: &Document, name: &str, input: &str) -> HookEvent {
        let arguments = arguments(document, input);
        match text(document, name).unwrap_or_default().as_str() {
            tool if self.writers.contains(&tool) => written(&arguments),
            tool if self.shells.contains(&tool) => shell(&arguments),
            _ => HookEvent::Other,
        }
    }
}

/// The answer as the agent reads it; empty where the agent reads nothing.
pub fn write(agent: AgentKind, answer: &HookAnswer) -> String {
    use AgentKind::{ClaudeCode, Codex, Copilot, Cursor, Gemini};
    use HookAnswer::{Deny, Note, Nothing, Start};
    let value = match (agent, answer) {
        (ClaudeCode | Codex | Copilot, Nothing) | (Copilot, Note(_)) => return String::new(),
        (Gemini | Cursor, Nothing | Note(_)) => json!({}),
        (ClaudeCode | Codex | Gemini, Start { context, .. }) => {
            json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": context } })
        }
        (Cursor, Start { context, variables }) => {
            let variables: Map<String, Value> =
                variables.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({ "env": variables, "additional_context": context })
        }
        (Copilot, Start { context, .. }) => json!({ "additionalContext": context }),
        (ClaudeCode | Codex, Note(text)) => {
            json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "additionalContext": text } })
        }
        (ClaudeCode | Codex, Deny(reason)) => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        } }),
        (Gemini, Deny(reason)) => json!({ "decision": "deny", "reason": reason }),
        (Cursor, Deny(reason)) => json!({ "permission": "deny", "user_message": reason, "agent_message": reason }),
        (Copilot, Deny(reason)) => json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }),
    };
    format!("{value}\n")
}

type Document = Map<String, Value>;

fn text(document: &Document, name: &str) -> Option<String> {
    let text = document.get(name)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// A session as an agent names it. A text that cannot be part of a variable or of a line is refused.
fn session(document: &Document, name: &str) -> Option<String> {
    text(document, name).filter(|text| text.len() <= LONGEST_SESSION && !text.chars().any(char::is_control))
}

/// An absolute path.
fn path(value: &Value) -> Option<String> {
    value.as_str().filter(|path| path.starts_with('/') && is_path(path)).map(str::to_owned)
}

fn is_path(path: &str) -> bool {
    !path.is_empty() && path.len() <= LONGEST && !path.contains('\0')
}

/// The members of a tool's arguments, also where they arrive as a text of JSON.
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

/// The files that a tool writes: those of its patch, else those that its members name.
fn written(arguments: &Document) -> HookEvent {
    let patch = PATCHES.iter().filter_map(|name| text(arguments, name)).find(|text| !patched_files(text).is_empty());
    match patch {
        Some(patch) => edit(patched_files(&patch)),
        // `str_replace_editor` looks at files, too.
        None if text(arguments, "command").as_deref() == Some("view") => HookEvent::Other,
        None => edit(FILES.iter().filter_map(|name| text(arguments, name)).collect()),
    }
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
