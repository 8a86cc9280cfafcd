//! The claim of a granted task: exactly its slots with exactly its fences, or none.

use super::*;
use serde_json::json;

#[test]
fn a_granted_task_takes_its_slots_and_its_command_sees_their_fences() {
    let agent = Agent::at(Place::configured(&json!({ "lanes": { "emu": { "max": 5 } } })));
    agent.lease(LONG_MS);
    let emu = LaneName::parse("emu").unwrap();
    let mut task = agent.task(1, "alice", "echo $LUZIA_FENCE $LUZIA_TASK_ID >\"$PLACE/seen\"");
    // The clock of the scheduler is an hour ahead.
    let fence = fence_now() + 3_600_000_000;
    task.lanes = vec![emu.clone()];
    if let Some(granted) = &mut task.terms.granted {
        granted.slots = vec![slot(&LaneName::user(&task.user), 0, fence), slot(&emu, 3, fence + 5)];
    }
    let id = agent.accept(&task);
    assert_eq!(accept_granted(&agent.app, &task).unwrap(), Taken::Known(luzia::store::Place::Pending), "a repetition");
    agent.place.ok(&["dispatch", "--once"]);
    assert_eq!(agent.place.until_file("seen"), format!("{fence} {id}"));
    agent.place.until_status(&id, "completed");
    let locked = agent.place.events_named("locked").remove(0)["data"].clone();
    assert_eq!((&locked["fences"][0], &locked["fences"][1]), (&json!(fence), &json!(fence + 5)), "{locked}");
    assert_eq!((&locked["slots"][0], &locked["slots"][1]), (&json!(0), &json!(3)), "{locked}");
    let known = accept_granted(&agent.app, &task).unwrap();
    assert_eq!(known, Taken::Known(luzia::store::Place::Done), "a repetition after the end starts nothing");
    // The fences of this host go on above those of the grants.
    agent.place.ok(&["lock", "-u", "alice", "--", "sh", "-c", "echo $LUZIA_FENCE >\"$PLACE/after\""]);
    assert!(agent.place.until_file("after").parse::<u64>().unwrap() > fence);
    let own = agent.place.enqueue(&["-u", "alice", "--", "true"]);
    assert_eq!(own, "task_1", "the numbers of this host stay below those of the scheduler");
}

#[test]
fn a_local_task_of_a_granted_lane_excludes_it_and_the_other_way_round() {
    let agent = Agent::new();
    agent.lease(LONG_MS);
    let script = format!("read x <'{}'", agent.place.gate("local"));
    let local = agent.place.enqueue(&["-u", "alice", "--shell", &script]);
    agent.place.ok(&["dispatch", "--once"]);
    agent.place.until_status(&local, "running");
    let script = format!("read x <'{}'", agent.place.gate("granted"));
    let granted = agent.accept(&agent.task(1, "alice", &script));
    agent.place.ok(&["dispatch", "--once"]);
    assert_eq!(agent.place.status(&granted), "pending");
    agent.place.open_gate("local");
    agent.place.until_status(&granted, "running");
    let second = agent.place.enqueue(&["-u", "alice", "--", "true"]);
    agent.place.ok(&["dispatch", "--once"]);
    assert_eq!(agent.place.status(&second), "pending");
    agent.place.open_gate("granted");
    agent.place.until_status(&second, "completed");
    assert_eq!(agent.place.status(&granted), "completed");
}

#[test]
fn a_grant_below_the_last_fence_of_this_host_and_a_missing_lease_start_nothing() {
    let agent = Agent::new();
    let early = agent.task(1, "alice", "true");
    agent.place.ok(&["lock", "-u", "alice", "--", "true"]);
    let early = agent.accept(&early);
    agent.place.ok(&["dispatch", "--once"]);
    assert_eq!(agent.reasons(&early), ["NoGrant"], "without a lease");
    agent.lease(LONG_MS);
    agent.place.ok(&["dispatch", "--once"]);
    assert_eq!((agent.reasons(&early), agent.place.status(&early)), (vec!["NoGrant".into()], "pending".into()));
    // It keeps no other task of the same user back.
    let late = agent.accept(&agent.task(2, "alice", "true"));
    agent.place.ok(&["dispatch", "--once"]);
    agent.place.until_status(&late, "completed");
    let other = Task { id: TaskId(FIRST_GRANTED.0 + 2), ..agent.task(3, "bob", "true") };
    assert_eq!(accept_granted(&agent.app, &other).unwrap(), Taken::Other, "another assignment of a known number");
}

#[test]
fn grants_that_no_claim_could_take_are_refused() {
    let agent = Agent::new();
    let good = agent.task(1, "alice", "true");
    let bad = |change: &dyn Fn(&mut Granted)| {
        let mut task = good.clone();
        task.terms.granted.iter_mut().for_each(change);
        accept_granted(&agent.app, &task).is_err()
    };
    assert!(bad(&|granted| granted.slots.push(granted.slots[0].clone())), "twice");
    assert!(bad(&|granted| granted.slots.push(slot(&LaneName::global(), 0, 9))), "the lane of all tasks of this host");
    assert!(bad(&|granted| granted.slots[0].lane = LaneName::parse("emu").unwrap()), "a lane that it does not take");
    assert!(bad(&|granted| granted.slots[0].slot = 1_000_000), "the slot of a loan");
    assert!(bad(&|granted| granted.slots[0].fence = Fence(u64::MAX)), "a fence behind which none is left");
    assert!(accept_granted(&agent.app, &Task { id: TaskId(1), ..good.clone() }).is_err(), "a number of this host");
    assert!(agent.app.store.find(good.id).unwrap().is_none(), "nothing was queued");
}

#[test]
fn the_record_of_a_granted_task_has_a_version_that_earlier_programs_leave_alone() {
    let agent = Agent::new();
    let task = agent.task(1, "alice", "true");
    let text = String::from_utf8(luzia::store::encode_task(&task).unwrap()).unwrap();
    assert!(text.starts_with("{\"v\":2,"), "{text}");
    assert_eq!(luzia::store::decode_task("x", text.as_bytes(), None).unwrap(), task);
    let without = text.replacen("\"granted\"", "\"unknown\"", 1);
    let read = luzia::store::decode_task("x", without.as_bytes(), None);
    assert!(matches!(read, Err(luzia::store::StoreError::Newer { version: 2, .. })), "{read:?}");
    let plain = text.replacen("{\"v\":2,", "{\"v\":1,", 1);
    assert!(luzia::store::decode_task("x", plain.as_bytes(), None).is_err());
}
