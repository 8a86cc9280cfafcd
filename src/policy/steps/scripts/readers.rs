//! The programs that run text of their command line, and the place of that text. Pure.

use std::collections::BTreeSet;

/// Programs that start the program that their arguments name.
const WRAPPERS: &str = "busybox chroot chrt command doas env exec firejail flock ionice nice nohup nsenter proxychains \
    setpriv setsid stdbuf strace sudo systemd-run taskset time timeout unbuffer unshare xargs";

/// Whether a program starts the program that its arguments name.
pub(super) fn is_wrapper(program: &str) -> bool {
    WRAPPERS.split(' ').any(|wrapper| wrapper == program)
}

/// Place of the text in the command line of a program that runs it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// The first operand, if an option makes it text to run: a shell.
    Operand,
    /// The value of an option, before the first operand: an interpreter whose other options may run text too (a module to load).
    Value,
    /// The value of an option, before the first operand.
    Leading,
    /// The value of an option, at any place.
    Anywhere,
    /// The first operand, unless an option has the text or names a file with it.
    First,
    /// Every argument.
    All,
}

/// A program that runs text of its command line.
pub(super) struct Reader {
    /// The names of the program, without a version.
    pub(super) names: &'static [&'static str],
    /// Place of the text.
    pub(super) text: Text,
    /// The options with text to run: letters, and long names.
    code: (&'static str, &'static [&'static str]),
    /// Letters of options that have another value.
    valued: &'static str,
    /// Letters of options whose value is the rest of their word.
    attached: &'static str,
    /// Letters of options that name the program to run. All later words belong to that program.
    last: &'static str,
    /// The form in which the text of the program refers to a variable. `NAME` is a placeholder for the name.
    pub(super) reads: &'static str,
}

/// The members of most rows.
const PLAIN: Reader =
    Reader { names: &[], text: Text::Value, code: ("", &[]), valued: "", attached: "", last: "", reads: "" };

/// The form in which the shell refers to a variable.
pub(super) const SHELL: &str = "\"$LUZIA_VAR_NAME\"";

/// Every program that is known to run text of its command line. A program that is not listed is not restricted.
pub(super) const READERS: [Reader; 27] = [
    Reader {
        names: &["ash", "bash", "csh", "dash", "ksh", "lksh", "mksh", "posh", "rbash", "sh", "tcsh", "yash", "zsh"],
        text: Text::Operand,
        code: ("c", &[]),
        valued: "oO",
        reads: SHELL,
        ..PLAIN
    },
    Reader { names: &["fish"], code: ("cC", &["command", "init-command"]), valued: "dDfop", reads: SHELL, ..PLAIN },
    Reader { names: &["elvish", "nu", "xonsh"], code: ("c", &["commands"]), ..PLAIN },
    Reader {
        names: &["ipython", "pypy", "python"],
        code: ("c", &[]),
        valued: "QWX",
        last: "m",
        reads: "os.environ[\"LUZIA_VAR_NAME\"]",
        ..PLAIN
    },
    Reader {
        names: &["perl"],
        code: ("eE", &[]),
        valued: "I",
        attached: "CDFMdimx",
        reads: "$ENV{LUZIA_VAR_NAME}",
        ..PLAIN
    },
    Reader {
        names: &["irb", "jruby", "ruby"],
        code: ("e", &[]),
        valued: "CEIr",
        attached: "FKTWix",
        reads: "ENV[\"LUZIA_VAR_NAME\"]",
        ..PLAIN
    },
    Reader {
        names: &["bun", "node", "nodejs"],
        code: ("ep", &["eval", "print"]),
        valued: "Cr",
        reads: "process.env.LUZIA_VAR_NAME",
        ..PLAIN
    },
    Reader {
        names: &["lua", "luajit", "texlua"],
        code: ("e", &[]),
        valued: "bjl",
        reads: "os.getenv(\"LUZIA_VAR_NAME\")",
        ..PLAIN
    },
    Reader {
        names: &["php"],
        code: ("BERr", &["process-begin", "process-code", "process-end", "run"]),
        valued: "ScdtzT",
        last: "Ff",
        reads: "getenv(\"LUZIA_VAR_NAME\")",
        ..PLAIN
    },
    Reader {
        names: &["awk", "gawk", "mawk", "nawk", "original-awk"],
        text: Text::First,
        code: ("e", &["source"]),
        valued: "FWilv",
        last: "Ef",
        reads: "ENVIRON[\"LUZIA_VAR_NAME\"]",
        ..PLAIN
    },
    Reader {
        names: &["gsed", "sed", "ssed"],
        text: Text::First,
        code: ("e", &["expression"]),
        valued: "l",
        last: "f",
        ..PLAIN
    },
    Reader { names: &["R", "Rscript", "elixir", "groovy", "racket"], code: ("e", &["eval"]), ..PLAIN },
    Reader { names: &["julia"], code: ("Ee", &["eval", "print"]), valued: "CHJLpt", ..PLAIN },
    Reader { names: &["guile"], code: ("c", &[]), valued: "CLlx", last: "es", ..PLAIN },
    Reader { names: &["osascript"], code: ("e", &[]), valued: "ls", ..PLAIN },
    Reader { names: &["expect"], code: ("c", &[]), last: "f", ..PLAIN },
    Reader { names: &["octave"], code: ("", &["eval"]), ..PLAIN },
    Reader {
        names: &["runuser", "su"],
        text: Text::Anywhere,
        code: ("c", &["command", "session-command"]),
        reads: SHELL,
        ..PLAIN
    },
    Reader { names: &["script"], text: Text::Anywhere, code: ("c", &["command"]), reads: SHELL, ..PLAIN },
    Reader { names: &["flock"], text: Text::Anywhere, code: ("c", &["command"]), reads: SHELL, ..PLAIN },
    Reader { names: &["env"], text: Text::Leading, code: ("S", &["split-string"]), valued: "Cu", ..PLAIN },
    Reader { names: &["psql"], text: Text::Anywhere, code: ("c", &["command"]), ..PLAIN },
    Reader { names: &["mariadb", "mysql"], text: Text::Anywhere, code: ("e", &["execute"]), ..PLAIN },
    Reader {
        names: &["luzia"],
        text: Text::Anywhere,
        code: ("", &["on-finish", "on-wait", "shell", "timeout-do"]),
        reads: SHELL,
        ..PLAIN
    },
    // A shell, here or on another host, gets all their arguments as one line.
    Reader { names: &["autossh", "eval", "mosh", "parallel", "ssh", "watch"], text: Text::All, reads: SHELL, ..PLAIN },
    Reader { names: &["deno", "powershell", "pwsh", "screen", "sqlite", "tmux"], text: Text::All, ..PLAIN },
    // It expands `$(shell …)` in a definition.
    Reader { names: &["gmake", "make"], text: Text::All, ..PLAIN },
];

/// The arguments of a program that are text to run, by their places. A place too many refuses a valid command; a place too few
/// lets a value run. So doubtful places count.
pub(super) fn texts(reader: &Reader, arguments: &[String]) -> BTreeSet<usize> {
    let mut read = match reader.text {
        Text::All => (0..arguments.len()).collect(),
        Text::Operand => texts_of_shell(reader, arguments),
        Text::Value | Text::Leading | Text::Anywhere | Text::First => texts_of_options(reader, arguments),
    };
    read.retain(|at| *at < arguments.len());
    read
}

/// `sh -e -c SCRIPT`, `sh -ceo pipefail SCRIPT`: the options and the first operand. Without `-c` the operand is a file.
fn texts_of_shell(reader: &Reader, arguments: &[String]) -> BTreeSet<usize> {
    let (mut read, mut has_code, mut at) = (BTreeSet::new(), false, 0);
    while let Some(word) = arguments.get(at).filter(|word| word.len() > 1 && word.starts_with(['-', '+'])) {
        if word == "--" {
            at += 1;
            break;
        }
        let is_long = word.starts_with("--");
        has_code |= !is_long && reader.code.0.chars().any(|letter| word.contains(letter));
        let values = match is_long {
            true => usize::from(["--rcfile", "--init-file"].contains(&word.as_str())),
            false => word.chars().filter(|letter| reader.valued.contains(*letter)).count(),
        };
        read.extend(at..=at + values);
        at += values + 1;
    }
    read.extend(has_code.then_some(at));
    read
}

/// The meaning of an option.
enum Said {
    /// Only flags.
    Flags,
    /// The word of the option contains its value.
    HasValue,
    /// The next word is the value of the option.
    Value,
    /// A long option that is not known: the next word may be its value.
    Unknown,
    /// The option has text to run: in its own word, in the next one, or in one of the two.
    Code { here: bool, next: bool },
    /// The option names the program to run, in its own word or in the next one.
    Last { next: bool },
}

fn texts_of_options(reader: &Reader, arguments: &[String]) -> BTreeSet<usize> {
    let is_strict = reader.text == Text::Value;
    let (mut read, mut is_first_text) = (BTreeSet::new(), reader.text == Text::First);
    let (mut at, mut is_doubtful) = (0, false);
    while let Some(word) = arguments.get(at) {
        if word == "--" {
            read.extend(is_first_text.then_some(at + 1));
            break;
        }
        if word.len() < 2 || !word.starts_with('-') {
            read.extend(is_first_text.then_some(at));
            // The word behind an unknown option may be the value of that option.
            if reader.text != Text::Anywhere && !is_doubtful {
                break;
            }
            is_doubtful = false;
            at += 1;
            continue;
        }
        let said = said(reader, word);
        is_doubtful = matches!(said, Said::Unknown);
        let (is_own_text, next) = match said {
            Said::Flags | Said::Unknown => (is_strict || reader.text == Text::First, 0),
            Said::HasValue => (is_strict, 0),
            Said::Value => (is_strict, 1),
            Said::Code { here, next } => (here || is_strict, usize::from(next)),
            Said::Last { next } => (is_strict, usize::from(next)),
        };
        read.extend(is_own_text.then_some(at));
        if matches!(said, Said::Code { .. }) || is_strict && next == 1 {
            is_first_text = false;
            read.extend((next == 1).then_some(at + 1));
        }
        if matches!(said, Said::Last { .. }) {
            if is_strict {
                break;
            }
            is_first_text = false;
        }
        at += 1 + next;
    }
    read
}

fn said(reader: &Reader, word: &str) -> Said {
    if let Some(long) = word.strip_prefix("--") {
        let (name, is_whole) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
        // A long option may be abbreviated as long as it is unique.
        let is_code = reader.code.1.iter().any(|code| code.starts_with(name));
        return match (is_code, is_whole) {
            (true, _) => Said::Code { here: is_whole, next: !is_whole },
            (false, true) => Said::HasValue,
            (false, false) => Said::Unknown,
        };
    }
    for (place, letter) in word.char_indices().skip(1) {
        let rest = &word[place + letter.len_utf8()..];
        if reader.code.0.contains(letter) {
            // Letters behind it may be further options; then the text is the next word.
            return Said::Code { here: !rest.is_empty(), next: rest.chars().all(|c| c.is_ascii_alphabetic()) };
        }
        if reader.last.contains(letter) {
            return Said::Last { next: rest.is_empty() };
        }
        if reader.valued.contains(letter) {
            return if rest.is_empty() { Said::Value } else { Said::HasValue };
        }
        if reader.attached.contains(letter) {
            return Said::HasValue;
        }
    }
    Said::Flags
}

/// The name of a program without its folder and its version: `/usr/bin/python3.12` is python.
pub(super) fn base(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if bare.is_empty() { name } else { bare }
}
