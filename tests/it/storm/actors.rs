//! Who takes part in the storm: one row for each, so that a new feature joins with its own. An act is one call, or a few
//! that belong together; it is repeated until the storm is over, and every process of luzia in it may die at any instant.

use super::weather;
use super::{Sent, Storm};
use crate::harness::oracle::{self, Deed, Section};
use crate::harness::rng::Rng;
use crate::harness::run;
use std::time::Duration;

/// One participant.
pub struct Actor {
    pub name: &'static str,
    /// How many do it at once.
    pub hands: u64,
    /// How long each rests between two acts, on the average.
    pub pause_ms: u64,
    pub act: fn(&Storm, &mut Rng),
}

pub const ACTORS: &[Actor] = &[
    Actor { name: "plain", hands: 2, pause_ms: 250, act: |storm, rng| enqueue(storm, rng, Kind::Plain) },
    Actor { name: "batch", hands: 1, pause_ms: 1500, act: batch },
    Actor { name: "later", hands: 1, pause_ms: 700, act: |storm, rng| enqueue(storm, rng, Kind::Later) },
    Actor { name: "after", hands: 1, pause_ms: 700, act: |storm, rng| enqueue(storm, rng, Kind::After) },
    Actor { name: "keyed", hands: 2, pause_ms: 700, act: |storm, rng| enqueue(storm, rng, Kind::Keyed) },
    Actor { name: "thread", hands: 1, pause_ms: 500, act: |storm, rng| enqueue(storm, rng, Kind::Thread) },
    Actor { name: "wide", hands: 1, pause_ms: 700, act: |storm, rng| enqueue(storm, rng, Kind::Wide) },
    Actor { name: "timed", hands: 1, pause_ms: 900, act: |storm, rng| enqueue(storm, rng, Kind::Timed) },
    Actor { name: "client", hands: 1, pause_ms: 900, act: client },
    Actor { name: "once", hands: 2, pause_ms: 60, act: once },
    Actor {
        name: "drain",
        hands: 1,
        pause_ms: 300,
        act: |storm, rng| dispatcher(storm, rng, &["dispatch", "--drain"]),
    },
    Actor {
        name: "daemon",
        hands: 1,
        pause_ms: 300,
        act: |storm, rng| dispatcher(storm, rng, &["daemon", "--poll", "200ms"]),
    },
    Actor { name: "cleaner", hands: 2, pause_ms: 50, act: clean },
    Actor { name: "canceller", hands: 1, pause_ms: 500, act: cancel },
    Actor { name: "retrier", hands: 1, pause_ms: 600, act: retry },
    Actor { name: "forcer", hands: 1, pause_ms: 700, act: force },
    Actor { name: "project", hands: 1, pause_ms: 300, act: check_project },
    Actor { name: "locker", hands: 2, pause_ms: 300, act: lock },
    Actor { name: "pair", hands: 1, pause_ms: 400, act: lock_two },
    Actor { name: "pair-tenant", hands: 1, pause_ms: 400, act: lease_two },
    Actor { name: "tenant", hands: 1, pause_ms: 400, act: lease },
    Actor { name: "leaver", hands: 1, pause_ms: 1500, act: leave_a_lease },
    Actor { name: "reader", hands: 1, pause_ms: 100, act: read },
    Actor { name: "kill", hands: 1, pause_ms: 15, act: weather::kill },
    Actor { name: "stop", hands: 2, pause_ms: 100, act: weather::stop },
    Actor { name: "term", hands: 1, pause_ms: 400, act: weather::terminate },
];

pub const USERS: [&str; 4] = ["alice", "bob", "carol", "dave"];
const THREADS: [&str; 2] = ["7", "8"];
const PROJECT: &str = "garden";
const KEYS: [&str; 3] = ["red", "green", "blue"];
/// What commands of tasks do; what they leave behind lives longer than they do.
const DEEDS: [Deed; 8] =
    [Deed::Quick, Deed::Quick, Deed::Work, Deed::Deaf, Deed::Fork, Deed::ForkBare, Deed::ForkClosed, Deed::Fail];
