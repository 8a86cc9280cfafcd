//! What lanes give beside a place in them: names of slots, gates, and shares of processors.

mod cpus;
mod gates;
mod values;

use crate::support::{Place, Running, lines, until};

/// Runs a task that says that it runs and waits at a gate; gives its id.
fn running(place: &Place, user: &str, lane: &str, script: &str) -> String {
    let gate = place.gate(&format!("gate.{user}"));
    let script = format!("{script}; echo x >$PLACE/runs.{user}; cat {gate}");
    let id = place.enqueue(&["-u", user, "-l", lane, "--", "sh", "-c", &script]);
    place.ok(&["dispatch"]);
    place.until_file(&format!("runs.{user}"));
    id
}

/// A lock that says that it runs and waits at a gate.
fn locked(place: &Place, name: &str, lane: &str, script: &str) -> Running {
    let gate = place.gate(&format!("gate.{name}"));
    let script = format!("{script}; echo x >$PLACE/runs.{name}; cat {gate}");
    let lock = place.start(&["lock", "-l", lane, "--", "sh", "-c", &script]);
    place.until_file(&format!("runs.{name}"));
    lock
}

/// The first reason why a task waits.
fn reason(place: &Place, id: &str) -> String {
    why(place, id)["reason"].as_str().unwrap_or_default().to_owned()
}

/// Like `reason`, as a document; null of a task that is not there yet.
fn why(place: &Place, id: &str) -> serde_json::Value {
    let ran = place.luzia(&["--json", "explain", id]);
    if ran.code == 0 { ran.json()["reasons"][0].clone() } else { serde_json::Value::Null }
}

/// How many were between `+` and `-` at once at most.
fn most_at_once(place: &Place, name: &str) -> i32 {
    let (mut now, mut most) = (0, 0);
    for line in lines(&place.path(name)) {
        now += if line.starts_with('+') { 1 } else { -1 };
        most = most.max(now);
    }
    most
}

/// Files among the locks whose names end so.
fn among_locks(place: &Place, ending: &str) -> Vec<String> {
    let names =
        std::fs::read_dir(place.lock("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(ending)).collect()
}

fn is_over_soon(running: &mut Running) {
    until("it has ended", || running.is_over().then_some(()));
}
