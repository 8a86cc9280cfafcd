//! Looking at processes and signalling them.

use super::*;
use std::io::ErrorKind;
use std::process::{Child as StdChild, Stdio};

/// A process that ends with the test that made it, also when that fails.
struct Sleeper(StdChild);

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn sleeper() -> Sleeper {
    let mut command = std::process::Command::new("sleep");
    Sleeper(command.arg("1000").stdout(Stdio::null()).spawn().unwrap())
}

#[test]
fn this_process_lives_since_its_start() {
    let me = RealProcesses.me();
    assert_eq!(me.pid, std::process::id());
    assert!(me.start > 0);
    assert!(RealProcesses.probe(me.pid).proves_life_of(me.start));
    assert!(RealProcesses.probe(me.pid).proves_death_of(me.start - 1), "recycled");
}

#[test]
fn the_dead_and_the_zombies_are_told_from_the_living() {
    let mut child = sleeper();
    let who = identity(child.0.id());
    assert!(!RealProcesses.await_death(&who, Duration::ZERO).unwrap());
    child.0.kill().unwrap();
    eventually("zombie", || RealProcesses.probe(who.pid) == Probe::Zombie);
    assert!(RealProcesses.await_death(&who, Duration::ZERO).unwrap());
    assert!(!RealProcesses.signal(&who, Signal::Term).unwrap());
    child.0.wait().unwrap();
    assert!(RealProcesses.probe(who.pid).proves_death_of(who.start));
    assert!(RealProcesses.await_death(&who, Duration::MAX).unwrap());
    assert!(!RealProcesses.signal(&who, Signal::Kill).unwrap());
}

#[test]
fn numbers_that_no_process_has_prove_nothing() {
    for pid in [0, u32::MAX, 1 << 31] {
        assert_eq!(RealProcesses.probe(pid), Probe::Unknown, "{pid}");
    }
}

#[test]
fn a_pid_above_the_limit_of_the_kernel_is_gone() {
    assert_eq!(RealProcesses.probe(i32::MAX as u32), Probe::Gone);
}

#[test]
fn a_process_is_signalled_only_if_it_is_that_very_process() {
    let mut child = sleeper();
    let who = identity(child.0.id());
    let other_start = Identity { start: who.start + 1, ..who.clone() };
    let other_boot = Identity { boot_id: "another".to_owned(), ..who.clone() };
    for stranger in [&other_start, &other_boot] {
        assert!(!RealProcesses.signal(stranger, Signal::Kill).unwrap());
        assert!(RealProcesses.await_death(stranger, Duration::ZERO).unwrap());
    }
    assert!(child.0.try_wait().unwrap().is_none(), "it was not hit");
    assert!(RealProcesses.signal(&who, Signal::Term).unwrap());
    assert!(RealProcesses.await_death(&who, SOON).unwrap());
    let status = child.0.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
}

#[test]
fn everybody_init_and_this_process_are_never_signalled() {
    let me = RealProcesses.me();
    for pid in [0, 1, me.pid, u32::MAX, 1 << 31] {
        let start = match RealProcesses.probe(pid) {
            Probe::Alive { start } => start,
            Probe::Gone | Probe::Zombie | Probe::Unknown => 1,
        };
        let who = Identity { pid, start, boot_id: me.boot_id.clone() };
        let error = RealProcesses.signal(&who, Signal::Wake).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{pid}");
    }
}

#[test]
fn stop_signals_wait_while_they_are_held() {
    alone(module_path!(), "stop_signals_wait_while_they_are_held", PLAINLY, || {
        let blocked = || signals(&status("thread-self"), "SigBlk");
        let before = blocked();
        RealProcesses.hold_stop_signals(true);
        assert_eq!(blocked() & !before, 0b111 << 19);
        RealProcesses.hold_stop_signals(false);
        assert_eq!(blocked(), before);
    });
}

#[test]
fn dead_children_are_reaped_but_for_those_that_are_watched() {
    let name = "dead_children_are_reaped_but_for_those_that_are_watched";
    alone(module_path!(), name, PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        let watched = RealProcesses.start(&sh("exit 7"), &streams(dir.path()), None);
        let mut watched = watched.unwrap();
        let pid = watched.pid();
        eventually("the watched one is dead", || RealProcesses.probe(pid) == Probe::Zombie);
        let others: Vec<u32> = (0..3).map(|_| std::process::Command::new("true").spawn().unwrap().id()).collect();
        eventually("the others are gone", || {
            RealProcesses.reap();
            others.iter().all(|pid| RealProcesses.probe(*pid) == Probe::Gone)
        });
        assert_eq!(end_of(watched.as_mut()), Exit::Code(7));
        drop(watched);
        assert_eq!(RealProcesses.probe(pid), Probe::Gone);
    });
}

#[test]
fn the_host_and_the_namespace_have_names() {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(RealProcesses.host(), host.trim());
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap();
    assert_eq!(link.to_str().unwrap(), format!("pid:[{}]", RealProcesses.origin().pid_namespace.unwrap()));
}

#[test]
fn the_end_of_a_process_ends_a_wait_for_changes() {
    let (dir, mut child) = (tempfile::tempdir().unwrap(), sleeper());
    let files = RealFiles::open_at(dir.path().to_str().unwrap(), false).unwrap().unwrap();
    let who = identity(child.0.id());
    let mut watch = files.watch(&["."]).unwrap();
    watch.heed(RealProcesses.end_of(&who).unwrap().expect("it lives"));
    crate::pass_over_sleeps(watch.as_mut());
    assert!(!watch.wait(Duration::from_millis(20)).unwrap(), "nothing has happened");
    child.0.kill().unwrap();
    assert!(watch.wait(Duration::from_secs(30)).unwrap());
    child.0.wait().unwrap();
    assert!(RealProcesses.end_of(&who).unwrap().is_none(), "it has ended");
    let other = Identity { start: 1, ..identity(std::process::id()) };
    assert!(RealProcesses.end_of(&other).unwrap().is_none(), "another one has its pid");
}
