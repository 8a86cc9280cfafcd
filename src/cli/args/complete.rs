//! The possible words at the end of a half-written command line: the answer to `luzia __complete line LINE`. Pure.

use crate::cli::verbs::{Does, Verb};
use clap::builder::PossibleValue;
use clap::{Arg, Command, ValueEnum, ValueHint};

/// The names that are looked up when they are needed, by the words of `luzia __complete`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Live {
    /// Tasks that are not over.
    Tasks,
    /// All tasks, the newest first.
    AllTasks,
    /// Users.
    Users,
    /// Lanes.
    Lanes,
    /// Projects.
    Projects,
    /// Keys of tasks.
    Keys,
    /// Schedules.
    Schedules,
    /// Schedules, as `pause` and `resume` take them.
    #[value(skip)]
    PausableSchedules,
    /// Hooks.
    Hooks,
    /// Documents with a schema.
    Documents,
}

/// The kinds of a possible word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// One of these words, each with its meaning, or a name.
    Words(Vec<(String, String)>, Vec<Live>),
    /// A file.
    Files,
    /// A directory.
    Directories,
    /// A command of its own: the byte of the line at which it begins, and the number of words before it.
    Command(usize, usize),
}

/// The end of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// The text before the part that is completed, in the same word, e.g. `--user=`.
    pub lead: String,
    /// The part that is completed.
    pub part: String,
    /// The possible words.
    pub wanted: Wanted,
    /// The global options of the line that name the place of tasks: name and value.
    pub places: Vec<(String, String)>,
}

/// Reads a line up to the cursor. The last word is the one that is completed; it may be empty.
pub fn end_of(line: &str, root: &Command) -> End {
    let mut words = words(line);
    let (at, part) = words.pop().unwrap_or((line.len(), String::new()));
    let mut reader =
        Reader { command: root, pending: None, position: 0, is_separated: false, begin: None, places: Vec::new() };
    words.iter().enumerate().skip(1).for_each(|(number, (at, word))| reader.take((*at, number), word));
    let (lead, part, wanted) = reader.wanted((at, words.len()), &part);
    End { lead, part, wanted, places: reader.places }
}

struct Reader<'a> {
    command: &'a Command,
    /// The option whose value comes next.
    pending: Option<&'a Arg>,
    /// Number of values without an option so far.
    position: usize,
    is_separated: bool,
    /// Start of a command of its own: the byte, and the number of the word.
    begin: Option<(usize, usize)>,
    places: Vec<(String, String)>,
}

impl<'a> Reader<'a> {
    /// The lead, the part that is completed, and the possible words.
    fn wanted(&self, at: (usize, usize), part: &str) -> (String, String, Wanted) {
        let plain = |wanted| (String::new(), part.to_owned(), wanted);
        if let Some((begin, count)) = self.begin {
            return plain(Wanted::Command(begin, count));
        }
        if let Some(arg) = self.pending {
            return of_value(self.command, arg, part, "");
        }
        if !self.is_separated && part.starts_with('-') {
            return match part.split_once('=').filter(|_| part.starts_with("--")) {
                Some((option, value)) => match long(self.command, &option[2..]) {
                    Some(arg) => of_value(self.command, arg, value, &format!("{option}=")),
                    None => plain(Wanted::Words(Vec::new(), Vec::new())),
                },
                None => plain(Wanted::Words(options(self.command), Vec::new())),
            };
        }
        match positional(self.command, self.position) {
            Some(arg) if is_command(arg) => plain(Wanted::Command(at.0, at.1)),
            Some(arg) => of_value(self.command, arg, part, ""),
            None => plain(Wanted::Words(verbs(self.command), Vec::new())),
        }
    }

