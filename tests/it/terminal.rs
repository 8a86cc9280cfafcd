//! `run --pty`: a terminal of its own for a command.

use super::support::*;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// A person at a terminal.
pub struct Person {
    keys: File,
    seen: Arc<Mutex<String>>,
    pub running: Running,
}

impl Person {
    /// Starts luzia at a terminal of 31 rows and 97 columns.
    fn starts(place: &Place, args: &[&str]) -> Self {
        Self::at(place, place.command(args))
    }

    /// Starts a command at such a terminal.
    pub fn at(place: &Place, mut command: Command) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: 31, ws_col: 97, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let slave = File::from(ioctl_tiocgptpeer(&master, flags).unwrap());
        let stream = || Stdio::from(slave.try_clone().unwrap());
        command.stdin(stream());
        let running = place.spawn_into(&mut command, Some(stream()));
        let keys = File::from(master);
        let mut screen = keys.try_clone().unwrap();
        let seen = Arc::new(Mutex::new(String::new()));
        let copy = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                copy.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { keys, seen, running }
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn sees(&self, text: &str) {
        until("the text is on the screen", || self.screen().contains(text).then_some(()));
    }

    /// All that was written to the terminal.
    pub fn screen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }

    /// Whether the terminal gives lines and not keys, as a shell expects it.
    fn has_lines(&self) -> bool {
        tcgetattr(&self.keys).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }
}

#[test]
fn a_command_has_a_terminal_of_its_own_and_its_output_is_logged() {
    let place = Place::new();
    let script =
        "test -t 0 && test -t 1 && test -t 2 && tty && stty size && exec 9<>/dev/tty && echo its own >&9; exit 3";
    let ran = place.luzia(&["run", "--pty", "--", "sh", "-c", script]).coded(3);
    assert!(ran.out.starts_with("/dev/pts/") && ran.out.ends_with("\r\n24 80\r\nits own\r\n"), "{:?}", ran.out);
    assert_eq!(place.ok(&["logs", "task_1"]).out, ran.out);
    assert_eq!(place.show("task_1")["command"][0], "sh", "the record has the command as it was given");
    // Without a terminal around it, the command reads the end of its input, or what --stdin gives.
    assert!(place.luzia(&["run", "--pty", "--", "sh", "-c", "cat; echo after"]).coded(0).out.ends_with("after\r\n"));
    let script = r#"echo hello | "$LUZIA" run --pty --stdin -- sh -c 'read x; echo got $x'"#;
    assert!(place.spawn(&mut place.shell(script)).end().coded(0).out.ends_with("got hello\r\n"));
}

#[test]
fn a_command_on_a_terminal_ends_with_its_own_code_signal_or_time_limit() {
    let place = Place::new();
    place.luzia(&["run", "--pty", "--", "sh", "-c", "kill -9 $$"]).coded(137);
    place.luzia(&["run", "--pty", "--", "nosuch"]).coded(127);
    place.luzia(&["run", "--pty", "--timeout", "300ms", "--", "sleep", "600"]).coded(124);
    let stubborn = "trap 'echo told; exit 5' TERM; echo on; while :; do sleep 0.01; done";
    let mut running = place.start(&["run", "--pty", "-u", "alice", "--", "sh", "-c", stubborn]);
    until("it runs", || running.out().contains("on\r\n").then_some(()));
    assert!(!running.is_over());
    place.ok(&["cancel", "task_3", "--yes"]);
    assert!(running.end().coded(1).out.ends_with("told\r\n"), "SIGTERM reaches the command");
    for bad in [&["--prompt", "x"][..], &["--retries", "2", "--", "true"], &["--group-output", "--", "true"]] {
        let args: Vec<&str> = ["run", "--pty"].iter().chain(bad).copied().collect();
        place.luzia(&args).coded(2);
    }
    assert_eq!(place.luzia(&["show", "task_4"]).code, 66, "nothing was queued");
}

