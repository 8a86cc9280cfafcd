//! A storm: every verb that changes something, by several hands at once, while every process of luzia is killed, stopped
//! and told to end at random. Then it becomes quiet, and what is left is judged. `cargo test` has one of
//! LUZIA_STORM_ACTS, from LUZIA_STORM_SEED or a seed of its own, which is printed.

mod actors;
mod aftermath;
mod waits;
mod weather;

use super::harness::checker::Promise;
use super::harness::oracle;
use super::harness::rng::Rng;
use super::harness::{Answer, PATIENCE, World, run, until};
use super::support::times;
use actors::{ACTORS, Actor};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many acts all hands together do in a storm.
const ACTS: usize = 1500;
/// How many acts a storm has at the most that ends when it has shown what it is for.
const MOST_ACTS: usize = 20_000;
/// How many tasks run at once: fewer than there are users, so that they also wait for each other.
const SLOTS: usize = 3;
/// What may always be answered: that something is held too long, and that the command was told to end.
const ALWAYS: [i32; 2] = [75, 143];

/// A task whose id was printed, and what must be true of it.
#[derive(Clone, Default)]
pub struct Sent {
    pub user: &'static str,
    pub priority: u64,
    pub retries: u64,
    /// Its command fails.
    pub must_fail: bool,
    /// When it was asked for and when it was acknowledged, if only its place in the queue keeps it waiting.
    pub plain: Option<(Duration, Duration)>,
    /// How often somebody tried to retry it.
    pub reopens: u64,
    /// Whether a cancel of it was acknowledged.
    pub is_cancelled: bool,
}

/// One storm, as its actors see it.
pub struct Storm {
    pub world: World,
    seed: u64,
    begin: Instant,
    acts: AtomicUsize,
    most_acts: usize,
    is_over: AtomicBool,
    /// A daemon that is stopped now and then, but never killed.
    steady: Mutex<Child>,
    sent: Mutex<BTreeMap<u64, Sent>>,
    post: Mutex<BTreeMap<u64, waits::Post>>,
    /// Events for all tasks of a user: for whom, and which tasks were said to have them.
    news: Mutex<BTreeMap<u64, (&'static str, BTreeSet<u64>)>>,
    pending: AtomicU64,
    serials: AtomicU64,
    counts: Mutex<BTreeMap<String, usize>>,
    problems: Mutex<Vec<String>>,
}

impl Storm {
    fn new(seed: u64, most_acts: usize) -> Self {
        eprintln!("storm: LUZIA_STORM_SEED={seed}, {most_acts} acts");
        let world = World::new("storm");
        world.configure(&format!(
            r#"{{ "slots": {{ "max": {SLOTS} }}, "poll_interval_seconds": 1, "lanes": {{ "wide": {{ "max": 3 }} }} }}"#
        ));
        world.luzia(&["enqueue", "-u", "alice", "--", "true"]).ok();
        let steady = world.command(&["daemon"]).stdout(Stdio::null()).spawn().unwrap();
        until("the daemon works", || (world.status_of(1) == "completed").then_some(()));
        Self {
            world,
            seed,
            begin: Instant::now(),
            acts: AtomicUsize::new(0),
            most_acts,
            is_over: AtomicBool::new(false),
            steady: Mutex::new(steady),
            sent: Mutex::default(),
            post: Mutex::default(),
            news: Mutex::default(),
            pending: AtomicU64::new(0),
            serials: AtomicU64::new(0),
            counts: Mutex::default(),
            problems: Mutex::default(),
        }
    }

    /// Lets it rage until all its acts are done.
    fn rage(&self, actors: &[&Actor]) {
        std::thread::scope(|scope| {
            for actor in actors {
                for _ in 0..actor.hands {
                    let mut rng = Rng::new(self.seed ^ (self.serial() << 32));
                    scope.spawn(move || {
                        while !self.is_over() {
                            (actor.act)(self, &mut rng);
                            self.acts.fetch_add(1, Ordering::SeqCst);
                            self.count(format!("act {}", actor.name));
                            std::thread::sleep(Duration::from_millis(rng.below(2 * actor.pause_ms)));
                        }
                    });
                }
            }
        });
    }

    fn is_over(&self) -> bool {
        self.has_hung() || self.acts.load(Ordering::SeqCst) >= self.most_acts
    }

    /// Ends it before its last act.
    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Whether a call of luzia came to no end.
    pub fn has_hung(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    pub fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    /// A number that no other act has.
    pub fn serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub fn pending(&self) -> u64 {
        self.pending.load(Ordering::SeqCst)
    }

    pub fn set_pending(&self, count: u64) {
        self.pending.store(count, Ordering::SeqCst);
    }

    pub fn steady_daemon(&self) -> i32 {
        i32::try_from(self.steady.lock().unwrap().id()).unwrap()
    }

    pub fn count(&self, what: String) {
        *self.counts.lock().unwrap().entry(what).or_default() += 1;
    }

    pub fn count_many(&self, what: &str, many: usize) {
        *self.counts.lock().unwrap().entry(what.to_owned()).or_default() += many;
    }

    pub fn complain(&self, what: String) {
        self.problems.lock().unwrap().push(what);
    }

    pub fn acknowledge(&self, id: u64, sent: Sent) {
        // With a key, the answer may be a task that was acknowledged before.
        self.sent.lock().unwrap().entry(id).or_insert(sent);
    }

    pub fn change(&self, id: u64, change: impl FnOnce(&mut Sent)) {
        change(self.sent.lock().unwrap().get_mut(&id).unwrap());
    }

    pub fn user_of(&self, id: u64) -> &'static str {
        self.sent.lock().unwrap()[&id].user
    }

