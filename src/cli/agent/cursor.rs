//! Cursor: <https://cursor.com/docs/hooks>, as of 2026-11. It names a session `session_id` in the events of its life, and
//! `conversation_id` in all; a note cannot be given without a permission.

use super::{Document, arguments, cwd, files, session, shell, text};
use crate::model::{HookAnswer, HookCall, HookEvent};
use serde_json::{Map, Value, json};

pub(super) fn read(document: &Document) -> HookCall {
    let event = match text(document, "hook_event_name").as_deref() {
        Some("sessionStart") => HookEvent::Start,
        Some("sessionEnd") => HookEvent::End,
        Some("beforeShellExecution") => shell(document),
        Some("preToolUse") => {
            let arguments = arguments(document, "tool_input");
            match text(document, "tool_name").as_deref() {
                Some("Write" | "StrReplace" | "Edit" | "MultiEdit" | "Delete" | "EditNotebook") => {
                    files(&arguments, &["file_path", "path", "target_notebook"])
                }
                Some("Shell") => shell(&arguments),
                _ => HookEvent::Other,
            }
        }
        _ => HookEvent::Other,
    };
    let root = || {
        let first = document.get("workspace_roots")?.as_array()?.first()?.clone();
        cwd(&Map::from_iter([("root".to_owned(), first)]), "root")
    };
    HookCall {
        session: session(document, "conversation_id").or_else(|| session(document, "session_id")),
        subagent: None,
        cwd: cwd(document, "cwd").or_else(root),
        event,
    }
}

pub(super) fn write(answer: &HookAnswer) -> Option<Value> {
    Some(match answer {
        HookAnswer::Nothing | HookAnswer::Note(_) => json!({}),
        HookAnswer::Start { context, variables } => {
            let variables: Map<String, Value> =
                variables.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({ "env": variables, "additional_context": context })
        }
        HookAnswer::Deny(reason) => json!({ "permission": "deny", "user_message": reason, "agent_message": reason }),
    })
}
