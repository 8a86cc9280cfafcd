//! Why a task waits, in words and in JSON (S1.13, S3.27, P7), and the forms of a list.

use crate::support::Place;
use serde_json::json;

fn reasons(place: &Place, id: &str) -> Vec<String> {
    let explained = place.json(&["explain", id]);
    explained["reasons"].as_array().unwrap().iter().map(|reason| reason["reason"].as_str().unwrap().into()).collect()
}

#[test]
fn every_reason_has_its_word() {
    // S1.13
    let place = Place::configured(&json!({ "lanes": { "gpu": { "max": 1 } } }));
    place.ok(&["acquire", "alice", "--task", "elsewhere"]);
    place.ok(&["acquire", "lane:gpu", "--task", "train"]);
    let held = place.enqueue(&["-u", "alice", "--", "true"]);
    let behind = place.enqueue(&["-u", "alice", "--", "true"]);
    let full = place.enqueue(&["-u", "bob", "-l", "gpu", "--", "true"]);
    let delayed = place.enqueue(&["-u", "carol", "--in", "1h", "--", "true"]);
    let after = place.enqueue(&["-u", "dora", "--after", &delayed, "--", "true"]);
    let idle = place.enqueue(&["-u", "eve", "--", "true"]);
    let threaded = place.enqueue(&["-u", "fay", "--thread", "7", "--", "true"]);
    let second = place.enqueue(&["-u", "gil", "--thread", "7", "--", "true"]);
    for (id, words) in [
        (&held, &["UserLockHeld", "NoDispatcher"][..]),
        (&behind, &["Priority", "UserLockHeld", "NoDispatcher"]),
        (&full, &["LaneFull", "NoDispatcher"]),
        (&delayed, &["Delayed", "NoDispatcher"]),
        (&after, &["After", "NoDispatcher"]),
        (&idle, &["NoDispatcher"]),
        (&threaded, &["NoDispatcher"]),
        (&second, &["LaneOrder", "NoDispatcher"]),
    ] {
        assert_eq!(reasons(&place, id), words, "{id}");
        assert_eq!(place.show(id)["reason"], words[0], "{id}");
        let told = place.ok(&["explain", id]).out;
        assert!(words.iter().all(|word| told.contains(word)) && told.contains("try: luzia "), "{told}");
    }
    let table = place.ok(&["list"]).out;
    assert!(table.lines().next().unwrap().contains("REASON"), "{table}");
    assert!(table.lines().any(|line| line.contains(&behind) && line.contains("1 task of alice first")), "{table}");
}

#[test]
fn a_reason_goes_with_its_cause() {
    let place = Place::new();
    let daemon = place.start(&["daemon"]);
    place.ok(&["acquire", "alice", "--task", "elsewhere"]);
    let id = place.enqueue(&["-u", "alice", "--", "true"]);
    crate::support::until("a daemon is seen", || (reasons(&place, &id) == ["UserLockHeld"]).then_some(()));
    place.ok(&["release", "alice"]);
    place.ok(&["wait", &id, "--timeout", "30"]);
    let over = place.ok(&["explain", &id]).out;
    assert!(over.contains("is over: completed"), "{over}");
    drop(daemon);
}

#[test]
fn what_cannot_start_for_want_of_a_dispatcher_is_said_without_being_asked() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    let status = place.ok(&["status"]);
    assert!(status.err.contains("`luzia dispatch`"), "{}", status.err);
    let waited = place.luzia(&["wait", "1", "--timeout", "10ms"]).coded(75);
    assert!(waited.err.contains("dispatch"), "{}", waited.err);
    assert_eq!(place.luzia(&["-q", "status"]).err, "");
}

