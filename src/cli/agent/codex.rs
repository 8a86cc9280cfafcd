//! Codex: <https://developers.openai.com/codex/hooks> and the schemas in its repository, as of 2026-11. A patch stands in `tool_input.command`, as a line of shell does.

use super::{Document, arguments, claude_form, cwd, edit, files, patched_files, session, shell, text};
use crate::model::{HookAnswer, HookCall, HookEvent};
use serde_json::Value;

pub(super) fn read(document: &Document) -> HookCall {
    let event = match text(document, "hook_event_name").as_deref() {
        Some("SessionStart") => HookEvent::Start,
        Some("SessionEnd") => HookEvent::End,
        Some("PreToolUse") => {
            let arguments = arguments(document, "tool_input");
            match text(document, "tool_name").as_deref() {
                Some("apply_patch" | "ApplyPatch") => {
                    let patch = ["command", "patch", "input"].iter().find_map(|name| text(&arguments, name));
                    edit(patched_files(&patch.unwrap_or_default()))
                }
                Some("Edit" | "Write") => files(&arguments, &["file_path", "path"]),
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
