//! The calling agent, the commands that are run for an agent, and the owner of work. Pure.
//!
//! `admits` decides which commands a server of tools runs for an agent (`mcp.allow`, decision 135). A pattern is a list of words
//! with blanks between. A word admits the same word; a `*` in it matches any text, including the empty one. A pattern whose last
//! word is `*` alone admits any number of further words. `is_foreign` decides whether work that a command would end or take away
//! belongs to the caller or to another requester (P10).
//!
//! `agent_of` finds the calling agent by the variables of its environment, and `agent_above` finds the agent's process. The names
//! of the variables come from these sources, read in July to November 2026:
//! - Claude Code: `CLAUDECODE=1` and `CLAUDE_CODE_SESSION_ID` in every command of its Bash tool, `CLAUDE_CODE_AGENT_ID` in those
//!   of a teammate (code.claude.com/docs/en/env-vars);
//! - Codex: `CODEX_THREAD_ID` (github.com/openai/codex, pull request 10096, 2026-01-28), `CODEX_SANDBOX`;
//! - Gemini CLI: `GEMINI_CLI=1` (geminicli.com/docs/tools/shell);
//! - Cursor: `CURSOR_AGENT=1` (cursor.com/docs/agent/terminal), `CURSOR_TRACE_ID` in its terminal;
//! - Copilot CLI: `COPILOT_CLI=1` and `COPILOT_AGENT_SESSION_ID` (changelog of github.com/github/copilot-cli).

use crate::model::Identity;
use crate::model::process::Ancestor;
use crate::model::who::{Agent, MOST_BYTES, MOST_SESSION_BYTES, Who, clean, is_unseen};

/// One agent: its name, the variables that identify it, the variable with its session, and the one with its subagent.
struct Known {
    name: &'static str,
    signs: &'static [&'static str],
    session: &'static str,
    subagent: Option<&'static str>,
}

/// The agents that set variables of their own. The first one with a set variable counts. An agent that starts another one
/// passes its own variables on, so agents with a session come before those that only mark a terminal.
const KNOWN: [Known; 5] = [
    Known {
        name: "claude-code",
        signs: &["CLAUDECODE"],
        session: "CLAUDE_CODE_SESSION_ID",
        subagent: Some("CLAUDE_CODE_AGENT_ID"),
    },
    Known { name: "codex", signs: &["CODEX_THREAD_ID", "CODEX_SANDBOX"], session: "CODEX_THREAD_ID", subagent: None },
    Known { name: "gemini", signs: &["GEMINI_CLI"], session: "GEMINI_SESSION_ID", subagent: None },
    Known {
        name: "copilot",
        signs: &["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"],
        session: "COPILOT_AGENT_SESSION_ID",
        subagent: None,
    },
    Known { name: "cursor", signs: &["CURSOR_AGENT", "CURSOR_TRACE_ID"], session: "CURSOR_TRACE_ID", subagent: None },
];

/// The name of an agent that gives its session but no name.
const NAMELESS: &str = "agent";

/// The agent that an environment identifies. `LUZIA_AGENT` and `LUZIA_SESSION` come first, then the variables of the agent itself.
pub fn agent_of(variable: &dyn Fn(&str) -> Option<String>) -> Option<Agent> {
    let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let known = KNOWN.iter().find(|known| known.signs.iter().any(|sign| variable(sign).is_some()));
    let given = variable("LUZIA_AGENT").and_then(|name| clean(&name, MOST_BYTES));
    let own = known.and_then(|known| {
        let session = variable(known.session)?;
        Some(session_key(&session, known.subagent.and_then(variable).as_deref()))
    });
    let session = variable("LUZIA_SESSION").or(own).and_then(|key| clean(&key, MOST_SESSION_BYTES));
    let name = given.or_else(|| known.map(|known| known.name.to_owned()));
    let name = name.or_else(|| session.is_some().then(|| NAMELESS.to_owned()))?;
    Some(Agent { name, session })
}

/// Whether an agent calls, and not a person in the agent's terminal: by `LUZIA_AGENT` or the first sign of a known agent.
pub fn is_agent(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let signs = KNOWN.iter().filter_map(|known| known.signs.first().copied());
    std::iter::once("LUZIA_AGENT").chain(signs).any(|name| variable(name).is_some_and(|value| !value.is_empty()))
}

