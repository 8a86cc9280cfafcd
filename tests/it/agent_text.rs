//! What agents read, under exactly the grant that `agent setup` writes: each command in a sandbox of its own.

use crate::support::{LUZIA, Place, Ran, skip, until};
use luzia::app::agents::texts;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;

pub(crate) fn can_sandbox(test: &str) -> bool {
    let can = Command::new("bwrap").args(["--unshare-all", "--ro-bind", "/", "/", "true"]).output();
    let can = can.is_ok_and(|ran| ran.status.success());
    if !can {
        skip(test, "bwrap");
    }
    can
}

/// The commands between backquotes.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|span| span.starts_with("luzia "))
}

/// A repository, and the sandbox of an agent whose settings are those of setup.
struct Agent {
    place: Place,
    grant: String,
}

impl Agent {
    fn new() -> Self {
        let place = Place::new();
        let work = place.path("work");
        let git =
            |words: &[&str]| assert!(Command::new("git").arg("-C").arg(&work).args(words).status().unwrap().success());
        git(&["init", "-q"]);
        place.ok(&["agent", "setup", "claude-code"]);
        let settings = std::fs::read_to_string(place.path("home/.claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let grants = settings["sandbox"]["filesystem"]["allowWrite"].as_array().unwrap().clone();
        assert_eq!(grants.len(), 1);
        let grant = grants[0].as_str().unwrap().strip_prefix('/').unwrap().to_owned();
        Self { place, grant }
    }

    /// Runs a line in a sandbox that is made for it.
    fn line(&self, line: &str) -> Ran {
        let work = self.place.text("work");
        let mut command = Command::new("bwrap");
        command.args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
        command.args(["--bind", &work, &work, "--bind", &self.grant, &self.grant, "--chdir", &work, "sh", "-c", line]);
        command.env_clear().envs(self.place.command(&[]).get_envs().filter_map(|(key, value)| Some((key, value?))));
        let folder = std::path::Path::new(LUZIA).parent().unwrap().to_str().unwrap();
        command.env("PATH", format!("{folder}:/usr/bin:/bin")).env("CLAUDECODE", "1");
        for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
            command.env(name, "a@example.org");
        }
        self.place.spawn(&mut command).end()
    }
}

/// Everything that an agent is given to read: files, the lines at its start, and the manual page.
fn texts_of(agent: &Agent) -> Vec<(&'static str, String)> {
    let written = |name: &str| std::fs::read_to_string(agent.place.path("home").join(name)).unwrap();
    let packaged = |name: &str| std::fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let call = json!({ "hook_event_name": "SessionStart", "session_id": "s", "cwd": agent.place.text("work") });
    let start =
        agent.place.spawn(&mut agent.place.shell(&format!("printf '%s' '{call}' | $LUZIA agent hook claude-code")));
    let page = packaged("man/luzia-agents.7").replace("\\-", "-");
    let page = page.split(".SH WHAT AGENTS READ").nth(1).unwrap().split(".SH HOOKS").next().unwrap().to_owned();
    vec![
        ("CLAUDE.md", written(".claude/CLAUDE.md")),
        ("SKILL.md", written(".claude/skills/luzia/SKILL.md")),
        ("AGENTS.md", packaged("packaging/agents/AGENTS.md")),
        ("agent-prompt.md", packaged("examples/agent-prompt.md")),
        (
            "the start of a session",
            start.end().coded(0).json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned(),
        ),
        ("luzia-agents(7)", page.replace("\\fB", "`").replace("\\fR", "`")),
    ]
}

/// A command as an agent calls it.
fn called(command: &str) -> String {
    command
        .replace("COMMAND", "true")
        .replace("TEXT", "x")
        .replace("NAME", "me")
        .replace("git push", "git status -s")
        .replace("git commit", "git commit -q --allow-empty")
}

#[test]
fn every_command_that_agents_read_works_under_the_grant_of_setup() {
    if !can_sandbox("every_command_that_agents_read_works_under_the_grant_of_setup") {
        return;
    }
    let agent = Agent::new();
    // Somebody else has a task.
    agent.place.ok(&["run", "-u", "bob", "--", "echo", "said"]);
    // They are about the program around: its own options, setup by a person, and the server outside.
    let outside = ["luzia agent setup AGENT", "luzia mcp"];
    let mut seen = BTreeSet::new();
    for (name, text) in texts_of(&agent) {
        let commands: Vec<&str> = commands(&text).filter(|command| !outside.contains(command)).collect();
        assert!(commands.len() >= 3, "{name}: {text}");
        for command in commands {
            if !seen.insert(command.to_owned()) {
                continue;
            }
            let ran = agent.line(&called(command));
            assert_eq!(ran.code, 0, "{name}: {command}: {}", ran.err);
            if command.contains("acquire") {
                agent.place.luzia(&["check", "-l", "@tree"]);
                agent.line(&called(command)).coded(0);
            }
        }
    }
    assert!(seen.len() >= 9, "{seen:?}");
    assert!(seen.iter().all(|command| !command.contains("luzia run") && !command.contains("enqueue")), "{seen:?}");
    let commits =
        Command::new("git").arg("-C").arg(agent.place.path("work")).args(["log", "--oneline"]).output().unwrap();
    assert!(!commits.stdout.is_empty(), "a commit was made");
    assert!(agent.place.json(&["list-locks"])["items"].as_array().unwrap().is_empty(), "nothing is left held");
}

#[test]
fn what_75_means_is_said_once_and_following_it_queues_nothing() {
    if !can_sandbox("what_75_means_is_said_once_and_following_it_queues_nothing") {
        return;
    }
    let agent = Agent::new();
    for (name, text) in texts_of(&agent) {
        assert_eq!(text.matches(" 75 ").count(), 1, "{name}: {text}");
    }
    agent.place.gate("gate");
    let holder =
        agent.place.start(&["lock", "-l", "build", "--label", "Ann deploys", "--", "sh", "-c", "read _ < $PLACE/gate"]);
    until("the lane is held", || (agent.place.luzia(&["check", "lane:build"]).code == 75).then_some(()));
    let build = called(commands(texts::LINES[1]).next().unwrap()).replace("true", "sh -c 'echo built >> ../work/log'");
    for _ in 0..3 {
        let ran = agent.line(&build.replace("90s", "200ms")).coded(75);
        assert!(ran.err.contains("Ann deploys"), "{}", ran.err);
        let why = agent.line("luzia explain lane:build").coded(0);
        assert!(why.out.contains("Ann deploys"), "{}", why.out);
    }
    agent.place.open_gate("gate");
    holder.end().coded(0);
    agent.line(&build).coded(0);
    assert_eq!(std::fs::read_to_string(agent.place.path("work/log")).unwrap(), "built\n");
    assert!(agent.place.json(&["list", "-a"])["items"].as_array().unwrap().is_empty());
}

#[test]
fn a_command_that_cannot_be_queued_from_here_names_the_lock_that_runs_it_here() {
    if !can_sandbox("a_command_that_cannot_be_queued_from_here_names_the_lock_that_runs_it_here") {
        return;
    }
    let agent = Agent::new();
    for (words, code) in [("run -l build", 74), ("enqueue -l build", 74), ("--json run --tree", 74)] {
        let ran = agent.line(&format!("luzia {words} -- echo 'built it'")).coded(code);
        let next = match serde_json::from_str::<Value>(&ran.err) {
            Ok(error) => error["next"][0].as_str().unwrap().to_owned(),
            Err(_) => ran
                .err
                .lines()
                .find_map(|line| line.strip_prefix("try: "))
                .unwrap_or_else(|| panic!("{}", ran.err))
                .to_owned(),
        };
        assert!(next.starts_with("luzia lock "), "{next}");
        assert_eq!(agent.line(&next).coded(0).out, "built it\n", "{next}");
    }
}
