//! The logs of tasks: their limit, the order of both streams, attempts, times, several tasks, and the word `last`.

use crate::support::{Place, until};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MIB: u64 = 1024 * 1024;
/// How far the logs may exceed their limit: what these writers write between two looks on a busy machine.
const SLACK: u64 = 48 * MIB;

fn limited() -> Place {
    Place::configured(&json!({ "logs": { "max_bytes": MIB } }))
}

fn folder(place: &Place, id: &str) -> PathBuf {
    let of = |at: &str| place.state().join(format!("conductor/_/{at}/{id}"));
    if of("done").exists() { of("done") } else { of("active") }
}

/// How many bytes of the disk a log takes.
fn taken(file: &Path) -> u64 {
    file.metadata().map_or(0, |meta| meta.blocks() * 512)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[test]
fn the_newest_part_of_long_logs_is_kept_and_the_cut_is_said() {
    let place = limited();
    let script = "seq 1 3000000; echo first >&2; sleep 0.2; seq 3000001 3000010; echo last >&2";
    place.enqueue(&["-u", "a", "--", "sh", "-c", script]);
    place.drain();
    let log = folder(&place, "task_1").join("stdout.log");
    assert!(log.metadata().unwrap().len() > 20 * MIB, "offsets stay");
    assert!(taken(&log) <= MIB, "{}", taken(&log));
    let ran = place.ok(&["logs", "1", "--stdout"]);
    let kept = lines(&ran.out);
    assert_eq!(*kept.last().unwrap(), "3000010");
    let first: u64 = kept[0].parse().expect("a whole line");
    assert!(first > 2_000_000, "{first}");
    assert_eq!(kept.len() as u64, 3_000_011 - first, "nothing of what is kept is missing");
    assert!(ran.err.contains("MiB of earlier output on stdout was dropped (logs.max_bytes)"), "{}", ran.err);
    // The other stream is small, and keeps everything.
    assert_eq!(place.ok(&["logs", "1", "--stderr"]).out, "first\nlast\n");
    assert_eq!(place.ok(&["logs", "1", "--stdout", "-n", "2"]).out, "3000009\n3000010\n");
    let document = place.json(&["logs", "1", "--stdout"]);
    let whole: u64 = (1..=3_000_010_u64).map(|n| n.to_string().len() as u64 + 1).sum();
    assert_eq!(
        document["dropped_bytes"].as_u64().unwrap() + ran.out.len() as u64,
        whole,
        "every byte is accounted for"
    );
    assert_eq!(place.json(&["-o", "json", "logs", "1", "--stderr"])["dropped_bytes"], 0);
}

#[test]
fn without_a_limit_everything_is_kept() {
    let place = Place::configured(&json!({ "logs": { "max_bytes": 0 } }));
    place.enqueue(&["-u", "a", "--", "sh", "-c", "seq 1 500000; sleep 0.1"]);
    place.drain();
    let ran = place.ok(&["logs", "1", "--stdout"]);
    assert_eq!((lines(&ran.out).len(), ran.err.as_str()), (500_000, ""));
}

#[test]
fn a_writer_without_end_stays_bounded_and_what_a_killed_supervisor_left_reads() {
    let place = limited();
    let id = place.enqueue(&["-u", "a", "--", "sh", "-c", "echo $$ > $PLACE/pid; exec yes 0123456789"]);
    place.ok(&["dispatch"]);
    let supervisor = place.supervisor(&id);
    let log = folder(&place, &id).join("stdout.log");
    until("the log was cut", || (log.metadata().ok()?.len() > 20 * MIB).then_some(()));
    let end = Instant::now() + Duration::from_secs(1);
    while Instant::now() < end {
        assert!(taken(&log) <= MIB + SLACK, "{}", taken(&log));
        std::thread::sleep(Duration::from_millis(5));
    }
    // Killed at any moment of a cut: what is there reads.
    let writer = place.until_file("pid").parse().unwrap();
    for pid in [supervisor, writer] {
        crate::support::signal(pid, rustix::process::Signal::KILL);
    }
    let ran = place.ok(&["logs", &id, "--stdout"]);
    assert!(ran.err.contains("of earlier output on stdout was dropped"), "{}", ran.err);
    let all = lines(&ran.out);
    let wrong = all[..all.len() - 1].iter().find(|line| **line != "0123456789");
    assert_eq!(wrong, None, "no zeros and no half lines");
    assert!("0123456789".starts_with(all[all.len() - 1]) && all.len() > 10_000);
}

#[test]
fn a_reader_that_was_overtaken_is_told_and_goes_on_with_whole_lines() {
    let place = limited();
    let gate = place.gate("gate");
    let script = format!("echo begin; sleep 0.3; seq 1000001 3000000; read x < {gate}; echo end");
    let run = place.start(&["run", "-u", "a", "--", "sh", "-c", &script]);
    until("it began", || (run.out() == "begin\n").then_some(()));
    run.signal(rustix::process::Signal::STOP);
    let log = folder(&place, "task_1").join("stdout.log");
    until("the log was written", || (log.metadata().ok()?.len() >= 6 + 16_000_000).then_some(()));
    until("the log was cut", || (taken(&log) <= MIB).then_some(()));
    run.signal(rustix::process::Signal::CONT);
    place.open_gate("gate");
    let ran = run.end().coded(0);
    assert!(ran.err.contains("MiB of earlier output on stdout was dropped"), "{}", ran.err);
    let got = lines(&ran.out);
    assert_eq!((got[0], *got.last().unwrap()), ("begin", "end"));
    assert!(got[1..got.len() - 1].iter().all(|line| line.parse::<u64>().is_ok_and(|n| n > 1_000_000)));
    assert_eq!(got[got.len() - 2], "3000000");
}

#[test]
fn the_order_of_both_streams_is_kept_after_the_end() {
    let place = Place::new();
    let script = "for n in 1 2 3 4; do echo out $n; sleep 0.1; echo err $n >&2; sleep 0.1; done";
    place.enqueue(&["-u", "a", "--", "sh", "-c", script]);
    place.drain();
    let want: Vec<String> = (1..=4).flat_map(|n| [format!("out {n}"), format!("err {n}")]).collect();
    assert_eq!(lines(&place.ok(&["logs", "1"]).out), want);
    assert_eq!(place.ok(&["logs", "1", "--stderr"]).out, "err 1\nerr 2\nerr 3\nerr 4\n");
    // Times grow with the lines, and part them.
    let timed = place.ok(&["logs", "last", "--timestamps"]).out;
    let times: Vec<&str> = timed.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(times.is_sorted() && times[0] < times[2] && times[2] < times[7], "{timed}");
    let since = place.ok(&["logs", "1", "--since", times[4]]).out;
    assert_eq!(lines(&since), want[4..]);
    assert_eq!(place.ok(&["logs", "1", "--since", "1h"]).out, place.ok(&["logs", "1"]).out);
    assert_eq!(place.ok(&["logs", "1", "--since", "1ms"]).out, "");
}

#[test]
fn attempts_are_marked_and_can_be_chosen() {
    let place = Place::new();
    let script = "echo out $LUZIA_ATTEMPT; sleep 0.05; echo err $LUZIA_ATTEMPT >&2; printf half; exit 3";
    place.enqueue(&["-u", "a", "--retries", "1", "--", "sh", "-c", script]);
    until("both attempts are over", || {
        place.drain();
        (place.status("task_1") == "failed").then_some(())
    });
    let ran = place.ok(&["logs", "1"]);
    let (out, err): (Vec<_>, Vec<_>) = (lines(&ran.out), lines(&ran.err));
    assert_eq!(out.iter().filter(|line| line.starts_with("out")).count(), 2, "{out:?}");
    assert_eq!(err.len(), 1, "{err:?}");
    assert!(err[0].starts_with("-- attempt 2, 2") && err[0].ends_with("Z --"), "{err:?}");
    let of = |attempt: &str| place.ok(&["logs", "1", "--attempt", attempt]);
    let [first, second, third] = ["1", "2", "3"].map(of);
    assert_eq!(first.out, "out 1\nerr 1\nhalf");
    assert_eq!(second.out, "out 2\nerr 2\nhalf");
    assert_eq!(ran.out, format!("{}\n{}", first.out, second.out), "a line that an attempt left open ends there");
    assert_eq!(third.out, "");
    assert_eq!(place.ok(&["logs", "1", "--attempt", "1", "-n", "1", "--stderr"]).out, "err 1\n");
    let items = place.json(&["logs", "1"])["items"].clone();
    let attempts: Vec<u64> = items.as_array().unwrap().iter().map(|item| item["attempt"].as_u64().unwrap()).collect();
    assert_eq!(attempts, [1, 1, 1, 2, 2, 2]);
}

#[test]
fn several_tasks_are_told_apart_and_last_is_the_newest() {
    let place = Place::new();
    place.luzia(&["logs", "last"]).coded(66);
    place.luzia(&["explain", "last"]).coded(66);
    for user in ["a", "b"] {
        place.enqueue(&["-u", user, "--", "sh", "-c", "echo of $LUZIA_USER; sleep 0.3; echo end >&2"]);
    }
    let unstarted = place.ok(&["logs", "last"]);
    assert_eq!(unstarted.out, "");
    assert!(unstarted.err.contains("task_2 has not started; `luzia explain task_2` says why"), "{}", unstarted.err);
    assert!(place.ok(&["explain", "last"]).out.contains("task_2 of user \"b\""));
    assert!(place.ok(&["explain", "-u", "last"]).out.contains("lane \"user:last\" is free"));
    let follow = place.start(&["logs", "1", "2", "-f"]);
    place.drain();
    let out = follow.end().coded(0).out;
    let mut got = lines(&out);
    got.sort_unstable();
    assert_eq!(got, ["task_1 | end", "task_1 | of a", "task_2 | end", "task_2 | of b"]);
    let ended = place.ok(&["logs", "last", "-n", "1", "--stdout"]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("of b\n", ""));
    assert_eq!(place.show("last")["id"], "task_2");
    assert_eq!(place.json(&["logs", "1", "2"])["id"], Value::Null);
    place.luzia(&["logs", "1", "task_9"]).coded(66);
}

#[test]
fn wrong_options_of_logs_are_refused() {
    let place = Place::new();
    place.ok(&["run", "-u", "a", "--", "true"]);
    for wrong in [&["--attempt", "0"][..], &["--attempt", "x"], &["--since", "yesterdayish"], &["--since", ""]] {
        let ran = place.luzia(&[&["logs", "1"], wrong].concat()).coded(2);
        assert_eq!(ran.out, "", "{wrong:?}");
    }
    for wrong in ["-1", "1", "1048575", "1.5", "\"1M\""] {
        std::fs::write(place.path("config.json"), format!("{{\"logs\":{{\"max_bytes\":{wrong}}}}}")).unwrap();
        assert_ne!(place.luzia(&["config", "check"]).code, 0, "{wrong}");
    }
    place.configure(&json!({ "logs": { "max_bytes": MIB } }));
    assert_eq!(place.json(&["config", "show"])["logs"]["max_bytes"], MIB);
}
