//! Damaged, strange and newer files in the state directory: each is set aside or left alone, and nobody else waits.

use super::{check_quick, lived_in};
use crate::support::{Place, queue, until};
use std::path::PathBuf;

/// The file of a pending task.
fn record(place: &Place, user: &str, id: &str) -> PathBuf {
    let number = id.strip_prefix("task_").unwrap();
    place.state().join(format!("spool/pending/5/{}/{number}.json", queue(user)))
}

fn set_aside(place: &Place) -> usize {
    std::fs::read_dir(place.state().join("spool/corrupt")).unwrap().count()
}

#[test]
fn a_damaged_record_is_set_aside_and_the_others_run() {
    let place = Place::new();
    let whole = {
        let id = place.enqueue(&["-u", "model", "--", "true"]);
        std::fs::read_to_string(record(&place, "model", &id)).unwrap()
    };
    let damage: Vec<String> = vec![
        String::new(),
        "{".into(),
        whole[..whole.len() / 2].into(),
        whole[..whole.len() - 3].into(),
        format!("\u{feff}{whole}"),
        format!("{whole}{whole}"),
        whole.replace("\"task_1\"", "\"task_1000\""),
        whole.replace("\"priority\":5", "\"priority\":77"),
        whole.replace("\"command\":[\"true\"]", "\"command\":[]"),
        whole.replace("\"command\":[\"true\"]", "\"command\":\"true\""),
        whole.replace("\"status\":\"pending\"", "\"status\":\"Pending\""),
        whole.replace("\"v\":1", "\"v\":\"1\""),
        whole.replace("\"user\":\"model\"", "\"user\":\"a\\nb\""),
        "[".repeat(200_000),
        "\0".repeat(100),
    ];
    let count = damage.len();
    for (at, text) in damage.into_iter().enumerate() {
        let user = format!("u{at}");
        let id = place.enqueue(&["-u", &user, "--", "true"]);
        assert_ne!(text, whole);
        std::fs::write(record(&place, &user, &id), text).unwrap();
    }
    let healthy = place.enqueue(&["-u", "z", "--", "true"]);
    let listed = place.ok(&["list"]);
    assert_eq!(listed.err.matches("warning:").count(), count);
    let drained = place.ok(&["dispatch", "--drain"]);
    // The supervisors of the healthy ones make passes too; between them each record is set aside and noted once.
    assert!(drained.err.matches("it was set aside").count() <= count, "{drained:#?}");
    until("each is noted", || (place.events_named("set_aside").len() >= count).then_some(()));
    assert_eq!(place.events_named("set_aside").len(), count);
    assert_eq!((place.status(&healthy), place.status("task_1")), ("completed".into(), "completed".into()));
    assert_eq!(set_aside(&place), count);
    assert_eq!(place.json(&["status"])["set_aside"], count);
    assert_eq!(place.ok(&["dispatch", "--drain"]).err, "", "it is said once");
    place.luzia(&["show", "task_2"]).coded(65);
}

#[test]
fn what_is_no_file_is_set_aside_within_a_second() {
    let place = Place::new();
    let ids: Vec<String> =
        ["fifo", "sparse", "link", "folder"].iter().map(|u| place.enqueue(&["-u", u, "--", "true"])).collect();
    let replace = |at: usize, user: &str| {
        let path = record(&place, user, &ids[at]);
        std::fs::remove_file(&path).unwrap();
        path
    };
    place.gate(replace(0, "fifo").to_str().unwrap());
    std::fs::File::create(replace(1, "sparse")).unwrap().set_len(1 << 40).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", replace(2, "link")).unwrap();
    std::fs::create_dir(replace(3, "folder")).unwrap();
    let healthy = place.enqueue(&["-u", "z", "--", "true"]);
    for verb in [&["list"][..], &["status"], &["dispatch"]] {
        let ran = place.ok(verb);
        check_quick(&ran);
        ran.within(1);
    }
    for id in &ids {
        check_quick(&place.luzia(&["show", id]).coded(65));
    }
    place.until_status(&healthy, "completed");
    assert_eq!(set_aside(&place), 4);
}

