//! Becoming a supervisor, and being started as one.

use super::*;
use luzia::os::real::{Caught, catch, take};
use std::os::unix::process::CommandExt;

/// What a shell has to do so that the test begins with SIGTERM blocked, and SIGHUP, SIGINT and SIGUSR2 ignored.
const SPOILED: &str =
    r#"exec env --block-signal=TERM --ignore-signal=HUP --ignore-signal=INT --ignore-signal=USR2 "$@""#;

#[test]
fn a_command_starts_with_clean_signals_whatever_the_supervisor_inherited() {
    let name = "a_command_starts_with_clean_signals_whatever_the_supervisor_inherited";
    alone(module_path!(), name, SPOILED, || {
        let look = command(&["cat", "/proc/self/status"]);
        assert_eq!(signals(&status("thread-self"), "SigBlk") & 1 << 14, 1 << 14, "the spoiling worked");
        let spoiled = run(&look).1;
        assert_ne!(signals(&spoiled, "SigIgn"), 0, "and is seen by a child");
        RealProcesses.become_supervisor().unwrap();
        assert_eq!(signals(&status("thread-self"), "SigBlk"), 0, "and blocks none itself");
        let clean = run(&look).1;
        // The two signals that the C library keeps for itself as well, which the caller of the tests may have left ignored.
        for name in ["SigBlk", "SigIgn", "SigCgt"] {
            assert_eq!(signals(&clean, name), 0, "{name}\n{clean}");
        }
    });
}

#[test]
fn a_command_gets_three_descriptors_and_the_tree_lock_only() {
    let name = "a_command_gets_three_descriptors_and_the_tree_lock_only";
    alone(module_path!(), name, r#"exec "$@" 7</dev/null 8>/dev/null"#, || {
        let list = sh("for fd in /proc/$$/fd/*; do readlink $fd; done");
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let lines = |tree: Option<File>| {
            let child = RealProcesses.start(&list, &streams(dir.path()), tree);
            end_of(child.unwrap().as_mut());
            let text = std::fs::read_to_string(path("out")).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let strays = lines(None).iter().filter(|line| *line == "/dev/null").count();
        assert!(strays >= 3, "standard input and both strays");
        RealProcesses.become_supervisor().unwrap();
        let three = vec!["/dev/null".to_owned(), path("err"), path("out")];
        assert_eq!(lines(None), three);
        let tree = File::create(path("tree.lock")).unwrap();
        let with_tree = lines(Some(tree));
        assert_eq!(with_tree, [three.clone(), vec![path("tree.lock")]].concat());
        assert_eq!(lines(None), three, "the next one does not get it");
    });
}

/// The session of a process, zero where its leader is outside this pid namespace (getsid(2)).
fn session(pid: u32) -> u32 {
    let pid = nix::unistd::Pid::from_raw(pid.try_into().unwrap());
    nix::unistd::getsid(Some(pid)).unwrap().as_raw().try_into().unwrap()
}

#[test]
fn a_supervisor_has_its_own_session_and_inherits_orphans() {
    let name = "a_supervisor_has_its_own_session_and_inherits_orphans";
    // With job control the shell would make it a leader; without, it is no leader and can have a session.
    alone(module_path!(), name, r#""$@""#, || {
        let own = || session(std::process::id()) == std::process::id();
        assert!(!own());
        RealProcesses.become_supervisor().unwrap();
        assert!(own());
        RealProcesses.become_supervisor().unwrap();
        let (_, text) = run(&sh("(sleep 1000 & echo $!)"));
        let orphan: u32 = text.trim().parse().unwrap();
        assert_eq!(parent(orphan), std::process::id());
        kill(orphan);
        eventually("the orphan was reaped", || {
            RealProcesses.reap();
            RealProcesses.probe(orphan) == Probe::Gone
        });
    });
}

#[test]
fn a_supervisor_is_told_of_its_signals_one_by_one() {
    alone(module_path!(), "a_supervisor_is_told_of_its_signals_one_by_one", PLAINLY, || {
        RealProcesses.become_supervisor().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let child = RealProcesses.start(&command(&["sleep", "1000"]), &streams(dir.path()), None);
        let mut child = child.unwrap();
        let me = std::process::id().to_string();
        for (signal, woken) in [("USR1", Woken::Pass), ("TERM", Woken::Terminate)] {
            for harmless in ["HUP", "INT", "QUIT"] {
                let sent = std::process::Command::new("kill").args(["-s", harmless, &me]).status();
                assert!(sent.unwrap().success());
            }
            // From another process, while this one waits.
            let text = format!("sleep 0.05; kill -s {signal} {me}");
            let mut sender = std::process::Command::new("sh");
            let mut sender = sender.args(["-c", &text]).spawn().unwrap();
            assert_eq!(child.wait(Some(SOON)).unwrap(), woken);
            assert!(sender.wait().unwrap().success());
        }
        assert_eq!(child.wait(Some(Duration::ZERO)).unwrap(), Woken::TimeUp);
        child.signal(Signal::Kill).unwrap();
        assert_eq!(end_of(child.as_mut()), Exit::Signal(9));
    });
}

