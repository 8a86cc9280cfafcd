//! Slots with names (agents.md, section 5).

use super::{locked, reason, running, why};
use crate::support::{Place, until, with};
use serde_json::json;
use std::net::TcpListener;

fn emulators() -> Place {
    let place = Place::new();
    place.ok(&["lanes", "set", "resource:emu", "--values", "emulator-5556,emulator-5558"]);
    place
}

#[test]
fn each_holder_has_a_value_of_its_own_and_finds_it_everywhere() {
    let place = emulators();
    let mut lock = locked(&place, "one", "resource:emu", "echo $LUZIA_SLOT_EMU >$PLACE/one");
    let id = running(&place, "alice", "resource:emu", "echo $LUZIA_SLOT_EMU >$PLACE/two");
    assert_eq!((place.until_file("one"), place.until_file("two")), ("emulator-5556".into(), "emulator-5558".into()));
    assert!(place.lock("resource_emu.lock").exists() && place.lock("resource_emu@1.lock").exists());
    assert_eq!(place.show(&id)["slots"], json!({ "resource:emu": "emulator-5558" }));
    assert!(place.ok(&["show", &id]).out.contains("emulator-5558"));
    let locks = place.json(&["list-locks"])["items"].clone();
    assert_eq!(with(&locks, "value", "emulator-5558")[0]["task_id"], id);
    let third = place.enqueue(&["-u", "bob", "-l", "resource:emu", "--", "true"]);
    place.ok(&["dispatch"]);
    assert_eq!(reason(&place, &third), "LaneFull");
    let slots = place.json(&["lanes", "show", "resource:emu"])["slots"].clone();
    assert_eq!((slots[0]["value"].as_str(), slots[1]["slot"].as_u64()), (Some("emulator-5556"), Some(1)));
    place.luzia(&["acquire", "resource:emu", "--task", "me"]).coded(75);
    place.open_gate("gate.one");
    super::is_over_soon(&mut lock);
    place.ok(&["dispatch"]);
    place.until_status(&third, "completed");
    assert_eq!(place.show(&third)["slots"], json!({ "resource:emu": "emulator-5556" }), "also when it is over");
    let lease = place.json(&["acquire", "resource:emu", "--task", "me"]);
    assert_eq!((&lease["value"], &lease["acquired"]), (&json!("emulator-5556"), &json!(true)));
    assert_eq!(place.json(&["acquire", "resource:emu", "--task", "me"])["value"], "emulator-5556", "a refresh");
    place.open_gate("gate.alice");
    place.until_status(&id, "completed");
}

#[test]
fn a_value_that_is_removed_goes_with_its_holder_and_nobody_new_gets_it() {
    let place = emulators();
    let id = running(&place, "alice", "resource:emu", "true");
    place.ok(&["lanes", "set", "resource:emu", "--values", "emulator-5558,emulator-5560,emulator-5562"]);
    let lease = |name: &str| place.json(&["acquire", "resource:emu", "--task", name])["value"].clone();
    assert_eq!(lease("one"), "emulator-5558", "its slot is held for another value");
    assert!(place.lock("resource_emu@3.lock").exists());
    assert_eq!(lease("two"), "emulator-5560");
    // The holder of the removed value counts until it ends, as after a lower limit.
    place.luzia(&["acquire", "resource:emu", "--task", "three"]).coded(75);
    let slots = place.json(&["lanes", "show", "resource:emu"])["slots"].clone();
    assert_eq!(with(&slots, "value", "emulator-5556")[0]["drained"], true, "{slots}");
    assert_eq!(place.show(&id)["slots"]["resource:emu"], "emulator-5556");
    place.open_gate("gate.alice");
    place.until_status(&id, "completed");
    assert_eq!(lease("three"), "emulator-5562");
}

#[test]
fn a_child_that_borrows_a_slot_has_the_value_of_its_parent() {
    let place = emulators();
    let script = "$LUZIA run -l resource:emu --parent self -- sh -c 'echo $LUZIA_SLOT_EMU >$PLACE/child'";
    let id = place.enqueue(&["-u", "alice", "-l", "resource:emu", "--", "sh", "-c", script]);
    place.drain();
    assert_eq!((place.until_file("child"), place.status(&id)), ("emulator-5556".into(), "completed".into()));
}

#[test]
fn a_lost_sidecar_is_written_again_with_its_value() {
    let place = emulators();
    place.ok(&["lanes", "set", "resource:emu", "--lock-timeout", "300ms"]);
    let mut lock = locked(&place, "one", "resource:emu", "true");
    std::fs::remove_file(place.lock("resource_emu.json")).unwrap();
    until("the holder writes it again", || {
        let text = std::fs::read_to_string(place.lock("resource_emu.json")).ok()?;
        text.contains("\"value\":\"emulator-5556\"").then_some(())
    });
    place.open_gate("gate.one");
    super::is_over_soon(&mut lock);
}

