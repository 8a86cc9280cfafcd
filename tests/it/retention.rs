//! Finished tasks are kept for a while, and then they go with everything that belongs to them, and nothing else does.

use crate::support::{Place, until};
use serde_json::json;
use std::fs;
use std::path::PathBuf;

const TODAY_IS_OLD: &str = "2020-02-29";

fn done(place: &Place, day: &str) -> PathBuf {
    place.state().join("spool/done").join(day)
}

/// Where the finished tasks of today stand.
fn today(place: &Place) -> PathBuf {
    let mut days = fs::read_dir(place.state().join("spool/done")).unwrap();
    days.next().unwrap().unwrap().path()
}

/// Makes all that is finished old, and its events as well.
fn age(place: &Place) {
    let today = today(place);
    let day = today.file_name().unwrap().to_str().unwrap().to_owned();
    fs::rename(&today, done(place, TODAY_IS_OLD)).unwrap();
    let events = |day: &str| place.state().join(format!("events/{day}.jsonl"));
    fs::rename(events(&day), events(TODAY_IS_OLD)).unwrap();
}

/// One pass that looks for what is to go.
fn prune(place: &Place) {
    fs::write(place.state().join("spool/pruned"), "00000000000000000000\n").unwrap();
    place.ok(&["dispatch"]);
}

fn run_tasks(place: &Place, count: usize) {
    for _ in 0..count {
        place.enqueue(&["-u", "alice", "--", "echo", "x"]);
    }
    place.drain();
    until("nothing is left in run", || (fs::read_dir(place.state().join("run")).unwrap().count() == 0).then_some(()));
}

fn ids_of(place: &Place) -> Vec<String> {
    let listed = place.json(&["list", "--all"]);
    let mut ids: Vec<String> =
        listed["items"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn tasks_beyond_the_number_that_is_kept_go_oldest_first_with_their_logs() {
    let place = Place::configured(&json!({ "retention": { "tasks": 3 } }));
    run_tasks(&place, 8);
    assert_eq!(ids_of(&place).len(), 8, "nothing goes before somebody looks");
    prune(&place);
    assert_eq!(ids_of(&place), ["task_6", "task_7", "task_8"]);
    let logs = fs::read_dir(place.state().join("conductor/_/done")).unwrap().count();
    assert_eq!((logs, place.ok(&["logs", "task_8"]).line()), (3, "x".to_owned()));
    place.luzia(&["show", "task_5"]).coded(66);
    place.luzia(&["retry", "task_5"]).coded(66);
    assert_eq!(place.events_named("pruned")[0]["data"]["tasks"], 5);
    prune(&place);
    assert_eq!(ids_of(&place).len(), 3, "the rest stays");
}

#[test]
fn tasks_older_than_the_days_that_are_kept_go_with_the_events_of_their_day() {
    let place = Place::new();
    run_tasks(&place, 2);
    age(&place);
    run_tasks(&place, 1);
    prune(&place);
    assert_eq!(ids_of(&place), ["task_3"]);
    assert!(!done(&place, TODAY_IS_OLD).exists());
    let names: Vec<String> = place.events().iter().map(|event| event["task"].to_string()).collect();
    assert!(
        names.iter().all(|name| name != "\"task_1\"") && names.iter().any(|name| name == "\"task_3\""),
        "{names:?}"
    );
}

#[test]
fn a_task_that_another_one_still_comes_after_stays() {
    let place = Place::new();
    let first = place.enqueue(&["-u", "alice", "--", "true"]);
    let other = place.enqueue(&["-u", "bob", "--", "true"]);
    let next = place.enqueue(&["-u", "bob", "--after", "task_1", "--in", "3s", "--", "true"]);
    place.ok(&["dispatch"]);
    place.until_status(&first, "completed");
    place.until_status(&other, "completed");
    age(&place);
    prune(&place);
    assert_eq!(ids_of(&place), ["task_1", next.as_str()]);
    place.drain();
    assert_eq!(place.status(&next), "completed");
    prune(&place);
    assert_eq!(ids_of(&place), [next]);
}

#[test]
fn what_a_project_configured_is_never_removed() {
    let place = Place::new();
    let conductor = place.text("conductor");
    place.configure(&json!({ "projects": { "p": { "user": "alice", "conductor_dir": conductor } } }));
    place.enqueue(&["-p", "p", "--", "echo", "x"]);
    place.drain();
    age(&place);
    prune(&place);
    assert_eq!(ids_of(&place), Vec::<String>::new());
    let log = fs::read_to_string(place.path("conductor/done/task_1/stdout.log")).unwrap();
    assert_eq!(log, "x\n");
}

#[test]
fn a_task_that_somebody_acts_for_stays_until_they_are_done() {
    let place = Place::new();
    run_tasks(&place, 1);
    age(&place);
    let run = place.state().join("run/1");
    fs::create_dir(&run).unwrap();
    let lock = fs::File::create(run.join("supervisor.lock")).unwrap();
    fs2::FileExt::lock_exclusive(&lock).unwrap();
    prune(&place);
    assert_eq!(ids_of(&place), ["task_1"]);
    drop(lock);
    prune(&place);
    prune(&place);
    assert_eq!(ids_of(&place), Vec::<String>::new());
    assert!(!run.exists());
}

#[test]
fn what_a_command_left_in_its_folder_goes_and_where_its_links_lead_does_not() {
    let place = Place::new();
    let kept = place.path("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("file"), "").unwrap();
    let script =
        format!("cd \"$LUZIA_CONDUCTOR_DIR\" && mkdir -p a/b/c && echo x >a/b/file && ln -s {} a/link", kept.display());
    place.enqueue(&["-u", "alice", "--shell", &script]);
    place.drain();
    assert_eq!(place.status("task_1"), "completed");
    assert!(place.state().join("conductor/_/done/task_1/a/b/file").exists());
    age(&place);
    prune(&place);
    assert!(!place.state().join("conductor/_/done/task_1").exists());
    assert!(kept.join("file").exists());
}

#[test]
fn a_moment_that_a_jumped_clock_set_far_off_holds_nobody_up() {
    let place = Place::configured(&json!({ "retention": { "tasks": 1 } }));
    run_tasks(&place, 2);
    for moment in ["00000099999999999999\n", "", "no number"] {
        fs::write(place.state().join("spool/pruned"), moment).unwrap();
        place.ok(&["dispatch"]);
    }
    fs::write(place.state().join("spool/pruned"), "00000099999999999999\n").unwrap();
    place.ok(&["dispatch"]);
    assert_eq!(ids_of(&place), ["task_2"]);
}
