//! `agent setup` on real files: settings as people have them, other people's hooks, links, and what cannot be read.

use crate::support::{Place, Ran, skip};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const AGENTS: [&str; 5] = ["claude-code", "codex", "gemini", "cursor", "copilot"];

const CLAUDE: &str = r#"{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  // I like this one
  "model": "opus",
  "permissions": {
    "allow": ["Bash(git status)", "Edit"],
    "deny": [ ],
  },
  "hooks": {
    "PreToolUse": [
      /* keeps secrets in */
      { "matcher": "Bash", "hooks": [ { "type": "command", "command": "~/.claude/hooks/guard.sh", "timeout": 5 } ] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
  },
  "sandbox": { "enabled": true, "filesystem": { "allowWrite": ["~/.cache"] } }
}
"#;

const CODEX: &str = "# Codex\nmodel = \"gpt-5\"   # fast\napproval_policy = 'on-request'\n\n[sandbox_workspace_write]\n\
    network_access = false # no\nwritable_roots = [\n    \"/data\", # shared\n]\n\n[mcp_servers.docs]\ncommand = \"npx\"\n\
    args = [\"-y\", \"docs\"]\n\n[profiles.deep]\nmodel = \"gpt-5-pro\"\n";

/// Files as somebody may have them, by their paths in the home.
fn files(agent: &str) -> Vec<(&'static str, &'static str)> {
    match agent {
        "claude-code" => vec![
            (".claude/settings.json", CLAUDE),
            (
                ".claude.json",
                "{\"numStartups\": 5,\"mcpServers\":{\"github\":{\"type\":\"http\",\"url\":\"https://x\"}}}",
            ),
            (".claude/CLAUDE.md", "# Mine\n\nBe brief."),
        ],
        "codex" => vec![
            (".codex/config.toml", CODEX),
            (".codex/hooks.json", "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}\n"),
            (".codex/AGENTS.md", "Rules.\n"),
        ],
        "gemini" => vec![(
            ".gemini/settings.json",
            "{\r\n\t\"ui\": { \"theme\": \"GitHub\" }, // dark\r\n\t\"tools\": { \"sandbox\": \"docker\" }\r\n}\r\n",
        )],
        "cursor" => vec![
            (".cursor/hooks.json", "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"./a.sh\"}]}}"),
            (".cursor/mcp.json", "{\n    \"mcpServers\": {}\n}\n"),
            (".cursor/sandbox.json", "{ \"additionalReadwritePaths\": [ \"/cache\" ] }"),
        ],
        _ => vec![
            (".copilot/settings.json", "{\n  // comment\n  \"theme\": \"dim\"\n}\n"),
            (".copilot/mcp-config.json", "{}"),
            (".copilot/hooks/other.json", "{\"version\":1,\"hooks\":{}}"),
        ],
    }
}

struct Home(Place);

impl Home {
    fn new(agent: &str) -> Self {
        let home = Self(Place::new());
        for (name, text) in files(agent) {
            home.write(name, text);
        }
        home
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path("home").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path("home").join(name)).unwrap()
    }

    #[track_caller]
    fn setup(&self, args: &[&str]) -> Ran {
        self.0.luzia(&[&["agent", "setup"], args].concat())
    }

    /// Every file of the home.
    fn all(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.0.path("home"), &mut found);
        found
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.insert(path.to_str().unwrap().to_owned(), std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn setup_keeps_what_others_wrote_and_remove_gives_the_bytes_back() {
    for agent in AGENTS {
        let home = Home::new(agent);
        let before = home.all();
        let shown = home.setup(&[agent, "--dry-run"]).coded(0);
        assert!(shown.out.contains("+++ ") && shown.out.contains(" agent hook "), "{agent}: {}", shown.out);
        let drift = home.setup(&[agent, "--check"]).coded(1);
        assert_eq!(drift.out, shown.out);
        assert_eq!(home.all(), before, "{agent}: a look writes nothing");
        home.setup(&[agent]).coded(0);
        let after = home.all();
        for (name, text) in files(agent) {
            let path = home.0.path("home").join(name).to_str().unwrap().to_owned();
            let now = String::from_utf8(after[&path].clone()).unwrap();
            // Every line of the user is still there, in its order; where something was put in behind a bracket, its parts.
            let mut rest = now.as_str();
            for part in text.split(['\n', '{', '[']).map(str::trim).filter(|part| !part.is_empty()) {
                let at = rest.find(part).unwrap_or_else(|| panic!("{agent} {name}: {part:?} is gone from {now}"));
                rest = &rest[at..];
            }
            if let Some(copy) = after.get(&format!("{path}.luzia.bak")) {
                assert_eq!(copy, text.as_bytes());
            } else {
                assert_eq!(now, text, "{agent} {name}: it has no copy");
            }
        }
        assert_eq!(home.setup(&[agent, "--check"]).coded(0).out, "");
        let again = home.setup(&[agent]).coded(0);
        assert!(again.out.lines().all(|line| line.starts_with("unchanged: ")), "{}", again.out);
        assert_eq!(home.all(), after, "{agent}: a second call changes nothing");
        home.setup(&[agent, "--remove"]).coded(0);
        assert_eq!(home.all(), before, "{agent}");
        home.setup(&[agent, "--remove"]).coded(0);
        assert_eq!(home.all(), before, "{agent}");
    }
}

#[test]
fn the_sandbox_may_write_to_the_folder_of_the_locks_and_to_nothing_else() {
    for (agent, file, words) in [
        ("claude-code", ".claude/settings.json", "\"allowWrite\": [\n"),
        ("codex", ".codex/config.toml", "writable_roots = [\n"),
        ("gemini", ".gemini/settings.json", "\"sandboxAllowedPaths\": [\r\n"),
        ("cursor", ".cursor/sandbox.json", "\"additionalReadwritePaths\": [\n"),
        ("copilot", ".copilot/settings.json", "\"readwritePaths\": [\n"),
    ] {
        let home = Home::new(agent);
        home.setup(&[agent]).coded(0);
        let text = home.read(file);
        let prefix = if agent == "claude-code" { "\"/" } else { "\"" };
        let locks = format!("{prefix}{}/locks\"", home.0.state().to_str().unwrap());
        assert!(text.contains(&locks) && text.contains(words), "{agent}: {text}");
        assert_eq!(text.matches(home.0.state().to_str().unwrap()).count(), 1, "{agent}: {text}");
    }
}

#[test]
fn every_hook_that_is_written_is_one_that_luzia_answers_and_never_fails() {
    for agent in AGENTS {
        let home = Home(Place::new());
        home.setup(&[agent]).coded(0);
        let mut commands = Vec::new();
        for (path, bytes) in home.all() {
            let text = String::from_utf8(bytes).unwrap();
            if path.ends_with(".json") {
                let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
                commands_in(&value, &mut commands);
            }
        }
        assert!(commands.len() >= 2, "{agent}: {commands:?}");
        let call = json!({ "hook_event_name": "SessionStart", "session_id": "s", "cwd": "/" });
        std::fs::write(home.0.path("call.json"), call.to_string()).unwrap();
        for command in commands {
            assert!(command.starts_with(&format!("{} agent hook {agent} ", crate::support::LUZIA)), "{command}");
            // With luzia on PATH, and without, as for an editor that is started from a desktop; also once it is gone.
            for (folder, command) in [
                (Path::new(crate::support::LUZIA).parent().unwrap(), command.clone()),
                (Path::new("/nowhere"), command.clone()),
                (Path::new("/nowhere"), command.replace(crate::support::LUZIA, "/nowhere/luzia")),
            ] {
                let mut shell = home.0.shell(&command);
                let path = format!("{}:/usr/bin:/bin", folder.to_str().unwrap());
                shell.env("PATH", path).stdin(std::fs::File::open(home.0.path("call.json")).unwrap());
                let ran = home.0.spawn(&mut shell).end().coded(0);
                assert!(ran.err.is_empty(), "{command}: {}", ran.err);
                assert_eq!(ran.out.is_empty(), command.starts_with("/nowhere"), "{command}: {}", ran.out);
            }
        }
    }
}

fn commands_in(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str().filter(|_| name == "command" || name == "bash") {
                    Some(text) if text.contains(' ') => found.push(text.to_owned()),
                    _ => commands_in(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| commands_in(item, found)),
        _ => {}
    }
}

#[test]
fn after_remove_no_copy_stays_also_where_somebody_has_changed_the_file_since() {
    for agent in AGENTS {
        let home = Home::new(agent);
        home.setup(&[agent]).coded(0);
        for (name, _) in files(agent).iter().filter(|(name, _)| name.ends_with(".json")) {
            let text = home.read(name);
            home.write(name, &format!("// mine, later\n{text}"));
        }
        home.setup(&[agent, "--remove"]).coded(0);
        let left: Vec<String> = home.all().into_keys().filter(|path| path.ends_with(".luzia.bak")).collect();
        assert_eq!(left, Vec::<String>::new(), "{agent}");
        for (name, _) in files(agent).iter().filter(|(name, _)| name.ends_with(".json")) {
            let text = home.read(name);
            assert!(text.starts_with("// mine, later\n") && !text.contains("agent hook"), "{agent} {name}: {text}");
        }
    }
}

#[test]
fn setup_makes_the_state_directory_and_a_project_does_not() {
    let home = Home(Place::new());
    home.setup(&["claude-code", "--dry-run"]).coded(0);
    home.setup(&["claude-code", "--check"]).coded(1);
    home.setup(&["claude-code", "--project"]).coded(0);
    home.setup(&["claude-code", "--remove"]).coded(0);
    assert!(!home.0.state().exists());
    let ran = home.setup(&["claude-code"]).coded(0);
    assert!(home.0.state().join("locks").exists());
    assert!(ran.err.contains("\"mcp\": {\"allow\"") && ran.err.contains("luzia config path"), "{}", ran.err);
    home.0.configure(&json!({ "mcp": { "allow": ["make"] } }));
    assert_eq!(home.setup(&["claude-code"]).coded(0).err, "");
}

#[test]
fn a_hook_or_server_whose_program_is_gone_is_told_by_doctor_and_mended_by_setup() {
    let told = |home: &Home| {
        let items = home.0.luzia(&["--json", "doctor"]).json()["items"].clone();
        let mine = items.as_array().unwrap().iter().filter(|item| item["check"] == "agents");
        mine.map(|item| format!("{} {} {}", item["level"], item["message"], item["hint"])).collect::<Vec<_>>()
    };
    for agent in AGENTS {
        let home = Home::new(agent);
        home.0.ok(&["lock", "-l", "x", "--", "true"]);
        assert_eq!(told(&home), Vec::<String>::new(), "{agent}: nothing was set up");
        home.setup(&[agent]).coded(0);
        assert_eq!(told(&home).len(), 1);
        assert!(told(&home)[0].starts_with("\"ok\""), "{agent}: {:?}", told(&home));
        let set_up = home.all();
        // An update has put the program somewhere else.
        let mut files = 0;
        for (path, bytes) in &set_up {
            let text = String::from_utf8(bytes.clone()).unwrap();
            if text.contains(crate::support::LUZIA) {
                std::fs::write(path, text.replace(crate::support::LUZIA, "/opt/old/luzia")).unwrap();
                files += 1;
            }
        }
        assert_eq!(told(&home).len(), files, "{agent}: {:?}", told(&home));
        for line in told(&home) {
            assert!(line.contains("/opt/old/luzia") && line.contains(&format!("luzia agent setup {agent}")), "{line}");
        }
        home.setup(&[agent]).coded(0);
        assert_eq!(told(&home).len(), 1, "{agent}: {:?}", told(&home));
        assert_eq!(home.setup(&[agent, "--check"]).coded(0).out, "");
    }
}

#[test]
fn what_an_earlier_version_wrote_makes_room_and_is_removed() {
    for agent in AGENTS {
        let home = Home::new(agent);
        let before = home.all();
        home.setup(&[agent]).coded(0);
        for (path, bytes) in home.all() {
            let text = String::from_utf8(bytes).unwrap();
            std::fs::write(path, text.replace(crate::support::LUZIA, "luzia")).unwrap();
        }
        home.setup(&[agent, "--check"]).coded(1);
        home.setup(&[agent]).coded(0);
        assert_eq!(home.setup(&[agent, "--check"]).coded(0).out, "");
        home.setup(&[agent, "--remove"]).coded(0);
        for (path, bytes) in home.all() {
            assert!(
                before.contains_key(&path) && !String::from_utf8_lossy(&bytes).contains("luzia"),
                "{agent}: {path}"
            );
        }
    }
}

#[test]
fn a_file_that_does_not_read_changes_nothing() {
    for (agent, file, text, place) in [
        ("claude-code", ".claude/settings.json", "{\n  \"a\": 1,\n  \"b\" 2\n}\n", "line 3 column"),
        ("claude-code", ".claude.json", "{\"mcpServers\": []}", "line 1 column 16"),
        ("codex", ".codex/config.toml", "a = 1\nb = [\n", "line "),
        ("codex", ".codex/hooks.json", "[]", "line 1 column 1"),
        ("gemini", ".gemini/settings.json", "{\"hooks\": 5}", "line 1 column 11"),
        ("cursor", ".cursor/sandbox.json", "{", "line 1 column"),
        ("copilot", ".copilot/settings.json", "nonsense", "line 1 column 1"),
    ] {
        let home = Home::new(agent);
        home.write(file, text);
        let before = home.all();
        for more in [&[][..], &["--remove"], &["--check"], &["--dry-run"]] {
            if more == ["--remove"] && (text.ends_with("[]}") || text.contains("\"hooks\": 5")) {
                // It reads, and has nothing of luzia's.
                continue;
            }
            let ran = home.setup(&[&[agent], more].concat()).coded(65);
            assert!(ran.err.contains(file) && ran.err.contains(place), "{agent} {more:?}: {}", ran.err);
            assert_eq!(home.all(), before, "{agent} {more:?}");
        }
    }
    let home = Home::new("gemini");
    std::fs::write(home.0.path("home/.gemini/settings.json"), b"{\"a\": \"\xff\"}").unwrap();
    let ran = home.setup(&["gemini"]).coded(65);
    assert!(ran.err.contains("line 1 column 8") && ran.err.contains("UTF-8"), "{}", ran.err);
}

#[test]
fn a_link_stays_and_permissions_stay() {
    let home = Home::new("claude-code");
    std::fs::create_dir_all(home.0.path("dotfiles")).unwrap();
    let (link, real) = (home.0.path("home/.claude/settings.json"), home.0.path("dotfiles/settings.json"));
    std::fs::rename(&link, &real).unwrap();
    symlink("../../dotfiles/settings.json", &link).unwrap();
    // This one leads to nothing yet.
    std::fs::remove_file(home.0.path("home/.claude/CLAUDE.md")).unwrap();
    symlink(home.0.path("dotfiles/claude.md"), home.0.path("home/.claude/CLAUDE.md")).unwrap();
    std::fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    std::fs::set_permissions(home.0.path("home/.claude.json"), Permissions::from_mode(0o600)).unwrap();
    home.setup(&["claude-code"]).coded(0);
    assert!(link.is_symlink() && home.0.path("home/.claude/CLAUDE.md").is_symlink());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert!(std::fs::read_to_string(&real).unwrap().contains(" agent hook "));
    assert!(std::fs::read_to_string(home.0.path("dotfiles/claude.md")).unwrap().contains("luzia lock"));
    for (name, wanted) in [(".claude.json", 0o600), (".claude.json.luzia.bak", 0o600), (".claude/settings.json", 0o640)]
    {
        assert_eq!(mode(&home.0.path("home").join(name)), wanted, "{name}");
    }
    assert_eq!(std::fs::read_dir(home.0.path("dotfiles")).unwrap().count(), 2, "nothing is left beside them");
    home.setup(&["claude-code", "--remove"]).coded(0);
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), CLAUDE);
}

