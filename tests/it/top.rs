//! `top`: the tasks and the locks, once where nobody looks at a terminal; a full screen, driven in tmux(1), on one.

use crate::support::{Place, signal, skip, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn top_shows_tasks_with_their_reasons_and_locks_once_where_stdout_is_no_terminal() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    let script = format!("read _ <{}", place.gate("go"));
    let runs = place.enqueue(&["-u", "alice", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&runs, "running");
    let waits = place.enqueue(&["-u", "alice", "--", "true"]);
    for args in [&["top"][..], &["top", "--once"]] {
        let said = place.ok(args).out;
        assert!(said.contains("1 of 4 slots in use") && said.contains(&format!("waits for {runs} (alice)")), "{said}");
        assert!(said.contains("LANE") && said.contains("user:alice  held") && !said.contains('\u{1b}'), "{said}");
    }
    let told = place.json(&["top"]);
    let ids: Vec<&Value> = told["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&json!(runs), &json!(waits)]);
    assert_eq!((&told["slots"]["used"], &told["tasks"][1]["reason"]), (&json!(1), &json!("UserLockHeld")));
    assert_eq!(told["locks"].as_array().unwrap().len(), 2);
    let few = place.json(&["top", "-n", "1"]);
    assert_eq!(few["tasks"].as_array().unwrap().len(), 1);
    place.open_gate("go");
    place.drain();
}

#[test]
fn top_of_nothing_shows_nothing_and_makes_nothing() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    let said = place.ok(&["top"]).out;
    assert!(said.contains("0 of 4 slots in use"), "{said}");
    assert!(!place.state().exists(), "nothing was written");
    for interval in ["0", "-1s", "soon"] {
        assert!(place.luzia(&["top", "--interval", interval]).coded(2).err.contains("interval"));
    }
}

/// A terminal of tmux(1) with a shell in it. It ends with its place.
struct Window<'a>(&'a Place);

impl<'a> Window<'a> {
    /// `None` where there is no tmux(1).
    fn open(place: &'a Place, (columns, rows): (u16, u16), variables: &str) -> Option<Self> {
        let shell = format!("env {variables} PS1='$ ' sh");
        let window = Self(place);
        let size = ["-x", &columns.to_string(), "-y", &rows.to_string()].map(str::to_owned);
        let size: Vec<&str> = size.iter().map(String::as_str).collect();
        let opened = window.tmux(&[&["-f", "/dev/null", "new-session", "-d"], &size[..], &[&shell]].concat())?;
        assert_eq!(opened, "");
        window.sees("$");
        Some(window)
    }

    fn tmux(&self, args: &[&str]) -> Option<String> {
        let mut command = Command::new("tmux");
        let variables = self.0.command(&[]);
        command.env_clear().envs(variables.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.args(["-u", "-S", &self.0.text("tmux")]).args(args).stdin(std::process::Stdio::null());
        let ran = command.output().ok()?;
        assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        Some(String::from_utf8(ran.stdout).unwrap())
    }

    /// Presses keys, by the names that tmux(1) has for them.
    fn types(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat()).unwrap();
    }

    /// Types a line for the shell.
    fn runs(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]).unwrap();
        self.types(&["Enter"]);
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).unwrap()
    }

    /// Waits for a text on the screen.
    #[track_caller]
    fn sees(&self, text: &str) {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(text, || {
                last = self.screen();
                last.contains(text).then_some(())
            });
        }));
        assert!(found.is_ok(), "{text:?} is not on the screen:\n{last}");
    }

    /// Starts `top` between two looks at the modes of the terminal, and waits for its first frame. An interactive shell would
    /// leave the rest of the line out after SIGINT.
    fn starts_top(&self) {
        let modes = |name: &str| format!("stty -g >\"$PLACE/{name}\"");
        let top = "sh -c 'echo $$ >\"$PLACE/pid\"; exec \"$LUZIA\" top'";
        let script = [&modes("before"), top, "echo ended $?", &modes("after")].join("\n");
        std::fs::write(self.0.path("start"), script).unwrap();
        self.runs("clear; echo first screen; sh \"$PLACE/start\"");
        self.sees("q quit  ? keys");
    }

    /// Waits for the end of `top`. The first screen is back and the terminal has its modes.
    #[track_caller]
    fn sees_the_end(&self, code: u8) {
        self.sees(&format!("ended {code}"));
        let shown = self.screen();
        assert!(shown.contains("first screen") && !shown.contains("q quit"), "{shown}");
        assert_eq!(self.0.until_file("after"), self.0.until_file("before"));
        std::fs::remove_file(self.0.path("after")).unwrap();
        until("the prompt", || self.screen().trim_end().ends_with('$').then_some(()));
    }
}

