//! Which files `agent setup` changes for each agent, and what it puts into them. Pure.

use super::texts;
use crate::app::shell_word;
use crate::model::AgentKind;
use serde_json::{Value, json};

/// Where an agent keeps its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folders {
    /// The home of the account, or the top of the project.
    pub root: String,
    /// The folder of the agent, where a variable of its own names another one than that below the root.
    pub own: Option<String>,
    /// Whether the root is a project.
    pub is_project: bool,
    /// The folder that a sandbox must let luzia write to; not for a project, whose files other accounts read.
    pub locks: Option<String>,
    /// The program as hooks and clients of the server start it: its absolute path, or for a project its name.
    pub program: String,
}

/// One file, and what belongs into it.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// Its absolute path.
    pub path: String,
    /// What belongs into it.
    pub content: Content,
}

/// What belongs into a file.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// Members and elements of an object of JSON.
    Json(Vec<Piece>),
    /// A server, and a root of the sandbox, in a file of TOML.
    Toml {
        /// The program of the server.
        program: String,
        /// The folder that may be written.
        root: Option<String>,
    },
    /// Three lines between marks.
    Block,
    /// The whole file is luzia's.
    Whole(String),
    /// The whole file is luzia's as long as all hooks in it are.
    Hooks(String),
}

/// A part of an object of JSON.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece {
    /// A member that is set where it is missing, and never taken out of a file of the user.
    Default(&'static str, Value),
    /// The server `luzia` among those of a member.
    Server(&'static str, Value),
    /// A hook in the list of an event.
    Hook(&'static str, Value),
    /// A text in a list.
    Text(&'static [&'static str], String),
}

/// The name of the server.
pub const SERVER: &str = "luzia";
/// The program and the arguments of the server.
pub const SERVER_ARGUMENTS: [&str; 1] = ["mcp"];
/// What follows the program in every command of a hook of luzia.
const HOOK: &str = " agent hook ";

/// How long a hook may take, in seconds.
const SECONDS: u32 = 10;
/// The command of the hook at the end of a session.
const END_SECONDS: u32 = 2;

/// The files of an agent.
pub fn targets(agent: AgentKind, folders: &Folders) -> Vec<Target> {
    match agent {
        AgentKind::ClaudeCode => claude_targets(folders),
        AgentKind::Codex => codex_targets(folders),
        AgentKind::Gemini => gemini_targets(folders),
        AgentKind::Cursor => cursor_targets(folders),
        AgentKind::Copilot => copilot_targets(folders),
    }
}

impl Folders {
    fn in_root(&self, name: &str) -> String {
        format!("{}/{name}", self.root.trim_end_matches('/'))
    }

    /// A file in the folder of the agent, which stands below the root unless a variable says otherwise.
    fn in_own(&self, below: &str, name: &str) -> String {
        match &self.own {
            Some(own) => format!("{}/{name}", own.trim_end_matches('/')),
            None => self.in_root(&format!("{below}/{name}")),
        }
    }

    /// The right of the sandbox, as an element of a list.
    fn grant(&self, path: &'static [&'static str], prefix: &str) -> Option<Piece> {
        self.locks.as_ref().map(|locks| Piece::Text(path, format!("{prefix}{locks}")))
    }
}

fn json_file(path: String, pieces: Vec<Piece>) -> Target {
    Target { path, content: Content::Json(pieces) }
}

fn skill(path: String) -> Target {
    Target { path, content: Content::Whole(texts::skill()) }
}

fn block(path: String) -> Target {
    Target { path, content: Content::Block }
}

fn claude_targets(folders: &Folders) -> Vec<Target> {
    let mut settings = claude_hooks(&folders.program);
    // `//` begins an absolute path in every version.
    settings.extend(folders.grant(&["sandbox", "filesystem", "allowWrite"], "/"));
    let (servers, instructions) = match (folders.is_project, &folders.own) {
        (true, _) => (folders.in_root(".mcp.json"), folders.in_root("CLAUDE.md")),
        (false, Some(_)) => (folders.in_own("", ".claude.json"), folders.in_own("", "CLAUDE.md")),
        (false, None) => (folders.in_root(".claude.json"), folders.in_root(".claude/CLAUDE.md")),
    };
    let server = Piece::Server("mcpServers", server(&folders.program, &[("type", json!("stdio"))]));
    vec![
        json_file(folders.in_own(".claude", "settings.json"), settings),
        json_file(servers, vec![server]),
        skill(folders.in_own(".claude", "skills/luzia/SKILL.md")),
        block(instructions),
    ]
}