/// What commands of `lock` do. One that closes the lock's descriptor gives the lane away, as with flock(1).
const DEEDS_OF_LOCK: [Deed; 5] = [Deed::Quick, Deed::Work, Deed::Deaf, Deed::Fork, Deed::ForkBare];
/// How many tasks may wait before nobody queues more.
const MOST_PENDING: u64 = 60;
/// All of a keyed task that depends on who was first, so that it does not matter who was.
const RETRIES_OF_KEYED: u64 = 1;

/// In which way a task is queued.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Later,
    After,
    Keyed,
    Thread,
    Timed,
    Wide,
}

fn enqueue(storm: &Storm, rng: &mut Rng, kind: Kind) {
    if storm.pending() > MOST_PENDING {
        return;
    }
    let user = *rng.pick(&USERS);
    let thread = *rng.pick(&THREADS);
    let deed = match kind {
        Kind::Keyed => Deed::Work,
        Kind::Timed => Deed::Deaf,
        Kind::Plain | Kind::Later | Kind::After | Kind::Thread | Kind::Wide => *rng.pick(&DEEDS),
    };
    let priority = if rng.below(3) == 0 { rng.below(10) } else { 5 };
    let retries = if kind == Kind::Keyed { RETRIES_OF_KEYED } else { rng.below(3) / 2 };
    let mut args = words("enqueue --grace 100ms -u");
    args.extend([user.to_owned(), "--priority".into(), priority.to_string(), "--retries".into(), retries.to_string()]);
    let (more, codes): (String, &[i32]) = match kind {
        Kind::Plain => (String::new(), &[0]),
        Kind::Later => (format!("--in {}ms -p {PROJECT}", 1 + rng.below(500)), &[0]),
        Kind::After => match storm.some_task(rng) {
            // Nothing can come after what has failed.
            Some(id) => (format!("--after {id}"), &[0, 2]),
            None => return,
        },
        Kind::Keyed => {
            let conflict = *rng.pick(&["skip", "replace", "queue", "reject"]);
            (format!("--key {} --on-conflict {conflict}", rng.pick(&KEYS)), &[0, 1])
        }
        Kind::Thread => (format!("--thread {thread}"), &[0]),
        Kind::Timed => ("--timeout 40ms".to_owned(), &[0]),
        Kind::Wide => (format!("-l wide --slots {}", 1 + rng.below(3)), &[0]),
    };
    args.extend(words(&more));
    args.push("--".into());
    args.extend(match kind {
        Kind::Thread => oracle::command_in_thread(&storm.world, user, thread, deed),
        _ => oracle::command(&storm.world, user, deed),
    });
    let asked = storm.now();
    let answer = storm.call(&args, codes);
    let Some(id) = answer.id() else {
        if answer.code() == Some(0) {
            storm.complain(format!("success without an id: {answer:?}"));
        }
        return;
    };
    let plain = (kind == Kind::Plain).then(|| (asked, storm.now()));
    let must_fail = deed == Deed::Fail;
    storm.acknowledge(id, Sent { user, priority, retries, must_fail, plain, ..Sent::default() });
}

fn batch(storm: &Storm, rng: &mut Rng) {
    if storm.pending() > MOST_PENDING {
        return;
    }
    let orders: Vec<(&str, Deed, u64)> =
        (0..1 + rng.below(8)).map(|_| (*rng.pick(&USERS), *rng.pick(&DEEDS), 4 + rng.below(3))).collect();
    let line = |(user, deed, priority): &(&str, Deed, u64)| {
        let command = oracle::command(&storm.world, user, *deed);
        serde_json::json!({ "user": user, "priority": priority, "grace": "100ms", "command": command }).to_string()
    };
    let text: Vec<String> = orders.iter().map(line).collect();
    let asked = storm.now();
    let answer = storm.call_with_input(&words("enqueue --from -"), &text.join("\n"), &[0]);
    let ids: Vec<u64> = answer
        .out
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n')?.strip_prefix("task_")?.parse().ok())
        .collect();
    if answer.code() == Some(0) && ids.len() != orders.len() {
        storm.complain(format!("{} of {} tasks of a batch: {answer:?}", ids.len(), orders.len()));
    }
    for (id, (user, deed, priority)) in ids.into_iter().zip(orders) {
        let plain = Some((asked, storm.now()));
        storm.acknowledge(id, Sent { user, priority, must_fail: deed == Deed::Fail, plain, ..Sent::default() });
    }
}

