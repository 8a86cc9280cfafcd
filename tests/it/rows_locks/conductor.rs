//! Locks released on the word of a project's `meta.json`, when every condition holds (S3.15, S3.17, S3.20, S3.32, S3.40).

use crate::support::Place;
use serde_json::{Value, json};

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
    let checked = place.ok(&["check-project", "alice_project"]);
    assert!(checked.took.as_secs() < 2, "{checked:?}");
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
