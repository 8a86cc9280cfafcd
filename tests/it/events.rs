//! `luzia events`: the log as lines, chosen, followed across segments and days, and as traces.

use crate::support::{Place, until};
use luzia::model::Timestamp;
use luzia::os::Clock;
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::store::{Event, SEGMENT_BYTES, Segment, Spool};
use serde_json::Value;
use std::fs;
use std::sync::Arc;

/// The lines of `events -o jsonl` with arguments.
fn lines(place: &Place, args: &[&str]) -> Vec<Value> {
    let ran = place.ok(&[&["events", "-o", "jsonl"], args].concat());
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["kind"].as_str().unwrap()).collect()
}

fn now() -> Timestamp {
    RealClock.now()
}

fn today() -> String {
    now().day()
}

/// Makes a segment as long as it may be, by events of a kind.
fn fill(place: &Place, name: &str) {
    let at = now();
    let line = |number: u64| format!("{{\"v\":1,\"at\":\"{at}\",\"event\":\"pruned\",\"boot_ms\":{number}}}\n");
    let text: String = (0..SEGMENT_BYTES / 60).map(line).collect();
    assert!(text.len() as u64 >= SEGMENT_BYTES);
    fs::create_dir_all(place.state().join("events")).unwrap();
    fs::write(place.state().join("events").join(name), text).unwrap();
}

#[test]
fn the_nine_steps_of_a_task_stand_in_their_order_and_the_user_lock_is_first_and_last() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--thread", "7", "--", "true"]);
    place.drain();
    let all = lines(&place, &[&id]);
    let nine = ["enqueued", "polled", "selected", "locked", "dispatched", "started", "ended", "released", "finished"];
    assert_eq!(kinds(&all), nine);
    let of = |kind: &str| all.iter().find(|line| line["kind"] == kind).unwrap()["data"].clone();
    assert_eq!(of("locked")["lanes"], serde_json::json!(["user:alice", "thread:7", "global"]));
    assert_eq!(of("released")["lanes"], serde_json::json!(["global", "thread:7", "user:alice"]));
    assert!(of("locked")["waited_ms"].is_u64(), "{}", of("locked"));
    assert_eq!((&of("finished")["status"], &of("ended")["exit_code"]), (&"completed".into(), &0.into()));
    for line in &all {
        let at = line["at"].as_str().unwrap();
        assert_eq!(Timestamp::parse(at).unwrap().to_string(), at, "RFC 3339 with milliseconds");
        assert_eq!(line["task"], id);
    }
    let said: Vec<&str> = all.iter().filter_map(|line| line["message"].as_str()).collect();
    let number = id.strip_prefix("task_").unwrap();
    assert_eq!(
        said,
        [
            format!("Starting execution {number}").as_str(),
            "Loading agent configuration...",
            &format!("Execution {number} completed with result: success"),
            &format!("[AgentGraph] Released locks on 1 thread(s) for execution {number}"),
        ]
    );
}

#[test]
fn the_end_of_a_child_is_told_between_its_end_and_its_locks() {
    let place = Place::new();
    place.gate("gate");
    // Its parent runs until the child is over: the mailbox of a finished task takes nothing.
    place.enqueue(&["-u", "a", "--", "sh", "-c", "\"$LUZIA\" enqueue -u b -- true; read _ < $PLACE/gate"]);
    place.ok(&["dispatch"]);
    until("the child is queued", || place.luzia(&["show", "task_2"]).code.eq(&0).then_some(()));
    place.ok(&["dispatch"]);
    until("the mailbox has the end of the child", || {
        kinds(&lines(&place, &["task_2"])).contains(&"emitted").then_some(())
    });
    place.open_gate("gate");
    place.drain();
    let child = lines(&place, &["task_2"]);
    let after: Vec<&str> = kinds(&child).into_iter().skip_while(|kind| *kind != "ended").collect();
    assert_eq!(after, ["ended", "agent_completed", "released", "emitted", "finished"]);
    let told = child.iter().find(|line| line["kind"] == "agent_completed").unwrap();
    assert_eq!(
        (&told["message"], &told["data"]["parent"]),
        (&"Emitting AGENT_COMPLETED event".into(), &"task_1".into())
    );
    assert_eq!(child[0]["data"]["parent"], "task_1");
}

