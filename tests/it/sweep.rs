//! A kill before every system call that changes something, and an error at every call, in every verb that mutates; then
//! recovery, and the judge. `cargo test` takes LUZIA_SWEEP_POINTS by LUZIA_SWEEP_SEED; LUZIA_SWEEP=all takes every point.
//! LUZIA_SWEEP_SCENE and LUZIA_SWEEP_CALL choose scenes and calls by a part of their names.

use super::harness::checker::{self, Checker, Promise, places, settle};
use super::harness::oracle;
use super::harness::procs::{KILL, of_world};
use super::harness::rng::Rng;
use super::harness::strace::{self, Fault, Point};
use super::harness::{Answer, PATIENCE, World, run, until};
use super::support::{take_turn, times};
use super::sweep_scenes::{SCENES, Scene};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How many points the sample has.
const SAMPLE: usize = 120;
/// How many points are struck at once: most of the time of a point is waiting.
const PARTS: usize = 4;
/// How long a disturbed run may go on before the disturbance is taken away. A supervisor that cannot write its result
/// goes on for ever, as it should.
const DISTURBED: Duration = Duration::from_millis(1500);
/// The codes of `luzia-exit-codes(7)`, without 70, which is a bug.
const DOCUMENTED: [i32; 15] = [0, 1, 2, 65, 66, 69, 73, 74, 75, 77, 78, 124, 125, 126, 127];

/// One scene with its template, restored for each point.
struct Stage {
    scene: &'static Scene,
    world: World,
    template: std::path::PathBuf,
}

impl Stage {
    fn new(scene: &'static Scene) -> Self {
        let world = World::new(&format!("sweep-{}", scene.name));
        (scene.prepare)(&world);
        until("the template is at rest", || of_world(&world).is_empty().then_some(()));
        let template = world.work.parent().unwrap().join("template");
        std::fs::create_dir(&template).unwrap();
        copy(&world.state, &template.join("state"));
        copy(&world.work, &template.join("work"));
        Self { scene, world, template }
    }

    fn restore(&self) {
        for name in ["state", "work"] {
            let to = self.world.work.parent().unwrap().join(name);
            let _ = std::fs::remove_dir_all(&to);
            copy(&self.template.join(name), &to);
        }
    }

    /// Runs the scene, disturbed or not. `None` when it had not ended by itself.
    fn play(&self, point: Option<&Point>) -> Option<Answer> {
        self.restore();
        if let Some(begin) = self.scene.begin {
            begin(&self.world);
        }
        let log = self.template.join("trace");
        let args: Vec<&str> = self.scene.args.to_vec();
        let mut command = strace::command(&self.world, &log, self.scene.follow, point, &args);
        if let Some(id) = self.scene.claim {
            command.stdin(super::sweep_scenes::supervisor_lock(&self.world, id));
        }
        run(command, if point.is_some() { DISTURBED } else { PATIENCE })
    }

    fn points(&self) -> Vec<Point> {
        let answer = self.play(None).unwrap_or_else(|| panic!("{} does not end undisturbed", self.scene.name));
        assert_eq!(answer.code(), Some(0), "{}: {answer:?}", self.scene.name);
        let seen = strace::read_log(&std::fs::read_to_string(self.template.join("trace")).unwrap());
        let problems = self.judge(&answer, None);
        assert!(problems.is_empty(), "{} undisturbed: {problems:#?}", self.scene.name);
        strace::points(&seen)
    }

    /// Brings the state directory to rest and says what is wrong.
    fn judge(&self, answer: &Answer, point: Option<&Point>) -> Vec<String> {
        let fault = point.map(|point| point.fault);
        let mut problems = Vec::new();
        let signal = std::os::unix::process::ExitStatusExt::signal(&answer.status);
        // 9 also stands for a run that had to be ended.
        let may_die = fault.is_some() && signal == Some(9);
        if !may_die && !answer.code().is_some_and(|code| DOCUMENTED.contains(&code)) {
            problems.push(format!("an undocumented end: {answer:?}"));
        }
        let mut checker =
            Checker { leases_may_live: self.scene.leases_may_live, resumes: self.scene.resumes, ..Checker::default() };
        for id in 1..=self.scene.queued {
            // Every further start of a scene is one that somebody asked for; what asks may die before it is noted.
            let retries = self.scene.retries;
            checker.acknowledged.insert(id, Promise { retries, reopens: retries });
        }
        let acknowledged = answer.out.lines().filter_map(|line| line.strip_prefix("task_")?.parse().ok());
        if self.scene.prints_ids {
            acknowledged.for_each(|id| checker.promise(id, 0));
            if answer.code() == Some(0) && answer.id().is_none() && answer.out.lines().count() < 2 {
                problems.push(format!("success without an id: {answer:?}"));
            }
        }
        // Where standard error cannot be written, nothing can be told.
        let is_mute = point.is_some_and(|point| point.call == "write" && matches!(point.fault, Fault::FromThenOn(_)));
        let may_tell =
            fault.is_some_and(|fault| fault != Fault::Kill) && !may_die && !is_mute && !answer.err.is_empty();
        if may_tell && answer.code() != Some(0) {
            problems.extend(self.untold(answer));
            problems.extend(super::sweep_words::untold(self.scene.name, self.scene.queued, &self.world, answer));
        }
        std::fs::write(self.world.work.join("gate"), "").unwrap();
        settle(&self.world);
        checker::clean_aged(&self.world);
        problems.extend((self.scene.judge)(&self.world, answer));
        for (id, stand) in places(&self.world.state) {
            if !stand.iter().all(|path| path.contains("/spool/done/")) {
                problems.push(format!("task_{id} is not brought to its end: {stand:?}"));
            }
        }
        problems.extend(self.fences());
        problems.extend(checker.check_quiet(&self.world));
        problems
    }

