//! A state directory with everything around it, and luzia called in it.

use super::{Ran, Running, at_home, signal, until};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The program under test.
pub const LUZIA: &str = env!("CARGO_BIN_EXE_luzia");

/// A place of a test's own. When it is dropped, every process that was started in it is killed.
pub struct Place {
    root: tempfile::TempDir,
    calls: AtomicUsize,
}

impl Place {
    /// A place without a configuration.
    pub fn new() -> Self {
        super::take_turn();
        let place = Self { root: tempfile::tempdir().unwrap(), calls: AtomicUsize::new(0) };
        std::fs::create_dir(place.path("io")).unwrap();
        std::fs::create_dir(place.path("work")).unwrap();
        place
    }

    /// A place with a configuration.
    pub fn configured(config: &Value) -> Self {
        let place = Self::new();
        place.configure(config);
        place
    }

    /// Writes the configuration that every later call reads.
    pub fn configure(&self, config: &Value) {
        std::fs::write(self.path("config.json"), config.to_string()).unwrap();
    }

    /// A path in this place.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A path in this place, as text.
    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// A file among the locks.
    pub fn lock(&self, name: &str) -> PathBuf {
        self.state().join("locks").join(name)
    }

    /// Gives the lane of a user a segment, as a lane with very many tasks has some, so that what comes next stands in one.
    pub fn deepen(&self, user: &str) {
        std::fs::create_dir_all(self.state().join(format!("spool/pending/5/{}/999999", super::queue(user)))).unwrap();
    }

