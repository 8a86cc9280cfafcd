//! Who holds and who asked: names of agents in sidecars, records and answers.

use crate::support::Place;
use insta::assert_snapshot;
use serde_json::Value;

const CODEX: [(&str, &str); 2] = [("CODEX_THREAD_ID", "019d"), ("PATH_OF_TESTS", "x")];

/// A table with numbers that differ between two runs taken out, and its columns one blank apart.
fn normal(text: &str) -> String {
    let of_word = |word: &str| {
        let word = word.split('_').map(|part| if part.len() > 9 && part.parse::<u64>().is_ok() { "N" } else { part });
        let word = word.collect::<Vec<_>>().join("_");
        let is_age = word.ends_with('s') && word.starts_with(|c: char| c.is_ascii_digit());
        if is_age || word.len() == 24 && word.starts_with("20") { "TIME".to_owned() } else { word }
    };
    text.lines().map(|line| line.split_whitespace().map(of_word).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn a_lock_names_its_agent_and_command_in_every_answer() {
    let place = Place::new();
    let args = ["lock", "-u", "alice", "--label", "nightly", "--", "sh", "-c", "echo up > $PLACE/up; exec sleep 600"];
    let mut holder = place.spawn(place.command(&args).envs(CODEX));
    place.until_file("up");
    let shown = format!("\"echo up\" [nightly] of codex (pid {})", holder.pid());
    for args in [
        &["check", "alice"][..],
        &["explain", "alice"],
        &["status"],
        &["list-locks"],
        &["lock", "-n", "-u", "alice", "--", "true"],
    ] {
        let ran = place.luzia(args);
        assert!(format!("{}{}", ran.out, ran.err).contains(&shown), "{args:?}: {ran:#?}");
    }
    let id = place.enqueue(&["-u", "alice", "--", "true"]);
    assert!(place.ok(&["explain", &id]).out.contains(&shown));
    let lock = place.json(&["list-locks"])["items"][0].clone();
    let sidecar: Value = serde_json::from_slice(&std::fs::read(place.lock("user_alice.json")).unwrap()).unwrap();
    let details = place.json(&["status"])["user_locks"]["details"][0].clone();
    for document in [&lock, &sidecar, &details] {
        for (member, value) in [("agent", "codex"), ("session", "019d"), ("command", "echo up"), ("label", "nightly")] {
            assert_eq!(document[member], value, "{document:#}");
        }
    }
    assert_eq!((lock["shown"].as_str(), lock["owner"].as_str()), (Some(&*shown), lock["task_id"].as_str()));
    holder.kill();
}

#[test]
fn a_task_keeps_the_name_of_its_agent_and_hands_it_on() {
    let place = Place::new();
    let script = r#"echo "$LUZIA_AGENT $LUZIA_SESSION" > "$PLACE/told"; "$LUZIA" enqueue -u bob -- true > "$PLACE/inner"
        echo up > "$PLACE/up"; exec sleep 600"#;
    let mut command = place.command(&["enqueue", "-u", "alice", "--as", "me", "--", "sh", "-c", script]);
    place.spawn(command.envs(CODEX)).end().coded(0);
    place.ok(&["dispatch"]);
    place.until_file("up");
    assert_eq!(place.until_file("told"), "me 019d");
    for id in ["task_1".to_owned(), place.until_file("inner")] {
        let task = place.show(&id);
        assert_eq!((&task["agent"], &task["session"]), (&"me".into(), &"019d".into()), "{task:#}");
    }
    let busy = place.luzia(&["lock", "-n", "-u", "alice", "--", "true"]).coded(75);
    assert!(busy.err.contains("task_1 \"echo") && busy.err.contains(" of me for "), "{busy:#?}");
    assert!(place.ok(&["list", "-o", "wide"]).out.lines().nth(1).unwrap().contains(" me "));
    let plain = place.enqueue(&["-u", "carol", "--", "true"]);
    assert_eq!(place.show(&plain)["agent"], Value::Null);
    place.ok(&["cancel", "task_1", "--grace", "0", "--yes"]);
}

#[test]
fn a_command_under_a_lock_is_told_its_agent_and_nobody_else_is() {
    let place = Place::new();
    let print = ["-u", "alice", "--", "sh", "-c", "echo \"${LUZIA_AGENT-none} ${LUZIA_SESSION-none}\""];
    for (before, told) in
        [(&["lock"][..], "none none"), (&["lock", "--as", "me"], "me none"), (&["run", "--as", "me"], "me none")]
    {
        assert_eq!(place.ok(&[before, &print].concat()).line(), told);
    }
}

#[test]
fn the_table_of_locks_shows_agents_and_sessions() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "deploy", "--as", "codex", "--label", "nightly", "--ttl", "1h"]);
    place.ok(&["acquire", "bob", "--task", "plain", "--ttl", "1h"]);
    let mut command = place.command(&["acquire", "tree:x", "--session"]);
    place.spawn(command.envs([("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "abc")])).end().coded(0);
    assert_snapshot!("list_locks", normal(&place.ok(&["list-locks"]).out));
    let wide = place.ok(&["list-locks", "-o", "wide"]).out;
    assert!(wide.contains("AGENT") && wide.contains("SESSION") && wide.contains(" abc "), "{wide}");
}

#[test]
fn a_hostile_environment_does_nothing_to_a_terminal_or_a_record() {
    let place = Place::new();
    let hostile = format!("\u{1b}[2J{}", "é".repeat(500));
    let mut command = place.command(&["acquire", "alice", "--task", "t"]);
    place.spawn(command.env("LUZIA_AGENT", &hostile).env("LUZIA_SESSION", "a\nb")).end().coded(0);
    let lock = place.json(&["list-locks"])["items"][0].clone();
    let agent = lock["agent"].as_str().unwrap();
    assert!(agent.starts_with("\\u{1b}[2J") && agent.len() <= 64, "{agent:?}");
    assert_eq!(lock["session"], "a\\nb");
    assert!(!place.ok(&["list-locks", "-o", "wide"]).out.contains('\u{1b}'));
}