/// Alice has a task that runs and writes, and one that waits for it.
fn busy() -> Place {
    let place = Place::new();
    let script = format!("echo begun; read _ <{}; echo 'red \x1b[31m'; sleep 600", place.gate("go"));
    let runs = place.enqueue(&["-u", "alice", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&runs, "running");
    place.enqueue(&["-u", "alice", "-l", "build", "--", "true"]);
    place
}

#[test]
fn the_screen_shows_lanes_tasks_and_one_of_them_and_cancels_it() {
    for size in [(80, 24), (60, 15)] {
        let place = busy();
        let Some(window) = Window::open(&place, size, "") else {
            return skip("the_screen_shows_lanes_tasks_and_one_of_them_and_cancels_it", "tmux(1)");
        };
        window.starts_top();
        window.sees("1 started, 1 waiting, 2 lanes");
        let shown = window.screen();
        for text in ["build       0/1   1", "user:alice  1/1   1", "task_1  alice  running", "task_2  alice  pending"] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        assert!(shown.contains("waits for task_1 (alice)"), "{shown}");
        window.types(&["Enter"]);
        window.sees("begun");
        place.open_gate("go");
        window.sees("red \\x1b[31m");
        assert!(window.screen().contains("luzia explain task_1\ntask_1 is running"), "{}", window.screen());
        window.types(&["q", "Down", "c"]);
        window.sees("luzia cancel task_2?  y or n");
        window.types(&["n"]);
        window.sees("nothing was changed");
        window.types(&["-"]);
        window.sees("luzia edit task_2 --priority 6: task_2 is changed");
        window.types(&["c", "y"]);
        window.sees("1 started, 0 waiting");
        assert!(window.screen().contains("luzia cancel task_2: task_2 cancelled"), "{}", window.screen());
        assert_eq!(place.status("task_2"), "cancelled");
        window.types(&["c"]);
        window.sees("luzia cancel task_1 --yes?  type yes and Enter");
        window.types(&["y", "Enter"]);
        window.sees("nothing was changed");
        window.types(&["c", "y", "e", "s", "Enter"]);
        window.sees("luzia cancel task_1 --yes: task_1 cancelled");
        window.types(&["e"]);
        window.sees("2 over");
        window.types(&["q"]);
        window.sees_the_end(0);
    }
}

#[test]
fn the_terminal_is_as_before_after_each_signal_and_after_a_stop() {
    let place = busy();
    let Some(window) = Window::open(&place, (80, 24), "") else {
        return skip("the_terminal_is_as_before_after_each_signal_and_after_a_stop", "tmux(1)");
    };
    let pid = || place.until_file("pid").parse().unwrap();
    for (which, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        window.starts_top();
        signal(pid(), which);
        window.sees_the_end(code);
    }
    window.starts_top();
    window.types(&["C-c"]);
    window.sees_the_end(130);
    window.runs("clear; echo first screen; \"$LUZIA\" top");
    window.sees("1 started, 1 waiting");
    window.types(&["C-z"]);
    window.sees("Stopped");
    assert!(window.screen().contains("first screen"), "{}", window.screen());
    window.runs("fg");
    window.sees("1 started, 1 waiting");
    window.types(&["q"]);
    window.sees("first screen");
    // Without a shell to continue it, it is not stopped.
    window.runs("clear; setsid -w \"$LUZIA\" top");
    window.sees("1 started, 1 waiting");
    window.types(&["C-z", "?"]);
    window.sees("leave the page, or end");
    window.types(&["q", "q"]);
}

#[test]
fn a_screen_has_sixteen_colours_none_with_no_color_and_is_text_on_a_dumb_terminal() {
    let place = busy();
    let Some(window) = Window::open(&place, (80, 24), "") else {
        return skip("a_screen_has_sixteen_colours_none_with_no_color_and_is_text_on_a_dumb_terminal", "tmux(1)");
    };
    let colours = || {
        let shown = window.tmux(&["capture-pane", "-p", "-e"]).unwrap();
        let codes = shown.split("\u{1b}[").skip(1).filter_map(|rest| rest.split_once('m'));
        codes.flat_map(|(codes, _)| codes.split(';').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    window.starts_top();
    window.sees("task_2  alice  pending");
    let found = colours();
    assert!(found.contains(&"32".to_owned()) && !found.contains(&"38".to_owned()), "{found:?}");
    window.types(&["q"]);
    window.sees_the_end(0);
    window.runs("export NO_COLOR=1");
    window.starts_top();
    window.sees("task_2  alice  pending");
    let found = colours();
    assert!(found.contains(&"7".to_owned()), "the chosen row is seen: {found:?}");
    assert!(found.iter().all(|code| ["0", "1", "2", "7", "39", "49", ""].contains(&code.as_str())), "{found:?}");
    window.types(&["q"]);
    window.sees_the_end(0);
    window.runs("clear; TERM=dumb \"$LUZIA\" top --interval 600s");
    window.sees("slots in use");
    assert!(!window.screen().contains("q quit"), "{}", window.screen());
    window.types(&["C-c"]);
}
