//! The words of the scheduler about a task that it has granted: new grants, its end, and numbers for its children.

use super::*;
use luzia::app::granted::{give_numbers, posted, renew_grants, unposted_ends};
use serde_json::json;

fn id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

#[test]
fn a_task_whose_grant_is_used_up_starts_when_it_is_renewed() {
    let agent = Agent::new();
    agent.lease(LONG_MS);
    let first = agent.task(1, "alice", "true");
    agent.place.ok(&["lock", "-u", "alice", "--", "true"]);
    let next = agent.task(1, "alice", "true").terms.granted.unwrap();
    // The local lock came between.
    let mut used = first.clone();
    used.terms.granted.iter_mut().for_each(|granted| granted.slots[0].fence = Fence(9));
    let text = agent.accept(&used);
    agent.place.ok(&["dispatch", "--once"]);
    assert_eq!(agent.reasons(&text), ["NoGrant"]);
    assert!(renew_grants(&agent.app, id(&text), Word(5), next.clone()).is_err(), "the word of another assignment");
    assert!(renew_grants(&agent.app, id(&text), Word(1), next).unwrap());
    agent.place.ok(&["dispatch", "--once"]);
    agent.place.until_status(&text, "completed");
}

#[test]
fn a_task_that_waited_goes_on_with_the_lanes_that_it_kept_or_with_new_grants() {
    for kept in [true, false] {
        let agent = Agent::at(Place::configured(&json!({ "lanes": { "emu": { "max": 5 } } })));
        agent.lease(LONG_MS);
        let emu = LaneName::parse("emu").unwrap();
        let script = "\"$LUZIA\" await event:GO --park --timeout 1h || exit $?; echo $LUZIA_FENCE >$PLACE/on";
        let mut task = agent.task(1, "alice", script);
        task.env = task
            .env
            .iter()
            .cloned()
            .chain([(b"LUZIA".to_vec(), crate::support::LUZIA.into())])
            .collect::<Vec<_>>()
            .into();
        if !kept {
            task.lanes = vec![emu.clone()];
            task.terms.granted.iter_mut().for_each(|granted| granted.slots.push(slot(&emu, 2, fence_now())));
        }
        let text = agent.accept(&task);
        agent.place.ok(&["dispatch", "--once"]);
        let place = || agent.app.store.place_of(id(&text)).unwrap();
        until("the task is parked", || (place() == Some(luzia::store::Place::Waiting)).then_some(()));
        agent.place.ok(&["emit", "GO", "--task", &text]);
        agent.place.ok(&["dispatch", "--once"]);
        if !kept {
            assert_eq!(agent.place.status(&text), "waiting");
            let mut granted = task.terms.granted.clone().unwrap();
            granted.slots[1].fence = Fence(fence_now());
            until("the task is at rest", || {
                renew_grants(&agent.app, id(&text), Word(1), granted.clone()).unwrap().then_some(())
            });
            agent.place.ok(&["dispatch", "--once"]);
        }
        agent.place.until_status(&text, "completed");
        assert!(agent.place.until_file("on").parse::<u64>().is_ok());
    }
}

#[test]
fn an_end_stays_until_the_scheduler_knows_it() {
    let keep = json!({ "retention": { "tasks": 1 } });
    let agent = Agent::at(Place::configured(&keep));
    agent.lease(LONG_MS);
    let text = agent.accept(&agent.task(1, "alice", "true"));
    agent.place.ok(&["dispatch", "--once"]);
    agent.place.until_status(&text, "completed");
    let ends = || unposted_ends(&agent.app).unwrap().into_iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ends(), std::slice::from_ref(&text));
    // Its supervisor keeps it from being removed, too.
    until("its supervisor is gone", || (!agent.app.run_dir.is_supervised(id(&text)).unwrap()).then_some(()));
    let day = agent.app.store.done_days().unwrap().remove(0).0;
    assert!(agent.app.store.prune_day(&day, 9).unwrap().is_empty());
    posted(&agent.app, id(&text), Word(1)).unwrap();
    assert!(ends().is_empty());
    assert_eq!(agent.app.store.prune_day(&day, 9).unwrap(), [id(&text)]);
    assert!(!agent.place.state().join("spool/posted").join(id(&text).0.to_string()).exists());
}

#[test]
fn a_child_of_a_granted_task_has_a_number_of_the_scheduler_and_ends_with_the_lease() {
    let agent = Agent::new();
    agent.lease(LONG_MS);
    let enqueue = "\"$LUZIA\" enqueue -u bob -- sleep 600 >>$PLACE/child 2>&1";
    let script =
        format!("{enqueue}; echo $? >>$PLACE/codes; read x <$PLACE/go; {enqueue}; echo $? >>$PLACE/codes; sleep 600");
    agent.place.gate("go");
    let mut task = agent.task(1, "alice", &script);
    let state = (b"LUZIA".to_vec(), crate::support::LUZIA.into());
    task.env = task.env.iter().cloned().chain([state]).collect::<Vec<_>>().into();
    let parent = agent.accept(&task);
    agent.place.ok(&["dispatch", "--once"]);
    assert_eq!(agent.place.until_file("codes"), "2", "the scheduler has given no number");
    give_numbers(&agent.app, TaskId(FIRST_GRANTED.0 + 70), 2).unwrap();
    agent.place.open_gate("go");
    let child = format!("task_{}", FIRST_GRANTED.0 + 70);
    until("both children were asked for", || {
        (crate::support::lines(&agent.place.path("codes")) == ["2", "0"]).then_some(())
    });
    agent.place.ok(&["dispatch", "--once"]);
    let is_running = || agent.app.store.place_of(id(&child)).unwrap() == Some(luzia::store::Place::Running);
    until("the child runs", || is_running().then_some(()));
    let shown = agent.place.show(&child);
    assert_eq!(shown["parent"], json!(parent), "{shown}");
    let end = agent.lease(6000);
    let dead = agent.until_dead();
    assert!(dead <= end, "{} ms after the end", dead - end);
    for id in [parent, child] {
        agent.place.until_status(&id, "failed");
        assert!(agent.summary(&id).ends_with("(HostCutOff)"), "{}", agent.summary(&id));
    }
}
