//! `{{name}}` in a command (S1.21): a value stays text within one argument. No shell and no interpreter runs it as a script,
//! and no program parses it as an option. Pure.

mod readers;

use crate::policy::steps::names::{filled, places};
use readers::{READERS, SHELL, Text, base, is_wrapper, texts};
use std::collections::BTreeSet;

/// The longest argument, and the longest `NAME=VALUE` of the environment, in bytes (MAX_ARG_STRLEN, execve(2)).
pub const LONGEST_WORD: usize = 131_071;

/// Words of the templates of Go, Jinja and others that look like the place of a variable. A script may hold them.
const TEMPLATE_WORDS: [&str; 4] = ["end", "else", "break", "continue"];

/// The place of a variable where a value is not allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misplaced {
    /// The variable.
    pub name: String,
    /// The fault.
    pub fault: String,
    /// The remedy.
    pub hint: String,
}

/// The first place of a variable in a command where a value is not allowed: in text that a program runs, or in the name of an
/// option. The name of the program itself is never filled in.
pub fn misplaced(argv: &[String]) -> Option<Misplaced> {
    if argv.iter().all(|word| places(word).next().is_none()) {
        return None;
    }
    for (at, reader) in scripts(argv) {
        if let Some(name) = place_in_script(&argv[at]) {
            let program = base(&argv[reader.program]);
            let fault = format!("\"{{{{{name}}}}}\" stands in text that {program} runs");
            let instead = match READERS[reader.row].reads {
                "" => format!("let a script call {program}, and write {} in it", SHELL.replace("NAME", name)),
                reads => format!("write {} in its place", reads.replace("NAME", name)),
            };
            let hint = format!("{instead}; a script that has such braces of its own goes into a file");
            return Some(Misplaced { name: name.to_owned(), fault, hint });
        }
    }
    let end = separator(argv);
    let names_option = |word: &String| {
        let (before, name) = places(word).next()?;
        let is_name = matches!(before, "-" | "--") || before.starts_with("--") && !before.contains('=');
        is_name.then(|| name.to_owned())
    };
    let name = argv.iter().take(end).skip(1).find_map(names_option)?;
    let fault = format!("\"{{{{{name}}}}}\" stands in the name of an option");
    Some(Misplaced {
        name,
        fault,
        hint: "a value never names an option: write the option out, as in --option={{name}}".to_owned(),
    })
}

/// The program that runs an argument with a given text, e.g. `{prompt}`.
pub fn in_script<'a>(argv: &'a [String], text: &str) -> Option<&'a str> {
    scripts(argv).into_iter().find(|(at, _)| argv[*at].contains(text)).map(|(_, found)| base(&argv[found.program]))
}

/// Program and arguments with the values of variables. The place of a variable without a value stays. `Err` is the reason that
/// the command cannot be started.
pub fn filled_command(argv: &[String], value_of: &dyn Fn(&str) -> Option<String>) -> Result<Vec<String>, String> {
    if argv.iter().skip(1).all(|word| places(word).next().is_none()) {
        return Ok(argv.to_vec());
    }
    if let Some(wrong) = misplaced(argv) {
        return Err(format!("{}; {}", wrong.fault, wrong.hint));
    }
    let texts_of = |argv: &[String]| scripts(argv).into_iter().map(|(at, _)| at).collect::<BTreeSet<usize>>();
    let (end, read) = (separator(argv), texts_of(argv));
    let mut whole: Vec<String> = argv.to_vec();
    let mut changed = Vec::new();
    for (at, word) in argv.iter().enumerate().skip(1).filter(|(at, _)| !read.contains(at)) {
        let known = places(word).filter_map(|(_, name)| Some((value_of(name)?.is_empty(), name)));
        // The first variable that is not empty, if there is one.
        let Some((_, name)) = known.min_by_key(|(is_empty, _)| *is_empty) else { continue };
        let text = filled(word, value_of);
        if text.contains('\0') {
            return Err(format!("the value of \"{name}\" holds a NUL byte, which no argument can hold"));
        }
        if text.starts_with('-') && !word.starts_with('-') && at < end {
            return Err(format!(
                "the value of \"{name}\" begins with \"-\", and {} would take it for an option; write -- before {{{{{name}}}}}",
                base(&argv[0])
            ));
        }
        if text.len() > LONGEST_WORD {
            return Err(format!(
                "with the value of \"{name}\" an argument has {} bytes, and the system takes {LONGEST_WORD}; `luzia get {name}` \
                 prints the value",
                text.len()
            ));
        }
        whole[at] = text;
        changed.push((at, name));
    }
    // A value may be the name of a program.
    let read = texts_of(&whole);
    match changed.iter().find(|(at, _)| read.contains(at)) {
        Some((_, name)) => Err(format!("the value of \"{name}\" would stand in text that a program runs")),
        None => Ok(whole),
    }
}

