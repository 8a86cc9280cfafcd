//! Defects that were there once: each test is the scenario in which one showed.

use super::harness::strace;
use super::support::{LUZIA, Place, queue, skip};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

#[test]
fn a_record_that_does_not_read_keeps_nobody_else_from_their_turn() {
    let damaged: [(&str, &[u8]); 7] = [
        ("user_a/1.json", b"{\"v\":2,\"id\":\"task_1\"}"),
        ("user_a/1.json", b""),
        ("user_a/1.json", &[b' '; 4 * 1024 * 1024 + 1]),
        ("user_a/9.json", b"{\"v\":99}"),
        ("user_a/0/1.json", b"{\"v\":2,\"id\":\"task_1\"}"),
        ("user_a/0/1.json", b""),
        ("user_a/0/9.json", b"{\"v\":99}"),
    ];
    for (path, bytes) in damaged {
        let place = Place::new();
        if path.contains("/0/") {
            place.deepen("a");
        }
        place.ok(&["enqueue", "-u", "a", "--", "true"]);
        place.ok(&["enqueue", "-u", "b", "--", "true"]);
        let path = path.strip_prefix("user_a/").unwrap();
        let folder = place.state().join("spool/pending/5").join(queue("a"));
        fs::write(folder.join(path), bytes).unwrap();
        let is_newer = bytes.starts_with(b"{");
        let is_first = path.ends_with("1.json");
        assert_eq!(place.luzia(&["dispatch", "--once"]).code, if is_newer && is_first { 65 } else { 0 });
        place.until_status("2", "completed");
        assert_eq!(place.luzia(&["dispatch", "--drain"]).code, if is_newer { 65 } else { 0 });
        assert_eq!(folder.join(path).exists(), is_newer);
    }
}

#[test]
fn a_parked_record_that_does_not_read_keeps_nobody_else_from_their_turn() {
    let place = Place::new();
    // Each verb fires the timers that are due, so the record must be damaged before this one is.
    place.ok(&["enqueue", "-u", "a", "--in", "3s", "--", "true"]);
    let begin = std::time::Instant::now();
    place.ok(&["enqueue", "-u", "b", "--", "true"]);
    place.ok(&["enqueue", "-u", "c", "--after", "1", "--", "true"]);
    fs::write(place.state().join("spool/parked/0/1.json"), "").unwrap();
    std::thread::sleep(Duration::from_millis(3010).saturating_sub(begin.elapsed()));
    assert_eq!(place.luzia(&["dispatch", "--drain"]).code, 0);
    assert_eq!((place.status("2"), place.status("3")), ("completed".to_owned(), "cancelled".to_owned()));
}

#[test]
fn names_that_luzia_did_not_make_are_left_alone_wherever_they_lie() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--", "true"]);
    place.ok(&["enqueue", "-u", "b", "--in", "10ms", "--", "true"]);
    for folder in ["", "pending", "pending/5", &format!("pending/5/{}", queue("a")), "parked", "timers", "after"] {
        fs::write(place.state().join("spool").join(folder).join("README"), "").unwrap();
        std::os::unix::fs::symlink("/", place.state().join("spool").join(folder).join("link")).unwrap();
    }
    // Names of segments, in the folders of lanes.
    let lane = |user: &str| place.state().join("spool/pending/5").join(queue(user));
    for user in ["c", "d"] {
        place.ok(&["enqueue", "-u", user, "--", "true"]);
    }
    fs::write(lane("c").join("0"), "").unwrap();
    std::os::unix::fs::symlink("/", lane("d").join("0")).unwrap();
    place.ok(&["enqueue", "-u", "d", "--", "true"]);
    place.ok(&["cancel", "5"]);
    for folder in ["done", "running", "lanes", "keys"] {
        fs::write(place.state().join("spool").join(folder).join("README"), "").unwrap();
        fs::create_dir(place.state().join("spool").join(folder).join("77.json")).unwrap();
    }
    assert_eq!(place.luzia(&["dispatch", "--drain"]).code, 0);
    assert_eq!(["1", "2", "3", "4"].map(|id| place.status(id)), ["completed"; 4].map(str::to_owned));
    assert!(lane("c").join("0").is_file() && lane("d").join("0").is_symlink());
    assert_eq!(
        fs::read_dir(place.state().join("spool/corrupt")).unwrap().count(),
        1,
        "the running record that is a folder"
    );
    assert_eq!(place.events_named("set_aside").len(), 1, "the recovery says so too");
}

