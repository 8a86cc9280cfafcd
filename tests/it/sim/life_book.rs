//! What an onlooker knows of the tasks of a run, across kills and power cuts, and what must be true of them: always,
//! whenever a command starts, and at the end.

use super::children::variable;
use super::{Env, Sim, World, know};
use luzia::model::Task;
use luzia::os::Command;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The users whose tasks take turns.
pub const USERS: [&str; 3] = ["alice", "bob", "carol"];

/// What is known.
#[derive(Default)]
pub struct Book {
    /// Every task that was made, accepted or not.
    pub asked: BTreeMap<u64, Task>,
    /// Whose acceptance was acknowledged.
    pub accepted: BTreeSet<u64>,
    /// Who was seen to be over.
    pub over: BTreeSet<u64>,
    /// How often somebody began to retry a task.
    pub retried: BTreeMap<u64, u32>,
    /// The number of the last start of each task, and how many there were.
    starts: BTreeMap<u64, (u64, u32)>,
    /// The grants that were seen in each lane, and the highest fence.
    fences: BTreeMap<String, (BTreeSet<String>, u64)>,
}

/// It, beside the machine.
pub type Shared = Arc<Mutex<Book>>;

/// Looks into it.
const FOLDERS_EMPTY_AT_THE_END: [&str; 11] = [
    "/s/run",
    "/s/spool/tmp",
    "/s/spool/lanes",
    "/s/spool/keys",
    "/s/spool/parked",
    "/s/spool/timers",
    "/s/spool/after",
    "/s/spool/running",
    "/s/spool/waiting",
    "/s/spool/corrupt",
    "/s/spool/pending/5",
];

impl Book {
    /// Looks at every change of the disk, and at every command that starts.
    pub fn watch(sim: &mut Sim, book: &Shared, slots: usize) {
        let ours = book.clone();
        sim.always("every accepted task is somewhere", move |world| know(&ours).look(world));
        let ours = book.clone();
        sim.always("what is over was synced", move |world| know(&ours).look_at_records(world));
        let ours = book.clone();
        sim.always("fences grow", move |world| know(&ours).look_at_fences(world));
        let ours = book.clone();
        sim.at_start(move |world, command| {
            know(&ours).start(world, command)?;
            let limit = |lane: &str| if lane == "global" { slots } else { 1 };
            let lanes = variable(command, "LUZIA_LANES");
            Ok(lanes.split(' ').map(|lane| (lane.to_owned(), limit(lane))).collect())
        });
    }

    fn look(&mut self, world: &World) -> Result<(), String> {
        let days = days_of_done(world);
        for id in &self.accepted {
            let copies = paths_of_done(world, &days, *id).count();
            if copies == 0 && !is_on_its_way(world, &self.asked[id]) {
                return Err(format!("task {id} is nowhere"));
            }
            if copies == 1 {
                self.over.insert(*id);
            }
        }
        Ok(())
    }

    /// A process that puts a record among the finished ones has made sure of its bytes: from then on nobody has another copy.
    fn look_at_records(&self, world: &World) -> Result<(), String> {
        let days = days_of_done(world);
        for id in &self.accepted {
            if let Some(path) = paths_of_done(world, &days, *id).find(|path| !world.disk.has_safe_bytes(path)) {
                return Err(format!("a power cut can empty {path}"));
            }
        }
        Ok(())
    }

    fn look_at_fences(&mut self, world: &World) -> Result<(), String> {
        for name in world.peek_names("/s/locks") {
            let Some(stem) = name.strip_suffix(".lock") else { continue };
            let bytes = world.peek(&format!("/s/locks/{name}")).unwrap_or_default();
            let Some(grant) = std::str::from_utf8(bytes).ok().and_then(|text| text.strip_suffix('\n')) else {
                continue;
            };
            let Some(fence) = grant.split(' ').nth(1).and_then(|text| text.parse().ok()) else { continue };
            let lane = stem.split('@').next().unwrap_or_default();
            let (seen, highest) = self.fences.entry(lane.to_owned()).or_default();
            if !seen.insert(grant.to_owned()) {
                continue;
            }
            if fence <= *highest {
                return Err(format!("{lane} gives {fence} after {highest}"));
            }
            *highest = fence;
        }
        Ok(())
    }

