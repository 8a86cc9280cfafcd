//! Damaged files: the variables before the last change are used, and nothing that was damaged is thrown away (S1.50, S1.52).

use super::pending;
use crate::support::{Place, until};
use luzia::model::TaskId;
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::store::{OpenWait, Spool, Waits};
use serde_json::Value;
use std::sync::Arc;

fn damage(place: &Place, name: &str, text: &str) {
    std::fs::write(place.state().join("spool/steps/1").join(name), text).unwrap();
}

fn set_aside(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.state().join("spool/corrupt")).unwrap();
    entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn the_variables_before_the_last_change_are_used_and_the_damaged_ones_kept() {
    for text in ["", "{", "[]", "{\"vars\":{}}", "{\"v\":1,\"vars\":[]}", "\0\0\0\0"] {
        let place = pending();
        place.ok(&["set", "--task", "1", "a=1"]);
        place.ok(&["set", "--task", "1", "a=2"]);
        damage(&place, "vars.json", text);
        let ran = place.ok(&["get", "--task", "1", "a"]);
        assert_eq!(ran.line(), "1", "{text:?}");
        assert!(ran.err.contains("before the last change"), "{ran:?}");
        place.ok(&["set", "--task", "1", "b=3"]);
        assert_eq!(set_aside(&place), [text], "the damaged file is kept");
        assert_eq!(place.json(&["get", "--task", "1"])["vars"], serde_json::json!({ "a": "1", "b": "3" }));
        damage(&place, "vars.json", text);
        assert_eq!(place.ok(&["get", "--task", "1", "a"]).line(), "1", "what was good is still there");
    }
}

#[test]
fn a_start_takes_the_variables_before_and_notes_it() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo $LUZIA_VAR_a"]);
    place.ok(&["set", "--task", "1", "a=1"]);
    place.ok(&["set", "--task", "1", "a=2"]);
    damage(&place, "vars.json", "{");
    place.drain();
    assert_eq!(place.ok(&["logs", "1"]).line(), "1");
    assert_eq!(place.events_named("vars_damaged").len(), 1);
}

#[test]
fn without_any_variables_that_read_nothing_starts_and_set_begins_anew() {
    let place = pending();
    place.enqueue(&["-u", "alice", "--after", "1", "--", "true"]);
    place.ok(&["set", "--task", "1", "a=1"]);
    damage(&place, "vars.json", "{");
    place.luzia(&["get", "--task", "1"]).coded(65);
    place.drain();
    let shown = place.show("1");
    assert_eq!((&shown["status"], &shown["exit_code"]), (&"failed".into(), &125.into()), "{shown:#}");
    assert!(shown.to_string().contains("variables cannot be used"), "{shown:#}");
    let place = pending();
    place.ok(&["set", "--task", "1", "a=1"]);
    damage(&place, "vars.json", "{");
    assert!(place.ok(&["set", "--task", "1", "b=2"]).err.contains("warning"));
    assert_eq!(set_aside(&place), ["{"]);
    place.drain();
    assert_eq!(place.status("1"), "completed");
}

#[test]
fn a_newer_format_is_refused_and_never_rewritten() {
    let place = pending();
    place.ok(&["set", "--task", "1", "a=1"]);
    damage(&place, "vars.json", "{\"v\":2,\"vars\":{}}");
    let before = place.snapshot();
    place.luzia(&["set", "--task", "1", "a=2"]).coded(65);
    place.luzia(&["get", "--task", "1"]).coded(65);
    place.assert_unchanged(&before, "a newer format");
}

#[test]
fn a_step_whose_record_is_damaged_is_not_run_again() {
    let place = Place::new();
    let text = "\"$LUZIA\" step one -- sh -c 'echo x >> $PLACE/effects'; test -e $PLACE/again";
    super::script(&place, &[], text);
    damage(&place, "step.one.json", "{");
    std::fs::write(place.path("again"), "").unwrap();
    place.ok(&["retry", "1"]);
    place.drain();
    assert_eq!(place.show("1")["exit_code"], 65);
    assert_eq!(std::fs::read_to_string(place.path("effects")).unwrap(), "x\n");
}

