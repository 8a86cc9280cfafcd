//! What is no plain file or folder, planted where luzia opens one: links, FIFOs, sockets, devices, sparse files, and
//! folders that become links while luzia is at work.

use super::{assert_outside_untouched, identity, used};
use crate::support::{Place, Ran};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

/// Names that luzia opens or makes for the user `x`, for task_2 and for everybody.
const NAMES: [&str; 16] = [
    "state/locks/user_x.lock",
    "state/locks/user_x.json",
    "state/locks/.user_x.json.tmp",
    "state/spool/sequence",
    "state/spool/wake",
    "state/spool/turn",
    "state/spool/heads",
    "state/spool/fair",
    "state/spool/fair.tmp",
    "state/spool/running/2.json",
    "state/run/2/supervisor.lock",
    "state/spool/running/2.started.json",
    "state/spool/running/2.result.json",
    "state/dispatchers.lock",
    "state/conductor/_/active/task_2/.meta.json.tmp",
    "state/conductor/_/active/task_2/stdout.log",
];

const VERBS: [&[&str]; 8] = [
    &["enqueue", "-u", "x", "--", "echo", "gone astray"],
    &["dispatch"],
    &["acquire", "x", "--task", "t9"],
    &["lock", "-u", "x", "-n", "--", "true"],
    &["check", "x"],
    &["list-locks"],
    &["cleanup-stale"],
    &["release", "x"],
];

#[track_caller]
fn check_sane(ran: &Ran, what: &str) {
    assert!(ran.code < 128 && ran.code != 101 && !ran.err.contains("panicked"), "{what}: {ran:#?}");
    // `acquire` waits five seconds for a guard that is no file; nothing waits for ever.
    ran.within(10);
}

/// Plants something at every name in turn, calls every verb, and looks whether it stayed inside.
fn plant_everywhere(what: &str, plant: impl Fn(&Place, &Path)) {
    for name in NAMES {
        let place = used();
        let path = place.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&path);
        plant(&place, &path);
        for verb in VERBS {
            check_sane(&place.luzia(verb), &format!("{what} at {name}, {verb:?}"));
        }
        assert_outside_untouched(&place, &format!("{what} at {name}"));
    }
}

#[test]
fn a_symlink_planted_where_luzia_writes_is_never_written_through() {
    plant_everywhere("a link to a file", |place, path| symlink(place.path("outside/secret"), path).unwrap());
    plant_everywhere("a link to nothing", |place, path| symlink(place.path("outside/new"), path).unwrap());
}

#[test]
fn a_fifo_or_a_socket_planted_where_luzia_reads_blocks_nobody() {
    plant_everywhere("a FIFO", |_, path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    });
    plant_everywhere("a socket", |place, path| {
        // The path of a socket is short, so it is bound elsewhere and moved.
        drop(UnixListener::bind(place.path("s")).unwrap());
        std::fs::rename(place.path("s"), path).unwrap();
    });
}

#[test]
fn a_sparse_file_of_a_tebibyte_is_never_read_whole() {
    plant_everywhere("a sparse file", |_, path| {
        std::fs::File::create(path).unwrap().set_len(1 << 40).unwrap();
    });
}

#[test]
fn a_folder_swapped_for_a_symlink_in_a_loop_leads_nowhere() {
    // CVE-2018-6954
    for folder in ["locks", "spool", "run", "spool/tmp", "spool/pending/5"] {
        let place = used();
        place.enqueue(&["-u", "keep", "--in", "1h", "--", "true"]);
        place.enqueue(&["-u", "keep", "-l", "thread:7", "--", "sleep", "0"]);
        let real = place.state().join(folder);
        let aside = real.with_file_name("aside");
        let (outside, end) = (place.path("outside"), Instant::now() + Duration::from_secs(2));
        let (swapped, back) = (real.clone(), aside.clone());
        let swapper = std::thread::spawn(move || {
            let mut swaps = 0;
            while Instant::now() < end {
                if std::fs::rename(&swapped, &back).is_ok() {
                    symlink(&outside, &swapped).ok();
                    std::thread::sleep(Duration::from_micros(300));
                    // Somebody may have made the folder anew meanwhile: then what it holds counts.
                    if swapped.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                        std::fs::remove_file(&swapped).ok();
                        std::fs::rename(&back, &swapped).ok();
                        swaps += 1;
                    } else {
                        std::fs::remove_dir_all(&back).ok();
                    }
                }
                std::thread::sleep(Duration::from_micros(300));
            }
            swaps
        });
        while Instant::now() < end {
            for verb in VERBS {
                check_sane(&place.luzia(verb), &format!("{folder} is swapped, {verb:?}"));
            }
        }
        assert!(swapper.join().unwrap() > 20, "{folder} was hardly swapped");
        assert_outside_untouched(&place, folder);
    }
}

/// Where luzia writes beside [`NAMES`], for the user `x`, for task_2 and for everybody.
const WRITTEN: [&str; 9] = [
    "state/spool/pruned",
    "state/spool/users",
    "state/spool/places",
    "state/spool/control.json",
    "state/run/2/heartbeat",
    "state/conductor/_/active/task_2/stderr.log",
    "state/conductor/_/active/task_2/order.jsonl",
    "state/spool/keys/x",
    "state/dispatchers.lock",
];