#[test]
fn a_record_of_a_newer_luzia_is_refused_left_alone_and_keeps_nobody_else() {
    let place = Place::new();
    let newer = place.enqueue(&["-u", "a", "--", "true"]);
    let behind = place.enqueue(&["-u", "a", "--", "true"]);
    let other = place.enqueue(&["-u", "b", "--", "true"]);
    let path = record(&place, "a", &newer);
    let text = std::fs::read_to_string(&path).unwrap().replace("\"v\":1", "\"v\":2");
    std::fs::write(&path, &text).unwrap();
    for args in [&["dispatch"][..], &["dispatch", "--drain"]] {
        let ran = place.luzia(args).coded(65);
        check_quick(&ran);
        assert!(ran.err.contains("newer luzia") && ran.err.contains("nothing was rewritten"), "{ran:#?}");
    }
    assert_eq!((place.status(&other), place.status(&behind)), ("completed".into(), "pending".into()));
    let shown = super::refused(&place, &["show", &newer], 65);
    assert!(shown.err.contains("newer"), "{shown:#?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    place.ok(&["status"]);
    place.ok(&["list"]);
}

#[test]
fn parked_records_are_treated_alike() {
    let place = Place::new();
    let parked = |user: &str| {
        let id = place.enqueue(&["-u", user, "--in", "2s", "--", "true"]);
        place.state().join(format!("spool/parked/0/{}.json", id.strip_prefix("task_").unwrap()))
    };
    let (damaged, newer) = (parked("a"), parked("b"));
    std::fs::File::options().write(true).open(&damaged).unwrap().set_len(40).unwrap();
    let text = std::fs::read_to_string(&newer).unwrap().replace("\"v\":1", "\"v\":2");
    std::fs::write(&newer, &text).unwrap();
    let other = place.enqueue(&["-u", "c", "--in", "2s", "--", "true"]);
    let ran = place.luzia(&["dispatch", "--drain"]).coded(65);
    assert!(ran.err.contains("it was set aside") && ran.err.contains("newer luzia"), "{ran:#?}");
    assert_eq!(place.status(&other), "completed");
    assert!(!damaged.exists());
    assert_eq!(std::fs::read_to_string(&newer).unwrap(), text);
}

#[test]
fn files_that_luzia_did_not_make_are_left_alone() {
    let place = lived_in();
    let state = place.state();
    let bob = queue("bob");
    let strange = [
        &format!("spool/pending/5/{bob}/.2.json.swp"),
        &format!("spool/pending/5/{bob}/core"),
        "spool/pending/5/README",
        &format!("spool/pending/5/{bob}/notes~"),
        "spool/running/x",
        "spool/done/lost+found",
        "run/README",
        "events/README",
        "locks/README",
    ];
    for name in strange {
        std::fs::write(state.join(name), "mine").unwrap();
    }
    std::fs::create_dir(state.join("spool/pending/x")).unwrap();
    std::fs::create_dir(state.join("spool/pending/5/not_a_lane")).unwrap();
    for verb in [&["list"][..], &["status"], &["dispatch", "--drain"], &["cleanup-stale"], &["list", "-a"]] {
        check_quick(&place.ok(verb));
    }
    assert_eq!(place.status("task_1"), "completed");
    for name in strange {
        assert_eq!(std::fs::read_to_string(state.join(name)).unwrap(), "mine", "{name}");
    }
}

#[test]
fn a_state_directory_of_a_newer_luzia_is_refused_whole() {
    let place = lived_in();
    std::fs::write(place.state().join("format"), "{\"v\":2}\n").unwrap();
    for args in [
        &["enqueue", "-u", "a", "--", "true"][..],
        &["dispatch"],
        &["acquire", "carol", "--task", "t1"],
        &["list"],
        &["lock", "-u", "carol", "--", "true"],
        &["cleanup-stale"],
    ] {
        let ran = super::refused(&place, args, 65);
        assert!(ran.err.contains("newer"), "{ran:#?}");
    }
}

#[test]
fn damaged_counters_never_give_a_number_or_a_fence_twice() {
    // P5, and task ids
    let place = lived_in();
    let fence = |user: &str| place.json(&["acquire", user, "--task", "t1"])["fence"].as_u64().unwrap();
    let before = fence("carol");
    place.ok(&["release", "carol"]);
    for text in ["", "garbage", "-1 -1 -1", "99999999999999999999999999 1 1"] {
        std::fs::write(place.state().join("spool/sequence"), text).unwrap();
        let id = place.enqueue(&["-u", "dora", "--", "true"]);
        assert_ne!(id, "task_1", "{text}");
        for guard in std::fs::read_dir(place.state().join("locks/.guard")).unwrap() {
            std::fs::write(guard.unwrap().path(), text).unwrap();
        }
        let now = fence("carol");
        assert!(now > before, "{text}");
        place.ok(&["release", "carol"]);
    }
    let ids: std::collections::BTreeSet<String> =
        place.ok(&["list", "-o", "name"]).out.lines().map(str::to_owned).collect();
    assert_eq!(ids.len(), 5);
}

#[test]
fn a_damaged_parked_record_that_is_due_is_told_by_the_command_that_sets_it_aside() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--in", "300ms", "--", "true"]);
    let path = place.state().join("spool/parked/0/1.json");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(40).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(350));
    let told = place.ok(&["list"]).err;
    assert!(told.contains("parked/0/1.json") && told.contains("it was set aside"), "{told}");
    place.luzia(&["show", &id]).coded(65);
}
