//! What stands in the way of a command line: an answer of clap's own (help, version), or a refusal in plain words.
//!
//! Translates clap's errors; must not print and must not end the process.

use super::{Cli, Globals, HIDDEN, LATER, LATER_OPTIONS, OutputFormat, command};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command};
use std::error::Error as _;
use std::ffi::OsString;

/// Why there is no verb to carry out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParseStop {
    /// Help or the version was asked for: print it on stdout and exit with 0.
    Answer {
        /// Without colour.
        plain: String,
        /// With the escape sequences of a terminal.
        styled: String,
    },
    /// The command line cannot be read: say so on stderr and exit with 2.
    Usage(Usage),
}

impl ParseStop {
    pub(super) fn answer(text: &str) -> Self {
        Self::Answer { plain: text.to_owned(), styled: text.to_owned() }
    }
}

/// A refused command line. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
    /// Command lines that help on.
    pub next: Vec<String>,
    /// Whether the error is wanted as JSON.
    pub json: bool,
}

/// The arguments as text; anything that is not UTF-8 is refused before clap sees it.
pub(super) fn utf8(args: Vec<OsString>) -> Result<Vec<String>, ParseStop> {
    let mut texts = Vec::with_capacity(args.len().max(1));
    for (at, arg) in args.iter().enumerate() {
        match arg.to_str() {
            Some(text) => texts.push(text.to_owned()),
            None if at == 0 => texts.push("luzia".to_owned()),
            None => {
                let lossy: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
                return Err(ParseStop::Usage(Usage {
                    message: format!("argument {at} is not UTF-8: {}", quoted(&lossy[at])),
                    hint: Some(
                        "names, texts and commands are UTF-8; a file with such a name can be reached from a script"
                            .into(),
                    ),
                    next: Vec::new(),
                    json: wants_json(&lossy),
                }));
            }
        }
    }
    Ok(texts)
}

/// Checks what clap cannot: options that exclude each other wherever they stand.
pub(super) fn checked(cli: Cli, args: &[String]) -> Result<Cli, ParseStop> {
    match cli.globals.output {
        Some(format) if cli.globals.json && !format.is_json() => Err(ParseStop::Usage(Usage {
            message: format!("--json and -o {} exclude each other", format.word()),
            hint: Some("give one of them".into()),
            next: vec![help_of(args)],
            json: true,
        })),
        _ => Ok(cli),
    }
}

/// The first word that is not an option or the value of one: the verb, if it is one.
pub(super) fn verb_of(args: &[String]) -> Option<&str> {
    let globals = Globals::augment_args(Command::new("luzia"));
    verb_position(args, &globals).map(|at| args[at].as_str())
}

/// Turns clap's stop into ours.
pub(super) fn explain(error: &clap::Error, args: &[String]) -> ParseStop {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let text = error.render();
        return ParseStop::Answer { plain: text.to_string(), styled: text.ansi().to_string() };
    }
    let (message, hint) = words(error, args);
    ParseStop::Usage(Usage { message, hint, next: vec![help_of(args)], json: wants_json(args) })
}

fn words(error: &clap::Error, args: &[String]) -> (String, Option<String>) {
    let invalid = context(error, ContextKind::InvalidArg);
    let first = invalid.first().map(|arg| option_name(arg));
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_verb(error, args),
        ErrorKind::UnknownArgument => unknown_argument(error, first.unwrap_or_default(), args),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => invalid_value(error, first.unwrap_or_default()),
        ErrorKind::ArgumentConflict => conflict(error, first.unwrap_or_default()),
        ErrorKind::MissingRequiredArgument => missing(&invalid),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => no_verb(args),
        _ => (first_line(error), None),
    }
}

