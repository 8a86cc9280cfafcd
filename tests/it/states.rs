//! The state table of `docs/states.md`, walked: every combination of files that can lie on disk for one task is
//! built on the pretend machine and recovered by the real code, and what was done and what is left is compared with the
//! one row of the page that applies. So the page and the code cannot drift apart.

mod combination;
mod table;

use crate::sim::{Env, Sim};
use crate::support::Place;
use combination::{Combination, Copies, ID, Lock, Outcome, Tree};
use luzia::app::pass::pass;
use luzia::app::{App, Settings};
use luzia::model::{Config, TaskId};
use luzia::policy::recovery::{Action, action};
use luzia::store::Spool;
use luzia::supervise::{recover, seen};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use table::{Row, rows};

/// What a walk over one combination saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Walked {
    /// The action that recovery took; `None` when it left the task alone.
    action: Option<Action>,
    /// Where copies of the record stood afterwards.
    copies: Vec<&'static str>,
    /// Whether a lock file was left.
    is_locked: bool,
    /// Whether `run/<id>/` was left, or a start or a result.
    has_run_dir: bool,
    /// Whether a process of its tree lived.
    has_tree: bool,
    /// An error.
    error: Option<String>,
}

fn store(env: &Env) -> Spool {
    Spool::new(env.vfs("/s"), env.clock(), env.procs())
}

fn app(env: &Env) -> App {
    App::new(store(env), Settings::fixed(Config::default()))
}

/// A machine with an empty state directory and the combination in it. The processes that hold what is held are there,
/// and are not disturbed.
fn machine(combination: Combination) -> Sim {
    let mut sim = Sim::replay(&[]);
    sim.dir("/s").dir("/c");
    sim.spawn("build", move |env| combination.build(&env));
    if combination.is_supervised {
        sim.spawn("super", move |env| combination.hold_supervisor(&env));
    }
    if combination.tree == Tree::Held {
        sim.spawn("tree", |env| combination::hold_tree(&env));
    }
    sim
}

/// Does with the combination what a process does that takes its `supervisor.lock`, and looks.
fn walk(combination: Combination) -> Walked {
    let walked = Arc::new(Mutex::new(Walked::default()));
    let ours = walked.clone();
    let mut sim = machine(combination);
    sim.spawn("recover", move |env| {
        combination::until_built(&env, combination);
        let store = store(&env);
        let mut seen_there = Walked::default();
        match store.find_abandoned(TaskId(ID)) {
            Ok(None) => {}
            Ok(Some(found)) => {
                seen_there.action = Some(action(seen(&found)));
                seen_there.error = recover(&store.into(), TaskId(ID), found, &[]).err().map(|error| error.to_string());
            }
            Err(error) => seen_there.error = Some(error.to_string()),
        }
        env.look(|world| combination::look(world, &mut seen_there));
        *ours.lock().unwrap() = seen_there;
        combination::let_go(&env);
    });
    let report = sim.run();
    assert!(report.violations.is_empty(), "{combination:?}: {report}");
    Arc::try_unwrap(walked).map(|all| all.into_inner().unwrap()).unwrap_or_else(|all| all.lock().unwrap().clone())
}

fn row_of(rows: &[Row], combination: Combination) -> &Row {
    let fitting: Vec<&Row> = rows.iter().filter(|row| row.fits(combination)).collect();
    assert_eq!(fitting.len(), 1, "{combination:?} is in {} rows: {fitting:#?}", fitting.len());
    fitting[0]
}

#[test]
fn every_combination_has_exactly_one_row_and_every_row_a_combination() {
    let rows = rows();
    let mut used = vec![0_u32; rows.len()];
    for combination in combination::all() {
        let row = row_of(&rows, combination);
        used[rows.iter().position(|other| std::ptr::eq(other, row)).unwrap()] += 1;
    }
    let unused: Vec<&Row> = rows.iter().zip(&used).filter(|(_, count)| **count == 0).map(|(row, _)| row).collect();
    assert!(unused.is_empty(), "rows that nothing fits: {unused:#?}");
}

