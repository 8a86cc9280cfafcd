//! A later and an earlier luzia in one state directory, by what they leave in it: this one works with their records, and keeps
//! what it does not know.

use crate::support::Place;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

type Members = Map<String, Value>;

/// The files below a folder with a name.
fn named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(named(&entry.path(), name)),
            false if entry.file_name() == name => found.push(entry.path()),
            false => {}
        }
    }
    found
}

fn only(place: &Place, name: &str) -> PathBuf {
    let mut found = named(&place.state().join("spool"), name);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found.remove(0)
}

fn members(path: &Path) -> Members {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Changes a record as another luzia would: by a new file of its name.
fn rewrite(path: &Path, change: impl FnOnce(&mut Members)) {
    let mut read = members(path);
    change(&mut read);
    let new = path.with_extension("new");
    fs::write(&new, format!("{}\n", Value::Object(read))).unwrap();
    fs::rename(&new, path).unwrap();
}

/// What a later luzia may add to a record.
fn add_later(members: &mut Members) {
    members.insert("zulu".into(), json!({ "b": [1.5, null], "a": true }));
    members.insert("alpha".into(), json!("kept"));
}

fn assert_later(path: &Path, what: &str) {
    let read = members(path);
    let later: Vec<(&str, &Value)> = read
        .iter()
        .map(|(name, value)| (name.as_str(), value))
        .filter(|(name, _)| ["zulu", "alpha"].contains(name))
        .collect();
    assert_eq!(
        later,
        [("zulu", &json!({ "b": [1.5, null], "a": true })), ("alpha", &json!("kept"))],
        "{what}: {read:?}"
    );
}

#[test]
fn members_of_a_later_version_survive_every_verb_that_writes_the_record_again() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--in", "1h", "--", "true"]);
    rewrite(&only(&place, "1.json"), add_later);
    for args in [
        &["edit", &id, "--priority", "2"][..],
        &["pause", &id, "--reason", "r"],
        &["resume", &id],
        &["edit", &id, "--in", "0s"],
        &["dispatch", "--drain"],
        &["retry", &id],
        &["cancel", &id],
    ] {
        place.luzia(args);
        assert_later(&only(&place, "1.json"), &format!("{args:?}"));
    }
    assert_eq!((place.status(&id).as_str(), &place.show(&id)["priority"]), ("cancelled", &json!(2)));
}

#[test]
fn members_of_a_later_version_survive_changes_of_rules_hooks_and_schedules() {
    let place = Place::new();
    place.ok(&["lanes", "set", "gpu", "--max", "2"]);
    place.ok(&["hook", "add", "task.completed", "--", "true"]);
    place.ok(&["cron", "add", "nightly", "0 3 * * *", "-u", "ci", "--", "true"]);
    for (name, args) in [
        ("control.json", &["lanes", "set", "gpu", "--max", "3"][..]),
        ("hooks.json", &["hook", "add", "task.failed", "--", "true"]),
        ("nightly.json", &["cron", "run", "nightly"]),
    ] {
        let path = only(&place, name);
        rewrite(&path, add_later);
        let before = fs::read(&path).unwrap();
        place.ok(args);
        assert_ne!(fs::read(&path).unwrap(), before, "{args:?} writes {name}");
        assert_later(&path, &format!("{args:?}"));
    }
}

#[test]
fn a_record_of_0_1_0_lives_to_its_end_beside_one_of_now() {
    let place = Place::new();
    let (old, new) = (place.enqueue(&["-u", "alice", "--", "false"]), place.enqueue(&["-u", "alice", "--", "true"]));
    // What 0.1.0 wrote; its records had none of the later members.
    const OF_0_1_0: [&str; 16] = [
        "v",
        "id",
        "status",
        "user",
        "priority",
        "command",
        "env",
        "cwd",
        "umask",
        "conductor_dir",
        "created_at",
        "created_by_pid",
        "grace_ms",
        "retries",
        "failures",
        "starts",
    ];
    rewrite(&only(&place, "1.json"), |members| members.retain(|name, _| OF_0_1_0.contains(&name.as_str())));
    place.drain();
    assert_eq!((place.status(&old), place.status(&new)), ("failed".to_owned(), "completed".to_owned()));
    place.ok(&["retry", &old]);
    assert_eq!(place.status(&old), "pending");
    place.drain();
    assert_eq!(place.status(&old), "failed");
}

#[test]
fn a_record_of_a_newer_format_is_left_as_it_is_and_named() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--", "true"]);
    let path = only(&place, "1.json");
    rewrite(&path, |members| drop(members.insert("v".into(), json!(2))));
    let before = fs::read(&path).unwrap();
    let refused = place.luzia(&["edit", &id, "--priority", "1"]);
    assert!(refused.code != 0 && refused.err.contains("newer luzia (format 2)"), "{}", refused.err);
    place.luzia(&["dispatch", "--drain"]);
    assert_eq!(fs::read(&path).unwrap(), before, "nothing rewrites it");
}
