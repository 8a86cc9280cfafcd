//! Tests of the command line: what it accepts, refuses and means.

use super::*;
use crate::cli::commands::queue::enqueue::EnqueueArgs;
use crate::cli::verbs::{Group, VERBS};
use crate::model::Status;
use crate::request::values::OnConflict;

mod readers;

fn args(line: &[&str]) -> Vec<OsString> {
    std::iter::once("luzia").chain(line.iter().copied()).map(OsString::from).collect()
}

fn verb(line: &[&str]) -> Command {
    match parse(args(line)) {
        Ok(cli) => cli.command,
        Err(stop) => panic!("{line:?} is refused: {stop:?}"),
    }
}

pub(super) fn usage(line: &[&str]) -> Usage {
    match parse(args(line)) {
        Err(ParseStop::Usage(usage)) => usage,
        other => panic!("{line:?} is not refused: {other:?}"),
    }
}

pub(super) fn answer(line: &[&str]) -> String {
    match parse(args(line)) {
        Err(ParseStop::Answer { plain, .. }) => plain,
        other => panic!("{line:?} is not answered: {other:?}"),
    }
}

fn enqueued(line: &[&str]) -> EnqueueArgs {
    match verb(line) {
        Command::Enqueue(args) => args.0,
        other => panic!("{line:?} is {other:?}"),
    }
}

fn refused(line: &[&str], message: &str) {
    assert_eq!(usage(line).message, message, "{line:?}");
}

#[test]
fn the_definition_is_sound() {
    command().debug_assert();
}

#[test]
fn everything_after_the_command_word_belongs_to_the_command() {
    for (line, command) in [
        (&["enqueue", "-u", "alice", "claude", "-p", "x", "--json"][..], &["claude", "-p", "x", "--json"][..]),
        (&["enqueue", "claude", "--help"], &["claude", "--help"]),
        (&["enqueue", "claude", "--", "-V"], &["claude", "--", "-V"]),
        (&["enqueue", "--", "claude", "--", "x"], &["claude", "--", "x"]),
        (&["enqueue", "--", "-rf"], &["-rf"]),
        (&["enqueue", "--", "--help"], &["--help"]),
        (&["enqueue", "--", "--"], &["--"]),
        (&["enqueue", "echo", "", "a b"], &["echo", "", "a b"]),
        (&["enqueue", "echo", "-u", "bob", "--wait"], &["echo", "-u", "bob", "--wait"]),
        (&["add", "list"], &["list"]),
    ] {
        let parsed = enqueued(line);
        assert_eq!(parsed.task.command, command, "{line:?}");
        assert!(!parsed.wait, "{line:?}");
    }
    let cli = parse(args(&["enqueue", "claude", "--json"])).expect("a command line");
    assert!(!cli.globals.is_json());
    let Command::Lock(lock) = verb(&["lock", "-l", "cron", "-n", "-E", "9", "--", "sh", "-n"]) else {
        panic!("not lock");
    };
    assert_eq!((&lock.command[..], lock.conflict_exit_code), (&["sh".to_owned(), "-n".to_owned()][..], Some(9)));
}

#[test]
fn options_are_read() {
    let parsed = enqueued(&[
        "--json",
        "enqueue",
        "-u",
        "a",
        "-p",
        "p",
        "-l",
        "x:1",
        "--lane",
        "cron",
        "--thread",
        "7",
        "--thread",
        "8",
        "--priority",
        "0",
        "--in",
        "10m",
        "--after",
        "12",
        "--after",
        "task_3",
        "--timeout",
        "1h",
        "--start-within",
        "5m",
        "--retries",
        "3",
        "--key",
        "k",
        "--on-conflict",
        "skip",
        "--label",
        "-l-",
        "--env",
        "A=B=C",
        "--env",
        "C=",
        "--cwd",
        "/",
        "--grace",
        "1s",
        "--shell",
        "a && b",
        "--wait",
    ]);
    let task = &parsed.task;
    assert_eq!(task.user.as_deref(), Some("a"));
    assert_eq!(task.lanes, ["x:1", "cron"]);
    assert_eq!(task.threads, ["7", "8"]);
    assert_eq!(task.priority, Some(0));
    assert_eq!(task.delay.as_deref(), Some("10m"));
    assert_eq!(task.after, ["12", "task_3"]);
    assert_eq!(task.retries, Some(3));
    assert_eq!(task.on_conflict, Some(OnConflict::Skip));
    assert_eq!(task.label.as_deref(), Some("-l-"));
    assert_eq!(task.env, ["A=B=C", "C="]);
    assert_eq!(task.shell.as_deref(), Some("a && b"));
    assert!(parsed.wait && parsed.task.command.is_empty());
}

