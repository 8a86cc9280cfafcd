//! Judges a state directory from outside, after the fact: by its files, the journal of the commands, and the events.

use super::oracle;
use super::{World, files_below, list, procs, until};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What was promised to the caller of `enqueue`.
#[derive(Clone, Copy, Default, Debug)]
pub struct Promise {
    /// Retries that were asked for, of both kinds.
    pub retries: u64,
    /// How often somebody asked to retry it when it was over; each may have come to something, also without an answer.
    pub reopens: u64,
}

/// The tasks whose ids were printed, and what was wrong.
#[derive(Default)]
pub struct Checker {
    pub acknowledged: BTreeMap<u64, Promise>,
    /// Locks that may be left: leases that still run.
    pub leases_may_live: bool,
    /// A task may begin again under the grant it has: killed in a wait, it keeps its lanes.
    pub resumes: bool,
    /// How many commands of tasks may run at once; `None` is not judged.
    pub slots: Option<usize>,
    pub problems: Vec<String>,
}

impl Checker {
    pub fn promise(&mut self, id: u64, retries: u64) {
        self.acknowledged.insert(id, Promise { retries, reopens: 0 });
    }

    /// Everything that must hold once nothing is left to do.
    pub fn check_quiet(mut self, world: &World) -> Vec<String> {
        self.check_exclusion(world);
        self.check_records(world);
        self.check_attempts(world);
        self.check_events(world);
        self.check_leaks(world);
        self.check_verbs(world);
        self.problems
    }

    /// Like `check_quiet`, and fails the test at any problem.
    pub fn assert_quiet(self, world: &World) {
        let problems = self.check_quiet(world);
        assert!(problems.is_empty(), "{problems:#?}\nsee {}", world.keep().display());
    }

    fn complain(&mut self, what: impl Into<String>) {
        self.problems.push(what.into());
    }

    /// No two live holders of a lane, and every grant's fence is greater than all before it.
    fn check_exclusion(&mut self, world: &World) {
        let mut fences: BTreeMap<String, u64> = BTreeMap::new();
        for line in oracle::journal(world) {
            match line.what {
                'V' => self.complain(format!("two live holders: {line:?}")),
                'B' => {
                    let last = fences.insert(line.user.clone(), line.fence).unwrap_or(0);
                    if line.fence < last || (line.fence == last && !self.resumes) {
                        self.complain(format!("the fence of {line:?} is not above {last}"));
                    }
                }
                _ => {}
            }
        }
    }

    /// Acknowledged is present, and each number stands in exactly one place.
    fn check_records(&mut self, world: &World) {
        let places = places(&world.state);
        for (id, found) in &places {
            if found.len() > 1 {
                self.complain(format!("task_{id} stands in {found:?}"));
            }
        }
        for id in self.acknowledged.keys().copied().collect::<Vec<_>>() {
            if !places.contains_key(&id) {
                self.complain(format!("task_{id} was acknowledged and is lost"));
            }
        }
        let begun: BTreeSet<u64> = oracle::journal(world).iter().filter_map(|line| line.task).collect();
        for id in begun.iter().filter(|id| !places.contains_key(id)) {
            self.complain(format!("task_{id} has run and is lost"));
        }
        for path in list(&world.state.join("spool/corrupt")) {
            self.complain(format!("a record was set aside as corrupt: {}", path.display()));
        }
    }

    /// No task began more often than it was promised.
    fn check_attempts(&mut self, world: &World) {
        let mut begins: BTreeMap<u64, u64> = BTreeMap::new();
        for task in oracle::journal(world).iter().filter(|line| line.what == 'B').filter_map(|line| line.task) {
            *begins.entry(task).or_default() += 1;
        }
        for (id, count) in begins {
            let most = self.acknowledged.get(&id).map_or(1, |promise| (1 + promise.retries) * (1 + promise.reopens));
            if count > most {
                self.complain(format!("task_{id} began {count} times, and {most} was the most"));
            }
        }
    }

