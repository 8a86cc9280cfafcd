//! Setup on files that stand in memory: what is written, and that taking it out gives the old bytes back.

use super::json_text;
use super::plan::{Content, Folders, targets};
use super::setup::{Aim, Change, carry_out, changes};
use crate::app::Kind;
use crate::model::AgentKind;
use crate::os::user_files::UserFiles;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

#[derive(Default)]
struct Memory(RefCell<BTreeMap<String, Vec<u8>>>);

impl UserFiles for Memory {
    fn read(&self, path: &str, _: u64) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().get(path).cloned())
    }

    fn replace(&self, path: &str, was: Option<&[u8]>, bytes: &[u8]) -> io::Result<()> {
        assert_eq!(self.0.borrow().get(path).map(Vec::as_slice), was, "{path}");
        self.0.borrow_mut().insert(path.to_owned(), bytes.to_owned());
        Ok(())
    }

    fn copy(&self, path: &str, copy: &str) -> io::Result<()> {
        let bytes = self.0.borrow()[path].clone();
        self.0.borrow_mut().insert(copy.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, path: &str, was: &[u8]) -> io::Result<()> {
        let old = self.0.borrow_mut().remove(path);
        assert_eq!(old.as_deref(), Some(was), "{path}");
        Ok(())
    }

    fn remove_empty_folder(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn append(&self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

impl Memory {
    fn run(&self, agent: AgentKind, aim: Aim) -> usize {
        let made = changes(self, agent, &folders(), aim).expect("every file reads");
        carry_out(self, &made).expect("memory takes it");
        made.iter().filter(|change| change.is_real()).count()
    }
}

fn folders() -> Folders {
    Folders {
        root: "/home/a".to_owned(),
        own: None,
        is_project: false,
        locks: Some("/s/locks".to_owned()),
        program: "/usr/bin/luzia".to_owned(),
    }
}

/// Texts of JSON with comments, other people's entries, odd blanks, and lists and objects that setup needs.
fn settings() -> impl Strategy<Value = String> {
    let hooks = prop_oneof![
        Just("{}"),
        Just("{ }"),
        Just("{\"PreToolUse\":[]}"),
        Just(
            "{ // theirs\n \"PreToolUse\": [ {\"matcher\": \"Bash\", \"hooks\": [{\"command\": \"./x\"}]} /* one */ , ] }"
        ),
        Just("{\r\n\t\"SessionEnd\" : [ ] }"),
        Just("{\"preToolUse\":[{\"command\":\"x\"}],\"BeforeTool\":[1]}"),
    ];
    let rest = prop_oneof![
        Just(""),
        Just("\"model\": \"m\""),
        Just("\"mcpServers\": {\"other\": {\"command\": \"o\"}}, // servers\n\"z\": [1, 2,]"),
        Just("\"sandbox\": {\"filesystem\": {\"allowWrite\": [\"/a\"]}}, \"tools\": {\"sandboxAllowedPaths\": []}"),
        Just("\"additionalReadwritePaths\": [\"/b\"], \"version\": 1, \"mcpServers\": {}"),
    ];
    let blank = prop_oneof![Just(""), Just(" "), Just("\n  "), Just("\n\t"), Just(" /* a */ "), Just("\n  // b\n  ")];
    (hooks, rest, blank.clone(), blank.clone(), blank, any::<bool>(), any::<bool>()).prop_map(
        |(hooks, rest, a, b, c, has_hooks, is_first)| {
            let hooks = if has_hooks { format!("\"hooks\":{a}{hooks}") } else { String::new() };
            let (one, two) = if is_first { (hooks, rest.to_owned()) } else { (rest.to_owned(), hooks) };
            let comma = if one.is_empty() || two.is_empty() { "" } else { "," };
            format!("{{{a}{one}{b}{comma}{two}{c}}}\n")
        },
    )
}

proptest! {
    #[test]
    fn removing_gives_the_old_bytes_back(text in settings(), lines in "(\n|a|#| )*", agent in 0..5_usize) {
        let agent = AgentKind::ALL[agent];
        let files = Memory::default();
        for target in targets(agent, &folders()) {
            match target.content {
                Content::Json(_) => drop(files.0.borrow_mut().insert(target.path, text.clone().into_bytes())),
                Content::Block => drop(files.0.borrow_mut().insert(target.path, lines.clone().into_bytes())),
                Content::Toml { .. } | Content::Whole(_) | Content::Hooks(_) => {}
            }
        }
        let before = files.0.borrow().clone();
        prop_assert!(files.run(agent, Aim::Write) > 0);
        let after = files.0.borrow().clone();
        prop_assert_eq!(files.run(agent, Aim::Write), 0, "a second call changes nothing");
        prop_assert_eq!(&*files.0.borrow(), &after);
        files.run(agent, Aim::Remove);
        prop_assert_eq!(&*files.0.borrow(), &before);
        prop_assert_eq!(files.run(agent, Aim::Remove), 0);
    }

    #[test]
    fn without_a_copy_everything_of_others_stays(text in settings(), agent in 0..5_usize) {
        for target in targets(AgentKind::ALL[agent], &folders()) {
            let Content::Json(_) = target.content else { continue };
            let put = target.content.put_into(&text).expect("it reads");
            for comment in ["// theirs", "/* one */", "// servers", "/* a */", "// b", "./x", "\"o\"", "\"m\""] {
                prop_assert_eq!(put.matches(comment).count(), text.matches(comment).count(), "{}", comment);
            }
            let taken = target.content.take_out_of(&put).expect("it reads").unwrap_or_else(|| "{}".to_owned());
            prop_assert_eq!(bare(&taken), bare(&text), "{}", taken);
        }
    }
}

/// The value of a text of JSON without empty lists and objects, and without the version of a file of hooks.
fn bare(text: &str) -> Value {
    fn prune(value: &mut Value) {
        if let Value::Object(members) = value {
            members.values_mut().for_each(prune);
            members.retain(|name, value| *value != json!({}) && *value != json!([]) && name != "version");
        }
    }
    let mut members = serde_json::Map::new();
    for name in ["hooks", "model", "mcpServers", "z", "sandbox", "tools", "additionalReadwritePaths"] {
        if let Some(value) = json_text::value_at(text, &[name]).expect("it reads") {
            members.insert(name.to_owned(), value);
        }
    }
    let mut value = Value::Object(members);
    prune(&mut value);
    value
}

#[test]
fn toml_of_others_stays() {
    let parts = [
        "model = \"m\" # mine\n",
        "\n# a comment\n\n",
        "[sandbox_workspace_write]\nwritable_roots = [\n  \"/a\", # one\n]\nnetwork_access = true\n",
        "[mcp_servers.other]\ncommand = \"o\"\nargs = ['x']\n",
        "[features]\nhooks = true\n",
        "[[profiles.list]]\n  a = 1\n",
    ];
    for mask in 0..64_u32 {
        let text: String =
            parts.iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0).map(|(_, part)| *part).collect();
        let content = Content::Toml { program: "/usr/bin/luzia".to_owned(), root: Some("/s/locks".to_owned()) };
        let put = content.put_into(&text).expect("it reads");
        let mut lines = put.lines();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            assert!(lines.any(|one| one == line), "{line:?} is gone or moved:\n{put}");
        }
        assert!(put.contains("[mcp_servers.luzia]\ncommand = \"/usr/bin/luzia\"\nargs = [\"mcp\"]\n"), "{put}");
        assert!(put.contains("\"/s/locks\""), "{put}");
        assert_eq!(content.put_into(&put).expect("it reads"), put);
        let taken = content.take_out_of(&put).expect("it reads").unwrap_or_default();
        let words = |text: &str| text.split_whitespace().collect::<String>().replace(",]", "]");
        assert_eq!(words(&taken), words(&text), "{taken}");
    }
}

#[test]
fn what_is_of_another_kind_is_refused_with_its_place() {
    let json = |text: &str| targets(AgentKind::ClaudeCode, &folders())[0].content.put_into(text).expect_err(text);
    for (text, line, column) in [
        ("{\n  \"hooks\": []\n}", 2, 12),
        ("{\"hooks\": {\n\"PreToolUse\": 5}}", 2, 15),
        ("{\n \"a\": 1\n \"b\": 2 }", 2, 8),
        ("{\"a\":", 1, 6),
        ("[]", 1, 1),
        ("{} x", 1, 4),
        ("{'a': 1}", 1, 2),
        ("\u{feff}{}", 1, 1),
    ] {
        let broken = json(text);
        assert_eq!((broken.line, broken.column), (line, column), "{text}: {}", broken.message);
    }
    for (text, line, column) in [
        ("a = 1\nb = ", 2, 5),
        ("mcp_servers = 5\n", 1, 15),
        ("\n[sandbox_workspace_write]\nwritable_roots = \"/a\"\n", 3, 18),
    ] {
        let broken =
            Content::Toml { program: "luzia".to_owned(), root: Some("/r".to_owned()) }.put_into(text).expect_err(text);
        assert_eq!((broken.line, broken.column), (line, column), "{text}: {}", broken.message);
    }
}

#[test]
fn a_broken_file_stops_setup_before_anything_is_written() {
    for agent in AgentKind::ALL {
        for target in targets(agent, &folders()) {
            let broken = match target.content {
                Content::Json(_) => "{",
                Content::Toml { .. } => "= 1",
                Content::Block | Content::Whole(_) | Content::Hooks(_) => continue,
            };
            let files = Memory::default();
            files.0.borrow_mut().insert(target.path.clone(), broken.into());
            for aim in [Aim::Write, Aim::Remove] {
                let error = changes(&files, agent, &folders(), aim).expect_err("it is broken");
                assert_eq!(error.kind(), Kind::Corrupt);
                assert!(error.message().contains(&target.path) && error.message().contains("line 1"), "{error}");
            }
            assert_eq!(files.0.borrow().len(), 1);
        }
    }
}

#[test]
fn a_file_that_was_changed_since_loses_only_what_setup_wrote() {
    let files = Memory::default();
    let path = "/home/a/.claude/settings.json";
    files.0.borrow_mut().insert(path.to_owned(), b"{\n  \"model\": \"m\"\n}\n".to_vec());
    files.run(AgentKind::ClaudeCode, Aim::Write);
    let text = String::from_utf8(files.0.borrow()[path].clone()).expect("text");
    let edited = text.replace("\"m\"", "\"n\", // mine\n  \"env\": {\"A\": \"b\"}");
    assert_ne!(edited, text);
    files.0.borrow_mut().insert(path.to_owned(), edited.into_bytes());
    files.run(AgentKind::ClaudeCode, Aim::Remove);
    let rest = String::from_utf8(files.0.borrow()[path].clone()).expect("text");
    assert_eq!(rest, "{\n  \"model\": \"n\", // mine\n  \"env\": {\"A\": \"b\"}\n}\n");
}

#[test]
fn a_server_and_a_skill_of_the_user_stay() {
    let files = Memory::default();
    let (servers, skill) = ("/home/a/.claude.json", "/home/a/.claude/skills/luzia/SKILL.md");
    let own = "{\"mcpServers\": {\"luzia\": {\"command\": \"/opt/luzia\", \"args\": [\"mcp\"]}}}\n";
    files.0.borrow_mut().insert(servers.to_owned(), own.into());
    files.run(AgentKind::ClaudeCode, Aim::Write);
    assert_eq!(files.0.borrow()[servers], own.as_bytes());
    files.0.borrow_mut().insert(skill.to_owned(), b"my own".to_vec());
    let left: Vec<Change> = changes(&files, AgentKind::ClaudeCode, &folders(), Aim::Remove).expect("it reads");
    assert!(left.iter().any(|change| change.path == skill && change.is_left));
    files.run(AgentKind::ClaudeCode, Aim::Remove);
    assert_eq!(files.0.borrow()[servers], own.as_bytes());
    assert_eq!(files.0.borrow()[skill], b"my own");
}

#[test]
fn a_hook_of_an_older_version_is_replaced() {
    let files = Memory::default();
    let path = "/home/a/.claude/settings.json";
    let old = json!({ "hooks": { "PreToolUse": [
        { "hooks": [{ "type": "command", "command": "luzia agent hook claude-code" }] },
        { "hooks": [{ "type": "command", "command": "luzia agent hook claude-code; ./own" }, { "command": "x" }] },
    ] } });
    files.0.borrow_mut().insert(path.to_owned(), old.to_string().into_bytes());
    files.run(AgentKind::ClaudeCode, Aim::Write);
    let text = String::from_utf8(files.0.borrow()[path].clone()).expect("text");
    let hooks = json_text::value_at(&text, &["hooks", "PreToolUse"]).expect("it reads").expect("a list");
    assert_eq!(hooks.as_array().map(Vec::len), Some(2), "{text}");
    assert_eq!(hooks[1]["hooks"][1]["command"], "x");
}
