//! The calls of agents to hooks, and the files of users that `agent setup` changes.

use super::text;
use crate::app::agents::plan::{Content, Folders, targets};
use crate::app::agents::setup::Aim;
use crate::cli::agent;
use crate::cli::args::{self, Command};
use crate::cli::mcp::{self, Message};
use crate::model::{AgentKind, HookAnswer, HookEvent};
use serde_json::Value;
use std::ffi::OsString;

/// Lines to the server of tools: any bytes are read or refused. The arguments of a tool cannot turn its command into another
/// one: they add no option that the tool lacks, and the words of the command stay unchanged.
pub fn mcp(bytes: &[u8]) {
    if let Message::Refused(answer) = mcp::read(bytes) {
        assert!(answer["error"]["code"].is_i64() && answer["error"]["message"].is_string(), "{answer}");
    }
    let Some((tool, words)) = mcp::meant(bytes) else { return };
    let line = ["luzia".to_owned()].into_iter().chain(words.iter().cloned());
    let Ok(cli) = args::parse(line.map(OsString::from).collect()) else { return };
    match (&cli.command, tool.as_str()) {
        (Command::Enqueue(args), "run" | "enqueue") => {
            assert!(words.ends_with(&args.task.command) && args.task.prompt.is_none() && args.task.shell.is_none());
            assert!(args.from.is_none() && args.task.is_separated, "{words:?}");
        }
        (Command::Release(args), "release") => assert!(!args.all && !args.force && args.task.is_none(), "{words:?}"),
        (Command::Cancel(args), "cancel") => assert_eq!(args.tasks.len(), 1, "{words:?}"),
        (command, name) => assert_eq!(command.name(), name, "{words:?}"),
    }
    let globals = &cli.globals;
    let changes = globals.yes || globals.state_dir.is_some() || globals.config.is_some() || globals.output.is_some();
    assert!(!changes, "{words:?}");
}

/// Documents of hooks: any bytes are read or refused; what is read can stand in a variable, in a path and in a line; and every
/// answer is nothing or one document.
pub fn hook(bytes: &[u8]) {
    for kind in AgentKind::ALL {
        let Some(call) = agent::read(kind, bytes) else { continue };
        assert!(serde_json::from_slice::<Value>(bytes).is_ok_and(|value| value.is_object()));
        if let Some(session) = &call.session {
            assert!(!session.is_empty() && !session.chars().any(char::is_control), "{session:?}");
        }
        assert!(call.cwd.is_none_or(|cwd| cwd.starts_with('/') && !cwd.contains('\0')));
        if let HookEvent::Edit(paths) = &call.event {
            assert!(!paths.is_empty() && paths.iter().all(|path| !path.is_empty() && !path.contains('\0')));
        }
        if let HookEvent::Shell(line) = &call.event {
            let _ = crate::policy::hook::heavy_tools(line);
        }
    }
    let said = text(bytes);
    let variables = vec![("LUZIA_SESSION".to_owned(), said.clone())];
    for answer in [
        HookAnswer::Nothing,
        HookAnswer::Note(said.clone()),
        HookAnswer::Deny(said.clone()),
        HookAnswer::Start { context: said, variables },
    ] {
        for kind in AgentKind::ALL {
            let written = agent::write(kind, &answer);
            assert!(written.is_empty() || serde_json::from_str::<Value>(&written).is_ok_and(|value| value.is_object()));
            assert!(!written.contains("\"allow\":") && !written.contains("updatedInput"), "{written}");
            let is_refusal = matches!(answer, HookAnswer::Deny(_));
            let refuses = ["permissionDecision\":\"deny", "decision\":\"deny", "permission\":\"deny"];
            let has_refusal = refuses.iter().any(|word| written.contains(word));
            assert!(has_refusal || !is_refusal, "{written}");
        }
    }
}

/// Settings of users: the entries of setup are valid, a second setup changes nothing, and the entries can be removed.
pub fn settings(bytes: &[u8]) {
    let input = text(bytes);
    let folders = Folders {
        root: "/home/a".to_owned(),
        own: None,
        is_project: false,
        locks: Some("/s/locks".to_owned()),
        program: "/usr/bin/luzia".to_owned(),
    };
    // One file of each form; all other files have one of these forms.
    for (kind, form) in [(AgentKind::ClaudeCode, 0), (AgentKind::Codex, 1), (AgentKind::Codex, 3)] {
        if let Some(target) = targets(kind, &folders).into_iter().nth(form) {
            let Ok(put) = target.content.put_into(&input) else {
                assert!(target.content != Content::Block, "lines can stand in any text");
                continue;
            };
            assert_eq!(target.content.put_into(&put).as_ref(), Ok(&put), "{} {:?}", target.path, Aim::Write);
            let taken = target.content.take_out_of(&put).expect("what was written reads");
            let Some(taken) = taken else { continue };
            let again = target.content.take_out_of(&taken).expect("what was written reads");
            assert_eq!(again.unwrap_or_default(), taken, "{} {:?}", target.path, Aim::Remove);
        }
    }
}
