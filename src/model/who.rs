//! The requester of work, and the calls of its hook.
//!
//! `Agent` is the agent with its session, and `Who` has the words by which people know the work. `HookCall` has the data that an
//! agent passes to luzia before it acts, and `HookAnswer` is the answer of luzia. `Member` is a task or a `luzia lock` that waits, or for
//! which others wait.

use super::lock::{LockKind, LockRecord};
use super::record::words;
use super::task::TaskId;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::fmt::Write as _;

/// The longest agent name, label or command kept beside a lock, in bytes.
pub const MOST_BYTES: usize = 64;
/// The longest key of a session, in bytes.
pub const MOST_SESSION_BYTES: usize = 200;
/// Number of words of a command that name the work.
const MOST_WORDS: usize = 3;
/// Number of characters of the key of a session that a sentence shows.
const SHOWN_SESSION: usize = 24;

/// One member of the graph of waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Member {
    /// A task; a task that is not queued has the number 0.
    Task(TaskId),
    /// A `luzia lock`, by its process.
    Lock(u32),
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(TaskId(0)) => f.write_str("the new task"),
            Self::Task(id) => id.fmt(f),
            Self::Lock(pid) => write!(f, "pid-{pid}"),
        }
    }
}

/// An agent that calls luzia.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Agent {
    /// The name of the agent for people, e.g. `codex`.
    #[serde(rename = "agent", deserialize_with = "name")]
    pub name: String,
    /// The key of the agent's session. A subagent has one of its own.
    #[serde(default, deserialize_with = "key", skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    clean(&String::deserialize(from)?, MOST_BYTES).ok_or_else(|| D::Error::custom("no name is left of it"))
}

/// The key of a session or a process, in the form of a record.
pub(crate) fn key<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.and_then(|key| clean(&key, MOST_SESSION_BYTES)))
}

/// The variables that identify a command's agent. With them, the command's own requests to luzia carry the agent's name.
pub fn agent_variables(agent: Option<&Agent>) -> impl Iterator<Item = (&'static str, String)> {
    let name = agent.map(|agent| ("LUZIA_AGENT", agent.name.clone()));
    let session = agent.and_then(|agent| Some(("LUZIA_SESSION", agent.session.clone()?)));
    name.into_iter().chain(session)
}

/// The requester in a lock or a task. Nothing here proves anything: each word is a claim for people.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Who {
    /// The name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The key of the requester's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The first words of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The note given with `--label`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The process that asked, if no agent is known: a key to compare, never shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
}

impl Who {
    /// An agent that runs a command, with a note.
    pub fn of(agent: Option<&Agent>, command: &[String], label: Option<&str>) -> Self {
        Self {
            agent: agent.and_then(|agent| clean(&agent.name, MOST_BYTES)),
            session: agent.and_then(|agent| clean(agent.session.as_deref()?, MOST_SESSION_BYTES)),
            command: first_words(command),
            label: label.and_then(|label| clean(label, MOST_BYTES)),
            asked_by: None,
        }
    }
}

impl LockRecord {
    /// The holder of the lock in words: `task_7 "cargo test" of codex`, `"make" of codex (pid 4242)`; the bare name of the
    /// holder if the record has no more.
    pub fn shown(&self) -> Option<String> {
        Some(shown(self.task_id.as_deref()?, self.kind, &self.who))
    }
}

fn shown(holder: &str, kind: LockKind, who: &Who) -> String {
    let quoted = who.command.as_ref().map(|command| format!("\"{command}\""));
    let noted = who.label.as_ref().map(|label| format!("[{label}]"));
    let work = [quoted, noted].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let pid = holder.strip_prefix("pid-").filter(|_| kind == LockKind::Process);
    let (mut text, mut is_named) = match (kind, &who.agent, pid) {
        (LockKind::Session, Some(agent), _) if holder.starts_with(SESSION_HOLDER) => (agent.clone(), true),
        (_, _, Some(_)) if !work.is_empty() => (String::new(), false),
        (_, Some(agent), Some(_)) => (agent.clone(), true),
        _ => (holder.to_owned(), false),
    };
    if !work.is_empty() {
        text += if text.is_empty() { "" } else { " " };
        text += &work;
    }
    if let Some(agent) = who.agent.as_ref().filter(|_| !is_named) {
        let _ = write!(text, " of {agent}");
        is_named = true;
    }
    if let Some(pid) = pid.filter(|_| is_named || !work.is_empty()) {
        let _ = write!(text, " (pid {pid})");
    }
    if let Some(session) = who.session.as_ref().filter(|_| kind == LockKind::Session) {
        let short: String = session.chars().take(SHOWN_SESSION).collect();
        let dots = if short.len() < session.len() { "…" } else { "" };
        let _ = write!(text, " (session {short}{dots})");
    }
    text
}

/// Prefix of the name of a session lease's holder, if the caller gave no name.
pub const SESSION_HOLDER: &str = "session-";

