//! The power is cut at every system call of a sequence of verbs, on real file systems: what was acknowledged is there
//! afterwards, whole, and comes to its end. `cargo test` takes LUZIA_POWER_POINTS of them by LUZIA_POWER_SEED; LUZIA_POWER=all
//! takes every point.

use super::harness::checker::{self, Checker, Promise, places, settle};
use super::harness::oracle::{self, Deed};
use super::harness::rng::Rng;
use super::harness::strace::{self, Fault, Point};
use super::harness::{Answer, PATIENCE, run, until};
use super::power_cut::{Host, Kind, is_inside};
use super::support::times;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// How many points the sample of one file system has.
const SAMPLE: usize = 15;
/// How long the verb that is struck may go on before the power is cut anyway.
const STRICKEN: Duration = Duration::from_secs(3);
/// The status of a process that was ended by SIGKILL.
const KILL: i32 = 9;
const FINAL: [&str; 4] = ["completed", "failed", "timeout", "cancelled"];

/// One verb of the sequence.
struct Step {
    args: Vec<String>,
    /// The processes it starts are stopped as well.
    follow: bool,
    prints_ids: bool,
}

/// A point at which the power is cut: in a step, before a call.
struct Cut {
    step: usize,
    point: Point,
}

/// What was promised on the way to the cut.
#[derive(Default)]
struct Told {
    ids: BTreeSet<u64>,
    cancelled: bool,
    retried: bool,
}

/// Three users, a batch whose commands leave processes behind, a task after another, a lease, a cancel, a retry, and two
/// drains.
fn steps(host: &Host) -> Vec<Step> {
    let world = &host.world;
    let words = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    let step = |args: &[&str]| Step { args: words(args), follow: false, prints_ids: false };
    let enqueue = |options: &[&str], user: &str, deed: Deed| {
        let mut args = words(&["enqueue", "-u", user]);
        args.extend(words(options));
        args.push("--".into());
        args.extend(oracle::command(world, user, deed));
        Step { args, follow: false, prints_ids: true }
    };
    let line = |user: &str, deed: Deed| {
        let command = oracle::command(world, user, deed);
        format!("{}\n", serde_json::json!({ "user": user, "command": command }))
    };
    let batch = world.work.parent().unwrap().join("many.jsonl");
    let lines = [line("alice", Deed::ForkClosed), line("bob", Deed::ForkBare), line("carol", Deed::Fork)];
    std::fs::write(&batch, lines.concat()).unwrap();
    let drain = || Step { follow: true, ..step(&["dispatch", "--drain"]) };
    vec![
        enqueue(&[], "alice", Deed::Quick),
        enqueue(&["--thread", "7"], "bob", Deed::Fail),
        Step { prints_ids: true, ..step(&["enqueue", "--from", batch.to_str().unwrap()]) },
        enqueue(&["--after", "1", "--in", "50ms"], "alice", Deed::Deaf),
        step(&["acquire", "deploy", "--task", "me", "--ttl", "1h"]),
        step(&["cancel", "5"]),
        drain(),
        step(&["retry", "2"]),
        step(&["release", "deploy", "me"]),
        enqueue(&["--key", "k", "--start-within", "1h"], "alice", Deed::Quick),
        drain(),
    ]
}

impl Step {
    fn play(&self, host: &Host, point: Option<&Point>, log: Option<&std::path::Path>) -> Answer {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let command = match log {
            Some(log) => strace::command(&host.world, log, self.follow, point, &args),
            None => host.world.command(&args),
        };
        if point.is_none() {
            return run(command, PATIENCE)
                .unwrap_or_else(|| panic!("{args:?} does not end; see {:?}", host.world.keep()));
        }
        // Where every process dies at its n-th call, a drain goes on for ever: the power is cut in the middle of it.
        let ended = run(command, STRICKEN);
        ended.unwrap_or_else(|| Answer { status: ExitStatus::from_raw(KILL), out: String::new(), err: String::new() })
    }

    fn note(&self, answer: &Answer, told: &mut Told) {
        if self.prints_ids {
            told.ids.extend(answer.out.lines().filter_map(|line| line.strip_prefix("task_")?.parse::<u64>().ok()));
        }
        told.cancelled |= self.args[0] == "cancel" && answer.code() == Some(0);
        told.retried |= self.args[0] == "retry" && answer.code() == Some(0);
    }
}