    /// One of the tasks that were queued last.
    pub fn some_task(&self, rng: &mut Rng) -> Option<u64> {
        let sent = self.sent.lock().unwrap();
        let latest: Vec<u64> = sent.keys().rev().take(40).copied().collect();
        (!latest.is_empty()).then(|| *rng.pick(&latest))
    }

    /// Calls luzia. It may be killed, but never ends in another way than `codes` say.
    pub fn call(&self, args: &[String], codes: &[i32]) -> Answer {
        self.call_command(self.world.command(&strs(args)), args, codes)
    }

    pub fn call_with_input(&self, args: &[String], input: &str, codes: &[i32]) -> Answer {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(input.as_bytes()).unwrap();
        file.rewind().unwrap();
        let mut command = self.world.command(&strs(args));
        command.stdin(file);
        self.call_command(command, args, codes)
    }

    fn call_command(&self, command: Command, args: &[String], codes: &[i32]) -> Answer {
        let Some(answer) = run(command, PATIENCE) else {
            self.complain(format!("luzia {} does not end", args.join(" ")));
            self.end();
            return Answer { status: ExitStatus::from_raw(9), out: String::new(), err: String::new() };
        };
        self.check_answer(&strs(args), &answer, codes);
        answer
    }

    pub fn check_answer(&self, args: &[&str], answer: &Answer, codes: &[i32]) {
        let is_struck = matches!(answer.status.signal(), Some(9 | 15));
        let is_expected = answer.code().is_some_and(|code| codes.contains(&code) || ALWAYS.contains(&code));
        if !is_struck && !is_expected {
            self.complain(format!("at {:?}: luzia {} ended so: {answer:?}", self.now(), args.join(" ")));
        }
        let how = answer.code().map_or("struck".to_owned(), |code| format!("exit {code}"));
        self.count(format!("{} {how}", args[0]));
    }

    /// What was promised to those whose ids were printed.
    fn promises(&self) -> BTreeMap<u64, Promise> {
        let sent = self.sent.lock().unwrap();
        sent.iter().map(|(id, sent)| (*id, Promise { retries: sent.retries, reopens: sent.reopens })).collect()
    }

    /// How much happened, in one line.
    fn tally(&self) -> String {
        let counts = self.counts.lock().unwrap();
        let of = |what: &str| counts.get(what).copied().unwrap_or_default();
        let lines = oracle::journal(&self.world);
        let holds = lines.iter().filter(|line| line.what == 'B').count();
        let commands = lines.iter().filter(|line| line.what == 'B' && line.task.is_some()).count();
        format!(
            "{} kills, {} stops, {} terms; {holds} holds, {commands} of them by commands of tasks; {} tasks acknowledged",
            of("kills"),
            of("stops"),
            of("terms"),
            self.sent.lock().unwrap().len(),
        )
    }
}

fn strs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[test]
fn nothing_that_is_promised_breaks_in_a_storm_of_kills() {
    let storm = Storm::new(Rng::seed_of_now("LUZIA_STORM_SEED"), times("LUZIA_STORM_ACTS", ACTS));
    let seed = storm.seed;
    let descriptors = aftermath::descriptors(&storm);
    storm.rage(&ACTORS.iter().collect::<Vec<_>>());
    let problems = aftermath::judge(&storm, descriptors);
    eprintln!("storm: {}", storm.tally());
    eprintln!("storm: {:?}", storm.counts.lock().unwrap());
    let count = problems.len();
    assert!(
        problems.is_empty(),
        "{count} problems with LUZIA_STORM_SEED={seed}:\n{}\nsee {}",
        problems.join("\n"),
        storm.world.keep().display()
    );
}

/// Takes a lock away from its holder, outside its guard and without a look at its holder.
const ROGUE: Actor = Actor {
    name: "rogue",
    hands: 1,
    pause_ms: 50,
    act: |storm, rng| {
        let user = rng.pick(&actors::USERS);
        // With its second name: by that a removed lock file is put back.
        for name in [format!(".user_{user}.held"), format!("user_{user}.lock"), format!("user_{user}.json")] {
            let _ = std::fs::remove_file(storm.world.state.join("locks").join(name));
        }
        if oracle::journal(&storm.world).iter().any(|line| line.what == 'V') {
            storm.end();
        }
    },
};

#[test]
fn the_storm_notices_a_lock_that_is_taken_from_a_living_holder() {
    let storm = Storm::new(Rng::seed_of_now("LUZIA_STORM_SEED"), MOST_ACTS);
    let descriptors = aftermath::descriptors(&storm);
    storm.rage(&ACTORS.iter().chain([&ROGUE]).collect::<Vec<_>>());
    let problems = aftermath::judge(&storm, descriptors);
    assert!(problems.iter().any(|problem| problem.contains("two live holders")), "it was not noticed: {problems:#?}");
}
