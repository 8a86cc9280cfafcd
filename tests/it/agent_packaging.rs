//! What is packaged for agents is what setup writes, and names commands that exist.
//!
//! `UPDATE_GENERATED=1 cargo test agent_packaging` rewrites the files that are made from the source.

use crate::support::{Place, until};
use luzia::app::agents::plan::{Content, Folders, Piece, targets};
use luzia::app::agents::texts::{self, LINES, PARTS};
use luzia::cli::args;
use luzia::model::AgentKind;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A command that comes with another part of this version.
const EXPECTED: [&str; 1] = ["mcp"];

fn packaged(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("packaging/agents").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(packaged(name)).unwrap_or_default()
}

/// The hooks and the servers of Claude Code as files of their own, as setup writes them for a project.
fn hooks_and_servers() -> (Value, Value) {
    let program = "luzia".to_owned();
    let folders = Folders { root: ".".to_owned(), own: None, is_project: true, locks: None, program };
    let (mut hooks, mut servers) = (json!({}), json!({}));
    for target in targets(AgentKind::ClaudeCode, &folders) {
        let Content::Json(pieces) = target.content else { continue };
        for piece in pieces {
            match piece {
                Piece::Hook(event, hook) => hooks[event] = json!([hook]),
                Piece::Server(member, server) => servers[member]["luzia"] = server,
                Piece::Default(..) | Piece::Text(..) => {}
            }
        }
    }
    (json!({ "hooks": hooks }), servers)
}

