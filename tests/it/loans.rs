//! Loans: a child that its parent waits for runs in the lanes of the parent (`locks.md`, S0.16–S0.20, S4.16). Nobody else gets
//! in between, whatever is killed, and each lane comes back.

mod ends;

use crate::support::{Place, lives, until};
use rustix::process::Signal;
use serde_json::{Value, json};

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).unwrap_or_default()
}

fn sidecar(place: &Place, stem: &str) -> Value {
    let path = place.state().join("locks").join(format!("{stem}.json"));
    serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap()
}

/// Starts a task of user `a` that runs a script.
fn parent(place: &Place, options: &[&str], script: &str) -> String {
    let id = place.enqueue(&[&["-u", "a"], options, &["--", "sh", "-c", script]].concat());
    place.ok(&["dispatch"]);
    id
}

#[test]
fn a_child_and_its_child_run_in_the_lanes_of_the_parent_and_a_stranger_comes_after_all_of_them() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let grandchild = "echo grandchild >>$PLACE/log; cp $LUZIA_STATE_DIR/locks/user_a.json $PLACE/during.json";
    let child =
        format!("echo child >>$PLACE/log; $LUZIA run --timeout 60s -- sh -c '{grandchild}'; echo back >>$PLACE/log");
    std::fs::write(place.path("child.sh"), child).unwrap();
    place.gate("go");
    let script = "read _ <$PLACE/go; cp $LUZIA_STATE_DIR/locks/thread_7.json $PLACE/before.json
        $LUZIA run --thread 7 --timeout 60s -- sh $PLACE/child.sh; echo \"parent $?\" >>$PLACE/log
        cp $LUZIA_STATE_DIR/locks/thread_7.json $PLACE/after.json";
    let first = parent(&place, &["--thread", "7"], script);
    let stranger = place.enqueue(&["-u", "b", "--thread", "7", "--shell", "echo stranger >>$PLACE/log"]);
    place.open_gate("go");
    place.drain();
    assert_eq!(read(&place, "log"), "child\ngrandchild\nback\nparent 0\nstranger\n");
    let [before, during, after] = ["before.json", "during.json", "after.json"]
        .map(|name| serde_json::from_str::<Value>(&read(&place, name)).unwrap());
    assert_eq!(during["task_id"], json!(first));
    assert_eq!(during["borrowers"][0]["owner"], json!(first));
    assert_eq!(before["lock_id"], after["lock_id"]);
    assert!(after["fence"].as_u64() > before["fence"].as_u64(), "a loan that ended leaves a new fence");
    assert_eq!(after["borrowers"], json!([]));
    let shown = place.show("task_3");
    assert_eq!((&shown["parent"], &shown["can_inherit_lock"]), (&json!(first), &json!(true)));
    let family = place.json(&["tree", &first]);
    let depths: Vec<_> = family["items"].as_array().unwrap().iter().map(|one| one["depth"].as_u64().unwrap()).collect();
    assert_eq!(depths, [0, 1, 2]);
    let started: Vec<Value> = place.events_named("borrowed");
    assert!(
        started.iter().any(|event| {
            let text = event["message"].as_str().unwrap_or_default();
            text.contains("Execution 3 inheriting lock from parent 1 on thread 7")
        }),
        "{started:?}"
    );
    assert_eq!(place.status(&stranger), "completed");
}

#[test]
fn children_of_one_parent_take_turns() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let child = "echo in >>$PLACE/log; sleep 0.2; echo out >>$PLACE/log";
    let script =
        format!("for n in 1 2 3; do $LUZIA run --timeout 60s -- sh -c '{child}' & done; wait; echo done >>$PLACE/log");
    let first = parent(&place, &[], &script);
    place.until_status(&first, "completed");
    assert_eq!(read(&place, "log"), "in\nout\nin\nout\nin\nout\ndone\n");
}

#[test]
fn four_parents_that_fill_all_slots_and_wait_for_a_child_each_all_finish() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    let parents: Vec<String> = (0..4)
        .map(|n| {
            let user = format!("p{n}");
            let script = format!(
                "echo up >>$PLACE/up; until [ $(wc -l <$PLACE/up) = 4 ]; do sleep 0.05; done
                 $LUZIA run -u other{n} --timeout 60s -- true"
            );
            place.enqueue(&["-u", &user, "--", "sh", "-c", &script])
        })
        .collect();
    let stranger = place.enqueue(&["-u", "z", "--", "true"]);
    place.drain();
    for id in parents.iter().chain([&stranger]) {
        assert_eq!(place.status(id), "completed", "{id}");
    }
    assert_eq!(place.json(&["status"])["active"]["slots_used"], json!(0));
}

