//! Completion in the shells themselves: bash and zsh at a terminal, fish by its own engine.

use crate::support::{Place, Running, skip, until};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// A queue with a task of alice, a lane, a project and a key; the scripts are in `docs`.
fn place() -> Place {
    let place = Place::configured(&serde_json::json!({
        "projects": { "shop": { "user": "pat" } }, "lanes": { "gpu": { "max": 2 } },
    }));
    place.enqueue(&["-u", "alice", "--key", "nightly", "--", "true"]);
    place.ok(&["cron", "add", "nightly", "@daily", "-u", "alice", "--", "true"]);
    place.ok(&["install-docs", "--prefix", place.path("docs").to_str().unwrap()]);
    place
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// A shell at a terminal.
struct Shell {
    keys: File,
    seen: Arc<Mutex<String>>,
    typed: usize,
    _running: Running,
}

impl Shell {
    fn starts(place: &Place, program: &str, setup: &str) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = File::from(ioctl_tiocgptpeer(&master, flags).unwrap());
        let mut command = place.shell(&format!("PATH=${{LUZIA%/*}}:$PATH; export PATH; exec {program} 2>&1"));
        let stream = || Stdio::from(slave.try_clone().unwrap());
        command.env("TERM", "dumb").env("PS1", "READY> ").stdin(stream());
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
        let mut shell = Self { keys, seen, typed: 0, _running: running };
        shell.types(&format!("{setup}; echo SET''UP\n"));
        shell.sees("SETUP");
        shell
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn sees(&self, text: &str) -> String {
        until(text, || Some(self.seen.lock().unwrap().clone()).filter(|seen| seen.contains(text)))
    }

    /// Types a line, completes it, and gives what stands there then. The shell prints it in brackets, with a number.
    fn completes(&mut self, line: &str) -> String {
        self.typed += 1;
        let (begin, end) = (format!("[{}:", self.typed), format!(":{}]", self.typed));
        // Ctrl-A and Ctrl-E go to the ends of the line. The brackets are typed in two parts, so that the echo differs.
        self.types(&format!("{line}\t\u{1}echo '[''{}:' \u{5} ':{}'']'\n", self.typed, self.typed));
        let seen = self.sees(&end);
        let from = seen.rfind(&begin).unwrap_or_else(|| panic!("{line}: {seen}"));
        seen[from + begin.len()..].split(&end).next().unwrap().trim().to_owned()
    }
}

/// What each line becomes.
const LINES: [(&str, &str); 14] = [
    ("luzia canc", "luzia cancel"),
    ("luzia cancel ta", "luzia cancel task_1"),
    ("luzia enqueue -u ali", "luzia enqueue -u alice"),
    ("luzia run --project=sh", "luzia run --project=shop"),
    ("luzia run -l gp", "luzia run -l gpu"),
    ("luzia list --key nig", "luzia list --key nightly"),
    ("luzia check user:al", "luzia check user:alice"),
    ("luzia explain lane:gp", "luzia explain lane:gpu"),
    ("luzia release lane:gp", "luzia release lane:gpu"),
    ("luzia pause lane:gp", "luzia pause lane:gpu"),
    ("luzia lanes show lane:gp", "luzia lanes show lane:gpu"),
    ("luzia pause cron:nig", "luzia pause cron:nightly"),
    ("luzia list --no-h", "luzia list --no-header"),
    ("luzia list -o jsonl --state pen", "luzia list -o jsonl --state pending"),
];

#[test]
fn bash_completes_names_options_and_the_command_behind_two_hyphens() {
    let name = "bash_completes_names_options_and_the_command_behind_two_hyphens";
    if !is_there("bash") {
        return skip(name, "bash(1)");
    }
    let place = place();
    let script = place.path("docs/share/bash-completion/completions/luzia");
    let setup = format!(
        "bind 'set bell-style none'; source {}; _other() {{ COMPREPLY=($(compgen -W 'commit clean' -- \"$2\")); }}; \
         complete -F _other other; luzia_only_here() {{ :; }}",
        script.display()
    );
    let mut shell = Shell::starts(&place, "bash --norc --noprofile -i", &setup);
    for (line, wanted) in LINES {
        assert_eq!(shell.completes(line), wanted, "{line}");
    }
    assert_eq!(shell.completes("luzia run -u alice -- luzia_only_h"), "luzia run -u alice -- luzia_only_here");
    assert_eq!(shell.completes("luzia run -l lane:gpu -- other com"), "luzia run -l lane:gpu -- other commit");
    fs::write(place.path("README.here"), "").unwrap();
    let folder = place.path("");
    let line = format!("luzia run -- cat {}READ", folder.display());
    assert_eq!(shell.completes(&line), format!("{line}ME.here"));
}

#[test]
fn zsh_completes_names_options_and_the_command_behind_two_hyphens() {
    let name = "zsh_completes_names_options_and_the_command_behind_two_hyphens";
    if !is_there("zsh") {
        return skip(name, "zsh(1)");
    }
    let place = place();
    let setup = format!(
        "unsetopt zle_bracketed_paste beep; fpath=({} $fpath); autoload -Uz compinit; compinit -u -D; \
         _other() {{ compadd commit clean; }}; compdef _other other; luzia_only_here() {{ :; }}",
        place.path("docs/share/zsh/site-functions").display()
    );
    let mut shell = Shell::starts(&place, "zsh -f -i", &setup);
    for (line, wanted) in LINES {
        assert_eq!(shell.completes(line), wanted, "{line}");
    }
    assert_eq!(shell.completes("luzia run -u alice -- luzia_only_h"), "luzia run -u alice -- luzia_only_here");
    assert_eq!(shell.completes("luzia run -l lane:gpu -- other com"), "luzia run -l lane:gpu -- other commit");
}

#[test]
fn fish_completes_names_options_and_the_command_behind_two_hyphens() {
    let name = "fish_completes_names_options_and_the_command_behind_two_hyphens";
    if !is_there("fish") {
        return skip(name, "fish(1)");
    }
    let place = place();
    let script = place.path("docs/share/fish/vendor_completions.d/luzia.fish");
    let complete = |line: &str| {
        let code = format!(
            "source {}; complete -c other -f -a 'commit clean'; function luzia_only_here; end; complete -C '{line}'",
            script.display()
        );
        let mut command = place.shell("PATH=${LUZIA%/*}:$PATH; export PATH; exec fish --no-config -c \"$CODE\"");
        let ran = place.spawn(command.env("CODE", code)).end().coded(0);
        ran.out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<String>>()
    };
    for (line, wanted) in LINES {
        let last = |line: &str| line.rsplit(' ').next().unwrap().to_owned();
        assert_eq!(complete(line), [last(wanted)], "{line}");
    }
    assert_eq!(complete("luzia run -u alice -- luzia_only_h"), ["luzia_only_here"]);
    assert_eq!(complete("luzia run -l lane:gpu -- other com"), ["commit"]);
}

#[test]
fn names_are_told_and_nothing_is_made_or_said_where_there_are_none() {
    let place = place();
    let names = |kind: &str, prefix: &str| -> Vec<String> {
        let ran = place.ok(&["__complete", kind, prefix]);
        assert_eq!(ran.err, "", "{kind}");
        ran.out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names("tasks", "ta"), ["task_1"]);
    assert_eq!(names("users", ""), ["alice", "pat"]);
    assert_eq!(names("users", "p"), ["pat"]);
    assert!(names("lanes", "").contains(&"gpu".to_owned()) && names("lanes", "user:") == ["user:alice"]);
    assert_eq!((names("projects", ""), names("keys", "")), (vec!["shop".to_owned()], vec!["nightly".to_owned()]));
    assert_eq!(names("nothing", ""), Vec::<String>::new());
    place.ok(&["run", "-u", "alice", "--", "true"]);
    assert_eq!((names("tasks", ""), names("all-tasks", "")), (vec![], vec!["task_2".to_owned(), "task_1".to_owned()]));
    let other = place.path("absent");
    let line = format!("luzia --state-dir {} cancel ", other.display());
    assert_eq!(names("line", &line).len(), 1);
    assert!(!other.exists(), "a look makes nothing");
    place.configure(&serde_json::json!({ "slots": 1 }));
    assert_eq!(names("tasks", ""), Vec::<String>::new());
}
