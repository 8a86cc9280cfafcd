//! Hooks, called from outside as agents call them. The documents are our own, after what each agent publishes:
//!
//! - Claude Code: <https://code.claude.com/docs/en/hooks>, read 2026-11-23.
//! - Codex: <https://developers.openai.com/codex/hooks>, and `codex-rs/hooks` in its repository (`tool_input.command` has the
//!   patch of `apply_patch`, pull request 18391; `agent_id` of subagents, 22882), read 2026-11-23.
//! - Gemini CLI: `docs/hooks/reference.md` of its repository, read 2026-11-23.
//! - Cursor: <https://cursor.com/docs/hooks>, in copies of 2026; `agent_message` was `agentMessage` before.
//! - Copilot CLI: `content/copilot/reference/hooks-reference.md` of github/docs, read 2026-11-23.

use crate::support::{Place, Ran};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

const AGENTS: [&str; 5] = ["claude-code", "codex", "gemini", "cursor", "copilot"];

/// A place with two work trees of git.
struct Trees(Place);

impl Trees {
    fn new() -> Self {
        let place = Place::new();
        for name in ["one", "two"] {
            let done = Command::new("git").args(["init", "-q"]).arg(place.path(name)).status();
            assert!(done.unwrap().success());
            std::fs::create_dir(place.path(name).join("src")).unwrap();
            std::fs::write(place.path(name).join("src/x.rs"), "").unwrap();
        }
        Self(place)
    }

    #[track_caller]
    fn hook(&self, args: &[&str], document: &str) -> Ran {
        self.hook_with(args, document, &[])
    }

    #[track_caller]
    fn hook_with(&self, args: &[&str], document: &str, env: &[(&str, &str)]) -> Ran {
        let mut command = self.0.command(&[&["agent", "hook"], args].concat());
        command.envs(env.iter().copied()).stdin(Stdio::piped());
        let file = self.0.path("document.json");
        std::fs::write(&file, document).unwrap();
        command.stdin(std::fs::File::open(file).unwrap());
        self.0.spawn(&mut command).end().coded(0)
    }

    /// The document of an edit of a file.
    fn edit(&self, agent: &str, file: &str) -> String {
        let cwd = self.0.text("one");
        let document = match agent {
            "claude-code" => {
                json!({ "session_id": "mine", "transcript_path": "/t", "cwd": cwd, "permission_mode": "default",
                "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": "t1",
                "tool_input": { "file_path": file, "old_string": "a", "new_string": "b" } })
            }
            "codex" => json!({ "session_id": "mine", "turn_id": "1", "transcript_path": null, "cwd": cwd, "model": "m",
                "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_use_id": "c",
                "tool_input": { "command": format!("*** Begin Patch\n*** Update File: {file}\n@@\n+b\n*** End Patch\n") } }),
            "gemini" => {
                json!({ "session_id": "mine", "transcript_path": "/t", "cwd": cwd, "hook_event_name": "BeforeTool",
                "timestamp": "2026-11-23T00:00:00Z", "tool_name": "replace", "tool_input": { "file_path": file } })
            }
            "cursor" => json!({ "conversation_id": "mine", "generation_id": "g", "hook_event_name": "preToolUse",
                "workspace_roots": [cwd], "tool_name": "Write", "tool_input": { "file_path": file }, "tool_use_id": "t" }),
            _ => json!({ "hook_event_name": "PreToolUse", "session_id": "mine", "timestamp": "2026-11-23T00:00:00Z",
                "cwd": cwd, "tool_name": "Edit", "tool_input": { "path": file, "old_str": "a", "new_str": "b" } }),
        };
        document.to_string()
    }

    /// The document of a line of shell.
    fn shell(&self, agent: &str, line: &str) -> String {
        let mut document: Value = serde_json::from_str(&self.edit(agent, "x")).unwrap();
        document["tool_input"] = json!({ "command": line });
        document["tool_name"] = json!(match agent {
            "gemini" => "run_shell_command",
            "cursor" => "Shell",
            _ => "Bash",
        });
        document.to_string()
    }