#[test]
fn lenders_and_borrowers_count_as_one_holder() {
    let place = Place::configured(&json!({ "slots": { "max": 3 }, "lanes": { "build": { "max": 2 } } }));
    place.gate("end");
    let script = "$LUZIA run --timeout 60s -l build -- sh -c 'echo up >$PLACE/up; read _ <$PLACE/end'";
    let first = parent(&place, &["-l", "build"], script);
    place.until_file("up");
    let status = place.json(&["status"]);
    assert_eq!(status["active"]["slots_used"], json!(1), "{status}");
    let lane = place.json(&["lanes", "show", "lane:build"]);
    assert_eq!(lane["items"][0]["active"].as_u64().or(lane["active"].as_u64()), Some(1), "{lane}");
    place.ok(&["check", "lane:build"]);
    // The second slot of the lane goes to a stranger, and the third taker waits.
    place.ok(&["acquire", "lane:build", "--task", "x"]);
    place.luzia(&["acquire", "lane:build", "--task", "y"]).coded(75);
    let locks = place.json(&["list-locks"]);
    let loan =
        locks["items"].as_array().unwrap().iter().find(|lock| lock["task_id"] == "task_2" && lock["lane"] == "build");
    assert_eq!(loan.unwrap()["lender"], sidecar(&place, "lane_build")["lock_id"]);
    place.open_gate("end");
    place.until_status(&first, "completed");
}

#[test]
fn a_child_that_nobody_waits_for_any_more_waits_for_the_lane() {
    let place = Place::new();
    // The first child keeps the loan, so that the second waits when its waiter is killed.
    place.gate("one");
    place.gate("end");
    let script = "$LUZIA run --timeout 60s -- sh -c 'echo up >$PLACE/up; read _ <$PLACE/one' &
        until [ -e $PLACE/up ]; do sleep 0.05; done
        $LUZIA run --timeout 60s -- sh -c 'echo second >>$PLACE/log' & echo $! >$PLACE/waiter
        read _ <$PLACE/end; echo parent >>$PLACE/log";
    let first = parent(&place, &[], script);
    until("the second child", || (place.luzia(&["show", "task_3"]).code == 0).then_some(()));
    let why = until("a reason", || {
        let why = place.json(&["explain", "task_3"])["reasons"][0].clone();
        (why["reason"] == "Loan").then_some(why)
    });
    assert_eq!(why["lock"]["task_id"].as_str().or(why["lock"]["holder"].as_str()), Some("task_2"), "{why}");
    let waiter: u32 = read(&place, "waiter").trim().parse().unwrap();
    crate::support::signal(waiter, Signal::KILL);
    until("the end of the waiter", || (!lives(waiter)).then_some(()));
    place.open_gate("one");
    place.until_status("task_2", "completed");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let text = place.ok(&["explain", "task_3"]).out;
    assert!(place.status("task_3") == "pending" && text.contains("--wait"), "{text}");
    place.open_gate("end");
    place.until_status(&first, "completed");
    place.drain();
    assert_eq!(read(&place, "log"), "parent\nsecond\n");
}

#[test]
fn a_borrower_keeps_the_lane_when_waiter_and_parent_are_killed() {
    let place = Place::new();
    place.gate("end");
    let script = "$LUZIA run --timeout 60s -- sh -c 'echo up >$PLACE/up; read _ <$PLACE/end; echo child >>$PLACE/log'";
    let first = parent(&place, &[], script);
    place.until_file("up");
    let stranger = place.enqueue(&["-u", "a", "--shell", "echo stranger >>$PLACE/log"]);
    place.ok(&["cancel", &first, "--grace", "0"]);
    assert_eq!(place.status(&first), "cancelled");
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&stranger), "pending");
    place.luzia(&["check", "a"]).coded(75);
    assert_eq!(place.json(&["explain", &stranger])["reasons"][0]["reason"], "UserLockHeld");
    // So it is when the supervisor of the borrower is killed: its command lives, and nobody gets the lane.
    place.open_gate("end");
    place.until_status("task_2", "completed");
    place.drain();
    assert_eq!(read(&place, "log"), "child\nstranger\n");
}

#[test]
fn a_killed_borrower_gives_the_lane_back_to_its_parent() {
    let place = Place::new();
    let script = "$LUZIA run --timeout 60s -- sh -c 'echo up >$PLACE/up; sleep 60'; echo \"run $?\" >>$PLACE/log
        $LUZIA run --timeout 60s -- sh -c 'echo again >>$PLACE/log'";
    let first = parent(&place, &[], script);
    place.until_file("up");
    let stranger = place.enqueue(&["-u", "a", "--shell", "echo stranger >>$PLACE/log"]);
    crate::support::signal(place.supervisor("task_2"), Signal::KILL);
    place.ok(&["dispatch"]);
    place.until_status(&first, "completed");
    place.drain();
    let log = read(&place, "log");
    assert!(log.starts_with("run ") && log.ends_with("again\nstranger\n"), "{log}");
    assert_eq!(place.status(&stranger), "completed");
}

