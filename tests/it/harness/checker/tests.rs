//! The judge is judged: a world that is well has no problem, and each damage is named.

use super::super::World;
use super::super::oracle::{self, Deed};
use super::{Checker, settle};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Three tasks that have run, the third with a retry that it needed not.
fn quiet() -> (World, Checker) {
    let world = World::new("judge");
    let mut checker = Checker { slots: Some(1), ..Checker::default() };
    world.configure(r#"{ "slots": { "max": 1 } }"#);
    for (user, retries) in [("alice", 0), ("bob", 0), ("alice", 1)] {
        let command = oracle::command(&world, user, Deed::Work);
        checker.promise(world.enqueue(&["-u", user, "--retries", &retries.to_string()], &command), retries);
    }
    settle(&world);
    (world, checker)
}

fn append(path: PathBuf, text: &str) {
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(format!("{text}\n").as_bytes()).unwrap();
}

fn say(world: &World, line: &str) {
    append(world.journal(), line);
}

/// Adds events, each with its name, its task, the user and when it was.
fn note(world: &World, events: &[(&str, u64, &str, u64)]) {
    let day = super::list(&world.state.join("events")).pop().unwrap();
    for (name, task, user, at) in events {
        let event = serde_json::json!({ "event": name, "task": format!("task_{task}"), "user": user, "boot_ms": at });
        append(day.clone(), &event.to_string());
    }
}

fn record(world: &World, id: u64) -> PathBuf {
    PathBuf::from(&super::places(&world.state)[&id][0])
}

fn leave(world: &World, path: &str) {
    let path = world.state.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
}

/// The greatest fence of alice's lane.
fn last_fence(world: &World) -> u64 {
    oracle::journal(world).iter().filter(|line| line.user == "alice").map(|line| line.fence).max().unwrap()
}

/// A damage, and what must be said of it.
type Damage = (&'static str, fn(&World));

const DAMAGES: [Damage; 22] = [
    ("two live holders", |world| say(world, "V task_1 alice 1 1 1")),
    ("is not above", |world| say(world, &format!("B lock alice 0 {} 1", last_fence(world)))),
    ("is not above", |world| say(world, "B lock bob 0 1 1")),
    ("task_1 began 2 times", |world| say(world, &format!("B task_1 alice 1 {} 1", last_fence(world) + 1))),
    ("task_3 began 3 times", |world| {
        for more in 1..=2 {
            say(world, &format!("B task_3 alice 2 {} 1", last_fence(world) + more));
        }
    }),
    ("task_2 was acknowledged and is lost", |world| fs::remove_file(record(world, 2)).unwrap()),
    ("task_77 has run and is lost", |world| say(world, "B task_77 carol 1 1 1")),
    ("task_2 stands in", |world| {
        fs::copy(record(world, 2), world.state.join("spool/running/2.json")).unwrap();
    }),
    ("set aside as corrupt", |world| leave(world, "spool/corrupt/4.json")),
    ("list shows", |world| fs::write(record(world, 2), "{").unwrap()),
    ("intervals of alice overlap", |world| {
        note(world, &[("started", 1, "alice", 5), ("started", 3, "alice", 10)]);
        note(world, &[("ended", 1, "alice", 20), ("recovered", 3, "alice", 30)]);
    }),
    ("2 tasks ran at once", |world| {
        note(world, &[("started", 1, "alice", 5), ("started", 2, "bob", 10)]);
        note(world, &[("ended", 1, "alice", 20), ("ended", 2, "bob", 30)]);
    }),
    ("task_2 was finished and started again", |world| note(world, &[("started", 2, "bob", 5)])),
    ("locks/user_alice.lock", |world| leave(world, "locks/user_alice.lock")),
    ("locks/.user_alice.json.tmp", |world| leave(world, "locks/.user_alice.json.tmp")),
    ("spool/tmp/5.json", |world| leave(world, "spool/tmp/5.json")),
    ("spool/tmp/5.7.d", |world| fs::create_dir(world.state.join("spool/tmp/5.7.d")).unwrap()),
    ("run/5", |world| fs::create_dir(world.state.join("run/5")).unwrap()),
    ("spool/timers/1", |world| leave(world, "spool/timers/1/1.5")),
    ("spool/after/1", |world| leave(world, "spool/after/1/5")),
    ("active/task_1/meta.json", |world| leave(world, "conductor/_/active/task_1/meta.json")),
    ("doctor finds", |world| {
        fs::set_permissions(record(world, 2), fs::Permissions::from_mode(0o666)).unwrap();
    }),
];

/// Puts the state and the work of `from` in the stead of those of `to`.
fn copy(from: &Path, to: &Path) {
    for name in ["state", "work"] {
        let _ = fs::remove_dir_all(to.join(name));
        let mut command = Command::new("cp");
        assert!(command.arg("-a").arg(from.join(name)).arg(to).status().unwrap().success());
    }
}

#[test]
fn a_world_that_is_well_has_no_problem_and_every_damage_is_named() {
    let (world, checker) = quiet();
    let promised = checker.acknowledged.clone();
    checker.assert_quiet(&world);
    let root = world.work.parent().unwrap();
    let kept = root.join("kept");
    fs::create_dir(&kept).unwrap();
    copy(root, &kept);
    for (expected, damage) in DAMAGES {
        copy(&kept, root);
        damage(&world);
        let checker = Checker { acknowledged: promised.clone(), slots: Some(1), ..Checker::default() };
        let problems = checker.check_quiet(&world);
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{expected}: {problems:#?}");
    }
}

#[test]
fn what_is_still_alive_is_named() {
    let (world, checker) = quiet();
    let mut child = Command::new("sleep").arg("600").current_dir(&world.work).spawn().unwrap();
    let problems = super::super::until("it is named", || {
        let copy = Checker { acknowledged: checker.acknowledged.clone(), ..Checker::default() };
        let problems = copy.check_quiet(&world);
        (!problems.is_empty()).then_some(problems)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(&problems[..], [one] if one.contains("still alive")), "{problems:#?}");
}

#[test]
fn what_somebody_asked_for_is_no_problem() {
    let (world, mut checker) = quiet();
    checker.acknowledged.get_mut(&2).unwrap().reopens = 1;
    say(&world, "B task_2 bob 2 9999999999999999999 1");
    // The event of the retry itself is missing: the caller was killed.
    note(&world, &[("started", 2, "bob", 1), ("ended", 2, "bob", 2), ("requeued", 2, "bob", 3)]);
    note(&world, &[("started", 2, "bob", 5), ("ended", 2, "bob", 9)]);
    checker.assert_quiet(&world);
}