    fn event(&self, agent: &str, claude: &str, cursor: &str) -> String {
        let name = if agent == "cursor" { cursor } else { claude };
        let mut document = json!({ "session_id": "mine", "cwd": self.0.text("one"), "hook_event_name": name });
        if agent == "cursor" {
            document["workspace_roots"] = json!([self.0.text("one")]);
        }
        document.to_string()
    }

    /// Holds a lane with a command until the gate is opened.
    fn hold(&self, lane: &[&str]) -> crate::support::Running {
        self.0.gate("gate");
        let script = "echo up > $PLACE/up; read _ < $PLACE/gate";
        let holder = self.0.start(&[&["lock"], lane, &["--", "sh", "-c", script]].concat());
        self.0.until_file("up");
        holder
    }

    fn tree(&self, name: &str) -> String {
        self.0.ok(&["name", "tree", &self.0.text(name)]).line()
    }

    fn events(&self, name: &str) -> Vec<Value> {
        let folder = std::fs::read_dir(self.0.state().join("events")).into_iter().flatten();
        let text: String = folder.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|event| event["event"] == name).collect()
    }
}

/// The reason of a refusal in the form of an agent; `None` where nothing is refused.
fn refusal(agent: &str, out: &str) -> Option<String> {
    if out.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_str(out).unwrap_or_else(|_| panic!("{agent}: {out}"));
    let (word, reason) = match agent {
        "claude-code" | "codex" => {
            let inner = &answer["hookSpecificOutput"];
            (&inner["permissionDecision"], &inner["permissionDecisionReason"])
        }
        "gemini" => (&answer["decision"], &answer["reason"]),
        "cursor" => (&answer["permission"], &answer["agent_message"]),
        _ => (&answer["permissionDecision"], &answer["permissionDecisionReason"]),
    };
    (word == "deny").then(|| reason.as_str().unwrap().to_owned())
}

#[test]
fn an_edit_is_refused_while_another_session_holds_the_work_tree_of_the_file() {
    let trees = Trees::new();
    let lane = trees.tree("two");
    let holder = trees.hold(&["-l", &lane]);
    std::os::unix::fs::symlink(trees.0.path("two/src/x.rs"), trees.0.path("one/link.rs")).unwrap();
    for agent in AGENTS {
        let file = |name: &str| trees.0.text(name);
        for name in ["two/src/x.rs", "two/new/folder/y.rs", "one/link.rs"] {
            let ran = trees.hook(&[agent], &trees.edit(agent, &file(name)));
            let reason = refusal(agent, &ran.out).unwrap_or_else(|| panic!("{agent} {name}: {}", ran.out));
            for words in [&lane[..], "is held by", " for ", "is alive", "luzia lock -l", "--wait 90s -- true"] {
                assert!(reason.contains(words), "{agent} {words}: {reason}");
            }
            assert!(!reason.contains("--force") && !reason.contains("release"), "{reason}");
            assert!(ran.err.is_empty());
        }
        // The working directory does not count, only the file.
        for name in ["one/src/x.rs", "src/x.rs", "nowhere"] {
            let ran = trees.hook(&[agent], &trees.edit(agent, name));
            assert_eq!(refusal(agent, &ran.out), None, "{agent} {name}");
        }
    }
    trees.0.open_gate("gate");
    holder.end().coded(0);
    for agent in AGENTS {
        let ran = trees.hook(&[agent], &trees.edit(agent, &trees.0.text("two/src/x.rs")));
        assert_eq!(refusal(agent, &ran.out), None, "{agent}");
    }
}

