//! A storm of tasks that wait: steps, waits with and without a process, delays, and events that come before the wait,
//! during it, and again; tasks that take one step a start; events that tasks send, and events for all tasks of a user or a
//! thread. Nothing that was accepted is lost, a step that is done is not done again, each event ends one wait of its task at
//! most, each task that an event was for has it once, and a lane that is kept has one holder.

use super::actors::{self, Actor, USERS, words};
use super::{ACTS, SLOTS, Sent, Storm, aftermath, weather};
use crate::harness::checker::{Checker, clean_aged, settle};
use crate::harness::rng::Rng;
use crate::harness::{LUZIA, World, files_below, oracle, procs};
use crate::support::times;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ACTORS: &[Actor] = &[
    Actor { name: "waiter", hands: 2, pause_ms: 250, act: enqueue },
    Actor { name: "stepper", hands: 1, pause_ms: 500, act: enqueue_stepwise },
    Actor { name: "herald", hands: 1, pause_ms: 150, act: send_to_many },
    Actor { name: "sender", hands: 2, pause_ms: 60, act: send },
    Actor { name: "keeper", hands: 1, pause_ms: 20, act: look_at_kept },
    Actor { name: "once", hands: 1, pause_ms: 60, act: actors::once },
    Actor { name: "cleaner", hands: 1, pause_ms: 100, act: actors::clean },
    Actor { name: "reader", hands: 1, pause_ms: 100, act: actors::read },
    Actor { name: "kill", hands: 1, pause_ms: 30, act: weather::kill },
    Actor { name: "stop", hands: 1, pause_ms: 100, act: weather::stop },
    Actor { name: "term", hands: 1, pause_ms: 400, act: weather::terminate },
];

/// How many tasks may wait for a place before nobody queues more.
const MOST_PENDING: u64 = 8;
/// Enough for every attempt that a kill may end.
const RETRIES: u64 = 500;
/// The number of the last step of a task that takes one a start.
const LAST_STEP: u64 = 2;
/// How long the tasks may take to their end once all events were sent.
const PATIENCE: Duration = Duration::from_secs(240);

/// What was sent to a task.
#[derive(Clone, Default)]
pub struct Post {
    /// How many events the task waits for.
    needs: usize,
    /// Events that were acknowledged, by their serial numbers.
    kept: BTreeSet<u64>,
    /// Events whose sender was killed: each may have come.
    unsure: BTreeSet<u64>,
    /// Whether the task was over when an event was to be sent.
    is_over: bool,
    /// The places of the steps in which it sends an event to itself, where the test has queued it.
    pings: Option<Vec<u64>>,
    /// Whether it takes one step a start.
    is_stepwise: bool,
}

/// Queues a task of a few steps and waits in any order.
fn enqueue(storm: &Storm, rng: &mut Rng) {
    if storm.pending() > MOST_PENDING {
        return;
    }
    let user = *rng.pick(&USERS);
    let (mut needs, mut pings) = (0, Vec::new());
    let parts: Vec<String> = (0..2 + rng.below(3))
        .map(|at| {
            let park = *rng.pick(&["", "--park"]);
            match rng.below(6) {
                5 => {
                    pings.push(at);
                    format!(
                        "'{LUZIA}' step e{at} -- bash -c \"until '{LUZIA}' emit PING --task self --data {at} >&2; do sleep 0.02; done\""
                    )
                }
                0 => format!("'{LUZIA}' await delay --for {}ms {park}", 1 + rng.below(300)),
                1 | 2 => {
                    needs += 1;
                    format!("a=$('{LUZIA}' await event:GO {park}); echo \"G {at} $LUZIA_TASK_ID $a\" >&6")
                }
                _ => one_step(&at.to_string()),
            }
        })
        .collect();
    let script = format!("( set -e; exec 6>>course; {} )", parts.join("; "));
    let mut args = words(&format!(
        "enqueue --grace 100ms -u {user} --thread t{user} --retries {RETRIES} --backoff 20ms --max-backoff 100ms \
         --label needs:{needs}"
    ));
    args.push("--".into());
    args.extend(oracle::script(&storm.world, user, &script));
    if let Some(id) = storm.call(&args, &[0]).id() {
        storm.acknowledge(id, Sent { user, retries: RETRIES, ..Sent::default() });
        storm.post.lock().unwrap().insert(id, Post { needs, pings: Some(pings), ..Post::default() });
    }
}

