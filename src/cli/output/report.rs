//! Errors as people and programs read them: one message, a hint, and the commands that help.
//!
//! Makes text; must not print it and must not decide what is an error.

use super::escape::escape_controls;
use super::json;
use super::style::{Style, Tone};
use crate::app::Code;
use crate::cli::args::Usage;
use crate::cli::exit::Exit;
use serde_json::json;
use std::fmt;

/// One error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// A word for programs, e.g. `LOCK_HELD`.
    pub code: Code,
    /// The error: lower case, no full stop, the subject quoted.
    pub message: String,
    /// A hint that would help.
    pub hint: Option<String>,
    /// Commands that would help, ready to be typed.
    pub next: Vec<String>,
    /// Whether only a process of the caller's own sandbox starts the task.
    pub only_this_sandbox: bool,
    /// Commands that take something from its holder by force.
    pub overriding: Vec<String>,
    /// The exit code.
    pub exit: u8,
}

impl Report {
    /// An error with nothing but a message.
    pub fn new(code: Code, exit: Exit, message: impl Into<String>) -> Self {
        let (message, next, overriding) = (message.into(), Vec::new(), Vec::new());
        Self { code, message, hint: None, next, only_this_sandbox: false, overriding, exit: exit.code() }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a command that would help.
    #[must_use]
    pub fn next(mut self, command: impl Into<String>) -> Self {
        self.next.push(command.into());
        self
    }

    /// Replaces the exit code, for `lock -E`.
    #[must_use]
    pub fn exit_with(mut self, code: u8) -> Self {
        self.exit = code;
        self
    }

    /// The error without its hints.
    #[must_use]
    pub fn message_only(&self) -> Self {
        Self { hint: None, next: Vec::new(), overriding: Vec::new(), ..self.clone() }
    }

    /// The error for people, with a newline at the end.
    pub fn text(&self, style: Style) -> String {
        let mut text = format!("{} {}\n", style.paint(Tone::Bad, "luzia:"), escape_controls(&self.message));
        let hints = self.hint.iter().map(|hint| ("hint:", hint));
        let nexts = self.next.iter().map(|command| ("try:", command));
        let forces = self.overriding.iter().map(|command| ("to take it by force:", command));
        for (word, line) in hints.chain(nexts).chain(forces) {
            text.push_str(&format!("{} {}\n", style.paint(Tone::Strong, word), escape_controls(line)));
        }
        text
    }

    /// The error for programs (`luzia.error/v1`): one line, with a newline at the end.
    pub fn json(&self) -> String {
        let mut members = vec![
            ("code", json!(self.code.word())),
            ("message", json!(self.message)),
            ("hint", json!(self.hint)),
            ("next", json!(self.next)),
            ("exit", json!(self.exit)),
        ];
        if self.only_this_sandbox {
            members.push(("only_this_sandbox", json!(true)));
        }
        if !self.overriding.is_empty() {
            members.push(("override", json!(self.overriding)));
        }
        json::line(&json::document("error", members))
    }

    /// The error in the requested form.
    pub fn render(&self, as_json: bool, style: Style) -> String {
        if as_json { self.json() } else { self.text(style) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

impl From<Usage> for Report {
    fn from(usage: Usage) -> Self {
        let report = Self::new(Code::Usage, Exit::Usage, usage.message);
        Self { hint: usage.hint, next: usage.next, ..report }
    }
}

/// A warning for people on stderr, e.g. `luzia: warning: …`, with a newline at the end.
pub fn warning(message: &str, style: Style) -> String {
    format!("luzia: {} {}\n", style.paint(Tone::Warn, "warning:"), escape_controls(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held() -> Report {
        Report::new(Code::LockHeld, Exit::Busy, "lane \"a\u{1b}[2J\nb\" is held")
            .hint("wait for it")
            .next("luzia explain user:a")
    }

    #[test]
    fn people_get_lines() {
        assert_eq!(
            held().text(Style::PLAIN),
            "luzia: lane \"a\\x1b[2J\\nb\" is held\nhint: wait for it\ntry: luzia explain user:a\n"
        );
        assert!(held().text(Style { color: true }).starts_with("\x1b[31mluzia:\x1b[0m "));
    }

    #[test]
    fn programs_get_one_line_of_json() {
        let line = held().exit_with(9).json();
        assert_eq!(
            line,
            "{\"schema\":\"luzia.error/v1\",\"code\":\"LOCK_HELD\",\"message\":\"lane \\\"a\\u001b[2J\\nb\\\" is held\",\
             \"hint\":\"wait for it\",\"next\":[\"luzia explain user:a\"],\"exit\":9}\n"
        );
        let bare = Report::new(Code::Bug, Exit::Bug, "x").render(true, Style::PLAIN);
        assert!(bare.contains("\"hint\":null,\"next\":[]"), "{bare}");
    }
}