#[test]
fn a_task_that_holds_the_work_tree_is_named_with_the_command_that_waits_for_it() {
    let trees = Trees::new();
    let lane = trees.tree("one");
    let gate = trees.0.gate("gate");
    let script = format!("echo up > $PLACE/up; read _ < {gate}");
    let run = trees.0.start(&["run", "-l", &lane, "--", "sh", "-c", &script]);
    trees.0.until_file("up");
    let ran = trees.hook(&["claude-code"], &trees.edit("claude-code", "src/x.rs"));
    let reason = refusal("claude-code", &ran.out).unwrap();
    assert!(
        reason.contains("is held by task_1 \"echo up\" for ") && reason.contains("luzia wait task_1 --timeout 90s"),
        "{reason}"
    );
    trees.0.open_gate("gate");
    run.end().coded(0);
}

#[test]
fn whose_lease_it_is_decides() {
    let trees = Trees::new();
    let lane = trees.tree("one");
    let ask = || trees.hook(&["claude-code"], &trees.edit("claude-code", "src/x.rs")).out;
    // A lease without a session may be the agent's own.
    trees.0.ok(&["acquire", &lane, "--task", "holder"]);
    let note: Value = serde_json::from_str(&ask()).unwrap();
    assert!(note["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("is held by holder"), "{note}");
    assert_eq!(note["hookSpecificOutput"]["permissionDecision"], Value::Null);
    trees.0.ok(&["release", &lane, "holder"]);
    // By what the agent says, and by its process, which is that of these tests.
    for key in [&["--session=mine"][..], &["--session"]] {
        trees.0.ok(&[&["acquire", &lane], key].concat());
        assert_eq!(ask(), "", "{key:?}");
        trees.0.ok(&[&["release", &lane], key].concat());
    }
    let mut command = trees.0.command(&["acquire", &lane, "--session=theirs"]);
    trees.0.spawn(command.env("LUZIA_AGENT", "codex")).end().coded(0);
    let reason = refusal("claude-code", &ask()).unwrap();
    assert!(reason.contains("is held by codex (session theirs) for "), "{reason}");
    assert!(reason.contains("is alive") && reason.contains("--wait 90s -- true"), "{reason}");
}

#[test]
fn the_end_of_a_session_gives_its_leases_back_and_no_others() {
    for agent in AGENTS {
        let trees = Trees::new();
        let lanes = ["gpu:0", "gpu:1", "gpu:2", "gpu:3"];
        for (lane, holder) in lanes.iter().zip(["--session=mine", "--session", "--session=theirs", "--task=t"]) {
            trees.0.ok(&["acquire", lane, holder]);
        }
        trees.hook(&[agent], &trees.event(agent, "SessionEnd", "sessionEnd"));
        for (lane, code) in lanes.iter().zip([0, 0, 75, 75]) {
            trees.0.luzia(&["check", lane]).coded(code);
        }
        let told = json!({ "agent": agent, "session": "mine", "released": 2 });
        assert_eq!(trees.events("session_ended").last().unwrap()["data"], told);
    }
}

#[test]
fn a_subagent_works_for_its_session() {
    let trees = Trees::new();
    let lane = trees.tree("one");
    let of = |subagent: Option<&str>| {
        let mut document: Value = serde_json::from_str(&trees.edit("claude-code", "src/x.rs")).unwrap();
        if let Some(id) = subagent {
            document["agent_id"] = json!(id);
        }
        document.to_string()
    };
    for (holder, subagent, is_refused) in [
        ("mine", Some("a1"), false),
        ("mine/a1", None, false),
        ("mine/a1", Some("a1"), false),
        ("mine/a2", Some("a1"), true),
        ("mine2", None, true),
    ] {
        let key = format!("--session={holder}");
        trees.0.ok(&["acquire", &lane, &key]);
        let ran = trees.hook(&["claude-code"], &of(subagent));
        assert_eq!(refusal("claude-code", &ran.out).is_some(), is_refused, "{holder} {subagent:?}");
        trees.0.ok(&["release", &lane, &key]);
    }
}

#[test]
fn a_heavy_command_is_noted_and_with_a_gate_refused() {
    let trees = Trees::new();
    let holder = trees.hold(&["-l", "build"]);
    for agent in AGENTS {
        let line = trees.shell(agent, "cd x && cargo test -q");
        let note = trees.hook(&[agent], &line).out;
        assert_eq!(refusal(agent, &note), None);
        let takes_notes = ["claude-code", "codex"].contains(&agent);
        assert_eq!(note.contains("build: 1 of 1 slots busy, by "), takes_notes, "{agent}: {note}");
        let reason = refusal(agent, &trees.hook(&[agent, "--gate"], &line).out).unwrap();
        assert!(
            reason.contains("1 of 1 slots busy")
                && reason.contains("luzia lock -l lane:build --wait 90s")
                    | reason.contains("luzia lock -l build --wait 90s"),
            "{reason}"
        );
        for light in ["ls -l", "cargo fmt", "luzia run -l build -- cargo test", "git commit -m 'make it'"] {
            let ran = trees.hook(&[agent, "--gate"], &trees.shell(agent, light));
            assert!(ran.out.is_empty() || ran.out == "{}\n", "{agent} {light}: {}", ran.out);
        }
    }
    trees.0.open_gate("gate");
    holder.end().coded(0);
    let ran = trees.hook(&["codex", "--gate"], &trees.shell("codex", "cargo test"));
    assert_eq!(ran.out, "");
}

#[test]
fn a_session_begins_with_facts_and_variables() {
    let trees = Trees::new();
    trees.0.ok(&["acquire", "lane:build", "--task", "b"]);
    trees.0.ok(&["shim", "add", "cargo", "--lane", "build"]);
    let shims = trees.0.text("home/.local/share/luzia/shims");
    for agent in AGENTS {
        let file = trees.0.text(&format!("{agent}.env"));
        std::fs::write(&file, "export A=1").unwrap();
        let document = trees.event(agent, "SessionStart", "sessionStart");
        for _ in 0..2 {
            let ran = trees.hook_with(&[agent], &document, &[("CLAUDE_ENV_FILE", &file)]);
            let answer: Value = serde_json::from_str(&ran.out).unwrap();
            let context = match agent {
                "cursor" => &answer["additional_context"],
                "copilot" => &answer["additionalContext"],
                _ => &answer["hookSpecificOutput"]["additionalContext"],
            };
            let context = context.as_str().unwrap_or_else(|| panic!("{agent}: {answer}"));
            assert!(context.lines().count() <= 20);
            for words in ["session is mine", "cargo (build)", "build: 1 of 1 slots busy, by b for ", &trees.tree("one")]
            {
                assert!(context.contains(words), "{agent} {words}: {context}");
            }
            if agent == "cursor" {
                assert_eq!(answer["env"]["LUZIA_SESSION"], "mine");
            }
        }
        // A session that goes on calls again, and the file is read before each command.
        let lines = format!("export A=1\nexport LUZIA_SESSION=mine\nexport PATH={shims}:\"$PATH\"\n");
        assert_eq!(std::fs::read_to_string(file).unwrap(), lines, "{agent}");
    }
    assert_eq!(trees.events("session_started").len(), 10);
}

#[test]
fn a_document_that_cannot_be_used_never_stops_an_agent() {
    let trees = Trees::new();
    trees.0.ok(&["enqueue", "-u", "a", "--", "true"]);
    let huge = json!({ "hook_event_name": "PreToolUse", "tool_input": { "x": "y".repeat(2 << 20) } }).to_string();
    let types = json!({ "session_id": 5, "cwd": ["/"], "hook_event_name": "PreToolUse", "tool_name": {}, "tool_input": "x",
        "workspace_roots": 1, "toolName": null, "toolArgs": [1] });
    let mut failures = 0;
    for agent in AGENTS {
        let whole = trees.edit(agent, "src/x.rs");
        for (document, is_failure) in [
            (&whole[..whole.len() / 2], true),
            (&huge, true),
            ("", true),
            ("[1, 2]", true),
            ("nonsense", true),
            (&"[".repeat(100_000), true),
            (&types.to_string(), false),
            ("{}", false),
            (r#"{"hook_event_name":"SomethingNew","session_id":"s"}"#, false),
            (r#"{"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a\u0000b"}}"#, false),
        ] {
            let ran = trees.hook(&[agent], document);
            assert!(
                ran.err.is_empty() && (ran.out.is_empty() || ran.out == "{}\n"),
                "{agent}: {} {}",
                ran.out,
                ran.err
            );
            failures += usize::from(is_failure);
            assert_eq!(
                trees.events("hook_failed").len(),
                failures,
                "{agent} {}",
                document.chars().take(60).collect::<String>()
            );
        }
    }
    for args in [&["nobody"][..], &[], &["codex", "--bogus"], &["codex", "gemini"], &["--gate=5", "codex"]] {
        let ran = trees.hook(args, "{}");
        assert!(ran.err.is_empty() && ran.out.is_empty(), "{args:?}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn surroundings_that_cannot_be_used_never_stop_an_agent() {
    let trees = Trees::new();
    trees.0.ok(&["enqueue", "-u", "a", "--", "true"]);
    std::fs::write(trees.0.path("file"), "").unwrap();
    std::fs::write(trees.0.path("broken.json"), "{").unwrap();
    let (below, absent, broken) = (trees.0.text("file/state"), trees.0.text("absent"), trees.0.text("broken.json"));
    for agent in AGENTS {
        let start = trees.event(agent, "SessionStart", "sessionStart");
        for env in [
            [("LUZIA_STATE_DIR", below.as_str())],
            [("LUZIA_STATE_DIR", absent.as_str())],
            [("LUZIA_STATE_DIR", "relative")],
            [("LUZIA_CONFIG", broken.as_str())],
            [("CLAUDE_ENV_FILE", below.as_str())],
        ] {
            let ran = trees.hook_with(&[agent], &trees.edit(agent, "src/x.rs"), &env);
            assert!(ran.err.is_empty() && refusal(agent, &ran.out).is_none(), "{env:?}");
            assert!(trees.hook_with(&[agent], &start, &env).out.contains("luzia lock"), "{env:?}");
        }
    }
    assert!(!trees.0.path("absent").exists(), "a hook makes no state directory");
    let told: Vec<Value> = trees.events("hook_failed");
    assert!(told.iter().any(|event| event["message"].as_str().unwrap().contains("broken.json")), "{told:?}");
}

#[test]
fn an_agent_that_never_ends_its_document_is_answered() {
    let trees = Trees::new();
    let holder = trees.hold(&["-l", &trees.tree("one")]);
    let document = trees.edit("claude-code", "src/x.rs");
    for (text, is_refused) in [(&document[..], true), (&document[..50], false)] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let hook = trees.0.spawn(trees.0.command(&["agent", "hook", "claude-code"]).stdin(reader));
        writer.write_all(text.as_bytes()).unwrap();
        // The writer stays open until the hook has ended.
        let ran = hook.end().coded(0);
        assert_eq!(refusal("claude-code", &ran.out).is_some(), is_refused);
        drop(writer);
    }
    trees.0.open_gate("gate");
    holder.end().coded(0);
}

#[test]
fn a_hook_ends_with_success_where_a_stopped_process_is_in_the_way() {
    let trees = Trees::new();
    trees.0.ok(&["acquire", "gpu:0", "--task", "t"]);
    // Every guard, as a luzia that was stopped in one would hold it.
    let guards: Vec<_> =
        std::fs::read_dir(trees.0.state().join("locks/.guard")).unwrap().map(|one| one.unwrap().path()).collect();
    let script = "exec 9<\"$1\"; flock 9; echo up > $PLACE/in; sleep 60";
    let mut held = Vec::new();
    for guard in &guards {
        let mut shell = trees.0.shell(script);
        held.push(trees.0.spawn(shell.arg("sh").arg(guard)));
        trees.0.until_file("in");
    }
    assert!(!guards.is_empty());
    for agent in AGENTS {
        let document = trees.event(agent, "SessionEnd", "sessionEnd");
        trees.hook(&[agent], &document);
    }
}