#[test]
fn a_foreign_file_where_parked_tasks_would_stand_is_in_nobodys_way() {
    let place = Place::new();
    for _ in 0..2 {
        place.ok(&["enqueue", "-u", "a", "--", "true"]);
    }
    fs::write(place.state().join("spool/parked/0"), "").unwrap();
    place.ok(&["cancel", "2"]);
    assert_eq!(place.luzia(&["dispatch", "--drain"]).code, 0);
    assert_eq!(["1", "2"].map(|id| place.status(id)), ["completed", "cancelled"].map(str::to_owned));
    assert!(place.state().join("spool/parked/0").is_file());
}

#[test]
fn a_task_that_started_others_does_not_end_what_follows_them() {
    let place = Place::new();
    let script = format!(
        "{LUZIA} enqueue -u bob -- sleep 0.2; {LUZIA} enqueue -u bob -- sleep 2; {LUZIA} dispatch --once; \
         until test -e {}; do sleep 0.05; done",
        place.state().join("spool/running/3.started.json").display()
    );
    place.enqueue(&["-u", "alice", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    place.ok(&["wait", "1"]);
    place.ok(&["wait", "2", "3"]);
}

#[test]
fn the_timer_of_a_task_that_was_never_accepted_goes_when_it_is_old_and_no_other() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--in", "30d", "--", "true"]);
    place.ok(&["enqueue", "-u", "a", "--start-within", "30d", "--", "true"]);
    let timers = || -> Vec<PathBuf> {
        let hours = fs::read_dir(place.state().join("spool/timers")).unwrap();
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
    place.ok(&["cleanup-stale"]);
    assert!(!lost.exists(), "nobody would have looked at it for thirty days");
    assert!(young.exists() && foreign.exists() && used.iter().all(|path| path.exists()));
}

#[test]
fn a_lock_that_cannot_be_given_its_mode_is_not_left_behind() {
    if !strace::is_available() {
        skip("a_lock_that_cannot_be_given_its_mode_is_not_left_behind", "strace(1) and the right to trace");
        return;
    }
    let place = Place::new();
    place.ok(&["lock", "-u", "alice", "--", "true"]);
    // The first file that needs its mode set is the sidecar, the second one the lock.
    let acquire = "umask 077 && exec strace -qq -o $PLACE/trace -e trace=fchmod -e inject=fchmod:error=EIO:when=2 \
                   $LUZIA acquire alice --task me";
    place.spawn(&mut place.shell(acquire)).end().coded(74);
    place.ok(&["acquire", "alice", "--task", "other"]);
}

#[test]
fn a_task_that_ends_while_somebody_looks_for_dead_ones_was_not_recovered() {
    if !strace::is_available() {
        skip(
            "a_task_that_ends_while_somebody_looks_for_dead_ones_was_not_recovered",
            "strace(1) and the right to trace",
        );
        return;
    }
    // On a busy machine a try may miss the moment.
    assert!((0..5).any(|_| is_cleaned_while_its_task_ends(&Place::new())));
}

/// Cleans up, and lets the task end between the listing of what is in flight and the look at its lock; whether it did.
fn is_cleaned_while_its_task_ends(place: &Place) -> bool {
    place.gate("gate");
    place.enqueue(&["-u", "alice", "--", "sh", "-c", "read _ < $PLACE/gate"]);
    place.ok(&["dispatch"]);
    place.supervisor("1");
    let slow = "exec strace -qq -o $PLACE/trace -P run/1/supervisor.lock -e inject=openat2:delay_enter=1000000 \
                $LUZIA cleanup-stale";
    let cleanup = place.spawn(&mut place.shell(slow));
    std::thread::sleep(Duration::from_millis(300));
    place.open_gate("gate");
    assert_eq!(cleanup.end().coded(0).line(), "0");
    assert!(place.events_named("recovered").is_empty());
    place.until_status("1", "completed");
    fs::read_to_string(place.path("trace")).unwrap().contains("ENOENT")
}

#[test]
fn an_outward_directory_that_missed_the_end_of_its_task_is_closed_later() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--", "true"]);
    place.ok(&["dispatch", "--drain"]);
    let (active, done) =
        (place.state().join("conductor/_/active/task_1"), place.state().join("conductor/_/done/task_1"));
    fs::rename(&done, &active).unwrap();
    fs::write(active.join("meta.json"), r#"{"id":"task_1","status":"running","lock_released":false}"#).unwrap();
    fs::create_dir(place.state().join("conductor/_/active/task_7")).unwrap();
    place.ok(&["cleanup-stale", "-n"]);
    assert!(active.exists(), "a dry run changes nothing");
    place.ok(&["cleanup-stale"]);
    let meta: Value = serde_json::from_slice(&fs::read(done.join("meta.json")).unwrap()).unwrap();
    assert_eq!((&meta["status"], &meta["lock_released"]), (&"completed".into(), &true.into()));
    assert!(place.state().join("conductor/_/active/task_7").exists(), "nothing is known of it");
    assert!(!place.state().join("run/1").exists());
}

#[test]
fn the_outward_directory_of_a_task_that_is_retried_comes_back_even_if_nothing_had_started() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--shell", "echo out"]);
    // As a supervisor leaves it that dies in the instant before it starts the command.
    place.ok(&["dispatch", "--drain"]);
    let (active, done) =
        (place.state().join("conductor/_/active/task_1"), place.state().join("conductor/_/done/task_1"));
    let record = fs::read_dir(place.state().join("spool/done")).unwrap().next().unwrap().unwrap().path().join("1.json");
    let mut task: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    task["starts"] = 0.into();
    fs::write(&record, task.to_string()).unwrap();
    place.ok(&["retry", "1"]);
    place.ok(&["dispatch", "--drain"]);
    assert_eq!(fs::read_to_string(done.join("stdout.log")).unwrap(), "out\nout\n", "both attempts stand together");
    assert!(!active.exists(), "one directory of one task");
}

#[test]
fn an_outward_directory_of_an_earlier_life_makes_way_and_is_kept() {
    let place = Place::new();
    let done = place.state().join("conductor/_/done");
    for (dir, text) in [("task_1", "first"), ("task_1~1", "older")] {
        fs::create_dir_all(done.join(dir)).unwrap();
        fs::write(done.join(dir).join("stdout.log"), text).unwrap();
        fs::write(done.join(dir).join("meta.json"), r#"{"id":"task_1","created_at":"2026-01-01T00:00:00.000Z"}"#)
            .unwrap();
    }
    place.ok(&["enqueue", "-u", "a", "--shell", "echo new"]);
    place.ok(&["dispatch", "--drain"]);
    let log = |dir: &str| fs::read_to_string(done.join(dir).join("stdout.log")).unwrap();
    assert_eq!([log("task_1"), log("task_1~1"), log("task_1~2")], ["new\n", "older", "first"]);
    assert!(!place.state().join("conductor/_/active/task_1").exists());
    assert_eq!(place.ok(&["cleanup-stale"]).line(), "0", "nothing is late");
}

#[test]
fn a_later_attempt_has_nothing_of_the_end_of_an_earlier_one_outside() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--shell", "test -e passes"]);
    place.luzia(&["dispatch", "--drain"]).coded(1);
    let meta = || -> Value {
        serde_json::from_slice(&fs::read(place.state().join("conductor/_/done/task_1/meta.json")).unwrap()).unwrap()
    };
    assert_eq!((&meta()["status"], &meta()["failedActionId"]), (&"failed".into(), &0.into()));
    fs::write(place.path("work/passes"), "").unwrap();
    place.ok(&["retry", "1"]);
    place.ok(&["dispatch", "--drain"]);
    assert_eq!((&meta()["status"], &meta()["resultType"]), (&"completed".into(), &"success".into()));
    assert!(meta().get("errorMessage").is_none() && meta().get("failedActionId").is_none(), "{}", meta());
}

#[test]
fn a_cancel_brings_to_its_end_what_a_power_cut_left_of_a_retry() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--", "sleep", "60"]);
    // The record to be of somebody who died after its commit point, beside the copy that the next pass would replace.
    let queued = place.state().join("spool/pending/5").join(queue("a")).join("1.json");
    fs::copy(queued, place.state().join("spool/running/1.result.json")).unwrap();
    // It does not wait for somebody who would.
    place.luzia(&["cancel", "1"]).coded(0).within(8);
    assert_eq!(place.status("1"), "cancelled");
}