#[test]
fn global_options_stand_before_or_after_the_verb() {
    for line in [
        &["--json", "--state-dir", "/s", "-qv", "list"][..],
        &["list", "--json", "--state-dir=/s", "-q", "-v"],
        &["-v", "--json", "list", "--json", "--state-dir", "/s", "-q"],
        &["-qvojson", "--state-dir", "/s", "list"],
    ] {
        let globals = parse(args(line)).expect("a command line").globals;
        assert_eq!(globals.state_dir.as_deref(), Some("/s"), "{line:?}");
        assert!(globals.is_json() && globals.quiet, "{line:?}");
        assert_eq!(globals.verbose, 1, "{line:?}");
    }
    refused(&["--json", "list", "-o", "wide"], "--json and -o wide exclude each other");
}

#[test]
fn verbs_have_their_aliases() {
    for (alias, name) in [
        ("add", "enqueue"),
        ("ls", "list"),
        ("locks", "list-locks"),
        ("list_locks", "list-locks"),
        ("cleanup_stale", "cleanup-stale"),
        ("check_project", "check-project"),
    ] {
        assert_eq!(verb(&[alias, "x"][..if alias == "add" || alias == "check_project" { 2 } else { 1 }]).name(), name);
    }
    let Command::List(list) = verb(&["ls", "--status", "pending,running", "--state", "failed"]) else {
        panic!("not list");
    };
    assert_eq!(list.states, [Status::Pending, Status::Running, Status::Failed]);
}

#[test]
fn words_of_other_tools_are_no_verbs_and_lead_to_verbs() {
    let root = command();
    let mut seen = std::collections::BTreeSet::new();
    for (words, line) in usage::synonyms::SYNONYMS {
        let verb = line.split(' ').nth(1).expect("a verb");
        assert!(root.find_subcommand(verb).is_some(), "{line}");
        for word in *words {
            assert!(root.find_subcommand(word).is_none() && seen.insert(word), "{word}");
            assert_eq!(usage(&[word, "x"]).hint, Some(format!("luzia calls it `{line}`")), "{word}");
        }
    }
    for (words, hint) in usage::synonyms::SEVERAL {
        for line in hint.split('`').skip(1).step_by(2) {
            let verb = line.split(' ').nth(1).expect("a verb");
            assert!(root.find_subcommand(verb).is_some() || verb == "--version", "{line}");
        }
        for word in *words {
            assert!(root.find_subcommand(word).is_none() && seen.insert(word), "{word}");
            let stop = usage(&[word]);
            assert_eq!(stop.hint.as_deref(), Some(*hint), "{word}");
            assert!(stop.next.iter().all(|line| line != "luzia --help"), "{word}: {stop:?}");
        }
    }
}

#[test]
fn a_wrong_line_proposes_a_command_that_can_be_typed() {
    for (line, next) in [
        (&["clean"][..], "luzia config show"),
        (&["purge"], "luzia config show"),
        (&["priority", "task_1"], "luzia edit --help"),
        (&["version"], "luzia --version"),
        (&["stop"], "luzia pause --help"),
        (&["start", "task_1"], "luzia dispatch"),
        (&["rm", "task_1"], "luzia cancel --help"),
        (&["cancel"], "luzia list"),
        (&["show"], "luzia list -a"),
        (&["lanes", "build"], "luzia lanes show build"),
        (&["lanes", "it's"], "luzia lanes show 'it'\\''s'"),
        (&["lanes", "a`b"], "luzia lanes --help"),
        (&["lanes", "shwo"], "luzia lanes --help"),
        (&["config", "get", "slots.max"], "luzia config show"),
        (&["config", "set", "slots.max", "8"], "luzia config path"),
        (&["show", "1", "2"], "luzia show --help"),
        (&["run", "-n", "--", "true"], "luzia run --help"),
        (&["status", "--watch"], "luzia top"),
    ] {
        assert_eq!(usage(line).next, [next], "{line:?}");
    }
}

