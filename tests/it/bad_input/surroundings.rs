//! State directories that must not or cannot be used, accounts, and hostile or missing variables.

use super::{check_quick, check_text, lived_in, refused};
use crate::support::{Place, Ran, is_root};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

/// An account that is nobody's here.
const OTHER: u32 = 54321;

const VERBS: [&[&str]; 8] = [
    &["enqueue", "-u", "a", "--", "true"],
    &["dispatch"],
    &["acquire", "carol", "--task", "t1"],
    &["check", "alice"],
    &["lock", "-u", "carol", "--", "true"],
    &["list"],
    &["status"],
    &["cleanup-stale"],
];

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_state_directory_that_others_can_write_is_refused() {
    let place = lived_in();
    for mode in [0o777, 0o1777, 0o707] {
        chmod(&place.state(), mode);
        for args in VERBS {
            refused(&place, args, 77);
        }
    }
    chmod(&place.state(), 0o700);
    place.ok(&["status"]);
}

#[test]
fn a_state_directory_of_another_account_is_refused() {
    if !is_root() {
        return crate::support::skip("a_state_directory_of_another_account_is_refused", "root");
    }
    let place = lived_in();
    std::os::unix::fs::chown(place.state(), Some(OTHER), Some(OTHER)).unwrap();
    for args in VERBS {
        refused(&place, args, 77);
    }
}

/// Calls luzia as another account, which may enter the place.
fn as_other(place: &Place, args: &[&str]) -> Ran {
    let program = place.open_to_others();
    let like = place.command(&[]);
    let mut command = std::process::Command::new(program);
    command.args(args).env_clear().current_dir(place.path("work")).uid(OTHER).gid(OTHER);
    command.envs(like.get_envs().filter_map(|(key, value)| Some((key, value?))));
    place.spawn(&mut command).end()
}