#[test]
fn a_hard_link_planted_where_luzia_writes_is_never_written_through() {
    let plant = |place: &Place, path: &Path| std::fs::hard_link(place.path("outside/secret"), path).unwrap();
    plant_everywhere("a hard link", plant);
    let today = format!("state/events/{}.jsonl", chrono::Utc::now().format("%Y-%m-%d"));
    for name in WRITTEN.into_iter().chain([today.as_str()]) {
        let place = used();
        let path = place.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&path);
        plant(&place, &path);
        check_sane(&place.luzia(&["enqueue", "-u", "x", "--key", "x", "--", "echo", "gone astray"]), name);
        for verb in VERBS.iter().chain([&["lanes", "set", "build", "--max", "2"][..], &["dispatch", "--drain"]].iter())
        {
            check_sane(&place.luzia(verb), &format!("a hard link at {name}, {verb:?}"));
        }
        assert_outside_untouched(&place, &format!("a hard link at {name}"));
    }
}

#[test]
fn guards_with_another_name_are_made_anew_and_fences_grow() {
    let place = used();
    let fence = |place: &Place| place.json(&["acquire", "x", "--task", "t9"])["fence"].as_u64().unwrap();
    let mut last = fence(&place);
    place.ok(&["release", "x"]);
    for other in ["another guard", "a file elsewhere"] {
        let guards = place.state().join("locks/.guard");
        let target = if other == "another guard" { guards.join("00") } else { place.path("outside/secret") };
        std::fs::OpenOptions::new().create(true).append(true).open(&target).unwrap();
        for number in 0..=255 {
            let path = guards.join(format!("{number:02x}"));
            if path != target {
                let _ = std::fs::remove_file(&path);
                std::fs::hard_link(&target, &path).unwrap();
            }
        }
        let told = place.luzia(&["doctor"]);
        assert!(told.out.contains("locks/.guard/") && told.out.contains("names"), "{other}: {told:#?}");
        place.enqueue(&["-u", "x", "--", "sh", "-c", "echo ran >> $PLACE/ran"]);
        let ran = place.luzia(&["dispatch", "--drain"]).coded(0);
        assert!(ran.took < Duration::from_secs(10), "{other}: {ran:#?}");
        let next = fence(&place);
        assert!(next > last, "{other}: {next} after {last}");
        last = next;
        place.ok(&["release", "x"]);
    }
    assert_eq!(crate::support::lines(&place.path("ran")), ["ran", "ran"]);
    assert_outside_untouched(&place, "guards of one file");
}

#[test]
fn a_folder_in_the_place_of_a_sidecar_is_set_aside_and_harms_no_other_lane() {
    for name in ["user_vic.json", ".user_vic.json.tmp"] {
        let place = Place::new();
        place.ok(&["run", "-u", "vic", "--", "true"]);
        std::fs::create_dir(place.lock(name)).unwrap();
        std::fs::write(place.lock(name).join("x"), "").unwrap();
        let id = place.enqueue(&["-u", "vic", "--", "true"]);
        let ran = place.luzia(&["run", "-u", "other", "--", "sh", "-c", "echo hi; exit 7"]);
        assert_eq!((ran.code, ran.line()), (7, "hi".to_owned()), "{name}: {ran:#?}");
        place.drain();
        assert_eq!(place.status(&id), "completed", "{name}");
        let told = place.luzia(&["doctor"]).out;
        assert!(told.contains(&format!("locks_{name}")), "{name}: {told}");
    }
}

#[test]
fn a_hard_link_to_a_file_of_ours_is_no_way_to_change_it() {
    // A lock file or sidecar that has a second name elsewhere: writing goes to a new file, never through the old inode.
    let place = used();
    std::fs::hard_link(place.path("outside/secret"), place.lock("user_x.json")).unwrap();
    std::fs::hard_link(place.path("outside/secret"), place.lock(".user_x.json.tmp")).unwrap();
    std::fs::remove_file(place.lock(".user_x.json.tmp")).unwrap();
    let before = identity(&place.path("outside/secret"));
    place.ok(&["acquire", "x", "--task", "t9"]);
    place.ok(&["renew", "x", "--lock-id", place.json(&["list-locks"])["items"].as_array().unwrap().iter()
        .find(|lock| lock["user"] == "x").unwrap()["lock_id"].as_str().unwrap()]);
    place.ok(&["release", "x"]);
    assert_eq!(identity(&place.path("outside/secret")), before);
    // A second name for a pending record is no second task.
    let id = place.enqueue(&["-u", "y", "--", "sh", "-c", "echo ran >> $PLACE/ran"]);
    let folder = place.state().join("spool/pending/5").join(crate::support::queue("y"));
    std::fs::hard_link(folder.join("2.json"), folder.join("77.json")).unwrap();
    place.drain();
    assert_eq!(place.status(&id), "completed");
    assert_eq!(crate::support::lines(&place.path("ran")), ["ran"]);
    assert_eq!(place.json(&["status"])["set_aside"], 1);
}

#[test]
fn a_project_directory_swapped_between_submit_and_run_is_the_submitters_own_risk_and_no_lane_is_lost() {
    let place = used();
    std::fs::create_dir(place.path("project")).unwrap();
    let id = place.enqueue(&["-u", "y", "--cwd", &place.text("project"), "--", "sh", "-c", "pwd -P"]);
    std::fs::rename(place.path("project"), place.path("moved")).unwrap();
    symlink(place.path("outside"), place.path("project")).unwrap();
    place.drain();
    // The directory is found by its name when the command starts, with the rights of the one account there is.
    let outside = place.path("outside").canonicalize().unwrap();
    assert_eq!(place.ok(&["logs", &id]).line(), outside.to_str().unwrap());
    std::fs::remove_file(place.path("project")).unwrap();
    symlink("project", place.path("project")).unwrap();
    let looped = place.enqueue(&["--no-check", "-u", "y", "--cwd", &place.text("project"), "--", "true"]);
    place.drain();
    assert_eq!(place.show(&looped)["exit_code"], 125);
    place.ok(&["check", "y"]);
    assert_outside_untouched(&place, "a swapped project");
}
