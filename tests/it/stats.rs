//! `luzia stats`: equal to what is computed here, by another way, from `luzia events -o jsonl`.

use crate::support::{Place, processes_in, until};
use luzia::model::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn events(place: &Place) -> Vec<Value> {
    let out = place.ok(&["events", "-o", "jsonl"]).out;
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn at(event: &Value) -> i64 {
    Timestamp::parse(event["at"].as_str().unwrap()).unwrap().0
}

/// The nearest rank, by counting.
fn percentile(lengths: &[i64], percent: usize) -> i64 {
    let enough = |limit: &i64| lengths.iter().filter(|one| *one <= limit).count() * 100 >= percent * lengths.len();
    lengths.iter().copied().filter(enough).min().unwrap_or(0)
}

fn spread(lengths: &[i64]) -> Value {
    json!({
        "count": lengths.len(),
        "p50_ms": percentile(lengths, 50),
        "p95_ms": percentile(lengths, 95),
        "max_ms": percentile(lengths, 100),
    })
}

/// One hold of a lane: who, since when it was asked for, when it was given, and when it was given back.
#[derive(Debug)]
struct Hold {
    asked: i64,
    from: i64,
    to: Option<i64>,
}

/// The holds of each lane, looked up event by event: a holder of a lane is followed to the event that gave it back.
fn holds(all: &[Value]) -> BTreeMap<String, Vec<Hold>> {
    let mut found: BTreeMap<String, Vec<Hold>> = BTreeMap::new();
    let is_asking = |event: &Value| ["enqueued", "requeued", "retried"].iter().any(|kind| event["kind"] == *kind);
    for (place, event) in all.iter().enumerate() {
        let later = |ends: &dyn Fn(&Value) -> bool| all[place..].iter().find(|event| ends(event)).map(at);
        if event["kind"] == "locked" {
            let task = &event["task"];
            let asked = all[..place].iter().rev().find(|other| other["task"] == *task && is_asking(other)).unwrap();
            let to = later(&|other| other["kind"] == "released" && other["task"] == *task);
            for lane in event["data"]["lanes"].as_array().unwrap() {
                let hold = Hold { asked: at(asked), from: at(event), to };
                found.entry(lane.as_str().unwrap().to_owned()).or_default().push(hold);
            }
        } else if event["kind"] == "lock_acquired" {
            let id = &event["data"]["lock_id"];
            let is_end = |kind: &Value| kind == "lock_released" || kind == "lock_broken";
            let to = later(&|other| is_end(&other["kind"]) && other["data"]["lock_id"] == *id);
            let asked = at(event) - event["data"]["waited_ms"].as_i64().unwrap();
            let lane = event["lane"].as_str().unwrap().to_owned();
            found.entry(lane).or_default().push(Hold { asked, from: at(event), to });
        }
    }
    found
}

/// What `stats locks --json` should say of a lane of limit 1.
fn expected(lane: &str, holds: &[Hold]) -> Value {
    let waits: Vec<i64> = holds.iter().map(|hold| (hold.from - hold.asked).max(0)).collect();
    let held: Vec<i64> = holds.iter().filter_map(|hold| hold.to.map(|to| to - hold.from)).collect();
    // Somebody else gave it back after it was asked for, and before it was given.
    let is_contended = |hold: &&Hold| {
        holds
            .iter()
            .any(|other| other.to.is_some_and(|to| to > hold.asked && to <= hold.from && other.from < hold.from))
    };
    let contended = holds.iter().filter(is_contended).count();
    let share = (contended * 10_000 / holds.len()) as f64 / 10_000.0;
    json!({
        "lane": lane,
        "grants": holds.len(),
        "waits": spread(&waits),
        "holds": spread(&held),
        "contended": contended,
        "contended_share": share,
    })
}

fn busy() -> Place {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    for (user, command) in
        [("alice", "sleep 0.05"), ("alice", "true"), ("bob", "sleep 0.02; exit 2"), ("alice", "true")]
    {
        place.enqueue(&["-u", user, "--thread", "7", "--shell", command]);
    }
    place.drain();
    place.ok(&["retry", "3"]);
    place.drain();
    let script = "until [ -e $PLACE/waited ]; do sleep 0.01; done; sleep 0.3";
    let mut first = place.start(&["lock", "-u", "dave", "--", "sh", "-c", script]);
    until("the lane is held", || place.lock("user_dave.lock").exists().then_some(()));
    let second = place.start(&["lock", "-u", "dave", "--", "true"]);
    until("another one waits", || std::fs::read_dir(place.lock(".user_dave.line")).ok()?.next().map(drop));
    std::fs::write(place.path("waited"), "").unwrap();
    second.end().coded(0);
    until("the first has ended", || first.is_over().then_some(()));
    place
}

#[test]
fn locks_are_what_the_events_say() {
    let place = busy();
    let document = place.json(&["stats", "locks"]);
    assert_eq!((&document["schema"], &document["topic"]), (&"luzia.stats/v1".into(), &"locks".into()));
    let items = document["items"].as_array().unwrap();
    let found = holds(&events(&place));
    assert_eq!(items.len(), found.len(), "{items:?}");
    for item in items {
        let lane = item["lane"].as_str().unwrap();
        assert_eq!(*item, expected(lane, &found[lane]), "{lane}: {:#?}", found[lane]);
    }
    let dave = items.iter().find(|item| item["lane"] == "user:dave").unwrap();
    assert_eq!((&dave["contended"], &dave["grants"]), (&1.into(), &2.into()));
    assert!(dave["holds"]["max_ms"].as_u64().unwrap() >= 290, "{dave}");
    let table = place.ok(&["stats"]).out;
    assert!(table.contains("CONTENDED") && table.contains("user:dave") && table.contains("50 %"), "{table}");
    assert_eq!(place.ok(&["stats", "-o", "jsonl"]).out.lines().count(), items.len());
}

#[test]
fn what_was_before_the_moment_does_not_count() {
    let place = busy();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let all = events(&place);
    // Two processes may write in another order than that of their times.
    let last = Timestamp(all.iter().map(at).max().unwrap() + 1);
    place.ok(&["lock", "-u", "erin", "--", "true"]);
    let items = place.json(&["stats", "--since", &last.to_string()])["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 1, "{items}");
    assert_eq!((&items[0]["lane"], &items[0]["grants"]), (&"user:erin".into(), &1.into()));
    let document = place.json(&["stats", "--since", "1h"]);
    assert!(Timestamp::parse(document["since"].as_str().unwrap()).is_some());
    assert!(document["items"].as_array().unwrap().len() > 3);
}

#[test]
fn lanes_tell_of_their_depth_and_holders_now_and_at_most() {
    let place = Place::configured(&json!({ "lanes": { "build": { "max": 2 } } }));
    for _ in 0..3 {
        place.enqueue(&["-u", "alice", "-l", "build", "--", "true"]);
    }
    place.ok(&["dispatch", "--once"]);
    place.until_status("3", "completed");
    until("the supervisors have made their last pass", || processes_in(&place.state()).is_empty().then_some(()));
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["acquire", "lane:build", "--task", "me", "--ttl", "1h"]);
    let items = place.json(&["stats", "lanes"])["items"].clone();
    let of = |lane: &str| items.as_array().unwrap().iter().find(|item| item["lane"] == lane).cloned().unwrap();
    assert_eq!(
        of("build"),
        json!({ "lane": "build", "limit": 2, "depth": 0, "depth_max": 3, "active": 1, "active_max": 1 })
    );
    let alice = of("user:alice");
    assert_eq!((&alice["depth"], &alice["depth_max"], &alice["active"]), (&1.into(), &3.into(), &0.into()));
    assert!(place.ok(&["stats", "lanes"]).out.contains("build"));
}

#[test]
fn tasks_are_counted_by_state_with_their_mean_age_and_their_times() {
    let place = busy();
    place.enqueue(&["-u", "a", "--in", "1h", "--", "true"]);
    place.enqueue(&["-u", "a", "--in", "1h", "--", "true"]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let document = place.json(&["stats", "--by", "status"]);
    let of = |status: &str| {
        let items = document["items"].as_array().unwrap();
        items.iter().find(|item| item["status"] == status).cloned().unwrap()
    };
    assert_eq!(of("pending")["count"], 2);
    assert!((0.02..60.0).contains(&of("pending")["avg_age_seconds"].as_f64().unwrap()), "{document}");
    assert_eq!((&of("running")["count"], &of("waiting")["count"]), (&0.into(), &0.into()));
    // Each end counts, also that of a task that was retried after it.
    let all = events(&place);
    let ended = |status: &str| -> Vec<&Value> {
        all.iter().filter(|event| event["kind"] == "finished" && event["data"]["status"] == status).collect()
    };
    for status in ["completed", "failed"] {
        let ends = ended(status);
        let runs: Vec<i64> = ends.iter().map(|event| event["data"]["ran_ms"].as_i64().unwrap()).collect();
        assert_eq!((&of(status)["count"], &of(status)["runs"]), (&ends.len().into(), &spread(&runs)), "{status}");
        assert_eq!(of(status)["waits"]["count"], ends.len());
    }
    assert_eq!((ended("completed").len(), ended("failed").len()), (3, 2));
    assert_eq!(document["items"], place.json(&["stats", "tasks"])["items"].clone().with_age_of(&document["items"]));
    place.luzia(&["stats", "tasks", "--by", "status"]).coded(2);
    place.luzia(&["stats", "nonsense"]).coded(2);
    place.luzia(&["stats", "--since", "nonsense"]).coded(2);
}

/// Ages go on while a test looks twice.
trait WithAge {
    fn with_age_of(self, other: &Value) -> Value;
}

impl WithAge for Value {
    fn with_age_of(mut self, other: &Value) -> Value {
        for (item, of) in self.as_array_mut().unwrap().iter_mut().zip(other.as_array().unwrap()) {
            if let Some(age) = of.get("avg_age_seconds") {
                item["avg_age_seconds"] = age.clone();
            }
        }
        self
    }
}

#[test]
fn nothing_has_happened_in_a_state_directory_that_is_not_there() {
    let place = Place::new();
    assert_eq!(place.json(&["stats", "locks"])["items"], json!([]));
    assert_eq!(place.json(&["stats", "tasks"])["requeued"], 0);
}
