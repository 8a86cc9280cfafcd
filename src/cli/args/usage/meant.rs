//! The probable meaning of an option or a word that a command does not take.

use super::{Usage, wants_json};
use crate::cli::args::{Cli, Command, Deferred};

/// A command, an option that it does not take, and the command or option that does the work of that option. A word without a
/// hyphen in the place of the option means any further argument.
const MEANT: &[(&str, &str, &str)] = &[
    ("await", "--thread", "--match thread=ID waits for an event of that thread"),
    ("await", "--from", "--match from=NAME waits for an event of that sender"),
    ("await", "--user", "--match user=NAME waits for an event for that user"),
    ("await", "--data", "--match NAME=VALUE says what the event must hold"),
    ("daemon", "", "`luzia daemon` takes options only and runs until Ctrl-C; luzia-deploy(7) has a unit of systemd"),
    ("emit", "--from", "the sender is a member of the data: --data '{\"from\":\"ana\"}'"),
    ("events", "-n", "`luzia events | tail -n 20` has the newest 20; --since 1h those of the last hour"),
    ("events", "--type", "did you mean --kind?"),
    ("events", "--event", "did you mean --kind?"),
    ("finish", "", "`luzia finish --summary TEXT` says what came of it"),
    ("get", "", "`luzia get --task TASK NAME` reads a variable of another task"),
    ("lanes", "", "`luzia lanes set LANE --max N` sets a limit, and `luzia lanes show LANE` shows one lane"),
    ("list", "--failed", "--state failed lists the tasks that failed"),
    ("run", "-j", "the limit of a lane bounds how many run at once: `luzia lanes set LANE --max N`"),
    ("run", "-n", "did you mean --no-wait?"),
    ("status", "-l", "`luzia explain -l LANE` says who holds a lane, and `luzia list -l LANE` lists its tasks"),
    ("status", "--watch", "`luzia top` shows the state again and again"),
    ("timeline", "", "`luzia events TASK` tells of one task"),
];

/// The hint for an argument of a command.
pub(super) fn hint(verb: Option<&str>, argument: &str) -> Option<String> {
    let word = if argument.starts_with('-') { argument } else { "" };
    let found = MEANT.iter().find(|(of, taken, _)| Some(*of) == verb && *taken == word);
    found.map(|(.., hint)| (*hint).to_owned())
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
