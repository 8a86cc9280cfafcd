//! The seven states and what moves between them (S1.1 to S1.12, S1.35 to S1.38, S3.24, S3.25).

use crate::support::Place;
use serde_json::json;

#[test]
fn a_task_is_pending_runs_and_completes() {
    // S1.1, S1.2, S1.3, S1.6
    let place = Place::new();
    place.gate("gate");
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", "read _ < $PLACE/gate"]);
    assert_eq!(place.status(&id), "pending");
    assert_eq!(place.ok(&["dispatch", "--once"]).line(), id);
    place.until_status(&id, "running");
    assert!(crate::support::lives(place.supervisor(&id)));
    place.open_gate("gate");
    place.until_status(&id, "completed");
    let states: Vec<String> = place.ok(&["list", "-a", "--json"]).json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["status"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(states, ["completed"]);
}

#[test]
fn a_completed_task_says_so_in_its_record_and_in_its_meta() {
    // S1.35
    let place = Place::new();
    place.ok(&["run", "-u", "alice", "--", "true"]);
    let task = place.show("1");
    assert_eq!((&task["status"], &task["resultType"]), (&json!("completed"), &json!("success")));
    for member in ["completedAt", "resultSummary", "variables"] {
        assert!(!task[member].is_null(), "{member}");
    }
    let meta = meta_of(&place, &task, "done");
    for member in ["status", "completedAt", "resultType", "resultSummary"] {
        assert_eq!(meta[member], task[member], "{member}");
    }
    assert_eq!(meta["lock_released"], true);
}

fn meta_of(place: &Place, task: &serde_json::Value, folder: &str) -> serde_json::Value {
    let dir = std::path::Path::new(task["conductor_dir"].as_str().unwrap()).join(folder);
    assert!(dir.starts_with(place.path("")));
    let text = std::fs::read(dir.join(task["id"].as_str().unwrap()).join("meta.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn a_failed_task_says_what_failed() {
    // S1.7, S1.36
    let place = Place::new();
    for (command, message) in [("exit 3", "exited with 3"), ("kill -9 $$", "signal 9")] {
        let id = place.enqueue(&["-u", "alice", "--shell", command]);
        place.drain();
        let task = place.show(&id);
        assert_eq!((&task["status"], &task["resultType"]), (&json!("failed"), &json!("failure")));
        assert!(task["errorMessage"].as_str().unwrap().contains(message), "{task}");
        assert_eq!(task["failedActionId"], 0);
        assert!(task["completedAt"].is_string());
        assert_eq!(meta_of(&place, &task, "done")["status"], "failed");
    }
}

#[test]
fn a_task_over_its_time_is_a_timeout() {
    // S1.37, and 124
    let place = Place::new();
    place.luzia(&["run", "-u", "alice", "--timeout", "200ms", "--", "sleep", "1000"]).coded(124);
    let task = place.show("1");
    assert_eq!((&task["status"], &task["resultType"]), (&json!("timeout"), &json!("timeout")));
    assert!(task["resultSummary"].is_string() && task["completedAt"].is_string());
    place.luzia(&["wait", "1"]).coded(124);
    place.ok(&["check", "alice"]);
}

#[test]
fn a_task_cancelled_before_its_start_never_runs() {
    // S1.4, S1.38
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--shell", "echo ran > $PLACE/ran"]);
    place.ok(&["cancel", &id, "--by", "user", "--reason", "wrong branch"]);
    place.drain();
    assert!(!place.path("ran").exists());
    let task = place.show(&id);
    assert_eq!((&task["status"], &task["resultType"]), (&json!("cancelled"), &json!("cancelled")));
    assert_eq!((&task["cancelledBy"], &task["cancelReason"]), (&json!("user"), &json!("wrong branch")));
    assert_eq!((&task["starts"], &task["started_at"]), (&json!(0), &json!(null)));
    place.luzia(&["wait", &id]).coded(1);
}

#[test]
fn a_task_that_is_over_stays_as_it_is_but_for_a_retry() {
    // S1.11, S1.12
    let place = Place::new();
    let ids = [
        place.enqueue(&["-u", "alice", "--", "true"]),
        place.enqueue(&["-u", "alice", "--", "false"]),
        place.enqueue(&["-u", "alice", "--timeout", "1ms", "--", "sleep", "1000"]),
    ];
    place.drain();
    let cancelled = place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["cancel", &cancelled]);
    let before = place.snapshot();
    for id in ids.iter().chain([&cancelled]) {
        let refused = place.luzia(&["--json", "cancel", id]).coded(1);
        assert!(refused.err.contains("TASK_OVER"), "{}", refused.err);
    }
    place.assert_unchanged(&before, "it");
    for id in ids.iter().chain([&cancelled]) {
        place.ok(&["retry", id]);
        assert_eq!(place.status(id), "pending");
        place.luzia(&["retry", id]).coded(1);
    }
    place.drain();
    assert_eq!(place.status(&ids[0]), "completed");
    assert_eq!(place.status(&cancelled), "completed");
    assert_eq!(place.show(&ids[1])["starts"], 2);
}

#[test]
fn several_in_one_call_each_have_their_turn() {
    let place = Place::new();
    let first = place.enqueue(&["-u", "alice", "--", "true"]);
    place.drain();
    let second = place.enqueue(&["-u", "alice", "--", "true"]);
    // One refusal decides the code and keeps nobody else from being cancelled.
    place.luzia(&["cancel", &first, &second]).coded(1);
    assert_eq!(place.status(&second), "cancelled");
    // One that does not exist is noticed before anything happens.
    let third = place.enqueue(&["-u", "alice", "--", "true"]);
    place.luzia(&["cancel", &third, "task_99"]).coded(66);
    assert_eq!(place.status(&third), "pending");
}

#[test]
fn a_task_goes_through_its_nine_steps_in_order() {
    // S3.14, S3.15, S3.24, S3.25, S3.34, S3.35
    let place = Place::new();
    let script = "cp -r $LUZIA_CONDUCTOR_DIR $PLACE/seen";
    place.ok(&["run", "-u", "alice", "--thread", "7", "--lane", "cron", "--", "sh", "-c", script]);
    let names: Vec<String> = place
        .events()
        .iter()
        .filter(|event| event["task"] == "task_1")
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        ["enqueued", "polled", "selected", "locked", "dispatched", "started", "ended", "released", "finished"]
    );
    let locked = &place.events_named("locked")[0]["data"];
    assert_eq!(locked["lanes"], json!(["user:alice", "cron", "thread:7", "global"]));
    let released = &place.events_named("released")[0]["data"];
    assert_eq!(released["lanes"], json!(["global", "thread:7", "cron", "user:alice"]));
    // The command found its directory and its meta.json with the lock already there.
    let meta: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path("seen/meta.json")).unwrap()).unwrap();
    assert_eq!(
        (&meta["status"], &meta["lock_released"], &meta["user"]),
        (&json!("running"), &json!(false), &json!("alice"))
    );
    assert!(meta["lock_id"].as_str().unwrap().starts_with("task_1_"));
}