/// The manifests: of the plugin of Claude Code, of a marketplace that offers this plugin alone, of a bundle for clients of
/// MCP, and the entry in a registry of MCP servers. `packaging/release` writes the addresses of a release into the last one.
fn manifests() -> [(&'static str, Value); 4] {
    let about = "Let agents, scripts and people on one host take turns";
    let (version, license) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_LICENSE"));
    let author = json!({ "name": "The luzia authors" });
    let keywords = ["queue", "lock", "agents", "scheduler"];
    [
        (
            ".claude-plugin/plugin.json",
            json!({
                "name": "luzia", "version": version, "description": about, "author": author, "license": license,
                "keywords": keywords,
            }),
        ),
        (
            ".claude-plugin/marketplace.json",
            json!({
                "name": "luzia", "description": about, "owner": author,
                "plugins": [{ "name": "luzia", "description": about, "source": "./" }],
            }),
        ),
        (
            "mcp/manifest.json",
            json!({
                "manifest_version": "0.3", "name": "luzia", "version": version, "description": about, "author": author,
                "license": license, "keywords": keywords, "tools_generated": true,
                "server": {
                    "type": "binary", "entry_point": "server/luzia",
                    "mcp_config": { "command": "${__dirname}/server/luzia", "args": ["mcp"] },
                },
                "compatibility": { "platforms": ["linux"] },
            }),
        ),
        (
            "mcp/server.json",
            json!({
                "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
                "name": "io.github.OWNER/luzia", "title": "luzia", "description": about, "version": version,
            }),
        ),
    ]
}

/// The monitor of the plugin: each line it prints is told to the session that uses the skill.
fn monitors() -> Value {
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

/// The instructions for a file of one's own.
fn instructions() -> String {
    let points = PARTS.iter().flat_map(|part| part.points).map(|point| format!("- {point}\n"));
    format!("# Taking turns on this host\n\n{}\n\n{}", LINES[0], points.collect::<String>())
}

/// The example of a system prompt.
fn prompt() -> String {
    let points = PARTS[0].points.iter().chain(PARTS[3].points).map(|point| format!("> - {point}\n"));
    format!(
        "# Text for the instructions of a coding agent\n\n\
         Copy it into `AGENTS.md`, `CLAUDE.md` or a system prompt. `luzia agent setup AGENT` writes a shorter one, with hooks, an \
         MCP server and a skill beside it. luzia-agents(7) has the same text.\n\n> {}\n>\n{}",
        LINES[0],
        points.collect::<String>()
    )
}

#[test]
fn the_files_of_the_plugin_are_made_from_the_source() {
    let (hooks, servers) = hooks_and_servers();
    let json = |value: Value| format!("{value:#}\n");
    let manifests = manifests().map(|(name, manifest)| (name, json(manifest)));
    for (name, wanted) in manifests.into_iter().chain([
        ("hooks/hooks.json", json(hooks)),
        (".mcp.json", json(servers)),
        ("monitors/monitors.json", json(monitors())),
        ("skills/luzia/SKILL.md", texts::skill()),
        ("AGENTS.md", instructions()),
        ("../../examples/agent-prompt.md", prompt()),
    ]) {
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(packaged(name), &wanted).unwrap();
        }
        assert_eq!(text(name), wanted, "{name}: run `UPDATE_GENERATED=1 cargo test agent_packaging`");
    }
}

/// `schemas.json` names the source and the date of each published schema. It repeats the limits of the members that are
/// written here, and allows no other member.
#[test]
fn manifests_agree_with_the_published_schemas() {
    let schemas: Value = serde_json::from_str(&text("schemas.json")).unwrap();
    for (name, schema) in schemas.as_object().unwrap() {
        let schema = jsonschema::validator_for(schema).unwrap();
        let packaged: Value = serde_json::from_str(&text(name)).unwrap();
        let errors: Vec<String> = schema.iter_errors(&packaged).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let mut wrong = packaged;
        match &mut wrong {
            Value::Array(entries) => entries[0]["stray"] = true.into(),
            entry => entry["stray"] = true.into(),
        }
        assert!(!schema.is_valid(&wrong), "{name}: a stray member is refused");
    }
    let missing: Vec<&str> =
        manifests().map(|(name, _)| name).into_iter().filter(|name| schemas.get(name).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn setup_writes_what_is_packaged() {
    let place = Place::new();
    place.ok(&["agent", "setup", "claude-code"]);
    let written = |name: &str| std::fs::read_to_string(place.path("home").join(name)).unwrap();
    assert_eq!(written(".claude/skills/luzia/SKILL.md"), text("skills/luzia/SKILL.md"));
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    // What is packaged goes to other hosts, so it has the program by its name.
    let named = |name: &str| {
        assert!(written(name).contains(crate::support::LUZIA), "{}", written(name));
        json(&written(name).replace(crate::support::LUZIA, "luzia"))
    };
    assert_eq!(named(".claude/settings.json")["hooks"], json(&text("hooks/hooks.json"))["hooks"]);
    assert_eq!(named(".claude.json")["mcpServers"], json(&text(".mcp.json"))["mcpServers"]);
    let (lines, instructions) = (written(".claude/CLAUDE.md"), text("AGENTS.md"));
    assert_eq!(lines.lines().count(), 3);
    for line in LINES {
        assert!(lines.contains(line) && instructions.contains(line), "{line}");
    }
    assert!(instructions.lines().count() <= 25);
}

#[test]
fn the_skill_is_portable() {
    let skill = text("skills/luzia/SKILL.md");
    let (head, body) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let allowed = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
    for line in head.lines().filter(|line| !line.starts_with(' ')) {
        let (key, value) = line.split_once(':').unwrap();
        assert!(allowed.contains(&key), "{key}");
        assert!(!value.contains(": ") && !value.contains(" #"), "{line}: it would need quotes");
        match key {
            "name" => assert_eq!(value, " luzia"),
            "description" => assert!(value.len() <= 1024),
            _ => {}
        }
    }
    assert!(body.lines().count() < 100);
}

#[test]
fn texts_for_agents_name_commands_that_exist() {
    let mut root = args::command();
    root.build();
    let mut checked = 0;
    let mut all = text("skills/luzia/SKILL.md") + &text("AGENTS.md") + &text("monitors/monitors.json");
    all += &LINES.join("\n");
    for call in all.split("luzia ").skip(1) {
        let call = call.split(['`', '\n', '>', '"', ';']).next().unwrap();
        let own = call.split(" -- ").next().unwrap();
        let words: Vec<&str> = own.split_whitespace().collect();
        let Some(verb) = words.first().filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-')) else {
            continue;
        };
        let mut command = match root.find_subcommand(verb) {
            Some(command) => command,
            None if EXPECTED.contains(verb) || verb.starts_with("--") => continue,
            // A sentence goes on: `luzia makes`.
            None => {
                assert!(["makes", "proposes", "says", "on", "makes heavy"].contains(verb), "luzia {call}");
                continue;
            }
        };
        for word in &words[1..] {
            match command.find_subcommand(word) {
                Some(inner) => command = inner,
                None if word.starts_with('-') && !EXPECTED.contains(word) => {
                    let has = command.get_arguments().any(|one| {
                        one.get_long().is_some_and(|long| *word == format!("--{long}"))
                            || one.get_short().is_some_and(|short| *word == format!("-{short}"))
                    });
                    assert!(has, "luzia {call}: {word}");
                }
                None => {}
            }
        }
        checked += 1;
    }
    assert!(checked >= 15, "{checked}");
}

#[test]
fn the_monitor_tells_when_the_lane_of_the_work_tree_changes_hands() {
    let place = Place::new();
    assert!(std::process::Command::new("git").args(["init", "-q"]).arg(place.path("work")).status().unwrap().success());
    let monitors: Value = serde_json::from_str(&text("monitors/monitors.json")).unwrap();
    let command = monitors[0]["command"].as_str().unwrap().replace("sleep 10", "sleep 0.1");
    let folder = std::path::Path::new(crate::support::LUZIA).parent().unwrap().to_str().unwrap();
    let mut shell = place.shell(&format!("exec 3>$PLACE/said; {{ {command}; }} >&3"));
    shell.env("PATH", format!("{folder}:/usr/bin:/bin"));
    let monitor = place.spawn(&mut shell);
    let said = || std::fs::read_to_string(place.path("said")).unwrap_or_default();
    place.ok(&["acquire", "@tree", "--task", "t"]);
    until("it is told that the lane is held", || said().contains("is held now").then_some(()));
    place.ok(&["release", "@tree", "t"]);
    until("it is told that the lane is free", || said().contains("is free now").then_some(()));
    assert_eq!(said().lines().count(), 2, "{}", said());
    drop(monitor);
}
