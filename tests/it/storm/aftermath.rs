//! After the storm: everything is brought to rest, and judged by what was promised.

use super::actors::USERS;
use super::{SLOTS, Storm};
use crate::harness::checker::{self, Checker, places, settle};
use crate::harness::oracle::{self, Deed};
use crate::harness::procs::{self, CONT, TERM};
use crate::harness::{World, files_below, until};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long what the storm left in the queue may take.
const DRAIN_PATIENCE: Duration = Duration::from_secs(180);

/// How many folders of a state directory a process keeps open once it has changed a name in them.
const FOLDERS_KEPT_OPEN: usize = 6;

/// How many descriptors the steady daemon has open between two passes, when it has no children, dead ones included.
pub fn descriptors(storm: &Storm) -> usize {
    let pid = storm.steady_daemon();
    until("the daemon has no children", || (procs::children(pid) == 0).then_some(()));
    // In a pass it has some more for a moment.
    let looks = (0..120).map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        procs::descriptors(pid)
    });
    looks.min().unwrap()
}

/// Everything that is wrong when all is quiet again.
pub fn judge(storm: &Storm, descriptors_before: usize) -> Vec<String> {
    let world = &storm.world;
    procs::luzias(world).iter().for_each(|process| process.signal(CONT));
    let drain = crate::harness::run(world.command(&["dispatch", "--drain"]), DRAIN_PATIENCE);
    if drain.as_ref().is_none_or(|answer| !matches!(answer.code(), Some(0 | 1))) {
        storm.complain(format!("the queue cannot be drained: {drain:?}"));
        // A lock file whose sidecar somebody took stays for the time of its lane. The rest of the judgement needs the lane.
        world.luzia(&["cleanup-stale", "0"]).ok();
    }
    take_turns(storm);
    let now = descriptors(storm);
    if now > descriptors_before + FOLDERS_KEPT_OPEN {
        storm.complain(format!("the daemon had {descriptors_before} descriptors open, and has {now}"));
    }
    end_steady(storm);
    settle(world);
    forget_timers(storm);
    checker::clean_aged(world);

    let mut checker = Checker { slots: Some(SLOTS), ..Checker::default() };
    checker.acknowledged = storm.promises();
    let records = records(storm);
    for (id, record) in &records {
        // Who never learnt of a task was promised nothing; it is as whole as any other.
        let retries = record["retries"].as_u64().unwrap_or_else(|| panic!("no retries in {record}"));
        checker.acknowledged.entry(*id).or_default();
        if !storm.sent.lock().unwrap().contains_key(id) {
            checker.promise(*id, retries);
        }
    }
    judge_ends(storm, &records);
    judge_order(storm);
    let mut problems = checker.check_quiet(world);
    problems.append(&mut storm.problems.lock().unwrap());
    problems
}

/// Tells the daemon that was never killed to end, which is a success.
pub fn end_steady(storm: &Storm) {
    let mut daemon = storm.steady.lock().unwrap();
    procs::signal(&storm.world, i32::try_from(daemon.id()).unwrap(), TERM);
    let ended = daemon.wait().unwrap();
    if !ended.success() {
        storm.complain(format!("the daemon that was never killed ended so: {ended:?}"));
    }
}

/// The record of each task; every one must have come to its end.
pub fn records(storm: &Storm) -> BTreeMap<u64, serde_json::Value> {
    let mut records = BTreeMap::new();
    for (id, paths) in places(&storm.world.state) {
        if !paths.iter().all(|path| path.contains("/spool/done/")) {
            storm.complain(format!("task_{id} is not brought to its end: {paths:?}"));
        }
        match std::fs::read(&paths[0]).map(|bytes| serde_json::from_slice(&bytes)) {
            Ok(Ok(record)) => drop(records.insert(id, record)),
            other => storm.complain(format!("the record of task_{id} does not read: {other:?}")),
        }
    }
    records
}