#[test]
fn verbs_are_not_abbreviated() {
    let stop = usage(&["enq", "-u", "a", "x"]);
    assert_eq!(stop.message, "there is no verb \"enq\"");
    assert_eq!(stop.hint.as_deref(), Some("did you mean \"enqueue\"? verbs are not abbreviated"));
    assert_eq!(stop.next, ["luzia enqueue -u a x"]);
    let hint = usage(&["c"]).hint.expect("a hint");
    assert_eq!(
        hint,
        "verbs are not abbreviated; these begin with it: cancel, cron, check, check-project, cleanup-stale, config, completions"
    );
    let hint = usage(&["lsit"]).hint.expect("a hint");
    assert!(hint.contains("\"list\""), "{hint}");
    // No guess is better than a far-fetched one.
    for word in ["exec-tsk", "supervis", "zzz", "--"] {
        let hint = usage(&[word, "x"]).hint.unwrap_or_default();
        assert!(!hint.contains("did you mean"), "{word}: {hint}");
    }
    assert_eq!(usage(&["list", "--cron"]).hint, None);
    for (word, line) in [
        ("kill", "luzia cancel TASK"),
        ("abort", "luzia cancel TASK"),
        ("ps", "luzia list"),
        ("tail", "luzia logs -f TASK"),
        ("history", "luzia list -a"),
        ("watch", "luzia top"),
    ] {
        assert_eq!(usage(&[word, "x"]).hint, Some(format!("luzia calls it `{line}`")), "{word}");
    }
    refused(&["config", "sho"], "luzia config has no verb \"sho\"");
    refused(&["enqueue", "--prio", "3", "x"], "there is no option \"--prio\"");
}

#[test]
fn one_user_only() {
    for line in [
        &["enqueue", "--user", "a", "--user", "b", "x"][..],
        &["run", "-u", "a", "-u", "b", "x"],
        &["lock", "-u", "a", "--user", "b", "x"],
    ] {
        let message = usage(line).message;
        assert!(message.contains("--user <USER>") && message.contains("multiple times"), "{message}");
    }
}

#[test]
fn priorities_are_one_digit() {
    for wrong in ["-1", "256", "1e9", "NaN", "0x10", "１", "10", "05", "+5", " 5", "5 ", "--json"] {
        let stop = usage(&["enqueue", "--priority", wrong, "x"]);
        let why = "a priority is one digit from 0 (first) to 9 (last)";
        assert_eq!(stop.message, format!("invalid value '{wrong}' for '--priority <N>': {why}"));
    }
    let message = usage(&["enqueue", "--priority", "", "x"]).message;
    assert!(message.starts_with("invalid value '' for '--priority <N>'"), "{message}");
    for (line, name) in [
        (&["enqueue", "--retries", "-1", "x"][..], "--retries"),
        (&["enqueue", "--retries", "4294967296", "x"], "--retries"),
        (&["lock", "-E", "256", "x"], "--conflict-exit-code"),
        (&["lock", "-E", "+1", "x"], "--conflict-exit-code"),
        (&["acquire", "a", "--task", "t", "--pid", "0"], "--pid"),
        (&["acquire", "a", "--task", "t", "--pid", "-1"], "--pid"),
        (&["acquire", "a", "--task", "t", "--pid", "4294967296"], "--pid"),
        (&["logs", "1", "-n", "１"], "--lines"),
        (&["enqueue", "--slots", "1e3", "x"], "--slots"),
        (&["edit", "1", "--slots", "-1"], "--slots"),
        (&["simulate", "--seed", "x"], "--seed"),
        (&["await", "response", "--retry-waits", "4294967296"], "--retry-waits"),
        (&["step", "--retries", "", "s", "x"], "--retries"),
    ] {
        let message = usage(line).message;
        let is_plain = message.ends_with("is written in digits")
            || message.contains("the range is")
            || message.contains("from 1 to");
        assert!(message.starts_with("invalid value") && message.contains(name) && is_plain, "{message}");
    }
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    for (line, one, other) in [
        (&["enqueue", "--in", "1s", "--at", "x", "c"][..], "--in", "--at"),
        (&["lock", "-u", "a", "--tree=b", "c"], "--user", "--tree"),
        (&["lock", "-n", "-w", "1s", "c"], "--wait", "--nonblock"),
        (&["dispatch", "--once", "--drain"], "--once", "--drain"),
        (&["logs", "1", "--stdout", "--stderr"], "--stdout", "--stderr"),
        (&["enqueue", "--key", "a", "--key", "b", "c"], "--key", "multiple times"),
        (&["check", "a", "-u", "b"], "--user", "[USER|LANE]"),
    ] {
        let message = usage(line).message;
        assert!(message.contains(one) && message.contains(other), "{message}");
        assert!(message.contains("cannot be used"), "{message}");
    }
    for line in [
        &["enqueue", "--shell", "x", "c"][..],
        &["enqueue", "--from", "f", "c"],
        &["enqueue", "--from", "f", "--wait"],
        &["enqueue", "--on-conflict", "skip", "c"],
        &["run", "--from", "f", "c"],
        &["run", "--from", "f", "--no-wait"],
    ] {
        usage(line);
    }
}

