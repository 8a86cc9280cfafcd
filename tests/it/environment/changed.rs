//! What changes under those who are at work: the configuration, and what keeps supervisors from coming up. The queue waits
//! for better days, and no task is the worse for it.

use crate::support::{Place, signal, skip, until};
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How many tasks have a state.
fn count(place: &Place, state: &str) -> usize {
    place.json(&["list", "-a", "--state", state])["items"].as_array().unwrap().len()
}

/// A daemon, and tasks of as many users as there are commands.
fn daemon(place: &Place, commands: &[&str]) -> crate::support::Running {
    for (number, command) in commands.iter().enumerate() {
        place.enqueue(&["-u", &format!("user-{number}"), "--shell", command]);
    }
    place.start(&["daemon", "--poll", "50ms"])
}

/// A task that runs until the gate is opened, started with no daemon.
fn behind_gate(place: &Place) {
    let gate = place.gate("gate");
    place.enqueue(&["-u", "alice", "--shell", &format!("cat {gate}")]);
    place.ok(&["dispatch"]);
    place.until_status("1", "running");
}

/// A configuration at its usual place below a home, which nothing names; its path, and a call of luzia that looks there.
fn at_home(place: &Place, verb: &str) -> (PathBuf, std::process::Command) {
    let file = place.path("config/luzia/config.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, r#"{"slots":{"max":1}}"#).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let call = place.shell(&format!("export XDG_CONFIG_HOME=$PLACE/config; exec \"$LUZIA\" {verb}"));
    (file, call)
}

/// Changes the mode of the state directory. A supervisor looks at the one that it is to use, and refuses 770.
fn allow(place: &Place, mode: u32) {
    std::fs::set_permissions(place.state(), PermissionsExt::from_mode(mode)).unwrap();
}

fn break_configuration(place: &Place) {
    std::fs::write(place.path("config.json"), "{\"slots\":{\"max\":").unwrap();
}

#[test]
fn a_limit_that_is_raised_holds_from_the_next_pass_of_a_daemon() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let _daemon = daemon(&place, &["sleep 60", "sleep 60", "sleep 60"]);
    place.until_status("1", "running");
    assert_eq!(count(&place, "running"), 1);
    place.configure(&json!({ "slots": { "max": 20 } }));
    until("all run", || (count(&place, "running") == 3).then_some(()));
    place.ok(&["cancel", "1", "2", "3"]);
}

#[test]
fn a_hangup_makes_a_daemon_without_a_terminal_look_at_once_and_does_not_end_it() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    for user in ["alice", "bob"] {
        place.enqueue(&["-u", user, "--", "sleep", "60"]);
    }
    let mut daemon = place.start(&["daemon", "--poll", "1h"]);
    until("one runs", || (count(&place, "running") == 1).then_some(()));
    // Its start wakes the daemon for some passes more.
    std::thread::sleep(Duration::from_secs(1));
    place.configure(&json!({ "slots": { "max": 20 } }));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(count(&place, "running"), 1, "nothing has told it");
    daemon.signal(Signal::HUP);
    until("both run", || (count(&place, "running") == 2).then_some(()));
    assert!(!daemon.is_over());
    place.ok(&["cancel", "1", "2"]);
}

#[test]
fn a_limit_that_is_lowered_holds_for_supervisors_that_began_before() {
    let place = Place::configured(&json!({ "slots": { "max": 20 } }));
    behind_gate(&place);
    for user in ["bob", "carol", "dave"] {
        place.enqueue(&["-u", user, "--", "sleep", "60"]);
    }
    place.configure(&json!({ "slots": { "max": 2 } }));
    place.open_gate("gate");
    until("two run", || (count(&place, "running") == 2).then_some(()));
    place.until_status("1", "completed");
    // Each task that ends makes a pass, and every pass goes by the new rule.
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!((count(&place, "running"), count(&place, "pending")), (2, 1));
    place.ok(&["cancel", "2", "3", "4"]);
}

