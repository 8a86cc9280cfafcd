//! `luzia timeline`: text, a picture that is XML, and a trace whose slices nest.

use crate::support::Place;
use serde_json::Value;
use std::collections::BTreeMap;

fn busy() -> Place {
    let place = Place::new();
    for (user, lane, command) in
        [("alice", "a<b&\"c\"", "sleep 0.05"), ("bob", "build", "exit 3"), ("alice", "build", "true")]
    {
        place.enqueue(&["-u", user, "-l", &format!("goal:{lane}"), "--shell", command]);
    }
    place.drain();
    place.ok(&["lock", "-u", "carol", "--", "true"]);
    place
}

/// Checks that a text is one well-formed element with its head, and gives how often each element occurs.
fn elements(text: &str) -> BTreeMap<String, usize> {
    let rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap();
    let (mut open, mut seen) = (Vec::new(), BTreeMap::new());
    for (at, part) in rest.split('<').enumerate() {
        if at == 0 {
            assert_eq!(part, "");
            continue;
        }
        let (tag, data) = part.split_once('>').expect("a tag ends");
        for reference in data.split('&').skip(1).chain(tag.split('&').skip(1)) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| reference.starts_with(known)), "{reference}");
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else {
            let name = tag.split([' ', '/']).next().unwrap().to_owned();
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            *seen.entry(name.clone()).or_default() += 1;
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert!(!open.is_empty() || data == "\n", "nothing stands behind the one element: {data:?}");
    }
    assert!(open.is_empty(), "{open:?}");
    seen
}

#[test]
fn the_text_has_a_row_for_each_user_or_lane() {
    let place = busy();
    let text = place.ok(&["timeline"]).out;
    let rows: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(rows.contains(&"alice") && rows.contains(&"bob"), "{text}");
    let alice = text.lines().find(|line| line.starts_with("alice")).unwrap();
    assert!(alice.contains('1') && alice.contains('3') && alice.matches('|').count() == 2, "{text}");
    let lanes = place.ok(&["timeline", "--by", "lane", "-o", "text"]).out;
    for lane in ["global", "goal:build", "user:alice", "user:bob"] {
        assert!(lanes.contains(lane), "{lane}: {lanes}");
    }
}

#[test]
fn the_picture_is_xml_with_a_bar_for_each_hold() {
    let place = busy();
    let picture = place.ok(&["timeline", "-o", "svg"]).out;
    elements(&picture);
    let holds = place.ok(&["timeline", "-o", "jsonl"]).out.lines().count();
    let bars = |class: &str| picture.matches(&format!("<svg class=\"b {class}")).count();
    assert_eq!(bars("") - bars("waits"), holds, "{picture}");
    assert_eq!(holds, 3 * 3 + 1, "three lanes for each task, and the lock");
    elements(&Place::new().ok(&["timeline", "-o", "svg"]).out);
}

#[test]
fn the_picture_goes_into_a_file_that_is_named() {
    let place = busy();
    let path = place.path("day.svg").display().to_string();
    assert_eq!(place.ok(&["timeline", "--svg", &path]).out, "");
    assert!(elements(&std::fs::read_to_string(&path).unwrap())["rect"] > 3);
    assert_eq!(place.json(&["timeline", "--svg", &path])["svg"], Value::from(path));
    place.luzia(&["timeline", "--svg", ""]).coded(2);
    place.luzia(&["timeline", "--svg", "/nosuch/day.svg"]).coded(73);
}

#[test]
fn the_slices_of_a_trace_nest_and_each_wait_ends() {
    let place = busy();
    let whole: Value = serde_json::from_str(&place.ok(&["timeline", "-o", "trace"]).out).unwrap();
    let (mut stacks, mut waits) = (BTreeMap::<String, Vec<&Value>>::new(), BTreeMap::<String, i64>::new());
    let (mut slices, mut names) = (0, Vec::new());
    for event in whole["traceEvents"].as_array().unwrap() {
        let stack = stacks.entry(format!("{} {}", event["pid"], event["tid"])).or_default();
        let wait = waits.entry(format!("{} {}", event["pid"], event["id"])).or_default();
        match event["ph"].as_str().unwrap() {
            "B" => {
                slices += 1;
                stack.push(&event["name"]);
            }
            "E" => assert_eq!(stack.pop(), Some(&event["name"])),
            "b" => *wait += 1,
            "e" => *wait -= 1,
            "M" if event["name"] == "process_name" => names.push(event["args"]["name"].as_str().unwrap()),
            other => assert!(["M", "C"].contains(&other), "{event}"),
        }
        assert!(*waits.values().min().unwrap() >= 0, "no wait ends before it begins: {event}");
    }
    assert!(stacks.values().all(Vec::is_empty) && waits.values().all(|count| *count == 0));
    assert_eq!(slices, 3 * 3 * 2 + 1, "a hold and a command in each lane of a task, and the lock");
    assert_eq!(names.len(), 6, "{names:?}");
}

#[test]
fn only_the_time_that_was_asked_for_is_shown() {
    let place = busy();
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(place.ok(&["timeline", "--since", "10ms", "-o", "jsonl"]).out, "");
    assert!(place.ok(&["timeline", "--since", "10ms"]).err.contains("no command ran"));
    assert_eq!(place.json(&["timeline"])["schema"], "luzia.timeline/v1");
    place.luzia(&["timeline", "--since", "nonsense"]).coded(2);
    place.luzia(&["timeline", "--by", "week"]).coded(2);
    place.luzia(&["status", "-o", "trace"]).coded(2);
}
