//! Locks released on the word of a project's `meta.json`, when every condition holds (S3.15, S3.17, S3.20, S3.32, S3.40).

use crate::support::{Place, is_root, skip};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A project whose conductor directory is in the place.
fn project() -> Place {
    let place = Place::new();
    let conductor = place.text("conductor");
    place.configure(&json!({ "projects": { "alice_project": { "user": "alice", "conductor_dir": conductor } } }));
    place
}

/// Writes the `meta.json` of a task that another program runs.
fn claim(place: &Place, dir: &str, meta: &Value) {
    let dir = place.path(&format!("conductor/active/{dir}"));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("meta.json"), meta.to_string()).unwrap();
}

fn meta(place: &Place, dir: &str) -> Value {
    let text = std::fs::read(place.path(&format!("conductor/active/{dir}/meta.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn a_foreign_task_that_is_over_gives_its_lock_back_once() {
    // S3.17, S3.20
    for status in ["completed", "failed", "cancelled"] {
        let place = project();
        let lock_id = place.ok(&["acquire", "alice", "--task", "task_9"]).line();
        let running = json!({ "id": "task_9", "status": "running", "user": "alice", "lock_id": lock_id, "mine": [1] });
        claim(&place, "task_9", &running);
        assert_eq!(place.ok(&["check-project", "alice_project"]).line(), "0");
        place.luzia(&["check", "alice"]).coded(75);
        let mut over = running.clone();
        over["status"] = status.into();
        claim(&place, "task_9", &over);
        let dry = place.ok(&["check-project", "alice_project", "-n"]);
        assert_eq!(dry.line(), "1");
        assert!(dry.err.contains("would be released"), "{}", dry.err);
        place.luzia(&["check", "alice"]).coded(75);
        assert_eq!(place.ok(&["check_project", "alice_project"]).line(), "1");
        place.ok(&["check", "alice"]);
        let noted = meta(&place, "task_9");
        assert_eq!((&noted["lock_released"], &noted["mine"]), (&json!(true), &json!([1])));
        let before = place.snapshot();
        assert_eq!(place.ok(&["check-project", "alice_project"]).line(), "0");
        place.assert_unchanged(&before, "it");
    }
}

#[test]
fn a_project_whose_directory_cannot_be_used_keeps_no_other_from_being_cleaned() {
    let place = Place::new();
    let project = |user: &str, dir: &str| json!({ "user": user, "conductor_dir": place.text(dir) });
    // In order of their names the broken ones come first.
    place.configure(&json!({ "projects": {
        "a_file": project("zoe", "file"), "b_list": project("yan", "list"), "good": project("alice", "conductor"),
    } }));
    std::fs::write(place.path("file"), "").unwrap();
    std::fs::create_dir(place.path("list")).unwrap();
    std::fs::write(place.path("list/active"), "").unwrap();
    let lock_id = place.ok(&["acquire", "alice", "--task", "task_9"]).line();
    claim(&place, "task_9", &json!({ "id": "task_9", "status": "completed", "user": "alice", "lock_id": lock_id }));
    let seen = place.luzia(&["doctor", "--json"]).coded(1).out;
    assert!([place.text("file"), place.text("list")].iter().all(|path| seen.contains(path)), "{seen}");
    let told = place.luzia(&["cleanup-stale", "-n", "--json"]).coded(1);
    let failed: Vec<Value> = serde_json::from_str::<Value>(&told.out).unwrap()["failed"].as_array().unwrap().clone();
    let named = |at: usize| (failed[at]["project"].as_str(), failed[at]["path"].as_str());
    assert_eq!((failed.len(), named(0)), (2, (Some("a_file"), Some(place.text("file").as_str()))), "{failed:?}");
    assert_eq!(named(1), (Some("b_list"), Some(place.text("list").as_str())));
    let cleaned = place.luzia(&["cleanup-stale"]).coded(1);
    assert_eq!(cleaned.line(), "1", "{cleaned:?}");
    assert!(cleaned.err.contains(&place.text("file")) && cleaned.err.contains("and 1 more"), "{}", cleaned.err);
    place.ok(&["check", "alice"]);
    // Asked for by its name, it is an error of its own.
    let refused = place.luzia(&["check-project", "b_list"]).coded(74);
    assert!(refused.err.contains(&place.text("list/active")), "{}", refused.err);
}

#[test]
fn a_directory_of_another_account_is_named_and_passed_by() {
    if !is_root() {
        return skip("a_directory_of_another_account_is_named_and_passed_by", "root");
    }
    let place = Place::new();
    let private = place.path("private");
    std::fs::create_dir(&private).unwrap();
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).unwrap();
    place.configure(&json!({ "projects": { "theirs": { "user": "zoe", "conductor_dir": place.text("private") } } }));
    let program = place.open_to_others();
    std::fs::set_permissions(place.path("config.json"), std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::create_dir(place.path("own")).unwrap();
    std::os::unix::fs::chown(place.path("own"), Some(65534), Some(65534)).unwrap();
    let as_nobody = |verb: &[&str]| {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).arg(&program).args(verb);
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
        crate::support::at_home(&mut command, &place.path("home"));
        command.env("LUZIA_STATE_DIR", place.path("own/state")).env("LUZIA_CONFIG", place.path("config.json"));
        place.spawn(&mut command).end()
    };
    as_nobody(&["acquire", "alice", "--ttl", "1ms", "--task", "t1"]).coded(0);
    std::thread::sleep(std::time::Duration::from_millis(10));
    let cleaned = as_nobody(&["cleanup-stale"]).coded(1);
    assert!(cleaned.line() == "1" && cleaned.err.contains(&place.text("private")), "{cleaned:?}");
    let seen = as_nobody(&["doctor"]).coded(1);
    assert!(seen.out.contains("conductor") && seen.out.contains(&place.text("private")), "{seen:?}");
}

#[test]
fn a_project_for_all_has_what_the_others_leave_out() {
    let place = Place::new();
    let all = json!({ "conductor_dir": place.text("all/{project}"), "user": "robot", "agent": ["echo", "{prompt}"] });
    place.configure(&json!({ "projects": { "*": all, "named": { "user": "alice" } } }));
    let one = place.enqueue(&["-p", "unnamed", "--prompt", "hello"]);
    let two = place.enqueue(&["-p", "named", "--prompt", "hello"]);
    place.drain();
    assert_eq!((place.show(&one)["user"].as_str(), place.show(&two)["user"].as_str()), (Some("robot"), Some("alice")));
    for (id, project) in [(&one, "unnamed"), (&two, "named")] {
        let log = place.path(&format!("all/{project}/done/{id}/stdout.log"));
        assert_eq!(std::fs::read_to_string(log).unwrap(), "hello\n");
    }
    // A claim there is looked at by the name of its project.
    let lock_id = place.ok(&["acquire", "robot", "--task", "task_9"]).line();
    let dir = place.path("all/other/active/task_9");
    std::fs::create_dir_all(&dir).unwrap();
    let over = json!({ "id": "task_9", "status": "completed", "user": "robot", "lock_id": lock_id });
    std::fs::write(dir.join("meta.json"), over.to_string()).unwrap();
    assert_eq!(place.ok(&["check-project", "other"]).line(), "1");
}

#[test]
fn cleaning_up_looks_at_every_project_too() {
    // S3.15, S3.18
    let place = project();
    let lock_id = place.ok(&["acquire", "alice", "--task", "task_9"]).line();
    claim(&place, "task_9", &json!({ "id": "task_9", "status": "completed", "user": "alice", "lock_id": lock_id }));
    assert_eq!(place.ok(&["cleanup-stale", "3600"]).line(), "1");
    place.ok(&["check", "alice"]);
}

#[test]
fn a_claim_that_does_not_fit_is_refused_and_harms_nobody() {
    let place = project();
    let lock_id = place.ok(&["acquire", "alice", "--task", "task_9"]).line();
    let bob = place.ok(&["acquire", "bob", "--task", "task_9"]).line();
    let fitting = json!({ "id": "task_9", "status": "completed", "user": "alice", "lock_id": lock_id });
    let with = |member: &str, value: Value| {
        let mut changed = fitting.clone();
        changed[member] = value;
        changed
    };
    let before = place.snapshot();
    for (why, dir, meta) in [
        ("another directory", "task_8", fitting.clone()),
        ("another id", "task_9", with("id", json!("task_8"))),
        ("another user", "task_9", json!({ "id": "task_9", "status": "completed", "user": "bob", "lock_id": bob })),
        ("another fence", "task_9", with("fence", json!(1))),
        ("another spelling", "task_9", with("status", json!("Completed"))),
        ("no user", "task_9", with("user", Value::Null)),
        ("an unknown state", "task_9", with("status", json!("done"))),
        ("not JSON", "task_9", json!("text")),
    ] {
        claim(&place, dir, &meta);
        assert_eq!(place.ok(&["check-project", "alice_project"]).line(), "0", "{why}");
        place.assert_unchanged(&before, why);
        std::fs::remove_dir_all(place.path("conductor")).unwrap();
    }
    // A lock that is held under another id meanwhile is somebody else's.
    claim(&place, "task_9", &with("lock_id", json!("task_9_1")));
    assert_eq!(place.ok(&["check-project", "alice_project"]).line(), "0");
    place.luzia(&["check", "alice"]).coded(75);
}

#[test]
fn the_claim_of_a_task_that_lives_is_refused() {
    let place = project();
    place.gate("gate");
    let script = "sed -i 's/\"running\"/\"completed\"/' $LUZIA_CONDUCTOR_DIR/meta.json; echo up > $PLACE/up; read _ < $PLACE/gate";
    let run = place.start(&["run", "-p", "alice_project", "--", "sh", "-c", script]);
    place.until_file("up");
    let checked = place.ok(&["check-project", "alice_project"]);
    assert_eq!(checked.line(), "0");
    assert!(checked.err.contains("refused"), "{}", checked.err);
    place.luzia(&["check", "alice"]).coded(75);
    place.open_gate("gate");
    run.end().coded(0);
    let done: Value =
        serde_json::from_slice(&std::fs::read(place.path("conductor/done/task_1/meta.json")).unwrap()).unwrap();
    assert_eq!((&done["status"], &done["lock_released"]), (&json!("completed"), &json!(true)));
}

#[test]
fn strange_files_among_the_claims_are_passed_over() {
    let place = project();
    std::fs::create_dir_all(place.path("conductor/active/a")).unwrap();
    std::fs::create_dir_all(place.path("conductor/active/b")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path("conductor/active/a/meta.json")).unwrap();
    place.gate("conductor/active/b/meta.json");
    std::fs::write(place.path("conductor/active/README"), "x").unwrap();
    let huge = place.path("conductor/active/c");
    std::fs::create_dir(&huge).unwrap();
    std::fs::File::create(huge.join("meta.json")).unwrap().set_len(1 << 40).unwrap();
    place.ok(&["check-project", "alice_project"]).within(2);
}

#[test]
fn a_project_of_any_name_is_found_where_its_tasks_put_it() {
    // A configured template is filled with encoded names, the same by both verbs.
    let place = Place::new();
    let template = place.text("home/{project}/conductor");
    place.configure(&json!({ "projects": { "a/b": { "user": "alice", "conductor_dir": template } } }));
    place.ok(&["run", "-p", "a/b", "--", "true"]);
    let active = place.path("home/a=2fb/conductor/active");
    assert!(active.is_dir());
    let lock_id = place.ok(&["acquire", "alice", "--task", "task_9"]).line();
    std::fs::create_dir(active.join("task_9")).unwrap();
    let meta = json!({ "id": "task_9", "status": "failed", "user": "alice", "lock_id": lock_id });
    std::fs::write(active.join("task_9/meta.json"), meta.to_string()).unwrap();
    assert_eq!(place.ok(&["check-project", "a/b"]).line(), "1");
}

#[test]
fn a_project_needs_no_configuration_but_must_exist() {
    let place = Place::new();
    place.luzia(&["check-project", "solo"]).coded(66);
    place.ok(&["run", "-u", "alice", "-p", "solo", "--", "true"]);
    let lock_id = place.ok(&["acquire", "alice", "--task", "task_9"]).line();
    let dir = place.state().join("conductor/solo/active/task_9");
    std::fs::create_dir(&dir).unwrap();
    let meta = json!({ "id": "task_9", "status": "failed", "user": "alice", "lock_id": lock_id });
    std::fs::write(dir.join("meta.json"), meta.to_string()).unwrap();
    assert_eq!(place.ok(&["check-project", "solo"]).line(), "1");
    place.luzia(&["check-project", "sole"]).coded(66);
}

#[test]
fn a_foreign_task_whose_directory_was_moved_to_done_gives_its_lock_back_once() {
    // S3.20
    for status in ["completed", "failed", "cancelled"] {
        let place = project();
        let lock_id = place.ok(&["acquire", "alice", "--task", "task_9"]).line();
        std::fs::create_dir_all(place.path("conductor/done/task_9")).unwrap();
        let path = place.path("conductor/done/task_9/meta.json");
        let with = |status: &str, lock_id: &str| {
            let meta = json!({ "id": "task_9", "status": status, "user": "alice", "lock_id": lock_id, "mine": [1] });
            std::fs::write(&path, meta.to_string()).unwrap();
        };
        for (status, lock_id) in [("running", lock_id.as_str()), (status, "task_9_1")] {
            with(status, lock_id);
            assert_eq!(place.ok(&["check-project", "alice_project"]).line(), "0", "{status} {lock_id}");
            place.luzia(&["check", "alice"]).coded(75);
        }
        with(status, &lock_id);
        assert_eq!(place.ok(&["check-project", "alice_project"]).line(), "1");
        place.ok(&["check", "alice"]);
        let noted: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((&noted["lock_released"], &noted["mine"]), (&json!(true), &json!([1])));
        let before = place.snapshot();
        assert_eq!(place.ok(&["check-project", "alice_project"]).line(), "0");
        place.assert_unchanged(&before, "it");
    }
}