/// The variables of a command that have no value. Their places stay in the command.
pub fn without_value(argv: &[String], has_value: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let names = argv.iter().skip(1).flat_map(|word| places(word)).map(|(_, name)| name);
    names.filter(|name| !TEMPLATE_WORDS.contains(name) && !has_value(name)).map(str::to_owned).collect()
}

/// The places of variables, in the form for a sentence.
pub fn named(names: &BTreeSet<String>) -> String {
    names.iter().map(|name| format!("\"{{{{{name}}}}}\"")).collect::<Vec<_>>().join(", ")
}

/// The first variable whose place is in the text of a script.
pub fn place_in_script(text: &str) -> Option<&str> {
    places(text).map(|(_, name)| name).find(|name| !TEMPLATE_WORDS.contains(name))
}

/// The program that runs a word, by its place in the command line, and its row.
#[derive(Clone, Copy)]
struct Found {
    program: usize,
    row: usize,
}

/// The words of a command line that a program runs as text, or takes for options of that text.
fn scripts(argv: &[String]) -> Vec<(usize, Found)> {
    let mut found = Vec::new();
    for (program, word) in argv.iter().enumerate() {
        // Behind an unknown program, only an option distinguishes a script from a word that happens to be a name.
        let is_started = program == 0 || is_wrapper(base(&argv[0]));
        for (row, reader) in READERS.iter().enumerate().filter(|(_, reader)| reader.names.contains(&base(word))) {
            if is_started || !matches!(reader.text, Text::First | Text::All) {
                let read = texts(reader, &argv[program + 1..]);
                found.extend(read.into_iter().map(|at| (program + 1 + at, Found { program, row })));
            }
        }
    }
    found
}