    /// luzia with arguments, not started yet: in a clean environment and with nothing on standard input.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(LUZIA);
        command.args(args).env_clear().current_dir(self.path("work")).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap()).envs(super::fault());
        at_home(&mut command, &self.path("home"));
        command.env("LUZIA_STATE_DIR", self.state());
        command.env("PLACE", self.root.path());
        command.env("LUZIA", LUZIA);
        if self.path("config.json").exists() {
            command.env("LUZIA_CONFIG", self.path("config.json"));
        }
        command
    }

    /// Starts a command, with its output in files of this place.
    pub fn spawn(&self, command: &mut Command) -> Running {
        self.spawn_into(command, None)
    }

    /// Starts a command with a standard output of its own.
    pub fn spawn_into(&self, command: &mut Command, stdout: Option<Stdio>) -> Running {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let (out, err) = (self.path(&format!("io/{number}.out")), self.path(&format!("io/{number}.err")));
        let file = File::create(&out).unwrap();
        command.stdout(stdout.unwrap_or(file.into())).stderr(File::create(&err).unwrap());
        Running::new(command.spawn().unwrap(), out, err)
    }

    /// Lets other accounts in, whatever the mask of this one; gives a copy of luzia that they may start.
    pub fn open_to_others(&self) -> PathBuf {
        let program = self.path("program");
        if !program.exists() {
            // By another program: a process that another thread forks meanwhile would have our descriptor, and nobody can
            // start a file that is open for writing.
            let copied = Command::new("install").args(["-m", "755", LUZIA]).arg(&program).status();
            assert!(copied.unwrap().success());
        }
        for path in [self.path(""), self.path("work")] {
            std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
        program
    }

    /// A shell with a script, in the environment in which luzia is called.
    pub fn shell(&self, script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).env_clear().current_dir(self.path("work")).stdin(Stdio::null());
        shell.envs(self.command(&[]).get_envs().filter_map(|(key, value)| Some((key, value?))));
        shell
    }

    /// Starts luzia with arguments.
    pub fn start(&self, args: &[&str]) -> Running {
        self.spawn(&mut self.command(args))
    }

    /// Starts luzia with no signal ignored. A shell makes what it starts in the background ignore those of the keyboard,
    /// perhaps these tests too, and what is ignored stays so.
    pub fn start_attentive(&self, args: &[&str]) -> Running {
        self.spawn(self.shell("exec env --default-signal \"$LUZIA\" \"$@\"").arg("luzia").args(args))
    }

    /// Calls luzia and waits until it has ended.
    #[track_caller]
    pub fn luzia(&self, args: &[&str]) -> Ran {
        self.start(args).end()
    }

    /// Calls luzia, which must end with 0.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> Ran {
        self.luzia(args).coded(0)
    }

    /// Calls luzia with `--json`, which must end with 0; its document.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        self.ok(&[&["--json"], args].concat()).json()
    }

    /// Enqueues a task; its id.
    #[track_caller]
    pub fn enqueue(&self, args: &[&str]) -> String {
        self.ok(&[&["enqueue"], args].concat()).line()
    }

    /// Starts what can be started, and waits until nothing runs and nothing is pending.
    #[track_caller]
    pub fn drain(&self) {
        let ran = self.luzia(&["dispatch", "--drain"]);
        // 1 says that a task failed, which many tests want.
        assert!([0, 1].contains(&ran.code), "{ran:#?}");
        self.let_supervisors_end();
    }

    /// Lets the supervisors of this place write their last events: a task is over for `--drain` before that. One that still
    /// lives after two seconds has other work.
    fn let_supervisors_end(&self) {
        let dir = self.state().display().to_string();
        let is_supervisor = |pid: &str| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.contains("supervise") && line.contains(&dir)
        };
        let end = Instant::now() + Duration::from_secs(2);
        while Instant::now() < end {
            let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name());
            if !processes.filter_map(|name| name.into_string().ok()).any(|pid| is_supervisor(&pid)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A task as `show` has it.
    #[track_caller]
    pub fn show(&self, id: &str) -> Value {
        self.json(&["show", id])
    }

    /// The state of a task.
    #[track_caller]
    pub fn status(&self, id: &str) -> String {
        self.show(id)["status"].as_str().unwrap().to_owned()
    }

    /// Waits until a task has a state.
    #[track_caller]
    pub fn until_status(&self, id: &str, status: &str) {
        until(&format!("{id} is {status}"), || (self.status(id) == status).then_some(()));
    }

    /// Waits until a task runs and its supervisor has recorded the start; the supervisor's pid.
    #[track_caller]
    pub fn supervisor(&self, id: &str) -> u32 {
        let pid = until(&format!("the supervisor of {id}"), || self.show(id)["supervisor_pid"].as_u64());
        u32::try_from(pid).unwrap()
    }

    /// Waits until a file exists; what is in it.
    #[track_caller]
    pub fn until_file(&self, name: &str) -> String {
        until(&format!("the file {name}"), || {
            let text = std::fs::read_to_string(self.path(name)).ok()?;
            text.ends_with('\n').then(|| text.trim_end().to_owned())
        })
    }

    /// Makes a gate: a FIFO whose one reader waits until [`Place::open_gate`].
    pub fn gate(&self, name: &str) -> String {
        let path = self.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path.to_str().unwrap().to_owned()
    }

    /// Lets the reader through a gate, once it is there.
    pub fn open_gate(&self, name: &str) {
        use rustix::fs::{Mode, OFlags};
        let open = || rustix::fs::open(self.path(name), OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty());
        let gate = until(&format!("somebody waits at {name}"), || open().ok());
        rustix::io::write(gate, b"\n").unwrap();
    }

    /// The events of the state directory, in their order.
    pub fn events(&self) -> Vec<Value> {
        // A verb tells that a task is over as soon as its record says so. Its supervisor writes the last events just after that.
        let end = Instant::now() + Duration::from_secs(1);
        loop {
            let events = self.events_now();
            let last: BTreeMap<_, _> =
                events.iter().map(|event| (event["task"].as_str(), event["event"].as_str())).collect();
            let is_ending = |(task, event): (&Option<&str>, &Option<&str>)| {
                task.is_some() && event.is_some_and(|event| ["ended", "released"].contains(&event))
            };
            if !last.iter().any(is_ending) || Instant::now() >= end {
                return events;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn events_now(&self) -> Vec<Value> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(self.state().join("events")).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        // A line without its end is being written: a write(2) that crosses a page shows its first part before the rest.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        text[..whole].lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The events of one name.
    pub fn events_named(&self, name: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["event"] == name).collect()
    }

    /// Everything in the state directory but events, by path, with its contents. Guards are permanent, so an empty one
    /// that a look has made is no change.
    pub fn snapshot(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        collect(&self.state(), &mut found);
        let is_unused_guard = |path: &str, text: &str| path.contains("/.guard/") && text.is_empty();
        found.retain(|path, text| !path.contains("/state/events") && !is_unused_guard(path, text));
        found
    }

    /// Says what has changed since a snapshot, and fails when anything has.
    #[track_caller]
    pub fn assert_unchanged(&self, before: &BTreeMap<String, String>, what: &str) {
        let after = self.snapshot();
        let paths = before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path));
        let changes: Vec<_> = paths.map(|path| (path, before.get(path), after.get(path))).collect();
        assert!(changes.is_empty(), "{what} changed the state: {changes:#?}");
    }

    /// Rewrites a lock's sidecar as if the lock were older by some milliseconds.
    pub fn age_lock(&self, stem: &str, by_ms: i64) {
        let path = self.lock(&format!("{stem}.json"));
        let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for member in ["acquired_at", "refreshed_at", "expires_at"] {
            let at = chrono::DateTime::parse_from_rfc3339(record[member].as_str().unwrap()).unwrap();
            let earlier = at - chrono::TimeDelta::milliseconds(by_ms);
            record[member] = earlier.to_rfc3339_opts(chrono::SecondsFormat::Millis, true).into();
        }
        // Without the boot clock's reading the wall clock alone counts.
        record["refreshed_boot_ms"] = Value::Null;
        std::fs::write(&path, record.to_string()).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A process may start another one while it dies, so look until none is left.
        for _ in 0..200 {
            let left = processes_in(&self.state());
            if left.is_empty() {
                break;
            }
            for pid in left {
                super::signal(pid, rustix::process::Signal::KILL);
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

fn collect(path: &Path, found: &mut BTreeMap<String, String>) {
    let Ok(meta) = path.symlink_metadata() else { return };
    let text = if meta.is_dir() {
        std::fs::read_dir(path).into_iter().flatten().for_each(|entry| collect(&entry.unwrap().path(), found));
        "a directory".to_owned()
    } else if meta.is_file() && meta.len() < 1 << 20 {
        String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
    } else {
        format!("mode {:o}, {} bytes", meta.mode(), meta.len())
    };
    found.insert(path.to_str().unwrap().to_owned(), text);
}

/// Every living process that has a state directory in its environment or among its arguments, but this one.
pub fn processes_in(state: &Path) -> Vec<u32> {
    let (state, me) = (state.to_str().unwrap(), std::process::id());
    let variable = format!("LUZIA_STATE_DIR={state}");
    let has = |pid: u32, file: &str, text: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        bytes.split(|byte| *byte == 0).any(|item| item == text.as_bytes())
    };
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|e| e.unwrap().file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != me && (has(*pid, "environ", &variable) || has(*pid, "cmdline", state)))
        .filter(|pid| super::lives(*pid))
        .collect()
}

/// Kills every process of luzia and of its tasks, and waits until all are dead.
pub fn kill_all(place: &Place) {
    until("every process is dead", || {
        let alive = processes_in(&place.state());
        alive.iter().for_each(|pid| signal(*pid, Signal::KILL));
        alive.is_empty().then_some(())
    });
}
