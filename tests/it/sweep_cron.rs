//! The scenes of the sweep about schedules.

use super::harness::oracle::{self, Deed};
use super::harness::{Answer, World, files_below};
use super::sweep_scenes::{PLAIN, Scene, queue_none};
use serde_json::Value;

pub const ADD: Scene = Scene {
    name: "cron-add",
    args: &["cron", "add", "x", "0 9 * * *", "--tz", "UTC", "-u", "alice", "--", "true"],
    prepare: queue_none,
    judge: added_or_not,
    ..PLAIN
};

pub const DUE: Scene =
    Scene { name: "cron-due", args: &["dispatch", "--once"], prepare: is_due, judge: one_for_its_slot, ..PLAIN };

pub const RUN: Scene = Scene {
    name: "cron-run",
    args: &["cron", "run", "tick"],
    prepare: has_schedule,
    prints_ids: true,
    judge: one_at_most,
    ..PLAIN
};

pub const RM: Scene =
    Scene { name: "cron-rm", args: &["cron", "rm", "tick"], prepare: has_schedule, judge: removed_or_not, ..PLAIN };

fn has_schedule(world: &World) {
    queue_none(world);
    let command = oracle::command(world, "alice", Deed::Quick);
    let args = ["cron", "add", "tick", "0 0 1 1 *", "--tz", "UTC", "-u", "alice", "--"];
    let all: Vec<&str> = args.into_iter().chain(command.iter().map(String::as_str)).collect();
    world.luzia(&all).ok();
}

/// A slot of a minute ago that nobody has looked at.
fn is_due(world: &World) {
    has_schedule(world);
    let slot = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() / 1000 * 1000 - 60_000;
    let path = world.state.join("spool/schedules/tick.json");
    let mut schedule: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    schedule["next"] = luzia::model::Timestamp(i64::try_from(slot).unwrap()).to_string().into();
    std::fs::write(&path, schedule.to_string()).unwrap();
    let hour = world.state.join(format!("spool/timers/{}", slot / 3_600_000));
    std::fs::create_dir_all(&hour).unwrap();
    std::fs::write(hour.join(format!("{slot}.cron.tick")), "").unwrap();
}

/// How many tasks the schedule has made.
fn made(world: &World) -> usize {
    let is_of_it = |path: &std::path::PathBuf| {
        let record: Value =
            std::fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        record["schedule"] == "tick"
    };
    files_below(&world.state.join("spool/done")).iter().filter(|path| is_of_it(path)).count()
}

fn left_over(world: &World) -> Option<String> {
    let staged = files_below(&world.state.join("spool/schedules")).into_iter();
    let staged: Vec<_> = staged.filter(|path| path.extension().is_some_and(|ending| ending == "task")).collect();
    (!staged.is_empty()).then(|| format!("staged tasks are left: {staged:?}"))
}

fn one_for_its_slot(world: &World, _: &Answer) -> Vec<String> {
    let mut problems: Vec<String> = left_over(world).into_iter().collect();
    if made(world) != 1 {
        problems.push(format!("the slot made {} tasks", made(world)));
    }
    let listed = world.luzia(&["cron", "list", "--json"]);
    let document: Value = serde_json::from_str(&listed.out).unwrap_or_default();
    let next = document["items"][0]["next_at"].as_str().unwrap_or_default().to_owned();
    if !next.ends_with("-01-01T00:00:00.000Z") || document["items"][0]["last_status"] != "completed" {
        problems.push(format!("the schedule is not as it should be: {listed:?}"));
    }
    let timers = files_below(&world.state.join("spool/timers"));
    if timers.len() != 1 {
        problems.push(format!("the timers are {timers:?}"));
    }
    end(world, "tick");
    problems
}

fn one_at_most(world: &World, answer: &Answer) -> Vec<String> {
    let mut problems: Vec<String> = left_over(world).into_iter().collect();
    let made = made(world);
    if made > 1 || answer.code() == Some(0) && made != 1 {
        problems.push(format!("{made} tasks were made: {answer:?}"));
    }
    end(world, "tick");
    problems
}

/// Removes the schedule, which would be left behind otherwise.
fn end(world: &World, name: &str) {
    world.luzia(&["cron", "rm", name]);
}

fn schedules(world: &World) -> (usize, bool) {
    let listed = world.luzia(&["cron", "list", "--json"]);
    let document: Value = serde_json::from_str(&listed.out).unwrap_or_default();
    let own = |all: &Vec<Value>| all.iter().filter(|schedule| schedule["built_in"] == false).count();
    let count = document["items"].as_array().map_or(usize::MAX, own);
    (count, listed.err.contains("warning"))
}

fn added_or_not(world: &World, answer: &Answer) -> Vec<String> {
    let (count, is_broken) = schedules(world);
    let has_timer = files_below(&world.state.join("spool/timers")).len() == 1;
    let is_told = answer.code().is_none_or(|code| code == 0) || answer.err.is_empty() || answer.err.contains("stands");
    end(world, "x");
    match (count, is_broken) {
        (1, false) if has_timer && is_told => Vec::new(),
        (0, false) if answer.code() != Some(0) => Vec::new(),
        found => vec![format!("{found:?}, a timer {has_timer}, after {answer:?}")],
    }
}

fn removed_or_not(world: &World, answer: &Answer) -> Vec<String> {
    let (count, is_broken) = schedules(world);
    let is_told = answer.code().is_none_or(|code| code == 0) || answer.err.is_empty() || answer.err.contains("stands");
    end(world, "tick");
    match (count, is_broken) {
        (0, false) if is_told => Vec::new(),
        (1, false) if answer.code() != Some(0) => Vec::new(),
        found => vec![format!("{found:?} after {answer:?}")],
    }
}
