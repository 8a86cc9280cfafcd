//! Lock files that a person or a cleaner removes while their holder lives: the lane stays held, and the files come back.

use crate::support::{Place, Running, kill_all, until};
use serde_json::Value;
use std::fs;

const LANE: &str = "lane:build";
const NAME: &str = "build";
const LOCK: &str = "lane_build.lock";
const SIDECAR: &str = "lane_build.json";
const SECOND: &str = ".lane_build.held";

fn lock_of(place: &Place) -> Value {
    let all = place.json(&["list-locks"]);
    let found = all["items"].as_array().unwrap().iter().find(|lock| lock["lane"] == NAME).cloned();
    found.unwrap_or_else(|| panic!("{all}"))
}

/// A lane that somebody holds, and how the holder lets go of it.
struct Held {
    place: Place,
    command: Option<Running>,
    kind: &'static str,
}

impl Held {
    fn by(kind: &'static str) -> Self {
        let place = Place::new();
        place.gate("gate");
        let script = "echo up > $PLACE/up; read _ < $PLACE/gate";
        let command = match kind {
            "task" => {
                place.enqueue(&["-l", "build", "--", "sh", "-c", script]);
                place.ok(&["dispatch"]);
                None
            }
            "lock" => Some(place.start(&["lock", "-l", "build", "--", "sh", "-c", script])),
            "session" => {
                let pid = std::process::id().to_string();
                place.ok(&["acquire", LANE, "--session", "s1", "--pid", &pid]);
                None
            }
            _ => {
                place.ok(&["acquire", LANE, "--task", "me", "--ttl", "1h"]);
                None
            }
        };
        if ["task", "lock"].contains(&kind) {
            place.until_file("up");
        }
        Self { place, command, kind }
    }

    fn remove(&self, names: &[&str]) {
        names.iter().for_each(|name| fs::remove_file(self.place.lock(name)).unwrap());
    }

    /// Nobody else gets the lane, by whichever way in.
    fn is_held(&self) {
        let place = &self.place;
        place.luzia(&["check", LANE]).coded(75);
        place.luzia(&["acquire", LANE, "--task", "other"]).coded(75);
        place.luzia(&["lock", "-n", "-l", "build", "--", "true"]).coded(75);
        let next = place.enqueue(&["-l", "build", "--", "true"]);
        place.ok(&["dispatch"]);
        assert_eq!(place.status(&next), "pending", "{}", self.kind);
        place.ok(&["cancel", &next]);
    }

    /// The holder ends, and the lane is free with nothing left behind.
    fn ends(self) {
        let Self { place, command, kind } = self;
        match kind {
            "session" => drop(place.ok(&["release", LANE, "--session", "s1"])),
            "lease" => drop(place.ok(&["release", LANE, "me"])),
            _ => place.open_gate("gate"),
        }
        if let Some(command) = command {
            command.end().coded(0);
        }
        until("the lane is free", || (place.luzia(&["check", LANE]).code == 0).then_some(()));
        let left = || fs::read_dir(place.lock("")).unwrap().map(|entry| entry.unwrap().file_name());
        until(&format!("nothing is left of the {kind}"), || {
            (left().all(|name| !name.to_str().unwrap().contains("lane_build"))).then_some(())
        });
        place.ok(&["lock", "-n", "-l", "build", "--", "true"]);
    }
}

