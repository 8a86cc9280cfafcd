//! `demo` plays the main job with real processes, shows every command, and proves its statement from what was recorded.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// luzia with nothing in its environment but a home and a place for temporary files.
fn luzia(tmp: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luzia"));
    command.env_clear().env("TMPDIR", tmp).stdin(Stdio::null()).args(args);
    crate::support::at_home(&mut command, tmp);
    command
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).unwrap().next().is_none()
}

#[test]
fn the_demo_shows_that_no_user_had_two_at_once_whatever_the_configuration_says() {
    let (tmp, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = other.path().join("config.json");
    fs::write(&config, "{\"per_user_serialization\":{\"enabled\":false},\"slots\":{\"max\":1}}").unwrap();
    fs::set_permissions(&config, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let output = luzia(tmp.path(), &["demo", "--json"]).env("LUZIA_CONFIG", &config).output().unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!((output.status.code(), &shown["ok"]), (Some(0), &true.into()), "{shown:#}");
    assert_eq!(shown["schema"], "luzia.demo/v1");
    let runs = shown["intervals"].as_array().unwrap();
    assert_eq!(runs.len(), 7, "six tasks, one of them twice: {shown:#}");
    let recovered: Vec<&Value> = runs.iter().filter(|run| run["ended_by"] == "recovered").collect();
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0]["task"], shown["killed"]);
    assert_eq!(runs.iter().filter(|run| run["task"] == shown["killed"]).count(), 2);
    let time = |run: &Value, end: &str| run[end].as_u64().unwrap();
    for (at, run) in runs.iter().enumerate() {
        for other in runs.iter().skip(at + 1).filter(|other| other["user"] == run["user"]) {
            let is_apart = time(run, "to_ms") <= time(other, "from_ms") || time(other, "to_ms") <= time(run, "from_ms");
            assert!(is_apart, "{run} {other}");
        }
    }
    let together = |run: &Value, other: &Value| {
        run["user"] != other["user"]
            && time(run, "from_ms") < time(other, "to_ms")
            && time(other, "from_ms") < time(run, "to_ms")
    };
    assert!(runs.iter().any(|run| runs.iter().any(|other| together(run, other))), "users run side by side");
    assert!(is_empty(tmp.path()), "the state directory is gone");
}

#[test]
fn what_the_demo_prints_can_be_typed_and_what_it_keeps_is_well() {
    let tmp = tempfile::tempdir().unwrap();
    let output = luzia(tmp.path(), &["demo", "--keep"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.ends_with(&format!("kept: {}\n", text.rsplit_once("kept: ").unwrap().1.trim())));
    assert!(text.contains("no user ever had two at once: 7 intervals of 3 users checked\n"), "{text}");
    let first = text.lines().next().unwrap();
    let kept = first.strip_prefix("$ export LUZIA_STATE_DIR=").unwrap();
    for (user, bar) in [("alice", "1"), ("bob", "5="), ("carol", "6=")] {
        let is_line = |line: &str| line.strip_prefix(user).is_some_and(|rest| rest.trim_start().starts_with(bar));
        assert!(text.lines().any(is_line), "{user}: {text}");
    }
    let doctor = luzia(tmp.path(), &["doctor", "--json", "--state-dir", kept]).output().unwrap();
    assert_eq!(doctor.status.code(), Some(0), "{}", String::from_utf8_lossy(&doctor.stdout));

    // A reader types it all but the kill into a shell.
    let typed = tempfile::tempdir().unwrap();
    let path = typed.path().join("bin");
    fs::create_dir(&path).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_luzia"), path.join("luzia")).unwrap();
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("$ luzia ")).collect();
    assert_eq!(commands.len(), 12, "{text}");
    for command in commands {
        let ran = Command::new("/bin/sh")
            .args(["-c", &format!("luzia {command}")])
            .env_clear()
            .envs(crate::support::home_variables(typed.path()))
            .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
            .env("LUZIA_STATE_DIR", typed.path().join("state"))
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(0), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn a_reader_who_leaves_ends_the_demo_quietly() {
    let tmp = tempfile::tempdir().unwrap();
    let mut child = luzia(tmp.path(), &["demo"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("$ export "), "{line}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    assert!(is_empty(tmp.path()), "the state directory is gone");
}

#[test]
fn a_demo_without_a_place_is_refused() {
    let tmp = tempfile::tempdir().unwrap();
    let output = luzia(&tmp.path().join("missing"), &["demo"]).output().unwrap();
    assert_eq!(output.status.code(), Some(73), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty());
}
