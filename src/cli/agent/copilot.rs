//! GitHub Copilot CLI: <https://docs.github.com/en/copilot/reference/hooks-reference>, as of 2026-11. The spelling of an
//! event in its configuration decides which of two forms a document has: the one with `hook_event_name`, and one in camel
//! case that does not name its event. A hook that fails refuses the call.

use super::{Document, arguments, cwd, edit, files, patched_files, session, shell, text};
use crate::model::{HookAnswer, HookCall, HookEvent};
use serde_json::{Value, json};

pub(super) fn read(document: &Document) -> HookCall {
    let event = match text(document, "hook_event_name").as_deref() {
        Some("SessionStart") => HookEvent::Start,
        Some("SessionEnd") => HookEvent::End,
        Some("PreToolUse") => tool(document, "tool_name", "tool_input"),
        Some(_) => HookEvent::Other,
        None if document.contains_key("toolResult") || document.contains_key("error") => HookEvent::Other,
        None if document.contains_key("toolName") => tool(document, "toolName", "toolArgs"),
        None if document.contains_key("source") => HookEvent::Start,
        None if document.contains_key("reason") => HookEvent::End,
        None => HookEvent::Other,
    };
    HookCall {
        session: session(document, "session_id").or_else(|| session(document, "sessionId")),
        subagent: None,
        cwd: cwd(document, "cwd"),
        event,
    }
}

fn tool(document: &Document, name: &str, input: &str) -> HookEvent {
    let arguments = arguments(document, input);
    match text(document, name).as_deref() {
        Some("Edit" | "Write" | "edit" | "create" | "str_replace_editor" | "apply_patch") => {
            let patch = ["patch", "input", "command"].iter().find_map(|name| text(&arguments, name));
            match patch.filter(|patch| patch.contains("*** Begin Patch")) {
                Some(patch) => edit(patched_files(&patch)),
                // `str_replace_editor` looks at files, too.
                None if text(&arguments, "command").as_deref() == Some("view") => HookEvent::Other,
                None => files(&arguments, &["file_path", "path"]),
            }
        }
        Some("Bash" | "bash") => shell(&arguments),
        _ => HookEvent::Other,
    }
}

pub(super) fn write(answer: &HookAnswer) -> Option<Value> {
    match answer {
        HookAnswer::Nothing | HookAnswer::Note(_) => None,
        HookAnswer::Start { context, .. } => Some(json!({ "additionalContext": context })),
        HookAnswer::Deny(reason) => Some(json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })),
    }
}