#[test]
fn a_timer_of_the_next_attempt_outlives_a_pass_that_still_sees_the_last_one_run() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--", "sleep", "2"]);
    place.ok(&["dispatch", "--once"]);
    // Its supervisor sets the timer of a further attempt before it parks the record, and may be stopped in between.
    let hour = place.state().join("spool/timers/491111");
    fs::create_dir_all(&hour).unwrap();
    let timer = hour.join("1768000000000.1");
    fs::write(&timer, "").unwrap();
    place.ok(&["dispatch", "--once"]);
    assert!(timer.exists(), "without it nobody would look at the parked record again");
    place.ok(&["wait", "1"]);
    place.ok(&["dispatch", "--once"]);
    assert!(!timer.exists(), "it means nothing once the task is over");
}

#[test]
fn a_retry_that_fails_after_its_commit_point_does_not_say_that_nothing_happened() {
    let place = Place::new();
    place.ok(&["run", "-u", "a", "--", "true"]);
    fs::remove_dir(place.state().join("spool/pending/5")).unwrap();
    fs::write(place.state().join("spool/pending/5"), "in the way").unwrap();
    let output = place.luzia(&["retry", "1"]);
    let told = output.coded(74).err;
    assert!(told.contains("task_1 is queued again") && !told.contains("intact"), "{told}");
    fs::remove_file(place.state().join("spool/pending/5")).unwrap();
    place.ok(&["dispatch", "--drain"]);
    let shown = place.show("1");
    assert_eq!((shown["status"].as_str(), shown["starts"].as_u64()), (Some("completed"), Some(2)), "{shown}");
}

