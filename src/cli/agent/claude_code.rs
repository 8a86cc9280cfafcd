//! Claude Code: <https://code.claude.com/docs/en/hooks>, as of 2026-11.

use super::{Document, arguments, claude_form, cwd, files, session, shell, text};
use crate::model::{HookAnswer, HookCall, HookEvent};
use serde_json::Value;

pub(super) fn read(document: &Document) -> HookCall {
    let event = match text(document, "hook_event_name").as_deref() {
        Some("SessionStart") => HookEvent::Start,
        Some("SessionEnd") => HookEvent::End,
        Some("PreToolUse") => {
            let arguments = arguments(document, "tool_input");
            match text(document, "tool_name").as_deref() {
                Some("Edit" | "Write" | "MultiEdit" | "NotebookEdit") => {
                    files(&arguments, &["file_path", "notebook_path"])
                }
                Some("Bash") => shell(&arguments),
                _ => HookEvent::Other,
            }
        }
        _ => HookEvent::Other,
    };
    HookCall {
        session: session(document, "session_id"),
        subagent: session(document, "agent_id"),
        cwd: cwd(document, "cwd"),
        event,
    }
}

pub(super) fn write(answer: &HookAnswer) -> Option<Value> {
    claude_form(answer)
}
