//! `doctor` finds what is wrong, says what helps, changes nothing unless asked, and then mends only what is safe.

use crate::support::until;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

/// A state directory of a test, and luzia in it with an environment that holds nothing else.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        // Not below /tmp, of which doctor warns.
        Self { dir: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    /// One that was used: one task is over.
    fn used() -> Self {
        let place = Self::new();
        place.done(&["run", "-u", "alice", "--", "true"]);
        place.settle();
        place
    }

    /// Waits until no supervisor works here any more; each makes a last pass when its task is over.
    fn settle(&self) {
        let state = self.state();
        let own = state.to_str().unwrap().as_bytes();
        let is_here = |process: fs::DirEntry| {
            let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == own)
        };
        until("supervisors end", || (!fs::read_dir("/proc").unwrap().flatten().any(is_here)).then_some(()));
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn path(&self, below: &str) -> PathBuf {
        self.state().join(below)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_luzia"));
        command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        crate::support::at_home(&mut command, self.dir.path());
        command.env("LUZIA_STATE_DIR", self.state()).args(args);
        command
    }

    fn luzia(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a verb that must succeed; its standard output.
    fn done(&self, args: &[&str]) -> String {
        let output = self.luzia(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What doctor says: its exit code and its document.
    fn doctor(&self, args: &[&str]) -> (i32, Value) {
        let output = self.luzia(&[&["doctor", "--json"], args].concat());
        let document = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code().unwrap(), document)
    }

    /// Every file and folder with its mode, its size and when it was last changed.
    fn snapshot(&self) -> BTreeMap<PathBuf, (u32, u64, SystemTime)> {
        let mut found = BTreeMap::new();
        walk(&self.state(), &mut found);
        found
    }
}

fn walk(path: &Path, found: &mut BTreeMap<PathBuf, (u32, u64, SystemTime)>) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    found.insert(path.to_owned(), (meta.mode(), meta.size(), meta.modified().unwrap()));
    for entry in fs::read_dir(path).into_iter().flatten() {
        walk(&entry.unwrap().path(), found);
    }
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// The levels and messages of one check.
fn of_check<'a>(document: &'a Value, check: &str) -> Vec<(&'a str, &'a str)> {
    let items = document["items"].as_array().unwrap().iter().filter(|item| item["check"] == check);
    items.map(|item| (item["level"].as_str().unwrap(), item["message"].as_str().unwrap())).collect()
}

/// The only file below a folder whose name ends in `.json`.
fn record_below(folder: &Path) -> PathBuf {
    let mut found = BTreeMap::new();
    walk(folder, &mut found);
    let mut records = found.into_keys().filter(|path| path.extension().is_some_and(|end| end == "json"));
    let record = records.next().unwrap();
    assert_eq!(records.next(), None);
    record
}

fn foreign_lock(place: &Place, stem: &str) {
    let old = r#"{"user":"zed","lock_id":"job_1_1","task_id":"job_1","acquired_at":"2020-01-01T00:00:00Z","expires_at":"2020-01-01T01:00:00Z"}"#;
    fs::write(place.path(&format!("locks/{stem}.json")), old).unwrap();
    fs::write(place.path(&format!("locks/{stem}.lock")), "").unwrap();
}

#[test]
fn a_place_that_does_not_exist_yet_is_no_problem_and_is_not_made() {
    let place = Place::new();
    let (code, document) = place.doctor(&[]);
    assert_eq!((code, &document["schema"], &document["ok"]), (0, &"luzia.doctor/v1".into(), &true.into()));
    assert_eq!(place.doctor(&["--fix", "-y"]).0, 0);
    assert!(!place.state().exists());
}

#[test]
fn a_place_in_use_is_well() {
    let place = Place::used();
    let (code, document) = place.doctor(&[]);
    let bad: Vec<&Value> = document["items"].as_array().unwrap().iter().filter(|item| item["level"] != "ok").collect();
    assert_eq!((code, bad), (0, Vec::new()));
}

/// Damages a used place, and expects one check to say so; then mends, and expects it to be well again.
fn check_mended(check: &str, level: &str, damage: impl FnOnce(&Place)) {
    let place = Place::used();
    damage(&place);
    let before = place.snapshot();
    let (code, document) = place.doctor(&[]);
    let found = of_check(&document, check);
    assert!(found.iter().any(|(found, _)| *found == level), "{check}: {document:#}");
    assert_eq!(code, i32::from(level == "problem"), "{check}: {document:#}");
    assert_eq!(place.snapshot(), before, "looking changes nothing: {check}");
    let refused = place.luzia(&["doctor", "--fix"]);
    assert_eq!((refused.status.code(), place.snapshot() == before), (Some(2), true), "{check}");
    let (code, document) = place.doctor(&["--fix", "-y"]);
    assert_eq!((code, of_check(&document, check)[0].0), (0, "ok"), "{document:#}");
    assert_ne!(document["mended"], Value::Array(Vec::new()), "{check}");
}

#[test]
fn modes_are_found_and_set_right() {
    check_mended("state-dir", "problem", |place| chmod(&place.state(), 0o777));
    check_mended("state-dir", "warn", |place| chmod(&place.state(), 0o755));
    check_mended("modes", "problem", |place| chmod(&place.path("locks/.guard"), 0o755));
    check_mended("modes", "problem", |place| chmod(&record_below(&place.path("spool/done")), 0o644));
    check_mended("modes", "warn", |place| chmod(&place.path("locks"), 0o700));
}

/// As somebody does who tidies up, or a copy that leaves out what is empty.
#[test]
fn folders_that_are_missing_are_found_and_made_again() {
    check_mended("folders", "problem", |place| fs::remove_dir(place.path("spool/tmp")).unwrap());
    let place = Place::new();
    place.done(&["enqueue", "-u", "alice", "--", "true"]);
    let state = place.state();
    let tidied = Command::new("find").arg(&state).args(["-type", "d", "-empty", "-delete"]).status().unwrap();
    assert!(tidied.success() && !place.path("run").exists());
    let refused = place.luzia(&["dispatch", "--drain"]);
    assert_eq!(refused.status.code(), Some(74));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("luzia doctor"), "{refused:?}");
    let (_, document) = place.doctor(&["--fix", "-y"]);
    assert_eq!(of_check(&document, "folders")[0].0, "ok", "{document:#}");
    place.done(&["dispatch", "--drain"]);
    assert!(place.path("locks/.guard").is_dir() && record_below(&place.path("spool/done")).is_file());
}