/// A step with a side effect, which is seen to run by itself.
fn one_step(at: &str) -> String {
    format!(
        "'{LUZIA}' step s{at} -- bash -c 'flock -n 5 || echo \"V {at} $LUZIA_TASK_ID\" >&6; \
         echo \"S {at} $LUZIA_TASK_ID\" >&6; sleep 0.02' 5>>\"course.$LUZIA_TASK_ID.{at}\"; \
         echo \"D {at} $LUZIA_TASK_ID\" >&6"
    )
}

/// Queues a task that takes one step a start.
fn enqueue_stepwise(storm: &Storm, rng: &mut Rng) {
    if storm.pending() > MOST_PENDING {
        return;
    }
    let user = *rng.pick(&USERS);
    let step = one_step("$LUZIA_STEP");
    let script = format!(
        "( set -e; exec 6>>course; {step}; if [ \"$LUZIA_STEP\" -ge {LAST_STEP} ]; then '{LUZIA}' finish >&2; fi )"
    );
    let mut args = words(&format!(
        "enqueue --stepwise --grace 100ms -u {user} --retries {RETRIES} --backoff 20ms --max-backoff 100ms --label needs:0"
    ));
    args.push("--".into());
    args.extend(oracle::script(&storm.world, user, &script));
    if let Some(id) = storm.call(&args, &[0]).id() {
        storm.acknowledge(id, Sent { user, retries: RETRIES, ..Sent::default() });
        storm.post.lock().unwrap().insert(id, Post { is_stepwise: true, ..Post::default() });
    }
}

/// Sends an event to all tasks of a user, or of a thread of that user.
fn send_to_many(storm: &Storm, rng: &mut Rng) {
    let user = *rng.pick(&USERS);
    let serial = storm.serial();
    let to = if rng.below(2) == 0 { format!("--user {user}") } else { format!("--thread t{user}") };
    let answer = storm.call(&words(&format!("emit NEWS {to} --data {serial}")), &[0, 1]);
    let told = answer.out.lines().filter_map(|line| line.strip_prefix("task_")?.parse().ok());
    let told = if answer.code() == Some(0) { told.collect() } else { BTreeSet::new() };
    storm.news.lock().unwrap().insert(serial, (user, told));
}

/// Sends an event to a task that waits for more than were acknowledged, or will.
fn send(storm: &Storm, rng: &mut Rng) {
    let post = storm.post.lock().unwrap().clone();
    let open: Vec<u64> =
        post.iter().filter(|(_, post)| !post.is_over && post.kept.len() < post.needs).map(|(id, _)| *id).collect();
    if !open.is_empty() {
        send_to(storm, *rng.pick(&open));
    }
}

fn send_to(storm: &Storm, id: u64) {
    let serial = storm.serial();
    let answer = storm.call(&words(&format!("emit GO --task {id} --data {serial}")), &[0, 1]);
    let mut post = storm.post.lock().unwrap();
    let post = post.entry(id).or_default();
    match answer.code() {
        Some(0) => drop(post.kept.insert(serial)),
        Some(1) => post.is_over = true,
        _ => drop(post.unsure.insert(serial)),
    }
}

