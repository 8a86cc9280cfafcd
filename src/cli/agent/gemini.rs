//! Gemini CLI: <https://geminicli.com/docs/hooks/reference>, as of 2026-11. Standard output must be JSON alone, and a call
//! of a tool can be refused, but not commented on.

use super::{Document, arguments, cwd, files, session, shell, text};
use crate::model::{HookAnswer, HookCall, HookEvent};
use serde_json::{Value, json};

pub(super) fn read(document: &Document) -> HookCall {
    let event = match text(document, "hook_event_name").as_deref() {
        Some("SessionStart") => HookEvent::Start,
        Some("SessionEnd") => HookEvent::End,
        Some("BeforeTool") => {
            let arguments = arguments(document, "tool_input");
            match text(document, "tool_name").as_deref() {
                Some("write_file" | "replace" | "edit") => files(&arguments, &["file_path", "absolute_path"]),
                Some("run_shell_command") => shell(&arguments),
                _ => HookEvent::Other,
            }
        }
        _ => HookEvent::Other,
    };
    HookCall { session: session(document, "session_id"), subagent: None, cwd: cwd(document, "cwd"), event }
}

pub(super) fn write(answer: &HookAnswer) -> Option<Value> {
    Some(match answer {
        HookAnswer::Nothing | HookAnswer::Note(_) => json!({}),
        HookAnswer::Start { context, .. } => {
            json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": context } })
        }
        HookAnswer::Deny(reason) => json!({ "decision": "deny", "reason": reason }),
    })
}
