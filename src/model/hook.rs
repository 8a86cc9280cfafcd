//! A call of a hook: the data that an agent passes to luzia before it acts, and the answer of luzia.

use super::record::words;
use std::fmt;

/// The agents whose hook calls luzia parses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentKind {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
}

words!(AgentKind {
    ClaudeCode = "claude-code",
    Codex = "codex",
    Gemini = "gemini",
    Cursor = "cursor",
    Copilot = "copilot",
});

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One call of a hook, parsed from the document of the agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookCall {
    /// The session, as the agent names it. Subagents carry the session of their parent.
    pub session: Option<String>,
    /// The subagent, if a subagent calls.
    pub subagent: Option<String>,
    /// The directory in which the agent works; an absolute path.
    pub cwd: Option<String>,
    /// The next action of the agent.
    pub event: HookEvent,
}

/// The next action of an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HookEvent {
    /// A session begins or goes on.
    Start,
    /// It writes files: their paths, relative ones from its directory.
    Edit(Vec<String>),
    /// It runs a line of shell.
    Shell(String),
    /// The session is over.
    End,
    /// Anything else.
    Other,
}

/// The answer of luzia to a hook. It never allows a call that the agent would ask about, and never rewrites one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HookAnswer {
    /// Nothing.
    Nothing,
    /// Lines for a session that begins, and variables for its commands.
    Start {
        /// Facts, one on each line.
        context: String,
        /// Names and values.
        variables: Vec<(String, String)>,
    },
    /// A line that the agent may read; the call continues.
    Note(String),
    /// The call is refused, with the reason.
    Deny(String),
}