#[test]
fn every_waiting_task_of_a_long_list_has_its_reason() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "t1"]);
    let lines: String = (0..120)
        .map(|at| {
            let (user, lanes) = if at % 2 == 0 { ("alice", "[]") } else { ("bob", r#"["deploy"]"#) };
            format!("{{\"user\":\"{user}\",\"lanes\":{lanes},\"command\":[\"true\"]}}\n")
        })
        .collect();
    std::fs::write(place.path("many.jsonl"), lines).unwrap();
    place.ok(&["enqueue", "--from", &place.text("many.jsonl")]);
    let first = place.enqueue(&["-u", "alice", "--priority", "0", "--lane", "deploy", "--", "true"]);
    let list = place.json(&["list"]);
    let tasks = list["items"].as_array().unwrap();
    assert_eq!(tasks.len(), 121);
    for (at, task) in tasks.iter().enumerate() {
        let ahead = task["reason_detail"]["ahead"].as_u64();
        let (reason, expected) = match at {
            120 => ("UserLockHeld", None),
            1 => ("NoDispatcher", None),
            even if even % 2 == 0 => ("Priority", u64::try_from(even / 2 + 1).ok()),
            odd => ("Priority", u64::try_from(odd / 2).ok()),
        };
        assert_eq!((task["reason"].as_str(), ahead), (Some(reason), expected), "{task}");
        assert_eq!(task["id"] == *first, at == 120);
    }
}

#[test]
fn a_long_list_is_whole_in_every_form_and_has_one_heading() {
    let place = Place::new();
    let user = |at: usize| if at == 1100 { "a-very-long-name-of-a-user" } else { "al" };
    let line = |at| format!("{{\"user\":\"{}\",\"command\":[\"true\"]}}\n", user(at));
    std::fs::write(place.path("many.jsonl"), (1..=1200).map(line).collect::<String>()).unwrap();
    place.ok(&["enqueue", "--from", &place.text("many.jsonl")]);
    let expected: Vec<String> = (1..=1200).map(|at| format!("task_{at}")).collect();
    let first_words = |out: &str| -> Vec<String> {
        out.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    assert_eq!(first_words(&place.ok(&["list", "-o", "name"]).out), expected);
    let table = place.ok(&["list"]).out;
    assert_eq!(first_words(&table)[0], "ID");
    assert_eq!(first_words(&table)[1..], expected[..], "one heading, and no page has one of its own");
    let column = |line: &str| line.find("pending");
    let columns: Vec<Option<usize>> = table.lines().skip(1).map(column).collect();
    assert!(columns.iter().all(Option::is_some) && columns.is_sorted(), "no column gets narrower");
    assert!(columns[0] < columns[1199], "a page has the width that its cells need");
    let ids = |items: &[serde_json::Value]| -> Vec<String> {
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(place.json(&["list"])["items"].as_array().unwrap()), expected);
    let lines = place.ok(&["list", "-o", "jsonl"]).out;
    let items: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ids(&items), expected);
    let last = place.ok(&["list", "-n", "600", "--sort", "user", "-o", "name"]).out;
    assert_eq!(first_words(&last)[0], "task_1100", "sorted before it is cut");
    assert_eq!(first_words(&last).len(), 600);
}

#[test]
fn lists_filter_sort_and_take_every_form() {
    let place = Place::new();
    let slow = place.enqueue(&["-u", "bob", "--priority", "9", "--thread", "7", "--label", "b", "--", "true"]);
    let done = place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["cancel", &done]);
    let fast = place.enqueue(&["-u", "alice", "--priority", "0", "--", "true"]);
    let names = |args: &[&str]| place.ok(&[&["list", "-o", "name"], args].concat()).out;
    assert_eq!(names(&[]), format!("{slow}\n{fast}\n"));
    assert_eq!(names(&["-a"]).lines().count(), 3);
    assert_eq!(names(&["--sort", "priority"]), format!("{fast}\n{slow}\n"));
    assert_eq!(names(&["-u", "bob"]), format!("{slow}\n"));
    assert_eq!(names(&["-l", "thread:7"]), format!("{slow}\n"));
    assert_eq!(names(&["--state", "cancelled,running"]), format!("{done}\n"));
    assert_eq!(names(&["-n", "1"]), format!("{slow}\n"));
    assert_eq!(names(&["-u", "nobody"]), "");
    let ls = place.ok(&["ls", "-o", "jsonl"]).out;
    let first: serde_json::Value = serde_json::from_str(ls.lines().next().unwrap()).unwrap();
    for member in ["id", "status", "user", "project", "lanes", "priority"] {
        assert!(first.get(member).is_some(), "{member}");
    }
    assert!(place.ok(&["list", "-o", "wide"]).out.contains("thread:7"));
    assert!(!place.ok(&["list"]).out.contains('\u{1b}'), "no colour in a pipe");
    assert!(place.ok(&["list", "--color", "always"]).out.contains('\u{1b}'));
}

#[test]
fn a_task_that_failed_has_the_number_of_its_last_attempt_everywhere() {
    let place = Place::new();
    let script = "echo $LUZIA_ATTEMPT; exit 3";
    for (retries, last) in [("0", "1"), ("1", "2")] {
        let ran = place.luzia(&["run", "-u", "a", "--retries", retries, "--", "sh", "-c", script]).coded(3);
        assert_eq!(ran.line().lines().last(), Some(last));
        let id = format!("task_{last}");
        let text = std::fs::read(place.state().join(format!("conductor/_/done/{id}/meta.json"))).unwrap();
        let meta: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!((meta["attempt"].to_string(), place.show(&id)["attempt"].to_string()), (last.into(), last.into()));
        let listed = place.ok(&["list", "-a", "--columns", "id,attempt"]).out;
        let row: Vec<&str> = listed.lines().find(|row| row.starts_with(&id)).unwrap().split_whitespace().collect();
        assert_eq!(row[1], last, "{listed}");
    }
}

#[test]
fn a_task_that_nothing_holds_up_but_a_missing_pass_says_so_while_others_run() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--shell", "until test -e $PLACE/go; do sleep 0.02; done"]);
    place.ok(&["dispatch"]);
    place.until_status("1", "running");
    let id = place.enqueue(&["-u", "bob", "--", "true"]);
    let second = place.enqueue(&["-u", "alice", "--", "true"]);
    let reasons = |id: &str| place.json(&["explain", id])["reasons"].clone();
    assert_eq!(reasons(&id)[0]["reason"], "NoDispatcher");
    assert_eq!(reasons(&second).as_array().unwrap().len(), 1, "its turn comes when the first one ends");
    let waited = place.luzia(&["wait", &id, "--timeout", "100ms"]).coded(75);
    assert!(waited.err.contains("`luzia dispatch`"), "{waited:?}");
    std::fs::write(place.path("go"), "").unwrap();
    place.until_status(&id, "completed");
}
