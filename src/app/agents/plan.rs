//! The files that `agent setup` changes for each agent, and the content that it adds. Pure.

use super::texts;
use crate::app::shell_word;
use crate::model::AgentKind;
use serde_json::{Map, Value, json};

/// The folders in which an agent keeps its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folders {
    /// The home of the account, or the top of the project.
    pub root: String,
    /// The folder of the agent, if a variable of its own names another folder than the one below the root.
    pub own: Option<String>,
    /// Whether the root is a project.
    pub is_project: bool,
    /// The folder that a sandbox must let luzia write to; not for a project, whose files other accounts read.
    pub locks: Option<String>,
    /// The program as hooks and clients of the server start it: its absolute path, or for a project its name.
    pub program: String,
}

/// One file, and the content that setup adds to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// The absolute path of the file.
    pub path: String,
    /// The content that setup adds.
    pub content: Content,
}

/// The content that setup adds to a file.
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
    /// The whole file belongs to luzia.
    Whole(String),
    /// The whole file belongs to luzia as long as all hooks in it do.
    Hooks(String),
}

/// A part of an object of JSON.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece {
    /// A member that is set if it is missing, and never removed from a file of the user.
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
/// The words after the program in every command of a hook of luzia.
const HOOK: &str = " agent hook ";

/// The events of hooks: at the begin of a session, before the call of a tool, and at the end of the session.
const EVENTS: [&str; 3] = ["SessionStart", "PreToolUse", "SessionEnd"];
/// Time limit of a hook, in seconds.
const SECONDS: u32 = 10;
/// Time limit of the hook at the end of a session, in seconds.
const END_SECONDS: u32 = 2;

/// The files of an agent.
pub fn targets(agent: AgentKind, folders: &Folders) -> Vec<Target> {
    let below = match agent {
        AgentKind::ClaudeCode => ".claude",
        AgentKind::Codex => ".codex",
        AgentKind::Gemini => ".gemini",
        AgentKind::Cursor => ".cursor",
        AgentKind::Copilot if folders.is_project => ".github",
        AgentKind::Copilot => ".copilot",
    };
    let own = |name: &str| folders.in_own(below, name);
    let either =
        |project: &str, account: &str| if folders.is_project { folders.in_root(project) } else { own(account) };
    let pieces = || hooks(agent, &folders.program).map(|(event, value)| Piece::Hook(event, value)).into_iter();
    let grant = |path, prefix| folders.grant(path, prefix).into_iter();
    let servers = |path| json_file(path, [Piece::Server("mcpServers", server(agent, &folders.program))]);
    let own_skill = || skill(own("skills/luzia/SKILL.md"));
    match agent {
        AgentKind::ClaudeCode => vec![
            // `//` begins an absolute path in every version.
            json_file(own("settings.json"), pieces().chain(grant(&["sandbox", "filesystem", "allowWrite"], "/"))),
            servers(match folders.own {
                Some(_) if !folders.is_project => own(".claude.json"),
                _ => folders.in_root(if folders.is_project { ".mcp.json" } else { ".claude.json" }),
            }),
            own_skill(),
            block(either("CLAUDE.md", "CLAUDE.md")),
        ],
        AgentKind::Codex => vec![
            json_file(own("hooks.json"), pieces()),
            Target {
                path: own("config.toml"),
                content: Content::Toml { program: folders.program.clone(), root: folders.locks.clone() },
            },
            skill(folders.in_root(".agents/skills/luzia/SKILL.md")),
            block(either("AGENTS.md", "AGENTS.md")),
        ],
        AgentKind::Gemini => {
            let server = Piece::Server("mcpServers", server(agent, &folders.program));
            let settings = pieces().chain(grant(&["tools", "sandboxAllowedPaths"], "")).chain([server]);
            vec![json_file(own("settings.json"), settings), own_skill(), block(either("GEMINI.md", "GEMINI.md"))]
        }
        AgentKind::Cursor => {
            let version = Piece::Default("version", json!(1));
            let mut found = vec![
                json_file(own("hooks.json"), [version].into_iter().chain(pieces())),
                servers(own("mcp.json")),
                own_skill(),
            ];
            let sandbox = |piece| json_file(own("sandbox.json"), [piece]);
            found.extend(grant(&["additionalReadwritePaths"], "").map(sandbox));
            // The rules of an account are not stored in a file.
            found.extend(folders.is_project.then(|| block(folders.in_root("AGENTS.md"))));
            found
        }
        AgentKind::Copilot => {
            let hooks = hooks(agent, &folders.program).into_iter();
            let lists: Map<String, Value> = hooks.map(|(event, hook)| (event.to_owned(), json!([hook]))).collect();
            let hooks = format!("{:#}\n", json!({ "version": 1, "hooks": lists }));
            let mut found = vec![
                Target { path: own("hooks/luzia.json"), content: Content::Hooks(hooks) },
                servers(either(".github/mcp.json", "mcp-config.json")),
                own_skill(),
                block(either("AGENTS.md", "copilot-instructions.md")),
            ];
            let settings = |piece| json_file(own("settings.json"), [piece]);
            found.extend(grant(&["sandbox", "userPolicy", "filesystem", "readwritePaths"], "").map(settings));
            found
        }
    }
}