#[test]
fn what_is_missing_is_named() {
    for (line, message) in [
        (&[][..], "no verb given"),
        (&["enqueue"], "no command given"),
        (&["enqueue", "-u", "a", "--"], "no command given"),
        (&["run", "-u", "a"], "no command given"),
        (&["lock", "-l", "cron"], "no command given"),
        (&["show"], "missing: <TASK>"),
        (&["cron", "add", "nightly", "--", "true"], "no cron line given"),
        (&["cron", "add", "nightly", "0 3 * * *"], "no command given"),
        (&["cancel"], "missing: <TASK>..."),
        (&["acquire", "a"], "missing: --task <ID> or --session"),
        (&["renew"], "missing: --lock-id <ID>"),
        (&["config"], "luzia config needs a verb after it"),
        (&["show", "1", "2"], "unexpected argument \"2\""),
    ] {
        refused(line, message);
    }
    for (line, value, option) in [
        (&["wait", "1", "--timeout"][..], "value is required", "--timeout"),
        (&["--color", "blue", "list"], "'blue'", "--color"),
        (&["list", "--state", "aborted"], "'aborted'", "--state"),
        (&["completions", "csh"], "'csh'", "<SHELL>"),
    ] {
        let message = usage(line).message;
        assert!(message.contains(value) && message.contains(option), "{message}");
    }
    assert!(usage(&["list", "--state", "done"]).hint.is_some_and(|hint| hint.starts_with("one of: pending, running")));
    assert!(usage(&["show", "1", "2"]).hint.is_some_and(|hint| hint.contains("takes one task")));
    assert!(usage(&["list", "alice"]).hint.is_some_and(|hint| hint.contains("luzia list -u alice")));
}

#[test]
fn a_user_is_given_as_an_argument_or_with_u() {
    for (line, lane) in [(&["check", "alice"][..], "alice"), (&["check", "-u", "alice"], "user:alice")] {
        let Command::Check(check) = verb(line) else { panic!("not check") };
        assert_eq!(check.text(), lane);
    }
    for line in [
        &["acquire", "-u", "a", "--task", "t"][..],
        &["renew", "--user", "a", "--lock-id", "x"],
        &["release", "-u", "a"],
        &["release", "-u", "a", "task_3", "--force"],
        &["explain", "-u", "a"],
    ] {
        verb(line);
    }
}

#[test]
fn a_mistyped_option_is_not_a_command() {
    let stop = usage(&["enqueue", "--prioritt", "3", "claude"]);
    assert_eq!(stop.hint.as_deref(), Some("did you mean --priority?"));
    let stop = usage(&["enqueue", "-Z"]);
    assert_eq!(stop.hint.as_deref(), Some("put `--` before a command whose name begins with a hyphen"));
}