#[test]
fn a_project_has_its_own_files_and_none_of_an_account() {
    for agent in AGENTS {
        let home = Home::new(agent);
        let before = home.all();
        let top = home.0.path("project");
        assert!(std::process::Command::new("git").args(["init", "-q"]).arg(&top).status().unwrap().success());
        std::fs::create_dir(top.join("src")).unwrap();
        let call = |more: &[&str]| {
            let mut command = home.0.command(&[&["agent", "setup", agent, "--project"], more].concat());
            home.0.spawn(command.current_dir(top.join("src"))).end()
        };
        call(&[]).coded(0);
        assert_eq!(home.all(), before, "{agent}");
        let mut found = BTreeMap::new();
        collect(&top, &mut found);
        found.retain(|path, _| !path.contains("/.git/"));
        assert!(found.len() >= 3, "{agent}: {:?}", found.keys());
        let state = home.0.state().to_str().unwrap().to_owned();
        for (path, bytes) in &found {
            let text = String::from_utf8_lossy(bytes);
            assert!(!text.contains(&state) && !text.contains(home.0.path("home").to_str().unwrap()), "{path}");
        }
        call(&["--check"]).coded(0);
        call(&["--remove"]).coded(0);
        let mut rest = BTreeMap::new();
        collect(&top, &mut rest);
        rest.retain(|path, _| !path.contains("/.git/"));
        assert_eq!(rest, BTreeMap::new(), "{agent}");
    }
}

