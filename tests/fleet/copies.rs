//! A copy of a state directory: it is another host, whatever its lease says.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::Fleet;
use crate::support::Place;
use std::process::Command;

/// A copy of the state directory of a host.
fn copy_of(host: &Host<'_>) -> Place {
    let copy = Place::new();
    let from = format!("{}/.", host.place.state().display());
    assert!(Command::new("cp").args(["-a", &from]).arg(copy.state()).status().unwrap().success());
    copy
}

#[test]
fn a_copied_state_directory_is_refused_and_the_original_goes_on() {
    let Some(fleet) = Fleet::new("a_copied_state_directory") else { return };
    let host = Host::new(&fleet, "one", Some("60s"));
    let file = fleet.place.text("runs");
    let running = host.enqueue("alice", &format!("echo long >>{file}; sleep 60"), &["--on-interrupt", "fail"]);
    until_status(&fleet, &running, "running");
    let copy = copy_of(&host);
    let mut command = copy.command(&["daemon", "--lease", "60s", "--json"]);
    let daemon = copy.spawn(command.env("LUZIA_STORE", fleet.url()).env("LUZIA_HOST", "one"));
    let ids: Vec<String> =
        (0..4).map(|n| host.enqueue(&format!("u{n}"), &format!("echo {n} >>{file}; sleep 0.2"), &[])).collect();
    for id in &ids {
        fleet.luzia(&["wait", id]).coded(0);
    }
    let ran = daemon.end().coded(78);
    assert!(ran.err.contains("HOST_TAKEN"), "{ran:?}");
    assert_eq!(status(&fleet, &running), "running");
    let mut runs: Vec<String> = std::fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
    runs.sort();
    assert_eq!(runs, ["0", "1", "2", "3", "long"], "each task has started once");
    assert_whole(&fleet);
}