/// Every place in the sequence at which something changes.
fn cuts(host: &mut Host) -> Vec<Cut> {
    host.renew();
    let log = host.world.work.parent().unwrap().join("trace");
    let mut cuts = Vec::new();
    let mut told = Told::default();
    for (step, verb) in steps(host).iter().enumerate() {
        let answer = verb.play(host, None, Some(&log));
        let is_drain = verb.args.iter().any(|arg| arg == "--drain");
        assert!(matches!((answer.code(), is_drain), (Some(0), _) | (Some(1), true)), "{:?}: {answer:?}", verb.args);
        verb.note(&answer, &mut told);
        checker::rest(&host.world);
        let seen = strace::read_log(&std::fs::read_to_string(&log).unwrap());
        let kills = strace::points(&seen).into_iter().filter(|point| point.fault == Fault::Kill);
        cuts.extend(kills.map(|point| Cut { step, point }));
    }
    assert_eq!(told.ids, (1..=7).collect());
    let problems = judge(host, &told);
    assert!(problems.is_empty(), "without a cut: {problems:#?}");
    cuts
}

/// Plays the sequence up to the cut, cuts the power, recovers and judges.
fn cut(host: &mut Host, at: &Cut) -> Vec<String> {
    host.renew();
    let log = host.world.work.parent().unwrap().join("trace");
    let mut told = Told::default();
    for (step, verb) in steps(host).iter().enumerate().take(at.step + 1) {
        let is_last = step == at.step;
        let answer = verb.play(host, is_last.then_some(&at.point), is_last.then_some(&log));
        verb.note(&answer, &mut told);
    }
    host.cut_power();
    judge(host, &told)
}

/// Recovers, and says what is wrong.
fn judge(host: &Host, told: &Told) -> Vec<String> {
    let world = &host.world;
    settle(world);
    let mut problems = Vec::new();
    // An id is never given twice, although the last ones given need not have been synced.
    let before = oracle::journal(world).iter().filter_map(|line| line.task).chain(told.ids.iter().copied()).max();
    let further = world.luzia(&["enqueue", "-u", "alice", "--", "true"]);
    match further.id() {
        Some(id) if before.is_none_or(|last| id > last) => {}
        _ => problems.push(format!("after task_{before:?} came {further:?}")),
    }
    // The lanes can be had, and the journal gets the next fences.
    for user in ["alice", "bob", "carol"] {
        let command = oracle::script(world, user, ":");
        let args: Vec<&str> =
            ["lock", "-w", "10", "-u", user, "--"].into_iter().chain(command.iter().map(String::as_str)).collect();
        let answer = world.luzia(&args);
        if answer.code() != Some(0) {
            problems.push(format!("the lane of {user} cannot be had: {answer:?}"));
        }
    }
    let released = world.luzia(&["release", "deploy", "--force", "--yes"]);
    if released.code() != Some(0) {
        problems.push(format!("the lease cannot be released: {released:?}"));
    }
    settle(world);
    checker::clean_aged(world);
    let mut checker = Checker::default();
    for id in &told.ids {
        let retries = u64::from(*id == 2);
        checker.acknowledged.insert(*id, Promise { retries, reopens: retries });
    }
    problems.extend(checker.check_quiet(world));
    for (id, stand) in places(&world.state) {
        if !stand.iter().all(|path| path.contains("/spool/done/")) {
            problems.push(format!("task_{id} is not brought to its end: {stand:?}"));
        }
        let status = world.status_of(id);
        if !FINAL.contains(&status.as_str()) {
            problems.push(format!("task_{id} is {status}"));
        }
        if id == 5 && told.cancelled && status != "cancelled" {
            problems.push(format!("task_5 was cancelled, and is {status}"));
        }
    }
    problems
}