#[test]
fn another_account_gets_nowhere_and_changes_nothing() {
    if !is_root() {
        return crate::support::skip("another_account_gets_nowhere_and_changes_nothing", "root");
    }
    let place = lived_in();
    for mode in [0o700, 0o755] {
        chmod(&place.state(), mode);
        let before = place.snapshot();
        for args in VERBS {
            let ran = as_other(&place, args).coded(77);
            check_text(&ran);
        }
        place.assert_unchanged(&before, "it");
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_of_its_own() {
    if !is_root() {
        return crate::support::skip("a_directory_that_cannot_be_written_is_an_error_of_its_own", "root");
    }
    let place = Place::new();
    let home = place.path("state");
    std::fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(OTHER), Some(OTHER)).unwrap();
    chmod(&home, 0o500);
    let ran = as_other(&place, &["enqueue", "-u", "a", "--", "true"]).coded(77);
    check_text(&ran);
    chmod(&home, 0o700);
    as_other(&place, &["enqueue", "-u", "a", "--", "true"]).coded(0);
    chmod(&home.join("spool/tmp"), 0o500);
    chmod(&home.join("locks/.guard"), 0o500);
    let mut before = place.snapshot();
    for args in [&["enqueue", "-u", "a", "--", "true"][..], &["acquire", "new", "--task", "t1"]] {
        let ran = as_other(&place, args).coded(77);
        check_text(&ran);
        // A number that was reserved for nothing is never given again, that is all.
        let sequence = place.text("state/spool/sequence");
        before.insert(sequence.clone(), place.snapshot()[&sequence].clone());
        place.assert_unchanged(&before, &format!("{args:?}"));
    }
    assert_eq!(as_other(&place, &["list", "-o", "name"]).coded(0).out, "task_1\n");
}

#[test]
fn a_state_directory_that_is_none_is_73() {
    let place = Place::new();
    std::fs::write(place.state(), "a file").unwrap();
    for args in VERBS {
        refused(&place, args, 73);
    }
    let beneath = place.text("state/deeper");
    for args in VERBS {
        refused(&place, &[&["--state-dir", &beneath], args].concat(), 73);
    }
    assert_eq!(std::fs::read_to_string(place.state()).unwrap(), "a file");
    refused(&place, &["--state-dir", "", "status"], 2);
    refused(&place, &["--state-dir", "a\nb", "status"], 2);
}

#[test]
fn a_loop_of_links_is_an_error_and_no_loop() {
    let place = Place::new();
    std::os::unix::fs::symlink("state", place.state()).unwrap();
    for args in VERBS {
        let ran = place.luzia(args);
        assert!([73, 74, 77].contains(&ran.code), "{ran:#?}");
        check_text(&ran);
    }
}

#[test]
fn an_almost_empty_environment_is_enough() {
    // cron: PATH alone, no terminal, no locale
    let place = Place::new();
    let state = place.text("state");
    let script =
        "cd /; exec env -i PATH=/usr/bin:/bin \"$LUZIA\" --state-dir \"$0\" run -u a -- sh -c 'echo $PATH; exit 3'";
    let ran = place.spawn(place.shell(script).arg(&state)).end().coded(3);
    assert_eq!(ran.out, "/usr/bin:/bin\n");
    let script = "exec env -i \"$LUZIA\" --state-dir \"$0\" status";
    check_quick(&place.spawn(place.shell(script).arg(&state)).end().coded(0));
}

#[test]
fn hostile_variables_change_no_answer() {
    let place = lived_in();
    let plain = place.ok(&["list", "-o", "wide"]).out;
    let json = place.ok(&["list-locks", "-o", "name"]).out;
    for (name, value) in [
        ("LANG", "tr_TR.UTF-8"),
        ("LC_ALL", "tr_TR"),
        ("COLUMNS", "0"),
        ("COLUMNS", "-1"),
        ("COLUMNS", "99999999999999999999"),
        ("RUST_BACKTRACE", "full"),
        ("RUST_LOG", "trace,\u{1b}=x"),
        ("NO_COLOR", ""),
        ("NO_COLOR", "1"),
        ("TERM", "\u{1b}"),
        ("TZ", "../../etc/passwd"),
        ("HOME", ""),
        ("HOME", "relative"),
        ("XDG_STATE_HOME", "x"),
        ("LUZIA_TASK_ID", "\n"),
        ("LUZIA_TASK_ID", "task_99"),
        ("LUZIA_USER", "../x"),
        ("LUZIA_LOCK_ID", "x"),
        ("TMPDIR", "/no/such"),
        ("STATE_DIRECTORY", "relative:x"),
    ] {
        let with = |args: &[&str]| place.spawn(place.command(args).env(name, value)).end();
        let same = |text: &str| text.split_whitespace().filter(|word| !word.ends_with('s')).collect::<String>();
        assert_eq!(same(&with(&["list", "-o", "wide"]).coded(0).out), same(&plain), "{name}={value}");
        assert_eq!(with(&["list-locks", "-o", "name"]).coded(0).out, json, "{name}={value}");
        let refused = with(&["show", "task_9"]).coded(66);
        check_text(&refused);
        check_text(&with(&["I", "--nothing"]).coded(2));
    }
}

#[test]
fn a_working_directory_that_is_gone_matters_only_where_it_is_needed() {
    let place = lived_in();
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$LUZIA\" \"$@\"";
    let gone = |args: &[&str]| place.spawn(place.shell(script).arg("sh").args(args)).end();
    gone(&["list"]).coded(0);
    let refused = gone(&["enqueue", "-u", "a", "--", "true"]).coded(2);
    check_text(&refused);
    assert!(refused.err.contains("there is no working directory: No such file"), "{}", refused.err);
    gone(&["enqueue", "-u", "a", "--cwd", "/", "--", "true"]).coded(0);
    // Gone between enqueue and start: the task fails, the lane is free.
    std::fs::create_dir(place.path("brief")).unwrap();
    let id = place.enqueue(&["-u", "eve", "--cwd", &place.text("brief"), "--", "true"]);
    std::fs::remove_dir(place.path("brief")).unwrap();
    place.drain();
    let task = place.show(&id);
    assert_eq!((task["status"].as_str(), task["exit_code"].as_i64()), (Some("failed"), Some(125)), "{task}");
    place.ok(&["check", "eve"]);
}

#[test]
fn few_file_descriptors_are_an_error_and_not_a_half_done_thing() {
    let place = lived_in();
    let before = place.json(&["list", "-a"])["items"].as_array().unwrap().len();
    for limit in [6, 8, 10, 12, 16] {
        let script = format!("ulimit -n {limit}; exec \"$LUZIA\" run -u a -- true");
        let ran = place.spawn(&mut place.shell(&script)).end();
        assert!(ran.code != 101 && ran.code < 128, "{limit}: {ran:#?}");
    }
    place.drain();
    let after = place.json(&["list", "-a"]);
    let tasks = after["items"].as_array().unwrap();
    assert!(tasks.len() >= before && tasks.iter().all(|task| task["status"] != "pending"), "{after}");
    place.ok(&["check", "a"]);
}

#[test]
fn a_relative_state_directory_in_the_environment_is_no_queue_of_every_directory() {
    let place = lived_in();
    let relative = |value: &str| place.spawn(place.command(&["list"]).env("LUZIA_STATE_DIR", value)).end();
    for value in ["state", "./state", "../state"] {
        let refused = relative(value).coded(78);
        check_text(&refused);
        assert!(refused.err.contains("not an absolute path") && refused.err.contains("$PWD/"), "{}", refused.err);
    }
    // On the command line it is said anew each time, and means the working directory.
    let script = "cd $PLACE && exec \"$LUZIA\" --state-dir state list";
    place.spawn(&mut place.shell(script)).end().coded(0);
}

#[test]
fn a_store_of_several_hosts_is_refused_by_a_luzia_without_the_feature() {
    if cfg!(feature = "fleet") {
        return;
    }
    let place = lived_in();
    let store = ["--store", "postgres:///d?host=/nowhere"];
    for args in [
        &["list"][..],
        &["enqueue", "-u", "a", "--", "true"],
        &["stats"],
        &["store", "status"],
        &["fleet", "trial"],
        &["hosts"],
    ] {
        let ran = refused(&place, &[&args[..1], &store, &args[1..]].concat(), 2);
        assert!(ran.err.contains("`fleet`") && ran.err.contains("--store local"), "{}", ran.err);
    }
    for (name, value) in [("LUZIA_STORE", store[1]), ("LUZIA_STORE", "nonsense")] {
        let ran = place.spawn(place.command(&["list"]).env(name, value)).end().coded(2);
        assert!(ran.err.contains("(LUZIA_STORE)"), "{}", ran.err);
    }
    // The tasks of this host, and the commands inside of them, are at hand as ever.
    place.ok(&["list", "--store", "local"]);
    place.spawn(place.command(&["list", "--store", "local"]).env("LUZIA_STORE", store[1])).end().coded(0);
    let script = "\"$LUZIA\" set a=1 && \"$LUZIA\" get a";
    let ran = place.spawn(
        place
            .command(&["run", "--store", "local", "-u", "in", "--env", "X=1", "--", "true"])
            .env("LUZIA_STORE", store[1]),
    );
    ran.end().coded(0);
    let luzia = format!("LUZIA={}", crate::support::LUZIA);
    let inside = ["run", "-u", "in", "--env", &luzia, "--store", "local", "--", "sh", "-c", script];
    let ran = place.spawn(place.command(&inside).env("LUZIA_STORE", store[1])).end().coded(0);
    assert_eq!(ran.out, "1\n");
}