    /// What an error does not tell of that stands in the state directory: tasks that were queued, and a lease.
    fn untold(&self, answer: &Answer) -> Vec<String> {
        let told = |name: &str| {
            let mut words =
                answer.err.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').chain(answer.out.lines());
            words.any(|word| word == name)
        };
        let folders = ["pending", "parked", "running", "done"].map(|name| self.world.state.join("spool").join(name));
        let records = folders.iter().flat_map(|folder| super::harness::files_below(folder));
        let id_of = |path: std::path::PathBuf| path.file_name()?.to_str()?.strip_suffix(".json")?.parse::<u64>().ok();
        let new = records.filter_map(id_of).filter(|id| *id > self.scene.queued);
        let names = new.map(|id| format!("task_{id}")).filter(|name| self.scene.prints_ids && !told(name));
        let mut problems: Vec<String> =
            names.map(|name| format!("{name} is queued, and the error does not say so")).collect();
        let lease = std::fs::read_to_string(self.world.state.join("locks/user_deploy.json")).unwrap_or_default();
        let is_locked = self.world.state.join("locks/user_deploy.lock").exists();
        let is_new = self.scene.name.starts_with("acquire") && is_locked && lease.contains("\"me\"");
        if is_new && !answer.err.contains("is held") {
            problems.push(format!("the lease is held, and the error does not say so: {answer:?}"));
        }
        problems
    }

    /// The next fence of the lane is above every one that was ever seen.
    fn fences(&self) -> Option<String> {
        let command = oracle::script(&self.world, "alice", ":");
        let args: Vec<&str> =
            ["lock", "-w", "10", "-u", "alice", "--"].into_iter().chain(command.iter().map(String::as_str)).collect();
        let answer = self.world.luzia(&args);
        // The journal is judged with everything else; here it only gets its last line.
        (answer.code() != Some(0)).then(|| format!("the lane cannot be had afterwards: {answer:?}"))
    }

    /// Strikes, lets somebody recover who is struck as well after a kill, and judges.
    fn strike(&self, point: &Point, rng: &mut Rng) -> Vec<String> {
        let answer = self.play(Some(point)).unwrap_or_else(|| {
            // A disturbed process goes on without strace; what cannot go on is killed.
            let end = Instant::now() + Duration::from_secs(10);
            while !of_world(&self.world).is_empty() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
            of_world(&self.world).iter().for_each(|process| process.signal(KILL));
            Answer {
                status: std::os::unix::process::ExitStatusExt::from_raw(9),
                out: String::new(),
                err: String::new(),
            }
        });
        let trace = std::fs::read_to_string(self.template.join("trace")).unwrap();
        let second = (point.fault == Fault::Kill).then(|| strace::recovery_point(rng));
        if let Some(second) = &second {
            self.recover_disturbed(second);
        }
        let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.judge(&answer, Some(point))));
        self.world.forget();
        let mut problems = judged.unwrap_or_else(|panic| {
            of_world(&self.world).iter().for_each(|process| process.signal(KILL));
            vec![panic.downcast_ref::<String>().cloned().unwrap_or_default()]
        });
        let is_once = matches!(point.fault, Fault::Once(_));
        if is_once && self.scene.retries > 0 && answer.err.contains("cannot sync \"run/1") && self.begins(1) > 1 {
            problems.push("it could not record the request, and carried it out all the same".to_owned());
        }
        problems.extend(strace::repeated_sync(&trace).map(|line| format!("a failed sync is tried again: {line}")));
        // What a supervisor cannot sync is its own affair: it tries again with a new file until it succeeds.
        let must_sync = !self.scene.follow && self.scene.claim.is_none() && !self.scene.reads;
        if point.fails_sync() && must_sync && answer.code() == Some(0) {
            problems.push("success, although a sync failed".to_owned());
        }
        if !problems.is_empty() {
            problems.push(format!("the recovery was struck at {second:?}; it said: {answer:?}"));
        }
        problems
    }

    fn begins(&self, id: u64) -> usize {
        oracle::journal(&self.world).iter().filter(|line| line.what == 'B' && line.task == Some(id)).count()
    }

    /// A recovery may be killed and meet errors like everybody else.
    fn recover_disturbed(&self, point: &Point) {
        std::fs::write(self.world.work.join("gate"), "").unwrap();
        let log = self.template.join("trace-of-recovery");
        let command = strace::command(&self.world, &log, false, Some(point), &["dispatch", "--once"]);
        let _ = run(command, DISTURBED);
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    let Ok(meta) = std::fs::symlink_metadata(from) else { return };
    if meta.is_dir() {
        std::fs::create_dir(to).unwrap();
        for path in super::harness::list(from) {
            copy(&path, &to.join(path.file_name().unwrap()));
        }
        std::fs::set_permissions(to, meta.permissions()).unwrap();
    } else {
        std::fs::copy(from, to).unwrap();
    }
}

