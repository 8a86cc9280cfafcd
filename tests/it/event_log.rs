//! The events of a day are read from their end, so that a busy day costs no more than a quiet one.

use luzia::model::Timestamp;
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::store::Spool;
use std::fmt::Write as _;
use std::sync::Arc;

const DAY: i64 = 86_400_000;
const NOON: i64 = 1_800_000_000_000 / DAY * DAY + DAY / 2;

fn store(dir: &tempfile::TempDir) -> Spool {
    let files = RealFiles::open_at(dir.path().to_str().unwrap(), false).unwrap().unwrap();
    Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses))
}

fn write_day(dir: &tempfile::TempDir, at: i64, count: i64, step_ms: i64) {
    std::fs::create_dir_all(dir.path().join("events")).unwrap();
    let mut text = String::new();
    for number in 0..count {
        let now = Timestamp(at + number * step_ms);
        writeln!(text, r#"{{"v":1,"at":"{now}","event":"x","number":{number},"pad":"{}"}}"#, "é".repeat(40)).unwrap();
    }
    std::fs::write(dir.path().join(format!("events/{}.jsonl", Timestamp(at).day())), text).unwrap();
}

#[test]
fn events_since_a_moment_are_all_of_them_however_many_came_before() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    assert_eq!(store.events_since(Timestamp(NOON)).unwrap(), []);
    // One and a half megabytes, in which a minute is a small part, and the whole next day.
    let count = 10_000;
    write_day(&dir, NOON, count, 1000);
    write_day(&dir, NOON + DAY, 3, 1);
    for from in [0, 1, 2000, 5000, 9000, 9999, 10_000] {
        let events = store.events_since(Timestamp(NOON + from * 1000)).unwrap();
        let numbers: Vec<i64> = events.iter().map(|event| event.line["number"].as_i64().unwrap()).collect();
        let expected: Vec<i64> = (from..count).chain(0..3).collect();
        assert_eq!(numbers, expected, "since {from}");
    }
}

#[test]
fn a_line_that_is_longer_than_a_part_or_not_whole_spoils_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    write_day(&dir, NOON, 10, 1);
    let path = dir.path().join(format!("events/{}.jsonl", Timestamp(NOON).day()));
    let mut text = std::fs::read_to_string(&path).unwrap();
    let long = format!(
        "{{\"v\":1,\"at\":\"{}\",\"event\":\"long\",\"number\":10,\"pad\":\"{}\"}}\n",
        Timestamp(NOON + 10),
        "y".repeat(700_000)
    );
    text.push_str("half a line\n");
    text.push_str(&long);
    text.push_str("{\"v\":1,\"at\":\"");
    std::fs::write(&path, &text).unwrap();
    let events = store.events_since(Timestamp(NOON)).unwrap();
    let numbers: Vec<i64> = events.iter().map(|event| event.line["number"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (0..=10).collect::<Vec<i64>>());
}
