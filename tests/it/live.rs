//! The line in place: a person at a terminal sees why a command waits, and finds nothing of it on the screen afterwards.

use crate::support::{Place, signal, until};
use crate::terminal::Person;
use rustix::process::Signal;

/// The lines of the screen after some output.
fn lines(written: &str) -> Vec<String> {
    let (mut lines, mut at) = (vec![Vec::new()], 0);
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        let escape = ["\u{1b}[2K", "\u{1b}[?7l", "\u{1b}[?7h"].into_iter().find(|escape| rest.starts_with(escape));
        rest = &rest[escape.map_or(c.len_utf8(), str::len)..];
        let line = lines.last_mut().unwrap();
        match c {
            '\u{1b}' if escape == Some("\u{1b}[2K") => line.clear(),
            '\u{1b}' => assert!(escape.is_some(), "{written:?}"),
            '\r' => at = 0,
            '\n' => lines.push(Vec::new()),
            _ => {
                line.resize(line.len().max(at + 1), ' ');
                line[at] = c;
                at += 1;
            }
        }
        assert!(at <= 97, "a line is wider than the terminal: {written:?}");
    }
    let text = |line: Vec<char>| line.into_iter().collect::<String>();
    let lines = lines.into_iter().map(text);
    lines.filter(|line| !line.is_empty()).collect()
}

/// Starts luzia with both streams at a terminal.
fn person(place: &Place, words: &str) -> Person {
    person_at(place, "xterm", words)
}

fn person_at(place: &Place, terminal: &str, words: &str) -> Person {
    let mut command = place.shell(&format!("exec \"$LUZIA\" {words} 2>&1"));
    command.env("TERM", terminal);
    Person::at(place, command)
}

/// The screen once the command has ended.
fn end(mut person: Person, code: i32) -> (String, Vec<String>) {
    until("it ends", || person.running.is_over().then_some(()));
    // The reader of the terminal may be behind.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let written = person.screen();
    person.running.end().coded(code);
    let lines = lines(&written);
    (written, lines)
}

/// A task of alice that lasts, so that the next one waits.
fn busy() -> (Place, String) {
    let place = Place::new();
    let holder = place.enqueue(&["-u", "alice", "--", "sleep", "600"]);
    place.ok(&["dispatch"]);
    place.until_status(&holder, "running");
    (place, holder)
}

#[test]
fn a_run_that_waits_shows_its_place_in_one_line_which_goes_before_the_output() {
    let (place, holder) = busy();
    let person = person(&place, "run -u alice -- sh -c 'printf one; echo \" two\"'");
    let sees = |text: &str| until(text, || person.screen().contains(text).then_some(()));
    sees("luzia: task_2 waits; position 1; alice's lane is busy: task_1");
    sees("waits 2s");
    assert_eq!(lines(&person.screen()).len(), 1, "{:?}", person.screen());
    assert!(lines(&person.screen())[0].contains("task_1"), "{:?}", person.screen());
    place.ok(&["cancel", &holder, "--yes"]);
    let (_, left) = end(person, 0);
    assert_eq!(left, ["one two"]);
}

#[test]
fn a_run_on_standby_moves_its_line_too() {
    let (place, holder) = busy();
    let first = person(&place, "run -u alice -- true");
    until("it waits", || first.screen().contains("task_2 waits").then_some(()));
    let second = person(&place, "run -u alice -- echo mine");
    until("its line moves", || second.screen().contains("task_3 waits 2s; position 2").then_some(()));
    place.ok(&["cancel", &holder, "--yes"]);
    assert_eq!(end(first, 0).1, [""; 0]);
    assert_eq!(end(second, 0).1, ["mine"]);
}

#[test]
fn nothing_of_the_line_is_in_a_pipe_or_with_quiet_or_json_or_on_a_dumb_terminal() {
    let (place, holder) = busy();
    let piped = place.start(&["run", "-u", "alice", "--", "true"]);
    let quiet = person(&place, "run -q -u alice -- true");
    let json = person(&place, "wait 1 --json");
    let dumb = person_at(&place, "dumb", "run -u alice -- true");
    until("it waits", || piped.err().contains("task_1").then_some(()));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    place.ok(&["cancel", &holder, "--yes"]);
    assert!(!piped.end().coded(0).err.contains('\u{1b}'));
    for (person, code) in [(quiet, 0), (json, 1), (dumb, 0)] {
        let written = end(person, code).0;
        assert!(!written.contains('\u{1b}'), "{written:?}");
    }
}

#[test]
fn a_wait_shows_one_task_of_several_and_a_signal_leaves_the_screen_clean() {
    let (place, holder) = busy();
    let next = place.enqueue(&["-u", "alice", "--", "true"]);
    let both = person(&place, &format!("wait {holder} {next}"));
    until("it tells", || both.screen().contains("0/2 over; luzia: waiting for task_1").then_some(()));
    let stopped = person(&place, &format!("wait {next}"));
    until("it tells", || stopped.screen().contains("task_2 waits").then_some(()));
    signal(stopped.running.pid(), Signal::INT);
    assert_eq!(end(stopped, 130).1, [""; 0]);
    place.ok(&["cancel", &holder, "--yes"]);
    until("the next line", || both.screen().contains("1/2 over").then_some(()));
    place.drain();
    let (_, left) = end(both, 1);
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left[0].starts_with("task_1 cancelled: ") && left[1].starts_with("task_2 completed: "), "{left:?}");
}

#[test]
fn a_drain_and_verbs_for_many_tasks_have_a_bar() {
    let place = Place::new();
    let ids: Vec<String> = (0..3).map(|_| place.enqueue(&["-u", "alice", "--", "sleep", "0.4"])).collect();
    let (written, left) = end(person(&place, "dispatch --drain"), 0);
    assert!(written.contains("] 0/3 over; 1 running, 2 waiting") && left.len() == 6, "{written:?}");
    assert!(left.iter().all(|line| line.starts_with("task_")), "{left:?}");
    let more: Vec<String> = ids.iter().map(|_| place.enqueue(&["-u", "alice", "--", "true"])).collect();
    let (written, left) = end(person(&place, &format!("cancel {} --yes", more.join(" "))), 0);
    assert!(written.contains("] 2/3 tasks; cancel task_6"), "{written:?}");
    assert_eq!(left, ["task_4 cancelled", "task_5 cancelled", "task_6 cancelled"]);
    std::fs::write(place.path("two"), "{\"user\":\"a\",\"command\":[\"true\"]}\n".repeat(2)).unwrap();
    let file = place.path("two").display().to_string();
    let (written, left) = end(person(&place, &format!("run --from {file}")), 0);
    assert!(written.contains("/2 tasks are over") && left.is_empty(), "{written:?}");
    let (written, left) = end(person(&place, &format!("enqueue --from {file}")), 0);
    assert!(written.contains("accepting 2 tasks") && left == ["task_9", "task_10"], "{written:?}");
}
