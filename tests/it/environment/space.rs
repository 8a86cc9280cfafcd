//! A state directory on a small file system of its own: full, without inodes, read-only. Needs the right to mount.

use crate::support::{Place, Ran, signal, skip, until};
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Command;

/// A tmpfs on a directory.
struct Mounted(PathBuf);

impl Mounted {
    /// None when nothing can be mounted here.
    fn new(test: &str, on: PathBuf, options: &str) -> Option<Self> {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "luzia-test"]).arg(&on).output();
        if mounted.is_ok_and(|ran| ran.status.success()) {
            return Some(Self(on));
        }
        skip(test, "the right to mount a tmpfs");
        None
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A place whose state directory is a small tmpfs.
struct Small {
    mounted: Mounted,
    place: Place,
}

impl Small {
    fn new(test: &str, options: &str) -> Option<Self> {
        let place = Place::new();
        std::fs::create_dir(place.state()).unwrap();
        let mounted = Mounted::new(test, place.state(), &format!("mode=0700,{options}"))?;
        Some(Self { mounted, place })
    }

    /// Fills what is left, but for some bytes.
    fn fill(&self) {
        let path = self.place.state().join("ballast");
        let mut file = std::fs::File::create(path).unwrap();
        let mut size = 65536;
        while size > 0 {
            if std::io::Write::write_all(&mut file, &vec![b'x'; size]).is_err() {
                size /= 2;
            }
        }
    }

    fn free(&self) {
        std::fs::remove_file(self.place.state().join("ballast")).unwrap();
    }

    /// Starts a task that waits at a gate, and waits until it is there.
    fn running(&self, user: &str) -> String {
        self.place.gate("gate");
        let script = "echo up > $PLACE/up; read _ < $PLACE/gate; echo done > $PLACE/done";
        let id = self.place.enqueue(&["-u", user, "--", "sh", "-c", script]);
        self.place.ok(&["dispatch"]);
        self.place.until_file("up");
        id
    }
}

#[track_caller]
fn check_refused(ran: &Ran) {
    assert!([73, 74].contains(&ran.code), "{ran:#?}");
    assert!(ran.err.contains("luzia: ") && !ran.err.contains("panicked"), "{ran:#?}");
}

#[test]
fn a_full_disk_refuses_new_tasks_finishes_running_ones_and_recovers() {
    let test = "a_full_disk_refuses_new_tasks_finishes_running_ones_and_recovers";
    let Some(small) = Small::new(test, "size=512k") else { return };
    let place = &small.place;
    let running = small.running("alice");
    let waiting = place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo next > $PLACE/next"]);
    small.fill();
    // At submit: refused, and nothing half-made is left.
    for _ in 0..3 {
        check_refused(&place.luzia(&["enqueue", "-u", "bob", "--", "true"]));
        check_refused(&place.luzia(&["acquire", "carol", "--task", "t1"]));
    }
    assert_eq!(std::fs::read_dir(place.state().join("spool/tmp")).unwrap().count(), 0);
    assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 2);
    // At the end of the run: the command has ended, its result cannot be written, and is not lost.
    place.open_gate("gate");
    place.until_file("done");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let seen = place.status(&running);
    assert!(["running", "completed"].contains(&seen.as_str()), "{seen}");
    small.free();
    place.until_status(&running, "completed");
    place.drain();
    assert_eq!((place.status(&waiting), place.until_file("next")), ("completed".into(), "next".into()));
    place.ok(&["check", "alice"]);
    place.ok(&["acquire", "carol", "--task", "t1"]);
}