#[test]
fn events_of_a_lane_tell_whether_tasks_started_in_the_order_in_which_they_came() {
    let place = Place::new();
    for _ in 0..4 {
        place.enqueue(&["-l", "thread:7", "--", "true"]);
        place.enqueue(&["-u", "other", "--", "true"]);
    }
    place.drain();
    let all = lines(&place, &["--lane", "thread:7"]);
    let of = |kind: &str| -> Vec<&Value> {
        all.iter().filter(|line| line["kind"] == kind).map(|line| &line["task"]).collect()
    };
    assert_eq!(of("enqueued"), ["task_1", "task_3", "task_5", "task_7"]);
    assert_eq!(of("started"), of("enqueued"));
}

#[test]
fn events_are_chosen_by_task_user_lane_kind_and_time() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.enqueue(&["-u", "bob", "--shell", "exit 3"]);
    place.drain();
    place.ok(&["lock", "-u", "alice", "--", "true"]);
    assert_eq!(
        kinds(&lines(&place, &["--user", "bob", "--kind", "finished", "--kind", "enqueued"])),
        ["enqueued", "finished"]
    );
    let alice = lines(&place, &["--user", "alice"]);
    assert!(kinds(&alice).ends_with(&["lock_acquired", "lock_released"]), "{alice:?}");
    assert!(alice.iter().all(|line| line["user"] == "alice"));
    assert_eq!(lines(&place, &["--since", "2100-01-01T00:00:00Z"]), Vec::<Value>::new());
    assert_eq!(lines(&place, &["--since", "1h"]).len(), lines(&place, &[]).len());
    assert_eq!(lines(&place, &["--task", "2"]), lines(&place, &["task_2"]));
    let document = place.json(&["events", "2"]);
    assert_eq!(document["schema"], "luzia.events/v1");
    assert_eq!(document["items"], Value::from(lines(&place, &["2"])));
    let shown = place.ok(&["events", "2", "--kind", "ended"]).out;
    assert!(shown.contains("ended") && shown.contains("exit_code=3") && shown.lines().count() == 1, "{shown}");
}

#[test]
fn mine_is_what_this_account_or_this_session_asked_for() {
    let place = Place::new();
    place.enqueue(&["--", "true"]);
    place.enqueue(&["-u", "somebody-else", "--", "true"]);
    let mut of_agent = place.command(&["enqueue", "-u", "c", "--", "true"]);
    place.spawn(of_agent.env("LUZIA_AGENT", "codex").env("LUZIA_SESSION", "s1")).end().coded(0);
    let mine = |session: Option<&str>| {
        let mut command = place.command(&["events", "--mine", "--kind", "enqueued", "-o", "jsonl"]);
        if let Some(session) = session {
            command.env("LUZIA_AGENT", "codex").env("LUZIA_SESSION", session);
        }
        let out = place.spawn(&mut command).end().coded(0).out;
        let task = |line: &str| serde_json::from_str::<Value>(line).unwrap()["task"].as_str().unwrap().to_owned();
        out.lines().map(task).collect::<Vec<_>>()
    };
    assert_eq!(mine(None), ["task_1"]);
    assert_eq!(mine(Some("s1")), ["task_3"]);
    assert_eq!(mine(Some("s2")), Vec::<String>::new());
}