/// A task that waits without a process has the lane of its user, at every instant.
fn look_at_kept(storm: &Storm, _: &mut Rng) {
    for path in files_below(&storm.world.state.join("spool/waiting")) {
        let changed = || std::fs::metadata(&path).ok().map(|meta| (meta.ino(), meta.ctime(), meta.ctime_nsec()));
        let Some(before) = changed() else { continue };
        let Some(record) = json(&path) else { continue };
        let user = record["user"].as_str().unwrap_or_default();
        let holder = json(&storm.world.state.join(format!("locks/user_{user}.json")));
        let is_locked = storm.world.state.join(format!("locks/user_{user}.lock")).exists();
        if changed() != Some(before) {
            continue;
        }
        let task = format!("task_{}", path.file_stem().unwrap().to_string_lossy());
        storm.count("kept lanes seen".into());
        if !is_locked || holder.as_ref().is_none_or(|holder| holder["task_id"] != task.as_str()) {
            storm.complain(format!("{task} waits, and the lane of {user} has another holder: {holder:?}"));
        }
    }
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// The records of the tasks that are not over. One that moves may be missed.
fn unfinished(world: &World) -> BTreeMap<u64, Value> {
    let folders = ["pending", "parked", "running", "waiting"];
    let paths = folders.into_iter().flat_map(|folder| files_below(&world.state.join("spool").join(folder)));
    let record = |path: PathBuf| {
        let id = path.file_name()?.to_str()?.strip_suffix(".json")?.parse().ok()?;
        Some((id, json(&path)?))
    };
    paths.filter_map(record).collect()
}

/// Sends each task the events that it still lacks, and waits until all tasks are over.
fn bring_to_rest(storm: &Storm) {
    let world = &storm.world;
    procs::luzias(world).iter().for_each(|process| process.signal(procs::CONT));
    // A record that is missed while it moves is found by a further look.
    let all: BTreeMap<u64, Value> = (0..5).flat_map(|_| unfinished(world)).collect();
    for (id, record) in all {
        // A task whose enqueuer was killed was not promised to anybody; it waits like any other.
        let needs = record["label"].as_str().and_then(|label| label.strip_prefix("needs:")?.parse().ok());
        let lacks = |storm: &Storm| {
            let mut post = storm.post.lock().unwrap();
            let post = post.entry(id).or_default();
            post.needs = needs.unwrap_or(0);
            !post.is_over && post.kept.len() < post.needs
        };
        while lacks(storm) && !storm.has_hung() {
            send_to(storm, id);
        }
    }
    let end = Instant::now() + PATIENCE;
    loop {
        world.luzia(&["dispatch", "--once"]).ok();
        let left: Vec<u64> = unfinished(world).into_keys().collect();
        if left.is_empty() {
            return;
        }
        if Instant::now() > end {
            return storm.complain(format!("all events were sent, and these tasks do not end: {left:?}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Lines of the course: the letter, the place of the part in its task, the task, and what came.
fn course(world: &World) -> Vec<(char, u64, u64, String)> {
    let text = std::fs::read_to_string(world.work.join("course")).unwrap_or_default();
    text.lines()
        .map(|line| {
            let mut words = line.splitn(4, ' ');
            let letter = words.next().and_then(|word| word.chars().next()).unwrap();
            let at = words.next().unwrap().parse().unwrap();
            let task = words.next().and_then(|word| word.strip_prefix("task_")?.parse().ok()).unwrap();
            (letter, at, task, words.next().unwrap_or_default().to_owned())
        })
        .collect()
}

/// No step runs twice at once, nor again after it was done.
fn judge_steps(storm: &Storm) {
    let mut done = BTreeSet::new();
    let mut begun = BTreeSet::new();
    for (letter, at, task, _) in course(&storm.world) {
        match letter {
            'V' => storm.complain(format!("step s{at} of task_{task} ran twice at once")),
            'S' if done.contains(&(task, at)) => {
                storm.complain(format!("step s{at} of task_{task} was done, and ran again"));
            }
            'S' => drop(begun.insert((task, at))),
            'D' => drop(done.insert((task, at))),
            _ => {}
        }
    }
    if done != begun {
        storm.complain(format!("these steps began, and were never done: {:?}", begun.difference(&done)));
    }
    let posts = storm.post.lock().unwrap().clone();
    for id in posts.iter().filter(|(_, post)| post.is_stepwise).map(|(id, _)| id) {
        let own: Vec<u64> = done.iter().filter(|(task, _)| task == id).map(|(_, at)| *at).collect();
        if own != (0..=LAST_STEP).collect::<Vec<_>>() {
            storm.complain(format!("of task_{id}, which takes one step a start, the steps {own:?} were done"));
        }
        storm.count("stepwise tasks".into());
    }
    storm.count_many("steps done", done.len());
}

/// The events of a name in the mailbox of a task, by what they say.
fn mail_of(world: &World, id: u64, event: &str) -> Vec<u64> {
    let mut files = files_below(&world.state.join(format!("spool/steps/{id}/mail")));
    // The tenth comes after the second.
    files.sort_by_key(|path| path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok()));
    let own = files.iter().filter_map(|path| json(path)).filter(|mail| mail["event"] == event);
    own.filter_map(|mail| mail["data"].as_u64()).collect()
}

/// An event for many is kept once by each task that it was for, and by no other. A task that sends itself an event has it.
fn judge_news(storm: &Storm) {
    let news = storm.news.lock().unwrap().clone();
    let mut kept: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (id, record) in aftermath::records(storm) {
        let all = mail_of(&storm.world, id, "NEWS");
        for serial in &all {
            let is_own = news.get(serial).is_some_and(|(user, _)| record["user"] == *user);
            if !is_own || !kept.entry(*serial).or_default().insert(id) {
                storm.complain(format!(
                    "task_{id} of {} has event {serial} twice, or it was for others: {all:?}",
                    record["user"]
                ));
            }
        }
        storm.count_many("events for many", all.len());
    }
    for (serial, (user, told)) in &news {
        let lacking: Vec<&u64> =
            told.iter().filter(|id| !kept.get(serial).is_some_and(|kept| kept.contains(id))).collect();
        if !lacking.is_empty() {
            storm.complain(format!("event {serial} for {user} was acknowledged, and these tasks lack it: {lacking:?}"));
        }
    }
    for (id, post) in storm.post.lock().unwrap().iter() {
        let (Some(pings), own) = (&post.pings, mail_of(&storm.world, *id, "PING")) else { continue };
        if !pings.iter().all(|at| own.contains(at)) || own.iter().any(|at| !pings.contains(at)) {
            storm.complain(format!("task_{id} sent itself {pings:?}, and has {own:?}"));
        }
        storm.count_many("events to itself", own.len());
    }
}

/// Each acknowledged event is kept once, and ends one wait at most; waits take them in the order of their arrival.
fn judge_events(storm: &Storm) {
    let mut taken: BTreeMap<u64, BTreeMap<u64, String>> = BTreeMap::new();
    for (_, at, task, what) in course(&storm.world).into_iter().filter(|line| line.0 == 'G') {
        let before = taken.entry(task).or_default().insert(at, what.clone());
        if before.as_ref().is_some_and(|before| *before != what) {
            storm.complain(format!("await {at} of task_{task} had {before:?} once, and {what:?} then"));
        }
    }
    let posts = storm.post.lock().unwrap().clone();
    for (id, post) in &posts {
        let mail = mail_of(&storm.world, *id, "GO");
        for serial in &post.kept {
            if mail.iter().filter(|one| *one == serial).count() != 1 {
                storm.complain(format!("event {serial} of task_{id} was acknowledged, and its mailbox has {mail:?}"));
            }
        }
        let foreign: Vec<&u64> =
            mail.iter().filter(|one| !post.kept.contains(one) && !post.unsure.contains(one)).collect();
        if !foreign.is_empty() || mail.iter().collect::<BTreeSet<_>>().len() != mail.len() {
            storm.complain(format!("the mailbox of task_{id} has what nobody sent to it: {mail:?}"));
        }
        let got: Vec<String> = taken.remove(id).unwrap_or_default().into_values().collect();
        let first: Vec<String> = mail.iter().take(post.needs).map(u64::to_string).collect();
        if got != first {
            storm.complain(format!("the waits of task_{id} had {got:?} of {mail:?}, and {} were to come", post.needs));
        }
        storm.count_many("waits ended by an event", got.len());
    }
}

fn judge(storm: &Storm) -> Vec<String> {
    let world = &storm.world;
    bring_to_rest(storm);
    aftermath::end_steady(storm);
    settle(world);
    aftermath::forget_timers(storm);
    clean_aged(world);
    let mut checker = Checker { slots: Some(SLOTS), resumes: true, ..Checker::default() };
    checker.acknowledged = storm.promises();
    for (id, record) in aftermath::records(storm) {
        checker.promise(id, RETRIES);
        if record["status"] != "completed" {
            storm.complain(format!("task_{id} is not completed: {record}"));
        }
    }
    judge_steps(storm);
    judge_events(storm);
    judge_news(storm);
    for what in ["stepwise tasks", "events for many", "events to itself"] {
        if !storm.counts.lock().unwrap().contains_key(what) {
            storm.complain(format!("nothing was shown: there were no {what}"));
        }
    }
    let mut problems = checker.check_quiet(world);
    problems.append(&mut storm.problems.lock().unwrap());
    problems
}

#[test]
fn what_tasks_wait_for_comes_once_in_a_storm_of_kills() {
    let storm = Storm::new(Rng::seed_of_now("LUZIA_STORM_SEED"), times("LUZIA_STORM_ACTS", ACTS));
    storm.rage(&ACTORS.iter().collect::<Vec<_>>());
    let problems = judge(&storm);
    eprintln!("storm: {}", storm.tally());
    eprintln!("storm: {:?}", storm.counts.lock().unwrap());
    assert!(
        problems.is_empty(),
        "{} problems with LUZIA_STORM_SEED={}:\n{}\nsee {}",
        problems.len(),
        storm.seed,
        problems.join("\n"),
        storm.world.keep().display()
    );
}