#[test]
fn recovery_does_what_the_state_table_says() {
    let rows = rows();
    let mut wrong = Vec::new();
    for combination in combination::all() {
        let (row, walked) = (row_of(&rows, combination), walk(combination));
        let expected = row.expected(combination);
        if walked != expected {
            wrong.push(format!(
                "{combination:?}\n  row      {}\n  expected {expected:?}\n  found    {walked:?}",
                row.text
            ));
        }
    }
    let count = wrong.len();
    wrong.truncate(12);
    assert!(wrong.is_empty(), "{count} combinations differ from docs/states.md:\n{}", wrong.join("\n"));
}

/// Passes until nothing is left to do: where the record is then, and whether the command ran.
fn drain(combination: Combination) -> (Walked, u32) {
    let walked = Arc::new(Mutex::new((Walked::default(), 0)));
    let (ours, ran) = (walked.clone(), walked.clone());
    let mut sim = machine(combination);
    sim.on_launch(|env| {
        let is_recovery = env.args.iter().any(|arg| arg == "--recover");
        let id = env.args.last().and_then(|arg| TaskId::parse(arg)).expect("a task");
        if let Err(error) =
            luzia::app::pass::supervise::supervise(&app(&env), id, is_recovery, &mut || env.is_told_to_end())
        {
            env.violation(&error.to_string());
        }
    });
    sim.on_command(move |env| {
        env.step("work");
        ran.lock().unwrap().1 += 1;
    });
    sim.at_start(|_, _| Ok(Vec::new()));
    sim.spawn("drain", move |env| {
        combination::until_built(&env, combination);
        let app = app(&env);
        let mut end = Walked::default();
        for _ in 0..8 {
            if let Err(error) = pass(&app) {
                end.error = Some(error.to_string());
            }
            env.clock().sleep(Duration::from_secs(70));
        }
        env.look(|world| combination::look(world, &mut end));
        ours.lock().unwrap().0 = end;
        combination::let_go(&env);
    });
    let report = sim.run();
    assert!(report.violations.is_empty(), "{combination:?}: {report}");
    walked.lock().unwrap().clone()
}

#[test]
fn passes_bring_every_combination_that_a_crash_can_leave_to_one_place_without_a_lock() {
    let mut wrong = Vec::new();
    for combination in combination::all().filter(|one| one.is_reachable()) {
        let (end, ran) = drain(combination);
        // A record in `waiting` stays there with its locks until its event comes.
        let stays = combination.stays_waiting();
        let expected = if stays { vec!["waiting"] } else { vec!["done"] };
        let is_well = end.copies == expected && end.error.is_none() && !end.has_tree;
        let is_clean = stays || (!end.is_locked && !end.has_run_dir);
        let is_over = combination.is_over();
        if !is_well || !is_clean || ran > u32::from(!is_over) {
            wrong.push(format!("{combination:?}\n  ended as {end:?}, ran {ran} times"));
        }
    }
    let count = wrong.len();
    wrong.truncate(12);
    assert!(wrong.is_empty(), "{count} combinations end badly:\n{}", wrong.join("\n"));
}

#[test]
fn a_retry_beside_the_copy_that_a_killed_cancel_left_keeps_nobody_from_their_turn() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo ran >> $PLACE/ran"]);
    let queued = place.state().join("spool/pending/5").join(crate::support::queue("alice")).join("1.json");
    let record = std::fs::read(&queued).unwrap();
    place.ok(&["cancel", &id]);
    std::fs::create_dir_all(queued.parent().unwrap()).unwrap();
    std::fs::write(&queued, record).unwrap();
    place.ok(&["retry", &id]);
    let other = place.enqueue(&["-u", "bob", "--", "true"]);
    place.drain();
    assert_eq!((place.status(&id), place.status(&other)), ("completed".into(), "completed".into()));
    assert_eq!(crate::support::lines(&place.path("ran")), ["ran"]);
}

#[test]
fn the_walk_notices_a_table_that_is_wrong() {
    let some = Combination {
        is_supervised: false,
        copies: Copies::of(&["running"]),
        result: Outcome::None,
        is_started: true,
        tree: Tree::Absent,
        is_cancelled: false,
        lock: Lock::Whole,
    };
    let rows = rows();
    let mut expected = row_of(&rows, some).expected(some);
    assert_eq!(walk(some), expected);
    expected.copies = vec!["pending"];
    assert_ne!(walk(some), expected);
}
