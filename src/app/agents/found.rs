//! The programs that the hooks and servers in the files of agents name, for `doctor`.

use super::plan::{Content, Folders, SERVER, commands_of, program_of_hook, targets};
use super::{json_text, toml_text};
use crate::model::AgentKind;
use crate::os::user_files::UserFiles;

/// A program that a file of an agent names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The agent.
    pub agent: AgentKind,
    /// The file.
    pub path: String,
    /// The program, as a path or as a name on PATH.
    pub program: String,
    /// Whether the program can be started.
    pub is_there: bool,
}

/// The programs that the files of an agent name, each once a file. A damaged file names no program.
pub fn named_programs(
    files: &dyn UserFiles,
    agent: AgentKind,
    folders: &Folders,
    is_there: &dyn Fn(&str) -> bool,
) -> Vec<Named> {
    let mut found = Vec::new();
    for target in targets(agent, folders) {
        let text =
            files.read(&target.path, super::setup::LONGEST).ok().flatten().and_then(|it| String::from_utf8(it).ok());
        let Some(text) = text else { continue };
        let mut programs = match target.content {
            Content::Json(_) | Content::Hooks(_) => programs_in(&text),
            Content::Toml { .. } => toml_text::server_program(&text).into_iter().collect(),
            Content::Block | Content::Whole(_) => Vec::new(),
        };
        programs.sort();
        programs.dedup();
        let named = |program: String| Named { agent, path: target.path.clone(), is_there: is_there(&program), program };
        found.extend(programs.into_iter().map(named));
    }
    found
}

fn programs_in(text: &str) -> Vec<String> {
    let value = |path: &[&str]| json_text::value_at(text, path).ok().flatten();
    let hooks = value(&["hooks"]).map(|hooks| commands_of(&hooks)).unwrap_or_default();
    let hooks = hooks.iter().filter_map(|command| Some(program_of_hook(command)?.trim_matches('\'').to_owned()));
    let server = value(&["mcpServers", SERVER, "command"]).and_then(|command| Some(command.as_str()?.to_owned()));
    hooks.chain(server).collect()
}