/// The index of the `--` in the arguments of the program that a command line starts; the end if it is absent. Each wrapper
/// before the program may have a `--` of its own.
fn separator(argv: &[String]) -> usize {
    let is_wrapped = argv.first().is_some_and(|word| is_wrapper(base(word)));
    let wrappers = if is_wrapped { argv.iter().filter(|word| is_wrapper(base(word))).count() } else { 0 };
    argv.iter().enumerate().filter(|(_, word)| *word == "--").nth(wrappers).map_or(argv.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Words, one for each blank of a line; `_` is a blank in a word.
    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(|word| word.replace('_', " ")).collect()
    }

    /// Command lines with a value where none may stand.
    const RUN: &[&str] = &[
        "sh -c echo_{{x}}",
        "/bin/sh -c echo_{{x}} sh",
        "bash -ec {{x}}",
        "bash -c -e {{x}}",
        "bash -o pipefail -c {{x}}",
        "bash -euo pipefail -c {{x}}",
        "bash -co pipefail {{x}}",
        "bash --norc --rcfile f -c {{x}}",
        "bash -c -- {{x}}",
        "zsh +o nomatch -c {{x}}",
        "fish -c {{x}}",
        "fish --command={{x}}",
        "busybox sh -c {{x}}",
        "dash -{{x}} true",
        "env A=b sh -c {{x}}",
        "env -S sh_{{x}}",
        "env --split-string=sh_{{x}}",
        "nice -n 5 timeout 10s setsid sudo -u bob xargs -0 stdbuf -o0 ksh -c {{x}}",
        "docker exec c sh -c {{x}}",
        "find . -exec sh -c {{x}} ;",
        "sh -c exec_\"$@\" sh python3 -c {{x}}",
        "python3 -c {{x}}",
        "python3.12 -Ic {{x}}",
        "python3 -cprint({{x}})",
        "python -W ignore -X dev -c {{x}}",
        "python --check-hash-based-pycs never -c {{x}}",
        "perl -e {{x}}",
        "perl -lane {{x}} file",
        "perl -i.bak -pe {{x}}",
        "perl -I lib -E {{x}}",
        "perl -MList::Util=sum -e {{x}}",
        "perl -M{{x}} s.pl",
        "ruby -rjson -ne {{x}}",
        "node -e {{x}}",
        "node -pe {{x}}",
        "node --eval={{x}}",
        "node --input-type module --eval {{x}}",
        "nodejs -r m -p {{x}}",
        "lua5.4 -e {{x}}",
        "php -r {{x}}",
        "php -d a=b -r {{x}}",
        "awk {{x}} file",
        "awk -F : -v a=b {{x}}",
        "gawk --source {{x}}",
        "timeout 5 awk {{x}}",
        "sed -n {{x}}",
        "sed -n -e p -e {{x}} file",
        "sed -ne {{x}}",
        "ssh host ls {{x}}",
        "watch -n 1 ls {{x}}",
        "eval {{x}}",
        "make X={{x}}",
        "su - bob -c {{x}}",
        "script -qec {{x}} /dev/null",
        "flock f -c {{x}}",
        "psql db -c {{x}}",
        "sqlite3 db {{x}}",
        "luzia run -u bob --shell {{x}}",
        "Rscript --vanilla -e {{x}}",
        "julia -E {{x}}",
        "prog --{{x}}",
        "prog -{{x}}=1",
        "prog --with-{{x}}=1",
        "env -- prog --{{x}}",
    ];

    #[test]
    fn no_value_stands_in_text_that_a_program_runs() {
        for line in RUN {
            let found = misplaced(&words(line)).unwrap_or_else(|| panic!("{line} is let through"));
            assert_eq!(found.name, "x", "{line}");
            let one = |_: &str| Some("one".to_owned());
            assert!(filled_command(&words(line), &one).is_err_and(|why| why.contains("{{x}}")), "{line}");
        }
    }

    #[test]
    fn a_value_is_text_in_one_argument_of_any_other_word() {
        for line in [
            "echo {{x}}",
            "claude -p {{x}}",
            "sh -c echo_\"$1\" sh {{x}}",
            "bash -euo pipefail -c echo_$1 bash {{x}}",
            "sh script.sh {{x}}",
            "bash -x script.sh -c {{x}}",
            "python3 tool.py -c {{x}}",
            "python3 -m tool -c {{x}}",
            "python3 -c import_sys {{x}}",
            "perl s.pl -e {{x}}",
            "perl -ne print {{x}}",
            "node app.js -e {{x}}",
            "awk -v a={{x}} {print_a} file",
            "awk {print} {{x}}",
            "awk -f prog.awk {{x}}",
            "sed -n -e p {{x}}",
            "sed p {{x}}",
            "env A={{x}} prog",
            "timeout 10 curl --data={{x}} u",
            "grep -- -{{x}} file",
            "prog --name={{x}}-y",
            "prog -j{{x}}",
            "luzia await response --match=from={{x}}",
            "git commit -m {{x}}",
            "grep -r sed {{x}}",
            "su bob",
        ] {
            assert_eq!(misplaced(&words(line)), None, "{line}");
            let text = "$(id) `id` ; ' \" {{x}}";
            let whole = filled_command(&words(line), &|_| Some(text.to_owned())).expect(line);
            let expected: Vec<String> = words(line).iter().map(|word| word.replace("{{x}}", text)).collect();
            assert_eq!(whole, expected, "{line}");
        }
    }

    #[test]
    fn words_of_templates_are_no_places_in_a_script() {
        let line = words("sh -c docker_inspect_-f_'{{range_.A}}{{.B}}{{else}}-{{end}}'_c {{end}}");
        assert_eq!(misplaced(&line), None);
        let whole = filled_command(&line, &|_| Some("v".to_owned())).expect("it starts");
        assert_eq!((&whole[2], whole[3].as_str()), (&line[2], "v"));
        assert_eq!(place_in_script("echo {{end}} {{x}}"), Some("x"));
        assert!(without_value(&line, &|_| false).is_empty());
        let unset = without_value(&words("echo {{a}} {{b}}{{c}}"), &|name| name == "b");
        assert_eq!(unset.into_iter().collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn a_value_is_no_option_no_script_and_no_endless_argument() {
        let fill = |line: &str, value: &str| filled_command(&words(line), &|_| Some(value.to_owned()));
        for (line, value, why) in [
            ("grep {{x}} file", "-f/etc/passwd", "\"x\" begins with \"-\""),
            ("grep -e {{x}}", "-v", "write -- before {{x}}"),
            ("sh -c s sh {{x}}", "-x", "sh would take it"),
            ("env -- grep {{x}}", "-v", "begins with"),
            ("timeout 5 -- grep {{x}}", "-v", "begins with"),
            ("env {{x}} -c {{x}}", "sh", "\"x\" would stand in text"),
            ("nice {{x}} {{x}}", "awk", "would stand in text"),
            ("docker exec c {{x}} -c {{x}}", "bash", "would stand in text"),
            ("echo {{x}}", "a\0b", "NUL"),
        ] {
            assert!(fill(line, value).is_err_and(|told| told.contains(why)), "{line}: {:?}", fill(line, value));
        }
        for line in [
            "grep -- {{x}}",
            "grep --regexp={{x}}",
            "grep a{{x}}",
            "env -- grep -- {{x}}",
            "timeout 5 -- grep -- {{x}}",
        ] {
            assert!(fill(line, "-v").is_ok(), "{line}");
        }
        let two = |name: &str| Some(if name == "a" { String::new() } else { "-v".to_owned() });
        assert!(filled_command(&words("grep {{a}}{{b}}"), &two).is_err(), "an empty value before it hides nothing");
        assert!(fill("echo a{{x}}", &"b".repeat(LONGEST_WORD - 1)).is_ok());
        let told = fill("echo a{{x}}", &"b".repeat(LONGEST_WORD)).expect_err("too long");
        assert!(told.contains("131072 bytes") && told.contains("luzia get x"), "{told}");
        let told = filled_command(&words("perl -e {{x}}"), &|_| None).expect_err("refused without a value too");
        assert!(told.contains("$ENV{LUZIA_VAR_x}"), "{told}");
    }

    proptest! {
        #[test]
        fn any_command_line_is_judged_and_no_script_is_filled_in(
            line in prop::collection::vec("sh|bash|env|sudo|awk|perl|-c|-e|-[a-z]{1,3}|--|--eval|a|[$]1|\\{\\{x\\}\\}", 1..8),
            value in "sh|-c|a b|-x|",
        ) {
            if let Ok(whole) = filled_command(&line, &|_| Some(value.clone())) {
                prop_assert_eq!(whole.len(), line.len());
                for (at, _) in scripts(&whole) {
                    prop_assert_eq!(&whole[at], &line[at]);
                }
            }
        }
    }
}