/// The reason that every verb which looks gives for a task.
#[track_caller]
fn check_waits(place: &Place, id: &str, word: &str) {
    let explained = place.json(&["explain", id]);
    let reason = &explained["reasons"][0];
    assert_eq!(reason["reason"], word, "{explained}");
    let message = reason["message"].as_str().unwrap();
    let state = place.state().display().to_string();
    assert!(message.contains("tmpfs") && message.contains(&state) && message.contains("bytes"), "{message}");
    assert_eq!(reason["rooms"][0]["path"], state.as_str(), "{reason}");
    assert_eq!(reason["next"][0], format!("luzia explain {id}"));
    assert_eq!(place.json(&["list"])["items"][0]["reason"], word);
    assert_eq!(place.show(id)["reason"], word);
    assert_eq!(place.json(&["status"])["tasks"][0]["reason"], word);
    let texts = [&["explain", id][..], &["list"], &["status"], &["show", id]].map(|args| place.ok(args));
    assert!(texts.iter().all(|text| !text.out.contains("luzia cancel")), "{texts:#?}");
    assert!([&texts[0], &texts[2]].iter().all(|text| text.out.contains(word)), "{texts:#?}");
    assert!(texts[1].out.contains(&format!("{} waits for space", word.trim_end_matches("Waits").to_lowercase())));
}

#[test]
fn a_result_that_waits_for_space_is_told_by_every_verb_that_looks() {
    let test = "a_result_that_waits_for_space_is_told_by_every_verb_that_looks";
    let Some(small) = Small::new(test, "size=512k") else { return };
    let place = &small.place;
    let running = small.running("alice");
    let behind = place.enqueue(&["-u", "alice", "--", "true"]);
    assert!(place.show(&running)["reason"].is_null());
    small.fill();
    place.open_gate("gate");
    place.until_file("done");
    until("the result waits", || (!place.show(&running)["reason"].is_null()).then_some(()));
    check_waits(place, &running, "ResultWaits");
    let explained = place.ok(&["explain", &behind]).out;
    assert!(explained.contains(&format!("try: luzia explain {running}")), "{explained}");
    assert!(!explained.contains("luzia cancel"), "{explained}");
    small.free();
    place.until_status(&running, "completed");
    place.drain();
    assert!(place.show(&running)["reason"].is_null());
}

