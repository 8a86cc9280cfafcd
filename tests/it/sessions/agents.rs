//! Agents for the tests: a program that is no shell by its name, and what luzia starts for it.

use crate::support::{Place, Running, processes_in};
use std::process::Command;

/// What an agent does last: it says that it is ready, and lives on.
pub const AGENT_LIVES: &str = "echo up > $PLACE/up; while :; do sleep 0.1; done";

/// The program of an agent: a shell under another name.
pub fn program(place: &Place) -> String {
    let path = place.text("agent");
    if !place.path("agent").exists() {
        // By another program: a process that another thread forks meanwhile would have our descriptor, and nobody can start a
        // file that is open for writing.
        let copied = Command::new("install").args(["-m", "755", "/bin/sh", &path]).status();
        assert!(copied.unwrap().success());
    }
    path
}

/// Starts an agent with variables of its own and a script.
pub fn start_agent(place: &Place, variables: &[(&str, &str)], script: &str) -> Running {
    let mut agent = Command::new(program(place));
    let like = place.command(&[]);
    agent.args(["-c", script]).env_clear().envs(like.get_envs().filter_map(|(key, value)| Some((key, value?))));
    agent.envs(variables.iter().copied()).current_dir(place.path("work"));
    place.spawn(&mut agent)
}

/// The keepers that live.
pub fn keepers(place: &Place) -> Vec<u32> {
    let is_keeper = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == b"keep-session")
    };
    processes_in(&place.state()).into_iter().filter(is_keeper).collect()
}

/// The one keeper.
#[track_caller]
pub fn only_keeper(place: &Place) -> u32 {
    let found = keepers(place);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}