/// What a record says of its end is what happened.
fn judge_ends(storm: &Storm, records: &BTreeMap<u64, serde_json::Value>) {
    let ended: BTreeSet<u64> = tasks_in_journal(storm, 'E').into_iter().collect();
    for (id, record) in records {
        let status = record["status"].as_str().unwrap_or_default();
        // The first was there before the storm, and writes no journal.
        if status == "completed" && !ended.contains(id) && *id != 1 {
            storm.complain(format!("task_{id} is completed, but its command never came to its end"));
        }
        if let Some(sent) = storm.sent.lock().unwrap().get(id) {
            if sent.must_fail && status == "completed" {
                storm.complain(format!("task_{id} is completed, but its command fails"));
            }
            if sent.is_cancelled && sent.reopens == 0 && status != "cancelled" {
                storm.complain(format!("the cancel of task_{id} was acknowledged, but it is {status}"));
            }
        }
    }
}

/// Tasks of one user, tier and priority start in the order in which they were acknowledged. A task that was claimed and
/// taken back is not judged late, for its dispatcher died; nor one that somebody retried, for it came back later.
fn judge_order(storm: &Storm) {
    let events = storm.world.events();
    let taken_back: BTreeSet<u64> = events
        .iter()
        .filter(|event| matches!(event["event"].as_str(), Some("recovered" | "requeued")))
        .filter_map(|event| event["task"].as_str()?.strip_prefix("task_")?.parse().ok())
        .collect();
    let mut latest: BTreeMap<(&str, u64), (Duration, u64)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut judged = 0;
    for id in tasks_in_journal(storm, 'B') {
        let sent = storm.sent.lock().unwrap();
        let Some((sent, (asked, acknowledged))) = sent.get(&id).and_then(|sent| Some((sent, sent.plain?))) else {
            continue;
        };
        if !seen.insert(id) {
            continue;
        }
        judged += 1;
        let last = latest.entry((sent.user, sent.priority)).or_default();
        if acknowledged < last.0 && sent.reopens == 0 && !taken_back.contains(&id) {
            storm.complain(format!(
                "task_{id} of {}, acknowledged at {acknowledged:?}, began after task_{}, asked for at {:?}",
                sent.user, last.1, last.0
            ));
        }
        *last = (*last).max((asked, id));
    }
    storm.count_many("judged for order", judged);
}

/// Stops every process of luzia. One that was just starting another one may have escaped the first look.
fn stop_all(world: &World) -> Vec<procs::Process> {
    loop {
        let found = procs::luzias(world);
        found.iter().for_each(|process| process.signal(procs::STOP));
        let again = procs::luzias(world);
        if again.len() == found.len() {
            return again;
        }
    }
}

/// The queue works as if nothing had been: within a tier by priority, then by sequence.
fn take_turns(storm: &Storm) {
    let world = &storm.world;
    let mut expected: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    // Nobody starts them before all are there.
    let steady = stop_all(world);
    for user in USERS {
        let mut order: Vec<(u64, u64)> = [6, 5, 4, 5, 6, 4]
            .map(|priority| {
                let command = oracle::command(world, user, Deed::Quick);
                (priority, world.enqueue(&["-u", user, "--priority", &priority.to_string()], &command))
            })
            .to_vec();
        order.sort_unstable();
        expected.insert(user, order.into_iter().map(|(_, id)| id).collect());
    }
    steady.iter().for_each(|process| process.signal(CONT));
    world.luzia(&["dispatch", "--drain"]).drained();
    let begun = tasks_in_journal(storm, 'B');
    for (user, ids) in expected {
        let order: Vec<u64> = begun.iter().copied().filter(|id| ids.contains(id)).collect();
        if order != ids {
            storm.complain(format!("the tasks of {user} began in the order {order:?} instead of {ids:?}"));
        }
    }
}

/// A pass forgets the timer of a task that was never accepted an hour after it fired: makes it fire two hours earlier.
pub fn forget_timers(storm: &Storm) {
    const EARLIER_MS: u64 = 2 * 3_600_000;
    let timers = storm.world.state.join("spool/timers");
    for path in files_below(&timers) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let (ms, id) = name.split_once('.').unwrap_or_else(|| panic!("no timer: {name}"));
        let ms = ms.parse::<u64>().unwrap() - EARLIER_MS;
        let hour = timers.join((ms / 3_600_000).to_string());
        std::fs::create_dir_all(&hour).unwrap();
        std::fs::rename(&path, hour.join(format!("{ms}.{id}"))).unwrap();
    }
    storm.world.luzia(&["dispatch", "--once"]).ok();
}

fn tasks_in_journal(storm: &Storm, what: char) -> Vec<u64> {
    oracle::journal(&storm.world).iter().filter(|line| line.what == what).filter_map(|line| line.task).collect()
}
