//! Defects that were there once: each test is the scenario in which one showed.

use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A state directory of its own, and luzia in it.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(cargo_bin("luzia"));
        command.args(line.split(' ')).env("LUZIA_STATE_DIR", self.dir.path()).env_remove("LUZIA_TASK_ID");
        command.stdin(Stdio::null()).current_dir("/");
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Runs a line that must succeed, and gives what it printed.
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn code(&self, line: &str) -> Option<i32> {
        let output = self.run(line);
        eprintln!("{line}: {}", String::from_utf8_lossy(&output.stderr));
        output.status.code()
    }

    fn status(&self, id: u32) -> String {
        let text = self.ok(&format!("show {id} --json"));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["status"].as_str().unwrap().to_owned()
    }
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_record_that_does_not_read_keeps_nobody_else_from_their_turn() {
    let damaged: [(&str, &[u8]); 4] = [
        ("user_a/0/1.json", b"{\"v\":2,\"id\":\"task_1\"}"),
        ("user_a/0/1.json", b""),
        ("user_a/0/1.json", &[b' '; 4 * 1024 * 1024 + 1]),
        ("user_a/0/9.json", b"{\"v\":99}"),
    ];
    for (path, bytes) in damaged {
        let place = Place::new();
        place.ok("enqueue -u a -- true");
        place.ok("enqueue -u b -- true");
        fs::write(place.path("spool/pending/5").join(path), bytes).unwrap();
        let is_newer = bytes.starts_with(b"{");
        let is_first = path.ends_with("1.json");
        assert_eq!(place.code("dispatch --once"), Some(if is_newer && is_first { 65 } else { 0 }));
        eventually("b had its turn", || place.status(2) == "completed");
        assert_eq!(place.code("dispatch --drain"), Some(if is_newer { 65 } else { 0 }));
        assert_eq!(place.path("spool/pending/5").join(path).exists(), is_newer);
    }
}

#[test]
fn a_parked_record_that_does_not_read_keeps_nobody_else_from_their_turn() {
    let place = Place::new();
    place.ok("enqueue -u a --in 300ms -- true");
    place.ok("enqueue -u b -- true");
    place.ok("enqueue -u c --after 1 -- true");
    fs::write(place.path("spool/parked/0/1.json"), "").unwrap();
    std::thread::sleep(Duration::from_millis(310));
    assert_eq!(place.code("dispatch --drain"), Some(0));
    assert_eq!((place.status(2), place.status(3)), ("completed".to_owned(), "cancelled".to_owned()));
}

#[test]
fn names_that_luzia_did_not_make_are_left_alone_wherever_they_lie() {
    let place = Place::new();
    place.ok("enqueue -u a -- true");
    place.ok("enqueue -u b --in 10ms -- true");
    for folder in ["", "pending", "pending/5", "pending/5/user_a", "pending/5/user_a/0", "parked", "timers", "after"] {
        fs::write(place.path("spool").join(folder).join("README"), "").unwrap();
        std::os::unix::fs::symlink("/", place.path("spool").join(folder).join("link")).unwrap();
    }
    for folder in ["done", "running", "lanes", "keys"] {
        fs::write(place.path("spool").join(folder).join("README"), "").unwrap();
        fs::create_dir(place.path("spool").join(folder).join("77.json")).unwrap();
    }
    assert_eq!(place.code("dispatch --drain"), Some(0));
    assert_eq!((place.status(1), place.status(2)), ("completed".to_owned(), "completed".to_owned()));
    assert_eq!(fs::read_dir(place.path("spool/corrupt")).unwrap().count(), 1, "the running record that is a folder");
}

#[test]
fn a_task_that_started_others_does_not_end_what_follows_them() {
    let place = Place::new();
    let luzia = cargo_bin("luzia");
    let script = format!(
        "{0} enqueue -u bob -- sleep 0.2; {0} enqueue -u bob -- sleep 2; {0} dispatch --once; \
         until test -e {1}; do sleep 0.05; done",
        luzia.display(),
        place.path("spool/running/3.started.json").display()
    );
    let output = place.command("enqueue -u alice --shell").arg(&script).output().unwrap();
    assert!(output.status.success());
    place.ok("dispatch --once");
    place.ok("wait 1");
    place.ok("wait 2 3");
}

