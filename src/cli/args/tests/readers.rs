//! The three readers of a command line read alike: that of frequent lines, that of one verb, and that of all verbs.

use super::*;

#[test]
fn a_command_alone_is_defined_as_in_the_whole() {
    let mut whole = command();
    whole.build();
    for verb in VERBS {
        let name = verb.word;
        let mut alone = clap::Command::new("luzia").subcommand((verb.define)(clap::Command::new(name)));
        alone.build();
        let options = |command: &clap::Command| -> Vec<String> {
            let one = command.find_subcommand(name).expect(name);
            let own = one.get_arguments().filter(|option| !option.is_global_set() && option.get_id() != "help");
            own.map(|option| format!("{option:?}")).collect()
        };
        assert_eq!(options(&alone), options(&whole), "{name}");
    }
}

/// Words of which command lines are made: values of options, commands, and words that clap takes for something else.
const WORDS: [&str; 12] = ["alice", "1", "5s", "task_1", "json", "--", "-", "make", "build=1", "help", "add", "auto"];

/// Words of frequent command lines, and words that make them infrequent.
const FREQUENT: &str = "-u --user -p --project -l --lane --thread --key --timeout --label --cwd --state-dir --json -q --quiet alice \
                        alice build 5s -- -- make  - --wait -x help";

#[test]
fn frequent_lines_are_read_without_clap() {
    for line in [
        "enqueue -- true",
        "enqueue -u alice -l build -- make test",
        "run -u alice --json make test",
        "lock -l build -q -- make",
        "--state-dir /s run -- true",
    ] {
        let words: Vec<String> = std::iter::once("luzia").chain(line.split(' ')).map(str::to_owned).collect();
        assert_eq!(frequent::read(&words).is_some(), !line.starts_with('-'), "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn a_line_read_by_its_own_verb_is_read_alike_by_the_whole(
        at in 0..VERBS.len(),
        early in proptest::bool::weighted(0.2),
        chosen in proptest::collection::vec((proptest::arbitrary::any::<proptest::sample::Index>(), 0_usize..WORDS.len(), 0_usize..5), 0..5),
    ) {
        let verb = &VERBS[at];
        let define = (verb.define)(Globals::augment_args(clap::Command::new("luzia")));
        let options: Vec<&clap::Arg> = define.get_arguments().filter(|option| !option.is_positional()).collect();
        let mut words = vec![verb.word.to_owned()];
        for (option, word, shape) in chosen {
            let option = option.get(&options);
            let long = format!("--{}", option.get_long().unwrap_or("help"));
            match shape {
                0 => words.push(WORDS[word].to_owned()),
                1 => words.push(format!("{long}={}", WORDS[word])),
                2 => words.push(long),
                3 => words.extend(option.get_short().map(|short| format!("-{short}{}", WORDS[word]))),
                _ => words.extend([long, WORDS[word].to_owned()]),
            }
        }
        if early {
            words.rotate_left(1);
        }
        words.insert(0, "luzia".to_owned());
        let alone = command_word(&words).and_then(|(at, word)| read_one(at, word, &words));
        if let Some(alone) = alone {
            let whole = read_whole(&words);
            proptest::prop_assert_eq!(Some(format!("{:?}", alone)), whole.ok().map(|cli| format!("{cli:?}")), "{:?}", words);
        }
    }

    #[test]
    fn a_frequent_line_is_read_as_by_clap(
        verb in proptest::sample::select(&["enqueue", "run", "lock"]),
        words in proptest::collection::vec(proptest::sample::select(FREQUENT.split(' ').collect::<Vec<_>>()), 0..7),
    ) {
        let line: Vec<String> = ["luzia", verb].iter().chain(&words).map(ToString::to_string).collect();
        if let Some(frequent) = frequent::read(&line) {
            let whole = read_whole(&line);
            proptest::prop_assert_eq!(Some(format!("{:?}", frequent)), whole.ok().map(|cli| format!("{cli:?}")), "{:?}", line);
        }
    }
}