#[test]
fn a_caught_signal_ends_the_wait_for_a_directory() {
    alone(module_path!(), "a_caught_signal_ends_the_wait_for_a_directory", PLAINLY, || {
        catch(&[Caught::Terminate, Caught::Interrupt]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut watch = vfs(dir.path()).watch(&[""]).unwrap();
        crate::pass_over_sleeps(watch.as_mut());
        let text = format!("kill -s TERM {}", std::process::id());
        let mut sender = std::process::Command::new("sh");
        let mut sender = sender.args(["-c", &text]).spawn().unwrap();
        assert!(watch.wait(SOON).unwrap());
        assert!(sender.wait().unwrap().success());
        assert!(take(Caught::Terminate) && !take(Caught::Terminate) && !take(Caught::Interrupt));
    });
}

/// Not a test of its own: the supervisor that the next test launches.
fn be_the_launched_one(out: &Path) {
    let variables: Vec<String> = std::env::vars().map(|(key, _)| key).collect();
    let strays: Vec<String> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let cwd = std::env::current_dir().unwrap();
    let text = format!("{}\n{}\n{}", variables.join(" "), strays.join(" "), cwd.display());
    std::fs::write(out.with_extension("tmp"), text).unwrap();
    std::fs::rename(out.with_extension("tmp"), out).unwrap();
    RealProcesses.become_supervisor().unwrap();
    std::thread::sleep(Duration::from_secs(100));
}

#[test]
fn a_launched_supervisor_holds_the_lock_and_nothing_of_its_caller() {
    let name = "a_launched_supervisor_holds_the_lock_and_nothing_of_its_caller";
    alone(module_path!(), name, r#"exec "$@" 7</etc/passwd"#, || {
        if let Some(out) = std::env::var_os("LUZIA_STATE_DIR") {
            be_the_launched_one(Path::new(&out));
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let helper = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("{}::launches", module_path!().split_once("::").unwrap().1)])
            .args(["--test-threads=1", "--nocapture"])
            .env("LUZIA_TEST_LAUNCH", name)
            .env("LUZIA_STATE_DIR", &out)
            .env("LUZIA_TASK_ID", "task_1")
            .env("LUZIA_FENCE", "5")
            .env("LUZIA_CONFIG", "/x")
            .process_group(0)
            .status();
        assert!(helper.unwrap().success());
        eventually("the supervisor reports", || out.exists());
        let report = std::fs::read_to_string(&out).unwrap();
        let lines: Vec<&str> = report.lines().collect();
        assert!(lines[0].contains("LUZIA_STATE_DIR") && lines[0].contains("LUZIA_CONFIG"));
        assert!(!lines[0].contains("LUZIA_TASK_ID") && !lines[0].contains("LUZIA_FENCE"));
        assert!(!lines[1].contains("passwd"), "{}", lines[1]);
        assert_eq!(lines[2], "/");
        let files = vfs(dir.path());
        let mut lock = files.open("lock", Open::Existing).unwrap().unwrap();
        assert!(!lock.try_lock(false).unwrap(), "the supervisor holds it");
        let pid = std::fs::read_to_string(dir.path().join("pid")).unwrap();
        eventually("a session of its own", || {
            let pid = pid.parse().unwrap();
            session(pid) == pid
        });
        kill(pid.parse().unwrap());
        eventually("the lock is free", || lock.try_lock(false).unwrap());
    });
}

/// The dispatcher of the test above; when nobody asks for it, it shows that a launch without a program's help fails.
#[test]
fn launches() {
    let Ok(name) = std::env::var("LUZIA_TEST_LAUNCH") else {
        assert!(std::env::var(ALONE).is_err());
        return;
    };
    let out = std::env::var("LUZIA_STATE_DIR").unwrap();
    let files = vfs(Path::new(&out).parent().unwrap());
    let mut lock = files.open("lock", Open::CreateNew(0o600)).unwrap().unwrap();
    assert!(lock.try_lock(false).unwrap());
    let test = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
    let args = ["--exact", &test, "--test-threads=1", "--nocapture"].map(str::to_owned);
    let pid = RealProcesses.launch_supervisor(&args, lock).unwrap();
    std::fs::write(Path::new(&out).with_file_name("pid"), pid.to_string()).unwrap();
}

fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(status.unwrap().success());
}