    /// Intervals of a user never overlap, no more run at once than there are slots, and a finished task never starts again
    /// unless somebody retries it.
    fn check_events(&mut self, world: &World) {
        let events = world.events();
        let parents = borrowers(&events);
        let most = most_at_once(&slot_intervals(&events), &parents);
        if self.slots.is_some_and(|slots| most > slots) {
            self.complain(format!("{most} tasks ran at once"));
        }
        for (user, mut spans) in intervals(&events) {
            spans.sort_unstable();
            let mut open: Vec<&(u64, u64, String)> = Vec::new();
            for span in &spans {
                open.retain(|other| span.0 < other.1);
                // A lender and its borrowers are one holder.
                if let Some(other) = open.iter().find(|other| !is_below(&span.2, &other.2, &parents)) {
                    self.complain(format!("intervals of {user} overlap: {other:?} {span:?} (begin ms, end ms, task)"));
                }
                open.push(span);
            }
        }
        let mut over: BTreeMap<&str, bool> = BTreeMap::new();
        let mut reopened: BTreeMap<&str, u64> = BTreeMap::new();
        for event in &events {
            let (Some(task), Some(name)) = (event["task"].as_str(), event["event"].as_str()) else { continue };
            match name {
                "finished" => drop(over.insert(task, true)),
                "retried" => drop(over.insert(task, false)),
                "started" if over.insert(task, false) == Some(true) => *reopened.entry(task).or_default() += 1,
                _ => {}
            }
        }
        for (task, count) in reopened {
            // Who retries may be killed before it is noted.
            let id = task.strip_prefix("task_").and_then(|number| number.parse().ok());
            let allowed = id.and_then(|id: u64| self.acknowledged.get(&id)).map_or(0, |promise| promise.reopens);
            if count > allowed {
                self.complain(format!("{task} was finished and started again"));
            }
        }
    }

    /// Nothing is left: no process, no claim, no lock, no temporary file, no hint without its record.
    fn check_leaks(&mut self, world: &World) {
        let folders =
            ["run", "spool/running", "spool/waiting", "spool/tmp", "spool/lanes", "spool/timers", "spool/after"];
        for folder in folders.into_iter().chain(["spool/keys"]) {
            for path in list(&world.state.join(folder)) {
                let files = files_below(&path);
                // An empty folder for hints holds nothing up; everything else is a leak.
                if path.is_file() || !files.is_empty() || ["run", "spool/tmp"].contains(&folder) {
                    self.complain(format!("left behind: {} {files:?}", path.display()));
                }
            }
        }
        for path in files_below(&world.state.join("conductor")) {
            if path.components().any(|part| part.as_os_str() == "active") {
                self.complain(format!("left behind: {}", path.display()));
            }
        }
        for path in list(&world.state.join("locks")) {
            let is_guard = path.file_name().is_some_and(|name| name == ".guard")
                || path.file_name().is_some_and(|name| name == ".sessions" || name == ".sets")
                    && list(&path).is_empty();
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if !is_guard && (is_hidden || !self.leases_may_live) {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                self.complain(format!("left behind: {} {text}", path.display()));
            }
        }
        for process in procs::of_world(world) {
            self.complain(format!("still alive: {} {}", process.pid, process.command));
        }
    }

    /// The program itself reads every record, and its doctor finds nothing (as soon as there is one).
    fn check_verbs(&mut self, world: &World) {
        let listed = world.luzia(&["list", "-a", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&listed.out).unwrap_or_default();
        let count = value["items"].as_array().map_or(0, Vec::len);
        let expected = places(&world.state).len();
        if listed.code() != Some(0) || count != expected {
            self.complain(format!("list shows {count} of {expected} tasks: {:?}", listed.err));
        }
        let doctor = world.luzia(&["doctor"]);
        if !matches!(doctor.code(), Some(0 | 69)) {
            self.complain(format!("doctor finds: {} {}", doctor.out, doctor.err));
        }
    }
}

/// Where the records of each number stand.
pub fn places(state: &Path) -> BTreeMap<u64, Vec<String>> {
    let mut places: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for folder in ["pending", "parked", "running", "waiting", "done"] {
        for path in files_below(&state.join("spool").join(folder)) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let id = name.strip_suffix(".json").and_then(|number| number.parse().ok());
            let id = id.unwrap_or_else(|| panic!("a file that is no record: {}", path.display()));
            places.entry(id).or_default().push(path.display().to_string());
        }
    }
    places
}

/// The intervals in which the commands of each user ran or were paused: begin and end in milliseconds since the boot,
/// and the task.
pub fn intervals(events: &[serde_json::Value]) -> Spans {
    spans(events, &["started"], &ENDS)
}

/// Those in which they had their slot of `global`: a task that waits gives it up.
fn slot_intervals(events: &[serde_json::Value]) -> Spans {
    spans(events, &["started", "took_again"], &[&ENDS[..], &["gave_up"]].concat())
}

type Spans = BTreeMap<String, Vec<(u64, u64, String)>>;

const ENDS: [&str; 5] = ["ended", "recovered", "released", "finished", "requeued"];

fn spans(events: &[serde_json::Value], begins: &[&str], ends: &[&str]) -> Spans {
    let mut spans: BTreeMap<String, Vec<(u64, u64, String)>> = BTreeMap::new();
    let mut open: BTreeMap<String, (String, u64)> = BTreeMap::new();
    for event in events {
        let (Some(name), Some(task)) = (event["event"].as_str(), event["task"].as_str()) else { continue };
        let Some(at) = event["boot_ms"].as_u64() else { continue };
        if begins.contains(&name) {
            open.insert(task.to_owned(), (event["user"].as_str().unwrap_or_default().to_owned(), at));
        } else if ends.contains(&name)
            && let Some((user, begin)) = open.remove(task)
        {
            spans.entry(user).or_default().push((begin, at, task.to_owned()));
        }
    }
    spans
}