fn sweep(kind: Kind) {
    let mut host = Host::new(kind);
    let is_all = std::env::var("LUZIA_POWER").is_ok_and(|value| value == "all");
    let mut cuts = cuts(&mut host);
    let all = cuts.len();
    let seed = Rng::seed_from("LUZIA_POWER_SEED");
    Rng::new(seed).shuffle(&mut cuts);
    if !is_all {
        cuts.truncate(times("LUZIA_POWER_POINTS", SAMPLE));
    }
    let (mut done, mut problems) = (0, Vec::new());
    for at in &cuts {
        let found = cut(&mut host, at);
        done += 1;
        if !found.is_empty() {
            let told = format!("{kind:?}, step {} at {:?}: {found:#?}", at.step, at.point);
            eprintln!("{told}");
            problems.push(told);
        }
    }
    eprintln!("power: LUZIA_POWER_SEED={seed}, {kind:?}: {done} cuts of {all}, {} with problems", problems.len());
    assert!(done > 0);
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn what_was_acknowledged_survives_a_power_cut_on_ext4() {
    if is_inside("power::what_was_acknowledged_survives_a_power_cut_on_ext4", &[Kind::Ext4]) {
        sweep(Kind::Ext4);
    }
}

#[test]
fn what_was_acknowledged_survives_a_power_cut_on_xfs() {
    if is_inside("power::what_was_acknowledged_survives_a_power_cut_on_xfs", &[Kind::Xfs]) {
        sweep(Kind::Xfs);
    }
}

/// The judge is no use if it does not see a missing sync: of the file, of its folder, of everything.
#[test]
fn a_sync_that_lies_is_noticed() {
    if !is_inside("power::a_sync_that_lies_is_noticed", &[Kind::Ext4, Kind::Xfs]) {
        return;
    }
    for kind in [Kind::Ext4, Kind::Xfs] {
        let mut host = Host::new(kind);
        let log = host.world.work.parent().unwrap().join("trace");
        for lie in [None, Some("fdatasync"), Some("fsync"), Some("fsync,fdatasync,syncfs")] {
            host.renew();
            let all = steps(&host);
            let mut told = Told::default();
            // What was there before is durable; only the second task is lied about.
            all[0].note(&all[0].play(&host, None, None), &mut told);
            let point = lie.map(|calls| Point { call: calls.to_owned(), n: 0, fault: Fault::Lie });
            let answer = all[1].play(&host, point.as_ref(), Some(&log));
            assert_eq!(answer.code(), Some(0), "{answer:?}");
            all[1].note(&answer, &mut told);
            assert_eq!(told.ids, [1, 2].into());
            host.cut_power();
            let problems = judge(&host, &told);
            let is_missed = |text: &String| text.contains("task_2 was acknowledged and is lost");
            assert_eq!(problems.iter().any(is_missed), lie.is_some(), "{kind:?}, {lie:?}: {problems:#?}");
        }
    }
}

/// Nobody has made a pass yet when somebody asks for the lane (S1.40, S1.41, X3).
#[test]
fn a_lane_kept_by_a_blocked_wait_survives_a_power_cut() {
    if !is_inside("power::a_lane_kept_by_a_blocked_wait_survives_a_power_cut", &[Kind::Ext4, Kind::Xfs]) {
        return;
    }
    for kind in [Kind::Ext4, Kind::Xfs] {
        let mut host = Host::new(kind);
        host.renew();
        let text = format!("{} await response", env!("CARGO_BIN_EXE_luzia"));
        let world = &host.world;
        assert_eq!(world.luzia(&["enqueue", "-u", "alice", "--", "sh", "-c", &text]).code(), Some(0));
        assert_eq!(world.luzia(&["dispatch"]).code(), Some(0));
        until("it waits", || (world.status_of(1) == "waiting").then_some(()));
        host.cut_power();
        let world = &host.world;
        let ask = || world.luzia(&["acquire", "alice", "--task", "other"]).code();
        assert_eq!(ask(), Some(75), "{kind:?}");
        assert_eq!(world.luzia(&["cleanup-stale"]).code(), Some(0));
        assert_eq!((ask(), world.status_of(1).as_str()), (Some(75), "waiting"), "{kind:?}");
        assert_eq!(world.luzia(&["emit", "MESSAGE_RECEIVED", "--task", "1"]).code(), Some(0));
        until("it goes on", || (world.status_of(1) == "completed").then_some(()));
        assert_eq!(ask(), Some(0), "{kind:?}");
    }
}