#[test]
fn a_task_is_told_of_before_anybody_can_claim_it_and_withdrawn_when_it_cannot_be_queued() {
    // S3.24
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    // Where the folder of a priority would be stands a file, so nothing gets a name below it.
    std::fs::write(place.state().join("spool/pending/8"), "").unwrap();
    place.luzia(&["enqueue", "-u", "alice", "--priority", "8", "--", "true"]).coded(74);
    let lines = "{\"user\":\"a\",\"command\":[\"true\"]}\n".repeat(3);
    let bad = lines.replace("\"user\"", "\"priority\":8,\"user\"");
    std::fs::write(place.path("some.jsonl"), format!("{lines}{bad}")).unwrap();
    place.luzia(&["enqueue", "--from", &place.text("some.jsonl")]).coded(74);
    let of = |name: &str| -> Vec<String> {
        place.events_named(name).iter().map(|event| event["task"].as_str().unwrap().to_owned()).collect()
    };
    let all: Vec<String> = (1..=8).map(|id| format!("task_{id}")).collect();
    assert_eq!(of("enqueued"), all, "written before it turned out that they get no name");
    let queued: Vec<String> = place.json(&["list"])["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["id"].as_str().unwrap().to_owned())
        .collect();
    let gone: Vec<&String> = all.iter().filter(|id| !queued.contains(id)).collect();
    assert_eq!(of("withdrawn").iter().collect::<Vec<_>>(), gone);
    assert!(queued.contains(&all[0]) && gone.contains(&&all[1]) && gone.len() >= 4, "{queued:?}");
}

#[test]
fn a_command_is_told_what_it_is() {
    // contract, section 4: the environment of a task
    let place = Place::new();
    let script = "env | grep ^LUZIA_ | cut -d= -f1 | sort | tr '\\n' ' '; $LUZIA show self -o name; pwd; cat";
    let mut command = place.command(&["run", "-u", "alice", "-p", "web", "--env", "A=b=c", "--", "sh", "-c", script]);
    let ran = place.spawn(command.env("LUZIA_WORD", "no").current_dir(place.path("io"))).end().coded(0);
    let mut lines = ran.out.lines();
    let expected = "LUZIA_ATTEMPT LUZIA_CONDUCTOR_DIR LUZIA_FENCE LUZIA_LANES LUZIA_LOCK_ID LUZIA_PROJECT \
                    LUZIA_RESULT_FILE LUZIA_STATE_DIR LUZIA_TASK_ID LUZIA_USER task_1";
    // LUZIA itself is this test's, and not taken over because it does not begin with LUZIA_.
    assert_eq!(lines.next().unwrap(), expected);
    assert_eq!(lines.next().unwrap(), place.path("io").to_str().unwrap());
    assert_eq!(lines.next(), None, "standard input is empty");
}

#[test]
fn a_running_task_names_its_supervisor_in_every_document() {
    let place = Place::new();
    place.gate("gate");
    place.enqueue(&["-u", "a", "--key", "k", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let pid = &place.show("1")["supervisor_pid"];
    assert!(pid.is_u64(), "{pid}");
    assert_eq!(&place.json(&["list"])["items"][0]["supervisor_pid"], pid);
    assert_eq!(&place.json(&["status"])["tasks"][0]["supervisor_pid"], pid);
    assert_eq!(&place.json(&["explain", "1"])["supervisor_pid"], pid);
    assert_eq!(&place.json(&["enqueue", "--key", "k", "--", "true"])["supervisor_pid"], pid);
    place.open_gate("gate");
    place.until_status("1", "completed");
}