    fn take(&mut self, at: (usize, usize), word: &str) {
        if self.begin.is_some() {
            return;
        }
        if let Some(arg) = self.pending.take() {
            self.note(arg, word);
        } else if self.is_separated || !word.starts_with('-') || word == "-" {
            self.value(at, word);
        } else if word == "--" {
            self.is_separated = true;
            self.position = self.command.get_positionals().position(is_command).unwrap_or(self.position);
        } else if let Some(option) = word.strip_prefix("--") {
            match option.split_once('=') {
                Some((name, value)) => {
                    if let Some(arg) = long(self.command, name) {
                        self.note(arg, value);
                    }
                }
                None => self.pending = long(self.command, option).filter(|arg| takes_value(arg)),
            }
        } else {
            let mut letters = word[1..].chars();
            while let Some(letter) = letters.next() {
                let Some(arg) = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter)) else {
                    return;
                };
                if takes_value(arg) {
                    match letters.as_str() {
                        "" => self.pending = Some(arg),
                        value => self.note(arg, value),
                    }
                    return;
                }
            }
        }
    }

    fn value(&mut self, at: (usize, usize), word: &str) {
        let is_verb = |one: &&Command| one.get_name() == word || one.get_all_aliases().any(|alias| alias == word);
        if !self.is_separated
            && self.position == 0
            && let Some(verb) = self.command.get_subcommands().find(is_verb)
        {
            self.command = verb;
            return;
        }
        match positional(self.command, self.position) {
            Some(arg) if is_command(arg) => self.begin = Some(at),
            _ => self.position += 1,
        }
    }

    fn note(&mut self, arg: &Arg, value: &str) {
        if let Some(name) = arg.get_long().filter(|name| ["state-dir", "config"].contains(name)) {
            self.places.push((name.to_owned(), value.to_owned()));
        }
    }
}

fn long<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(name))
}

fn takes_value(arg: &Arg) -> bool {
    // An option whose value may be missing has its value only behind `=`, as far as a reader of half a line can know.
    arg.get_num_args().is_some_and(|range| range.min_values() > 0)
}

/// The argument at a place; the last one may occur several times.
fn positional(command: &Command, position: usize) -> Option<&Arg> {
    let all: Vec<&Arg> = command.get_positionals().collect();
    let several = |arg: &&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    all.get(position).copied().or_else(|| all.last().copied().filter(several))
}

/// Whether an argument is a command with its arguments.
fn is_command(arg: &Arg) -> bool {
    names(arg).contains(&"CMD")
}

fn names(arg: &Arg) -> Vec<&str> {
    arg.get_value_names().unwrap_or_default().iter().flat_map(|name| name.split('|')).collect()
}

fn verbs(command: &Command) -> Vec<(String, String)> {
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    shown.map(|one| (one.get_name().to_owned(), about(one.get_about()))).collect()
}

fn options(command: &Command) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let help = about(arg.get_help());
        found.extend(arg.get_long().map(|name| (format!("--{name}"), help.clone())));
        found.extend(arg.get_short().map(|name| (format!("-{name}"), help)));
    }
    found
}

fn about(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|help| help.to_string().lines().next().unwrap_or_default().to_owned()).unwrap_or_default()
}

/// The values of an argument. For a list with commas, the last item is completed.
fn of_value(command: &Command, arg: &Arg, part: &str, lead: &str) -> (String, String, Wanted) {
    let is_list =
        arg.get_value_delimiter() == Some(',') || ["STATE", "COLUMN"].iter().any(|name| names(arg).contains(name));
    let (done, part) = part.split_at(part.rfind(',').filter(|_| is_list).map_or(0, |at| at + 1));
    let shown =
        |value: PossibleValue| (!value.is_hide_set()).then(|| (value.get_name().to_owned(), about(value.get_help())));
    let values: Vec<(String, String)> = arg.get_possible_values().into_iter().filter_map(shown).collect();
    let live = live(command.get_name(), arg);
    let wanted = match arg.get_value_hint() {
        _ if !values.is_empty() || !live.is_empty() => Wanted::Words(values, live),
        ValueHint::DirPath => Wanted::Directories,
        ValueHint::FilePath | ValueHint::AnyPath | ValueHint::ExecutablePath => Wanted::Files,
        _ => Wanted::Words(Vec::new(), Vec::new()),
    };
    (format!("{lead}{done}"), part.to_owned(), wanted)
}