/// What was struck, and what was wrong.
#[derive(Default)]
struct Tally {
    kills: usize,
    errors: usize,
    problems: Vec<String>,
    by_scene: BTreeMap<&'static str, (usize, usize)>,
}

/// Deals the points of all scenes out in turn, so that a sample has some of each.
fn sweep(scenes: &[&'static Scene], seed: u64, most: usize, tally: &Mutex<Tally>) {
    let mut rng = Rng::new(seed);
    let only_call = std::env::var("LUZIA_SWEEP_CALL").unwrap_or_default();
    let mut rows: VecDeque<(Stage, Vec<Point>)> = VecDeque::new();
    for scene in scenes {
        let stage = Stage::new(scene);
        let mut points = stage.points();
        points.retain(|point| point.call.contains(&only_call));
        rng.shuffle(&mut points);
        tally.lock().unwrap().by_scene.insert(scene.name, (0, points.len()));
        rows.push_back((stage, points));
    }
    let mut struck = 0;
    while let Some((stage, mut points)) = rows.pop_front() {
        let Some(point) = points.pop() else { continue };
        if struck == most {
            return;
        }
        struck += 1;
        let problems = stage.strike(&point, &mut rng);
        let mut tally = tally.lock().unwrap();
        *(if point.fault == Fault::Kill { &mut tally.kills } else { &mut tally.errors }) += 1;
        if let Some((done, _)) = tally.by_scene.get_mut(stage.scene.name) {
            *done += 1;
        }
        let done = tally.kills + tally.errors;
        if done.is_multiple_of(500) {
            let all: usize = tally.by_scene.values().map(|(_, points)| points).sum();
            eprintln!("sweep: {done} of {all} points, {} with problems", tally.problems.len());
        }
        if !problems.is_empty() {
            let told = format!("{} at {point:?}: {problems:#?}", stage.scene.name);
            eprintln!("{told}");
            tally.problems.push(told);
        }
        drop(tally);
        rows.push_back((stage, points));
    }
}

#[test]
fn every_verb_survives_a_kill_and_an_error_at_every_system_call() {
    if !strace::is_available() {
        super::support::skip("the sweep over system calls", "strace(1) and the right to trace");
        return;
    }
    take_turn();
    let is_all = std::env::var("LUZIA_SWEEP").is_ok_and(|value| value == "all");
    let most = if is_all { usize::MAX } else { times("LUZIA_SWEEP_POINTS", SAMPLE) };
    let seed = Rng::seed_from("LUZIA_SWEEP_SEED");
    let only = std::env::var("LUZIA_SWEEP_SCENE").ok();
    let chosen: Vec<&'static Scene> =
        SCENES.iter().filter(|scene| only.as_deref().is_none_or(|only| scene.name.contains(only))).collect();
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for part in 0..PARTS {
            let scenes: Vec<&'static Scene> = chosen.iter().copied().skip(part).step_by(PARTS).collect();
            let tally = &tally;
            scope.spawn(move || sweep(&scenes, seed, most.div_ceil(PARTS), tally));
        }
    });
    let tally = tally.into_inner().unwrap();
    let Tally { kills, errors, by_scene, .. } = &tally;
    eprintln!("sweep: LUZIA_SWEEP_SEED={seed}, {kills} kills, {errors} errors; struck of all: {by_scene:?}");
    assert!(tally.kills + tally.errors > 0);
    assert!(tally.problems.is_empty(), "{} problems:\n{}", tally.problems.len(), tally.problems.join("\n"));
}