#[test]
fn surroundings_that_setup_cannot_use_are_told() {
    let home = Home::new("cursor");
    let before = home.all();
    let mut command = home.0.command(&["agent", "setup", "cursor"]);
    let ran = home.0.spawn(command.env("HOME", "relative")).end().coded(78);
    assert!(ran.err.contains("no home"), "{}", ran.err);
    for (args, code) in
        [(&["nobody"][..], 2), (&[], 2), (&["cursor", "--check", "--remove"], 2), (&["cursor", "--bogus"], 2)]
    {
        assert!(!home.setup(args).coded(code).err.is_empty(), "{args:?}");
    }
    std::fs::create_dir(home.0.path("home/.cursor/skills")).unwrap();
    std::fs::write(home.0.path("home/.cursor/skills/luzia"), "a file").unwrap();
    let ran = home.setup(&["cursor"]).coded(73);
    assert!(ran.err.contains("SKILL.md"), "{}", ran.err);
    std::fs::remove_file(home.0.path("home/.cursor/skills/luzia")).unwrap();
    home.setup(&["cursor"]).coded(0);
    home.setup(&["cursor", "--remove"]).coded(0);
    assert_eq!(home.all(), before);
    let folder = home.0.text("own");
    let mut command = home.0.command(&["agent", "setup", "copilot"]);
    home.0.spawn(command.env("COPILOT_HOME", &folder)).end().coded(0);
    assert!(home.0.path("own/hooks/luzia.json").exists() && !home.0.path("home/.copilot").exists());
}