/// So many ports in a row on which a test listens, and a lane of them.
fn ports(place: &Place, count: u16) -> (u16, Vec<TcpListener>) {
    until("ports in a row", || {
        let first = TcpListener::bind(("127.0.0.1", 0)).ok()?;
        let from = first.local_addr().ok()?.port();
        let rest = (1..count).map(|n| TcpListener::bind(("127.0.0.1", from.checked_add(n)?)).ok());
        let all: Vec<TcpListener> = std::iter::once(Some(first)).chain(rest).collect::<Option<_>>()?;
        let range = format!("{from}-{}", from + count - 1);
        place.ok(&["lanes", "set", "port", "--range", &range]);
        Some((from, all))
    })
}

#[test]
fn a_port_that_a_stranger_uses_is_skipped_and_tried_again_without_any_call() {
    let place = Place::new();
    let (from, mut listeners) = ports(&place, 2);
    let me = u64::from(std::process::id());
    let slots = place.json(&["lanes", "show", "port"])["slots"].clone();
    assert_eq!((slots[0]["in_use"].as_bool(), slots[1]["in_use_by_pid"].as_u64()), (Some(true), Some(me)));
    let refused = place.luzia(&["lock", "-l", "port", "-n", "--", "true"]).coded(75);
    assert!(refused.err.contains(&format!("{from} is in use by process {me}, and 1 more")), "{}", refused.err);
    let run = place.start(&["run", "-u", "alice", "-l", "port", "--", "sh", "-c", "echo $LUZIA_SLOT_PORT >$PLACE/got"]);
    let lock = place.start(&["lock", "-l", "port", "--", "sh", "-c", "echo $LUZIA_SLOT_PORT >$PLACE/locked"]);
    until("the reason", || {
        let why = why(&place, "task_1");
        let value = from.to_string();
        (why["reason"] == "SlotOccupied" && why["value"] == value.as_str() && why["pid"] == me).then_some(())
    });
    // Nothing in the state directory changes by this.
    drop(listeners.remove(1));
    run.end().coded(0);
    lock.end().coded(0);
    assert_eq!([place.until_file("got"), place.until_file("locked")], [(from + 1).to_string(), (from + 1).to_string()]);
}

#[test]
fn what_cannot_be_meant_changes_nothing() {
    let place = emulators();
    place.ok(&["lanes", "set", "port", "--range", "4000-4099"]);
    let before = place.snapshot();
    for words in [
        &["x", "--values", ""][..],
        &["x", "--values", "a,,b"],
        &["x", "--values", "a,b,a"],
        &["x", "--values", "a", "--range", "5-6"],
        &["x:*", "--values", "a"],
        &["global", "--values", "a"],
        &["user:alice", "--values", "a"],
        &["x", "--range", "5-4"],
        &["x", "--range", "0-4"],
        &["x", "--range", "1-65536"],
        &["x", "--range", "1-2000"],
        &["x", "--range", "4099-4100"],
        &["x", "--hold-while", ""],
        &["x", "--hold-while", "lode>1"],
        &["x", "--hold-while", "load>1.0..1.5"],
        &["x", "--cpu-budget", "0"],
        &["x", "--cpu-budget", "many"],
        &["x", "--affinity"],
        &["x", "--cpu-budget", "2", "--affinity", "maybe"],
    ] {
        let ran = place.luzia(&[&["lanes", "set"], words].concat()).coded(2);
        assert!(ran.err.starts_with("luzia: ") || ran.err.starts_with("error: "), "{words:?}: {}", ran.err);
        place.assert_unchanged(&before, &words.join(" "));
    }
    let overlap = json!({ "v": 1, "lanes": { "port": { "range": "4000-4010" }, "web": { "range": "4010-4020" } } });
    std::fs::write(place.path("wrong.json"), overlap.to_string()).unwrap();
    let refused = place.luzia(&["config", "check", "--config", &place.text("wrong.json")]).coded(78);
    assert!(refused.err.contains("4010-4010") || refused.out.contains("4010-4010"), "{refused:?}");
    place.ok(&["lanes", "set", "port", "--range", "4050-4150"]);
    place.ok(&["lanes", "set", "resource:emu", "--range", "4200-4201"]);
    assert_eq!(place.json(&["lanes", "show", "resource:emu"])["values"], json!(null), "the range is in their stead");
}
