//! Rows of issues 18 and 22 whose words were not shown elsewhere: S1.22, S2.3, S2.4, S2.16, S2.19.

use crate::support::{Place, lines, until};
use serde_json::{Value, json};

/// S1.22: a child that waits itself is not over, so its parent waits on, with a process or without.
#[test]
fn a_parent_waits_for_its_child_as_long_as_the_child_waits() {
    for mode in ["", "--park"] {
        let place = Place::new();
        let text = format!(
            "\"$LUZIA\" step ask -- \"$LUZIA\" enqueue -u child -- \"$LUZIA\" await response {mode}; \
             \"$LUZIA\" await agent {mode}; \"$LUZIA\" get childExecutionStatus >> $PLACE/end"
        );
        let parent = place.enqueue(&["-u", "parent", "--", "sh", "-ec", &text]);
        until("the child waits", || {
            place.ok(&["dispatch", "--once"]);
            (place.luzia(&["show", "2"]).code == 0 && place.status("task_2") == "waiting").then_some(())
        });
        place.until_status(&parent, "waiting");
        for _ in 0..3 {
            place.ok(&["dispatch", "--once"]);
            let shown = place.show(&parent);
            assert_eq!((&shown["status"], &shown["waitingFor"]), (&json!("waiting"), &json!("agent")), "{shown:#}");
        }
        // What is for the child only does not resume the parent.
        place.ok(&["emit", "MESSAGE_RECEIVED", "--task", "2"]);
        until("both are over", || {
            place.ok(&["dispatch", "--once"]);
            (place.status(&parent) == "completed").then_some(())
        });
        assert_eq!(
            (place.status("task_2"), lines(&place.path("end"))),
            ("completed".into(), vec!["completed".to_owned()])
        );
    }
}

fn steps_of(place: &Place, id: &str) -> Vec<Value> {
    place.events_named("step_ended").into_iter().filter(|event| event["task"] == id).collect()
}

/// S2.3: whatever asks for a further step of a task that is over, none is run.
#[test]
fn a_step_of_a_task_that_is_over_does_nothing() {
    let place = Place::new();
    let text = "echo $LUZIA_STEP >> $PLACE/log; [ $LUZIA_STEP -lt 1 ] || exec \"$LUZIA\" finish";
    let id = place.enqueue(&["-u", "a", "--stepwise", "--", "sh", "-ec", text]);
    let cancelled = place.enqueue(&["-u", "b", "--stepwise", "--hold", "--", "sh", "-ec", "echo never >> $PLACE/log"]);
    place.drain();
    place.ok(&["cancel", &cancelled, "--yes"]);
    let before = place.show(&id);
    assert_eq!((&before["status"], &before["starts"]), (&json!("completed"), &json!(2)));
    for _ in 0..3 {
        place.ok(&["dispatch", "--once"]);
    }
    place.luzia(&["emit", "MESSAGE_RECEIVED", "--task", &id]).coded(1);
    place.luzia(&["resume", &id]);
    place.drain();
    assert_eq!((lines(&place.path("log")), steps_of(&place, &id).len()), (vec!["0".to_owned(), "1".to_owned()], 2));
    assert_eq!((place.show(&id)["starts"].clone(), place.status(&cancelled)), (json!(2), "cancelled".into()));
}

/// S2.4: of dispatchers that act at once one runs a step, and each step is run once.
#[test]
fn of_many_that_would_run_a_step_one_does() {
    let place = Place::new();
    let text = "mkdir $PLACE/in || echo overlap >> $PLACE/log; echo $LUZIA_STEP >> $PLACE/log; sleep 0.02; rmdir $PLACE/in; \
                [ $LUZIA_STEP -lt 7 ] || exec \"$LUZIA\" finish";
    let id = place.enqueue(&["-u", "a", "--stepwise", "--", "sh", "-c", text]);
    let drains: Vec<_> = (0..4).map(|_| place.start(&["dispatch", "--drain"])).collect();
    place.until_status(&id, "completed");
    drop(drains);
    let wanted: Vec<String> = (0..8).map(|step: u32| step.to_string()).collect();
    assert_eq!((lines(&place.path("log")), place.show(&id)["starts"].clone()), (wanted, json!(8)));
    // S2.19: created, a step, queued again, and so on to the end.
    let told = place.events().into_iter().filter(|event| event["task"] == id.as_str());
    let course: Vec<String> = told.filter_map(|event| Some(event["event"].as_str()?.to_owned())).collect();
    let of = |name: &str| course.iter().filter(|event| *event == name).count();
    assert_eq!((of("enqueued"), of("started"), of("step_ended"), of("requeued"), of("finished")), (1, 8, 8, 7, 1));
}

/// S2.16: a task that runs for long and lives is not stuck, however long its last sign of progress is ago.
#[test]
fn a_long_task_that_lives_is_not_stuck() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--", "sh", "-c", "echo on > $PLACE/on; exec sleep 1000"]);
    place.ok(&["dispatch"]);
    place.until_file("on");
    let path = place.state().join("spool/running/1.started.json");
    let mut started: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    started["at"] = "2020-01-01T00:00:00.000Z".into();
    std::fs::write(&path, started.to_string()).unwrap();
    assert_eq!(place.json(&["list", "--stuck"])["items"], json!([]));
    place.ok(&["dispatch", "--once"]);
    assert_eq!((place.status(&id), place.show(&id)["starts"].clone()), ("running".into(), json!(1)));
    place.ok(&["cancel", &id, "--yes", "--grace", "0"]);
}

/// The command ends the process that would tell how it ended.
#[test]
fn a_last_command_whose_end_nobody_knows_is_told_by_show() {
    let place = Place::new();
    let last = |text: &str| place.enqueue(&["-u", "a", "--on-finish", text, "--", "true"]);
    let (lost, well) = (last("echo x >> $PLACE/last; kill -9 $PPID"), last("true"));
    place.ok(&["dispatch"]);
    until("it ran", || (lines(&place.path("last")).len() == 1).then_some(()));
    place.drain();
    let says = |id: &str| place.ok(&["show", id]).out.contains("a kill has cut it short; it is not run again");
    until("the other one ran", || (!says(&well)).then_some(()));
    assert!(says(&lost));
    assert_eq!(lines(&place.path("last")).len(), 1);
}