#[test]
fn locks_and_what_lies_beside_them_are_found_and_removed() {
    check_mended("locks", "problem", |place| foreign_lock(place, "user_zed"));
    check_mended("lock-debris", "warn", |place| fs::write(place.path("locks/user_zed.json"), "{}").unwrap());
    check_mended("lock-debris", "warn", |place| fs::write(place.path("locks/.user_zed.json.tmp"), "").unwrap());
}

#[test]
fn a_lease_that_ran_out_is_no_problem() {
    let place = Place::used();
    place.done(&["acquire", "alice", "--task", "job", "--ttl", "1ms"]);
    until("the lease is over", || {
        let (code, document) = place.doctor(&[]);
        assert_eq!(code, 0, "{document:#}");
        let level = of_check(&document, "locks")[0].0;
        assert!(["ok", "warn"].contains(&level), "{document:#}");
        (level == "warn").then_some(())
    });
}

#[test]
fn a_parked_task_without_its_timer_is_found_and_wakes_again() {
    let timers = |place: &Place| fs::read_dir(place.path("spool/timers")).unwrap().count();
    check_mended("parked", "problem", |place| {
        place.done(&["enqueue", "-u", "bob", "--in", "1h", "--", "true"]);
        assert_eq!(timers(place), 1);
        fs::remove_dir_all(place.path("spool/timers")).unwrap();
        fs::create_dir(place.path("spool/timers")).unwrap();
        chmod(&place.path("spool/timers"), 0o700);
    });
}