/// `run`: its task goes on when it is killed, and nobody was told of it.
fn client(storm: &Storm, rng: &mut Rng) {
    let user = *rng.pick(&USERS);
    let mut args = words(&format!("run --grace 100ms -u {user} --"));
    args.extend(oracle::command(&storm.world, user, *rng.pick(&DEEDS)));
    // 1: cancelled, 137: its command was killed, 125: interrupted.
    storm.call(&args, &[0, 1, 125, 137]);
}

pub fn once(storm: &Storm, _: &mut Rng) {
    storm.call(&words("dispatch --once"), &[0]);
}

/// A dispatcher that goes on, until it is killed or this ends it.
fn dispatcher(storm: &Storm, rng: &mut Rng, args: &[&str]) {
    let patience = Duration::from_millis(200 + rng.below(3000));
    if let Some(answer) = run(storm.world.command(args), patience) {
        // A drain with a task that failed ends with 1.
        storm.check_answer(args, &answer, if args.contains(&"--drain") { &[0, 1] } else { &[0] });
    }
}

pub fn clean(storm: &Storm, rng: &mut Rng) {
    let args = rng.pick(&["cleanup-stale", "cleanup-stale 1", "cleanup-stale 0", "cleanup-stale -n"]);
    storm.call(&words(args), &[0]);
}

fn cancel(storm: &Storm, rng: &mut Rng) {
    let Some(id) = storm.some_task(rng) else { return };
    let args = words(&format!("cancel {id} --yes --grace {}ms", 20 + rng.below(200)));
    if storm.call(&args, &[0, 1]).code() == Some(0) {
        storm.change(id, |sent| sent.is_cancelled = true);
    }
}

fn retry(storm: &Storm, rng: &mut Rng) {
    let Some(id) = storm.some_task(rng) else { return };
    storm.change(id, |sent| sent.reopens += 1);
    storm.call(&words(&format!("retry {id}")), &[0, 1]);
}

/// Ends a task that holds the lane of its user, whatever it is doing.
fn force(storm: &Storm, rng: &mut Rng) {
    let Some(id) = storm.some_task(rng) else { return };
    let user = storm.user_of(id);
    storm.call(&words(&format!("release {user} task_{id} --force --yes")), &[0, 1]);
}

/// Releases the locks of tasks whose outward record says that they are over.
fn check_project(storm: &Storm, _: &mut Rng) {
    storm.call(&words(&format!("check-project {PROJECT}")), &[0, 66]);
}

fn lock(storm: &Storm, rng: &mut Rng) {
    let user = *rng.pick(&USERS);
    let mut args = words(&format!("lock -w {}ms -u {user} --", rng.below(3000)));
    args.extend(oracle::command(&storm.world, user, *rng.pick(&DEEDS_OF_LOCK)));
    // 137: its command was struck before it was the command, while it still was luzia.
    storm.call(&args, &[0, 137]);
}

/// A command under two lanes, which others take in pairs as well, and each by itself.
fn lock_two(storm: &Storm, rng: &mut Rng) {
    let (user, thread) = (*rng.pick(&USERS), *rng.pick(&THREADS));
    let mut args = words(&format!("lock -w {}ms -u {user} -l thread:{thread} --", rng.below(3000)));
    args.extend(oracle::command_in_thread(&storm.world, user, thread, *rng.pick(&DEEDS_OF_LOCK)));
    storm.call(&args, &[0, 137]);
}