fn codex_targets(folders: &Folders) -> Vec<Target> {
    let instructions =
        if folders.is_project { folders.in_root("AGENTS.md") } else { folders.in_own(".codex", "AGENTS.md") };
    let config = Content::Toml { program: folders.program.clone(), root: folders.locks.clone() };
    vec![
        json_file(folders.in_own(".codex", "hooks.json"), codex_hooks(&folders.program)),
        Target { path: folders.in_own(".codex", "config.toml"), content: config },
        skill(folders.in_root(".agents/skills/luzia/SKILL.md")),
        block(instructions),
    ]
}

fn gemini_targets(folders: &Folders) -> Vec<Target> {
    let instructions =
        if folders.is_project { folders.in_root("GEMINI.md") } else { folders.in_own(".gemini", "GEMINI.md") };
    let mut settings = gemini_hooks(&folders.program);
    settings.extend(folders.grant(&["tools", "sandboxAllowedPaths"], ""));
    settings.push(Piece::Server("mcpServers", server(&folders.program, &[])));
    vec![
        json_file(folders.in_own(".gemini", "settings.json"), settings),
        skill(folders.in_own(".gemini", "skills/luzia/SKILL.md")),
        block(instructions),
    ]
}

fn cursor_targets(folders: &Folders) -> Vec<Target> {
    let mut found = vec![
        json_file(folders.in_own(".cursor", "hooks.json"), cursor_hooks(&folders.program)),
        json_file(
            folders.in_own(".cursor", "mcp.json"),
            vec![Piece::Server("mcpServers", server(&folders.program, &[]))],
        ),
        skill(folders.in_own(".cursor", "skills/luzia/SKILL.md")),
    ];
    if let Some(piece) = folders.grant(&["additionalReadwritePaths"], "") {
        found.push(json_file(folders.in_own(".cursor", "sandbox.json"), vec![piece]));
    }
    // The rules of an account do not stand in a file.
    found.extend(folders.is_project.then(|| block(folders.in_root("AGENTS.md"))));
    found
}

fn copilot_targets(folders: &Folders) -> Vec<Target> {
    let (folder, servers, instructions) = if folders.is_project {
        (".github", folders.in_root(".github/mcp.json"), folders.in_root("AGENTS.md"))
    } else {
        let own = |name: &str| folders.in_own(".copilot", name);
        (".copilot", own("mcp-config.json"), own("copilot-instructions.md"))
    };
    let server =
        Piece::Server("mcpServers", server(&folders.program, &[("type", json!("local")), ("tools", json!(["*"]))]));
    let mut found = vec![
        Target {
            path: folders.in_own(folder, "hooks/luzia.json"),
            content: Content::Hooks(copilot_hooks(&folders.program)),
        },
        json_file(servers, vec![server]),
        skill(folders.in_own(folder, "skills/luzia/SKILL.md")),
        block(instructions),
    ];
    if let Some(piece) = folders.grant(&["sandbox", "userPolicy", "filesystem", "readwritePaths"], "") {
        found.push(json_file(folders.in_own(folder, "settings.json"), vec![piece]));
    }
    found
}

/// Whether an element of a list of hooks is luzia's: it has commands, and all of them are.
pub fn is_our_hook(value: &Value) -> bool {
    let commands = commands_of(value);
    !commands.is_empty() && commands.iter().all(|command| program_of_hook(command).is_some())
}

/// The program of a command of a hook of luzia, as a word of the shell.
pub fn program_of_hook(command: &str) -> Option<&str> {
    let (program, _) = command.split_once(HOOK)?;
    is_luzia(program.trim_matches('\'')).then_some(program)
}

/// Whether setup writes a program so: as an absolute path, or by its name.
pub fn is_luzia(program: &str) -> bool {
    program == SERVER || program.starts_with('/')
}

/// All commands in a value.
pub fn commands_of(value: &Value) -> Vec<String> {
    let mut commands = Vec::new();
    collect_commands(value, &mut commands);
    commands.into_iter().map(str::to_owned).collect()
}

/// Whether a server is `written` as setup writes it, now or by the name of the program, or with another path of the program.
pub fn is_our_server(found: &Value, written: &Value) -> bool {
    if !found.is_object() {
        return false;
    }
    let mut with_ours = found.clone();
    let has_path = found["command"].as_str().is_some_and(|command| command.starts_with('/'));
    with_ours["command"] = written["command"].clone();
    let is_named = found["command"] == SERVER && found["args"] == json!(SERVER_ARGUMENTS) && found.get("env").is_none();
    is_named || has_path && with_ours == *written
}

fn collect_commands<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text)
                        if ["command", "bash", "powershell", "exec", "url"].contains(&name.as_str()) =>
                    {
                        found.push(text);
                    }
                    _ => collect_commands(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_commands(item, found)),
        _ => {}
    }
}

/// The command of a hook. Some agents refuse a call whose hook fails, so a host without luzia must not fail.
fn command(program: &str, agent: AgentKind) -> String {
    format!("{}{HOOK}{agent} 2>/dev/null || true", shell_word(program))
}