#[test]
fn a_mended_dependency_is_kept() {
    let place = Place::used();
    let first = place.done(&["enqueue", "-u", "alice", "--", "true"]);
    place.done(&["enqueue", "-u", "bob", "--after", first.trim(), "--", "true"]);
    let marks = place.path("spool/after");
    for folder in fs::read_dir(&marks).unwrap() {
        fs::remove_dir_all(folder.unwrap().path()).unwrap();
    }
    assert_eq!(place.doctor(&[]).0, 1);
    assert_eq!(place.doctor(&["--fix", "-y"]).0, 0);
    place.done(&["dispatch", "--drain"]);
    let statuses = place.done(&["list", "-a", "-o", "jsonl"]);
    assert_eq!(statuses.matches("\"status\":\"completed\"").count(), 3, "{statuses}");
}

fn age(file: &fs::File, seconds: u64) {
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

fn aged_file(path: &Path, seconds: u64) {
    age(&fs::File::create(path).unwrap(), seconds);
    chmod(path, 0o600);
}

#[test]
fn an_old_temporary_file_is_found_and_a_young_one_left() {
    check_mended("spool-debris", "warn", |place| {
        aged_file(&place.path("spool/tmp/9.9"), 7200);
        aged_file(&place.path("spool/tmp/8.8"), 60);
    });
    check_mended("spool-debris", "warn", |place| {
        let folder = place.path("spool/tmp/9.9.d");
        fs::create_dir(&folder).unwrap();
        chmod(&folder, 0o700);
        ["9.json", "10.json"].iter().for_each(|name| aged_file(&folder.join(name), 7200));
        age(&fs::File::open(folder).unwrap(), 7200);
    });
    let place = Place::used();
    fs::write(place.path("spool/tmp/8.8"), "").unwrap();
    chmod(&place.path("spool/tmp/8.8"), 0o600);
    assert_eq!(of_check(&place.doctor(&["--fix", "-y"]).1, "spool-debris")[0].0, "ok");
    assert!(place.path("spool/tmp/8.8").exists());
}

#[test]
fn a_task_without_its_supervisor_is_found_and_recovered() {
    check_mended("in-flight", "problem", |place| {
        let id = place.done(&["enqueue", "-u", "bob", "--", "sleep", "600"]);
        place.done(&["dispatch"]);
        let pid = until("the start is recorded", || {
            let shown: Value = serde_json::from_str(&place.done(&["show", "--json", id.trim()])).unwrap();
            shown["supervisor_pid"].as_u64()
        });
        let killed = Command::new("/bin/sh").args(["-c", &format!("kill -9 {pid}")]).status().unwrap();
        assert!(killed.success());
        until("its death is seen", || (place.doctor(&[]).0 != 0).then_some(()));
    });
}

#[test]
fn damaged_records_are_named_and_never_mended_away() {
    let place = Place::used();
    place.done(&["enqueue", "-u", "bob", "--", "true"]);
    let record = record_below(&place.path("spool/pending"));
    fs::write(&record, "{\"v\":1,").unwrap();
    let (code, document) = place.doctor(&[]);
    let found = of_check(&document, "records");
    assert_eq!((code, found[0].0), (1, "problem"));
    assert!(found[0].1.contains(record.strip_prefix(place.state()).unwrap().to_str().unwrap()), "{found:?}");
    assert_eq!(place.doctor(&["--fix", "-y"]).0, 1);
    assert!(record.exists());
    place.done(&["dispatch"]);
    let (code, document) = place.doctor(&["--fix", "-y"]);
    let aside = of_check(&document, "set-aside");
    assert_eq!((code, aside[0].0), (1, "problem"), "{document:#}");
    let kept = fs::read_dir(place.path("spool/corrupt")).unwrap().next().unwrap().unwrap();
    assert!(aside[0].1.contains(kept.file_name().to_str().unwrap()), "{aside:?}");
    assert_eq!(fs::read_to_string(kept.path()).unwrap(), "{\"v\":1,");
}

#[test]
fn what_a_newer_luzia_wrote_is_left_alone() {
    let place = Place::used();
    foreign_lock(&place, "user_zed");
    fs::write(place.path("format"), "{\"v\":2}\n").unwrap();
    let before = place.snapshot();
    for args in [&[][..], &["--fix", "-y"]] {
        let (code, document) = place.doctor(args);
        assert_eq!((code, of_check(&document, "format")[0].0), (1, "problem"), "{document:#}");
        assert_eq!(place.snapshot(), before);
    }
}

#[test]
fn names_that_luzia_did_not_make_warn_and_stay() {
    let place = Place::used();
    fs::create_dir(place.path("spool/running/notes")).unwrap();
    chmod(&place.path("spool/running/notes"), 0o700);
    let (code, document) = place.doctor(&["--fix", "-y"]);
    let found = of_check(&document, "foreign-names");
    assert_eq!((code, found[0].0), (0, "warn"));
    assert!(found[0].1.contains("spool/running/notes"));
    assert!(place.path("spool/running/notes").exists());
}

#[test]
fn tasks_that_nobody_would_start_warn() {
    let place = Place::used();
    place.done(&["enqueue", "-u", "bob", "--", "true"]);
    let (code, document) = place.doctor(&[]);
    assert_eq!((code, of_check(&document, "dispatcher")[0].0), (0, "warn"));
}

#[test]
fn a_second_state_directory_is_named() {
    let place = Place::used();
    let second = place.dir.path().join(".local/state/luzia");
    fs::create_dir_all(&second).unwrap();
    let (code, document) = place.doctor(&[]);
    let found = of_check(&document, "second-state-dir");
    assert_eq!((code, found[0].0), (0, "warn"));
    assert!(found[0].1.contains(second.to_str().unwrap()));
    assert!(of_check(&document, "state-dir")[0].1.contains("LUZIA_STATE_DIR"));
}

#[test]
fn a_configuration_that_does_not_read_is_a_finding_and_an_unknown_key_a_warning() {
    let place = Place::used();
    let file = place.dir.path().join("config.json");
    for (text, code, level) in [("{\"slots\":", 1, "problem"), ("{\"slot\":{}}", 0, "warn")] {
        fs::write(&file, text).unwrap();
        chmod(&file, 0o600);
        let (found, document) = place.doctor(&["--config", file.to_str().unwrap()]);
        assert_eq!((found, of_check(&document, "config")[0].0), (code, level), "{document:#}");
        assert_eq!(of_check(&document, "records")[0].0, "ok", "the rest is looked at all the same");
    }
}

#[test]
fn a_state_directory_that_cannot_be_used_is_a_finding() {
    let place = Place::new();
    fs::write(place.state(), "a file").unwrap();
    let (code, document) = place.doctor(&[]);
    assert_eq!((code, of_check(&document, "state-dir")[0].0), (1, "problem"));
    let mut command = place.command(&["doctor", "--json"]);
    let output = command
        .env("LUZIA_STATE_DIR", <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"/\xff"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn nothing_is_mended_without_a_yes() {
    let place = Place::used();
    foreign_lock(&place, "user_zed");
    let before = place.snapshot();
    for args in [&["doctor", "--fix"][..], &["doctor", "--fix", "--no-input"], &["doctor", "--fix", "--json"]] {
        let output = place.luzia(args);
        assert_eq!((output.status.code(), place.snapshot() == before), (Some(2), true), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
fn people_get_a_table_and_hints() {
    let place = Place::used();
    foreign_lock(&place, "user_zed");
    let output = place.luzia(&["doctor"]);
    let (table, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert!(table.starts_with("CHECK") && table.contains("user:zed"), "{table}");
    assert!(said.contains("luzia cleanup-stale") && said.contains("problems: 1"), "{said}");
    assert_eq!(mode(&place.state()), 0o700);
}