#[test]
fn help_and_version_are_answers() {
    assert_eq!(answer(&["--version"]), VERSION_LINE);
    assert_eq!(answer(&["-V"]), VERSION_LINE);
    assert_eq!(answer(&["--json", "-V"]), VERSION_LINE);
    let page = answer(&["--help"]);
    let renamed = parse(vec!["/usr/bin/other".into(), "--help".into()]);
    assert!(
        matches!(renamed, Err(ParseStop::Answer { plain, .. }) if plain == page),
        "help calls luzia by its own name"
    );
    assert!(page.starts_with("Let AI agents and scripts"), "{page}");
    assert_eq!((answer(&["-h"]), answer(&["help"]), answer(&["help", "--help"])), (page.clone(), page.clone(), page));
    let help = answer(&["help", "all"]);
    assert!(help.starts_with("luzia lets AI agents"), "{help}");
    assert!(!help.contains("supervise") && !help.contains("exec-task"), "{help}");
    let grouped: Vec<&str> = Group::ALL.iter().flat_map(|(group, _)| group.words()).collect();
    let names = command().get_subcommands().map(|one| one.get_name().to_owned()).collect::<Vec<_>>();
    assert_eq!(
        grouped.iter().filter(|name| names.iter().any(|other| other == *name)).count(),
        names.len(),
        "{names:?}"
    );
    for name in &names {
        let line = help.lines().find(|line| line.trim_start().split(' ').next() == Some(name));
        assert!(line.is_some(), "{name} is missing");
        let own = answer(&[name, "--help"]);
        assert!(own.contains("\nExamples:\n  luzia ") && own.contains("\nExit codes:\n"), "{own}");
        assert!(own.contains(&format!("Usage: luzia {name}")), "{own}");
        assert!(own.ends_with("\nGlobal options: luzia help all\n") && !own.contains("--state-dir"), "{own}");
        assert_eq!(own, answer(&["help", name]), "{name}");
        assert!(!answer(&[name, "-h"]).contains("--state-dir"), "{name}");
    }
    assert!(help.contains("\nGlobal options:\n") && help.contains("--state-dir"), "{help}");
    assert!(answer(&["config", "show", "--help"]).contains("Exit codes:"));
}

#[test]
fn an_error_is_json_when_the_words_before_the_command_say_so() {
    for (line, json) in [
        (&["--json", "enq"][..], true),
        (&["enq", "--json"], true),
        (&["-o", "json", "list", "--bogus"], true),
        (&["list", "--bogus", "-ojsonl"], true),
        (&["list", "--bogus", "--output=json"], true),
        (&["list", "--bogus", "-qo", "json"], true),
        (&["enqueue", "--bogus", "claude", "--json"], false),
        (&["enqueue", "--bogus", "--", "--json"], false),
        (&["enqueue", "--label", "--json", "--bogus", "c"], false),
        (&["enqueue", "--priority", "x", "--json", "c"], true),
        (&["list", "--bogus", "-o", "wide"], false),
        (&["show", "1", "2", "--json"], true),
        (&["--json"], true),
    ] {
        assert_eq!(usage(line).json, json, "{line:?}");
    }
}

#[test]
fn arguments_that_are_not_utf8_are_refused() {
    use std::os::unix::ffi::OsStringExt;
    let mut line = args(&["--json", "enqueue", "--"]);
    line.push(OsString::from_vec(b"a\xff".to_vec()));
    match parse(line) {
        Err(ParseStop::Usage(usage)) => {
            assert_eq!(usage.message, "argument 4 is not UTF-8: \"a\u{fffd}\"");
            assert!(usage.json);
        }
        other => panic!("{other:?}"),
    }
    let mut line = vec![OsString::from_vec(b"/bin/\xff".to_vec())];
    line.push("list".into());
    assert!(parse(line).is_ok(), "the program's own name does not matter");
    assert!(matches!(parse(Vec::new()), Err(ParseStop::Usage(_))));
}

#[test]
fn hidden_commands_are_read_before_clap() {
    let Command::Supervise(SuperviseArgs { task, recover }) =
        verb(&["--state-dir", "/s", "supervise", "--recover", "task_1"])
    else {
        panic!("not supervise");
    };
    assert!(recover && task == "task_1");
    let Command::ExecTask(words) = verb(&["exec-task", "-x", "--help", "--"]) else {
        panic!("not exec-task");
    };
    assert_eq!(words, ["-x", "--help", "--"]);
    refused(&["-v", "supervise", "task_1"], "there is no verb \"supervise\"");
}

#[test]
fn the_command_line_of_a_supervisor_is_read_without_a_definition() {
    for line in ["supervise task_1", "--state-dir /s --config /c supervise --recover task_1"] {
        let args: Vec<String> = std::iter::once("luzia").chain(line.split(' ')).map(str::to_owned).collect();
        assert!(own::of_supervisor(&args).is_some(), "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn no_command_line_makes_parsing_panic(words in proptest::collection::vec("(--?)?[a-z=,\\PC]{0,8}|enqueue|list|run|lock|-o|--json|--", 0..6)) {
        let _ = parse(std::iter::once("luzia".into()).chain(words.into_iter().map(OsString::from)).collect());
    }
}