fn unknown_verb(error: &clap::Error, args: &[String]) -> (String, Option<String>) {
    let word = context(error, ContextKind::InvalidSubcommand).first().copied().unwrap_or_default();
    let parent = known_verb(args).and_then(|verb| command().find_subcommand(verb).cloned());
    let (message, mut known) = match parent {
        Some(mut parent) => {
            parent.build();
            let message = format!("luzia {} has no verb {}", parent.get_name(), quoted(word));
            (message, parent)
        }
        None if LATER.contains(&word) => {
            let hint = "it belongs to what luzia is to become; `luzia --help` lists the verbs of this version";
            return (format!("this version has no verb {}", quoted(word)), Some(hint.into()));
        }
        None => (format!("there is no verb {}", quoted(word)), command()),
    };
    known = known.disable_help_subcommand(true);
    let mut close: Vec<&str> = known
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set() && !word.is_empty())
        .map(Command::get_name)
        .filter(|name| name.starts_with(word))
        .collect();
    if close.is_empty() {
        close = context(error, ContextKind::SuggestedSubcommand);
        close.retain(|name| !HIDDEN.contains(name));
        // clap puts the closest last.
        close.drain(..close.len().saturating_sub(1));
    }
    let hint = match close.as_slice() {
        [] => None,
        [one] => Some(format!("did you mean \"{one}\"? verbs are not abbreviated")),
        several => Some(format!("verbs are not abbreviated; these begin so: {}", several.join(", "))),
    };
    (message, hint)
}

fn unknown_argument(error: &clap::Error, name: &str, args: &[String]) -> (String, Option<String>) {
    if !name.starts_with('-') {
        let hint = "quote a text of several words; `--help` lists what the verb takes";
        return (format!("unexpected argument {}", quoted(name)), Some(hint.into()));
    }
    if LATER_OPTIONS.contains(&name) {
        let hint = "it belongs to what luzia is to become; `--help` lists what the verb takes in this version";
        return (format!("this version has no option {}", quoted(name)), Some(hint.into()));
    }
    let suggested = context(error, ContextKind::SuggestedArg);
    let hint = match suggested.first() {
        Some(close) => Some(format!("did you mean {}?", option_name(close))),
        None if takes_a_command(args) => Some("a command whose name begins with a hyphen stands after `--`".into()),
        None => None,
    };
    (format!("there is no option {}", quoted(name)), hint)
}

fn invalid_value(error: &clap::Error, name: &str) -> (String, Option<String>) {
    let value = context(error, ContextKind::InvalidValue).first().copied().unwrap_or_default();
    let valid = context(error, ContextKind::ValidValue);
    let hint = match error.source() {
        Some(source) => Some(source.to_string()),
        None if valid.is_empty() => None,
        None => Some(format!("one of: {}", valid.join(", "))),
    };
    if value.is_empty() {
        return (format!("{name} needs a value"), hint);
    }
    (format!("{} is not a value of {name}", quoted(value)), hint)
}

fn conflict(error: &clap::Error, name: &str) -> (String, Option<String>) {
    let prior = context(error, ContextKind::PriorArg);
    let others: Vec<&str> = prior.iter().map(|arg| option_name(arg)).collect();
    match others.as_slice() {
        ["--user"] if name == "--user" => (
            "only one user may be given".into(),
            Some("a task is serialised by one user; `--lane` names further lanes".into()),
        ),
        [] => (format!("{name} cannot be used here"), None),
        [one] if *one == name => (format!("{name} may be given only once"), None),
        others => (format!("{name} and {} exclude each other", others.join(", ")), Some("give one of them".into())),
    }
}

fn missing(names: &[&str]) -> (String, Option<String>) {
    if names.iter().any(|name| name.contains("CMD")) {
        let hint = "the command stands last: luzia VERB [OPTIONS] -- CMD ARG…";
        return ("no command given".into(), Some(hint.into()));
    }
    (format!("missing: {}", names.join(", ")), None)
}

fn no_verb(args: &[String]) -> (String, Option<String>) {
    match known_verb(args) {
        Some(verb) => (format!("luzia {verb} needs a verb of its own"), None),
        None => {
            ("no verb given".into(), Some("`luzia demo` shows what luzia does, `luzia --help` lists the verbs".into()))
        }
    }
}