/// A sandbox in which only the folder of the locks can be written, as after setup.
#[test]
fn the_grant_is_enough_for_locks_and_leases() {
    let home = Home(Place::new());
    home.0.ok(&["enqueue", "-u", "a", "--", "true"]);
    let script = "mount --bind $S $S && mount --bind $S/locks $S/locks && mount -o remount,ro,bind $S && exec \"$@\"";
    let sandbox = |args: &[&str]| {
        let mut command = home.0.shell("exec unshare -m sh -c \"$SCRIPT\" sh \"$@\"");
        command.arg("sh").args(args).env("SCRIPT", script).env("S", home.0.state());
        home.0.spawn(&mut command).end()
    };
    if sandbox(&["true"]).code != 0 {
        return skip("the_grant_is_enough_for_locks_and_leases", "the right to make a mount namespace");
    }
    let luzia = crate::support::LUZIA;
    assert_eq!(sandbox(&[luzia, "lock", "-l", "x", "--", "echo", "held"]).coded(0).out, "held\n");
    sandbox(&[luzia, "acquire", "lane:y", "--task", "t"]).coded(0);
    sandbox(&[luzia, "acquire", "lane:z", "--session=s"]).coded(0);
    home.0.luzia(&["check", "lane:z"]).coded(75);
    // A task cannot be queued, and the way on is no other directory.
    let refused = sandbox(&[luzia, "enqueue", "-u", "a", "--", "true"]);
    assert!(refused.code != 0 && refused.err.contains("luzia agent setup"), "{}", refused.err);
    assert!(!refused.err.contains("--state-dir"), "{}", refused.err);
    home.0.ok(&["release", "lane:z", "--session=s"]);
}