#[test]
fn a_task_that_is_retried_waits_outside_where_others_wait() {
    let place = Place::new();
    place.luzia(&["run", "-u", "a", "--", "false"]).coded(1);
    place.ok(&["retry", "1"]);
    let read = |path: &str| -> Value { serde_json::from_slice(&fs::read(place.state().join(path)).unwrap()).unwrap() };
    let meta = read("conductor/_/active/task_1/meta.json");
    assert_eq!((&meta["status"], &meta["lock_released"]), (&"pending".into(), &true.into()));
    assert!(meta.get("completedAt").is_none() && meta.get("errorMessage").is_none(), "{meta}");
    assert!(!place.state().join("conductor/_/done/task_1").exists());
    place.luzia(&["dispatch", "--drain"]).coded(1);
    assert_eq!(read("conductor/_/done/task_1/meta.json")["status"], "failed");
}

#[test]
fn the_outward_record_of_a_start_is_that_of_the_start() {
    let place = Place::new();
    place.enqueue(&["-u", "a", "--shell", "echo $$ > $PLACE/began; until test -e $PLACE/go; do sleep 0.02; done"]);
    place.ok(&["dispatch"]);
    place.until_file("began");
    let meta = place.state().join("conductor/_/active/task_1/meta.json");
    let meta: Value = serde_json::from_slice(&fs::read(meta).unwrap()).unwrap();
    let shown = place.show("1");
    for member in ["starts", "started_at", "lock_id", "fence", "attempt"] {
        assert_eq!(meta[member], shown[member], "{member}");
    }
    assert_eq!(meta["starts"], 1);
    fs::write(place.path("go"), "").unwrap();
    place.until_status("1", "completed");
}

#[test]
fn a_command_that_removes_empty_files_does_not_lose_its_own_record() {
    let place = Place::new();
    let script = format!("find {} -type f -empty -delete", place.state().join("spool/running").display());
    let id = place.enqueue(&["-u", "a", "--shell", &script]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
    assert_eq!(fs::read_dir(place.state().join("spool/running")).unwrap().count(), 0);
}

#[test]
fn a_task_whose_record_was_set_aside_is_not_one_that_never_was() {
    let place = Place::new();
    for _ in 0..11 {
        place.ok(&["enqueue", "-u", "a", "--", "true"]);
    }
    fs::write(place.state().join("spool/pending/5").join(queue("a")).join("1.json"), "{").unwrap();
    place.drain();
    for verb in ["show", "wait", "cancel", "retry", "logs", "explain"] {
        let refused = place.luzia(&[verb, "1"]).coded(65);
        assert!(refused.err.contains("spool/corrupt/"), "{verb}: {}", refused.err);
    }
    place.ok(&["show", "11"]);
    place.luzia(&["show", "111"]).coded(66);
}

#[test]
fn a_release_by_force_of_what_ends_by_itself_meanwhile_is_done() {
    let place = Place::new();
    for round in 0..12 {
        place.ok(&["enqueue", "-u", "a", "--shell", "sleep 0.03"]);
        place.ok(&["dispatch"]);
        std::thread::sleep(Duration::from_millis(5 * (round % 8)));
        place.ok(&["release", "a", "--force"]);
    }
}

#[test]
fn a_task_behind_a_record_of_a_newer_version_names_that_record() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--", "true"]);
    place.ok(&["enqueue", "-u", "a", "--", "true"]);
    fs::write(place.state().join("spool/pending/5").join(queue("a")).join("1.json"), b"{\"v\":99}").unwrap();
    let explained = place.json(&["explain", "2"]);
    let reason = &explained["reasons"][0];
    assert_eq!((&reason["reason"], &reason["first"]), (&"NewerRecord".into(), &"task_1".into()), "{explained}");
    let message = reason["message"].as_str().unwrap();
    assert!(message.contains("/1.json") && message.contains("format 99"), "{message}");
    assert_eq!(reason["next"][0], "luzia doctor");
    assert_eq!(place.json(&["list"])["items"][0]["reason"], "NewerRecord");
}

#[test]
fn an_error_shows_the_beginning_of_a_lane_name_that_is_too_long() {
    let place = Place::new();
    let long = "x".repeat(5000);
    for args in [&["enqueue", "-u", "a", "-l", &long, "--", "true"][..], &["lock", "-l", &long, "--", "true"]] {
        let ran = place.luzia(args).coded(2);
        assert!(ran.err.contains("1024 bytes") && ran.err.len() < 400, "{} bytes: {}", ran.err.len(), ran.err);
    }
}