fn live(verb: &str, arg: &Arg) -> Vec<Live> {
    let tasks = if Verb::does(verb, Does::TakesEnded) { Live::AllTasks } else { Live::Tasks };
    let mut found = Vec::new();
    for name in names(arg) {
        found.extend(match name {
            "TASK" => Some(tasks),
            "USER" => Some(Live::Users),
            "LANE" | "PATTERN" => Some(Live::Lanes),
            "PROJECT" => Some(Live::Projects),
            "KEY" if arg.get_id() == "key" => Some(Live::Keys),
            "NAME" if arg.is_positional() && ["run", "next"].contains(&verb) => Some(Live::Schedules),
            "cron:NAME" => Some(Live::PausableSchedules),
            "VERB" if verb == "schema" => Some(Live::Documents),
            _ => None,
        });
    }
    found
}

/// The words of a line as a shell reads them, each with the byte at which it begins. The last one is the word at the end of the
/// line, which is empty after a blank.
fn words(line: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut word: Option<(usize, String)> = None;
    let mut quote = None;
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        if quote.is_none() && c.is_whitespace() {
            found.extend(word.take());
            continue;
        }
        let (_, text) = word.get_or_insert((at, String::new()));
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => text.extend(chars.next().map(|(_, c)| c)),
            _ => text.push(c),
        }
    }
    found.push(word.unwrap_or((line.len(), String::new())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn end(line: &str) -> End {
        let mut root = crate::cli::args::command();
        root.build();
        end_of(line, &root)
    }

    fn names_at(line: &str) -> Vec<String> {
        match end(line).wanted {
            Wanted::Words(words, _) => words.into_iter().map(|(word, _)| word).collect(),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn live_at(line: &str) -> Vec<Live> {
        match end(line).wanted {
            Wanted::Words(_, live) => live,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn names_are_looked_up_where_an_argument_takes_them() {
        for (line, wanted) in [
            ("luzia cancel ", vec![Live::Tasks]),
            ("luzia cancel 1 ta", vec![Live::Tasks]),
            ("luzia show ", vec![Live::AllTasks]),
            ("luzia enqueue -u ", vec![Live::Users]),
            ("luzia enqueue -ual", vec![]),
            ("luzia enqueue --user=al", vec![Live::Users]),
            ("luzia run -l ", vec![Live::Lanes]),
            ("luzia run -p ", vec![Live::Projects]),
            ("luzia list --key ", vec![Live::Keys]),
            ("luzia --json -o json check ", vec![Live::Users, Live::Lanes]),
            ("luzia check-project ", vec![Live::Projects]),
            ("luzia cron run ", vec![Live::Schedules]),
            ("luzia schema ", vec![Live::Documents]),
        ] {
            assert_eq!(live_at(line), wanted, "{line}");
        }
    }

    #[test]
    fn verbs_options_and_values_are_named() {
        assert!(names_at("luzia ").contains(&"enqueue".to_owned()));
        assert!(names_at("luzia config ").contains(&"schema".to_owned()));
        assert!(names_at("luzia list --").contains(&"--state".to_owned()));
        assert!(names_at("luzia list -o ").contains(&"jsonl".to_owned()));
        assert!(names_at("luzia -o").contains(&"-o".to_owned()));
        let states = end("luzia list --state pending,ru");
        assert_eq!((states.lead.as_str(), states.part.as_str()), ("pending,", "ru"));
        assert_eq!(end("luzia --state-dir '/a b' --config=c list ").places.len(), 2);
        assert_eq!(end("luzia --state-dir '/a b' list ").places[0].1, "/a b");
        assert_eq!(end("luzia --state-dir ").wanted, Wanted::Directories);
        assert_eq!(end("luzia --config ").wanted, Wanted::Files);
    }

    #[test]
    fn a_command_is_left_to_the_shell() {
        for line in [
            "luzia run -- git com",
            "luzia run -u a -- ",
            "luzia enqueue make --",
            "luzia lock -l x -- git -",
            "luzia run gi",
        ] {
            let Wanted::Command(begin, count) = end(line).wanted else { panic!("{line}: {:?}", end(line)) };
            let rest = &line[begin..];
            assert!(["git com", "", "make --", "git -", "gi"].contains(&rest), "{line}: {rest}");
            assert_eq!(count, line[..begin].split(' ').count() - 1, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in "luzia( |-|[a-z]|'|\"|\\\\|=|,|\u{e9}){0,40}") {
            let end = end(&line);
            prop_assert!(!matches!(end.wanted, Wanted::Command(begin, _) if line.get(begin..).is_none()));
        }
    }
}