/// A text that is safe in a sentence: control and direction characters are escaped, and a text longer than `most` bytes is cut.
/// `None` if nothing is left.
pub fn clean(text: &str, most: usize) -> Option<String> {
    let text = text.trim();
    // Most texts are short and stay as they are.
    if (1..=most).contains(&text.len()) && !text.contains(is_unseen) {
        return Some(text.to_owned());
    }
    let mut out = String::new();
    for c in text.chars() {
        let piece: String = if is_unseen(c) { c.escape_default().collect() } else { c.into() };
        if out.len() + piece.len() > most {
            break;
        }
        out += &piece;
    }
    let kept = out.trim_end();
    (!kept.is_empty()).then(|| kept.to_owned())
}

/// Whether a character controls a terminal or is invisible: control and direction characters, separators of lines, joiners,
/// blanks without width, tags.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The program and the words behind it, up to the first option, assignment or word with a meaning to a shell. The rest is left
/// out because an argument may be a secret, and more people can read sidecars than task records. For a shell with `-c`, the
/// words of its line.
fn first_words(command: &[String]) -> Option<String> {
    let (program, rest) = command.split_first()?;
    if let [option, line, ..] = rest
        && option == "-c"
    {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        return first_words(&words);
    }
    let base = program.rsplit('/').next().filter(|base| !base.is_empty())?;
    if base.contains('=') {
        return None;
    }
    let is_plain = |word: &&String| !word.starts_with('-') && !word.contains(|c| "=|&;<>()$`'\"{}*".contains(c));
    let words = rest.iter().take_while(is_plain).take(MOST_WORDS - 1).map(String::as_str);
    clean(&std::iter::once(base).chain(words).collect::<Vec<_>>().join(" "), MOST_BYTES)
}

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
    /// The call writes files: their paths, relative ones from its directory.
    Edit(Vec<String>),
    /// The call runs a line of shell.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_command_is_named_by_its_first_words_and_by_no_option() {
        for (words, name) in [
            (&["cargo", "test", "--release", "secret"][..], Some("cargo test")),
            (&["/usr/bin/make", "all", "install", "clean"], Some("make all install")),
            (&["sh", "-c", "cd sub && make"], Some("cd sub")),
            (&["sh", "-c", "make \"$TOKEN\""], Some("make")),
            (&["curl", "-H", "Authorization: x"], Some("curl")),
            (&["env", "TOKEN=x", "deploy"], Some("env")),
            (&["A=b"], None),
            (&["sh", "-c", ""], None),
            (&["a\u{1b}[2Jb"], Some("a\\u{1b}[2Jb")),
            (&[], None),
        ] {
            assert_eq!(Who::of(None, &argv(words), None).command.as_deref(), name, "{words:?}");
        }
    }

    #[test]
    fn a_cleaned_text_is_short_has_no_unseen_character_and_stays_as_it_is() {
        for text in ["", " ", "a\nb", "\u{202e}x", "é".repeat(100).as_str(), "\u{1b}".repeat(40).as_str(), " a  ", "x "]
        {
            let Some(once) = clean(text, MOST_BYTES) else {
                assert!(text.trim().is_empty(), "{text:?}");
                continue;
            };
            assert!(once.len() <= MOST_BYTES && !once.chars().any(is_unseen), "{once:?}");
            assert_eq!(clean(&once, MOST_BYTES).as_ref(), Some(&once));
        }
    }

    #[test]
    fn a_holder_is_shown_by_all_that_is_known_of_it() {
        let who = |agent: &str, session: &str, command: &str, label: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Who {
                agent: some(agent),
                session: some(session),
                command: some(command),
                label: some(label),
                asked_by: None,
            }
        };
        for (holder, kind, who, text) in [
            ("task_7", LockKind::Task, who("codex", "s", "cargo test", ""), "task_7 \"cargo test\" of codex"),
            ("task_7", LockKind::Task, Who::default(), "task_7"),
            ("pid-42", LockKind::Process, Who::default(), "pid-42"),
            ("pid-42", LockKind::Process, who("", "", "make", ""), "\"make\" (pid 42)"),
            ("pid-42", LockKind::Process, who("codex", "", "make", "nightly"), "\"make\" [nightly] of codex (pid 42)"),
            ("pid-42", LockKind::Process, who("codex", "", "", ""), "codex (pid 42)"),
            ("deploy", LockKind::Lease, who("codex", "s", "", ""), "deploy of codex"),
            ("session-1", LockKind::Session, who("codex", "abc", "", ""), "codex (session abc)"),
            ("session-1", LockKind::Session, who("", "abc", "", "x"), "session-1 [x] (session abc)"),
            (
                "deploy",
                LockKind::Session,
                who("codex", &"k".repeat(30), "", ""),
                &format!("deploy of codex (session {}…)", "k".repeat(24)),
            ),
        ] {
            assert_eq!(shown(holder, kind, &who), text);
        }
    }
}