#[test]
fn a_configuration_that_breaks_under_a_daemon_stops_starts_and_nothing_else() {
    let place = Place::configured(&json!({ "slots": { "max": 2 } }));
    let gate = place.gate("gate");
    let daemon =
        daemon(&place, &[&format!("cat {gate}"), "sleep 61", "echo ran >> $PLACE/ran", "echo ran >> $PLACE/ran"]);
    let killed = place.supervisor("2");
    place.until_status("1", "running");
    break_configuration(&place);
    // What runs comes to its end, and who dies is recovered.
    place.open_gate("gate");
    signal(killed, Signal::KILL);
    let done = place.state().join("spool/done");
    let is_done = |id: u32| {
        let days = std::fs::read_dir(&done).into_iter().flatten().flatten();
        days.map(|day| day.path().join(format!("{id}.json"))).find_map(|path| std::fs::read_to_string(path).ok())
    };
    assert!(until("the first is over", || is_done(1)).contains("\"completed\""));
    assert!(until("the second is over", || is_done(2)).contains("\"failed\""));
    std::thread::sleep(Duration::from_millis(1500));
    assert!(!place.path("ran").exists() && is_done(3).is_none() && is_done(4).is_none());
    place.luzia(&["status"]).coded(78);
    place.configure(&json!({ "slots": { "max": 2 } }));
    place.until_status("3", "completed");
    place.until_status("4", "completed");
    assert_eq!((place.show("3")["starts"].clone(), place.show("4")["starts"].clone()), (json!(1), json!(1)));
    daemon.signal(Signal::TERM);
    let told = daemon.end().coded(0).err;
    assert_eq!(told.matches("config.json\" line 1 column").count(), 1, "once, though it lasted: {told}");
}

/// Who saves a file without care leaves it half written, or absent, for a moment.
#[test]
fn a_configuration_that_is_just_being_saved_stops_nobody() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    behind_gate(&place);
    let run = place.start(&["run", "-u", "alice", "--", "true"]);
    until("the second is queued", || (count(&place, "pending") == 1).then_some(()));
    place.enqueue(&["-u", "bob", "--", "true"]);
    break_configuration(&place);
    place.open_gate("gate");
    std::thread::sleep(Duration::from_millis(400));
    place.configure(&json!({ "slots": { "max": 1 } }));
    run.end().coded(0);
    // There is no daemon: who ended meanwhile has waited for the rules before it looked for the next.
    place.until_status("3", "completed");
    assert_eq!(place.events_named("pass_failed").len(), 0);
}

#[test]
fn a_configuration_that_is_absent_for_a_moment_stays_in_force_and_one_that_stays_away_does_not() {
    let place = Place::new();
    let aside = place.path("config/aside");
    let (file, mut daemon) = at_home(&place, "daemon --poll 20ms");
    for user in ["alice", "bob", "carol"] {
        place.enqueue(&["-u", user, "--", "sleep", "60"]);
    }
    let _daemon = place.spawn(&mut daemon);
    until("one runs", || (count(&place, "running") == 1).then_some(()));
    std::fs::rename(&file, &aside).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    std::fs::rename(&aside, &file).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(count(&place, "running"), 1);
    std::fs::remove_file(&file).unwrap();
    until("all run by the built-in defaults", || (count(&place, "running") == 3).then_some(()));
    place.ok(&["cancel", "1", "2", "3"]);
}

#[test]
fn a_configuration_that_is_removed_under_the_last_supervisor_strands_nobody() {
    let place = Place::new();
    let gate = place.gate("gate");
    let (file, mut dispatch) = at_home(&place, "dispatch");
    place.enqueue(&["-u", "alice", "--shell", &format!("cat {gate}")]);
    place.enqueue(&["-u", "bob", "--", "true"]);
    place.spawn(&mut dispatch).end().coded(0);
    std::fs::remove_file(&file).unwrap();
    place.open_gate("gate");
    place.until_status("2", "completed");
}

#[test]
fn a_drain_waits_for_rules_that_read_and_tells_once_that_it_does() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let gate = place.gate("gate");
    place.enqueue(&["-u", "alice", "--shell", &format!("cat {gate}")]);
    place.enqueue(&["-u", "bob", "--", "true"]);
    let drain = place.start(&["dispatch", "--drain"]);
    place.until_status("1", "running");
    break_configuration(&place);
    until("it tells", || drain.err().contains("line 1 column").then_some(()));
    std::thread::sleep(Duration::from_millis(2500));
    place.configure(&json!({ "slots": { "max": 1 } }));
    place.open_gate("gate");
    let told = drain.end().coded(0).err;
    assert_eq!(told.matches("line 1 column").count(), 1, "{told}");
    assert_eq!(count(&place, "completed"), 2);
}

#[test]
fn supervisors_that_do_not_come_up_to_recover_a_task_are_told_of() {
    let place = Place::new();
    let daemon = daemon(&place, &["sleep 61"]);
    let supervisor = place.supervisor("1");
    allow(&place, 0o770);
    signal(supervisor, Signal::KILL);
    until("it is told", || daemon.err().contains("a supervisor did not come up").then_some(()));
    allow(&place, 0o700);
    place.until_status("1", "failed");
    daemon.signal(Signal::TERM);
    daemon.end().coded(0);
}

