//! A copy of a state directory beside its original (P13): whatever is called in the copy, the original lives on.

use crate::support::{Place, Ran, Running, lines, lives, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Beats until it is let go, and then says so.
const BEATING: &str = "until test -e $PLACE/go; do echo x >> $PLACE/beats; sleep 0.02; done; echo all of it";

/// What is called in a copy, by people who look and by people who clear up.
const VERBS: [&[&str]; 12] = [
    &["status"],
    &["list", "-a"],
    &["doctor"],
    &["locks"],
    &["explain", "task_1"],
    &["show", "task_1"],
    &["cleanup-stale", "0"],
    &["pause", "task_1"],
    &["release", "beater", "--force", "-y"],
    &["dispatch", "--drain"],
    &["cancel", "--all", "-y"],
    &["doctor", "--fix", "-y"],
];

/// Copies the state directory of a place.
fn copy(place: &Place, how: &str) {
    let copied = Command::new("cp").arg(how).arg(place.state()).arg(place.path("copy")).status();
    assert!(copied.unwrap().success());
}

/// Calls luzia in another directory than that of a place.
fn luzia_in(place: &Place, dir: &str, args: &[&str]) -> Ran {
    let dir = place.text(dir);
    let mut command = place.command(&[&["--state-dir", &dir], args].concat());
    let ran = place.spawn(command.env_remove("LUZIA_STATE_DIR")).end();
    assert!(ran.code < 128 && ran.code != 101 && !ran.err.contains("panicked"), "{args:?}: {ran:#?}");
    ran
}

fn json_in(place: &Place, dir: &str, args: &[&str]) -> Value {
    luzia_in(place, dir, &[&["--json"], args].concat()).json()
}

/// A place in which task_1 beats.
fn beating(config: &Value) -> Place {
    let place = Place::configured(config);
    place.enqueue(&["-u", "beater", "--", "sh", "-c", BEATING]);
    place.ok(&["dispatch", "--once"]);
    assert_beats(&place, "it has just started");
    place
}

fn assert_beats(place: &Place, after: &str) {
    let before = lines(&place.path("beats")).len();
    until(&format!("task_1 beats on, after: {after}"), || {
        (lines(&place.path("beats")).len() > before + 2).then_some(())
    });
}

/// Lets task_1 end, which must do so as if nothing had happened.
fn assert_ends_well(place: &Place) {
    std::fs::write(place.path("go"), "").unwrap();
    place.until_status("task_1", "completed");
    assert_eq!(place.ok(&["logs", "task_1"]).line(), "all of it");
}

fn is_interrupted(place: &Place, dir: &str) -> bool {
    let task = json_in(place, dir, &["show", "task_1"]);
    task["status"] == "failed" && task.to_string().contains("is a copy")
}

/// The processes that hold locks of a place: `luzia lock`, a process that a lease watches, and the agent of a session.
struct Holders {
    lock: Running,
    watched: [Running; 2],
}

impl Holders {
    fn of(place: &Place) -> Self {
        let lock =
            place.start(&["lock", "-u", "locker", "--", "sh", "-c", "until test -e $PLACE/go; do sleep 0.02; done"]);
        until("the lock is held", || place.lock("user_locker.lock").exists().then_some(()));
        let watched = [(); 2].map(|()| place.spawn(place.shell("exec sleep 1000").arg("x")));
        let [lease, agent] = [0, 1].map(|at| watched[at].pid().to_string());
        place.ok(&["acquire", "leaser", "--task", "t1", "--pid", &lease]);
        place.ok(&["acquire", "-l", "thread:7", "--session", "chat", "--pid", &agent]);
        place.ok(&["acquire", "script", "--task", "t2"]);
        Self { lock, watched }
    }

    fn assert_live(&mut self, place: &Place, after: &str) {
        assert!(!self.lock.is_over(), "luzia lock, after: {after}");
        assert!(self.watched.iter().all(|process| lives(process.pid())), "after: {after}");
        for lane in ["user:locker", "user:leaser", "thread:7", "user:script"] {
            assert_eq!(place.luzia(&["check", lane]).code, 75, "{lane} is held, after: {after}");
        }
    }
}

fn check_beside_living(how: &str, verbs: &[&[&str]]) {
    let place = beating(&json!({}));
    let mut holders = Holders::of(&place);
    copy(&place, how);
    for verb in verbs {
        luzia_in(&place, "copy", verb);
        assert_beats(&place, &format!("{verb:?}"));
        holders.assert_live(&place, &format!("{verb:?}"));
    }
    for lane in ["locker", "leaser", "script", "thread:7"] {
        luzia_in(&place, "copy", &["release", lane, "--force", "-y"]);
        holders.assert_live(&place, &format!("release {lane} --force"));
    }
    assert_beats(&place, "everything");
    if how == "-a" {
        assert!(is_interrupted(&place, "copy"));
    }
    assert_eq!(place.status("task_1"), "running");
    assert_ends_well(&place);
    holders.lock.end().coded(0);
}

#[test]
fn no_verb_in_a_copy_ends_what_lives_in_its_original() {
    check_beside_living("-a", &VERBS);
}

#[test]
fn no_verb_in_a_copy_of_hard_links_ends_what_lives_in_its_original() {
    // The kernel locks of such a copy are those of its original, so what runs there seems to run here.
    let waits = |verb: &&[&str]| ["pause", "release", "cancel"].contains(&verb[0]) || verb.contains(&"--drain");
    let verbs: Vec<&[&str]> =
        VERBS.into_iter().filter(|verb| !waits(verb)).chain([&["dispatch", "--once"][..]]).collect();
    check_beside_living("-al", &verbs);
}

/// Kills the supervisor of task_1, whose command lives on.
fn orphan(place: &Place) {
    let supervisor = place.supervisor("task_1");
    signal(supervisor, Signal::KILL);
    until("the supervisor is dead", || (!lives(supervisor)).then_some(()));
}

#[test]
fn a_command_without_a_supervisor_lives_on_beside_a_copy_and_its_original_recovers_it() {
    let place = beating(&json!({}));
    orphan(&place);
    copy(&place, "-a");
    luzia_in(&place, "copy", &["dispatch", "--drain"]);
    assert!(is_interrupted(&place, "copy"));
    assert_beats(&place, "the copy was dispatched");
    place.ok(&["dispatch", "--once"]);
    place.until_status("task_1", "failed");
    let before = lines(&place.path("beats")).len();
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(lines(&place.path("beats")).len(), before, "its own directory has ended it");
}

/// Takes from the record of a start what an earlier luzia did not write.
fn make_old(dir: &Path) {
    let path = dir.join("spool/running/1.started.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(record.as_object_mut().unwrap().remove("root").is_some());
    std::fs::write(&path, record.to_string()).unwrap();
}

#[test]
fn a_start_of_an_earlier_luzia_is_known_by_the_path_of_its_directory() {
    let place = beating(&json!({}));
    orphan(&place);
    make_old(&place.state());
    copy(&place, "-a");
    luzia_in(&place, "copy", &["dispatch", "--drain"]);
    assert!(is_interrupted(&place, "copy"));
    assert_beats(&place, "the copy was dispatched");
    place.ok(&["dispatch", "--once"]);
    place.until_status("task_1", "failed");
}

#[test]
fn a_directory_that_was_moved_is_no_copy_and_recovers_its_tasks() {
    let place = beating(&json!({}));
    orphan(&place);
    std::fs::rename(place.state(), place.path("moved")).unwrap();
    assert!(!luzia_in(&place, "moved", &["doctor"]).out.contains("is a copy"));
    luzia_in(&place, "moved", &["dispatch", "--drain"]);
    let task = json_in(&place, "moved", &["show", "task_1"]);
    assert_eq!(task["status"], "failed");
    assert!(!task.to_string().contains("is a copy"), "{task}");
    let before = lines(&place.path("beats")).len();
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(lines(&place.path("beats")).len(), before, "its command has ended");
}

/// Every file below a directory, with its content.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
        if entry.path().is_dir() {
            found.push((entry.path().display().to_string(), Vec::new()));
            found.extend(files(&entry.path()));
        } else {
            found.push((entry.path().display().to_string(), std::fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_copy_neither_moves_nor_writes_a_conductor_directory_of_its_original() {
    let place = Place::new();
    let conductor = place.text("conductor");
    place.configure(&json!({ "projects": { "web": { "user": "beater", "conductor_dir": conductor } } }));
    place.enqueue(&["-p", "web", "--", "sh", "-c", BEATING]);
    place.enqueue(&["-p", "web", "--", "echo", "second"]);
    place.enqueue(&["-u", "plain", "--hold", "--", "echo", "third"]);
    place.ok(&["dispatch", "--once"]);
    assert_beats(&place, "it has just started");
    copy(&place, "-a");
    let (configured, own) = (files(&place.path("conductor")), files(&place.state().join("conductor")));
    assert!(configured.iter().any(|(path, _)| path.ends_with("active/task_1/meta.json")), "{configured:?}");
    luzia_in(&place, "copy", &["resume", "task_3"]);
    for verb in
        [&["dispatch", "--drain"][..], &["cleanup-stale", "0"], &["check-project", "web"], &["doctor", "--fix", "-y"]]
    {
        luzia_in(&place, "copy", verb);
        assert_eq!(files(&place.path("conductor")), configured, "{verb:?}");
        assert_eq!(files(&place.state().join("conductor")), own, "{verb:?}");
    }
    for (id, text) in [("task_2", "second"), ("task_3", "third")] {
        assert_eq!(
            json_in(&place, "copy", &["show", id])["status"],
            "completed",
            "what is pending in a copy runs there"
        );
        assert_eq!(luzia_in(&place, "copy", &["logs", id]).line(), text);
    }
    assert_beats(&place, "the copy was dispatched");
    std::fs::write(place.path("go"), "").unwrap();
    place.until_status("task_1", "completed");
    assert!(place.path("conductor/done/task_1/meta.json").exists());
}

#[test]
fn doctor_names_a_copy_and_parts_it_only_when_its_original_is_gone() {
    let place = Place::new();
    place.ok(&["run", "--", "true"]);
    assert!(!place.luzia(&["doctor"]).out.contains("is a copy"));
    copy(&place, "-a");
    let told = luzia_in(&place, "copy", &["doctor"]).out;
    assert!(told.contains(&format!("is a copy of \"{}\"", place.text("state"))), "{told}");
    luzia_in(&place, "copy", &["doctor", "--fix", "-y"]);
    assert!(luzia_in(&place, "copy", &["doctor"]).out.contains("is a copy"), "its original stands");
    std::fs::rename(place.state(), place.path("gone")).unwrap();
    let mended = luzia_in(&place, "copy", &["doctor", "--fix", "-y"]);
    assert!((mended.out + &mended.err).contains("of its own now"));
    assert!(!luzia_in(&place, "copy", &["doctor"]).out.contains("is a copy"));
}
