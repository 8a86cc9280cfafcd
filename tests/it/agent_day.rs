//! A day of two agents with real input, by the script `tests/agent-day`.

use crate::support::{LUZIA, skip};
use std::process::Command;

#[test]
fn a_day_of_two_agents_in_sandboxes_loses_nothing_and_doubles_nothing() {
    const NAME: &str = "a_day_of_two_agents_in_sandboxes_loses_nothing_and_doubles_nothing";
    if !crate::agent_text::can_sandbox(NAME) {
        return;
    }
    let has = |tool: &str| Command::new("which").arg(tool).output().is_ok_and(|ran| ran.status.success());
    if let Some(tool) = ["git", "make", "python3"].iter().find(|tool| !has(tool)) {
        return skip(NAME, tool);
    }
    let day = tempfile::tempdir().unwrap();
    let script = format!("{}/tests/agent-day", env!("CARGO_MANIFEST_DIR"));
    let ran = Command::new("bash").args([&script, LUZIA]).arg(day.path()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    assert!(out.contains("all is there"), "{out}{err}");
}