#[test]
fn nothing_is_pruned_while_the_rules_do_not_read() {
    let place = Place::configured(&json!({ "retention": { "days": 9999, "tasks": 1_000_000 } }));
    place.ok(&["run", "-u", "alice", "--", "true"]);
    let done = place.state().join("spool/done");
    let day = std::fs::read_dir(&done).unwrap().next().unwrap().unwrap().path();
    std::fs::rename(day, done.join("2020-01-01")).unwrap();
    let _daemon = daemon(&place, &["sleep 61"]);
    let supervisor = place.supervisor("2");
    break_configuration(&place);
    // The supervisor that recovers the task is born without rules, and makes a pass. It is time to prune at every instant until then.
    signal(supervisor, Signal::KILL);
    until("it has made its pass", || {
        std::fs::write(place.state().join("spool/pruned"), "0").unwrap();
        (!place.events_named("pass_failed").is_empty()).then_some(())
    });
    assert!(done.join("2020-01-01/1.json").exists());
    assert_eq!(place.events_named("pruned").len(), 0);
}

#[test]
fn supervisors_that_do_not_come_up_are_tried_again_and_again_and_cost_no_claim() {
    let place = Place::new();
    let daemon = daemon(&place, &[]);
    place.enqueue(&["-u", "alice", "--in", "1s", "--", "sh", "-c", "echo ran >> $PLACE/ran"]);
    allow(&place, 0o770);
    let recovered = || place.events_named("recovered").len();
    until("one has not come up", || (recovered() >= 1).then_some(()));
    let begin = Instant::now();
    until("three have not come up", || (recovered() >= 3).then_some(()));
    assert!(begin.elapsed() > Duration::from_millis(800), "without haste");
    allow(&place, 0o700);
    place.until_status("1", "completed");
    assert_eq!(crate::support::lines(&place.path("ran")), ["ran"]);
    daemon.signal(Signal::TERM);
    let told = daemon.end().coded(0).err;
    assert!(told.contains("a supervisor did not come up"), "{told}");
    let done = place.state().join("spool/done");
    let day = std::fs::read_dir(done).unwrap().next().unwrap().unwrap().path();
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(day.join("1.json")).unwrap()).unwrap();
    assert!(record["claims"].is_null() || record["claims"] == 0, "{record}");
}

#[test]
fn a_host_that_has_no_process_to_spare_for_a_moment_costs_no_attempt() {
    let test = "a_host_that_has_no_process_to_spare_for_a_moment_costs_no_attempt";
    if !crate::harness::strace::is_available() {
        return skip(test, "strace");
    }
    let place = Place::new();
    for _ in 0..3 {
        place.enqueue(&["-u", "alice", "--shell", "echo ran >> $PLACE/ran"]);
    }
    // The second process that the supervisor makes is the command of the second task.
    let strace = "exec strace -f -qq -o /dev/null -e inject=?fork,?vfork,clone,?clone3:error=EAGAIN:when=2";
    place.spawn(&mut place.shell(&format!("{strace} \"$LUZIA\" dispatch"))).end().coded(0);
    for id in ["1", "2", "3"] {
        place.until_status(id, "completed");
        assert_eq!((place.show(id)["starts"].clone(), place.show(id)["attempt"].clone()), (json!(1), json!(1)), "{id}");
    }
    assert_eq!(crate::support::lines(&place.path("ran")).len(), 3);
    assert_eq!(place.events_named("start_waits").len(), 1);
}

#[test]
fn a_claim_that_no_supervisor_could_take_over_is_explained_and_taken_back() {
    let test = "a_claim_that_no_supervisor_could_take_over_is_explained_and_taken_back";
    if !crate::harness::strace::is_available() {
        return skip(test, "strace");
    }
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--", "true"]);
    let strace = "exec strace -qq -o /dev/null -e inject=?fork,?vfork,clone,?clone3:error=EAGAIN";
    let refused = place.spawn(&mut place.shell(&format!("{strace} \"$LUZIA\" dispatch"))).end().coded(74);
    assert!(refused.err.contains("cannot start a supervisor"), "{refused:#?}");
    let why = place.ok(&["explain", &id]).out;
    assert!(why.contains("nobody supervises it and its command was not started"), "{why}");
    assert_eq!(
        place.json(&["explain", &id])["supervisor"],
        json!({ "pid": null, "alive": false, "stopped": false, "unseen": null })
    );
    place.drain();
    assert_eq!((place.status(&id), place.show(&id)["starts"].clone()), ("completed".into(), json!(1)));
}