/// Leases of two lanes: both are held, or none, also when the call was killed.
fn lease_two(storm: &Storm, rng: &mut Rng) {
    let (user, thread) = (*rng.pick(&USERS), *rng.pick(&THREADS));
    let holder = format!("pair-{}", storm.serial());
    let lanes = format!("-u {user} -l thread:{thread}");
    let answer = storm.call(&words(&format!("acquire {lanes} --task {holder} --timeout 500ms --ttl 5m --json")), &[0]);
    let held = held_by(storm, &holder);
    let is_right = match answer.code() {
        Some(0) => held == 2,
        Some(_) => held == 0,
        None => held == 0 || held == 2,
    };
    if !is_right && !storm.has_hung() {
        storm.complain(format!("{holder} has {held} of two lanes after {answer:?}"));
    }
    let granted: serde_json::Value = serde_json::from_str(&answer.out).unwrap_or_default();
    if let Some(fence) = granted["fence"].as_u64() {
        let section = Section::enter(&storm.world, user, fence);
        std::thread::sleep(Duration::from_millis(rng.below(30)));
        section.leave();
    }
    while !matches!(storm.call(&words(&format!("release {lanes} {holder}")), &[0, 1]).code(), Some(0 | 1)) {}
}

/// How many lanes somebody holds; asked until it is answered.
fn held_by(storm: &Storm, holder: &str) -> usize {
    loop {
        let answer = storm.call(&words("list-locks --json"), &[0]);
        let listed: serde_json::Value = serde_json::from_str(&answer.out).unwrap_or_default();
        if let (Some(0), Some(items)) = (answer.code(), listed["items"].as_array()) {
            return items.iter().filter(|lock| lock["task_id"] == holder && lock["state"] == "held").count();
        }
        if storm.has_hung() {
            return 0;
        }
    }
}

/// A script with a lease: acquires, works, renews, releases, and asks again as long as an answer is missing.
fn lease(storm: &Storm, rng: &mut Rng) {
    let user = *rng.pick(&USERS);
    let holder = format!("tenant-{}", storm.serial());
    let answer = storm.call(&words(&format!("acquire {user} --task {holder} --timeout 500ms --ttl 5m --json")), &[0]);
    let granted: serde_json::Value = serde_json::from_str(&answer.out).unwrap_or_default();
    if let (Some(lock_id), Some(fence)) = (granted["lock_id"].as_str(), granted["fence"].as_u64()) {
        let section = Section::enter(&storm.world, user, fence);
        for _ in 0..rng.below(3) {
            std::thread::sleep(Duration::from_millis(rng.below(30)));
            // A lease that has time left is never lost.
            storm.call(&words(&format!("renew {user} --lock-id {lock_id}")), &[0]);
        }
        section.leave();
        let released = storm.call(&words(&format!("release {user} --lock-id {lock_id}")), &[0]);
        if released.code() == Some(0) {
            return;
        }
    }
    // Nobody knows whether it was granted or released: it is released by its name, until that is answered.
    while !matches!(storm.call(&words(&format!("release {user} {holder}")), &[0, 1]).code(), Some(0 | 1)) {}
}

/// A lease that nobody works under, and that runs out.
fn leave_a_lease(storm: &Storm, rng: &mut Rng) {
    let lane = *rng.pick(&["alice", "bob", "thread:7", "deploy"]);
    let ttl = 1 + rng.below(400);
    storm.call(&words(&format!("acquire {lane} --task left-{} --ttl {ttl}ms", storm.serial())), &[0]);
}

pub fn read(storm: &Storm, rng: &mut Rng) {
    let answer = storm.call(&words("status --json"), &[0]);
    if let Ok(status) = serde_json::from_str::<serde_json::Value>(&answer.out) {
        storm.set_pending(status["pending"]["total"].as_u64().unwrap_or_else(|| panic!("no total in {status}")));
    }
    let id = storm.some_task(rng).unwrap_or(1);
    let user = *rng.pick(&USERS);
    let (args, codes): (String, &[i32]) = match rng.below(9) {
        0 => ("list -a --json".into(), &[0]),
        1 => ("list-locks --json".into(), &[0]),
        2 => (format!("check {user}"), &[0]),
        3 => (format!("explain {user}"), &[0]),
        4 => (format!("explain {id}"), &[0, 66]),
        5 => (format!("show {id} --json"), &[0, 66]),
        6 => (format!("logs {id}"), &[0, 66]),
        7 => (format!("wait {id} --timeout 300ms"), &[0, 1, 66, 75, 124]),
        // A storm is what it is: it may find something, but not fail.
        _ => ("doctor".into(), &[0, 1]),
    };
    storm.call(&words(&args), codes);
}

pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