/// The tasks that borrowed their lanes, and from whom.
fn borrowers(events: &[serde_json::Value]) -> BTreeMap<String, String> {
    let borrowed = events.iter().filter(|event| event["event"] == "borrowed");
    let pair = |event: &serde_json::Value| {
        Some((event["task"].as_str()?.to_owned(), event["data"]["from"].as_str()?.to_owned()))
    };
    borrowed.filter_map(pair).collect()
}

/// Whether a task has borrowed its lanes from another one, or from one that has.
fn is_below(task: &str, other: &str, parents: &BTreeMap<String, String>) -> bool {
    let lenders = std::iter::successors(parents.get(task), |lender| parents.get(*lender));
    lenders.into_iter().any(|lender| lender == other)
}

/// How many intervals there are at the same moment, at the most. A borrower has the slot of its lender.
fn most_at_once(spans: &BTreeMap<String, Vec<(u64, u64, String)>>, parents: &BTreeMap<String, String>) -> usize {
    let all = || spans.values().flatten().filter(|span| !parents.contains_key(&span.2));
    // An interval that ends in the millisecond in which another begins may have ended before it.
    let mut changes: Vec<(u64, isize)> = all().flat_map(|(begin, end, _)| [(*begin, 1), (*end, -1)]).collect();
    changes.sort_unstable();
    let mut now = 0;
    let most = changes.iter().map(|(_, change)| {
        now += change;
        now
    });
    usize::try_from(most.max().unwrap_or(0)).unwrap_or(0)
}

/// Brings a world to rest: what is stopped goes on, what is dead is recovered, what is queued runs.
pub fn settle(world: &World) {
    for process in procs::luzias(world) {
        process.signal(procs::CONT);
    }
    world.luzia(&["dispatch", "--drain"]).drained();
    if resume_all(world) {
        world.luzia(&["dispatch", "--drain"]).drained();
    }
    if send_all(world) {
        world.luzia(&["dispatch", "--drain"]).drained();
    }
    world.luzia(&["cleanup-stale"]).ok();
    // A supervisor releases its task before it makes its last pass; it needs an instant to go.
    rest(world);
}

/// Lifts every pause; false when nothing is paused.
fn resume_all(world: &World) -> bool {
    let parked = files_below(&world.state.join("spool/parked"));
    if parked.is_empty() && !world.state.join("spool/control.json").exists() {
        return false;
    }
    for what in ["--all", "user:*"] {
        world.luzia(&["resume", what]);
    }
    for path in parked {
        let id = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        world.luzia(&["resume", &id]);
    }
    true
}

/// Sends the event `GO` to every task that waits; false when none does. A drain waits for none of them, so the run of one may
/// still be about to end for its wait.
fn send_all(world: &World) -> bool {
    let names = |folder: &str| files_below(&world.state.join("spool").join(folder));
    let id_of = |path: &PathBuf| path.file_name()?.to_str()?.split('.').next().map(str::to_owned);
    let has_open_wait = |id: &String| {
        let waits = std::fs::read(world.state.join("spool/steps").join(id).join("waits.json")).unwrap_or_default();
        serde_json::from_slice::<serde_json::Value>(&waits).is_ok_and(|waits| waits["open"].is_object())
    };
    let running: Vec<String> = names("running").iter().filter_map(id_of).filter(has_open_wait).collect();
    let waiting: BTreeSet<String> = names("waiting").iter().filter_map(id_of).chain(running).collect();
    for id in &waiting {
        world.luzia(&["emit", "GO", "--task", id]);
    }
    !waiting.is_empty()
}

/// Waits until every process of a world is gone by itself.
pub fn rest(world: &World) {
    until("no process of luzia is left", || procs::of_world(world).is_empty().then_some(()));
}

/// What killed enqueuers left is removed when it is old, and so are locks and sidecars whose text a power cut took; makes
/// them old, and has them removed.
pub fn clean_aged(world: &World) {
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    let spool = ["tmp", "lanes", "after", "timers"].map(|folder| files_below(&world.state.join("spool").join(folder)));
    let is_empty = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == 0);
    let locks = list(&world.state.join("locks")).into_iter().filter(is_empty);
    // Whatever stands in a folder comes before the folder.
    let staged = list(&world.state.join("spool/tmp"));
    let sessions = [".sessions", ".sets"].map(|folder| files_below(&world.state.join("locks").join(folder)));
    for path in spool.into_iter().flatten().chain(staged).chain(locks).chain(sessions.into_iter().flatten()) {
        if let Ok(file) = std::fs::File::open(path) {
            file.set_modified(old).unwrap();
        }
    }
    world.luzia(&["cleanup-stale"]).ok();
}

#[cfg(test)]
mod tests;
