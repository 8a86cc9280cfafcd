//! Input of people: arguments, lines of tasks, the configuration, durations and moments.

use super::text;
use crate::app::shell_word;
use crate::cli::args::{self, Command, ParseStop};
use crate::cli::task_lines;
use crate::model::Timestamp;
use crate::model::config::{Config, SlotsFrom};
use crate::model::time::{MAX_DURATION_MS, format_duration, parse_duration};
use crate::policy::steps::actions::actions_of;
use crate::store::config;
use std::ffi::OsString;

/// The longest part of an argument that is tried, in characters. clap compares a wrong argument with all valid ones, and its
/// time grows with the length: 131071 bytes, the longest argument of the kernel, take a second.
const LONGEST_ARGUMENT: usize = 16_384;

/// A length of time: what is read is what is written there, and what is written for people reads.
pub fn duration(bytes: &[u8]) {
    let input = text(bytes);
    let Ok(ms) = parse_duration(&input) else { return };
    assert!(ms <= MAX_DURATION_MS);
    assert!(input.bytes().all(|byte| byte.is_ascii_digit() || b".dhms".contains(&byte)), "{input:?}");
    assert!(input.starts_with(|c: char| c.is_ascii_digit()));
    if let Ok(seconds) = input.parse::<u64>() {
        assert_eq!(ms, seconds * 1000, "a bare number is seconds");
    }
    let shown = format_duration(ms);
    let back = parse_duration(&shown).expect("what is written for people reads");
    let unit = if ms < 1000 {
        1
    } else if ms < 3_600_000 {
        1000
    } else if ms < 86_400_000 {
        60_000
    } else {
        3_600_000
    };
    assert_eq!(back, ms - ms % unit, "{shown}");
}

/// A moment: a valid one reads back after it was written.
pub fn moment(bytes: &[u8]) {
    let input = text(bytes);
    if let Some(at) = Timestamp::parse(&input) {
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at), "{input:?}");
        assert_eq!(
            Timestamp::parse(&format!("{}T{}Z", at.day(), at.clock())),
            Some(Timestamp(at.0.div_euclid(1000) * 1000))
        );
    }
    // Any number of milliseconds can be written, and the later is never written as the earlier.
    let mut wide = [0; 8];
    wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let any = Timestamp(i64::from_le_bytes(wide));
    let written = Timestamp::parse(&any.to_string()).expect("what is written reads");
    assert_eq!(written, any.clamp(Timestamp::FIRST, Timestamp::LAST));
}

/// The configuration: its shown form reads back as the same configuration, without warnings.
pub fn config(bytes: &[u8]) {
    match config::parse(bytes) {
        Ok(parsed) => {
            let shown = config::to_json(&parsed.config).to_string();
            let again = config::parse(shown.as_bytes()).unwrap_or_else(|error| panic!("{error}: {shown}"));
            // The shown form names the number of slots, also where no file did.
            assert_eq!(again.config, Config { slots_from: SlotsFrom::File, ..parsed.config.clone() }, "{shown}");
            let one = parsed.config.lanes.get("global").is_some_and(|rule| rule.max.is_some());
            assert_eq!(again.warnings.len(), usize::from(one), "{:?}", again.warnings);
            assert!(parsed.config.slots_max > 0 && parsed.config.poll_interval_ms > 0);
        }
        Err(error) => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!((1..=lines).contains(&error.line) && error.column >= 1 && !error.message.is_empty(), "{error}");
        }
    }
}

/// The lines of `enqueue --from`: all or nothing, each with the number of its line.
pub fn batch(bytes: &[u8]) {
    let input = text(bytes);
    match task_lines::read(&input) {
        Ok(tasks) => {
            let lines: Vec<&str> = input.lines().collect();
            let full = lines.iter().filter(|line| !line.trim().is_empty()).count();
            assert_eq!(tasks.len(), full);
            assert!(tasks.is_sorted_by(|a, b| a.0 < b.0));
            for (at, task) in tasks {
                let alone = task_lines::read(lines[at - 1]).expect("a line reads by itself as among others");
                assert_eq!(alone, vec![(1, task)]);
            }
        }
        Err(error) => {
            let number = error.to_string();
            let number = number.strip_prefix("line ").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
            let line = input.lines().nth(number.expect("the number of the line") - 1).expect("such a line");
            assert!(!line.trim().is_empty() && task_lines::read(line).is_err());
        }
    }
}

/// A command line, its arguments separated by newlines: everything after the command word belongs to the command.
pub fn argv(bytes: &[u8]) {
    let mut argv = vec!["luzia".to_owned()];
    argv.extend(text(bytes).split('\n').map(|argument| argument.chars().take(LONGEST_ARGUMENT).collect()));
    let parsed = args::parse(argv.iter().map(OsString::from).collect());
    match parsed {
        Ok(cli) => {
            let is_hidden =
                matches!(cli.command, Command::Supervise { .. } | Command::ExecTask(_) | Command::ExecPty(_));
            assert!(is_hidden || args::read(&argv).is_ok(), "clap reads it too: {argv:?}");
            let command = match &cli.command {
                Command::Enqueue(args) => &args.task.command[..],
                Command::Run(args) => &args.task.command[..],
                Command::Lock(args) => &args.command[..],
                _ => &[],
            };
            assert!(argv.ends_with(command), "{argv:?} {command:?}");
        }
        Err(ParseStop::Answer { plain, .. }) => assert!(!plain.is_empty()),
        Err(ParseStop::Usage(usage)) => {
            assert!(!usage.message.is_empty() && !usage.message.contains('\n'), "{:?}", usage.message);
            assert!(usage.next.iter().all(|next| next.starts_with("luzia")), "{:?}", usage.next);
        }
    }
}

/// The steps of `enqueue --steps`: each is a command that can be started, and a wait is one that `luzia await` reads.
pub fn steps(bytes: &[u8]) {
    let Ok(actions) = actions_of(&text(bytes), &|word| shell_word(word)) else { return };
    assert!(!actions.is_empty());
    for words in actions.into_iter().map(|step| step.command) {
        assert!(words.iter().all(|word| !word.contains('\0')) && !words[0].is_empty(), "{words:?}");
        let is_wait = words.starts_with(&["luzia", "await"].map(str::to_owned));
        let is_filled_in = words.iter().any(|word| word.contains("{{"));
        if is_wait && !is_filled_in && words.iter().all(|word| word.len() < LONGEST_ARGUMENT) {
            let parsed = args::parse(words.iter().map(OsString::from).collect());
            assert!(matches!(parsed, Ok(cli) if matches!(cli.command, Command::Await(_))), "{words:?}");
        }
    }
}