#[test]
fn a_follower_goes_on_across_segments_and_ends_with_the_tasks_it_was_given() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--", "true"]);
    let day = today();
    let first = format!("{day}.jsonl");
    let follower = place.start(&["events", "-f", &id, "-o", "jsonl"]);
    until("the follower has begun", || follower.out().contains("enqueued").then_some(()));
    // The first segment becomes full under the follower, so that what comes is written to the next ones.
    let path = place.state().join("events").join(&first);
    let begin = fs::read_to_string(&path).unwrap();
    fill(&place, "filled");
    let filled = fs::read_to_string(place.state().join("events/filled")).unwrap();
    fs::write(&path, begin + &filled).unwrap();
    fs::remove_file(place.state().join("events/filled")).unwrap();
    fill(&place, &format!("{day}.2.jsonl"));
    place.drain();
    let third = fs::read_to_string(place.state().join(format!("events/{day}.3.jsonl"))).unwrap();
    assert!(third.contains("\"finished\""), "writers go on to a third segment");
    let told = follower.end().coded(0).out;
    let kinds: Vec<String> = told
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.first().map(String::as_str), Some("enqueued"));
    assert_eq!(kinds.iter().filter(|kind| *kind == "enqueued").count(), 1);
    assert!(kinds.ends_with(&["released".to_owned(), "finished".to_owned()]), "{kinds:?}");
    assert_eq!(lines(&place, &[&id]).len(), kinds.len(), "the whole log says the same");
}

fn store(dir: &tempfile::TempDir) -> Spool {
    let files = RealFiles::open_at(dir.path().to_str().unwrap(), false).unwrap().unwrap();
    Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses))
}

#[test]
fn a_segment_is_no_longer_than_its_limit_and_one_write() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("events")).unwrap();
    let (one, other) = (store(&dir), store(&dir));
    let event = || Event::new("pruned").saying("x".repeat(1024 * 1024));
    for _ in 0..20 {
        one.note(&event());
        other.note(&event());
    }
    let segments = one.event_segments().unwrap();
    assert_eq!(segments.len(), 3, "{segments:?}");
    for segment in &segments {
        let size = fs::metadata(dir.path().join("events").join(segment.to_string())).unwrap().len();
        assert!(size < SEGMENT_BYTES + 2 * 1024 * 1024, "{segment}: {size}");
    }
    assert_eq!(one.events_since(Timestamp(0)).unwrap().len(), 40);
}

#[test]
fn of_too_many_events_the_oldest_segments_go_and_writers_find_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let events = dir.path().join("events");
    fs::create_dir(&events).unwrap();
    fs::create_dir_all(dir.path().join("spool/tmp")).unwrap();
    let day = today();
    let names = [
        "2020-01-01.jsonl".to_owned(),
        "2020-01-01.2.jsonl".to_owned(),
        format!("{day}.jsonl"),
        format!("{day}.2.jsonl"),
        format!("{day}.3.jsonl"),
    ];
    for name in &names {
        fs::File::create(events.join(name)).unwrap().set_len(SEGMENT_BYTES).unwrap();
    }
    let left = |most: u64| {
        store(&dir).prune_events("2000-01-01", &[], most, &|_, _| {}).unwrap();
        store(&dir).event_segments().unwrap().iter().map(Segment::to_string).collect::<Vec<_>>()
    };
    assert_eq!(left(5 * SEGMENT_BYTES), names);
    assert_eq!(left(4 * SEGMENT_BYTES), [&names[0], &names[2], &names[3], &names[4]].map(String::clone));
    assert_eq!(left(3 * SEGMENT_BYTES), names[2..]);
    assert_eq!(left(0), [&names[2], &names[4]].map(String::clone), "the first and the newest of today stay");
    store(&dir).note(&Event::new("pruned"));
    assert!(fs::metadata(events.join(format!("{day}.4.jsonl"))).unwrap().len() > 0);
    store(&dir).prune_events("2000-01-01", &[day], u64::MAX, &|_, _| {}).unwrap();
    assert_eq!(store(&dir).event_segments().unwrap(), []);
}