fn comes_back(names: &[&'static str]) {
    for kind in ["task", "lock", "session", "lease"] {
        let held = Held::by(kind);
        let before = (lock_of(&held.place), fs::read(held.place.lock(LOCK)).unwrap());
        // The second time tells whether what came back is as safe as what was removed.
        for _ in 0..2 {
            held.remove(names);
            held.is_held();
            assert_eq!(fs::read(held.place.lock(LOCK)).unwrap(), before.1, "{kind}");
        }
        if names == [LOCK] {
            let now = lock_of(&held.place);
            for same in ["lock_id", "fence", "task_id", "kind"] {
                assert_eq!(now[same], before.0[same], "{kind} {same}");
            }
        }
        assert!(held.place.events_named("lock_file_put_back").iter().any(|event| event["lane"] == NAME), "{kind}");
        held.ends();
    }
}

#[test]
fn a_removed_lock_file_lets_nobody_else_in() {
    comes_back(&[LOCK]);
}

#[test]
fn a_removed_lock_file_and_sidecar_let_nobody_else_in() {
    // Of the task, the command and the session the sidecar comes back as well; the second removal needs one.
    for kind in ["task", "lock", "session", "lease"] {
        let held = Held::by(kind);
        held.remove(&[LOCK, SIDECAR]);
        held.is_held();
        if kind != "lease" {
            until(&format!("the sidecar of the {kind} is back"), || held.place.lock(SIDECAR).exists().then_some(()));
        }
        if kind == "lease" {
            held.place.ok(&["release", LANE, "me"]);
            held.place.ok(&["check", LANE]);
            continue;
        }
        held.ends();
    }
}

#[test]
fn a_removed_sidecar_lets_nobody_else_in() {
    for kind in ["task", "lock", "session", "lease"] {
        let held = Held::by(kind);
        held.remove(&[SIDECAR]);
        held.is_held();
    }
}

#[test]
fn a_living_holder_makes_every_file_anew_within_a_second() {
    for kind in ["task", "lock", "session"] {
        let held = Held::by(kind);
        let before = lock_of(&held.place);
        // The second name first: a holder that looks in between would put the lock file back by it.
        held.remove(&[SECOND, LOCK, SIDECAR]);
        until(&format!("the lock of the {kind} is back"), || held.place.lock(SECOND).exists().then_some(()));
        held.is_held();
        let now = lock_of(&held.place);
        for same in ["lock_id", "fence", "task_id", "kind"] {
            assert_eq!(now[same], before[same], "{kind} {same}");
        }
        held.ends();
    }
}

#[test]
fn what_luzia_released_does_not_come_back() {
    let held = Held::by("session");
    held.place.ok(&["release", LANE, "--session", "s1"]);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    held.place.ok(&["check", LANE]);
    // Nor does a lock that was taken by somebody else when its keeper looks.
    held.place.ok(&["acquire", LANE, "--session", "s1", "--pid", &std::process::id().to_string()]);
    held.remove(&[SECOND, LOCK, SIDECAR]);
    let other = held.place.luzia(&["acquire", LANE, "--task", "other", "--ttl", "1h"]);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let now = lock_of(&held.place);
    assert_eq!(now["task_id"] == "other", other.code == 0, "{now}");
}

#[test]
fn a_dead_holder_is_dead_though_its_lock_file_was_removed() {
    let held = Held::by("lock");
    held.remove(&[LOCK]);
    kill_all(&held.place);
    until("the lane is free", || (held.place.luzia(&["check", LANE]).code == 0).then_some(()));
    held.place.ok(&["acquire", LANE, "--task", "next"]);
}

#[test]
fn doctor_tells_of_removed_lock_files_and_of_places_where_cleaners_work() {
    let held = Held::by("lock");
    held.remove(&[LOCK]);
    let seen = held.place.luzia(&["doctor", "--json"]).out;
    assert!(seen.contains("lock file \\\"locks/lane_build.lock\\\" was removed"), "{seen}");
    held.is_held();
    held.ends();
    for (below, is_swept) in [("/tmp/", true), ("/var/tmp/", true), (env!("CARGO_TARGET_TMPDIR"), false)] {
        let dir = tempfile::tempdir_in(below).unwrap();
        let seen = Place::new().luzia(&["--state-dir", dir.path().to_str().unwrap(), "doctor", "--json"]).out;
        assert_eq!(seen.contains("where cleaners remove old files"), is_swept, "{below}: {seen}");
    }
}