fn server(program: &str, more: &[(&str, Value)]) -> Value {
    let mut server = json!({ "command": program, "args": SERVER_ARGUMENTS });
    for (name, value) in more {
        server[*name] = value.clone();
    }
    server
}

/// A group of hooks in the form of Claude Code, which others have taken over.
fn group(matcher: Option<&str>, hook: Value) -> Value {
    match matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
        None => json!({ "hooks": [hook] }),
    }
}

fn claude_hooks(program: &str) -> Vec<Piece> {
    let hook = |seconds: u32| json!({ "type": "command", "command": command(program, AgentKind::ClaudeCode), "timeout": seconds });
    vec![
        Piece::Hook("SessionStart", group(None, hook(SECONDS))),
        Piece::Hook("PreToolUse", group(Some("Edit|Write|MultiEdit|NotebookEdit|Bash"), hook(SECONDS))),
        Piece::Hook("SessionEnd", group(None, hook(END_SECONDS))),
    ]
}

/// The hooks of Claude Code as a file of their own, for its plugin.
pub fn claude_plugin_hooks() -> Value {
    let mut hooks = json!({});
    for piece in claude_hooks(SERVER) {
        if let Piece::Hook(event, value) = piece {
            hooks[event] = json!([value]);
        }
    }
    json!({ "hooks": hooks })
}

/// The servers of Claude Code as a file of their own, for its plugin.
pub fn claude_plugin_servers() -> Value {
    json!({ "mcpServers": { SERVER: server(SERVER, &[("type", json!("stdio"))]) } })
}

/// The manifest of the plugin of Claude Code.
pub fn claude_plugin_manifest() -> Value {
    json!({
        "name": "luzia",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Let agents, scripts and people on one host take turns",
        "license": "MIT OR Apache-2.0",
    })
}

/// The monitor of the plugin: each line it prints is told to the session that uses the skill.
pub fn claude_plugin_monitors() -> Value {
    let command = "last=free; while sleep 10; do luzia check @tree >/dev/null 2>&1; \
                   case $? in 0) now=free ;; 75) now=held ;; *) now=$last ;; esac; \
                   [ \"$now\" = \"$last\" ] || echo \"The lane of this work tree is $now now; luzia explain @tree says more.\"; \
                   last=$now; done";
    json!([{
        "name": "work-tree",
        "command": command,
        "description": "Whether a session holds the lane of this work tree",
        "when": "on-skill-invoke:luzia",
    }])
}

fn codex_hooks(program: &str) -> Vec<Piece> {
    let hook =
        |seconds: u32| json!({ "type": "command", "command": command(program, AgentKind::Codex), "timeout": seconds });
    vec![
        Piece::Hook("SessionStart", group(None, hook(SECONDS))),
        Piece::Hook("PreToolUse", group(Some("Bash|apply_patch|Edit|Write"), hook(SECONDS))),
        Piece::Hook("SessionEnd", group(None, hook(END_SECONDS))),
    ]
}

fn gemini_hooks(program: &str) -> Vec<Piece> {
    let hook = |seconds: u32| {
        let command = command(program, AgentKind::Gemini);
        json!({ "name": "luzia", "type": "command", "command": command, "timeout": seconds * 1000 })
    };
    vec![
        Piece::Hook("SessionStart", group(None, hook(SECONDS))),
        Piece::Hook("BeforeTool", group(Some("write_file|replace|run_shell_command"), hook(SECONDS))),
        Piece::Hook("SessionEnd", group(None, hook(END_SECONDS))),
    ]
}

fn cursor_hooks(program: &str) -> Vec<Piece> {
    let hook = |seconds: u32| json!({ "command": command(program, AgentKind::Cursor), "timeout": seconds });
    let mut tool = hook(SECONDS);
    tool["matcher"] = json!("Write|StrReplace|Edit|MultiEdit|Delete|EditNotebook|Shell");
    vec![
        Piece::Default("version", json!(1)),
        Piece::Hook("sessionStart", hook(SECONDS)),
        Piece::Hook("preToolUse", tool),
        Piece::Hook("sessionEnd", hook(END_SECONDS)),
    ]
}

/// The spelling of the events decides that documents name them.
fn copilot_hooks(program: &str) -> String {
    let hook = |seconds: u32| json!({ "type": "command", "bash": command(program, AgentKind::Copilot), "timeoutSec": seconds });
    let mut tool = hook(SECONDS);
    tool["matcher"] = json!("Edit|Write|Bash");
    let hooks = json!({ "SessionStart": [hook(SECONDS)], "PreToolUse": [tool], "SessionEnd": [hook(END_SECONDS)] });
    format!("{:#}\n", json!({ "version": 1, "hooks": hooks }))
}