#[test]
fn a_task_that_ended_is_one_trace_below_that_of_its_caller() {
    let place = Place::new();
    let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut enqueue =
        place.command(&["enqueue", "-u", "a", "--label", "build", "--shell", "echo $TRACEPARENT >$PLACE/got; exit 1"]);
    place.spawn(enqueue.env("TRACEPARENT", caller)).end().coded(0);
    place.enqueue(&["-u", "b", "--", "true"]);
    place.enqueue(&["-u", "c", "--in", "1h", "--", "true"]);
    place.ok(&["pause", "task_3"]);
    place.drain();
    let out = place.ok(&["events", "-o", "otlp"]).out;
    let traces: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(traces.len(), 2, "one for each task that ended: {out}");
    let spans = |at: usize| traces[at]["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
    let is_first = |at: &usize| spans(*at)[0]["name"] == "RUN task_1";
    let first = (0..2).find(is_first).unwrap();
    let (root, other) = (&spans(first)[0], &spans(1 - first)[0]);
    assert_eq!(root["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(root["parentSpanId"], "b7ad6b7169203331");
    assert_eq!((&root["status"]["code"], &other["status"]), (&2.into(), &serde_json::json!({})));
    let got = place.until_file("got");
    assert_eq!(got, format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", root["spanId"].as_str().unwrap()));
    for span in spans(first).iter().chain(&spans(1 - first)) {
        let time = |name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
        assert_eq!((span["traceId"].as_str().unwrap().len(), span["spanId"].as_str().unwrap().len()), (32, 16));
    }
    assert_ne!(other["traceId"], root["traceId"]);
    assert!(root["attributes"].to_string().contains("\"build\""));
}

#[test]
fn three_failures_are_an_alert() {
    let place = Place::new();
    place.enqueue(&["-u", "a", "--retries", "0", "--", "false"]);
    place.drain();
    for _ in 0..2 {
        place.ok(&["retry", "1"]);
        place.drain();
    }
    let alerts = lines(&place, &["--kind", "alert"]);
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!((&alerts[0]["data"]["failures"], &alerts[0]["task"]), (&3.into(), &"task_1".into()));
}

#[test]
fn a_wait_for_a_lane_is_told_once() {
    let place = Place::new();
    place.ok(&["acquire", "build", "--task", "me", "--ttl", "1h"]);
    place.luzia(&["lock", "-u", "build", "-w", "3", "--", "true"]).coded(75);
    let waits = lines(&place, &["--kind", "lock_waiting"]);
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!((&waits[0]["lane"], &waits[0]["data"]["held_by"]), (&"user:build".into(), &"me".into()));
}

#[test]
fn wrong_input_is_refused_and_says_what_is_meant() {
    let place = Place::new();
    place.enqueue(&["-u", "a", "--", "true"]);
    let refused = |args: &[&str], code: i32| place.luzia(&[&["events"], args].concat()).coded(code).err;
    assert!(refused(&["--kind", "finishe"], 2).contains("did you mean finished?"));
    assert!(refused(&["--kind", "nonsense"], 2).contains("luzia-spool(5)"));
    assert!(refused(&["-f", "--json"], 2).contains("-o jsonl"));
    assert!(refused(&["--since", "yesterdayish"], 2).contains("write \"2h\", \"yesterday\""));
    assert!(refused(&["task_99"], 66).contains("there is no task_99"));
    assert!(refused(&["--lane", ""], 2).contains("lane"));
    assert!(place.luzia(&["list", "-o", "otlp"]).coded(2).err.contains("`luzia events` only"));
    place.luzia(&["events", "-o", "svg"]).coded(2);
    // Lines that do not read spoil no other.
    let path = place.state().join(format!("events/{}.jsonl", today()));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("nonsense\n{{\"v\":1}}\n\u{0}\n{text}{{\"at\"")).unwrap();
    assert_eq!(kinds(&lines(&place, &[])), ["enqueued"]);
}

#[test]
fn the_page_of_the_spool_lists_every_kind_with_what_it_tells() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/man/luzia-spool.5")).unwrap();
    for (kind, told) in luzia::store::KINDS {
        let (first, rest) = told.split_at(1);
        let entry = format!(".TP\n.B {kind}\n{}{rest}.\n", first.to_uppercase());
        assert!(page.contains(&entry), "{entry}");
    }
}