impl Folders {
    fn in_root(&self, name: &str) -> String {
        format!("{}/{name}", self.root.trim_end_matches('/'))
    }

    /// A file in the folder of the agent, which is below the root unless a variable names another place.
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

fn json_file(path: String, pieces: impl IntoIterator<Item = Piece>) -> Target {
    Target { path, content: Content::Json(pieces.into_iter().collect()) }
}

fn skill(path: String) -> Target {
    Target { path, content: Content::Whole(texts::skill()) }
}

fn block(path: String) -> Target {
    Target { path, content: Content::Block }
}

/// Whether an element of a list of hooks is luzia's: it has commands, and all of them are luzia's.
pub fn is_our_hook(value: &Value) -> bool {
    let commands = commands_of(value);
    !commands.is_empty() && commands.iter().all(|command| program_of_hook(command).is_some())
}

/// The program of a command of a hook of luzia, as a word of the shell.
pub fn program_of_hook(command: &str) -> Option<&str> {
    let (program, _) = command.split_once(HOOK)?;
    is_luzia(program.trim_matches('\'')).then_some(program)
}

/// Whether setup writes a program in this form: as an absolute path, or by its name.
pub fn is_luzia(program: &str) -> bool {
    program == SERVER || program.starts_with('/')
}

/// All commands in a value.
pub fn commands_of(value: &Value) -> Vec<String> {
    const MEMBERS: [&str; 5] = ["command", "bash", "powershell", "exec", "url"];
    let of_member = |(name, value): (&String, &Value)| match value {
        Value::String(text) if MEMBERS.contains(&name.as_str()) => vec![text.clone()],
        value => commands_of(value),
    };
    match value {
        Value::Object(members) => members.iter().flat_map(of_member).collect(),
        Value::Array(items) => items.iter().flat_map(commands_of).collect(),
        _ => Vec::new(),
    }
}

/// Whether a server is `written` as setup writes it now, or by the name of the program, or with another path of the program.
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

fn server(agent: AgentKind, program: &str) -> Value {
    let mut server = json!({ "command": program, "args": SERVER_ARGUMENTS });
    match agent {
        AgentKind::ClaudeCode => server["type"] = json!("stdio"),
        AgentKind::Copilot => (server["type"], server["tools"]) = (json!("local"), json!(["*"])),
        AgentKind::Codex | AgentKind::Gemini | AgentKind::Cursor => {}
    }
    server
}

/// The hooks of an agent: the events, each with its element of a list of hooks. This spelling of the events makes Copilot name
/// the event in its documents.
fn hooks(agent: AgentKind, program: &str) -> [(&'static str, Value); 3] {
    let ([start, tool, end], matcher) = match agent {
        AgentKind::ClaudeCode => (EVENTS, "Edit|Write|MultiEdit|NotebookEdit|Bash"),
        AgentKind::Codex => (EVENTS, "Bash|apply_patch|Edit|Write"),
        AgentKind::Gemini => (["SessionStart", "BeforeTool", "SessionEnd"], "write_file|replace|run_shell_command"),
        AgentKind::Cursor => {
            (["sessionStart", "preToolUse", "sessionEnd"], "Write|StrReplace|Edit|MultiEdit|Delete|EditNotebook|Shell")
        }
        AgentKind::Copilot => (EVENTS, "Edit|Write|Bash"),
    };
    // Some agents refuse a call whose hook fails, so a host without luzia must not fail.
    let command = format!("{}{HOOK}{agent} 2>/dev/null || true", shell_word(program));
    let hook = |seconds: u32| match agent {
        AgentKind::ClaudeCode | AgentKind::Codex => {
            json!({ "type": "command", "command": command, "timeout": seconds })
        }
        AgentKind::Gemini => {
            json!({ "name": "luzia", "type": "command", "command": command, "timeout": seconds * 1000 })
        }
        AgentKind::Cursor => json!({ "command": command, "timeout": seconds }),
        AgentKind::Copilot => json!({ "type": "command", "bash": command, "timeoutSec": seconds }),
    };
    let is_grouped = !matches!(agent, AgentKind::Cursor | AgentKind::Copilot);
    let element = |matcher: Option<&str>, seconds: u32| {
        let mut element = if is_grouped { json!({}) } else { hook(seconds) };
        if let Some(matcher) = matcher {
            element["matcher"] = json!(matcher);
        }
        if is_grouped {
            element["hooks"] = json!([hook(seconds)]);
        }
        element
    };
    [(start, element(None, SECONDS)), (tool, element(Some(matcher), SECONDS)), (end, element(None, END_SECONDS))]
}