/// The key of a session: a subagent carries the session of its parent and has a session of its own.
pub fn session_key(session_id: &str, agent_id: Option<&str>) -> String {
    match agent_id.filter(|id| !id.is_empty()) {
        Some(agent) => format!("{session_id}/{agent}"),
        None => session_id.to_owned(),
    }
}

/// The reason that a given name or key is invalid; `None` if it is valid.
pub fn refusal(text: &str, most: usize) -> Option<String> {
    if text.trim().is_empty() {
        return Some("it is empty".to_owned());
    }
    if text.len() > most {
        return Some(format!("it is longer than {most} bytes"));
    }
    text.chars().any(is_unseen).then(|| "it has control characters".to_owned())
}

/// Whether two requesters are one: by session if both have one, or else by the name of the agent. `None` if too little is known.
pub fn is_same(one: &Who, other: &Who) -> Option<bool> {
    if let (Some(one), Some(other)) = (&one.session, &other.session) {
        return Some(one == other);
    }
    let (one, other) = (one.agent.as_ref()?, other.agent.as_ref()?);
    (one != other).then_some(false)
}

/// Shells, and programs that only start another program and wait for it. They end with the command, and are not the agent.
const PASSERS: [&str; 32] = [
    "sh", "bash", "dash", "ash", "busybox", "zsh", "fish", "ksh", "ksh93", "mksh", "yash", "csh", "tcsh", "nu",
    "elvish", "xonsh", "pwsh", "rbash", "env", "timeout", "nice", "nohup", "setsid", "stdbuf", "time", "sudo", "doas",
    "su", "script", "unshare", "nsenter", "bwrap",
];

/// The agent among the processes above this one, the nearest first: the nearest process that is neither a shell nor luzia. The
/// first process of the initial pid namespace is never an agent. The first process of another namespace counts as the agent if
/// no other process can be seen, because the sandbox ends with it.
pub fn agent_above(above: &[Ancestor], is_initial_namespace: bool) -> Option<&Ancestor> {
    let agent = above.iter().find(|ancestor| may_be_agent(ancestor));
    let sandbox = || above.last().filter(|last| last.process.pid == 1 && !is_initial_namespace);
    agent.or_else(sandbox)
}

/// Whether a process may be an agent: it is not a shell, not luzia and not the first process of its namespace.
pub fn may_be_agent(ancestor: &Ancestor) -> bool {
    ancestor.process.pid != 1 && !is_passer(ancestor)
}

/// Whether a process only starts others: a shell, luzia, or a program that makes a sandbox.
pub fn is_passer(ancestor: &Ancestor) -> bool {
    let program = ancestor.program.trim_start_matches('-');
    ancestor.is_luzia || program.is_empty() || PASSERS.contains(&program)
}

/// The key of a session without a name: the agent's process, in its pid namespace.
pub fn process_key(process: &Identity, namespace: u64) -> String {
    format!("pid-{}-{}-{namespace}", process.pid, process.start)
}

/// Whether one of the patterns admits a command.
pub fn admits(patterns: &[String], argv: &[String]) -> bool {
    !argv.is_empty() && patterns.iter().any(|pattern| admits_one(pattern, argv))
}

/// Whether one of the patterns admits the name of a variable (`mcp.env`).
pub fn admits_name(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| is_like(pattern, name))
}

fn admits_one(pattern: &str, argv: &[String]) -> bool {
    let words: Vec<&str> = pattern.split_whitespace().collect();
    let (words, fits) = match &words[..] {
        [words @ .., "*"] if !words.is_empty() => (words, argv.len() >= words.len()),
        words => (words, argv.len() == words.len()),
    };
    !words.is_empty() && fits && words.iter().zip(argv).all(|(word, given)| is_like(word, given))
}

/// Whether a text matches a word in which `*` matches any text.
fn is_like(word: &str, text: &str) -> bool {
    let Some((first, rest)) = word.split_once('*') else { return word == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.len() >= last.len() && left.ends_with(last)
}

/// Facts about the two sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sides<'a> {
    /// Whether the agents or their sessions are one; `None` if too little is known of one of them.
    pub same_agent: Option<bool>,
    /// The user of the caller.
    pub caller: &'a str,
    /// The user of the work; `None` for a lane without a user.
    pub holder: Option<&'a str>,
}

/// Whether the work belongs to another requester: to another session or agent, or else to another user.
pub fn is_foreign(sides: Sides) -> bool {
    match sides.same_agent {
        Some(is_same) => !is_same,
        None => sides.holder.is_some_and(|holder| holder != sides.caller),
    }
}

#[cfg(test)]
mod tests;