#[test]
fn keys_and_the_size_of_the_window_reach_the_command_and_the_terminal_is_given_back() {
    let place = Place::new();
    let script = "trap 'echo interrupted' INT; echo ready; while :; do read -r line && eval \"$line\"; done";
    let mut person = Person::starts(&place, &["run", "--pty", "-q", "--", "bash", "-c", script]);
    person.sees("ready\r\n");
    person.types("stty size\r");
    person.sees("31 97\r\n");
    assert!(!person.has_lines(), "each key arrives at once");
    // Ctrl-C is the command's, which goes on.
    person.types("\u{3}");
    person.sees("interrupted\r\n");
    tcsetwinsize(&person.keys, Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    until("the size arrives", || {
        person.types("stty size\r");
        std::thread::sleep(std::time::Duration::from_millis(100));
        person.screen().contains("40 100\r\n").then_some(())
    });
    person.types("exit 7\r");
    until("it ends", || person.running.is_over().then_some(()));
    assert!(person.has_lines(), "the terminal is as it was");
    person.running.end().coded(7);
}

#[test]
fn a_command_on_a_terminal_takes_no_keys_once_its_run_was_killed() {
    let place = Place::new();
    let person =
        Person::starts(&place, &["run", "--pty", "-q", "-u", "alice", "--", "sh", "-c", "echo on; cat; echo over"]);
    person.sees("on\r\n");
    let Person { mut running, .. } = person;
    running.kill();
    place.until_status("task_1", "completed");
    assert!(place.ok(&["logs", "task_1"]).out.ends_with("over\r\n"));
}

/// What a terminal shows at the end of a command.
fn screen(place: &Place, args: &[&str]) -> String {
    let mut person = Person::starts(place, args);
    until("it ends", || person.running.is_over().then_some(()));
    until("the screen is whole", || person.screen().ends_with("\r\n").then_some(()));
    person.screen()
}

#[test]
fn a_terminal_shows_the_first_page_to_a_person_who_types_the_name_alone() {
    let place = Place::new();
    let page = screen(&place, &[]);
    assert!(page.contains("Start here:") && page.contains("luzia explain last"), "{page}");
    assert_eq!(page, screen(&place, &["--help"]));
    let piped = place.luzia(&[]).coded(2);
    assert!(piped.err.contains("no verb given"), "{}", piped.err);
}

#[test]
fn a_terminal_shows_the_path_of_a_repository_and_not_the_lane_of_all_tasks() {
    let place = Place::new();
    let repository = place.path("api");
    std::fs::create_dir_all(repository.join(".git/objects")).unwrap();
    std::fs::create_dir_all(repository.join(".git/refs")).unwrap();
    std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let path = repository.to_str().unwrap();
    let lane = place.ok(&["name", "git-dir", path]).line();
    let shown = format!("@git-dir:{path}");
    let first = place.enqueue(&["-l", &shown, "--", "sleep", "600"]);
    place.ok(&["dispatch"]);
    place.until_status(&first, "running");
    let id = place.enqueue(&["-l", &shown, "--", "true"]);
    let screen = |args: &[&str]| screen(&place, args);
    for args in [&["locks"][..], &["status"], &["explain"], &["list", "--columns", "id,lanes,reason"]] {
        let seen = screen(args).replace("\r\n", "");
        assert!(seen.contains(&shown) && !seen.contains(&lane), "{args:?}: {seen}");
        assert!(!seen.contains("global"), "{args:?}: {seen}");
        let piped = place.ok(args).out;
        assert!(piped.contains(&lane) && !piped.contains(&shown), "{args:?}: {piped}");
    }
    assert!(place.ok(&["locks"]).out.contains("global"));
    let at_terminal = format!("script -qec '\"$LUZIA\" lock -n -l {shown} -- true' /dev/null");
    let refused = place.spawn(&mut place.shell(&at_terminal)).end().coded(75).out;
    assert!(refused.contains(&format!("lane \"{shown}\"")), "{refused}");
    assert_eq!(place.show(&id)["lanes"], serde_json::json!([lane]));
    // The end of the first task would start the other one.
    place.ok(&["cancel", &id, &first, "--yes"]);
}
