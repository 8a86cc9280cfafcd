//! The probable meaning of an option or a word that a command does not take.

use super::{Usage, wants_json};
use crate::app::shell_word;
use crate::cli::args::{Cli, Command, Deferred};
use crate::cli::verbs::{Does, Verb};
use crate::model::LaneName;

/// A command, an option or a word that it does not take, and the command or option that does the work of that. An empty word
/// means any further argument.
const MEANT: &[(&str, &str, &str)] = &[
    ("await", "--thread", "--match thread=ID waits for an event of that thread"),
    ("await", "--from", "--match from=NAME waits for an event of that sender"),
    ("await", "--user", "--match user=NAME waits for an event for that user"),
    ("await", "--data", "--match NAME=VALUE names a member that the event must have"),
    ("config", "get", "`luzia config show` prints the value of every key"),
    (
        "config",
        "set",
        "`luzia config path` names the file to edit. `luzia lanes set global --max 8` sets the number of slots at once",
    ),
    (
        "daemon",
        "",
        "`luzia daemon` takes options only and runs until Ctrl-C; `luzia daemon --install` writes a unit of systemd",
    ),
    ("emit", "--from", "the sender is a member of the data: --data '{\"from\":\"ana\"}'"),
    ("events", "-n", "`luzia events | tail -n 20` has the newest 20; --since 1h those of the last hour"),
    ("events", "--type", "did you mean --kind?"),
    ("events", "--event", "did you mean --kind?"),
    ("finish", "", "`luzia finish --summary TEXT` records the result"),
    ("get", "", "`luzia get --task TASK NAME` reads a variable of another task"),
    ("lanes", "", "`luzia lanes set LANE --max N` sets a limit, and `luzia lanes show LANE` shows one lane"),
    ("list", "--failed", "--state failed lists the tasks that failed"),
    ("run", "-j", "the limit of a lane bounds how many run at once: `luzia lanes set LANE --max N`"),
    ("run", "-n", "did you mean --no-wait?"),
    ("status", "-l", "`luzia explain -l LANE` says who holds a lane, and `luzia list -l LANE` lists its tasks"),
    ("status", "--watch", "`luzia top` shows the state again and again"),
    ("timeline", "", "`luzia events TASK` tells of one task"),
];

/// The longest name of a lane that a hint repeats.
const LONGEST_LANE: usize = 80;

/// The hint for an argument of a command.
pub(super) fn hint(verb: Option<&str>, argument: &str) -> Option<String> {
    let word = if argument.starts_with('-') { argument } else { "" };
    verb.and_then(|verb| find(verb, word))
}

/// The hint for a word in the place of a verb of `verb`.
pub(super) fn hint_for_verb(verb: &str, word: &str) -> Option<String> {
    find(verb, word)
}

fn find(verb: &str, word: &str) -> Option<String> {
    MEANT.iter().find(|(of, taken, _)| (*of, *taken) == (verb, word)).map(|(.., hint)| (*hint).to_owned())
}

/// The hint for the name of a lane in the place of a verb of `lanes`.
pub(super) fn hint_for_lane(verb: &str, word: &str) -> Option<String> {
    let is_lane = verb == "lanes" && word.len() <= LONGEST_LANE && !word.contains('`') && LaneName::parse(word).is_ok();
    is_lane.then(|| format!("`luzia lanes show {}` shows that lane", shell_word(word)))
}

/// The command that a hint proposes first, in backquotes. `None` if it has a placeholder such as TASK, or if its verb harms
/// running work.
pub(super) fn command_in(hint: &str) -> Option<String> {
    let line = first_command(hint)?;
    let is_placeholder =
        |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase()) || part == "N";
    let is_ready = !line.split(' ').any(is_placeholder) && !harms(line);
    is_ready.then(|| line.to_owned())
}

/// The command that a hint proposes first, or the help of its verb where that command cannot be typed as it is.
pub(super) fn command_or_help(hint: &str) -> Option<String> {
    command_in(hint).or_else(|| {
        let verb = first_command(hint)?.split(' ').nth(1)?;
        Some(format!("luzia {verb} --help"))
    })
}

fn first_command(hint: &str) -> Option<&str> {
    hint.split('`').skip(1).step_by(2).find(|line| line.starts_with("luzia "))
}

fn harms(line: &str) -> bool {
    line.split(' ').nth(1).is_some_and(|verb| Verb::does(verb, Does::Harms) && !line.starts_with("luzia lanes show "))
}

/// The error of `luzia step -- CMD`, in which clap takes the first word of the command for the name.
pub(super) fn nameless_step(cli: &Cli, args: &[String]) -> Option<Usage> {
    let Command::Step(Deferred(step)) = &cli.command else { return None };
    let separator = args.iter().position(|word| word == "--")?;
    (args.len() == separator + 2 + step.command.len()).then(|| Usage {
        message: "the name of the step is missing before --; nothing was run".into(),
        hint: Some(format!("luzia step NAME -- {} …", step.name)),
        next: Vec::new(),
        json: wants_json(args),
    })
}