#[test]
fn a_run_tells_that_the_result_of_its_task_waits_for_space() {
    let test = "a_run_tells_that_the_result_of_its_task_waits_for_space";
    let Some(small) = Small::new(test, "size=512k") else { return };
    let place = &small.place;
    place.gate("gate");
    let run = place.start(&["run", "-u", "alice", "--shell", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    small.fill();
    place.open_gate("gate");
    until("the result waits", || (place.show("1")["reason"] == "ResultWaits").then_some(()));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    small.free();
    let ran = run.end().coded(0);
    assert!(ran.err.contains("task_1 waits: its command is over and its result waits for space"), "{}", ran.err);
}

#[test]
fn a_run_that_cannot_be_cancelled_on_a_full_disk_says_that_its_task_goes_on() {
    let test = "a_run_that_cannot_be_cancelled_on_a_full_disk_says_that_its_task_goes_on";
    let Some(small) = Small::new(test, "size=512k") else { return };
    let place = &small.place;
    let run = place.start(&["run", "-u", "alice", "--shell", "echo up > $PLACE/up; exec sleep 1000"]);
    place.until_file("up");
    small.fill();
    run.signal(Signal::TERM);
    let left = run.end().coded(74);
    assert!(left.err.contains("goes on") && left.err.contains("luzia cancel task_1"), "{}", left.err);
    assert_eq!(place.status("1"), "running");
    small.free();
    place.ok(&["cancel", "1"]);
}

#[test]
fn a_disk_that_is_full_at_the_claim_costs_no_attempt_and_no_lane() {
    let Some(small) = Small::new("a_disk_that_is_full_at_the_claim_costs_no_attempt_and_no_lane", "size=512k") else {
        return;
    };
    let place = &small.place;
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo ran >> $PLACE/ran"]);
    small.fill();
    let ran = place.luzia(&["dispatch"]);
    assert!(ran.code < 100, "{ran:#?}");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!place.path("ran").exists());
    small.free();
    place.drain();
    assert_eq!(place.status(&id), "completed");
    assert_eq!(crate::support::lines(&place.path("ran")), ["ran"]);
    place.ok(&["check", "alice"]);
}

#[test]
fn no_inodes_left_is_a_full_disk_too() {
    let Some(small) = Small::new("no_inodes_left_is_a_full_disk_too", "size=4m,nr_inodes=90") else { return };
    let place = &small.place;
    let running = small.running("alice");
    let mut made = 0;
    while std::fs::write(place.state().join(format!("ballast{made}")), "").is_ok() {
        made += 1;
    }
    check_refused(&place.luzia(&["enqueue", "-u", "bob", "--", "true"]));
    place.open_gate("gate");
    place.until_file("done");
    std::thread::sleep(std::time::Duration::from_millis(300));
    for at in 0..made {
        std::fs::remove_file(place.state().join(format!("ballast{at}"))).unwrap();
    }
    place.until_status(&running, "completed");
    let id = place.enqueue(&["-u", "bob", "--", "true"]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn a_flood_of_tasks_fills_the_spool_and_what_was_accepted_still_runs() {
    let test = "a_flood_of_tasks_fills_the_spool_and_what_was_accepted_still_runs";
    let Some(small) = Small::new(test, "size=1m,nr_inodes=150") else { return };
    let place = &small.place;
    let mut accepted = Vec::new();
    let refused = loop {
        let ran = place.luzia(&["enqueue", "-u", "mallory", "--", "sh", "-c", "echo $LUZIA_TASK_ID >> $PLACE/ran"]);
        if ran.code != 0 {
            break ran;
        }
        accepted.push(ran.line());
        assert!(accepted.len() < 1000, "nothing limits the flood");
    };
    check_refused(&refused);
    assert!(accepted.len() > 20, "{}", accepted.len());
    // What was accepted stays accepted: an operator makes room, and all of it runs, once.
    small.mounted.remount("size=16m,nr_inodes=10000");
    place.drain();
    let mut ran = crate::support::lines(&place.path("ran"));
    assert_eq!(ran, accepted, "in their order");
    ran.dedup();
    assert_eq!(ran.len(), accepted.len());
}

#[test]
fn a_file_system_that_becomes_read_only_under_a_daemon_loses_nothing() {
    let test = "a_file_system_that_becomes_read_only_under_a_daemon_loses_nothing";
    let Some(small) = Small::new(test, "size=4m") else { return };
    let place = &small.place;
    let waiting = place.enqueue(&["-u", "alice", "--in", "400ms", "--", "sh", "-c", "echo ran >> $PLACE/ran"]);
    // A file that is open for writing keeps a file system from becoming read-only, so nothing runs yet.
    let mut daemon = place.start(&["daemon", "--poll", "100ms"]);
    std::thread::sleep(std::time::Duration::from_millis(100));
    let became = Command::new("mount").args(["-o", "remount,ro"]).arg(place.state()).output().unwrap();
    if !became.status.success() {
        // The daemon has its own lock file open for writing: then the kernel refuses, and that is the answer.
        assert!(String::from_utf8_lossy(&became.stderr).contains("busy"), "{became:?}");
        daemon.kill();
        small.mounted.remount("ro");
        daemon = place.start(&["daemon", "--poll", "100ms"]);
    }
    check_read_only(&place.luzia(&["enqueue", "-u", "bob", "--", "true"]));
    check_read_only(&place.luzia(&["acquire", "bob", "--task", "t1"]));
    place.ok(&["list"]);
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert!(!place.path("ran").exists());
    small.mounted.remount("rw");
    if daemon.is_over() {
        place.drain();
    }
    place.until_status(&waiting, "completed");
    assert_eq!(crate::support::lines(&place.path("ran")), ["ran"]);
}

#[track_caller]
fn check_read_only(ran: &Ran) {
    assert!([73, 74, 77].contains(&ran.code) && ran.err.to_lowercase().contains("read-only"), "{ran:#?}");
}

/// The logs of a project may lie on a disk of their own.
#[test]
fn a_start_that_waits_for_space_for_its_logs_can_be_cancelled_and_stopped() {
    let test = "a_start_that_waits_for_space_for_its_logs_can_be_cancelled_and_stopped";
    let place = Place::new();
    let full = place.path("full");
    std::fs::create_dir(&full).unwrap();
    let Some(mounted) = Mounted::new(test, full.clone(), "nr_inodes=1") else { return };
    place.configure(&serde_json::json!({ "projects": { "site": { "conductor_dir": full.join("c") } } }));
    let waits = |times: usize| {
        until(&format!("{times} have waited"), || {
            let events = place.events_named("start_waits");
            (events.len() == times).then(|| u32::try_from(events[times - 1]["pid"].as_u64().unwrap()).unwrap())
        })
    };
    let first = place.enqueue(&["-u", "alice", "--project", "site", "--", "true"]);
    place.ok(&["dispatch"]);
    waits(1);
    place.ok(&["cancel", &first]);
    place.until_status(&first, "cancelled");
    let second = place.enqueue(&["-u", "alice", "--project", "site", "--", "true"]);
    place.ok(&["dispatch"]);
    let pid = waits(2);
    let explained = place.json(&["explain", &second]);
    let reason = &explained["reasons"][0];
    assert_eq!(reason["reason"], "StartWaits", "{explained}");
    assert_eq!(reason["rooms"][1]["path"], full.display().to_string(), "{explained}");
    assert_eq!(reason["rooms"][1]["free_inodes"], 0, "{explained}");
    assert_eq!(place.show(&second)["reason"], "StartWaits");
    assert!(["list", "status", "show"].iter().all(|verb| {
        let args: Vec<&str> = if *verb == "show" { vec![verb, &second] } else { vec![verb] };
        let out = place.ok(&args).out;
        out.contains("StartWaits") || out.contains("start waits for space")
    }));
    signal(pid, Signal::TERM);
    assert_ne!(waits(3), pid, "another one has taken over");
    until("it has ended", || (!crate::support::lives(pid)).then_some(()));
    mounted.remount("nr_inodes=1000");
    place.until_status(&second, "completed");
    let shown = place.show(&second);
    assert!(shown["reason"].is_null(), "{shown}");
    assert_eq!((shown["starts"].clone(), shown["attempt"].clone()), (1.into(), 1.into()), "{shown}");
    assert_eq!(place.events_named("dispatched").len(), 1);
}

/// With several steps a run, the record of the next step cannot be written; the end of the run waits for space.
#[test]
fn a_full_disk_between_two_steps_skips_none() {
    let Some(small) = Small::new("a_full_disk_between_two_steps_skips_none", "size=512k") else { return };
    let place = &small.place;
    place.gate("gate");
    let script = "echo $LUZIA_STEP >> $PLACE/steps; [ $LUZIA_STEP != 0 ] || { echo up > $PLACE/up; read _ < $PLACE/gate; }; \
                  [ $LUZIA_STEP -lt 2 ] || \"$LUZIA\" finish --summary done";
    let id = place.enqueue(&["-u", "alice", "--stepwise", "--steps-per-run", "3", "--", "sh", "-c", script]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    small.fill();
    place.open_gate("gate");
    until("the end of the run waits for space", || {
        (place.json(&["explain", &id])["reasons"][0]["reason"] == "ResultWaits").then_some(())
    });
    small.free();
    until("it has taken its steps", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&id) == "completed").then_some(())
    });
    assert_eq!(std::fs::read_to_string(place.path("steps")).unwrap(), "0\n1\n2\n");
}

#[test]
fn a_full_disk_runs_the_command_under_a_lane_that_frees_space() {
    let Some(small) = Small::new("a_full_disk_runs_the_command_under_a_lane_that_frees_space", "size=512k") else {
        return;
    };
    let place = &small.place;
    place.ok(&["lock", "-l", "cleanup", "--", "true"]);
    for _ in 0..2 {
        small.fill();
        let ballast = place.state().join("ballast");
        place.ok(&["lock", "-l", "cleanup", "-n", "--", "rm", ballast.to_str().unwrap()]);
        assert!(!ballast.exists());
    }
    place.ok(&["check", "lane:cleanup"]);
}
