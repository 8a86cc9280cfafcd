//! Errors as people and programs read them: one message, a hint, and the commands that help.
//!
//! Makes text; must not print it and must not decide what is an error.

use super::escape::escape_controls;
use super::json;
use super::style::{Style, Tone};
use crate::app::{AppError, Refusal};
use crate::cli::args::Usage;
use serde_json::json;

/// An error in the requested form, with a newline at the end. `exit` is the exit code.
pub fn render(error: &AppError, exit: u8, as_json: bool, style: Style) -> String {
    if as_json { json_line(error.refusal(), exit) } else { text(error.refusal(), style) }
}

/// The error for people.
fn text(error: &Refusal, style: Style) -> String {
    let mut text = format!("{} {}\n", style.paint(Tone::Bad, "luzia:"), escape_controls(&error.message));
    let hints = error.hint.iter().map(|hint| ("hint:", hint));
    let nexts = error.next.iter().map(|command| ("try:", command));
    let forces = error.overriding.iter().map(|command| ("to take it by force:", command));
    for (word, line) in hints.chain(nexts).chain(forces) {
        text.push_str(&format!("{} {}\n", style.paint(Tone::Strong, word), escape_controls(line)));
    }
    text
}

/// The error for programs (`luzia.error/v1`): one line.
fn json_line(error: &Refusal, exit: u8) -> String {
    let mut members = vec![
        ("code", json!(error.code.word())),
        ("message", json!(error.message)),
        ("hint", json!(error.hint)),
        ("next", json!(error.next)),
        ("exit", json!(exit)),
    ];
    if error.only_this_sandbox {
        members.push(("only_this_sandbox", json!(true)));
    }
    if !error.overriding.is_empty() {
        members.push(("override", json!(error.overriding)));
    }
    json::line(&json::document("error", members))
}

/// The error of a command line that cannot be parsed.
pub fn of_usage(usage: Usage) -> AppError {
    let error = AppError::usage(usage.message).with_next(usage.next);
    usage.hint.into_iter().fold(error, AppError::hint)
}

/// A warning for people on stderr, e.g. `luzia: warning: …`, with a newline at the end.
pub fn warning(message: &str, style: Style) -> String {
    format!("luzia: {} {}\n", style.paint(Tone::Warn, "warning:"), escape_controls(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Code;

    fn held() -> AppError {
        AppError::new(Code::LockHeld, "lane \"a\u{1b}[2J\nb\" is held").hint("wait for it").next("luzia explain user:a")
    }

    #[test]
    fn people_get_lines() {
        assert_eq!(
            render(&held(), 75, false, Style::PLAIN),
            "luzia: lane \"a\\x1b[2J\\nb\" is held\nhint: wait for it\ntry: luzia explain user:a\n"
        );
        assert!(render(&held(), 75, false, Style { color: true }).starts_with("\x1b[31mluzia:\x1b[0m "));
    }

    #[test]
    fn programs_get_one_line_of_json() {
        let line = render(&held(), 9, true, Style::PLAIN);
        assert_eq!(
            line,
            "{\"schema\":\"luzia.error/v1\",\"code\":\"LOCK_HELD\",\"message\":\"lane \\\"a\\u001b[2J\\nb\\\" is held\",\
             \"hint\":\"wait for it\",\"next\":[\"luzia explain user:a\"],\"exit\":9}\n"
        );
        let bare = render(&AppError::new(Code::Bug, "x"), 70, true, Style::PLAIN);
        assert!(bare.contains("\"hint\":null,\"next\":[]"), "{bare}");
    }
}