/// Whatever takes the place of a checkpoint, the one before it is read, and stays until a further one stands.
#[test]
fn a_damaged_checkpoint_is_set_aside_and_the_one_before_it_is_used() {
    let place = pending();
    let files = RealFiles::open_at(place.state().to_str().unwrap(), false).unwrap().unwrap();
    let store = Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses));
    let waits = |next: usize| Waits { start: 1, next, open: Some(OpenWait::default()), ..Waits::default() };
    let waiter = store.begin_wait(TaskId(1)).unwrap();
    store.write_waits(&waiter, &waits(1)).unwrap();
    store.write_waits(&waiter, &waits(2)).unwrap();
    let path = place.state().join("spool/steps/1/waits.json");
    let whole = std::fs::read(&path).unwrap();
    let cut = (0..whole.len()).map(|at| whole[..at].to_vec());
    let spoilt = (0..whole.len())
        .flat_map(|at| [0, 0xff, b'{', b'"'].map(|byte| [&whole[..at], &[byte], &whole[at + 1..]].concat()));
    let is_damaged = |bytes: &Vec<u8>| serde_json::from_slice::<Value>(bytes).is_err();
    let all: Vec<Vec<u8>> = cut.chain(spoilt).filter(is_damaged).collect();
    assert!(all.len() > 4 * whole.len());
    for bytes in &all {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(store.waits(TaskId(1)).unwrap(), waits(1), "{:?}", String::from_utf8_lossy(bytes));
    }
    std::fs::write(&path, &all[0]).unwrap();
    store.write_waits(&waiter, &waits(3)).unwrap();
    assert_eq!((store.waits(TaskId(1)).unwrap(), set_aside(&place).len()), (waits(3), 1));
    std::fs::write(&path, "{").unwrap();
    assert_eq!(store.waits(TaskId(1)).unwrap(), waits(1), "the last that read is still there");
}

#[test]
fn a_task_whose_checkpoint_is_damaged_goes_on_from_the_one_before() {
    let place = Place::new();
    let text = "\"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/effects'; \"$LUZIA\" await event:A --park; \
                \"$LUZIA\" await event:B --park; echo over";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text]);
    place.ok(&["dispatch"]);
    let is_parked = || {
        (place.state().join("spool/waiting/1.json").exists() && !place.state().join("run/task_1").exists())
            .then_some(())
    };
    until("it waits for A", is_parked);
    damage(&place, "waits.json", "{");
    place.ok(&["emit", "A", "--task", &id]);
    place.ok(&["emit", "B", "--task", &id]);
    until("it is over", || {
        place.ok(&["dispatch", "--once"]);
        place.ok(&["list"]);
        (place.status(&id) == "completed").then_some(())
    });
    assert_eq!(std::fs::read_to_string(place.path("effects")).unwrap(), "one\n");
    assert!(set_aside(&place).contains(&"{".to_owned()));
}

#[test]
fn a_task_without_any_checkpoint_that_reads_is_named_and_begins_anew() {
    let place = Place::new();
    let text = "\"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/effects'; test -e $PLACE/again || \"$LUZIA\" await response --park";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text]);
    place.ok(&["dispatch"]);
    until("it waits", || place.state().join("spool/waiting/1.json").exists().then_some(()));
    until("its run is over", || (!place.state().join("run/task_1").exists()).then_some(()));
    // The look that follows the end of a run.
    place.ok(&["dispatch", "--once"]);
    damage(&place, "waits.json", "{");
    damage(&place, "waits.json.before", "{");
    for told in [place.ok(&["explain", &id]).out, place.luzia(&["doctor"]).coded(1).err] {
        assert!(told.contains("cannot be read") && told.contains("luzia retry task_1 --from-start"), "{told}");
    }
    assert!(place.json(&["explain", &id])["wait"]["damage"].is_string());
    for verb in ["list", "list-locks", "status", "stats", "metrics"] {
        place.ok(&[verb]);
    }
    assert_eq!(place.json(&["list"])["items"][0]["status"], "waiting");
    assert_eq!(place.show(&id)["status"], "waiting");
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    place.until_status(&id, "failed");
    place.ok(&["retry", &id]);
    place.drain();
    assert_eq!(place.status(&id), "failed", "what it waits for is not forgotten unasked");
    assert!(place.luzia(&["logs", &id]).out.contains("luzia retry task_1 --from-start"));
    std::fs::write(place.path("again"), "").unwrap();
    place.ok(&["retry", &id, "--from-start"]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
    assert_eq!(std::fs::read_to_string(place.path("effects")).unwrap(), "one\none\n");
}
