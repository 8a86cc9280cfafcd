//! What the real operating system does, on this machine. Nothing here pretends.
//!
//! A binary of its own: many a test starts it again, to have a process for itself.
#![allow(clippy::disallowed_methods, reason = "tests look at real files and processes")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accounts;
mod files;
mod handles;
#[path = "../it/support/home.rs"]
#[expect(dead_code, reason = "the integration tests need both of its functions")]
mod home;
mod processes;
mod screen;
#[path = "../it/support/skip.rs"]
mod skip;
mod starting;
mod supervising;
mod trapped;
mod trees;

use luzia::model::Identity;
use luzia::model::process::Probe;
use luzia::os::real::{RealFiles, RealProcesses, output};
use luzia::os::{Child, Command, Exit, Handle, Open, Processes, Signal, StartError, Streams, Vfs, Woken};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(20);

const ALONE: &str = "LUZIA_TEST_ALONE";

/// The home of every process that is started here.
const HOME: &str = env!("CARGO_TARGET_TMPDIR");

/// Runs a test in a process of its own, since masks, sessions, umasks and descriptors belong to a whole process.
/// The first call starts this test again by its name; `through` is a shell text that leads to it with `exec "$@"`. The
/// signals that the caller of the tests ignores, as nohup(1) and a shell's background do, are not ignored there.
fn alone(module: &str, name: &str, through: &str, body: impl FnOnce()) {
    if std::env::var(ALONE).is_ok_and(|running| running == name) {
        body();
        return;
    }
    let test = format!("{}::{name}", module.split_once("::").unwrap().1);
    let own = std::env::current_exe().unwrap();
    let start = ["env", "--default-signal", "/bin/sh", "-c", through, "sh", own.to_str().unwrap()];
    let start = [&start[..], &["--exact", &test, "--test-threads=1", "--nocapture"]].concat();
    let start: Vec<String> = start.into_iter().map(str::to_owned).collect();
    // posix_spawn(3), by which the standard library would start it, leaves two signals ignored.
    let variables: Vec<(String, String)> =
        home::home_variables(Path::new(HOME)).chain([(ALONE.to_owned(), name.to_owned())]).collect();
    let output = output(&start, &variables).unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let passed = output.exit == Exit::Code(0) && text.contains("1 passed");
    assert!(passed, "{test}: {:?}\n{text}\n{errors}", output.exit);
}

/// The shell text of a plain start.
const PLAINLY: &str = r#"exec "$@""#;

/// Passes over the first waits of a watch, which are sleeps and tell of nothing. From here on the kernel tells.
fn pass_over_sleeps(watch: &mut dyn luzia::os::Watch) {
    while watch.wait(std::time::Duration::ZERO).unwrap() {}
}

/// Waits for something to become true; fails when it does not.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn vfs(dir: &Path) -> RealFiles {
    RealFiles::open_at(dir.to_str().unwrap(), false).unwrap().unwrap()
}

fn command(argv: &[&str]) -> Command {
    Command {
        argv: argv.iter().map(|arg| (*arg).to_owned()).collect(),
        env: vec![(b"PATH".to_vec(), b"/usr/bin:/bin".to_vec())],
        cwd: "/".to_owned(),
        umask: 0o022,
        run_as: None,
        limits: None,
        has_terminal: false,
        input_of: None,
    }
}

fn streams(dir: &Path) -> Streams {
    let create = |name: &str| File::create(dir.join(name)).unwrap();
    Streams { stdin: None, stdout: create("out"), stderr: create("err") }
}

fn end_of(child: &mut dyn Child) -> Exit {
    match child.wait(Some(SOON)).unwrap() {
        Woken::Exited(exit) => exit,
        other => panic!("woken by {other:?}"),
    }
}

/// Runs a command to its end and gives what it wrote.
fn run(command: &Command) -> (Exit, String) {
    let dir = tempfile::tempdir().unwrap();
    let started = RealProcesses.start(command, &streams(dir.path()), None);
    let exit = end_of(started.unwrap().as_mut());
    let read = |name| std::fs::read_to_string(dir.path().join(name)).unwrap();
    (exit, read("out") + &read("err"))
}

/// The pid that a command in a directory has written, be it after its end.
fn pid_said_in(dir: &Path) -> u32 {
    let said = || std::fs::read_to_string(dir.join("out")).unwrap();
    eventually("a pid", || said().ends_with('\n'));
    said().trim().parse().unwrap()
}

fn sh(script: &str) -> Command {
    command(&["sh", "-c", script])
}

/// A living process.
fn identity(pid: u32) -> Identity {
    let Probe::Alive { start } = RealProcesses.probe(pid) else {
        panic!("{pid} lives");
    };
    Identity { pid, start, boot_id: RealProcesses.me().boot_id }
}

/// What /proc says of a process, or of `thread-self`.
fn status(of: impl std::fmt::Display) -> String {
    std::fs::read_to_string(format!("/proc/{of}/status")).unwrap()
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap().trim()
}

/// A set of signals, the first of which is the lowest bit.
fn signals(status: &str, name: &str) -> u64 {
    u64::from_str_radix(field(status, name), 16).unwrap()
}

fn parent(pid: u32) -> u32 {
    field(&status(pid), "PPid").parse().unwrap()
}
