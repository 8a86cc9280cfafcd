//! `step`: a step is done once, however often its task is started.

use super::script;
use crate::support::{Place, signal, until};
use rustix::process::Signal;

/// A script that does three steps and fails in its first start behind the second.
const THREE: &str = "
    \"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/effects; echo out-one'
    \"$LUZIA\" step two -- sh -c 'echo two >> $PLACE/effects; echo \"$LUZIA_LAST_STEP $LUZIA_LAST_EXIT $LUZIA_LAST_RESULT\"'
    test $LUZIA_ATTEMPT -gt 1
    \"$LUZIA\" step three -- sh -c 'echo three >> $PLACE/effects'";

fn effects(place: &Place) -> String {
    std::fs::read_to_string(place.path("effects")).unwrap_or_default()
}

#[test]
fn a_finished_step_is_answered_from_memory() {
    let place = Place::new();
    let (said, shown) = script(&place, &["--retries", "2"], THREE);
    assert_eq!(shown["status"], "completed", "{shown:#}\n{said}");
    assert_eq!(effects(&place), "one\ntwo\nthree\n");
    assert_eq!(said.matches("out-one\n").count(), 4, "printed again: {said}");
    assert_eq!(said.matches("one 0 out-one\n").count(), 2, "{said}");
    let names: Vec<_> = shown["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "two", "three"]);
    let ends = place.events_named("step");
    assert_eq!(ends.len(), 3, "one event a step that ran: {ends:#?}");
    assert_eq!((&ends[0]["data"]["step"], &ends[0]["data"]["exit_code"]), (&"one".into(), &0.into()));
}

#[test]
fn a_retry_by_hand_does_not_repeat_a_step_either() {
    let place = Place::new();
    script(&place, &[], "\"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/effects'; test -e $PLACE/again");
    std::fs::write(place.path("again"), "").unwrap();
    place.ok(&["retry", "1"]);
    place.drain();
    assert_eq!((place.status("1").as_str(), effects(&place).as_str()), ("completed", "one\n"));
}

#[test]
fn the_supervisor_is_killed_and_the_step_is_not_repeated() {
    let place = Place::new();
    let gate = place.gate("gate");
    let text = format!(
        "\"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/effects'; echo > $PLACE/on; test $LUZIA_ATTEMPT -gt 1 || read x < {gate}"
    );
    let id = place.enqueue(&["-u", "alice", "--retries", "1", "--", "sh", "-ec", &text]);
    place.ok(&["dispatch"]);
    place.until_file("on");
    signal(place.supervisor(&id), Signal::KILL);
    until("the task is done", || {
        place.luzia(&["dispatch", "--drain"]);
        (place.status(&id) == "completed").then_some(())
    });
    assert_eq!(effects(&place), "one\n");
}

#[test]
fn a_step_that_fails_is_done_again_unless_its_failure_is_stored() {
    let place = Place::new();
    let (_, shown) =
        script(&place, &["--retries", "1"], "\"$LUZIA\" step one -- sh -c 'echo x >> $PLACE/effects; exit 3'");
    assert_eq!((&shown["status"], &shown["exit_code"]), (&"failed".into(), &3.into()), "{shown:#}");
    assert_eq!(effects(&place), "x\nx\n");
    let (said, shown) = script(
        &place,
        &[],
        "
        \"$LUZIA\" step bad --on-error store -- sh -c 'echo half; exit 7'
        \"$LUZIA\" step next -- sh -c 'echo \"$LUZIA_LAST_EXIT of $LUZIA_LAST_STEP\"'",
    );
    assert_eq!(shown["status"], "completed", "{said}");
    assert!(said.contains("7 of bad\n"), "{said}");
    assert_eq!(shown["steps"][0]["exit_code"], 7);
}

#[test]
fn a_step_is_tried_again_with_pauses_and_fails_at_last() {
    let place = Place::new();
    let (said, shown) = script(
        &place,
        &[],
        "\"$LUZIA\" step one --on-error retry --retries 1 -- sh -c 'echo x >> $PLACE/effects; exit 4'",
    );
    assert_eq!((&shown["status"], &shown["exit_code"]), (&"failed".into(), &4.into()), "{said}");
    assert_eq!(effects(&place), "x\nx\n");
    let (_, shown) = script(
        &place,
        &[],
        "\"$LUZIA\" step one --on-error retry -- sh -c 'test -e $PLACE/there || { echo > $PLACE/there; exit 1; }'",
    );
    assert_eq!((&shown["status"], &shown["steps"][0]["tries"]), (&"completed".into(), &2.into()));
}

#[test]
fn repeated_and_nested_names_are_refused() {
    let place = Place::new();
    let (said, shown) = script(
        &place,
        &[],
        "
        \"$LUZIA\" step one -- true
        code=0; \"$LUZIA\" step one -- touch $PLACE/twice || code=$?; echo again $code
        code=0; \"$LUZIA\" step two -- \"$LUZIA\" step two -- touch $PLACE/twice || code=$?; echo nested $code
        code=0; \"$LUZIA\" step ../x -- touch $PLACE/twice || code=$?; echo name $code",
    );
    assert_eq!(shown["status"], "completed");
    assert!(said.contains("again 2\n") && said.contains("nested 2\n") && said.contains("name 2\n"), "{said}");
    assert!(said.contains("already in this start") && said.contains("runs this step of the same name"), "{said}");
    assert!(!place.path("twice").exists());
    assert!(!place.state().join("spool/steps/1/step.two.json").exists(), "its command failed");
}

#[test]
fn a_step_whose_luzia_was_killed_does_not_run_beside_itself() {
    let place = Place::new();
    let gate = place.gate("gate");
    let text = format!(
        "
        \"$LUZIA\" step one -- sh -c 'echo > $PLACE/on; read x < {gate}' & pid=$!
        until test -s $PLACE/on; do sleep 0.01; done; kill -9 $pid
        code=0; \"$LUZIA\" step one -- touch $PLACE/twice || code=$?; echo busy $code"
    );
    let (said, _) = script(&place, &[], &text);
    assert!(said.contains("busy 75\n"), "{said}");
    assert!(!place.path("twice").exists());
}

#[test]
fn a_step_outside_of_a_running_task_runs_nothing() {
    let place = super::pending();
    let before = place.snapshot();
    place.luzia(&["step", "one", "--", "touch", &place.text("x")]).coded(2);
    let mut forged = place.command(&["step", "one", "--", "touch", &place.text("x")]);
    forged.env("LUZIA_TASK_ID", "task_1");
    place.spawn(&mut forged).end().coded(1);
    place.assert_unchanged(&before, "a step outside of a running task");
    assert!(!place.path("x").exists());
}

#[test]
fn the_codes_of_a_command_that_cannot_run_are_those_of_a_shell() {
    let place = Place::new();
    let (said, _) = script(
        &place,
        &[],
        "
        code=0; \"$LUZIA\" step one -- no-such-command || code=$?; echo $code
        code=0; \"$LUZIA\" step one -- /dev/null || code=$?; echo $code
        code=0; \"$LUZIA\" step one -- sh -c 'kill -9 $$' || code=$?; echo $code",
    );
    for code in ["127\n", "126\n", "137\n"] {
        assert!(said.contains(code), "{said}");
    }
}

#[test]
fn long_output_passes_whole_and_its_beginning_is_kept() {
    let place = Place::new();
    let (said, shown) = script(&place, &["--retries", "1"], "
        \"$LUZIA\" step big -- sh -c 'yes 0123456789abcde | head -n 20000' > $PLACE/got$LUZIA_ATTEMPT; test $LUZIA_ATTEMPT -gt 1");
    assert_eq!(shown["status"], "completed", "{said}");
    assert_eq!(std::fs::metadata(place.path("got1")).unwrap().len(), 320_000);
    assert_eq!(std::fs::metadata(place.path("got2")).unwrap().len(), 65_536);
    assert!(!place.state().join("spool/steps/1/step.big.out").exists());
}

#[test]
fn output_that_is_not_text_is_kept_as_it_is() {
    let place = Place::new();
    let (_, shown) = script(
        &place,
        &["--retries", "1"],
        "
        \"$LUZIA\" step odd -- printf '\\377\\000x' > $PLACE/got$LUZIA_ATTEMPT; test $LUZIA_ATTEMPT -gt 1",
    );
    assert_eq!(shown["status"], "completed");
    assert_eq!(std::fs::read(place.path("got2")).unwrap(), b"\xff\0x");
}

#[test]
fn a_retry_from_the_start_remembers_only_what_was_sent() {
    let place = Place::new();
    let text = "\"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/effects'; \"$LUZIA\" await event:GO; echo \"<$LUZIA_VAR_a>\"; \"$LUZIA\" set a=1";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text]);
    place.ok(&["emit", "GO", "--task", &id]);
    place.drain();
    place.ok(&["retry", &id]);
    place.drain();
    assert_eq!(effects(&place), "one\n");
    assert!(place.luzia(&["logs", &id]).out.contains("<1>\n"));
    place.ok(&["retry", "--from-start", &id]);
    place.drain();
    assert_eq!((place.status(&id).as_str(), effects(&place).as_str()), ("completed", "one\none\n"));
    assert_eq!(place.luzia(&["logs", &id]).out.matches("<>\n").count(), 2);
    place.luzia(&["retry", "--from-start", "9"]).coded(66);
}