/// The first sentence of an error we have no words of our own for.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or("the command line cannot be read");
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The members of a piece of context, whatever form clap chose for it.
fn context(error: &clap::Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one],
        Some(ContextValue::Strings(several)) => several.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// `--user` of `--user <USER>`; a positional argument keeps its brackets.
fn option_name(arg: &str) -> &str {
    if arg.starts_with('-') { arg.split([' ', '=']).next().unwrap_or(arg) } else { arg }
}

fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("\"{short}\"")
}

fn help_of(args: &[String]) -> String {
    match known_verb(args) {
        Some(verb) => format!("luzia {verb} --help"),
        None => "luzia --help".into(),
    }
}

fn takes_a_command(args: &[String]) -> bool {
    known_verb(args).is_some_and(|verb| {
        let mut cmd = command();
        cmd.build();
        cmd.find_subcommand(verb).is_some_and(has_trailing_command)
    })
}

fn has_trailing_command(verb: &Command) -> bool {
    verb.get_positionals().any(clap::Arg::is_trailing_var_arg_set)
}

/// The verb if it is one of ours, aliases included.
fn known_verb(args: &[String]) -> Option<&str> {
    verb_of(args).filter(|word| command().find_subcommand(word).is_some())
}

/// Whether the error is wanted as JSON: looks at the words before the command word only, like clap.
fn wants_json(args: &[String]) -> bool {
    let mut cmd = command();
    cmd.build();
    let verb_at = verb_position(args, &cmd);
    let (head, tail) = args.split_at(verb_at.map_or(args.len(), |at| at + 1));
    let verb = verb_at.and_then(|at| cmd.find_subcommand(&args[at]));
    let after_verb = verb.is_some_and(|verb| json_among(tail, verb, has_trailing_command(verb)));
    let loose = verb.is_none() && json_among(tail, &cmd, false);
    json_among(head.get(1..).unwrap_or_default(), &cmd, false) || after_verb || loose
}

/// Whether `--json`, `-o json` or `-o jsonl` is among the options of `args`.
fn json_among(args: &[String], cmd: &Command, ends_at_word: bool) -> bool {
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" || (ends_at_word && !is_option(word)) {
            return false;
        }
        let Some((name, attached)) = valued_option(word, cmd) else {
            if word == "--json" {
                return true;
            }
            continue;
        };
        let value = attached.or_else(|| words.next());
        if name == "output" && value.is_some_and(is_json_format) {
            return true;
        }
    }
    false
}

fn is_json_format(word: &str) -> bool {
    [OutputFormat::Json, OutputFormat::Jsonl].iter().any(|format| format.word() == word)
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Where the verb stands: the first word that is neither an option of `cmd` nor the value of one.
fn verb_position(args: &[String], cmd: &Command) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = args.get(at) {
        if word == "--" {
            return None;
        }
        if !is_option(word) {
            return Some(at);
        }
        let value_follows = matches!(valued_option(word, cmd), Some((_, None)));
        at += if value_follows { 2 } else { 1 };
    }
    None
}

/// The option in `word` that takes a value, and the value if it is attached (`--output=json`, `-ojson`, `-qo json`).
fn valued_option<'a>(word: &'a str, cmd: &'a Command) -> Option<(&'a str, Option<&'a str>)> {
    let takes_value = |arg: &&clap::Arg| arg.get_action().takes_values();
    if let Some(long) = word.strip_prefix("--") {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let arg = cmd.get_arguments().filter(takes_value).find(|arg| arg.get_long() == Some(name))?;
        return Some((arg.get_id().as_str(), attached));
    }
    let cluster = word.strip_prefix('-')?;
    for (at, letter) in cluster.char_indices() {
        let found = cmd.get_arguments().filter(takes_value).find(|arg| arg.get_short() == Some(letter));
        if let Some(arg) = found {
            let rest = &cluster[at + letter.len_utf8()..];
            let attached = rest.strip_prefix('=').unwrap_or(rest);
            return Some((arg.get_id().as_str(), (!attached.is_empty()).then_some(attached)));
        }
    }
    None
}