    /// A command starts: its start was recorded, and it may run.
    fn start(&mut self, world: &World, command: &Command) -> Result<(), String> {
        let id = variable(command, "LUZIA_TASK_ID").trim_start_matches("task_").parse().map_err(|_| "no task")?;
        let path = format!("/s/spool/running/{id}.started.json");
        let record: serde_json::Value = serde_json::from_slice(world.peek(&path).ok_or("its start is not recorded")?)
            .map_err(|error| format!("its start: {error}"))?;
        for path in [&path, &format!("/s/spool/running/{id}.json"), &format!("/s/spool/running/{id}.result.json")] {
            if !world.disk.has_safe_name(path) || !world.disk.has_safe_bytes(path) {
                return Err(format!("it starts, and a power cut can take {path}"));
            }
        }
        let number = record["start"].as_u64().unwrap_or(0);
        let (last, count) = self.starts.entry(id).or_default();
        if number <= *last {
            return Err(format!("start {number} after start {last}"));
        }
        (*last, *count) = (number, *count + 1);
        for before in &self.asked[&id].after {
            let has_completed = |path: String| {
                let record = world.peek(&path).and_then(|bytes| serde_json::from_slice(bytes).ok());
                record.is_some_and(|record: serde_json::Value| record["status"] == "completed")
            };
            let is_in_order =
                paths_of_done(world, &days_of_done(world), before.0).any(|path| has_completed(path.to_string()));
            if !is_in_order && !self.retried.contains_key(&before.0) {
                return Err(format!("it starts before {before} has completed"));
            }
        }
        let retried = self.retried.get(&id).copied().unwrap_or(0);
        let most = (self.asked[&id].retries + 1) * (retried + 1);
        if *count > most {
            return Err(format!("started {count} times, and {most} were allowed"));
        }
        if retried == 0 && self.over.contains(&id) {
            return Err("it was over".into());
        }
        Ok(())
    }

    /// When all is quiet.
    pub fn audit(&self, env: &Env) {
        let wrong = env.look(|world| self.wrong_at_the_end(world)).unwrap_or_default();
        for what in wrong {
            env.violation(&what);
        }
    }

    fn wrong_at_the_end(&self, world: &World) -> Vec<String> {
        let mut wrong = Vec::new();
        for id in &self.accepted {
            if done(world, *id) != 1 {
                wrong.push(format!("task {id} stands {} times among the finished", done(world, *id)));
            }
        }
        for id in self.asked.keys().filter(|id| !self.accepted.contains(id)) {
            if done(world, *id) > 1 {
                wrong.push(format!("task {id} stands more than once among the finished"));
            }
        }
        for folder in FOLDERS_EMPTY_AT_THE_END {
            let left = world.peek_names(folder);
            if !left.is_empty() {
                wrong.push(format!("left in {folder}: {left:?}"));
            }
        }
        let locks: Vec<String> = world.peek_names("/s/locks").into_iter().filter(|name| name != ".guard").collect();
        if !locks.is_empty() {
            wrong.push(format!("left in locks: {locks:?}"));
        }
        wrong
    }
}

fn days_of_done(world: &World) -> Vec<String> {
    world.peek_names("/s/spool/done")
}

/// The files of a task among the finished tasks of these days.
fn paths_of_done(world: &World, days: &[String], id: u64) -> impl Iterator<Item = String> {
    let paths = days.iter().map(move |day| format!("/s/spool/done/{day}/{id}.json"));
    paths.filter(|path| world.peek(path).is_some())
}

/// How many files a task has among the finished ones.
fn done(world: &World, id: u64) -> usize {
    paths_of_done(world, &days_of_done(world), id).count()
}

/// Whether a task is pending, running or parked, or has a whole result.
fn is_on_its_way(world: &World, task: &Task) -> bool {
    let (id, queue) = (task.id.0, task.queue());
    let is_there = |path: String| world.peek(&path).is_some();
    let has_result = || {
        let bytes = world.peek(&format!("/s/spool/running/{id}.result.json")).unwrap_or_default();
        serde_json::from_slice::<serde_json::Value>(bytes).is_ok()
    };
    is_there(format!("/s/spool/pending/5/{queue}/{id}.json"))
        || is_there(format!("/s/spool/pending/5/{queue}/{}/{id}.json", id / 1000))
        || is_there(format!("/s/spool/running/{id}.json"))
        || is_there(format!("/s/spool/parked/{}/{id}.json", id / 1000))
        || has_result()
}
