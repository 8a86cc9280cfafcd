//! What the tests of crashes share: a state directory of its own (`World`), its processes, commands that watch
//! themselves (`oracle`), the judge of what is left (`checker`), kills at a system call (`strace`) and the storm.

pub mod checker;
pub mod oracle;
pub mod procs;
pub mod rng;
pub mod strace;

use crate::support::{at_home, fault, take_turn};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The program under test.
pub const LUZIA: &str = env!("CARGO_BIN_EXE_luzia");
/// How long anything may take on a busy machine before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// A state directory, a working directory and a journal that no other test shares.
pub struct World {
    root: PathBuf,
    pub state: PathBuf,
    pub work: PathBuf,
    keep: AtomicBool,
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Answer {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Answer {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Refuses anything but success.
    pub fn ok(self) -> Self {
        assert!(self.status.success(), "failed: {self:?}");
        self
    }

    /// Refuses anything but the end of a drain: 1 says that a task failed.
    pub fn drained(self) -> Self {
        assert!(matches!(self.status.code(), Some(0 | 1)), "failed: {self:?}");
        self
    }

    /// The number in the id that `enqueue` printed, when it printed one whole line.
    pub fn id(&self) -> Option<u64> {
        self.out.strip_suffix('\n')?.strip_prefix("task_")?.parse().ok()
    }
}

impl World {
    pub fn new(name: &str) -> Self {
        take_turn();
        let root = tempfile::Builder::new().prefix(&format!("luzia-{name}-")).tempdir().unwrap().keep();
        let root = root.canonicalize().unwrap();
        let world = Self { state: root.join("state"), work: root.join("work"), root, keep: AtomicBool::new(false) };
        fs::create_dir(&world.work).unwrap();
        world.configure(r#"{ "slots": { "max": 64 } }"#);
        world
    }

    pub fn configure(&self, json: &str) {
        fs::write(self.root.join("config.json"), json).unwrap();
    }

    pub fn journal(&self) -> PathBuf {
        self.work.join("journal")
    }

    /// Leaves the directories for the reader of the failure.
    pub fn keep(&self) -> &Path {
        self.keep.store(true, Ordering::SeqCst);
        &self.root
    }

    /// Takes `keep` back: all is well.
    pub fn forget(&self) {
        self.keep.store(false, Ordering::SeqCst);
    }

    /// The program in this world, whatever this test itself runs in.
    pub fn command(&self, args: &[&str]) -> Command {
        self.dress(Command::new(LUZIA), args)
    }

    /// Any program, with the surroundings of this world.
    pub fn dress(&self, mut command: Command, args: &[&str]) -> Command {
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LUZIA_")) {
            command.env_remove(name);
        }
        command
            .args(args)
            .env("LUZIA_STATE_DIR", &self.state)
            .env("LUZIA_CONFIG", self.root.join("config.json"))
            .env_remove("STATE_DIRECTORY")
            .envs(fault())
            .current_dir(&self.work)
            .stdin(Stdio::null());
        at_home(&mut command, &self.root.join("home"));
        command
    }

    /// Runs the program to its end.
    pub fn luzia(&self, args: &[&str]) -> Answer {
        run(self.command(args), PATIENCE)
            .unwrap_or_else(|| panic!("luzia {args:?} does not end; see {:?}", self.keep()))
    }

    /// Queues a command and gives its number.
    pub fn enqueue(&self, options: &[&str], command: &[String]) -> u64 {
        let mut args = vec!["enqueue"];
        args.extend(options);
        args.push("--");
        args.extend(command.iter().map(String::as_str));
        self.luzia(&args).ok().id().unwrap()
    }

    pub fn status_of(&self, id: u64) -> String {
        let answer = self.luzia(&["show", &id.to_string(), "--json"]).ok();
        let task: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        task["status"].as_str().unwrap_or_else(|| panic!("no status: {task}")).to_owned()
    }

    /// Every event, in the order in which they were written.
    pub fn events(&self) -> Vec<serde_json::Value> {
        let mut days: Vec<PathBuf> = list(&self.state.join("events"));
        days.sort();
        let text: String = days.iter().map(|day| fs::read_to_string(day).unwrap()).collect();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The supervisor of a task whose start was recorded.
    pub fn supervisor_of(&self, id: u64) -> i32 {
        let path = self.state.join(format!("spool/running/{id}.started.json"));
        let pid = || {
            let started: serde_json::Value = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            i32::try_from(started["pid"].as_i64()?).ok()
        };
        until("the start is recorded", pid)
    }

    /// Waits for a file that a command makes in the working directory.
    pub fn await_file(&self, name: &str) {
        let path = self.work.join(name);
        until(&format!("{} exists", path.display()), || path.exists().then_some(()));
    }

    pub fn touch(&self, name: &str) {
        fs::write(self.work.join(name), "").unwrap();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        procs::of_world(self).iter().for_each(|process| process.signal(procs::KILL));
        if std::thread::panicking() || self.keep.load(Ordering::SeqCst) {
            eprintln!("what is left of the test stands in {}", self.root.display());
            return;
        }
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Asks again and again until there is an answer.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "it never came to pass that {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs a program to its end, or gives up on it. Its output goes to files, so that nothing it leaves behind is waited for.
pub fn run(command: Command, patience: Duration) -> Option<Answer> {
    run_meanwhile(command, patience, || {})
}

/// Like `run`, and does something again and again meanwhile.
pub fn run_meanwhile(mut command: Command, patience: Duration, mut meanwhile: impl FnMut()) -> Option<Answer> {
    let (mut out, mut err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let mut child =
        command.stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap()).spawn().expect("a process");
    let end = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(Answer { status, out: text(&mut out), err: text(&mut err) });
        }
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        meanwhile();
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What stands in a directory; nothing when it does not exist.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

/// Every file below a directory.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let is_dir = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    list(folder).into_iter().flat_map(|path| if is_dir(&path) { files_below(&path) } else { vec![path] }).collect()
}
