//! Names become file names one to one, and idle lanes leave no file (contract, section 3; S3.36, S4.18).

use crate::support::Place;
use serde_json::json;

#[test]
fn names_are_encoded_as_the_contract_says() {
    let place = Place::new();
    for (lane, file) in [
        ("session:telegram:user123", "session_telegram=3auser123.lock"),
        ("user:..", "user_=2e..lock"),
        ("user:a=b", "user_a=3db.lock"),
        ("user:-rf", "user_=2drf.lock"),
        ("thread:thread/123", "thread_thread=2f123.lock"),
        ("user:Ünï", "user_=c3=9cn=c3=af.lock"),
        ("cron", "lane_cron.lock"),
        ("user:a_b", "user_a_b.lock"),
    ] {
        place.ok(&["acquire", lane, "--task", "t1"]);
        assert!(place.lock(file).is_file(), "{lane}");
        let listed = place.json(&["list-locks"]);
        assert_eq!(listed["items"][0]["lane"], lane);
        place.luzia(&["check", lane]).coded(75);
        place.ok(&["release", lane, "t1"]);
    }
}

#[test]
fn long_names_are_hashed_and_named_in_the_sidecar() {
    let place = Place::new();
    for length in [160, 161, 255, 1024] {
        let name = "x".repeat(length);
        place.ok(&["acquire", &name, "--task", "t1"]);
        let expected = if length > 160 { "user_=h" } else { "user_x" };
        let files: Vec<String> = std::fs::read_dir(place.state().join("locks"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|file| file.ends_with(".lock"))
            .collect();
        assert!(files.len() == 1 && files[0].starts_with(expected), "{files:?}");
        assert_eq!(place.json(&["list-locks"])["items"][0]["user"], name);
        place.ok(&["release", &name]);
        let id = place.enqueue(&["-u", &name, "--", "true"]);
        place.drain();
        assert_eq!(place.status(&id), "completed");
    }
    let faces = "\u{1f600}".repeat(64);
    place.ok(&["lock", "-u", &faces, "-n", "--", "true"]);
}

#[test]
fn upper_and_lower_case_are_two_users_and_so_are_two_normal_forms() {
    let place = Place::new();
    for user in ["Alice", "alice", "e\u{301}", "\u{e9}"] {
        place.ok(&["acquire", user, "--task", "t1"]);
    }
    assert_eq!(place.json(&["list-locks"])["items"].as_array().unwrap().len(), 4);
}

#[test]
fn the_further_slots_of_a_lane_have_numbers() {
    let place = Place::configured(&json!({ "lanes": { "gpu": { "max": 2 } } }));
    for (task, file) in [("t1", "lane_gpu.lock"), ("t2", "lane_gpu@1.lock")] {
        place.ok(&["acquire", "lane:gpu", "--task", task]);
        assert!(place.lock(file).exists(), "{task}");
    }
    place.luzia(&["acquire", "lane:gpu", "--task", "t3"]).coded(75);
    place.ok(&["release", "lane:gpu", "t1"]);
    place.ok(&["acquire", "lane:gpu", "--task", "t3"]);
}

#[test]
fn lanes_used_once_leave_no_file() {
    // S4.18
    let place = Place::new();
    let lines: String = (0..40)
        .map(|n| {
            let lane = format!("session:chat:{n}");
            format!("{}\n", json!({ "user": format!("u{n}"), "lanes": [lane], "command": ["true"] }))
        })
        .collect();
    std::fs::write(place.path("lines"), lines).unwrap();
    place.ok(&["enqueue", "--from", &place.text("lines")]);
    place.drain();
    for n in 0..10 {
        place.ok(&["lock", "-l", &format!("thread:{n}"), "-n", "--", "true"]);
    }
    let left = |folder: &str| {
        let entries = std::fs::read_dir(place.state().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(left("locks"), [".guard"]);
    for folder in ["run", "spool/lanes", "spool/pending/5", "spool/running", "spool/tmp"] {
        assert_eq!(left(folder), [""; 0], "{folder}");
    }
}