#[test]
fn the_timer_of_a_task_that_was_never_accepted_goes_when_it_is_old_and_no_other() {
    let place = Place::new();
    place.ok("enqueue -u a --in 30d -- true");
    place.ok("enqueue -u a --start-within 30d -- true");
    let timers = || -> Vec<PathBuf> {
        let hours = fs::read_dir(place.path("spool/timers")).unwrap();
        hours.flat_map(|hour| fs::read_dir(hour.unwrap().path()).unwrap()).map(|entry| entry.unwrap().path()).collect()
    };
    let used = timers();
    assert_eq!(used.len(), 2);
    let lost = used[0].with_extension("77");
    let young = used[0].with_extension("78");
    let foreign = used[0].with_file_name("notes.79");
    for path in [&lost, &young, &foreign] {
        fs::write(path, "").unwrap();
    }
    for path in used.iter().chain([&lost, &foreign]) {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(7200)).unwrap();
    }
    place.ok("cleanup-stale");
    assert!(!lost.exists(), "nobody would have looked at it for thirty days");
    assert!(young.exists() && foreign.exists() && used.iter().all(|path| path.exists()));
}

#[test]
fn an_outward_directory_that_missed_the_end_of_its_task_is_closed_later() {
    let place = Place::new();
    place.ok("enqueue -u a -- true");
    place.ok("dispatch --drain");
    let (active, done) = (place.path("conductor/_/active/task_1"), place.path("conductor/_/done/task_1"));
    fs::rename(&done, &active).unwrap();
    fs::write(active.join("meta.json"), r#"{"id":"task_1","status":"running","lock_released":false}"#).unwrap();
    fs::create_dir(place.path("conductor/_/active/task_7")).unwrap();
    place.ok("cleanup-stale -n");
    assert!(active.exists(), "a dry run changes nothing");
    place.ok("cleanup-stale");
    let meta: serde_json::Value = serde_json::from_slice(&fs::read(done.join("meta.json")).unwrap()).unwrap();
    assert_eq!((&meta["status"], &meta["lock_released"]), (&"completed".into(), &true.into()));
    assert!(place.path("conductor/_/active/task_7").exists(), "nothing is known of it");
    assert!(!place.path("run/1").exists());
}

#[test]
fn a_cancel_brings_to_its_end_what_a_power_cut_left_of_a_retry() {
    let place = Place::new();
    place.ok("enqueue -u a -- sleep 60");
    // The record to be of somebody who died after its commit point, beside the copy that the next pass would replace.
    fs::copy(place.path("spool/pending/5/user_a/0/1.json"), place.path("spool/running/1.result.json")).unwrap();
    let begin = Instant::now();
    assert_eq!(place.code("cancel 1"), Some(0), "it is queued or starts, and nobody else acts for it");
    assert!(begin.elapsed() < Duration::from_secs(8), "it does not wait for somebody who would");
    assert_eq!(place.status(1), "cancelled");
}

#[test]
fn a_timer_of_the_next_attempt_outlives_a_pass_that_still_sees_the_last_one_run() {
    let place = Place::new();
    place.ok("enqueue -u a -- sleep 2");
    place.ok("dispatch --once");
    // Its supervisor sets the timer of a further attempt before it parks the record, and may be stopped in between.
    let hour = place.path("spool/timers/491111");
    fs::create_dir_all(&hour).unwrap();
    let timer = hour.join("1768000000000.1");
    fs::write(&timer, "").unwrap();
    place.ok("dispatch --once");
    assert!(timer.exists(), "without it nobody would look at the parked record again");
    place.ok("wait 1");
    place.ok("dispatch --once");
    assert!(!timer.exists(), "it means nothing once the task is over");
}

#[test]
fn a_retry_that_fails_after_its_commit_point_does_not_say_that_nothing_happened() {
    let place = Place::new();
    place.ok("run -u a -- true");
    fs::remove_dir(place.path("spool/pending/5")).unwrap();
    fs::write(place.path("spool/pending/5"), "in the way").unwrap();
    let output = place.run("retry 1");
    assert_eq!(output.status.code(), Some(74));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("retried all the same") && !told.contains("intact"), "{told}");
    fs::remove_file(place.path("spool/pending/5")).unwrap();
    place.ok("dispatch --drain");
    let shown: serde_json::Value = serde_json::from_str(&place.ok("show 1 --json")).unwrap();
    assert_eq!((shown["status"].as_str(), shown["starts"].as_u64()), (Some("completed"), Some(2)), "{shown}");
}