#[test]
fn a_child_with_no_inherit_waits_for_its_parent_and_is_not_waited_for() {
    let place = Place::new();
    let script = "$LUZIA run --no-inherit -- true; echo \"run $?\" >>$PLACE/log
        $LUZIA enqueue --no-inherit -- sh -c 'echo child >>$PLACE/log' >$PLACE/id";
    let first = parent(&place, &[], script);
    place.until_status(&first, "completed");
    place.drain();
    assert_eq!(read(&place, "log"), "run 1\nchild\n", "it would wait for itself");
    assert_eq!(place.show(read(&place, "id").trim())["can_inherit_lock"], json!(false));
}

#[test]
fn a_child_is_queued_from_outside_in_the_name_of_its_parent() {
    let place = Place::new();
    place.gate("end");
    let first = parent(&place, &["--thread", "7"], "read _ <$PLACE/end");
    // A child that is not waited for stays behind its parent (S0.17).
    let other = place.enqueue(&["--parent", &first, "--thread", "7", "--", "true"]);
    let mut child = place.start(&["enqueue", "--wait", "--parent", &first, "--thread", "7", "--", "true"]);
    until("the end of the child", || child.is_over().then_some(()));
    assert_eq!(child.end().coded(0).out, "task_3\n");
    assert_eq!((place.status(&first).as_str(), place.status(&other).as_str()), ("running", "pending"));
    place.open_gate("end");
    place.drain();
    assert_eq!(place.status(&other), "completed");
    let before = place.snapshot();
    place.luzia(&["enqueue", "--parent", "999", "--", "true"]).coded(66);
    let refused = place.luzia(&["enqueue", "--parent", &first, "--", "true"]).coded(2);
    assert!(refused.err.contains("cannot be a parent"), "{}", refused.err);
    place.luzia(&["enqueue", "--parent", "self", "--", "true"]).coded(2);
    place.assert_unchanged(&before, "refused parents");
}

#[test]
fn a_task_waits_for_a_child_that_it_queued_before() {
    let place = Place::new();
    let script =
        "id=$($LUZIA enqueue -- sh -c 'echo child >>$PLACE/log'); $LUZIA wait $id; echo \"wait $?\" >>$PLACE/log";
    let first = parent(&place, &[], script);
    place.until_status(&first, "completed");
    assert_eq!(read(&place, "log"), "child\nwait 0\n");
}

#[test]
fn each_end_of_a_child_is_one_event_for_its_parent() {
    let place = Place::new();
    let script = "$LUZIA enqueue -- true; $LUZIA enqueue -- false; id=$($LUZIA enqueue -- true); $LUZIA cancel $id
        $LUZIA await agent --expect 3 --timeout 60s >$PLACE/events; $LUZIA get childExecutionStatus";
    let first = parent(&place, &[], script);
    place.until_status(&first, "completed");
    let mail = place.show(&first)["mail"].as_u64();
    assert_eq!(mail, Some(3), "the children ran in the lanes of the task that awaits them");
    let told = place.events_named("emitted");
    let children: std::collections::BTreeSet<&str> = told.iter().filter_map(|event| event["task"].as_str()).collect();
    assert_eq!((told.len(), children.len()), (3, 3), "{told:?}");
}

#[test]
fn a_child_ends_with_its_parent_when_that_is_asked_for() {
    let place = Place::new();
    let script = "$LUZIA enqueue -u x --on-parent-death cancel -- sleep 60
        $LUZIA enqueue -u y --on-parent-death cancel --in 1h -- true
        $LUZIA enqueue -u z --on-parent-death adopt --shell 'echo z >>$PLACE/log'; $LUZIA dispatch
        until [ \"$($LUZIA list -u x -o name --state running)\" ]; do sleep 0.05; done";
    let first = parent(&place, &[], script);
    place.until_status(&first, "completed");
    for id in ["task_2", "task_3"] {
        place.until_status(id, "cancelled");
        let why = place.show(id).to_string();
        assert!(why.contains("its parent task_1 is over"), "{why}");
    }
    place.drain();
    assert_eq!(read(&place, "log"), "z\n");
}

#[test]
fn a_ring_through_a_loan_is_refused() {
    let place = Place::new();
    place.gate("other");
    let other = place.enqueue(&[
        "-u",
        "b",
        "--",
        "sh",
        "-c",
        "echo up >$PLACE/up; read _ <$PLACE/other; $LUZIA run -u a --timeout 5s -- true; echo \"b $?\" >>$PLACE/log",
    ]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let first = parent(&place, &[], "$LUZIA run -u b --timeout 60s -- true; echo \"a $?\" >>$PLACE/log");
    until("the child of the second", || (place.luzia(&["show", "task_3"]).code == 0).then_some(()));
    place.open_gate("other");
    place.drain();
    let log = read(&place, "log");
    assert_eq!(log, "b 1\na 0\n", "the one that would close the ring is refused");
    assert_eq!((place.status(&first), place.status(&other)), ("completed".into(), "completed".into()));
}
